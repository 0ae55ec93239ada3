# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The exported map: semi-dense points of keyframes, and landmarks, thinned by voxels."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.voxels import voxel_keys
from aerotwin_stereo_odometry.landmarks import Columns, Landmarks
from aerotwin_stereo_odometry.matching import in_camera
from aerotwin_stereo_odometry.parameters import StereoOdometryParameters
from aerotwin_stereo_odometry.semi_dense import semi_dense_depths
from aerotwin_stereo_odometry.window import OdometryKeyframe

DELAY = 3  # keyframes; a keyframe is worked on once it has neighbours on both sides
NEIGHBOURS = (1, -3, 3)  # keyframes whose images refine the depth, shortest baseline first
SUPPORT_VOXELS, MIN_SUPPORT = 5, 4  # a semi-dense point needs company: edge of the cell, points
MIN_SEEN = 3  # keyframes that must have seen an exported landmark


@dataclass(frozen=True, kw_only=True)
class PointCloud(Columns):
    """Points (n, 3) [m] with brightness [DN]; `std` is that of the worst direction [m]."""

    points: np.ndarray
    std: np.ndarray
    intensity: np.ndarray


NO_POINTS = PointCloud(
    points=np.empty((0, 3)), std=np.empty(0), intensity=np.empty(0, dtype=np.float32)
)


def thinned(cloud: PointCloud, voxel_m: float) -> PointCloud:
    """Return the most certain point of each voxel."""
    if len(cloud.points) == 0:
        return cloud
    order = np.argsort(cloud.std, kind="stable")
    first = np.unique(voxel_keys(cloud.points[order], voxel_m), return_index=True)[1]
    return cloud.select(np.sort(order[first]))


def supported(cloud: PointCloud, voxel_m: float) -> PointCloud:
    """Return the points that are not alone in their (larger) voxel."""
    if len(cloud.points) == 0:
        return cloud
    keys = voxel_keys(cloud.points, voxel_m)
    _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return cloud.select(counts[place] >= MIN_SUPPORT)


def cloud_of_landmarks(landmarks: Landmarks) -> PointCloud:
    """Return landmarks that several keyframes observe, with the spread of their position."""
    information = landmarks.information
    known = (landmarks.n_seen >= MIN_SEEN) & (np.linalg.det(information) > 0.0)
    centre = landmarks.patches.shape[1] // 2
    variance = np.linalg.eigvalsh(np.linalg.inv(information[known]))[:, -1]
    return PointCloud(
        points=landmarks.points[known],
        std=np.sqrt(np.maximum(variance, 0.0)),
        intensity=landmarks.patches[known, centre, centre],
    )


class PointMapBuilder:
    """Collects points; those of keyframes still being adjusted move with them."""

    def __init__(self, camera_row, parameters: StereoOdometryParameters):
        self._camera_row = camera_row
        self._parameters = parameters
        self._landmarks: list[PointCloud] = []
        self._final: list[PointCloud] = []
        self._n_keyframes = 0
        self._moving: list[tuple[OdometryKeyframe, PointCloud]] = []

    def add_landmarks(self, landmarks: Landmarks) -> None:
        """Add landmarks that left the local map."""
        if len(landmarks):
            self._landmarks.append(self._precise(cloud_of_landmarks(landmarks)))

    def add_keyframe(self, keyframes: list[OdometryKeyframe], landmarks: Landmarks) -> None:
        """Add the semi-dense points of the keyframe that now has neighbours on both sides."""
        self._n_keyframes += 1
        is_due = self._n_keyframes % self._parameters.map_keyframe_step == 0
        if self._parameters.map_cell_px and is_due and len(keyframes) > DELAY:
            index = len(keyframes) - 1 - DELAY
            self._moving.append((keyframes[index], self._semi_dense(keyframes, index, landmarks)))
        alive = [k for k, _ in self._moving if any(k is other for other in keyframes)]
        self._settle(len(self._moving) - len(alive))

    def settle(self) -> None:
        """Make all points final; the local map is discarded."""
        self._settle(len(self._moving))

    def points(self, landmarks: Landmarks) -> PointCloud:
        """Return the whole map in odom; `landmarks` are those of the local map."""
        voxel_m = self._parameters.map_voxel_m
        self._final = [thinned(PointCloud.joined([NO_POINTS, *self._final]), voxel_m)]
        self._landmarks = [thinned(PointCloud.joined([NO_POINTS, *self._landmarks]), voxel_m)]
        moving = [_in_odom(keyframe, cloud) for keyframe, cloud in self._moving]
        dense = supported(PointCloud.joined([*self._final, *moving]), SUPPORT_VOXELS * voxel_m)
        local = [self._precise(cloud_of_landmarks(landmarks))] if len(landmarks) else []
        return thinned(PointCloud.joined([dense, *self._landmarks, *local]), voxel_m)

    def _settle(self, count):
        self._final += [_in_odom(keyframe, cloud) for keyframe, cloud in self._moving[:count]]
        del self._moving[:count]

    def _precise(self, cloud):
        return cloud.select(cloud.std < self._parameters.map_max_std_m)

    def _semi_dense(self, keyframes, index, landmarks):
        p = self._parameters
        key = keyframes[index]
        T_odom_key = np.linalg.inv(key.T_cam_odom)
        neighbours = [
            (keyframes[index + offset].left, keyframes[index + offset].T_cam_odom @ T_odom_key)
            for offset in NEIGHBOURS
            if 0 <= index + offset < len(keyframes)
        ]
        rows = landmarks.rows_of(key.ident)
        seen = rows >= 0
        depth = in_camera(key.T_cam_odom, landmarks.points[rows[seen]])[:, 2]
        front = depth > 0.0
        found = semi_dense_depths(
            key.left,
            key.right,
            neighbours,
            self._camera_row,
            key.measured[seen, :2][front],
            depth[front],
            cell_px=p.map_cell_px,
            noise_std=p.image_noise_std,
            min_correlation=p.min_correlation,
        )
        fx, fy, cx, cy = self._camera_row[:4]
        u, v = found.uv.T
        points = np.column_stack([(u - cx) / fx, (v - cy) / fy, np.ones(len(u))])
        rows, columns = v.astype(np.int64), u.astype(np.int64)
        cloud = PointCloud(
            points=points * found.depth[:, None],
            std=found.std * np.linalg.norm(points, axis=1),
            intensity=key.left[rows, columns],
        )
        return self._precise(cloud)


def _in_odom(keyframe: OdometryKeyframe, cloud: PointCloud) -> PointCloud:
    T_odom_cam = np.linalg.inv(keyframe.T_cam_odom)
    return PointCloud(
        points=in_camera(T_odom_cam, cloud.points), std=cloud.std, intensity=cloud.intensity
    )
