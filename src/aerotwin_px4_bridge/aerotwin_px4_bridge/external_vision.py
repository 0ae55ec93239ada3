# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""External vision: a pose that a camera or motion capture measures, for and from autopilots.

Converts the message ODOMETRY (331) to and from NED and FRD. Covariances are as in
nav_msgs/Odometry: (6, 6), position and rotation about the axes of map, velocity and angular
velocity in body axes.

Notes
-----
The message calls the last three rows of a pose covariance roll, pitch and yaw. They are read as
small rotations about north, east and down, which holds for a level vehicle that looks north, and
for any heading where roll and pitch are known equally well.

References: MAVLink common.xml, message 331, MAV_FRAME, MAV_ESTIMATOR_TYPE; PX4 v1.14
mavlink_receiver.cpp, `handle_message_odometry`: it uses the diagonal of a covariance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, isfinite
from types import SimpleNamespace

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import (
    R_ENU_NED,
    R_FLU_FRD,
    FloatArray,
    map_body_from_quat_wxyz_ned_frd,
    quat_wxyz_ned_frd_from_map_body,
    rotation_from_quaternion,
)
from aerotwin_px4_bridge.dialects import Dialect
from aerotwin_px4_bridge.mavlink2 import KNOWN, ODOMETRY, VISION_POSITION_ESTIMATE, BadMessage

FRAME_LOCAL_NED = 1
FRAME_BODY_FRD = 12
ESTIMATOR_VISION = 2
GOOD_QUALITY = 100  # per cent
UNKNOWN_VARIANCE = 1e6
"""Value of a variance that the sender does not know, [m^2], [rad^2], [m^2/s^2]."""

_UPPER = np.triu_indices(6)
_IN_TRIANGLE = np.zeros((6, 6), np.int64)
"""Which of the 21 numbers of a triangle an entry of the covariance is."""
_IN_TRIANGLE[_UPPER] = _IN_TRIANGLE.T[_UPPER] = np.arange(21)
_UNIT_TOLERANCE = 0.01
_S_ENU_NED: FloatArray = np.kron(np.eye(2), R_ENU_NED).astype(np.float64)
_S_FLU_FRD: FloatArray = np.kron(np.eye(2), R_FLU_FRD).astype(np.float64)


def _reordering(S_ours_theirs: FloatArray) -> tuple[np.ndarray, FloatArray]:
    """Return which number of a triangle an entry in our axes is, and its sign, (6, 6) each.

    The axes differ in order and sign only, so that S C S^T needs no sum.
    """
    order = np.abs(S_ours_theirs).argmax(axis=1)
    signs = S_ours_theirs[np.arange(6), order]
    return _IN_TRIANGLE[np.ix_(order, order)], np.outer(signs, signs)


_TO_ENU, _TO_FLU = _reordering(_S_ENU_NED), _reordering(_S_FLU_FRD)


@dataclass(frozen=True, kw_only=True)
class VisionPose:
    """A measured pose, and velocity where it is known.

    Attributes
    ----------
    time_us : int
        Time of measurement on the simulated clock.
    p_map, q_map_body : (3,), (4,) array
        Position [m] and attitude xyzw of the body in map.
    pose_covariance_map, twist_covariance_body : (6, 6) array, optional
        Position and rotation about the axes of map [m^2], [rad^2]; both velocities.
    v_body, omega_body : (3,) array, optional
        Velocity and angular velocity relative to map, in body axes [m/s], [rad/s].
    reset_counter : int
        Incremented whenever the pose jumps (a loop closure).
    """

    time_us: int
    p_map: FloatArray
    q_map_body: FloatArray
    pose_covariance_map: FloatArray | None = None
    v_body: FloatArray | None = None
    omega_body: FloatArray | None = None
    twist_covariance_body: FloatArray | None = None
    reset_counter: int = 0


def pack_vision(pose: VisionPose, dialect: Dialect) -> tuple[int, bytes]:
    """Return id and payload of the message by which an autopilot takes a pose.

    Raises ValueError if the pose is not finite or its quaternion not of unit length.
    """
    if pose.v_body is not None or dialect.takes_odometry_without_velocity:
        return ODOMETRY, pack_odometry(pose, frame=dialect.odometry_frame)
    return VISION_POSITION_ESTIMATE, pack_position_estimate(pose)


def pack_position_estimate(pose: VisionPose) -> bytes:
    """Return the payload of a VISION_POSITION_ESTIMATE: position in NED, roll, pitch and yaw.

    Raises ValueError if the pose is not finite or its quaternion not of unit length.
    """
    p_ned, (w, x, y, z) = _to_ned(pose)
    yaw, pitch, roll = Rotation.from_quat([x, y, z, w]).as_euler("ZYX")
    covariance = _to_triangle(pose.pose_covariance_map, _S_ENU_NED)
    return KNOWN[VISION_POSITION_ESTIMATE].pack(
        pose.time_us, *p_ned, roll, pitch, yaw, *covariance, pose.reset_counter & 0xFF
    )


