# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the estimator says of itself, links on which nobody listens, and frames that are damaged."""

import math
import select
import socket
import struct

import numpy as np
import pytest
from pymavlink.dialects.v20 import common
from scipy.spatial.transform import Rotation

from aerotwin_autopilot.estimator import layout as at
from aerotwin_autopilot.estimator.alignment import gnss_errors
from aerotwin_autopilot.estimator.prediction import predict
from aerotwin_autopilot.mavlink import MavlinkServer
from aerotwin_autopilot.mavlink.codec import FREQUENT, LAYOUTS
from aerotwin_autopilot.mavlink.streams import QUIET_HZ
from aerotwin_autopilot.parameters import EstimatorParameters, load_autopilot_parameters
from aerotwin_autopilot.session import Session
from aerotwin_autopilot.udp_links import LOCAL_PORTS, UdpLinks, remote_port
from aerotwin_px4_bridge.mavlink2 import HIL_SENSOR, KNOWN, read_frame
from aerotwin_px4_bridge.messages import pack_heartbeat, pack_hil_sensor

OFFBOARD, ONBOARD, GROUND = 0, 1, 2
INSTANCE = 59
FLOAT32 = 1e-6
"""Relative rounding of a MAVLink float."""
R_NED_ENU = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
R_FRD_FLU = np.diag([1.0, -1.0, -1.0])
PREDICTION = 5e-5
"""What one step over the whole delay leaves out, in SI units squared; position has 0.3 there."""


@pytest.fixture
def heard(flight):
    """Return a function that gives the messages of one link over a time, by name."""
    flight.make_ready()
    server = MavlinkServer(flight.autopilot)
    parser = common.MAVLink(None)

    def listen(link: int, seconds: float) -> dict[str, list]:
        found: dict[str, list] = {}
        for _ in range(round(seconds / 0.004)):
            flight.step()
            server.write_telemetry()
            for message in parser.parse_buffer(b"".join(server.pop_datagrams(link))) or []:
                found.setdefault(message.get_type(), []).append(message)
            for other in range(3):
                b"".join(server.pop_datagrams(other))
        return found

    listen.server = server
    return listen


def full(upper: list[float]) -> np.ndarray:
    matrix = np.zeros((6, 6))
    matrix[np.triu_indices(6)] = upper
    return matrix + np.triu(matrix, 1).T


def test_odometry_carries_the_whole_covariance_in_its_own_axes(flight, heard):
    flight.take_off()
    last = heard(ONBOARD, 1.0)["ODOMETRY"][-1]
    while last.time_usec != flight.vehicle.time_us:
        last = heard(ONBOARD, 0.004).get("ODOMETRY", [last])[-1]
    estimator = flight.autopilot.estimator
    P = estimator.present_covariance()
    turn = np.kron(np.eye(2), R_NED_ENU)
    order = [0, 1, 2, 6, 7, 8]
    pose = turn @ P[np.ix_(order, order)] @ turn.T
    assert full(last.pose_covariance) == pytest.approx(pose, rel=1e-5, abs=1e-9)
    R = R_FRD_FLU @ Rotation.from_quat(estimator.output[at.O_ATTITUDE : at.O_RATE]).as_matrix().T
    speed = full(last.velocity_covariance)
    assert speed[:3, :3] == pytest.approx(R @ P[3:6, 3:6] @ R.T, rel=1e-5, abs=1e-9)
    assert np.isnan(speed[3:, 3:]).all()
    forward, left, up = R_FRD_FLU @ R @ estimator.output[3:6]
    assert (last.vx, last.vy, last.vz) == pytest.approx((forward, -left, -up), abs=FLOAT32)


def test_the_present_is_less_sure_than_the_past_by_what_the_delay_adds(flight):
    """Against the filter's own step, sample by sample, from the same covariance."""
    flight.take_off()
    estimator = flight.autopilot.estimator
    noise = estimator.arena.record["noise"]
    ring = estimator.arena.record["ring"]
    cursor = estimator.arena.cursor
    covariance = np.zeros((at.N_CORE, at.N_ERROR))
    covariance[:, : at.N_CORE] = estimator.covariance
    state = estimator.state.copy()
    for k in range(cursor[at.C_SAMPLE_COUNT]):
        row = ring[(cursor[at.C_SAMPLE_HEAD] + k) % at.RING_LENGTH]
        predict(state, covariance, row, noise)
    present = estimator.present_covariance()
    assert present == pytest.approx(covariance[:, : at.N_CORE], abs=PREDICTION)
    assert state[: at.X_GYRO] == pytest.approx(estimator.output[: at.O_RATE], abs=1e-9)
    assert (np.diag(present)[3:6] > np.diag(estimator.covariance)[3:6]).all()


