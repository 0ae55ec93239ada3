# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What an autopilot says on its onboard link. Oracle: pymavlink packs it."""

import socket
from collections.abc import Iterator
from math import nan

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_px4_bridge.dialects import ARDUPILOT, PX4
from aerotwin_px4_bridge.external_vision import VisionPose, parse_odometry
from aerotwin_px4_bridge.mavlink2 import split_datagram
from aerotwin_px4_bridge.onboard import OnboardLink
from aerotwin_px4_bridge.path import PathSetpoint

FLOAT32 = 1e-6
CENTIMETRE = 0.012  # one digit of 1e7 degrees and of a millimetre
ORIGIN = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
PLANE = LocalTangentPlane(ORIGIN)
HALF = float(np.sqrt(0.5))


def _packed(message: mavlink.MAVLink_message, system_id: int = 1) -> bytes:
    return message.pack(mavlink.MAVLink(None, system_id, 1))


def _position(time_boot_ms: int = 1234, altitude_m: float = 490.0) -> mavlink.MAVLink_message:
    return mavlink.MAVLink_global_position_int_message(
        time_boot_ms, 473977420, 85455940, round(altitude_m * 1e3), 2000, 150, -250, 50, 9000
    )


def _attitude() -> mavlink.MAVLink_message:
    """Level, heading east: in map that is the identity."""
    return mavlink.MAVLink_attitude_quaternion_message(
        1230, HALF, 0.0, 0.0, HALF, 0.1, 0.2, 0.3, [0.0] * 4
    )


