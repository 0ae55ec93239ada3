# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses over the border to NED and FRD. Oracles: pymavlink for bytes, SciPy for rotations."""

from math import nan

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink
from scipy.spatial.transform import Rotation

from aerotwin_px4_bridge.dialects import ARDUPILOT, PX4
from aerotwin_px4_bridge.external_vision import (
    UNKNOWN_VARIANCE,
    VisionPose,
    pack_odometry,
    pack_vision,
    parse_covariances,
    parse_odometry,
)
from aerotwin_px4_bridge.mavlink2 import (
    ODOMETRY,
    BadMessage,
    FrameReader,
    pack_frame,
)

FLOAT32 = 2e-6  # relative rounding of a float32 field and of a product with it
TIME_US = 123_456_789


def _covariance(rng: np.random.Generator) -> np.ndarray:
    root = rng.normal(size=(6, 6))
    return root @ root.T


def _pose(seed: int) -> VisionPose:
    rng = np.random.default_rng(seed)
    return VisionPose(
        time_us=TIME_US + seed,
        p_map=rng.normal(0.0, 20.0, 3),
        q_map_body=Rotation.random(random_state=seed).as_quat(canonical=True),
        pose_covariance_map=_covariance(rng),
        v_body=rng.normal(size=3),
        omega_body=rng.normal(size=3),
        twist_covariance_body=_covariance(rng),
        reset_counter=seed,
    )


def _read(message_id: int, payload: bytes) -> mavlink.MAVLink_message:
    frame = pack_frame(message_id, payload, system_id=1, component_id=191)
    (message,) = mavlink.MAVLink(None).parse_buffer(frame)
    return message


def _payload(message: mavlink.MAVLink_message) -> bytes:
    (frame,) = FrameReader().feed_bytes(message.pack(mavlink.MAVLink(None, 1, 1)))
    return frame.payload


def test_a_level_vehicle_that_looks_east_has_heading_90_degrees():
    """East 3, north 1, up 2; forward 5 m/s, a little to the left; nose turning left."""
    pose = VisionPose(
        time_us=TIME_US,
        p_map=np.array([3.0, 1.0, 2.0]),
        q_map_body=np.array([0.0, 0.0, 0.0, 1.0]),
        v_body=np.array([5.0, 0.5, -0.25]),
        omega_body=np.array([0.0, 0.0, 0.125]),
        pose_covariance_map=np.diag([1.0, 4.0, 9.0, 0.1, 0.2, 0.3]),
        twist_covariance_body=np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    )
    message = _read(ODOMETRY, pack_odometry(pose))
    assert (message.x, message.y, message.z) == (1.0, 3.0, -2.0)
    half = np.sqrt(0.5)
    np.testing.assert_allclose(message.q, [half, 0.0, 0.0, half], atol=1e-7)
    assert (message.vx, message.vy, message.vz) == (5.0, -0.5, 0.25)
    assert (message.rollspeed, message.pitchspeed, message.yawspeed) == (0.0, 0.0, -0.125)
    assert (message.frame_id, message.child_frame_id) == (
        mavlink.MAV_FRAME_LOCAL_NED,
        mavlink.MAV_FRAME_BODY_FRD,
    )
    assert message.estimator_type == mavlink.MAV_ESTIMATOR_TYPE_VISION
    assert message.time_usec == TIME_US
    diagonal = [message.pose_covariance[i] for i in (0, 6, 11, 15, 18, 20)]
    np.testing.assert_allclose(diagonal, [4.0, 1.0, 9.0, 0.2, 0.1, 0.3], rtol=FLOAT32)
    diagonal = [message.velocity_covariance[i] for i in (0, 6, 11, 15, 18, 20)]
    np.testing.assert_allclose(diagonal, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], rtol=FLOAT32)


@pytest.mark.parametrize("has_velocity", [True, False])
def test_ardupilot_gets_its_frame_and_a_position_alone_without_a_velocity(has_velocity):
    pose = VisionPose(
        time_us=TIME_US,
        p_map=np.array([3.0, 1.0, 2.0]),
        q_map_body=np.array([0.0, 0.0, np.sin(0.1), np.cos(0.1)]),
        v_body=np.array([5.0, 0.0, 0.0]) if has_velocity else None,
        pose_covariance_map=np.diag([1.0, 4.0, 9.0, 0.1, 0.2, 0.3]),
    )
    message_id, payload = pack_vision(pose, ARDUPILOT)
    message = _read(message_id, payload)
    assert (message.x, message.y, message.z) == (1.0, 3.0, -2.0)
    if has_velocity:
        assert message_id == ODOMETRY
        assert message.frame_id == mavlink.MAV_FRAME_LOCAL_FRD
        return
    assert message_id == mavlink.MAVLINK_MSG_ID_VISION_POSITION_ESTIMATE
    assert message.yaw == pytest.approx(np.pi / 2 - 0.2)  # from north, clockwise
    assert message.roll == pytest.approx(0.0, abs=1e-7)
    assert message.covariance[0] == 4.0
    assert pack_vision(pose, PX4)[0] == ODOMETRY


