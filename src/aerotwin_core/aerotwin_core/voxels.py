# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Down-sampling of clouds on a regular grid."""

import numpy as np

# Three indices share one 64-bit key: 21 bits each.
_INDEX_BITS = 21


def voxel_downsample(points: np.ndarray, voxel_m: float) -> np.ndarray:
    """Return the mean of the points in each occupied voxel, (m, 3), sorted by voxel.

    Points are (n, 3) in any frame; the grid is aligned to multiples of `voxel_m` [m], so that the
    result does not depend on which other points are present.
    """
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"points must have shape (n, 3), got {points.shape}")
    if not voxel_m > 0.0:
        raise ValueError(f"voxel_m must be positive, got {voxel_m}")
    if len(points) == 0:
        return points.copy()
    keys = voxel_keys(points, voxel_m)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=keys[order[0]] - 1))
    counts = np.diff(starts, append=len(keys))
    return np.add.reduceat(points[order], starts, axis=0) / counts[:, None]


def voxel_keys(points: np.ndarray, voxel_m: float) -> np.ndarray:
    """Return one int64 per point (n,), equal for points of the same voxel, in their order."""
    index = np.floor(points / voxel_m)
    index -= index.min(axis=0)
    if index.max() >= 1 << _INDEX_BITS:  # a few points lie far off: slower, in the same order
        return np.unique(index, axis=0, return_inverse=True)[1].reshape(-1)
    i, j, k = index.astype(np.int64).T
    return (i << (2 * _INDEX_BITS)) | (j << _INDEX_BITS) | k
