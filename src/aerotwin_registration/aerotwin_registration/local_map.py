# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A map of points: the first of each voxel, around the place where the sensor is."""

from collections.abc import Sequence

import numpy as np

from aerotwin_core.frames import transform_points
from aerotwin_registration.icp import Surface
from aerotwin_registration.voxels import voxel_downsample


class LocalMap:
    """Points of the surroundings, with the search tree and normals that alignment needs.

    The first point of a voxel stays: a map whose points moved with every scan would drift.

    Parameters
    ----------
    voxel_m : float
        Edge of a voxel [m].
    radius_m : float
        Points farther from the sensor than this are forgotten [m].
    """

    def __init__(self, voxel_m: float, radius_m: float) -> None:
        self._voxel_m, self._radius_m = voxel_m, radius_m
        self._surface: Surface | None = None
        self.points = np.empty((0, 3))

    def add(self, points: np.ndarray, p_sensor: np.ndarray) -> None:
        """Add points (n, 3) of the map's frame, seen from a place (3,) [m]."""
        joined = np.concatenate([self.points, voxel_downsample(points, self._voxel_m)])
        joined = joined[np.sum((joined - p_sensor) ** 2, axis=1) <= self._radius_m**2]
        index = np.floor(joined / self._voxel_m).astype(np.int64)
        first = np.unique(index, axis=0, return_index=True)[1]
        self.points = joined[np.sort(first)]
        self._surface = None

    @property
    def surface(self) -> Surface:
        """The map as a target."""
        if self._surface is None:
            self._surface = Surface(self.points)
        return self._surface


def accumulate(
    scans: Sequence[np.ndarray], poses: Sequence[np.ndarray], voxel_m: float = 0.0
) -> np.ndarray:
    """Return the cloud of scans put together.

    Parameters
    ----------
    scans : sequence of (n, 3) arrays
        Each in the sensor's frame [m].
    poses : sequence of (4, 4) arrays
        T_map_sensor of each.
    voxel_m : float
        One point, the mean, for each voxel of this edge; 0 = all points [m].

    Returns
    -------
    (m, 3) array
        Points in map [m].

    Raises
    ------
    ValueError
        If the numbers of scans and poses differ.
    """
    if len(scans) != len(poses):
        raise ValueError(f"scans and poses must be as many, got {len(scans)} and {len(poses)}")
    moved = [transform_points(T, scan) for scan, T in zip(scans, poses, strict=True)]
    cloud = np.concatenate([*moved, np.empty((0, 3))])
    return voxel_downsample(cloud, voxel_m) if voxel_m > 0.0 else cloud
