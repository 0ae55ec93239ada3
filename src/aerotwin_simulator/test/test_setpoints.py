# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Set-points from outside, flown by each autopilot in its offboard mode; letting go hovers."""

import os

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.parameters import replaced
from aerotwin_multirotor_dynamics import layout
from aerotwin_px4_bridge.setpoint_stream import PoseTarget, VelocityTarget
from aerotwin_simulator import Simulation, SimulatorParameters

INSTANCE = 70
READY_LIMIT_S = 90.0
RETURN_LIMIT_S = 110.0  # up to 60 m with PX4, back and down
TRACKING_M_S = 0.3
HOVER_M = 0.5
HOME_M = 2.0  # GNSS between take-off and landing
EVERY_S = 0.1


def _autopilots():
    for kind, variable in (("embedded", ""), ("px4", "PX4_DIR"), ("ardupilot", "ARDUPILOT_DIR")):
        missing = bool(variable) and variable not in os.environ
        yield pytest.param(
            kind, marks=pytest.mark.skipif(missing, reason=f"real one not present: set {variable}")
        )


class Flight:
    """A vehicle without a mission, commanded from here."""

    def __init__(self, folder, world, kind, **changes):
        values = {
            "controller.kind": kind, "camera.is_rendered": False, "fleet.instance": INSTANCE,
            "sensors.gnss": "gnss_default",
        }  # fmt: skip
        self.simulation = Simulation(
            replaced(SimulatorParameters(), values | changes), world, folder, []
        )
        self.vehicle = self.simulation.vehicles[0]
        self.simulation.start()

    @property
    def backend(self):
        return self.vehicle.backend

    @property
    def state(self):
        return self.backend.autopilot_state

    def run(self, seconds, *targets):
        """Fly on, sending the targets again and again."""
        end_ns = self.simulation.stamp_ns + round(seconds * 1e9)
        while self.simulation.stamp_ns < end_ns:
            for target in targets:
                self.backend.set_target(target)
            until_ns = min(self.simulation.stamp_ns + round(EVERY_S * 1e9), end_ns)
            while self.simulation.stamp_ns < until_ns:
                self.simulation.advance()

    def take_off(self):
        while not self.state.can_fly and self.simulation.stamp_ns < READY_LIMIT_S * 1e9:
            self.simulation.advance()
        self.backend.arm(True)
        self.run(1.0)
        self.backend.take_off(4.0)
        self.run(10.0)
        assert self.vehicle.p_map_body[2] > 2.0

    @property
    def velocity(self):
        return self.vehicle.truth[layout.VELOCITY].copy()


@pytest.fixture
def fly(tmp_path, flat_world):
    flights = []

    def make(kind="embedded", **changes):
        flights.append(Flight(tmp_path, flat_world, kind, **changes))
        return flights[-1]

    yield make
    for flight in flights:
        flight.simulation.close()


@pytest.mark.parametrize("kind", _autopilots())
def test_velocities_and_places_are_flown_and_silence_hovers(fly, kind):
    flight = fly(kind)
    flight.take_off()
    flight.run(4.0, VelocityTarget(velocity=np.array([1.0, 2.0, 0.0]), is_body=False))
    assert flight.velocity == pytest.approx([1.0, 2.0, 0.0], abs=TRACKING_M_S)
    assert flight.backend.phase == "flying set-points"
    flight.run(1.5)  # silence, of which half a second counts as none
    here = flight.vehicle.p_map_body.copy()
    for _ in range(8):
        flight.run(0.5)
        assert np.linalg.norm(flight.vehicle.p_map_body - here) < HOVER_M, "it stops and stays"
    assert flight.state.custom_mode == flight.state.dialect.offboard.number
    goal = here + np.array([3.0, -4.0, 1.0])
    flight.run(12.0, PoseTarget(p_map=goal, yaw=np.pi / 2))
    # The estimate has the error of its GNSS, which is the same as when it was asked for `here`.
    estimate = flight.backend.estimate.p_map
    assert np.linalg.norm(estimate - goal) < HOVER_M
    forward = VelocityTarget(velocity=np.array([1.5, 0.0, 0.0]), yaw_rate=0.0)
    flight.run(4.0, forward)
    assert flight.velocity == pytest.approx([0.0, 1.5, 0.0], abs=TRACKING_M_S)  # its nose is north


def test_a_yaw_rate_turns_it(fly):
    flight = fly()
    flight.take_off()
    start = flight.vehicle.truth[layout.QUATERNION].copy()
    flight.run(3.0, VelocityTarget(velocity=np.zeros(3), yaw_rate=0.5))
    rate = flight.vehicle.truth[layout.ANGULAR_VELOCITY][2]
    assert rate == pytest.approx(0.5, abs=0.1)
    assert abs(start @ flight.vehicle.truth[layout.QUATERNION]) < np.cos(0.4)


def test_an_operator_keeps_the_vehicle_until_the_stream_has_ceased_once(fly):
    flight = fly()
    flight.take_off()
    east = VelocityTarget(velocity=np.array([1.0, 0.0, 0.0]), is_body=False)
    flight.run(3.0, east)
    flight.backend.hold()
    flight.run(4.0, east)  # a stream that goes on does not fight
    assert flight.state.common_mode_name == "HOLD"
    assert np.linalg.norm(flight.velocity) < TRACKING_M_S
    assert flight.backend.client.setpoints.n_ignored > 20
    flight.run(1.0)
    flight.run(4.0, east)
    assert flight.velocity == pytest.approx([1.0, 0.0, 0.0], abs=TRACKING_M_S)
    flight.backend.land()
    flight.run(12.0, east)
    assert flight.vehicle.p_map_body[2] < 0.5


@pytest.mark.parametrize("kind", _autopilots())
def test_a_return_ends_where_it_took_off(fly, kind):
    flight = fly(kind)
    flight.take_off()
    start = flight.vehicle.p_map_body.copy()
    flight.run(8.0, VelocityTarget(velocity=np.array([2.0, 0.0, 0.0]), is_body=False))
    assert flight.vehicle.p_map_body[0] - start[0] > 8.0
    flight.backend.return_home()
    flight.run(RETURN_LIMIT_S)
    assert not flight.state.is_armed
    assert np.linalg.norm((flight.vehicle.p_map_body - start)[:2]) < HOME_M


def test_on_the_ground_set_points_do_nothing(fly):
    flight = fly()
    flight.run(3.0, VelocityTarget(velocity=np.array([0.0, 0.0, 1.0])))
    assert flight.backend.client.setpoints.n_ignored > 0
    assert flight.vehicle.p_map_body[2] < 0.5 and not flight.backend.client.setpoints.is_active


def test_what_is_not_finite_is_refused_and_a_mission_takes_none(fly, tmp_path):
    flight = fly()
    for target in (
        VelocityTarget(velocity=np.array([np.nan, 0.0, 0.0])),
        VelocityTarget(velocity=np.zeros(3), yaw_rate=np.inf),
        PoseTarget(p_map=np.array([0.0, np.inf, 0.0])),
    ):
        with pytest.raises(ValueError, match="finite"):
            flight.backend.set_target(target)
    mission = tmp_path / "mission.yaml"
    mission.write_text("waypoints: [{position_m: [1.0, 0.0, 3.0]}]")
    other = fly(**{"mission.file": str(mission), "fleet.instance": INSTANCE + 1})
    with pytest.raises(UserError, match="a mission is flown"):
        other.backend.set_target(PoseTarget(p_map=np.zeros(3)))