@pytest.mark.parametrize("seed", range(20))
def test_attitudes_in_the_messages_are_those_of_a_rotation_library(seed):
    """R_ned_frd = R_ned_enu R_enu_flu R_flu_frd."""
    pose = _pose(seed)
    R_ned_enu = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    flip = np.diag([1.0, -1.0, -1.0])
    R = R_ned_enu @ Rotation.from_quat(pose.q_map_body).as_matrix() @ flip
    odometry = _read(ODOMETRY, pack_odometry(pose))
    w, x, y, z = odometry.q
    np.testing.assert_allclose(Rotation.from_quat([x, y, z, w]).as_matrix(), R, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_odometry_comes_back_as_it_went(seed):
    sent = _pose(seed)
    read = parse_odometry(pack_odometry(sent))
    assert (read.time_us, read.reset_counter) == (sent.time_us, sent.reset_counter)
    np.testing.assert_allclose(read.p_map, sent.p_map, rtol=FLOAT32)
    turn = Rotation.from_quat(read.q_map_body).inv() * Rotation.from_quat(sent.q_map_body)
    assert turn.magnitude() < FLOAT32
    for name in ("v_body", "omega_body", "pose_covariance_map", "twist_covariance_body"):
        np.testing.assert_allclose(getattr(read, name), getattr(sent, name), rtol=1e-5, atol=1e-5)


def test_what_is_not_known_stays_unknown():
    pose = VisionPose(time_us=1, p_map=np.zeros(3), q_map_body=np.array([0.0, 0.0, 0.0, 1.0]))
    message = _read(ODOMETRY, pack_odometry(pose))
    assert np.isnan([message.vx, message.rollspeed, message.pose_covariance[0]]).all()
    read = parse_odometry(pack_odometry(pose))
    for name in ("v_body", "omega_body", "pose_covariance_map", "twist_covariance_body"):
        assert getattr(read, name) is None


def _theirs(**changes) -> bytes:
    """An ODOMETRY as PX4 sends it: variances only, the rest of the triangle is NaN."""
    triangle = [nan] * 21
    for place, value in zip((0, 6, 11, 15, 18, 20), (1.0, 4.0, 9.0, 0.1, 0.2, 0.3), strict=True):
        triangle[place] = value
    values = {
        "time_usec": 5, "frame_id": 1, "child_frame_id": 12,
        "x": 1.0, "y": 2.0, "z": 3.0, "q": [1.0, 0.0, 0.0, 0.0],
        "vx": 1.0, "vy": 2.0, "vz": 3.0,
        "rollspeed": 0.1, "pitchspeed": 0.2, "yawspeed": 0.3,
        "pose_covariance": triangle, "velocity_covariance": [2.0, *[nan] * 20],
    }  # fmt: skip
    return _payload(mavlink.MAVLink_odometry_message(**{**values, **changes}))


def test_variances_without_correlations_are_read():
    read = parse_odometry(_theirs())
    np.testing.assert_allclose(
        read.pose_covariance_map, np.diag([4.0, 1.0, 9.0, 0.2, 0.1, 0.3]), rtol=FLOAT32
    )
    expected = [2.0, *[UNKNOWN_VARIANCE] * 5]
    np.testing.assert_allclose(read.twist_covariance_body, np.diag(expected), rtol=FLOAT32)


def test_a_velocity_in_north_east_down_is_turned_into_the_body():
    """Heading north, level: forward is north, left is west, up is up."""
    read = parse_odometry(_theirs(child_frame_id=1))
    np.testing.assert_allclose(read.v_body, [1.0, -2.0, -3.0], rtol=FLOAT32)
    east = parse_odometry(_theirs(child_frame_id=1, q=[np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]))
    np.testing.assert_allclose(east.v_body, [2.0, 1.0, -3.0], rtol=FLOAT32)


@pytest.mark.parametrize("child_frame_id", [1, 12])
def test_covariances_alone_are_those_of_the_whole_message(child_frame_id):
    rng = np.random.default_rng(5)
    triangles = {f"{name}_covariance": rng.normal(size=21) for name in ("pose", "velocity")}
    payload = _theirs(child_frame_id=child_frame_id, **triangles)
    whole, (pose, twist) = parse_odometry(payload), parse_covariances(payload)
    np.testing.assert_array_equal(pose, whole.pose_covariance_map)
    np.testing.assert_array_equal(twist, whole.twist_covariance_body)
    with pytest.raises(BadMessage, match="ODOMETRY in frames 20"):
        parse_covariances(_theirs(frame_id=20))


@pytest.mark.parametrize(
    "changes",
    [
        {"x": nan},
        {"q": [nan, 0.0, 0.0, 0.0]},
        {"q": [0.0] * 4},
        {"q": [2.0, 0.0, 0.0, 0.0]},
        {"frame_id": 20},
        {"child_frame_id": 8},
    ],
)
def test_poses_that_are_not_sound_do_not_enter(changes):
    with pytest.raises(BadMessage, match="ODOMETRY"):
        parse_odometry(_theirs(**changes))


@pytest.mark.parametrize("place", [0, 4])
def test_poses_that_are_not_sound_do_not_leave(place):
    values = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    values[place] = nan
    pose = VisionPose(time_us=1, p_map=values[:3], q_map_body=values[3:])
    with pytest.raises(ValueError, match="not sound"):
        pack_odometry(pose)
