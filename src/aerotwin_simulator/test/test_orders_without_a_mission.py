# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""An embedded autopilot that flies no mission is ordered to hold and to land."""

import pytest
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.errors import UserError
from aerotwin_simulator import (
    CameraSettings,
    FleetSettings,
    MissionSettings,
    Simulation,
    SimulatorParameters,
)

INSTANCE = 95
HEIGHT_M = 4.0
FORCED = 21196.0  # of MAV_CMD_COMPONENT_ARM_DISARM: also in the air
LOITER, LAND = (4, 3), (4, 6)  # PX4's main and sub modes


def mode(autopilot) -> tuple[int, int]:
    number = autopilot.client.link.state.custom_mode
    return number >> 16 & 0xFF, number >> 24 & 0xFF


@pytest.fixture
def simulation(flat_world, tmp_path):
    parameters = SimulatorParameters(
        camera=CameraSettings(is_rendered=False),
        mission=MissionSettings(file="none", landing_ends_flight=True),
        fleet=FleetSettings(instance=INSTANCE),
        seed=2,
    )
    simulation = Simulation(parameters, flat_world, tmp_path, [])
    try:
        simulation.start()
        yield simulation
    finally:
        simulation.close()


def height_m(simulation) -> float:
    return float(simulation.vehicles[0].body.state.p_map_body[2])


def until(simulation, condition, seconds=60.0):
    end_ns = simulation.stamp_ns + round(seconds * 1e9)
    while not condition():
        assert simulation.outcome is None and simulation.stamp_ns < end_ns
        simulation.advance()


def in_the_air(simulation):
    """Return the autopilot of the vehicle, which has taken off."""
    autopilot = simulation.vehicles[0].backend
    until(simulation, lambda: autopilot.phase == "ready for a client")
    with pytest.raises(UserError, match="resume: no mission is flown here"):
        autopilot.resume()
    with pytest.raises(UserError, match="take-off: it is disarmed; arm it first"):
        autopilot.take_off(HEIGHT_M)
    for order in (autopilot.land, autopilot.return_home):
        with pytest.raises(UserError, match=r"(land|return): .* found it disarmed on the ground"):
            order()
    autopilot.arm(True)
    autopilot.take_off(HEIGHT_M)  # before it can have reported that it is armed
    until(simulation, lambda: height_m(simulation) > 1.0)
    with pytest.raises(UserError, match="take-off: it flies in mode TAKEOFF"):
        autopilot.take_off(HEIGHT_M)
    return autopilot


def to_its_end(simulation):
    while simulation.outcome is None and simulation.stamp_ns < 120_000_000_000:
        simulation.advance()
    return simulation.outcome, simulation.is_success


def test_it_takes_off_holds_and_lands_by_order(simulation):
    autopilot = in_the_air(simulation)
    autopilot.hold()
    until(simulation, lambda: mode(autopilot) == LOITER, 5.0)
    at_m, hold_ns = height_m(simulation), simulation.stamp_ns
    until(simulation, lambda: simulation.stamp_ns > hold_ns + 5_000_000_000)
    assert abs(height_m(simulation) - at_m) < 1.5  # it climbed when it was told to hold
    with pytest.raises(UserError, match=r"disarm: .* found it in the air; land first"):
        autopilot.arm(False)
    autopilot.land()
    until(simulation, lambda: mode(autopilot) == LAND, 5.0)
    with pytest.raises(UserError, match=r"disarm: .* found it in the air"):
        autopilot.arm(False)
    until(simulation, lambda: height_m(simulation) < 0.2)
    assert to_its_end(simulation) == ("it has landed", True)


def test_motors_that_are_cut_in_the_air_are_no_landing(simulation):
    autopilot = in_the_air(simulation)
    until(simulation, lambda: height_m(simulation) > HEIGHT_M - 0.5)
    command = mavlink.MAV_CMD_COMPONENT_ARM_DISARM
    autopilot.client.link.send_command(command, 0.0, FORCED)
    outcome, is_success = to_its_end(simulation)
    assert "the vehicle crashed" in outcome and not is_success
