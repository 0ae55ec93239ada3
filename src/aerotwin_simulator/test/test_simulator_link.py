# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a PX4 gets beside its inertial sensors; the last test asks the real one."""

import os
import textwrap

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_multirotor_dynamics import layout
from aerotwin_px4_bridge.sticks import Sticks
from aerotwin_px4_bridge.ulog import read_ulog
from aerotwin_simulator import (
    ControllerSettings,
    FleetSettings,
    MissionSettings,
    Px4Settings,
    SensorSettings,
    SimulatorParameters,
)
from aerotwin_simulator.controllers.mavlink_autopilot import MOST_STICKS
from aerotwin_simulator.controllers.simulator_link import SimulatorLink
from aerotwin_simulator.preflight import check_before_flight
from aerotwin_simulator.readings import Readings
from aerotwin_simulator.truth import TruthStep

PLANE = LocalTangentPlane(GeodeticPoint(latitude_deg=47.4, longitude_deg=8.5, altitude_m=488.0))
STEP_NS = 4_000_000
FLOAT32_M = 1e-5
WHOLE_PERCENT = 0.01  # BATTERY_STATUS holds no less
CELLS_V = 0.002  # a millivolt in each cell, halved
RANGE_STD_M = 0.03  # of the preset, 2.5 cm, and its resolution
LOGGED_TRUTH_M = 0.05  # PX4 projects on a sphere, and logs each 20 ms


class Link:
    """A simulator link that is asked step by step, read by pymavlink."""

    def __init__(self) -> None:
        self.sticks, self.n_steps = Sticks(MOST_STICKS), 0
        self.link = SimulatorLink(PLANE, self.sticks)
        self.state = np.zeros(layout.N_HEAD + 4)
        self.state[layout.QUATERNION.stop - 1] = 1.0

    def step(self) -> list:
        self.n_steps += 1
        end_ns = self.n_steps * STEP_NS
        step = TruthStep(end_ns - STEP_NS, end_ns, self.state, self.state)
        frames = self.link.frames(Readings(step, np.zeros(11), np.zeros(3)))
        return [mavlink.MAVLink(None).parse_buffer(frame)[0] for frame in frames]

    def run(self, seconds: float) -> list:
        return [m for _ in range(round(seconds * 1e9 / STEP_NS)) for m in self.step()]


def test_truth_goes_out_at_the_rate_at_which_px4_keeps_it():
    link = Link()
    link.state[layout.POSITION] = (0.0, 0.0, 7.5)
    messages = link.run(1.0)
    assert {m.get_type() for m in messages} == {"HIL_STATE_QUATERNION"}
    assert len(messages) == 50
    assert messages[0].alt == 495_500


def test_sticks_are_sent_until_the_transmitter_falls_silent():
    link = Link()
    assert not [m for m in link.run(0.2) if m.get_type() == "RC_CHANNELS"]
    link.sticks.set([0.5, 0.0, -1.0])
    heard = [m for m in link.run(1.0) if m.get_type() == "RC_CHANNELS"]
    assert len(heard) == 25  # 50 Hz for half a second
    assert (heard[0].chan1_raw, heard[0].chan3_raw, heard[0].chancount) == (1750, 1000, 3)


def test_radio_control_of_another_autopilot_is_refused():
    with pytest.raises(ParameterError, match="only embedded, px4 and ardupilot have a radio"):
        SimulatorParameters(rc="joy", controller=ControllerSettings(kind="ros2"))


def test_a_range_finder_flies_by_the_name_of_its_preset(fly):
    _, bag = fly(
        controller=ControllerSettings(kind="ros2"),
        sensors=SensorSettings(range_finder="ideal"),
        duration_s=0.5,
    )
    ranges = [m.range for _, _, m in bag.messages(["/range"])]
    assert len(ranges) == 10


def test_a_preset_that_is_not_there_is_refused_before_the_flight():
    with pytest.raises(UserError, match="range_finder has none named 'sonar'"):
        check_before_flight(
            SimulatorParameters(
                controller=ControllerSettings(kind="ros2"),
                sensors=SensorSettings(range_finder="sonar"),
            )
        )


