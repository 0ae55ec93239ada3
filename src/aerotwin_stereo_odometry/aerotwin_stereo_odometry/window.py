# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The local map: keyframes with their observations, and the landmarks they share."""

from dataclasses import dataclass

import numpy as np

from aerotwin_stereo_odometry.bundle import adjust_bundle
from aerotwin_stereo_odometry.covariance import compose_covariance, increment_to_odom
from aerotwin_stereo_odometry.landmarks import PATCH_MARGIN_PX, Landmarks, no_landmarks
from aerotwin_stereo_odometry.parameters import StereoOdometryParameters

MAX_CHI2_UV = 16.0
MAX_CHI2_DISPARITY = 16.0
# Errors of neighbouring frames are not independent (one key patch serves a whole track), and fixed
# keyframes count as exact: measured on cliff flights, seeds 0 to 9, the formal variance is too
# small by about this factor.
COVARIANCE_SCALE = 8.0


@dataclass(kw_only=True)
class OdometryKeyframe:
    """A pose with its observations."""

    stamp_ns: int
    T_cam_odom: np.ndarray  # (4, 4) pose of odom in the camera
    covariance: np.ndarray  # (6, 6) of the pose in odom (position, rotation; odom axes)
    ident: np.ndarray  # (m,) int64 observed landmarks
    # measured and weights: u, v, disparity [px], and their square-root information
    measured: np.ndarray  # (m, 3)
    weights: np.ndarray  # (m, 4)
    # left and right: smoothed pair [DN]; dropped when the keyframe leaves the window
    left: np.ndarray | None = None  # (h, w) float32
    right: np.ndarray | None = None  # (h, w) float32

    @property
    def p_odom_cam(self):
        """Position of the camera in odom [m]."""
        return -self.T_cam_odom[:3, :3].T @ self.T_cam_odom[:3, 3]

    def drop(self, mask):
        """Remove observations."""
        keep = ~mask
        self.ident, self.measured = self.ident[keep], self.measured[keep]
        self.weights = self.weights[keep]


class KeyframeWindow:
    """Keyframes and landmarks of the bundle adjustment."""

    def __init__(self, camera_row, parameters: StereoOdometryParameters):
        self._camera_row = camera_row
        self._parameters = parameters
        self.keyframes: list[OdometryKeyframe] = []
        self.landmarks = no_landmarks(parameters.patch_px + 2 + 2 * PATCH_MARGIN_PX)

    def add(self, keyframe: OdometryKeyframe) -> None:
        """Append a keyframe; the oldest leaves a full window."""
        self.keyframes.append(keyframe)
        size = self._parameters.window_free + self._parameters.window_fixed
        for gone in self.keyframes[:-size]:
            gone.left = gone.right = None
        del self.keyframes[:-size]

    @property
    def n_fixed(self) -> int:
        """Number of the oldest keyframes that are fixed."""
        return max(1, len(self.keyframes) - self._parameters.window_free)

    def adjust(self) -> None:
        """Adjust poses and landmarks, then remove outliers."""
        if self._parameters.bundle_iterations == 0:
            return
        keys, rows, measured, weights = self._observations()
        if len(self.keyframes) < 2 or len(rows) == 0:
            return
        used, indices = np.unique(rows, return_inverse=True)
        result = adjust_bundle(
            np.array([k.T_cam_odom for k in self.keyframes]),
            self.landmarks.points[used],
            n_fixed=self.n_fixed,
            keys=keys,
            indices=indices,
            measured=measured,
            weights=weights,
            camera=self._camera_row,
            max_iterations=self._parameters.bundle_iterations,
        )
        for keyframe, T_cam_odom in zip(self.keyframes, result.T_cam_odom, strict=True):
            keyframe.T_cam_odom = T_cam_odom
        self.landmarks.points[used] = result.points_odom
        self.landmarks.information[used] = result.point_information
        self._update_covariance(result.pose_covariance)
        self._forget_outliers(keys, self.landmarks.ident[rows], result.squared_errors)

    def _observations(self):
        """Return key, row, measurement and weights of all observations, sorted by row."""
        keys = np.concatenate([np.full(len(k.ident), i) for i, k in enumerate(self.keyframes)])
        ident = np.concatenate([k.ident for k in self.keyframes])
        rows = self.landmarks.rows_of(ident)
        order = np.argsort(rows, kind="stable")
        order = order[rows[order] >= 0]
        measured = np.concatenate([k.measured for k in self.keyframes])[order]
        weights = np.concatenate([k.weights for k in self.keyframes])[order]
        return keys[order], rows[order], measured, weights

    def _update_covariance(self, pose_covariance):
        if not np.isfinite(pose_covariance).all():
            return  # nothing ties the keyframe to the fixed ones: what its frame had stands
        base, newest = self.keyframes[self.n_fixed - 1], self.keyframes[-1]
        relative = COVARIANCE_SCALE * increment_to_odom(pose_covariance, newest.T_cam_odom)
        newest.covariance = compose_covariance(
            base.covariance, newest.p_odom_cam - base.p_odom_cam, relative
        )

    def _forget_outliers(self, keys, ident, squared_errors):
        bad_uv = squared_errors[:, 0] > MAX_CHI2_UV
        bad_disparity = squared_errors[:, 1] > MAX_CHI2_DISPARITY
        for i, keyframe in enumerate(self.keyframes):
            mine = keys == i
            keyframe.drop(np.isin(keyframe.ident, ident[mine & bad_uv]))
            keyframe.weights[np.isin(keyframe.ident, ident[mine & bad_disparity]), 3] = 0.0

    def retire(self) -> Landmarks:
        """Remove and return the landmarks that no movable keyframe observes any more."""
        seen_by_movable = np.isin(
            self.landmarks.ident,
            np.concatenate([k.ident for k in self.keyframes[self.n_fixed :]] or [[]]),
        )
        done = ~self.landmarks.is_tracked & ~seen_by_movable
        retired = self.landmarks.select(done)
        self.landmarks = self.landmarks.select(~done)
        return retired
