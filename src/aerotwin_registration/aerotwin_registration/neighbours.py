# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Nearest neighbours of a moving cloud, searched again only where the answer may have changed."""

import numpy as np
from scipy.spatial import cKDTree

# The search reaches a little beyond the radius, so that small moves need no new search.
_REACH = 1.25


class NearestTracker:
    """The nearest target point, within a radius, of every source point as the source moves.

    A point that has moved by m since its last search keeps its neighbour as long as
    2 m < d2 - d1, the lead of the nearest over the second nearest (triangle inequality). So the
    result equals a full search in every step, at a small part of its cost once steps are small.

    Parameters
    ----------
    tree : cKDTree
        Of the searched points, not empty.
    radius_m : float
        Neighbours farther than this do not count [m].
    """

    def __init__(self, tree: cKDTree, radius_m: float) -> None:
        self._tree = tree
        self._radius = radius_m
        self._reach = radius_m * _REACH
        self._anchor: np.ndarray | None = None
        self._lead = np.empty(0)
        self._index = np.empty(0, dtype=np.int64)

    def nearest(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (distance (n,), index (n,)); no neighbour within the radius gives (inf, -1)."""
        if self._anchor is None or len(self._anchor) != len(points):
            self._anchor = points.copy()
            self._lead = np.zeros(len(points))
            self._index = np.full(len(points), -1, dtype=np.int64)
            self._search(points, np.arange(len(points)))
        else:
            moved = np.linalg.norm(points - self._anchor, axis=1)
            self._search(points, np.flatnonzero(2.0 * moved >= self._lead))
        return self._distances(points)

    def _search(self, points: np.ndarray, which: np.ndarray) -> None:
        if len(which) == 0:
            return
        assert self._anchor is not None
        distance, index = self._tree.query(
            points[which], k=2, distance_upper_bound=self._reach, workers=-1
        )
        found = np.isfinite(distance[:, 0])
        first = np.where(found, distance[:, 0], self._radius)
        second = np.minimum(distance[:, 1], self._reach)
        self._anchor[which] = points[which]
        # Without a neighbour in reach none can come within the radius before a move of
        # reach - radius; the factor 2 of the test above is kept on the safe side.
        self._lead[which] = second - first
        self._index[which] = np.where(found, index[:, 0], -1)

    def _distances(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        index = self._index
        target = self._tree.data[np.maximum(index, 0)]
        distance = np.linalg.norm(points - target, axis=1)
        distance[index < 0] = np.inf
        too_far = distance > self._radius
        distance[too_far] = np.inf
        return distance, np.where(too_far, -1, index)
