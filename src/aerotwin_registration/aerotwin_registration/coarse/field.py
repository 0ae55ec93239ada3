# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The clouds of a coarse alignment: a field around the target's points, a sample of the source."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import uniform_filter

from aerotwin_core.rms import rms
from aerotwin_core.voxels import voxel_downsample

MAX_NODES = 24_000_000  # nodes of a field; beyond, the cells are too small for the area
_RARE = 0.05  # share of occupied cells in a layer from which on a hit counts fully
_FAR = 0.995  # share of the points that count for the reach: single outliers do not


@dataclass(frozen=True, kw_only=True)
class Field:
    """Values 0 to 255 on a regular grid."""

    # (nz, ny, nx) uint8 255 on a distinctive point of the target, 0 far from all points
    values: np.ndarray
    # origin_m and cell_m: node (0, 0, 0) in target axes, and distance of the nodes [m]
    origin_m: np.ndarray  # (3,)
    cell_m: float

    def nodes(self, points: np.ndarray) -> np.ndarray:
        """Return points (n, 3) in units of nodes."""
        return np.ascontiguousarray((points - self.origin_m) / self.cell_m)


def make_field(
    target: np.ndarray, cell_m: float, sigma_m: float, surroundings_m: float, least: float
) -> Field:
    """Return the field of target points (m, 3) [m]: nearness times information of a hit.

    Nearness is exp(-d^2 / (2 sigma^2)). A hit in a layer that is occupied all around tells
    little: at any pose of a cloud, its ground meets ground. The value is weighted with the
    information -log p of a hit, p being the share of occupied nodes of the same height within
    `surroundings_m`, among non-empty columns: the rim of a map is no wall.
    """
    from aerotwin_registration.coarse import kernels

    points = voxel_downsample(target, cell_m)
    margin = 2.0 * sigma_m + cell_m
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    shape = np.ceil((high - low) / cell_m).astype(np.int64)[::-1] + 1
    values = np.zeros(shape, dtype=np.uint8)
    kernels.splat(points, low, cell_m, sigma_m, values)
    size = 2 * round(0.5 * surroundings_m / cell_m) + 1
    is_hit = values > 0
    hits = uniform_filter(is_hit.astype(np.float32), size=(1, size, size), mode="constant")
    columns = uniform_filter(is_hit.any(axis=0).astype(np.float32), size=size, mode="constant")
    share = hits / np.maximum(columns, 1.0 / size**2)
    information = np.log(np.maximum(share, _RARE)) / np.log(_RARE)
    weighted = values * np.clip(information, least, 1.0)
    return Field(values=weighted.astype(np.uint8), origin_m=low, cell_m=cell_m)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Points of a cloud, evenly spread: `points` (n, 3) about `middle`, the median (3,) [m].

    `radius_m` and `reach_m` are the RMS and largest horizontal distance from the middle.
    """

    points: np.ndarray
    middle: np.ndarray
    radius_m: float
    reach_m: float

    def weight(self, scale: float, cell_m: float) -> float:
        """Return the share of cells that the points fill at a scale.

        A mean over points cannot compare scales: a cloud that shrinks to a point lies wholly on
        the first wall. Information of cells adds up.
        """
        filled = voxel_downsample(scale * self.points, cell_m)
        return len(filled) / len(self.points)

    def moved(self, S_target_source: np.ndarray) -> np.ndarray:
        """Return the points in the target's frame (n, 3), by a similarity (4, 4)."""
        return (self.points + self.middle) @ S_target_source[:3, :3].T + S_target_source[:3, 3]


def draw_sample(
    source: np.ndarray, voxel_m: float, n_most: int, rng: np.random.Generator
) -> Sample:
    """Return at most n_most points of a cloud (n, 3), one in each voxel."""
    middle = np.median(source, axis=0)
    points = voxel_downsample(source, voxel_m) - middle
    if len(points) > n_most:
        points = points[np.sort(rng.choice(len(points), n_most, replace=False))]
    across = np.hypot(points[:, 0], points[:, 1])
    return Sample(
        points=np.ascontiguousarray(points),
        middle=middle,
        radius_m=rms(across),
        reach_m=float(np.quantile(across, _FAR)),
    )