def test_innovations_are_published_and_near_one(heard):
    found = heard(ONBOARD, 10.0)
    values: dict[str, list[float]] = {}
    for message in found["NAMED_VALUE_FLOAT"]:
        values.setdefault(message.name, []).append(message.value)
    assert set(values) == {"nis_vel", "nis_pos", "nis_hgt", "nis_baro", "nis_mag"}
    assert len(values["nis_baro"]) == pytest.approx(50, abs=1)
    # standing still the filter is told so: its velocity is better than it says
    for name in ("nis_pos", "nis_hgt"):
        assert 0.5 < np.mean(values[name]) < 1.5, name
    # noise that lasts counts as white noise of the same weight: single innovations are small
    for name in ("nis_baro", "nis_mag"):
        assert 0.0 < np.mean(values[name]) < 0.5, name
    status = found["ESTIMATOR_STATUS"][-1]
    gate = EstimatorParameters().gate_sigma
    assert status.mag_ratio == pytest.approx(math.sqrt(values["nis_mag"][-1]) / gate, rel=0.3)
    assert status.flags == 0x37E | 1
    assert "NAMED_VALUE_FLOAT" not in heard(OFFBOARD, 1.0)


def test_integers_among_the_parameters_travel_as_integers(flight, heard):
    server = heard.server
    encoder = common.MAVLink(None, srcSystem=255, srcComponent=190)
    parser = common.MAVLink(None)
    (bits,) = struct.unpack("<f", struct.pack("<i", 2))
    message = common.MAVLink_param_set_message(1, 1, b"NAV_DLL_ACT", bits, 6)
    server.on_datagram(GROUND, message.pack(encoder))
    (answer,) = parser.parse_buffer(b"".join(server.pop_datagrams(GROUND)))
    assert answer.param_type == 6
    assert struct.unpack("<i", struct.pack("<f", answer.param_value)) == (2,)
    assert flight.modes.settings.values.link_loss_action == 2


def test_a_heartbeat_with_a_request_to_stop_comes_once_a_second(heard):
    encoder = common.MAVLink(None, srcSystem=255, srcComponent=190)
    message = common.MAVLink_command_long_message(1, 1, 511, 0, 0, -1, 0, 0, 0, 0, 0)
    heard.server.on_datagram(GROUND, message.pack(encoder))
    assert len(heard(GROUND, 3.0)["HEARTBEAT"]) == pytest.approx(3, abs=1)


def test_a_link_without_a_peer_carries_heartbeats_until_one_answers():
    session, udp = Session(load_autopilot_parameters(), INSTANCE), UdpLinks(INSTANCE)
    server, link = session.server, session.server.links[OFFBOARD]
    try:
        for k in range(3):
            session.autopilot.time_us = (k + 1) * 1_000_000
            server.write_telemetry()
            udp.flush(server)
            udp.drain(server)
        assert not link.is_heard
        assert set(QUIET_HZ) == {"HEARTBEAT"}
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
            listener.bind(("127.0.0.1", remote_port("offboard", INSTANCE)))
            listener.settimeout(5.0)
            for k in range(3, 6):
                session.autopilot.time_us = (k + 1) * 1_000_000
                server.write_telemetry()
                udp.flush(server)
                udp.drain(server)
            parser = common.MAVLink(None)
            first = parser.parse_buffer(listener.recv(4096))
            second = parser.parse_buffer(listener.recv(4096))
        assert [m.get_type() for m in first] == ["HEARTBEAT"]
        assert {"HEARTBEAT", "SYS_STATUS"} < {m.get_type() for m in second}
        assert link.is_heard
    finally:
        udp.close()


