# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Controller `ardupilot`: fine steps in lockstep, what it is told, and how a flight ends."""

import time
from pathlib import Path

import numpy as np
import pytest

from aerotwin_ardupilot_bridge.dataflash_log import read_dataflash
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.parameters import replaced
from aerotwin_faults import FaultTiming
from aerotwin_multirotor_dynamics import Multirotor, hover_command, load_airframe, standing_pose
from aerotwin_simulator import SimulatorParameters
from aerotwin_simulator.controllers.ardupilot_parameters import sensor_parameters
from support.ardupilot_program import LOG_MESSAGE, install_stand_in

INSTANCE = 60
FULL = {
    "controller.kind": "ardupilot", "duration_s": 1.0, "autopilot.answer_s": 0.3,
    "fleet.instance": INSTANCE,
}  # fmt: skip
QUIET = {"sensors.imu": "ideal", "sensors.vibration": 0.0}
FINE_STEPS = 3


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    monkeypatch.setenv("STAND_IN_PWM", "1800")
    return {"ardupilot.dir": str(install_stand_in(tmp_path / "ardupilot"))}


def motion(bag):
    rows = [
        (m.pose.pose.position, m.twist.twist.linear) for _, _, m in bag.messages(["/truth/odom"])
    ]
    return np.array([[p.x, p.y, p.z, v.x, v.y, v.z] for p, v in rows])


def test_the_vehicle_flies_in_fine_steps_and_not_one_is_missing(fly, stand_in):
    simulation, bag = fly(**FULL, **stand_in)
    vehicle = simulation.vehicles[0]
    counters = vehicle.backend.link.counters
    assert counters.n_sent == counters.n_answered == 250 * FINE_STEPS
    assert counters.n_skipped == counters.n_waits == counters.n_refused == 0
    # The oracle: the same body, stepped by itself with the same command.
    airframe = load_airframe("iris")
    p, q = standing_pose(airframe, ground_point=(0.0, 0.0, 0.0), yaw_rad=0.0)
    body = Multirotor(airframe, p_map_body=p, q_map_body=q, origin_altitude_m=488.0)
    for _ in range(250 * FINE_STEPS):
        body.step(np.full(4, 0.8), 0.004 / FINE_STEPS, is_armed=True)
    height = motion(bag)[-1, 2]
    assert height > 1.0
    assert height == pytest.approx(body.state.p_map_body[2], abs=0.02)


def test_the_imu_topic_has_the_mean_of_the_fine_readings(fly, stand_in):
    _, bag = fly(**FULL, **stand_in, **QUIET)
    stamps = [stamp for _, stamp, _ in bag.messages(["/imu/data_raw"])]
    assert len(stamps) == 250 and np.all(np.diff(stamps) == 4_000_000)
    forces = np.array([m.linear_acceleration.z for _, _, m in bag.messages(["/imu/data_raw"])])
    velocity = motion(bag)[:, 5]  # twist is in body axes: it climbs straight
    gained = np.sum(forces - 9.80665) * 0.004
    assert gained == pytest.approx(velocity[-1], rel=0.02)


def test_a_bias_of_the_imu_is_in_the_topic_once(fly, stand_in):
    bias = ("imu_bias", {"accelerometer_m_s2": [0.0, 0.0, 0.5]}, FaultTiming(begin_ns=0))
    means = []
    for name, faults in (("sound", ()), ("biased", (bias,))):
        _, bag = fly(name, faults=faults, **FULL, **stand_in)
        messages = bag.messages(["/imu/data_raw"])
        means.append(np.mean([m.linear_acceleration.z for _, _, m in messages]))
    assert means[1] - means[0] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("kind", ["gnss_loss", "barometer_stuck", "magnetometer_loss"])
def test_a_fault_that_would_not_reach_it_is_refused(fly, stand_in, kind):
    with pytest.raises(ParameterError, match="ArduPilot makes its own"):
        fly(faults=[(kind, {}, FaultTiming(begin_ns=0))], **FULL, **stand_in)


def test_its_log_is_copied_beside_the_bag(fly, stand_in):
    _, bag = fly(**FULL, **stand_in)
    copy = Path(bag.path).parent / f"ardupilot_{INSTANCE}.bin"
    ((time_s, text),) = read_dataflash(copy).messages
    assert (time_s, text.encode()) == (1.0, LOG_MESSAGE)


@pytest.mark.parametrize(
    ("variable", "outcome"),
    [
        ("STAND_IN_ENDS_AT", "ArduPilot 60 exited with code 1"),
        ("STAND_IN_SILENT_AT", "the autopilot stopped answering at t = 0.2"),
    ],
)
def test_a_flight_ends_soon_after_its_autopilot(fly, stand_in, monkeypatch, variable, outcome):
    monkeypatch.setenv(variable, "202")
    begin = time.monotonic()
    simulation, bag = fly(**FULL, **stand_in)
    assert time.monotonic() - begin < 10.0
    assert outcome in simulation.outcome
    assert bag.is_complete
    assert motion(bag)[-1, 2] > 0.0


def test_two_vehicles_fly_with_one_each(fly, stand_in):
    simulation, _ = fly(**FULL, **stand_in, **{"fleet.instances": 2})
    for vehicle in simulation.vehicles:
        assert vehicle.backend.link.counters.n_answered == 250 * FINE_STEPS


def test_it_is_told_the_airframe_and_the_noise_of_the_presets(fly, stand_in, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("ANGLE_MAX: 2000\n")
    _, bag = fly(**FULL, **stand_in, **{"ardupilot.parameters": str(own)})
    path = Path(bag.path).parent / f"ardupilot_{INSTANCE}" / "parameters.parm"
    lines = dict(line.split() for line in path.read_text().splitlines())
    assert lines["FRAME_CLASS"] == lines["FRAME_TYPE"] == "1"
    assert lines["ANGLE_MAX"] == "2000"
    assert lines["SIM_GPS1_LAG_MS"] == "110"
    assert 0.0 < float(lines["MOT_THST_HOVER"]) < hover_command(load_airframe("iris")) < 1.0


def test_its_receiver_is_off_without_a_preset():
    parameters = replaced(SimulatorParameters(), {"sensors.gnss": "none"})
    assert sensor_parameters(parameters)["SIM_GPS1_ENABLE"] == 0


def test_what_cannot_be_is_refused_before_the_flight(fly, tmp_path):
    with pytest.raises(ParameterError, match=r"ardupilot\.rate_hz: expected a multiple of 250"):
        replaced(SimulatorParameters(), {"ardupilot.rate_hz": 900})
    with pytest.raises(UserError, match="ardupilot: looked for"):
        fly(**FULL, **{"ardupilot.dir": str(tmp_path)})
