# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pose graph optimisation by Gauss-Newton."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import splu
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import FloatArray
from aerotwin_core.rigid_motion import cross_matrix

_MAX_STEPS = 30
_SETTLED = 1e-6  # largest step of the last iteration [m, rad]


@dataclass(frozen=True, kw_only=True, eq=False)
class PoseConstraint:
    """A relative pose measurement `T_a_b` (4, 4) between the poses of indices `a` and `b`.

    `shift_m` and `turn_rad` are standard deviations along and about each axis [m], [rad].
    """

    a: int
    b: int
    T_a_b: FloatArray
    shift_m: float
    turn_rad: float


def agreed_poses(poses: np.ndarray, constraints: Sequence[PoseConstraint]) -> FloatArray:
    """Return the poses T_map_x (n, 4, 4) that fit the constraints best; the first one is fixed.

    The initial poses must be near the solution.

    Reference: Grisetti, Kuemmerle, Stachniss and Burgard 2010, "A Tutorial on Graph-Based SLAM".
    """
    poses = np.array(poses, dtype=np.float64)
    for _ in range(_MAX_STEPS):
        J, r = _linearised(poses, constraints)
        J = J[:, 6:]
        step = splu((J.T @ J).tocsc()).solve(-(J.T @ r)).reshape(-1, 6)
        poses[1:, :3, 3] += step[:, :3]
        poses[1:, :3, :3] = Rotation.from_rotvec(step[:, 3:]).as_matrix() @ poses[1:, :3, :3]
        if np.abs(step).max() < _SETTLED:
            break
    return poses


def _linearised(
    poses: np.ndarray, constraints: Sequence[PoseConstraint]
) -> tuple[csr_array, FloatArray]:
    """Return Jacobian and residuals, in deviations, for shifts and turns in axes of map."""
    a, b = np.array([c.a for c in constraints]), np.array([c.b for c in constraints])
    known = np.array([c.T_a_b for c in constraints])
    weight = 1.0 / np.array([[c.shift_m] * 3 + [c.turn_rad] * 3 for c in constraints])
    Ra_T = np.swapaxes(poses[a, :3, :3], 1, 2)
    way = poses[b, :3, 3] - poses[a, :3, 3]
    turn = np.swapaxes(known[:, :3, :3], 1, 2) @ Ra_T @ poses[b, :3, :3]
    r = np.empty((len(a), 6))
    r[:, :3] = np.einsum("nij,nj->ni", Ra_T, way) - known[:, :3, 3]
    r[:, 3:] = Rotation.from_matrix(turn).as_rotvec()
    J_a, J_b = np.zeros((len(a), 6, 6)), np.zeros((len(a), 6, 6))
    J_a[:, :3, :3], J_b[:, :3, :3] = -Ra_T, Ra_T
    J_a[:, :3, 3:] = Ra_T @ cross_matrix(way)
    Rb_T = np.swapaxes(poses[b, :3, :3], 1, 2)
    J_a[:, 3:, 3:], J_b[:, 3:, 3:] = -Rb_T, Rb_T
    rows = np.repeat(np.arange(6 * len(a)), 12)
    columns = 6 * np.stack([a, b], axis=1)[:, :, None] + np.arange(6)
    columns = np.repeat(columns.reshape(len(a), 1, 12), 6, axis=1).ravel()
    values = (np.concatenate([J_a, J_b], axis=2) * weight[:, :, None]).ravel()
    J = csr_array((values, (rows, columns)), shape=(6 * len(a), 6 * len(poses)))
    return J, (r * weight).ravel()
