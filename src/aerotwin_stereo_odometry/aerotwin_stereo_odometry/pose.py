# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pose of one camera from known points: RANSAC for an initial pose, then robust least squares."""

from typing import NamedTuple

import cv2
import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_stereo_odometry.cholesky import (
    factorise,
    last_block_of_inverse,
    solve_factorised,
)
from aerotwin_stereo_odometry.residuals import move_pose, stereo_residual

STUDENT_DOF = 4.0  # degrees of freedom of the error distribution; small = outliers expected
STEP_DONE = 1e-7  # [m, rad]
RANSAC_CONFIDENCE = 0.9999


class PoseEstimate(NamedTuple):
    """Pose from points."""

    T_cam_odom: np.ndarray  # (4, 4) pose of odom in the camera
    # (6, 6) covariance of the left increment (translation, rotation vector; camera axes); NaN if
    # the points do not determine the pose
    covariance: np.ndarray
    # (n,) whitened squared position error per point; inf behind the camera
    squared_errors: np.ndarray


@njit(cache=True, error_model="numpy")
def _normal_equations(T, points, measured, weights, camera, squared):
    H = np.zeros((6, 6))
    g = np.zeros(6)
    r = np.empty(3)
    Jc = np.empty((3, 6))
    Jp = np.empty((3, 3))
    for m in range(points.shape[0]):
        squared[m] = np.inf
        if not stereo_residual(T, points[m], measured[m], weights[m], camera, r, Jc, Jp):
            continue
        e = r[0] * r[0] + r[1] * r[1]
        squared[m] = e
        w = (STUDENT_DOF + 2.0) / (STUDENT_DOF + e)
        wd = (STUDENT_DOF + 1.0) / (STUDENT_DOF + r[2] * r[2])
        for i in range(6):
            g[i] -= w * (Jc[0, i] * r[0] + Jc[1, i] * r[1]) + wd * Jc[2, i] * r[2]
            for j in range(6):
                H[i, j] += w * (Jc[0, i] * Jc[0, j] + Jc[1, i] * Jc[1, j])
                H[i, j] += wd * Jc[2, i] * Jc[2, j]
    return H, g


@njit(cache=True, error_model="numpy")
def _optimise(T, points, measured, weights, camera, max_iterations):
    squared = np.empty(points.shape[0])
    T = T.copy()
    for _ in range(max_iterations):
        H, g = _normal_equations(T, points, measured, weights, camera, squared)
        for i in range(6):
            H[i, i] += 1e-9 * H[i, i] + 1e-12
        if not factorise(H):
            break
        solve_factorised(H, g)
        move_pose(T, g, 0, T)
        size = 0.0
        for i in range(6):
            size = max(size, abs(g[i]))
        if size < STEP_DONE:
            break
    H, g = _normal_equations(T, points, measured, weights, camera, squared)
    for i in range(6):
        H[i, i] += 1e-9 * H[i, i] + 1e-12
    covariance = np.zeros((6, 6))
    covariance[0, 0] = np.nan
    if factorise(H):
        covariance = last_block_of_inverse(H, 6)
    return T, covariance, squared


def refine_pose(T_cam_odom, points_odom, measured, weights, camera, *, max_iterations=15):
    """Return the `PoseEstimate` that minimises the robust reprojection error of known points.

    `T_cam_odom` (4, 4): initial pose. `points_odom` (n, 3): points [m]; assumed exact. `measured`
    (n, 3): u, v, disparity [px]. `weights` (n, 4): Square-root information, see
    ``residuals.stereo_residual``. `camera` (5,): fx, fy, cx, cy [px], baseline [m].
    """
    return PoseEstimate(
        *_optimise(
            np.ascontiguousarray(T_cam_odom, dtype=np.float64),
            np.ascontiguousarray(points_odom, dtype=np.float64),
            np.ascontiguousarray(measured, dtype=np.float64),
            np.ascontiguousarray(weights, dtype=np.float64),
            camera,
            max_iterations,
        )
    )


def ransac_pose(
    points_odom, uv, camera_matrix, *, threshold_px: float, max_iterations: int, seed: int
):
    """Return T_cam_odom (4, 4) and its inliers (n,) by P3P and RANSAC, or None.

    `points_odom` (n, 3), `uv` (n, 2): points [m] and their pixels [px]. `camera_matrix` (3, 3):
    pinhole matrix [px]. `threshold_px`: largest reprojection error of an inlier [px].
    """
    if len(points_odom) < 4:
        return None
    cv2.setRNGSeed(seed)
    found, rotation, translation, inliers = cv2.solvePnPRansac(
        np.ascontiguousarray(points_odom),
        np.ascontiguousarray(uv),
        camera_matrix,
        None,
        iterationsCount=max_iterations,
        reprojectionError=threshold_px,
        confidence=RANSAC_CONFIDENCE,
        flags=cv2.SOLVEPNP_AP3P,
    )
    if not found or inliers is None:
        return None
    T_cam_odom = np.eye(4)
    T_cam_odom[:3, :3] = cv2.Rodrigues(rotation)[0]
    T_cam_odom[:3, 3] = translation.ravel()
    mask = np.zeros(len(points_odom), dtype=bool)
    mask[inliers.ravel()] = True
    return T_cam_odom, mask
