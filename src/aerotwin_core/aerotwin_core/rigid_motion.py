# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Small and steady motions of a rigid body, and the resulting poses.

References
----------
Barfoot 2017, State Estimation for Robotics.
Umeyama 1991, Least-squares estimation of transformation parameters between two point patterns.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import FloatArray, make_transform

_SMALL = 1e-9  # smaller turns count as zero [rad]


def cross_matrix(w: ArrayLike) -> FloatArray:
    """Return the matrices (..., 3, 3) that map a to w x a, for vectors (..., 3)."""
    x, y, z = np.moveaxis(np.asarray(w, dtype=np.float64), -1, 0)
    zero = np.zeros_like(x)
    rows = ((zero, -z, y), (z, zero, -x), (-y, x, zero))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def rotation_svd(C: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return U, values, Vt of a matrix (3, 3) = U @ diag(values) @ Vt so that U @ Vt is a rotation.

    It is the rotation that maximises trace(R^T C) (Umeyama, eq. 40-43). Where the best orthogonal
    matrix is a reflection, the last of the falling values is negative; the others never are.
    """
    U, values, Vt = np.linalg.svd(np.asarray(C, dtype=np.float64))
    if np.linalg.det(U) * np.linalg.det(Vt) < 0.0:
        U[:, 2] *= -1.0
        values[2] *= -1.0
    return U, values, Vt


def nearest_rotation(R: ArrayLike) -> FloatArray:
    """Return the rotation (3, 3) nearest to a matrix: orthonormal again after many small turns."""
    U, _, Vt = rotation_svd(R)
    return U @ Vt


def left_jacobian(w: FloatArray) -> FloatArray:
    """Return the left Jacobian (3, 3) of a rotation vector (eq. 7.77)."""
    angle = float(np.linalg.norm(w))
    W = cross_matrix(w)
    if angle < _SMALL:
        return np.eye(3) + 0.5 * W
    a, b = (1.0 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    return np.eye(3) + a * W + b * W @ W


def exponential(d: ArrayLike) -> FloatArray:
    """Return the transform (4, 4) Exp(d) of a motion d = (v, omega) (6,) [m, rad] (eq. 7.86)."""
    v, omega = np.asarray(d, dtype=np.float64).reshape(2, 3)
    return make_transform(Rotation.from_rotvec(omega).as_matrix(), left_jacobian(omega) @ v)
