# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The MAVLink server, read and written by pymavlink as a ground station would."""

import math

import numpy as np
import pytest
from pymavlink.dialects.v20 import common
from scipy.spatial.transform import Rotation

from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.mavlink import MavlinkServer
from aerotwin_autopilot.mavlink.codec import LAYOUTS
from aerotwin_autopilot.mavlink.streams import OFFBOARD_HZ
from aerotwin_autopilot.mavlink.telemetry import Navigation
from aerotwin_autopilot.parameters import load_autopilot_parameters
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_core.frames import quat_wxyz_ned_frd_from_map_body, rotation_from_quaternion

OFFBOARD, ONBOARD, GROUND = 0, 1, 2
ROUNDING = 1e-6
GRID_DEG = 0.6e-7
"""Half of the last digit, and rounding."""
SYSTEM_ID = 4
PREARM = 0x10000000
NOWHERE = (math.nan, math.nan, math.nan)
ACCEPTED, REJECTED, DENIED, UNSUPPORTED, FAILED = 0, 1, 2, 3, 4


class Station:
    """A ground station: pymavlink on one link of a server, and the vehicle to step."""

    def __init__(self, vehicle) -> None:
        self.vehicle = vehicle
        self.autopilot = Autopilot(load_autopilot_parameters(), instance=SYSTEM_ID - 1)
        self.server = MavlinkServer(self.autopilot)
        self._encoder = common.MAVLink(None, srcSystem=255, srcComponent=190)
        self._parsers = [common.MAVLink(None) for _ in range(3)]
        self._commands = (0.0,) * 4

    def step(self) -> list[list]:
        """Step once; return the messages that came on each link."""
        self.vehicle.step(self._commands, is_armed=self.autopilot.modes.is_armed)
        if self.vehicle.fix is not None:
            self.autopilot.on_gnss_fix(self.vehicle.fix)
        self._commands = self.autopilot.on_imu_sample(self.vehicle.sensor)
        self.server.write_telemetry()
        return [self.read(k) for k in range(3)]

    def read(self, link: int) -> list:
        return self._parsers[link].parse_buffer(b"".join(self.server.pop_datagrams(link))) or []

    def run(self, seconds: float) -> list[list]:
        """Step for a while; return all messages of each link."""
        heard: list[list] = [[], [], []]
        for _ in range(round(seconds / 0.004)):
            for link, messages in enumerate(self.step()):
                heard[link] += messages
        return heard

    def send(self, message, link: int = GROUND) -> list:
        """Send a message and return what is answered at once."""
        self.server.on_datagram(link, message.pack(self._encoder))
        return self.read(link)

    def command(self, number: int, *parameters: float, target: int = SYSTEM_ID):
        """Send a COMMAND_LONG; return its acknowledgement and the other answers."""
        filled = [*parameters, *[0.0] * (7 - len(parameters))]
        answers = self.send(common.MAVLink_command_long_message(target, 1, number, 0, *filled))
        acks = [m for m in answers if m.get_type() == "COMMAND_ACK"]
        others = [m for m in answers if m.get_type() != "COMMAND_ACK"]
        return (acks[0].result if acks else None), others

    def latest(self, name: str, seconds: float = 1.0, link: int = OFFBOARD):
        found = [m for m in self.run(seconds)[link] if m.get_type() == name]
        assert found, f"no {name} within {seconds} s"
        return found[-1]


@pytest.fixture
def station(simulated_vehicle) -> Station:
    return Station(simulated_vehicle(seed=2, yaw=0.3))


@pytest.fixture
def ready(station) -> Station:
    station.run(4.0)
    assert not station.autopilot.modes.refusals()
    return station


def test_every_stream_comes_at_its_default_rate_and_decodes(ready):
    heard = [m.get_type() for m in ready.run(4.0)[OFFBOARD]]
    for name, rate in OFFBOARD_HZ.items():
        if name not in ("POSITION_TARGET_LOCAL_NED", "ORBIT_EXECUTION_STATUS"):  # it is disarmed
            assert heard.count(name) == pytest.approx(4.0 * rate, abs=1), name
    assert "BAD_DATA" not in heard


