# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From points of all pictures to one cloud: voxel means, normals, colours."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.spatial import cKDTree

_CHUNK = 1 << 17
_BLOCK_CELLS = 5


@dataclass(frozen=True, kw_only=True)
class DenseCloud:
    """A reconstructed surface as points (n, 3) in map [m].

    `normals` (n, 3) are unit, towards the pictures that observed the point; `colours` (n, 3) uint8
    are sRGB.
    """

    points: np.ndarray
    normals: np.ndarray
    colours: np.ndarray

    def __len__(self) -> int:
        return len(self.points)


@dataclass(frozen=True, kw_only=True)
class VisiblePoints:
    """Points (n, 3) float32 of one picture in map [m], with colours (n, 3) uint8.

    Sites are small enough for single precision (0.1 mm at 1 km). `towards` (3,) is the position of
    the picture [m].
    """

    points: np.ndarray
    colours: np.ndarray
    towards: np.ndarray


def fuse(
    parts: Sequence[VisiblePoints],
    *,
    voxel_m: float,
    min_points: int,
    normal_neighbours: int,
    min_share: float = 0.0,
) -> DenseCloud:
    """Return the means of the points in each voxel that holds enough of them.

    Parameters
    ----------
    voxel_m : float
        Edge of a voxel [m].
    min_share : float
        Voxels with fewer points than this share of the fullest one around them are dropped:
        matching errors that float over a surface appear in a picture or two, the surface in many.

    Raises
    ------
    ValueError
        If no voxel holds enough.
    """
    points = np.concatenate([part.points for part in parts])
    cell = np.floor(points / np.float32(voxel_m)).astype(np.int64)
    cell -= cell.min(axis=0)
    extent = cell.max(axis=0) + 1
    key = (cell[:, 0] * extent[1] + cell[:, 1]) * extent[2] + cell[:, 2]
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    count = np.diff(np.append(starts, len(order)))
    is_retained = count >= min_points
    if min_share > 0.0:
        is_retained &= count >= min_share * _fullest_around(cell[order[starts]], count)
    if not is_retained.any():
        raise ValueError(f"no cell of {voxel_m:g} m holds {min_points} points")

    def means(values: np.ndarray) -> np.ndarray:
        sums = np.add.reduceat(values[order], starts, axis=0, dtype=np.float64)
        return sums[is_retained] / count[is_retained, None]

    mean = means(points)
    colours = means(np.concatenate([part.colours for part in parts]))
    towards = means(np.concatenate([_directions(part) for part in parts]).astype(np.float32))
    normals = fitted_normals(mean, towards, n_neighbours=normal_neighbours)
    return DenseCloud(
        points=mean, normals=normals, colours=np.rint(colours).clip(0, 255).astype(np.uint8)
    )


def _fullest_around(cell: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return the largest number of points in a cell within five to ten cells of each, (n,)."""
    block = cell // _BLOCK_CELLS + 1
    extent = block.max(axis=0) + 2
    steps = np.array([extent[1] * extent[2], extent[2], 1])
    keys, index = np.unique(block @ steps, return_inverse=True)
    own = np.zeros(len(keys), count.dtype)
    np.maximum.at(own, index, count)
    fullest = own.copy()
    for offset in product((-1, 0, 1), repeat=3):
        beside = keys + steps @ offset
        place = np.minimum(np.searchsorted(keys, beside), len(keys) - 1)
        fullest = np.maximum(fullest, np.where(keys[place] == beside, own[place], 0))
    return fullest[index]


def fitted_normals(points: np.ndarray, towards: np.ndarray, *, n_neighbours: int) -> np.ndarray:
    """Return unit normals (n, 3) of planes through the nearest points, to the side of `towards`."""
    tree = cKDTree(points)
    normals = np.empty((len(points), 3), np.float32)
    k = min(n_neighbours, len(points))
    for start in range(0, len(points), _CHUNK):
        part = slice(start, start + _CHUNK)
        _, index = tree.query(points[part], k=k, workers=-1)
        near = points[index.reshape(-1, k)]
        near = near - near.mean(axis=1, keepdims=True)
        _, axes = np.linalg.eigh(np.einsum("nki,nkj->nij", near, near))
        found = axes[:, :, 0]
        found[np.einsum("ni,ni->n", found, towards[part]) < 0.0] *= -1.0
        normals[part] = found
    return normals


def _directions(part: VisiblePoints) -> np.ndarray:
    away = part.towards - part.points
    return away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
