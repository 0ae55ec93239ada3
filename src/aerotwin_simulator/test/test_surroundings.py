# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Wind, ground, battery and external vision, as a flight meets them."""

from dataclasses import replace

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.messages import odometry_message
from aerotwin_multirotor_dynamics import BatteryParameters, layout, load_airframe
from aerotwin_multirotor_dynamics.wind import Wind, WindParameters
from aerotwin_sensor_models import load_preset, seed_sequence
from aerotwin_simulator import (
    ControllerSettings,
    FleetSettings,
    MissionSettings,
    SensorSettings,
    SimulatorParameters,
    VisionSettings,
    WindSettings,
)
from aerotwin_simulator.battery import BatteryMonitor
from aerotwin_simulator.external_vision import NoVision, VisionTopic, make_vision
from aerotwin_simulator.preflight import check_before_flight
from aerotwin_simulator.surroundings import (
    CLEAR_M,
    STEPS_WHEN_CLEAR,
    STEPS_WHEN_STILL,
    STILL_M,
    Air,
    GroundTracker,
)
from aerotwin_simulator.topics import MessageSink, SinkGroup
from aerotwin_simulator.truth import TruthStep

MICROSECOND_M = 2e-6  # stamps are microseconds, the climb 1 m/s
N_INPUTS = layout.COMMAND + 4
INSTANCE = 86
HOVER = "takeoff_altitude_m: 2.5\nwaypoints: [{position_m: [0.0, 0.0, 2.5], hold_s: 60.0}]\n"
HOVER_M = 0.4  # GNSS and barometer wander


def _state(z: float = 0.0, velocity=(0.0, 0.0, 0.0)) -> np.ndarray:
    state = np.zeros(layout.N_HEAD + 4)
    state[2] = z
    state[layout.VELOCITY] = velocity
    return state


class Plane:
    """Level ground that counts how often it is asked for."""

    def __init__(self, height):
        self.height, self.n_asked = height, 0

    def ground_plane(self, p_map):
        self.n_asked += 1
        return np.array([p_map[0], p_map[1], self.height]), np.array([0.0, 0.0, 1.0])


def test_the_ground_is_asked_for_near_it_when_one_moved_and_less_often_above():
    plane, inputs = Plane(5.0), np.zeros(N_INPUTS)
    surface = GroundTracker(plane, inputs)
    for k in range(10):
        surface.update_ground(_state(5.0 + 0.5 * CLEAR_M + 2.0 * STILL_M * k))
    assert plane.n_asked == 10
    assert inputs[layout.GROUND_POINT + 2] == 5.0
    for _ in range(10 * STEPS_WHEN_CLEAR):
        surface.update_ground(_state(5.0 + 2.0 * CLEAR_M))
    assert plane.n_asked == 20
    for _ in range(2 * STEPS_WHEN_STILL):
        surface.update_ground(_state(5.0 + 0.5 * CLEAR_M))
    assert plane.n_asked == 22


def test_steady_wind_stands_in_the_inputs():
    inputs = np.zeros(N_INPUTS)
    air = Air(SimulatorParameters(wind=WindSettings(east_m_s=3.0, up_m_s=-1.0)), inputs)
    air.blow(_state(), 0)
    assert inputs[layout.WIND : layout.WIND + 3].tolist() == [3.0, 0.0, -1.0]


def test_gusts_are_those_of_the_wind_model_with_the_seed_of_the_vehicle():
    inputs = np.zeros(N_INPUTS)
    parameters = SimulatorParameters(
        wind=WindSettings(north_m_s=8.0, turbulence_m_s=15.4),
        seed=5,
        fleet=FleetSettings(instance=2),
    )
    air = Air(parameters, inputs)
    wind = Wind(
        WindParameters(north_m_s=8.0, turbulence_wind_m_s=15.4), seed_sequence(5, 2, "wind")
    )
    before = np.array([0.0, 8.0, 0.0])
    for _ in range(50):
        air.blow(_state(20.0, (1.0, 0.0, 0.0)), 0)
        airspeed = float(np.linalg.norm(np.array([1.0, 0.0, 0.0]) - before))
        before = wind.sample(0.004, 20.0, airspeed)
        assert inputs[layout.WIND : layout.WIND + 3].tolist() == before.tolist()


