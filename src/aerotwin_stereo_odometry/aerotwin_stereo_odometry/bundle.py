# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Windowed bundle adjustment: key poses and points together, points eliminated (Schur).

The cost is the sum of robust, covariance-weighted stereo reprojection errors (u, v, disparity).
The first poses are fixed; they carry the past of the window.
"""

from typing import NamedTuple

import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_stereo_odometry.cholesky import (
    factorise,
    invert_3x3,
    last_block_of_inverse,
    solve_factorised,
)
from aerotwin_stereo_odometry.residuals import move_pose, robust, stereo_residual

HUBER_UV = 2.0  # whitened length beyond which a position counts linearly
HUBER_DISPARITY = 2.0
FIRST_DAMPING = 1e-4  # relative to the diagonal (Marquardt)
RELATIVE_DECREASE_DONE = 1e-5


class Bundle(NamedTuple):
    """Result of a bundle adjustment."""

    T_cam_odom: np.ndarray  # (k, 4, 4) poses of odom in the key cameras
    # points_odom and point_information: points [m] and their information for fixed poses [1/m^2]
    points_odom: np.ndarray  # (n, 3)
    point_information: np.ndarray  # (n, 3, 3)
    # (m, 2) whitened squared residuals of position and disparity, per observation; inf behind
    squared_errors: np.ndarray
    # (6, 6) covariance of the last pose's increment (translation, rotation; camera axes), relative
    # to the fixed poses
    pose_covariance: np.ndarray
    cost: np.ndarray  # (2,) robust cost before and after


@njit(cache=True, error_model="numpy")
def _cost(poses, points, keys, indices, measured, weights, camera):
    r = np.empty(3)
    Jc = np.empty((3, 6))
    Jp = np.empty((3, 3))
    total = 0.0
    for m in range(keys.shape[0]):
        if stereo_residual(
            poses[keys[m]], points[indices[m]], measured[m], weights[m], camera, r, Jc, Jp
        ):
            total += robust(r[0] * r[0] + r[1] * r[1], HUBER_UV)[0]
            total += robust(r[2] * r[2], HUBER_DISPARITY)[0]
        else:
            total += 1e3
    return total


@njit(cache=True, error_model="numpy")
def _linearise(poses, points, n_fixed, keys, indices, measured, weights, camera):
    """Return Hcc blocks (their upper halves), bc, Hpp blocks, bp, and (m, 3, 6) cross blocks."""
    n_free = poses.shape[0] - n_fixed
    Hc = np.zeros((n_free, 6, 6))
    bc = np.zeros((n_free, 6))
    Hp = np.zeros((points.shape[0], 3, 3))
    bp = np.zeros((points.shape[0], 3))
    cross = np.zeros((keys.shape[0], 3, 6))
    r = np.empty(3)
    Jc = np.empty((3, 6))
    Jp = np.empty((3, 3))
    w = np.empty(3)
    wJc = np.empty((3, 6))
    wJp = np.empty((3, 3))
    for m in range(keys.shape[0]):
        if not stereo_residual(
            poses[keys[m]], points[indices[m]], measured[m], weights[m], camera, r, Jc, Jp
        ):
            continue
        w[0] = robust(r[0] * r[0] + r[1] * r[1], HUBER_UV)[1]
        w[1] = w[0]
        w[2] = robust(r[2] * r[2], HUBER_DISPARITY)[1]
        for k in range(3):
            for i in range(6):
                wJc[k, i] = w[k] * Jc[k, i]
            for i in range(3):
                wJp[k, i] = w[k] * Jp[k, i]
        p = np.uintp(indices[m])
        for i in range(3):
            bp[p, i] -= wJp[0, i] * r[0] + wJp[1, i] * r[1] + wJp[2, i] * r[2]
            for j in range(3):
                Hp[p, i, j] += wJp[0, i] * Jp[0, j] + wJp[1, i] * Jp[1, j] + wJp[2, i] * Jp[2, j]
        if keys[m] < n_fixed:
            continue
        c = np.uintp(keys[m] - n_fixed)
        for i in range(6):
            bc[c, i] -= wJc[0, i] * r[0] + wJc[1, i] * r[1] + wJc[2, i] * r[2]
            for j in range(i, 6):
                Hc[c, i, j] += wJc[0, i] * Jc[0, j] + wJc[1, i] * Jc[1, j] + wJc[2, i] * Jc[2, j]
        for k in range(3):
            for i in range(6):
                cross[m, k, i] = wJp[0, k] * Jc[0, i] + wJp[1, k] * Jc[1, i] + wJp[2, k] * Jc[2, i]
    return Hc, bc, Hp, bp, cross


@njit(cache=True, error_model="numpy")
def _reduce(Hc, bc, Hp, bp, cross, keys, starts, n_fixed, damping):
    """Eliminate the points; return the reduced system and the inverses of the point blocks."""
    n_free = Hc.shape[0]
    S = np.zeros((6 * n_free, 6 * n_free))
    g = np.zeros(6 * n_free)
    inverses = np.empty_like(Hp)
    for c in range(n_free):
        for i in range(6):
            g[6 * c + i] = bc[c, i]
            for j in range(6):
                S[6 * c + i, 6 * c + j] = Hc[c, i, j]
            S[6 * c + i, 6 * c + i] += damping * Hc[c, i, i] + 1e-9
    product = np.empty((3, 6))
    block = np.empty((3, 3))
    for p in range(Hp.shape[0]):
        inverse = inverses[p]
        for i in range(3):
            for j in range(3):
                block[i, j] = Hp[p, i, j]
            block[i, i] += damping * block[i, i] + 1e-9
        invert_3x3(block, inverse)
        for m in range(starts[p], starts[p + 1]):
            if keys[m] < n_fixed:
                continue
            first_row = np.uintp(6 * (keys[m] - n_fixed))
            for k in range(3):
                for i in range(6):
                    product[k, i] = (
                        cross[m, 0, i] * inverse[0, k]
                        + cross[m, 1, i] * inverse[1, k]
                        + cross[m, 2, i] * inverse[2, k]
                    )
            for i in range(6):
                g[first_row + np.uintp(i)] -= (
                    product[0, i] * bp[p, 0] + product[1, i] * bp[p, 1] + product[2, i] * bp[p, 2]
                )
            for other in range(starts[p], starts[p + 1]):
                if keys[other] < keys[m]:
                    continue
                first_column = np.uintp(6 * (keys[other] - n_fixed))
                for i in range(6):
                    row = first_row + np.uintp(i)
                    for j in range(6):
                        S[row, first_column + np.uintp(j)] -= (
                            product[0, i] * cross[other, 0, j]
                            + product[1, i] * cross[other, 1, j]
                            + product[2, i] * cross[other, 2, j]
                        )
    for i in range(6 * n_free):
        for j in range(i):
            S[i, j] = S[j, i]
    return S, g, inverses


@njit(cache=True, error_model="numpy")
def _moved(poses, points, n_fixed, step, keys, starts, bp, cross, inverses):
    new_poses = poses.copy()
    for c in range(n_fixed, poses.shape[0]):
        move_pose(poses[c], step, 6 * (c - n_fixed), new_poses[c])
    new_points = points.copy()
    rhs = np.empty(3)
    for p in range(points.shape[0]):
        for k in range(3):
            rhs[k] = bp[p, k]
        for m in range(starts[p], starts[p + 1]):
            c = keys[m] - n_fixed
            if c < 0:
                continue
            for k in range(3):
                for i in range(6):
                    rhs[k] -= cross[m, k, i] * step[6 * c + i]
        for i in range(3):
            for k in range(3):
                new_points[p, i] += inverses[p, i, k] * rhs[k]
    return new_poses, new_points


@njit(cache=True, error_model="numpy")
def _optimise(
    poses, points, n_fixed, keys, indices, starts, measured, weights, camera, max_iterations
):
    cost = _cost(poses, points, keys, indices, measured, weights, camera)
    first_cost = cost
    damping = FIRST_DAMPING
    covariance = np.zeros((6, 6))
    covariance[0, 0] = np.nan
    Hp = np.zeros((points.shape[0], 3, 3))
    for _ in range(max_iterations):
        Hc, bc, Hp, bp, cross = _linearise(
            poses, points, n_fixed, keys, indices, measured, weights, camera
        )
        improved = False
        for _attempt in range(6):
            S, g, inverses = _reduce(Hc, bc, Hp, bp, cross, keys, starts, n_fixed, damping)
            if not factorise(S):
                damping = max(damping * 10.0, 1e-6)
                continue
            solve_factorised(S, g)
            step = g
            trial_poses, trial_points = _moved(
                poses, points, n_fixed, step, keys, starts, bp, cross, inverses
            )
            trial = _cost(trial_poses, trial_points, keys, indices, measured, weights, camera)
            if trial < cost:
                improved = True
                break
            damping = max(damping * 10.0, 1e-6)
        if not improved:
            break
        poses = trial_poses
        points = trial_points
        damping *= 0.1
        decrease = cost - trial
        cost = trial
        if decrease < RELATIVE_DECREASE_DONE * cost:
            break
    if poses.shape[0] > n_fixed:
        Hc, bc, Hp, bp, cross = _linearise(
            poses, points, n_fixed, keys, indices, measured, weights, camera
        )
        S, g, inverses = _reduce(Hc, bc, Hp, bp, cross, keys, starts, n_fixed, 0.0)
        if factorise(S):
            covariance = last_block_of_inverse(S, 6)
    return poses, points, Hp, covariance, first_cost, cost


@njit(cache=True, error_model="numpy")
def _squared_errors(poses, points, keys, indices, measured, weights, camera):
    r = np.empty(3)
    Jc = np.empty((3, 6))
    Jp = np.empty((3, 3))
    squared = np.empty((keys.shape[0], 2))
    for m in range(keys.shape[0]):
        if stereo_residual(
            poses[keys[m]], points[indices[m]], measured[m], weights[m], camera, r, Jc, Jp
        ):
            squared[m, 0] = r[0] * r[0] + r[1] * r[1]
            squared[m, 1] = r[2] * r[2]
        else:
            squared[m, 0] = np.inf
            squared[m, 1] = np.inf
    return squared


def adjust_bundle(
    T_cam_odom, points_odom, *, n_fixed, keys, indices, measured, weights, camera, max_iterations
) -> Bundle:
    """Minimise the stereo reprojection error over key poses and points.

    `T_cam_odom` (k, 4, 4), `points_odom` (n, 3): initial poses, oldest first, and points [m].
    `n_fixed`: number of leading poses that are fixed (at least 1: the gauge). `keys`, `indices`
    (m,): pose and point of each observation; sorted by point. `measured` (m, 3): u, v,
    disparity [px]. `weights` (m, 4): Square-root information, see ``residuals.stereo_residual``.
    `camera` (5,): fx, fy, cx, cy [px], baseline [m].

    Levenberg-Marquardt. Cost per step: sum over points of (observations)^2 6x6 blocks, one dense
    solve of 6k.

    Reference: Triggs et al., Bundle Adjustment, a Modern Synthesis, 2000, sections 4.3 and 6.
    """
    if n_fixed < 1:
        raise ValueError(f"n_fixed must be at least 1, got {n_fixed}; one pose fixes the gauge.")
    if len(indices) and np.any(np.diff(indices) < 0):
        raise ValueError("indices must be sorted by point; sort the observations first.")
    keys = np.ascontiguousarray(keys, dtype=np.int64)
    indices = np.ascontiguousarray(indices, dtype=np.int64)
    poses = np.ascontiguousarray(T_cam_odom, dtype=np.float64)
    points = np.ascontiguousarray(points_odom, dtype=np.float64)
    measured = np.ascontiguousarray(measured, dtype=np.float64)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    starts = np.searchsorted(indices, np.arange(len(points) + 1)).astype(np.int64)
    poses, points, information, covariance, *cost = _optimise(
        poses, points, n_fixed, keys, indices, starts, measured, weights, camera, max_iterations
    )
    squared = _squared_errors(poses, points, keys, indices, measured, weights, camera)
    return Bundle(poses, points, information, squared, covariance, np.array(cost))