OWN = """
class Ahead:
    topic, msgtype, rate_hz = "ahead", "sensor_msgs/msg/Range", 20.0

    def __init__(self, parameters, rng):
        pass

    def sample(self, stamp_ns, truth):
        return {"range": truth.cast(truth.p_map_body, truth.R_map_body @ [0.0, 0.0, -1.0])}
"""


def test_a_sensor_of_one_s_own_can_look_at_the_world(fly, tmp_path, monkeypatch):
    (tmp_path / "own_range.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    _, bag = fly(
        controller=ControllerSettings(kind="ros2"),
        sensors=SensorSettings(extra=("own_range:Ahead",)),
        duration_s=0.5,
    )
    heights = [m.pose.pose.position.z for _, _, m in bag.messages(["/truth/odom"])]
    ranges = [m.range for _, _, m in bag.messages(["/ahead"])]
    assert ranges[-1] == pytest.approx(heights[-1], abs=FLOAT32_M)


HOVER = """
takeoff_altitude_m: 4.0
speed_m_s: 1.0
waypoints:
  - {position_m: [3.0, 0.0, 4.0], hold_s: 4.0}
"""
CAPACITY_AH = 1.0


@pytest.mark.slow
@pytest.mark.skipif("PX4_DIR" not in os.environ, reason="real PX4 not present: set PX4_DIR")
def test_the_real_px4_logs_truth_and_reads_every_sensor(fly, tmp_path, iris_with):
    mission = tmp_path / "hover.yaml"
    mission.write_text(textwrap.dedent(HOVER))
    parameters = tmp_path / "px4.yaml"
    parameters.write_text("MPC_XY_CRUISE: 3.25\n")
    simulation, bag = fly(
        controller=ControllerSettings(kind="px4"),
        px4=Px4Settings(dir=os.environ["PX4_DIR"], parameters=str(parameters)),
        airframe=iris_with(battery={"capacity_ah": CAPACITY_AH}),
        mission=MissionSettings(file=str(mission)),
        sensors=SensorSettings(
            range_finder="lidar_lite_v3", optical_flow="pmw3901", airspeed="default"
        ),
        fleet=FleetSettings(instance=20),
        duration_s=120.0,
    )
    assert simulation.outcome == "the mission is flown"
    log = read_ulog(tmp_path / "flight" / "px4_20.ulg")
    assert log.parameters["MPC_XY_CRUISE"] == 3.25
    truth = bag.trajectory("/truth/odom")

    true = log.topics["vehicle_local_position_groundtruth"]
    stamps_ns = true["timestamp"].astype(np.int64) * 1000
    inside = (stamps_ns > truth.stamps_ns[0]) & (stamps_ns < truth.stamps_ns[-1])
    p = truth.interpolate(stamps_ns[inside]).p_ref_body - truth.p_ref_body[0]
    logged = np.column_stack([true["y"], true["x"], -true["z"]])[inside]
    assert np.abs(logged - p).max() < LOGGED_TRUTH_M

    ranges = log.topics["distance_sensor"]
    heights = np.interp(ranges["timestamp"] * 1e3, truth.stamps_ns, truth.p_ref_body[:, 2])
    is_high = heights > 3.0
    assert ranges["signal_quality"][is_high].min() == 100
    error = ranges["current_distance"][is_high] - (heights[is_high] - 0.05)
    assert np.sqrt(np.mean(error**2)) < 2.0 * RANGE_STD_M

    assert log.topics["estimator_status_flags"]["cs_opt_flow"].max() == 1
    assert len(log.topics["differential_pressure"]["timestamp"]) > 10
    battery = log.topics["battery_status"]
    states = [m for _, _, m in bag.messages(["/battery"])]
    assert states[-1].percentage < states[0].percentage - 2.0 * WHOLE_PERCENT
    assert battery["remaining"][-1] == pytest.approx(states[-1].percentage, abs=WHOLE_PERCENT)
    seen = battery["voltage_v"]
    assert seen.min() == pytest.approx(min(s.voltage for s in states), abs=CELLS_V)
