# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A field around the target's points: how well a source point at a position would fit."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import uniform_filter

from aerotwin_core.voxels import voxel_downsample

MAX_NODES = 24_000_000  # nodes of a field; beyond, the cells are too small for the area
_RARE = 0.05  # share of occupied cells in a layer from which on a hit counts fully


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
