# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Motion at a constant twist: poses it leads to, and scans freed of it.

A twist (6,) is velocity and angular velocity of the base in its own axes [m/s, rad/s].
"""

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import FloatArray, invert_transform
from aerotwin_core.rigid_motion import cross_matrix, exponential, left_jacobian


def T_begin_end(twist: FloatArray, duration_s: float) -> FloatArray:
    """Return the pose (4, 4) after a time, in the frame at its beginning: Exp(twist t)."""
    return exponential(np.asarray(twist, dtype=np.float64) * duration_s)


def twist_between(T_odom_a: FloatArray, T_odom_b: FloatArray, duration_s: float) -> FloatArray:
    """Return the constant twist that leads from pose a to pose b in a time; its inverse is above.

    Raises
    ------
    ValueError
        If the time is not positive.
    """
    if not duration_s > 0.0:
        raise ValueError(f"duration_s must be positive, got {duration_s}")
    T = invert_transform(T_odom_a) @ T_odom_b
    w = Rotation.from_matrix(T[:3, :3]).as_rotvec()
    return np.concatenate([np.linalg.solve(left_jacobian(w), T[:3, 3]), w]) / duration_s


def deskewed(points_base: np.ndarray, times_s: np.ndarray, twist: FloatArray) -> np.ndarray:
    """Return points as a base that stands still at time zero would have seen them.

    Parameters
    ----------
    points_base : (n, 3) array
        Each in the frame of the base at its own time [m].
    times_s : (n,) array
        Of each point [s].
    twist : (6,) array
        Of the base.

    Returns
    -------
    (n, 3) float32 array

    Notes
    -----
    Shift and turn are taken to second order in the turn during the scan: at 1 rad/s and 0.1 s what
    is left is 5 mm at 30 m.
    """
    t = np.asarray(times_s, dtype=np.float32)[:, None]
    W = cross_matrix(twist[3:]).astype(np.float32)
    v = np.asarray(twist[:3], dtype=np.float32)
    points = np.asarray(points_base, dtype=np.float32)
    first = points @ W.T + v
    return points + t * first + (0.5 * t * t) * (first @ W.T)