class Autopilot:
    """The other end of the link: sends pymavlink's messages, reads what comes."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(5.0)
        port = self.socket.getsockname()[1]
        self.link = OnboardLink(PLANE, 0, local_port=0, remote_port=port)

    def say(self, *messages: mavlink.MAVLink_message, system_id: int = 1) -> None:
        for message in messages:
            self.say_bytes(_packed(message, system_id))

    def say_bytes(self, data: bytes) -> None:
        self.socket.sendto(data, ("127.0.0.1", self.link.local_port))
        self.link.poll_datagrams(5_000_000)

    def hear(self) -> mavlink.MAVLink_message:
        (message,) = mavlink.MAVLink(None).parse_buffer(self.socket.recv(2048))
        return message


@pytest.fixture
def autopilot() -> Iterator[Autopilot]:
    autopilot = Autopilot()
    yield autopilot
    autopilot.link.close()
    autopilot.socket.close()


def test_the_state_of_an_autopilot_follows_what_it_says(autopilot):
    state = autopilot.link.state
    autopilot.say(mavlink.MAVLink_heartbeat_message(2, 12, 0x81, 0x04030000, 4, 3))
    assert (state.heartbeat_ns, state.is_armed, state.mode_name) == (5_000_000, True, "MODE_3_4")
    autopilot.say(mavlink.MAVLink_extended_sys_state_message(0, 2))
    assert state.is_in_air
    ready = mavlink.MAV_SYS_STATUS_PREARM_CHECK
    autopilot.say(mavlink.MAVLink_sys_status_message(0, 0, ready, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    assert state.is_ready
    autopilot.say(mavlink.MAVLink_named_value_float_message(5, b"nis_mag", 1.5))
    assert state.named_values == {"nis_mag": 1.5}
    autopilot.say(mavlink.MAVLink_statustext_message(2, b"crit"))
    autopilot.say(mavlink.MAVLink_statustext_message(6, b"info"))
    assert list(autopilot.link.texts) == ["crit"]
    ratios = 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.5, 2.5
    autopilot.say(mavlink.MAVLink_estimator_status_message(77, 831, *ratios))
    assert state.estimator.flags == 831
    assert state.estimator[:4] == pytest.approx((0.1, 0.2, 0.3, 0.4), rel=FLOAT32)
    autopilot.say(mavlink.MAVLink_command_ack_message(400, 4))
    assert autopilot.link.acks == {400: 4}
    autopilot.say(mavlink.MAVLink_mission_ack_message(1, 191, 0))
    assert [frame.message_id for frame in autopilot.link.mission_frames] == [47]


def test_a_text_that_would_clear_the_terminal_is_escaped(autopilot):
    autopilot.say(mavlink.MAVLink_statustext_message(4, b"\x1b[2Jarming \x07denied"))
    autopilot.say(mavlink.MAVLink_statustext_message(3, b"x" * 50))
    assert list(autopilot.link.texts) == [r"\x1b[2Jarming \x07denied", "x" * 50]


def test_a_heartbeat_of_something_else_is_not_that_of_the_autopilot(autopilot):
    autopilot.say(mavlink.MAVLink_heartbeat_message(18, 8, 0x81, 0, 4, 3))
    assert autopilot.link.state.heartbeat_ns is None


def test_the_estimate_is_in_map_axes(autopilot):
    autopilot.say(_attitude(), _position())
    estimate = autopilot.link.state.estimate
    expected = PLANE.from_geodetic(47.397742, 8.545594, 490.0)
    np.testing.assert_allclose(estimate.p_map, expected, atol=CENTIMETRE)
    np.testing.assert_allclose(estimate.v_map, [-2.5, 1.5, -0.5])
    np.testing.assert_allclose(estimate.q_map_body, [0.0, 0.0, 0.0, 1.0], atol=FLOAT32)
    np.testing.assert_allclose(estimate.omega_map_body_in_body, [0.1, -0.2, -0.3], rtol=FLOAT32)
    assert estimate.stamp_ns == 1_234_000_000
    assert estimate.pose_covariance_map is None


def test_the_covariance_comes_from_odometry(autopilot):
    triangle = [0.0] * 21
    for place, value in zip((0, 6, 11, 15, 18, 20), (1, 4, 9, 0.1, 0.2, 0.3), strict=True):
        triangle[place] = value
    odometry = mavlink.MAVLink_odometry_message(
        5, 1, 12, 0, 0, 0, [1.0, 0.0, 0.0, 0.0], 0, 0, 0, 0, 0, 0, triangle, [nan] * 21
    )
    autopilot.say(odometry, _position())
    estimate = autopilot.link.state.estimate
    np.testing.assert_allclose(
        np.diag(estimate.pose_covariance_map), [4, 1, 9, 0.2, 0.1, 0.3], rtol=FLOAT32
    )
    assert estimate.twist_covariance_body is None


def test_values_that_are_not_sound_do_not_enter(autopilot):
    bad_attitude = mavlink.MAVLink_attitude_quaternion_message(1, nan, 0, 0, 1, 0, 0, 0, [0.0] * 4)
    bad_position = mavlink.MAVLink_global_position_int_message(1, 2**31 - 1, 0, 0, 0, 0, 0, 0, 0)
    bad_odometry = mavlink.MAVLink_odometry_message(
        5, 1, 12, nan, 0, 0, [1.0, 0.0, 0.0, 0.0], 0, 0, 0, 0, 0, 0, [1.0] * 21, [1.0] * 21
    )
    autopilot.say(bad_attitude, bad_position, bad_odometry)
    assert autopilot.link.state.estimate is None
    autopilot.say(_position())
    assert autopilot.link.state.estimate.q_map_body is None
    assert autopilot.link.state.estimate.pose_covariance_map is None


@pytest.mark.parametrize(("dialect", "is_known"), [(PX4, True), (ARDUPILOT, False)])
def test_ardupilot_is_nowhere_until_it_knows_its_position(autopilot, dialect, is_known):
    autopilot.link.state.dialect = dialect
    autopilot.say(mavlink.MAVLink_global_position_int_message(1, 0, 0, 490_000, 0, 0, 0, 0, 0))
    assert (autopilot.link.state.estimate is not None) == is_known
    autopilot.say(_position())
    assert autopilot.link.state.estimate is not None


def test_what_was_reported_is_forgotten_by_one_that_starts_again(autopilot):
    autopilot.say(_attitude(), _position(), mavlink.MAVLink_heartbeat_message(2, 12, 129, 1, 4, 3))
    assert autopilot.link.state.is_armed and autopilot.link.state.estimate is not None
    autopilot.link.begin_again()
    assert autopilot.link.state.heartbeat_ns is None and not autopilot.link.state.is_armed
    autopilot.say(_position())
    assert autopilot.link.state.estimate.q_map_body is None


def test_another_system_and_garbage_change_nothing(autopilot):
    autopilot.say(_position(), mavlink.MAVLink_heartbeat_message(2, 12, 1, 1, 4, 3), system_id=2)
    autopilot.say_bytes(b"\xfd\xff" + bytes(400))
    autopilot.say_bytes(b"")
    assert autopilot.link.state.estimate is None
    assert autopilot.link.state.heartbeat_ns is None


def test_an_unrequested_stream_is_stopped_a_few_times_only(autopilot):
    for _ in range(20):
        autopilot.say(mavlink.MAVLink_vfr_hud_message(1, 1, 9, 5, 5, 0.1))
    asked = [autopilot.hear() for _ in range(5)]
    assert {(m.command, m.param1, m.param2) for m in asked} == {(511, 74.0, -1.0)}
    autopilot.socket.settimeout(0.05)
    with pytest.raises(TimeoutError):
        autopilot.hear()


def test_what_we_send_is_what_pymavlink_reads(autopilot):
    link = autopilot.link
    link.send_heartbeat()
    heartbeat = autopilot.hear()
    assert (heartbeat.type, heartbeat.autopilot, heartbeat.system_status) == (18, 8, 4)
    assert (heartbeat.get_srcSystem(), heartbeat.get_srcComponent()) == (1, 191)
    link.send_command(400, 1.0, 21196.0, confirmation=2)
    command = autopilot.hear()
    assert (command.command, command.param1, command.param2, command.param7) == (400, 1, 21196, 0)
    assert (command.target_system, command.target_component, command.confirmation) == (1, 1, 2)
    assert command.get_seq() == 1


def test_setpoints_go_out_in_the_global_frame(autopilot):
    setpoint = PathSetpoint(
        p_map=np.array([10.0, 20.0, 30.0]),
        v_map=np.array([1.0, 2.0, 3.0]),
        a_map=np.array([0.1, 0.2, 0.3]),
        yaw=0.25,
        yaw_rate=0.5,
    )
    autopilot.link.send_setpoint(setpoint, 7_000_000_000)
    sent = autopilot.hear()
    assert sent.get_type() == "SET_POSITION_TARGET_GLOBAL_INT"
    latitude, longitude, altitude = PLANE.to_geodetic([10.0, 20.0, 30.0])
    assert (sent.lat_int, sent.lon_int) == (round(latitude * 1e7), round(longitude * 1e7))
    assert sent.alt == pytest.approx(altitude, rel=FLOAT32)
    assert (sent.vx, sent.vy, sent.vz) == pytest.approx((2.0, 1.0, -3.0))
    assert (sent.afx, sent.afy, sent.afz) == pytest.approx((0.2, 0.1, -0.3))
    assert (sent.yaw, sent.yaw_rate) == pytest.approx((np.pi / 2 - 0.25, -0.5))
    assert (sent.type_mask, sent.coordinate_frame, sent.time_boot_ms) == (0, 5, 7000)


def _estimator(flags: int) -> mavlink.MAVLink_message:
    return mavlink.MAVLink_estimator_status_message(77, flags, *[0.1] * 8)


def test_an_autopilot_that_knows_only_where_it_is_relative_to_its_start_needs_a_fix(autopilot):
    link = autopilot.link
    assert not link.needs_fix
    autopilot.say(_estimator(mavlink.ESTIMATOR_ATTITUDE))
    assert not link.needs_fix
    autopilot.say(_estimator(mavlink.ESTIMATOR_POS_HORIZ_REL | mavlink.ESTIMATOR_ATTITUDE))
    assert link.needs_fix
    autopilot.say(_position())
    assert not link.needs_fix


def test_the_origin_of_map_is_reported(autopilot):
    autopilot.link.send_global_origin()
    sent = autopilot.hear()
    assert sent.get_type() == "SET_GPS_GLOBAL_ORIGIN"
    assert (sent.latitude, sent.longitude, sent.altitude) == (473977420, 85455940, 488000)
    assert sent.target_system == 1


def test_external_vision_goes_out_as_odometry(autopilot):
    pose = VisionPose(time_us=9, p_map=np.ones(3), q_map_body=np.array([0.0, 0.0, 0.0, 1.0]))
    autopilot.link.send_external_vision(pose)
    data = autopilot.socket.recv(2048)
    (frame,) = split_datagram(data)
    np.testing.assert_array_equal(parse_odometry(frame.payload).p_map, np.ones(3))


def test_a_taken_port_is_reported(autopilot):
    with pytest.raises(UserError, match=f"UDP port {autopilot.link.local_port}"):
        OnboardLink(PLANE, 0, local_port=autopilot.link.local_port)


def test_one_that_speaks_first_is_answered_from_its_first_report_on():
    link = OnboardLink(PLANE, 0, local_port=0, dialect=ARDUPILOT)
    ours, strange = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    try:
        for one in (ours, strange):
            one.bind(("127.0.0.1", 0))
            one.settimeout(5.0)
        reports = _packed(_attitude()) + _packed(_position())
        ours.sendto(reports, ("127.0.0.1", link.local_port))
        link.poll_datagrams(1)
        assert link.state.estimate is not None
        foreign = _packed(_attitude(), 9) + _packed(_position(), 9)
        strange.sendto(foreign, ("127.0.0.1", link.local_port))
        link.poll_datagrams(2)
        link.send_heartbeat()
        assert split_datagram(ours.recv(2048))[0].message_id == 0
    finally:
        for each in (link, ours, strange):
            each.close()


def test_what_a_first_datagram_makes_it_ask_is_not_lost():
    link = OnboardLink(PLANE, 0, local_port=0, dialect=ARDUPILOT)
    ours = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        ours.settimeout(5.0)
        unused = mavlink.MAVLink_raw_imu_message(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        ours.sendto(_packed(unused), ("127.0.0.1", link.local_port))
        link.poll_datagrams(1)
        (asked,) = mavlink.MAVLink(None).parse_buffer(ours.recv(2048))
        assert (asked.command, asked.param1) == (mavlink.MAV_CMD_SET_MESSAGE_INTERVAL, 27.0)
    finally:
        link.close()
        ours.close()


def test_what_it_warned_of_is_forgotten_when_it_starts_again(autopilot):
    autopilot.say(mavlink.MAVLink_statustext_message(4, b"Position lost"))
    assert list(autopilot.link.texts) == ["Position lost"]
    autopilot.link.begin_again()
    assert not autopilot.link.texts