def pack_odometry(pose: VisionPose, *, frame: int = FRAME_LOCAL_NED) -> bytes:
    """Return the payload of an ODOMETRY: pose in NED, velocity in FRD.

    `frame` is the name of the first, MAV_FRAME. Raises ValueError if the pose is not finite or its
    quaternion not of unit length.
    """
    p_ned, quat_wxyz = _to_ned(pose)
    unknown = np.full(3, np.nan)
    v_frd = unknown if pose.v_body is None else R_FLU_FRD.T @ pose.v_body
    omega_frd = unknown if pose.omega_body is None else R_FLU_FRD.T @ pose.omega_body
    return KNOWN[ODOMETRY].pack(
        pose.time_us,
        *p_ned,
        *quat_wxyz,
        *v_frd,
        *omega_frd,
        *_to_triangle(pose.pose_covariance_map, _S_ENU_NED),
        *_to_triangle(pose.twist_covariance_body, _S_FLU_FRD),
        frame,
        FRAME_BODY_FRD,
        pose.reset_counter & 0xFF,
        ESTIMATOR_VISION,
        GOOD_QUALITY,
    )


def parse_odometry(payload: bytes) -> VisionPose:
    """Return the pose of an ODOMETRY payload of full length.

    Raises BadMessage if the pose is not finite, no rotation, or in another frame than NED, or the
    velocity in another than NED or FRD body axes.
    """
    message = _odometry_record(payload)
    p_map, q_map_body = _from_ned((message.x, message.y, message.z), message.q, "ODOMETRY")
    R_body_child = R_FLU_FRD
    if message.child_frame_id == FRAME_LOCAL_NED:
        R_body_child = rotation_from_quaternion(q_map_body).T @ R_ENU_NED
        S_body_child = np.block([[R_body_child, np.zeros((3, 3))], [np.zeros((3, 3)), R_FLU_FRD]])
        in_child = _from_triangle(message.velocity_covariance, (_IN_TRIANGLE, np.ones((6, 6))))
        twist = None if in_child is None else S_body_child @ in_child @ S_body_child.T
    else:
        twist = _from_triangle(message.velocity_covariance, _TO_FLU)
    return VisionPose(
        time_us=message.time_usec,
        p_map=p_map,
        q_map_body=q_map_body,
        pose_covariance_map=_from_triangle(message.pose_covariance, _TO_ENU),
        v_body=_finite(R_body_child @ (message.vx, message.vy, message.vz)),
        omega_body=_finite(R_FLU_FRD @ (message.rollspeed, message.pitchspeed, message.yawspeed)),
        twist_covariance_body=twist,
        reset_counter=message.reset_counter,
    )


def parse_covariances(payload: bytes) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the covariances (6, 6) of an ODOMETRY payload: pose in map, twist in body axes.

    Faster than `parse_odometry`, for who needs nothing else. Raises BadMessage as that.
    """
    message = _odometry_record(payload)
    _check_sound((message.x, message.y, message.z), message.q, "ODOMETRY")
    if message.child_frame_id == FRAME_LOCAL_NED:
        pose = parse_odometry(payload)
        return pose.pose_covariance_map, pose.twist_covariance_body
    return (
        _from_triangle(message.pose_covariance, _TO_ENU),
        _from_triangle(message.velocity_covariance, _TO_FLU),
    )


def _odometry_record(payload: bytes) -> SimpleNamespace:
    message = KNOWN[ODOMETRY].record(payload)
    frame, child = message.frame_id, message.child_frame_id
    if frame != FRAME_LOCAL_NED or child not in (FRAME_LOCAL_NED, FRAME_BODY_FRD):
        raise BadMessage(f"ODOMETRY in frames {frame} and {child}: expected 1 (NED) and 12 (FRD)")
    return message


def _to_ned(pose: VisionPose) -> tuple[FloatArray, FloatArray]:
    p_map, q = np.asarray(pose.p_map, np.float64), np.asarray(pose.q_map_body, np.float64)
    if not np.isfinite(p_map).all() or not abs(np.linalg.norm(q) - 1.0) < _UNIT_TOLERANCE:
        raise ValueError(f"external vision at {pose.time_us} us: position or attitude not sound")
    return R_ENU_NED.T @ p_map, quat_wxyz_ned_frd_from_map_body(q)


def _from_ned(p_ned, quat_wxyz, name: str) -> tuple[FloatArray, FloatArray]:
    _check_sound(p_ned, quat_wxyz, name)
    return R_ENU_NED @ np.array(p_ned), map_body_from_quat_wxyz_ned_frd(quat_wxyz)


def _check_sound(p_ned: Sequence[float], quat_wxyz: Sequence[float], name: str) -> None:
    if not isfinite(sum(p_ned)) or not abs(hypot(*quat_wxyz) - 1.0) < _UNIT_TOLERANCE:
        raise BadMessage(f"{name}: position not finite or attitude no rotation")


def _to_triangle(covariance: FloatArray | None, S_ours_theirs: FloatArray) -> FloatArray:
    """Return the 21 numbers of a covariance in the axes of the message; NaN first if unknown."""
    if covariance is None:
        return np.full(21, np.nan)
    return (S_ours_theirs.T @ np.asarray(covariance) @ S_ours_theirs)[_UPPER]


def _from_triangle(
    values: Sequence[float], reordering: tuple[np.ndarray, FloatArray]
) -> FloatArray | None:
    """Return the (6, 6) covariance in our axes, None if its first number is not known.

    Unknown correlations are zero.
    """
    if not isfinite(values[0]):
        return None
    triangle = np.array(values)
    if not isfinite(sum(values)):
        is_unknown = np.isnan(triangle)
        triangle[is_unknown] = 0.0
        variances = _IN_TRIANGLE.diagonal()
        triangle[variances] += UNKNOWN_VARIANCE * is_unknown[variances]
    places, signs = reordering
    return triangle[places] * signs + 0.0  # no negative zeros


def _finite(vector: FloatArray) -> FloatArray | None:
    return vector if np.isfinite(vector).all() else None
