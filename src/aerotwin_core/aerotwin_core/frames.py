# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rotations and transforms between the frames of REP-103 and REP-105.

`T_a_b` maps coordinates in b to coordinates in a: `x_a = T_a_b @ x_b`; neighbours cancel.
Quaternions are arrays (x, y, z, w); any other order says so in its name.
"""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
_SQRT_HALF = float(np.sqrt(0.5))

R_ENU_NED: FloatArray = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
"""x_enu = R_ENU_NED @ x_ned; its own inverse."""

R_FLU_FRD: FloatArray = np.diag([1.0, -1.0, -1.0])
"""x_flu = R_FLU_FRD @ x_frd; its own inverse."""

R_CAM_OPTICAL: FloatArray = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
"""x_cam (x forward, y left, z up) = R_CAM_OPTICAL @ x_optical (x right, y down, z forward)."""


def _array(value: ArrayLike, shape: tuple[int, ...], name: str) -> FloatArray:
    array = np.asarray(value, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
    return array


def make_transform(R_a_b: ArrayLike, p_a_b: ArrayLike) -> FloatArray:
    """Return the 4x4 transform with rotation R_a_b (3, 3) and translation p_a_b (3,) [m]."""
    transform = np.eye(4)
    transform[:3, :3] = _array(R_a_b, (3, 3), "R_a_b")
    transform[:3, 3] = _array(p_a_b, (3,), "p_a_b")
    return transform


def invert_transform(T_a_b: ArrayLike) -> FloatArray:
    """Return T_b_a of a rigid transform T_a_b (4, 4)."""
    T = _array(T_a_b, (4, 4), "T_a_b")
    R_b_a = T[:3, :3].T
    return make_transform(R_b_a, -R_b_a @ T[:3, 3])


def transform_points(T_a_b: ArrayLike, points_b: ArrayLike) -> FloatArray:
    """Return points_b (n, 3) expressed in a."""
    T = _array(T_a_b, (4, 4), "T_a_b")
    points = np.asarray(points_b, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"points_b must have shape (n, 3), got {points.shape}")
    return points @ T[:3, :3].T + T[:3, 3]


def rotation_from_quaternion(q_xyzw: ArrayLike) -> FloatArray:
    """Return the rotation matrix of a quaternion (4,), which is normalised.

    SciPy's takes five times as long for one; the two are equal to the bit.
    Raises `ValueError` if the shape is wrong or the norm is zero.
    """
    x, y, z, w = _array(q_xyzw, (4,), "q_xyzw").tolist()
    norm = sqrt(x * x + y * y + z * z + w * w)
    if norm == 0.0:
        raise ValueError("q_xyzw must not have zero norm")
    x, y, z, w = x / norm, y / norm, z / norm, w / norm
    xx, yy, zz, ww = x * x, y * y, z * z, w * w
    xy, zw, xz, yw, yz, xw = x * y, z * w, x * z, y * w, y * z, x * w
    return np.array(
        [
            [xx - yy - zz + ww, 2.0 * (xy - zw), 2.0 * (xz + yw)],
            [2.0 * (xy + zw), -xx + yy - zz + ww, 2.0 * (yz - xw)],
            [2.0 * (xz - yw), 2.0 * (yz + xw), -xx - yy + zz + ww],
        ]
    )


def quaternion_from_rotation(R_a_b: ArrayLike) -> FloatArray:
    """Return the quaternion (4,) xyzw of a rotation matrix, with w >= 0."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(_array(R_a_b, (3, 3), "R_a_b")).as_quat(canonical=True)


def quaternion_from_yaw(yaw: float) -> FloatArray:
    """Return the quaternion (4,) xyzw of a turn by yaw [rad] about z, counter-clockwise from x."""
    return np.array([0.0, 0.0, np.sin(yaw / 2.0), np.cos(yaw / 2.0)])


def yaw_from_rotation(R_map_body: ArrayLike) -> float:
    """Return the yaw [rad] in (-pi, pi] of intrinsic z-y'-x'' angles, 0 = east, pi/2 = north."""
    from transforms3d.euler import mat2euler

    return float(mat2euler(_array(R_map_body, (3, 3), "R_map_body"), "rzyx")[0])


def transform_from_pose(p_a_b: ArrayLike, q_a_b: ArrayLike) -> FloatArray:
    """Return the 4x4 transform of a position (3,) [m] and quaternion (4,) xyzw."""
    return make_transform(rotation_from_quaternion(q_a_b), p_a_b)


def pose_from_transform(T_a_b: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return position (3,) [m] and quaternion (4,) xyzw of a transform (4, 4)."""
    T = _array(T_a_b, (4, 4), "T_a_b")
    return T[:3, 3].copy(), quaternion_from_rotation(T[:3, :3])


def quat_wxyz_ned_frd_from_map_body(q_map_body: ArrayLike) -> FloatArray:
    """Return the attitude that MAVLink carries, FRD body to NED, (w, x, y, z) with w >= 0.

    The input is FLU body to ENU map, xyzw, of unit length. The product q_ned_enu q_map_body
    q_flu_frd with q_ned_enu = (sqrt 1/2, sqrt 1/2, 0, 0) and q_flu_frd = (1, 0, 0, 0), xyzw, is
    multiplied out.
    """
    x, y, z, w = _array(q_map_body, (4,), "q_map_body").tolist()
    return _canonical((w + z, x + y, x - y, w - z), first=0)


def map_body_from_quat_wxyz_ned_frd(quat_wxyz: ArrayLike) -> FloatArray:
    """Return q_map_body (xyzw, FLU to ENU) of a MAVLink attitude (w, x, y, z), FRD to NED.

    The inverse of `quat_wxyz_ned_frd_from_map_body`, which is of the same form.
    """
    w, x, y, z = _array(quat_wxyz, (4,), "quat_wxyz").tolist()
    return _canonical((x + y, x - y, w - z, w + z), first=3)


def _canonical(quaternion: tuple[float, float, float, float], *, first: int) -> FloatArray:
    """Return quaternion / sqrt 2 with the sign that makes element `first` (w) not negative."""
    scale = -_SQRT_HALF if quaternion[first] < 0.0 else _SQRT_HALF
    return np.array([scale * q for q in quaternion])


def slerp(q_first: FloatArray, q_second: FloatArray, share: ArrayLike) -> FloatArray:
    """Return quaternions (…, 4) on the shorter arcs between two, at fractions (…, 1) of the arc.

    Shoemake (1985), "Animating rotation with quaternion curves", section 3.3. The angle is computed
    from the chord, which is exact for small turns; there both weights are nearly linear.
    """
    u = np.asarray(share, dtype=np.float64)
    q_second = np.where(np.sum(q_first * q_second, axis=-1, keepdims=True) < 0, -1, 1) * q_second
    chord = np.linalg.norm(q_second - q_first, axis=-1, keepdims=True)
    angle = 2.0 * np.arcsin(np.minimum(chord / 2.0, 1.0))
    # np.sinc(x / pi) = sin(x) / x, with its limit at 0.
    whole = np.sinc(angle / np.pi)
    weight_first = (1.0 - u) * np.sinc((1.0 - u) * angle / np.pi) / whole
    weight_second = u * np.sinc(u * angle / np.pi) / whole
    return weight_first * q_first + weight_second * q_second