def test_frames_are_those_of_pymavlink_byte_for_byte():
    values = (1234, 0.1, -0.2, 0.3, 1.0, -2.0, 0.0)
    ours = LAYOUTS["LOCAL_POSITION_NED"]
    encoder = common.MAVLink(None, srcSystem=7, srcComponent=1)
    encoder.seq = 200
    theirs = common.MAVLink_local_position_ned_message(*values).pack(encoder)
    assert ours.frame(ours.pack(*values), sequence=200, system_id=7, component_id=1) == theirs


def test_the_heartbeat_says_px4_quadrotor_and_mode(station):
    beat = station.latest("HEARTBEAT", 1.1)
    assert (beat.type, beat.autopilot, beat.base_mode & 128) == (2, 12, 0)
    assert beat.custom_mode == Mode.HOLD.custom_mode
    assert beat.get_srcSystem() == SYSTEM_ID
    assert beat.get_srcComponent() == 1


def test_the_prearm_bit_comes_with_readiness(station):
    early = station.latest("SYS_STATUS", 0.6)
    assert early.onboard_control_sensors_present & PREARM
    assert not early.onboard_control_sensors_health & PREARM
    station.run(3.5)
    assert station.latest("SYS_STATUS").onboard_control_sensors_health & PREARM


def test_telemetry_shows_the_estimate_in_north_east_down(ready):
    last, o = {}, ready.autopilot.estimator.output
    while not {"LOCAL_POSITION_NED", "ATTITUDE", "GLOBAL_POSITION_INT"} <= set(last):
        last = {m.get_type(): m for m in ready.step()[OFFBOARD]}
    local = last["LOCAL_POSITION_NED"]
    assert (local.x, local.y, local.z) == pytest.approx((o[1], o[0], -o[2]), abs=ROUNDING)
    assert (local.vx, local.vy, local.vz) == pytest.approx((o[4], o[3], -o[5]), abs=ROUNDING)
    attitude = last["ATTITUDE"]
    assert attitude.yaw == pytest.approx(math.pi / 2 - 0.3, abs=0.1)  # 3 sigma of the heading
    position = last["GLOBAL_POSITION_INT"]
    latitude, longitude, altitude = ready.autopilot.estimator.plane.to_geodetic(o[:3])
    assert position.lat * 1e-7 == pytest.approx(latitude, abs=GRID_DEG)
    assert position.lon * 1e-7 == pytest.approx(longitude, abs=GRID_DEG)
    assert position.alt * 1e-3 == pytest.approx(altitude, abs=0.6e-3)
    assert ready.latest("EXTENDED_SYS_STATE").landed_state == 1


@pytest.mark.parametrize("seed", range(5))
def test_attitudes_turn_into_ned_as_the_core_does_it(ready, seed):
    attitude = Rotation.random(rng=np.random.default_rng(seed)).as_quat()
    ready.autopilot.estimator.output[6:10] = attitude
    navigation = Navigation(ready.autopilot)
    assert navigation.q_wxyz == pytest.approx(
        quat_wxyz_ned_frd_from_map_body(attitude), abs=ROUNDING
    )
    w, x, y, z = navigation.q_wxyz
    yaw, pitch, roll = Rotation.from_quat([x, y, z, w]).as_euler("ZYX")
    assert navigation.roll_pitch_yaw == pytest.approx((roll, pitch, yaw), abs=ROUNDING)


def test_odometry_carries_the_velocity_in_body_axes(ready):
    attitude = Rotation.from_euler("z", 0.5) * Rotation.from_euler("x", 0.3)
    ready.autopilot.estimator.output[6:10] = attitude.as_quat()
    v_map = np.array([1.0, 2.0, 3.0])
    ready.autopilot.estimator.output[3:6] = v_map
    ready.server.autopilot.time_us += 1_000_000
    ready.server.write_telemetry()
    odometry = next(m for m in ready.read(OFFBOARD) if m.get_type() == "ODOMETRY")
    forward, left, up = rotation_from_quaternion(attitude.as_quat()).T @ v_map
    assert (odometry.vx, odometry.vy, odometry.vz) == pytest.approx(
        (forward, -left, -up), abs=ROUNDING
    )


def test_arming_before_readiness_is_rejected_and_says_why(station):
    station.run(0.1)
    result, _ = station.command(400, 1.0)
    assert result == REJECTED
    texts = [m.text for m in station.step()[GROUND] if m.get_type() == "STATUSTEXT"]
    assert any("Arming denied: aligning" in text for text in texts)