class Collected(MessageSink):
    def __init__(self):
        self.messages = []

    def add(self, topic):
        pass

    def publish_cdr(self, topic, stamp_ns, cdr):
        self.messages.append((topic.name, stamp_ns))


BATTERY = {"capacity_ah": 3.5, "resistance_ohm": 0.02}


def test_a_battery_reports_once_a_second(iris_with):
    airframe, sink = load_airframe(iris_with(battery=BATTERY)), Collected()
    monitor = BatteryMonitor(airframe, SinkGroup([sink]), "uav1")
    state = _state()
    state[layout.BATTERY_CHARGE], state[layout.BATTERY_VOLTAGE] = 0.8, 15.5
    reports = [monitor.report(k * 4_000_000, state) for k in range(1, 751)]
    reported = [report for report in reports if report is not None]
    assert len(reported) == 3
    assert (reported[0].charge, reported[0].voltage_v, reported[0].cells) == (
        0.8,
        15.5,
        airframe.battery.cells,
    )
    assert sink.messages[0] == ("uav1/battery", 1_000_000_000)


def test_an_airframe_without_a_battery_reports_none():
    airframe = replace(load_airframe("iris"), battery=BatteryParameters())
    monitor = BatteryMonitor(airframe, SinkGroup([]))
    assert all(monitor.report(k * 10**9, _state()) is None for k in range(1, 4))


def test_a_flight_records_its_battery_and_tells_the_embedded_autopilot(iris_with, fly):
    simulation, bag = fly(
        airframe=iris_with(battery=BATTERY),
        fleet=FleetSettings(instance=66),
        duration_s=2.5,
        seed=1,
    )
    assert bag.counts["/battery"] == 2
    message = next(bag.messages(["/battery"]))[2]
    assert message.percentage == pytest.approx(1.0, abs=0.01)
    assert message.voltage > 12.0
    assert simulation.is_repeatable


def _odometry(p=(1.0, 2.0, 3.0), q=(0.0, 0.0, 0.0, 1.0), variances=(0.0,) * 6):
    return odometry_message(
        1_500_000_000, "map", "base_link", p, q, (0.5, 0.0, 0.0), (0.0,) * 3,
        pose_variances=variances, twist_variances=variances,
    )  # fmt: skip


def test_external_odom_becomes_a_pose_for_the_autopilot():
    vision = make_vision(SimulatorParameters(vision=VisionSettings(source="topic")), SinkGroup([]))
    assert isinstance(vision, VisionTopic)
    vision.on_odometry_message(_odometry(variances=(0.04,) * 6))
    (pose,) = vision.collect(None)
    assert pose.time_us == 1_500_000
    assert pose.p_map.tolist() == [1.0, 2.0, 3.0]
    assert pose.v_body.tolist() == [0.5, 0.0, 0.0]
    assert pose.pose_covariance_map.diagonal() == pytest.approx([0.04] * 6)
    assert vision.collect(None) == []


def test_covariances_of_zero_mean_not_known_and_take_the_twist_with_them():
    vision = VisionTopic()
    vision.on_odometry_message(_odometry())
    (pose,) = vision.collect(None)
    assert pose.pose_covariance_map is None
    assert pose.v_body is None


@pytest.mark.parametrize("bad", [{"p": (np.nan, 0.0, 0.0)}, {"q": (0.0, 0.0, 0.0, 0.5)}])
def test_a_pose_that_is_not_sound_is_counted_and_passed_over(bad):
    vision = VisionTopic()
    vision.on_odometry_message(_odometry(**bad))
    assert vision.collect(None) == []
    assert vision.n_refused == 1