def test_a_poll_of_all_its_sockets_saves_one_look_at_them():
    """A caller that has polled leaves out the next look, and none after it."""
    server, udp = Session(load_autopilot_parameters(), INSTANCE).server, UdpLinks(INSTANCE)
    heard: list[int] = []
    server.on_datagram = lambda link, data, sender: heard.append(link)
    try:
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client,
            select.epoll() as arrivals,
        ):
            arrivals.register(udp, select.EPOLLIN)
            assert arrivals.poll(0) == []
            client.sendto(pack_heartbeat(), ("127.0.0.1", LOCAL_PORTS["ground"] + INSTANCE))
            assert [descriptor for descriptor, _ in arrivals.poll(5.0)] == [udp.fileno()]
            udp.on_polled(is_readable=False)
            udp.drain(server)
            assert heard == []
            udp.drain(server)
            assert heard == [GROUND]
            assert arrivals.poll(0) == []
    finally:
        udp.close()


@pytest.mark.parametrize("message_id", FREQUENT)
def test_frequent_messages_are_read_as_pymavlink_reads_them(message_id):
    rng = np.random.default_rng(message_id)
    layout = KNOWN[message_id]
    kind = getattr(common, f"MAVLink_{layout.name.lower()}_message")
    values = []
    for name, count in zip(kind.fieldnames, kind.fieldtypes, strict=True):
        length = kind.array_lengths[kind.ordered_fieldnames.index(name)]
        is_float = count in ("float", "double")
        draw = rng.normal(size=length or 1) if is_float else rng.integers(0, 100, length or 1)
        values.append(draw.tolist() if length else draw.tolist()[0])
    encoder, parser = common.MAVLink(None, srcSystem=9, srcComponent=8), common.MAVLink(None)
    frame = kind(*values).pack(encoder)
    (theirs,) = parser.parse_buffer(frame)
    ours = layout.record(read_frame(frame, 0)[1].payload)
    for name in kind.fieldnames:
        assert np.array(getattr(ours, name)) == pytest.approx(np.array(getattr(theirs, name)))
    damaged = bytearray(frame)
    damaged[15] ^= 1
    assert read_frame(bytes(damaged), 0) == (len(frame), None)


def sensor_frames(n: int) -> list[bytes]:
    return [
        pack_hil_sensor(4000 * (k + 1), (0.0, 0.0, 9.8), (0.0, 0.0, 0.01 * k)) for k in range(n)
    ]


def times(session: Session, data: bytes) -> list[int]:
    return [
        int.from_bytes(payload[:8], "little")
        for message_id, payload in session.frames(data)
        if message_id == HIL_SENSOR
    ]


def test_frames_are_cut_wherever_the_stream_breaks():
    stream = pack_heartbeat() + b"".join(sensor_frames(5))
    for size in (1, 7, 50, 400):
        session, seen = Session(load_autopilot_parameters(), 0), []
        for start in range(0, len(stream), size):
            seen += times(session, stream[start : start + size])
        assert seen == [4000, 8000, 12000, 16000, 20000], size


def test_garbage_between_frames_loses_no_frame():
    first, second, third = sensor_frames(3)
    session = Session(load_autopilot_parameters(), 0)
    assert times(session, first + b"\xfd\x01garbage" + second) == [4000, 8000]
    assert times(session, third) == [12000]
    damaged = bytearray(first)
    damaged[20] ^= 0xFF
    assert times(Session(load_autopilot_parameters(), 0), bytes(damaged) + second) == [8000]


def test_the_receivers_own_accuracy_says_how_much_of_its_error_is_correlated():
    automatic = EstimatorParameters()
    default = gnss_errors(automatic, (math.hypot(0.2, 0.3), math.hypot(0.4, 0.5)))
    assert default.bias_m == pytest.approx((0.3, 0.5))
    assert gnss_errors(automatic, (0.2, 0.4)).bias_m == (0.0, 0.0)
    assert gnss_errors(automatic, (0.0, 655.35)).bias_m == (0.3, 0.5)  # it does not say
    fixed = EstimatorParameters(gnss_bias_std_m=(0.3, 0.5))
    twice = gnss_errors(fixed, (2.0 * math.hypot(0.2, 0.3), 2.0 * math.hypot(0.4, 0.5)))
    assert twice.white_m == pytest.approx((0.4, 0.8))
    assert twice.bias_m == pytest.approx((0.6, 1.0))


def test_a_layout_is_known_for_each_message_that_can_be_asked_for():
    assert {"ODOMETRY", "MISSION_CURRENT", "NAMED_VALUE_FLOAT"} <= set(LAYOUTS)