def test_takeoff_arm_and_land_by_command(ready):
    altitude = ready.latest("GLOBAL_POSITION_INT").alt * 1e-3 + 2.0
    nan = math.nan
    assert ready.command(22, nan, 0, 0, nan, nan, nan, altitude)[0] == ACCEPTED
    assert ready.autopilot.modes.mode is Mode.TAKEOFF
    assert ready.command(400, 1.0)[0] == ACCEPTED
    heard = ready.run(0.02)[ONBOARD]
    assert [m.base_mode & 128 for m in heard if m.get_type() == "HEARTBEAT"] == [128]
    ready.run(5.0)
    assert ready.autopilot.modes.mode is Mode.HOLD
    assert ready.latest("EXTENDED_SYS_STATE").landed_state == 2
    assert ready.latest("GLOBAL_POSITION_INT").relative_alt == pytest.approx(2000, abs=200)
    assert ready.command(400, 0.0)[0] == REJECTED  # in the air
    assert ready.command(176, 1, 4, 6)[0] == ACCEPTED
    ready.run(10.0)
    assert not ready.autopilot.modes.is_armed


def test_killing_by_the_magic_number_works_in_the_air(ready):
    ready.command(22, *[math.nan] * 7)
    ready.command(400, 1.0)
    ready.run(3.0)
    assert ready.command(400, 0.0, 21196.0)[0] == ACCEPTED
    assert not ready.autopilot.modes.is_armed


@pytest.mark.parametrize(
    ("number", "parameters", "result"),
    [(2500, (), UNSUPPORTED), (176, (1, 4, 4), ACCEPTED), (176, (1, 4, 77), DENIED),
     (176, (0, 4, 3), DENIED), (176, (1, 6, 0), ACCEPTED), (400, (0.5,), DENIED),
     (511, (9999, 1000), FAILED), (512, (9999,), DENIED), (192, (-1,), DENIED),
     (510, (9999,), ACCEPTED), (511, (0, -1), FAILED), (34, (5.0, 1.0, 0, 0, *NOWHERE), REJECTED),
     (34, (0.5, 1.0, 0, 0, *NOWHERE), REJECTED),
     (195, (0, 0, 0, 0, 47.0, 8.0), ACCEPTED), (197, (), ACCEPTED),
     (195, (0, 0, 0, 0, math.nan, 8.0), DENIED), (245, (1,), ACCEPTED), (245, (7,), DENIED),
     (519, (1,), ACCEPTED), (525, (), ACCEPTED),
     (528, (1,), ACCEPTED), (246, (1,), UNSUPPORTED),
     (178, (1, 7.0), ACCEPTED), (178, (1, -1.0), ACCEPTED), (178, (1, 0.0), DENIED),
     (511, (math.nan, math.nan), FAILED),
     (410, (), ACCEPTED), (520, (), ACCEPTED), (176, (math.nan, math.nan, math.nan), DENIED)],
)  # fmt: skip
def test_each_command_is_answered(ready, number, parameters, result):
    assert ready.command(number, *parameters)[0] == result


def test_arming_checks_tell_each_reason_and_are_not_run_while_armed(ready):
    assert ready.command(401)[0] == ACCEPTED
    assert not [t for t in ready.autopilot.texts if "Preflight fail" in t.text]
    assert ready.command(400, 1.0)[0] == ACCEPTED
    assert ready.command(401)[0] == REJECTED


def test_commands_for_another_vehicle_are_not_answered(ready):
    assert ready.command(400, 1.0, target=SYSTEM_ID + 1)[0] is None
    assert not ready.autopilot.modes.is_armed


def test_requests_bring_the_message(ready):
    _, (version,) = ready.command(512, 148)
    assert version.get_type() == "AUTOPILOT_VERSION"
    assert version.capabilities & 0x0008  # COMMAND_INT
    _, (home,) = ready.command(410)
    assert home.latitude == pytest.approx(473977420, abs=300)
    w, x, y, z = home.q  # level, the nose as the vehicle's: 0.3 rad north of east
    assert (x, y) == (0.0, 0.0)
    assert 2.0 * math.atan2(z, w) == pytest.approx(math.pi / 2 - 0.3, abs=0.1)


