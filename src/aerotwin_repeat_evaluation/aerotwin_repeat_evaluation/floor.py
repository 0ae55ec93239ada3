# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The oracle rigid-fit floor: the error that a perfect localiser in a bent map cannot avoid.

A localiser that knows every correspondence between the true surroundings and their image in the
map still fits a rigid motion to them. Where the map is bent, the fit is wrong at the vehicle's own
position, and a robot that follows the taught route by it deviates by the fit's residual. An offset
or rotation of the whole map costs nothing.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from aerotwin_core.rigid_motion import nearest_rotation
from aerotwin_repeat_evaluation.displacements import Displacement, image_of_points, true_poses

RADIUS_M = 40.0
"""Radius of a submap in VTR3 and VirT&R (ouster_warthog_default.yaml: crop 40 m)."""
_SPACING_M = 2.0
_FEWEST_POINTS = 3
_AT_ONCE = 256  # vertices whose discs are mapped together


@dataclass(frozen=True, kw_only=True, eq=False)
class RigidFitFloor:
    """Residual of the best rigid fit at n vertices; NaN if fewer than three points are in reach.

    `lateral_m`, `longitudinal_m` and `yaw_rad` (n,) are the true pose of the robot when a perfect
    rigid fit places it on the vertex, relative to the vertex's true pose: left and ahead positive.
    """

    lateral_m: np.ndarray
    longitudinal_m: np.ndarray
    yaw_rad: np.ndarray

    @property
    def rmse_m(self) -> float:
        """Root mean square of the lateral residual over the vertices [m]."""
        return float(np.sqrt(np.nanmean(self.lateral_m**2)))

    @property
    def max_m(self) -> float:
        """Largest lateral residual [m]."""
        return float(np.nanmax(np.abs(self.lateral_m)))


def rigid_fit_floor(
    displacement: Displacement,
    T_map_route: np.ndarray,
    *,
    points_true: np.ndarray | None = None,
    radius_m: float = RADIUS_M,
) -> RigidFitFloor:
    """Return the oracle floor along a route.

    Parameters
    ----------
    T_map_route : (n, 4, 4) array
        The taught route in the map.
    points_true : (m, 3) array, optional
        The true surroundings that a localiser sees, evenly spread (a voxel grid of the true
        cloud): the floor of this environment. By default a level disc, evenly filled: the floor
        of the displacement itself.
    radius_m : float
        Horizontal radius of the surroundings, in the map [m].
    """
    poses = np.asarray(T_map_route, np.float64)
    if poses.ndim != 3 or poses.shape[1:] != (4, 4) or not np.isfinite(poses).all():
        raise ValueError(f"T_map_route must be finite with shape (n, 4, 4), got {poses.shape}")
    stations = true_poses(displacement, poses)
    surroundings = _surroundings(displacement, poses, points_true, radius_m)
    rows = [
        _residual(pose, station, *part)
        for pose, station, part in zip(poses, stations, surroundings, strict=True)
    ]
    lateral, longitudinal, yaw = np.array(rows).reshape(-1, 3).T
    return RigidFitFloor(lateral_m=lateral, longitudinal_m=longitudinal, yaw_rad=yaw)


def _surroundings(displacement, poses, points_true, radius_m):
    """Yield true points around each vertex and their images."""
    if points_true is None:
        disc = _disc(radius_m)
        for start in range(0, len(poses), _AT_ONCE):
            images = disc + poses[start : start + _AT_ONCE, None, :3, 3]
            found = displacement.inverse(images.reshape(-1, 3)).reshape(images.shape)
            yield from zip(found, images, strict=True)
        return
    points = np.asarray(points_true, np.float64)
    images = image_of_points(displacement, points)
    tree = cKDTree(images[:, :2])
    for pose in poses:
        near = tree.query_ball_point(pose[:2, 3], radius_m)
        yield points[near], images[near]


def _disc(radius_m: float) -> np.ndarray:
    """Return an even lattice (n, 3) in a level disc about zero, the same n at any radius [m]."""
    line = np.arange(-radius_m, radius_m + 1e-9, _SPACING_M * radius_m / RADIUS_M)
    x, y = (v.ravel() for v in np.meshgrid(line, line))
    inside = np.hypot(x, y) <= radius_m
    return np.column_stack([x[inside], y[inside], np.zeros(inside.sum())])


def _residual(pose, station, points_true, images) -> tuple[float, float, float]:
    """Return lateral, longitudinal and yaw residual of the fit at one vertex."""
    if len(images) < _FEWEST_POINTS:
        return np.nan, np.nan, np.nan
    R_map_true, shift = rigid_fit(points_true, images)
    miss = R_map_true.T @ (pose[:3, 3] - shift) - station[:3, 3]
    heading, forward = R_map_true.T @ pose[:3, 0], station[:2, 0] / np.linalg.norm(station[:2, 0])
    yaw = np.arctan2(_cross(forward, heading), forward @ heading[:2])
    return _cross(forward, miss), forward @ miss[:2], yaw


def _cross(a: np.ndarray, b: np.ndarray) -> float:
    """Return the vertical component of a x b: how far b lies left of a unit vector a."""
    return float(a[0] * b[1] - a[1] * b[0])


def rigid_fit(points: np.ndarray, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation and shift of the rigid motion that best maps points to images.

    Least squares over all pairs (Umeyama 1991, doi 10.1109/34.88573, without scale).
    """
    middle, middle_image = points.mean(axis=0), images.mean(axis=0)
    R = nearest_rotation((images - middle_image).T @ (points - middle))
    return R, middle_image - R @ middle
