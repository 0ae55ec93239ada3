# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Motion at a constant twist: the poses it leads to, and deskewing of scans.

A twist (6,) is linear and angular velocity of the base in its own axes [m/s, rad/s].
"""

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import FloatArray, invert_transform
from aerotwin_core.rigid_motion import cross_matrix, exponential, left_jacobian


def T_begin_end(twist: FloatArray, duration_s: float) -> FloatArray:
    """Return the pose (4, 4) after a duration, in the frame at its beginning: Exp(twist t)."""
    return exponential(np.asarray(twist, dtype=np.float64) * duration_s)


def twist_between(T_odom_a: FloatArray, T_odom_b: FloatArray, duration_s: float) -> FloatArray:
    """Return the constant twist that leads from pose a to pose b; the inverse of `T_begin_end`."""
    if not duration_s > 0.0:
        raise ValueError(f"duration_s must be positive, got {duration_s}")
    T = invert_transform(T_odom_a) @ T_odom_b
    w = Rotation.from_matrix(T[:3, :3]).as_rotvec()
    return np.concatenate([np.linalg.solve(left_jacobian(w), T[:3, 3]), w]) / duration_s


def deskewed(points_base: np.ndarray, times_s: np.ndarray, twist: FloatArray) -> np.ndarray:
    """Return points (n, 3) float32 as seen by a base that stands still at time zero.

    Input points are in the frame of the base, each at its own time `times_s` (n,). Second order in
    the rotation during the scan: at 1 rad/s and 0.1 s the remaining error is 5 mm at 30 m.
    """
    t = np.asarray(times_s, dtype=np.float32)[:, None]
    W = cross_matrix(twist[3:]).astype(np.float32)
    v = np.asarray(twist[:3], dtype=np.float32)
    points = np.asarray(points_base, dtype=np.float32)
    first = points @ W.T + v
    return points + t * first + (0.5 * t * t) * (first @ W.T)