def test_intervals_can_be_set_asked_for_and_stopped_per_link(ready):
    assert ready.command(511, 31, 100_000)[0] == ACCEPTED
    assert ready.command(511, 30, -1)[0] == ACCEPTED
    _, (interval,) = ready.command(510, 31)
    assert interval.interval_us == 100_000
    heard = ready.run(2.0)
    ground = [m.get_type() for m in heard[GROUND]]
    assert ground.count("ATTITUDE_QUATERNION") == pytest.approx(20, abs=1)
    assert "ATTITUDE" not in ground
    assert "ATTITUDE" in [m.get_type() for m in heard[OFFBOARD]]


def test_the_heartbeat_cannot_be_stopped(ready):
    ready.command(511, 0, -1)
    ready.run(0.5)
    assert "HEARTBEAT" in [m.get_type() for m in ready.run(1.1)[GROUND]]


def test_time_and_ping_are_answered_in_simulated_time(ready):
    (answer,) = ready.send(common.MAVLink_timesync_message(0, 12345))
    assert (answer.tc1, answer.ts1) == (ready.autopilot.time_us * 1000, 12345)
    (pong,) = ready.send(common.MAVLink_ping_message(99, 3, 0, 0))
    assert (pong.time_usec, pong.seq, pong.target_system) == (99, 3, 255)


def local_target(mask: int, frame: int = 1, yaw: float = 0.0):
    return common.MAVLink_set_position_target_local_ned_message(
        0, SYSTEM_ID, 1, frame, mask, 1.0, 2.0, -3.0, 0.1, 0.2, -0.3, 0.01, 0.02, -0.03, yaw, 0.5
    )


def test_local_targets_honour_their_mask(ready):
    offboard = ready.autopilot.modes.offboard
    ready.send(local_target(0, yaw=0.2))
    target = offboard.target
    assert target.position == pytest.approx((2.0, 1.0, 3.0))
    assert target.velocity == pytest.approx((0.2, 0.1, 0.3))
    assert target.acceleration == pytest.approx((0.02, 0.01, 0.03))
    assert target.yaw == pytest.approx(math.pi / 2 - 0.2)
    assert target.yaw_rate == -0.5
    ready.send(local_target(0b110111000111 | 1 << 10))
    assert np.isnan(offboard.target.position).all()
    assert offboard.target.velocity == pytest.approx((0.2, 0.1, 0.3))
    assert offboard.target.acceleration == (0.0, 0.0, 0.0)
    assert math.isnan(offboard.target.yaw)


def test_offsets_in_body_axes_are_ahead_of_the_nose(ready):
    """The vehicle looks along 0.3 rad north of east: one metre ahead is there."""
    modes = ready.autopilot.modes
    ready.send(local_target(0, frame=8))
    yaw = modes.yaw
    ahead, right = 1.0, 2.0
    offset = (
        ahead * math.cos(yaw) + right * math.sin(yaw),
        ahead * math.sin(yaw) - right * math.cos(yaw),
        3.0,
    )
    expected = modes.position + np.array(offset)
    assert modes.offboard.target.position == pytest.approx(expected, abs=ROUNDING)


def test_global_targets_land_in_local_axes(ready):
    plane = ready.autopilot.estimator.plane
    requested = np.array([30.0, -20.0, 12.0])
    latitude, longitude, altitude = plane.to_geodetic(requested)
    ready.send(
        common.MAVLink_set_position_target_global_int_message(
            0, SYSTEM_ID, 1, 5, 0x1C0, round(latitude * 1e7), round(longitude * 1e7), altitude,
            1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        )
    )  # fmt: skip
    target = ready.autopilot.modes.offboard.target
    grid = 0.012  # m: 1e-7 degrees
    assert target.position == pytest.approx(requested, abs=grid)
    assert target.velocity == pytest.approx((0.0, 1.0, 0.0))


@pytest.mark.parametrize("seed", range(3))
def test_garbage_is_survived_and_the_next_command_works(ready, seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        ready.server.on_datagram(GROUND, rng.bytes(int(rng.integers(0, 300))))
    ready.server.on_datagram(GROUND, b"\0" * 300)
    assert ready.command(520)[0] == ACCEPTED


def test_not_a_number_in_a_target_is_no_target(ready):
    message = local_target(0)
    message.x = message.vx = math.nan
    ready.send(message)
    target = ready.autopilot.modes.offboard.target
    assert math.isnan(target.position[1])
    assert target.position[0] == 2.0
