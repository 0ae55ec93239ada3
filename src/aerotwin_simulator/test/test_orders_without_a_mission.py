# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""An embedded autopilot that flies no mission is ordered to hold and to land."""

import pytest

from aerotwin_core.errors import UserError
from aerotwin_simulator import (
    CameraSettings,
    FleetSettings,
    MissionSettings,
    Simulation,
    SimulatorParameters,
)

INSTANCE = 95
HEIGHT_M = 3.0
LOITER, LAND = (4, 3), (4, 6)  # PX4's main and sub modes


def mode(autopilot) -> tuple[int, int]:
    number = autopilot.client.link.state.custom_mode
    return number >> 16 & 0xFF, number >> 24 & 0xFF


def test_it_takes_off_holds_and_lands_by_order(flat_world, tmp_path):
    parameters = SimulatorParameters(
        camera=CameraSettings(is_rendered=False),
        mission=MissionSettings(file="none", landing_ends_flight=True),
        fleet=FleetSettings(instance=INSTANCE),
        seed=2,
    )
    simulation = Simulation(parameters, flat_world, tmp_path, [])
    try:
        simulation.start()
        vehicle = simulation.vehicles[0]
        autopilot = vehicle.backend

        def until(condition, seconds=60.0):
            end_ns = simulation.stamp_ns + round(seconds * 1e9)
            while not condition():
                assert simulation.outcome is None and simulation.stamp_ns < end_ns, autopilot.phase
                simulation.advance()

        def height_m() -> float:
            return float(vehicle.body.state.p_map_body[2])

        until(lambda: autopilot.phase == "ready for a client")
        with pytest.raises(UserError, match="resume: no mission is flown here"):
            autopilot.resume()
        autopilot.take_off(HEIGHT_M)
        autopilot.arm(True)
        until(lambda: height_m() > 1.0)
        autopilot.hold()
        until(lambda: mode(autopilot) == LOITER, 5.0)
        at_m = height_m()
        until(lambda start_ns=simulation.stamp_ns: simulation.stamp_ns > start_ns + 5_000_000_000)
        assert abs(height_m() - at_m) < 1.0
        autopilot.land()
        until(lambda: mode(autopilot) == LAND, 5.0)
        until(lambda: height_m() < 0.2)
        while simulation.outcome is None and simulation.stamp_ns < 120_000_000_000:
            simulation.advance()
        assert (simulation.outcome, simulation.is_success) == ("it has landed", True)
    finally:
        simulation.close()
