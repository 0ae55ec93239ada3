# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Find landmarks in a new image: flow, RANSAC pose, then alignment with the warped key patches."""

from typing import NamedTuple

import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_stereo_odometry.frame import PreparedImage, smoothed_noise_gain, track_flow
from aerotwin_stereo_odometry.landmarks import Landmarks
from aerotwin_stereo_odometry.parameters import StereoOdometryParameters
from aerotwin_stereo_odometry.patches import align_patches, warp_patches
from aerotwin_stereo_odometry.pose import PoseEstimate, ransac_pose, refine_pose

MAX_CHI2 = 16.0  # squared whitened error of an inlier; 4 sigma in each direction
MAX_PULL_PX = 4.0  # an alignment that ends farther from its prediction is refused
MIN_SCALE, MAX_SCALE = 0.4, 2.5  # of the area of a warp; beyond, the patch says little


class LandmarkMatch(NamedTuple):
    """Landmarks found in a frame and the resulting pose."""

    pose: PoseEstimate  # pose of odom in the camera
    # rows and uv: rows of the landmarks found and consistent, and their pixels [px]
    rows: np.ndarray  # (m,)
    uv: np.ndarray  # (m, 2)
    weights: np.ndarray  # (m, 4) Square-root information of the positions; last column zero
    n_sought: int  # landmarks that should be visible


def in_camera(T_cam_odom, points_odom):
    """Return points in the camera (n, 3) [m]."""
    return points_odom @ T_cam_odom[:3, :3].T + T_cam_odom[:3, 3]


def project(points_cam, camera):
    """Return pixels (n, 2); NaN where a point is not in front of the camera."""
    z = np.where(points_cam[:, 2] > 0.05, points_cam[:, 2], np.nan)
    return np.column_stack(
        [camera.fx * points_cam[:, 0] / z + camera.cx, camera.fy * points_cam[:, 1] / z + camera.cy]
    )


def is_inside(uv, shape, border):
    """Return which pixels lie inside an image by a border; NaN does not."""
    with np.errstate(invalid="ignore"):
        low = (uv >= border).all(axis=1)
        return low & (uv[:, 0] < shape[1] - border) & (uv[:, 1] < shape[0] - border)


def local_warps(T_cam_odom, landmarks: Landmarks, rows, camera):
    """Return (m, 2, 2) warps of rows: motion of the pixel for a small motion in the key image.

    The surface is assumed parallel to the key image around each point.
    """
    return _local_warps(
        T_cam_odom, landmarks.key_T_cam_odom, landmarks.points, rows, camera.fx, camera.fy
    )


@njit(cache=True, error_model="numpy")
def _local_warps(T_cam_odom, key_T_cam_odom, points, rows, fx, fy):
    warps = np.empty((rows.shape[0], 2, 2))
    p = np.empty(3)
    for k in range(rows.shape[0]):
        row = rows[k]
        depth = key_T_cam_odom[row, 2, 3]
        for j in range(3):
            depth += key_T_cam_odom[row, 2, j] * points[row, j]
            p[j] = T_cam_odom[j, 3]
            for i in range(3):
                p[j] += T_cam_odom[j, i] * points[row, i]
        for axis in range(2):
            # motion of the point in this camera for a pixel along an axis of the key image
            scale = depth / (fx if axis == 0 else fy)
            x = y = z = 0.0
            for i in range(3):
                moved = scale * key_T_cam_odom[row, axis, i]
                x += T_cam_odom[0, i] * moved
                y += T_cam_odom[1, i] * moved
                z += T_cam_odom[2, i] * moved
            warps[k, 0, axis] = fx * (x - p[0] / p[2] * z) / p[2]
            warps[k, 1, axis] = fy * (y - p[1] / p[2] * z) / p[2]
    return warps


def position_weights(information, variance, *, floor_px):
    """Return (n, 4) square-root information of positions with noise and a systematic error."""
    uu, uv, vv = information.T
    determinant = np.maximum(uu * vv - uv**2, 1e-9)
    a = variance * vv / determinant + floor_px**2
    b = -variance * uv / determinant
    c = variance * uu / determinant + floor_px**2
    determinant = a * c - b**2
    weights = np.zeros((len(a), 4))
    weights[:, 0] = np.sqrt(c / determinant)
    weights[:, 1] = -b / determinant / weights[:, 0]
    weights[:, 2] = np.sqrt(np.maximum(a / determinant - weights[:, 1] ** 2, 1e-9))
    return weights