def test_simulated_vision_is_delivered_late_with_the_truth_of_its_stamp():
    sink = Collected()
    parameters = SimulatorParameters(
        vision=VisionSettings(source="simulated", preset="ideal"),
        sensors=SensorSettings(gnss="none"),
    )
    preset = load_preset("external_vision", "ideal")
    vision, poses = make_vision(parameters, SinkGroup([sink]), "a"), []
    for k in range(1, 251):
        begin, end = _state(0.004 * (k - 1), (0, 0, 1.0)), _state(0.004 * k, (0, 0, 1.0))
        for state in (begin, end):
            state[layout.QUATERNION] = (0.0, 0.0, 0.0, 1.0)
        end_ns = 4_000_000 * k
        came = vision.collect(TruthStep(end_ns - 4_000_000, end_ns, begin, end))
        poses += [(pose, end_ns) for pose in came]
    assert len(poses) == pytest.approx(preset.rate_hz * (1.0 - preset.delay_s), abs=1.0)
    for pose, end_ns in poses:
        assert pose.p_map[2] == pytest.approx(pose.time_us * 1e-6, abs=MICROSECOND_M)
        assert end_ns * 1e-3 - pose.time_us >= preset.delay_s * 1e6 - 1.0
    assert {name for name, _ in sink.messages} == {"a/external_odom"}


def test_a_sensor_of_one_s_own_is_sampled_and_recorded(fly):
    simulation, bag = fly(
        controller=ControllerSettings(kind="ros2"),
        sensors=SensorSettings(extra=("aerotwin_sensor_models.airspeed:Airspeed",)),
        duration_s=2.0,
        wind=WindSettings(east_m_s=-9.0),
    )
    assert simulation.outcome == "2 s are over"
    pressures = [m.fluid_pressure for _, _, m in bag.messages(["/airspeed/differential_pressure"])]
    assert len(pressures) == 20
    # the vehicle faces east: rho v^2 / 2 at 488 m; it is blown about a little on its feet
    assert np.mean(pressures) == pytest.approx(0.5 * 1.17 * 81.0, rel=0.05)


def test_an_extra_sensor_that_is_not_there_is_reported_before_anything_begins():
    parameters = SimulatorParameters(
        controller=ControllerSettings(kind="ros2"),
        sensors=SensorSettings(extra=("no_such_module:Sonar",)),
    )
    with pytest.raises(UserError, match="no module 'no_such_module' found"):
        check_before_flight(parameters)


def test_no_vision_is_the_default():
    assert isinstance(make_vision(SimulatorParameters(), SinkGroup([])), NoVision)


@pytest.fixture
def hover(tmp_path) -> str:
    path = tmp_path / "hover.yaml"
    path.write_text(HOVER)
    return str(path)


def test_a_receiver_without_a_fix_says_so_and_the_autopilot_flies_on(fly, hover, tmp_path):
    preset = tmp_path / "outage.yaml"
    preset.write_text(
        "source: a test\nparameters: {rate_hz: 10.0, white_horizontal_m: 0.2,"
        " white_vertical_m: 0.4, velocity_horizontal_m_s: 0.05, velocity_vertical_m_s: 0.1,"
        " outages_s: [[6.0, 6.5]]}\n"
    )
    simulation, bag = fly(
        sensors=SensorSettings(gnss=str(preset)),
        mission=MissionSettings(file=hover),
        duration_s=8.0,
        fleet=FleetSettings(instance=INSTANCE),
    )
    assert simulation.outcome == "8 s are over, in the air"
    fixes = [(stamp_ns, m) for _, stamp_ns, m in bag.messages(["/gnss/fix"])]
    lost = [(stamp_ns, m) for stamp_ns, m in fixes if m.status.status == -1]
    assert len(lost) == 5
    assert all(6.0e9 <= stamp_ns <= 6.6e9 for stamp_ns, _ in lost)
    assert all(np.isnan(m.latitude) and m.position_covariance_type == 0 for _, m in lost)
    velocities = [m for _, _, m in bag.messages(["/gnss/velocity"])]
    assert len(velocities) == len(fixes) - len(lost)
    assert all(np.isfinite(m.twist.linear.x) for m in velocities)


@pytest.mark.parametrize("airframe", ["x500", "firefly"])
def test_the_embedded_autopilot_gets_the_airframe_that_it_flies(fly, hover, airframe):
    simulation, bag = fly(
        airframe=airframe,
        mission=MissionSettings(file=hover),
        duration_s=9.0,
        fleet=FleetSettings(instance=INSTANCE),
    )
    assert simulation.outcome == "9 s are over, in the air"
    truth = bag.trajectory("/truth/odom")
    settled = truth.p_ref_body[truth.stamps_ns > 8.0e9, 2] - truth.p_ref_body[0, 2]
    assert settled == pytest.approx(2.5, abs=HOVER_M)
