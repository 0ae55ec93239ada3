# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Measurements of a keyframe in its stereo pair: existing landmarks again, and new ones."""

from typing import NamedTuple

import numpy as np

from aerotwin_core.camera import StereoRig
from aerotwin_stereo_odometry.detection import detect_corners
from aerotwin_stereo_odometry.frame import PreparedImage, smoothed_noise_gain
from aerotwin_stereo_odometry.landmarks import PATCH_MARGIN_PX, Landmarks, new_landmarks
from aerotwin_stereo_odometry.matching import LandmarkMatch, in_camera
from aerotwin_stereo_odometry.parameters import StereoOdometryParameters
from aerotwin_stereo_odometry.patches import cut_patches
from aerotwin_stereo_odometry.stereo import refine_disparities, search_disparities


class Observations(NamedTuple):
    """Landmarks `ident` (n,) observed in a keyframe."""

    ident: np.ndarray
    measured: np.ndarray  # (n, 3) u, v, disparity [px]
    weights: np.ndarray  # (n, 4) Square-root information, see `residuals.stereo_residual`


class Surveyor:
    """Measures disparities; its only state are the rig and parameters."""

    def __init__(self, rig: StereoRig, parameters: StereoOdometryParameters):
        self._camera = rig.camera
        self._focal_baseline = rig.camera.fx * rig.baseline_m
        self._parameters = parameters

    def seen_again(
        self,
        landmarks: Landmarks,
        match: LandmarkMatch | None,
        T_cam_odom,
        left: PreparedImage,
        right: PreparedImage,
    ) -> Observations:
        """Return the matched landmarks with their disparities, where these can be measured."""
        if match is None:
            return Observations(np.empty(0, dtype=np.int64), np.empty((0, 3)), np.empty((0, 4)))
        landmarks.n_seen[match.rows] += 1
        depth = in_camera(T_cam_odom, landmarks.points[match.rows])[:, 2]
        found = self._refine(left, right, match.uv, self._focal_baseline / depth)
        has = np.isfinite(found.disparity)
        measured = np.column_stack([match.uv, np.where(has, found.disparity, 0.0)])
        weights = match.weights.copy()
        weights[has, 3] = 1.0 / found.std[has]
        return Observations(landmarks.ident[match.rows], measured, weights)

    def new_landmarks(
        self,
        first_ident: int,
        T_cam_odom,
        left: PreparedImage,
        right: PreparedImage,
        *,
        occupied_uv,
    ) -> tuple[Landmarks, Observations]:
        """Return landmarks in free grid cells, of depth fx b / disparity, with observations."""
        p = self._parameters
        key_size = p.patch_px + 2 + 2 * PATCH_MARGIN_PX
        # expected position variance of a patch: 2 noise^2 / (patch_px^2 mean squared gradient)
        energy = 2.0 * (p.image_noise_std / (p.patch_px * p.max_position_std_px)) ** 2
        uv = detect_corners(
            left.smooth,
            occupied_uv,
            cell_px=p.cell_px,
            border_px=key_size // 2 + 1,
            min_gradient_energy=energy,
        )
        guess = search_disparities(
            left.smooth, right.smooth, uv, size=p.patch_px, bounds=(0, p.max_disparity_px)
        )
        found = self._refine(left, right, uv, guess)
        good = np.nan_to_num(found.disparity) > p.min_disparity_px
        uv, disparity, std = uv[good], found.disparity[good], found.std[good]
        points_cam = self._camera.unproject(uv, self._focal_baseline / disparity)
        points = in_camera(np.linalg.inv(T_cam_odom), points_cam)
        patches = cut_patches(left.smooth, uv, key_size)
        born = new_landmarks(first_ident, points, patches, uv, T_cam_odom)
        weights = np.zeros((len(uv), 4))
        weights[:, [0, 2]] = 1.0 / p.position_floor_px
        weights[:, 3] = 1.0 / std
        return born, Observations(born.ident, np.column_stack([uv, disparity]), weights)

    def _refine(self, left, right, uv, guess):
        p = self._parameters
        variance = 2.0 * p.image_noise_std**2  # of the difference of two images
        return refine_disparities(
            left.smooth,
            right.smooth,
            uv,
            guess,
            size=p.patch_px,
            min_correlation=p.min_correlation,
            noise_variance=variance,
            smoothed_noise_variance=variance * smoothed_noise_gain(p.smoothing_px),
            floor_px=p.disparity_floor_px,
        )