class LandmarkMatcher:
    """Finds landmarks in frames; its only state are parameters."""

    def __init__(self, camera, camera_row, parameters: StereoOdometryParameters):
        self._camera = camera
        self._camera_row = camera_row
        self._parameters = parameters

    def match(
        self, landmarks: Landmarks, previous: PreparedImage, current: PreparedImage, T_last, T_guess
    ) -> LandmarkMatch | None:
        """Return the landmarks found in a frame with its pose, or None if tracking is lost.

        `landmarks`: local map. `previous`, `current`: last frame and this one, with pyramids.
        `T_last`, `T_guess` (4, 4): pose of odom in the last camera, and the predicted one.
        """
        tracked = np.flatnonzero(landmarks.is_tracked)
        for rows in self._attempts(landmarks, tracked):
            T_start = self._flow_pose(landmarks, rows, previous, current, T_last, T_guess)
            if T_start is not None:
                match = self._align(landmarks, tracked, current, T_start)
                if match is not None:
                    return match
        return None

    def _attempts(self, landmarks, tracked):
        """Yield landmarks to find by flow: some suffice for a first pose; all, if they do not."""
        rows = tracked[landmarks.n_missed[tracked] == 0]
        count = self._parameters.flow_features
        if len(rows) > count:
            yield rows[np.linspace(0, len(rows) - 1, count).round().astype(np.intp)]
        yield rows

    def _flow_pose(self, landmarks, rows, previous, current, T_last, T_guess):
        """Return the pose of odom in the camera by flow and RANSAC; None if few agree on any."""
        p = self._parameters
        points = landmarks.points[rows]
        shift = project(in_camera(T_guess, points), self._camera) - project(
            in_camera(T_last, points), self._camera
        )
        guess = landmarks.uv[rows] + np.nan_to_num(shift)
        uv, held = track_flow(
            previous,
            current,
            landmarks.uv[rows],
            guess,
            window_px=p.flow_window_px,
            levels=p.flow_levels,
            max_error_px=p.forward_backward_px,
        )
        start = ransac_pose(
            points[held],
            uv[held],
            self._camera.matrix,
            threshold_px=p.ransac_threshold_px,
            max_iterations=p.ransac_iterations,
            seed=p.seed,
        )
        if start is None:
            return None
        T_cam_odom, is_inlier = start
        enough = max(p.min_inliers, p.min_inlier_share * held.sum())
        return T_cam_odom if is_inlier.sum() >= enough else None

    def _align(self, landmarks, tracked, current, T_start):
        p = self._parameters
        rows, expected = self._visible(landmarks, tracked, current.shape, T_start)
        uv, weights, is_found = self._measure(landmarks, rows, current, T_start, expected)
        found, uv, weights = rows[is_found], uv[is_found], weights[is_found]
        if len(found) < p.min_inliers:
            return None
        measured = np.column_stack([uv, np.zeros(len(uv))])
        points = landmarks.points[found]
        pose = refine_pose(T_start, points, measured, weights, self._camera_row)
        good = pose.squared_errors < MAX_CHI2
        if good.sum() < p.min_inliers or not np.isfinite(pose.covariance).all():
            return None
        return LandmarkMatch(pose, found[good], uv[good], weights[good], len(rows))

    def _visible(self, landmarks, tracked, shape, T_cam_odom):
        uv = project(in_camera(T_cam_odom, landmarks.points[tracked]), self._camera)
        inside = is_inside(uv, shape, self._parameters.patch_px // 2 + 2)
        return tracked[inside], uv[inside]

    def _measure(self, landmarks, rows, current, T_cam_odom, expected):
        p = self._parameters
        warps = local_warps(T_cam_odom, landmarks, rows, self._camera)
        area = np.linalg.det(warps)
        usable = (area > MIN_SCALE) & (area < MAX_SCALE)
        warps[~usable] = np.eye(2)
        templates = warp_patches(landmarks.patches, rows, np.linalg.inv(warps), p.patch_px + 2)
        found = align_patches(current.smooth, templates, expected)
        pull = np.linalg.norm(found.uv - expected, axis=1)
        noise = 2.0 * p.image_noise_std**2 * smoothed_noise_gain(p.smoothing_px)
        is_found = usable & found.is_match(p.min_correlation, noise) & (pull < MAX_PULL_PX)
        variance = np.maximum(found.variance, 2.0 * p.image_noise_std**2)
        weights = position_weights(found.information, variance, floor_px=p.position_floor_px)
        return found.uv, weights, is_found
