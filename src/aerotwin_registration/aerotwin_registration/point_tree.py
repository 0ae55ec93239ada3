# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Nearest-neighbour search in a cloud: a tree of boxes over points along a Z-curve."""

import numpy as np

from aerotwin_core.threads import run_ranges

_BITS = 21  # of each coordinate in a key on the curve; three make 63


class PointTree:
    """Points prepared for nearest-neighbour search.

    `points` (n, 3): the points (finite, any frame [m]) along a Z-curve: neighbours in the array are
    mostly neighbours in space. All indices refer to this array. `order` (n,): index of each of
    these points in the input.

    Exact in double precision, built in about the time of one sort, and repeatable to the bit on
    any number of threads.
    """

    def __init__(self, points: np.ndarray) -> None:
        self.order = curve_order(points)
        self.points = np.ascontiguousarray(points[self.order], dtype=np.float64)
        self.boxes, self.offsets = _levels(self.points)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Input of the kernels: points, boxes of all levels, and the offset of each level."""
        return self.points, self.boxes, self.offsets

    def nearest(
        self, queries: np.ndarray, k: int, *, limit_m: float = np.inf
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and indices (q, k) nearest to queries (q, 3); (inf, -1) if too far."""
        from aerotwin_registration.tree_kernels import nearest

        queries = np.ascontiguousarray(queries, dtype=np.float64)
        distances = np.empty((len(queries), k))
        indices = np.empty((len(queries), k), dtype=np.int64)
        run_ranges(nearest, len(queries), *self.arrays, queries, limit_m, distances, indices)
        return distances, indices


def curve_order(points: np.ndarray) -> np.ndarray:
    """Return the indices (n,) that walk points (n, 3) along a Z-curve (Morton 1966)."""
    from aerotwin_registration.tree_kernels import morton_keys

    points = np.ascontiguousarray(points, dtype=np.float64)
    if len(points) == 0:
        return np.empty(0, dtype=np.int64)
    lower = points.min(axis=0)
    extent = max(float((points.max(axis=0) - lower).max()), 1e-300)
    keys = np.empty(len(points), dtype=np.int64)
    run_ranges(morton_keys, len(points), points, lower, ((1 << _BITS) - 1) / extent, keys)
    return np.argsort(keys, kind="stable")


def _levels(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return boxes (b, 6) of all levels, leaves first, and where each level begins and ends."""
    from aerotwin_registration.tree_kernels import WIDTH

    boxes, offsets = [np.empty((0, 6))], [0]
    lower = upper = points
    while len(lower) > 1 or len(offsets) == 1:
        if len(lower) > 0:
            starts = np.arange(0, len(lower), WIDTH)
            lower = np.minimum.reduceat(lower, starts)
            upper = np.maximum.reduceat(upper, starts)
        boxes.append(np.hstack([lower, upper]))
        offsets.append(offsets[-1] + len(lower))
    return np.ascontiguousarray(np.vstack(boxes)), np.array(offsets, dtype=np.int64)
