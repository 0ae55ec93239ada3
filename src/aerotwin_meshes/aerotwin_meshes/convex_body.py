# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The convex hull of points, and what passes through it."""

import numpy as np
from scipy.spatial import ConvexHull


class ConvexBody:
    """The convex hull of points (n, 3), not all in one plane [m].

    `corners` (k, 3); `edges` (m, 2) of them; inside is where `normals` (n, 3) times x is at most
    `offsets` (n,).
    """

    def __init__(self, points: np.ndarray) -> None:
        hull = ConvexHull(points)
        self.corners = points[hull.vertices]
        place = np.full(len(points), -1)
        place[hull.vertices] = np.arange(len(hull.vertices))
        sides = place[hull.simplices][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        self.edges = np.unique(np.sort(sides, axis=1), axis=0)
        planes = np.unique(hull.equations.round(12), axis=0)
        self.normals, self.offsets = planes[:, :3], -planes[:, 3]

    def first_inside(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray | None:
        """Return the middle (3,) of the first segment's part inside, None if all stay outside.

        Segments from starts to ends (n, 3) are clipped by the planes (Cyrus and Beck 1978).
        """
        at_start = starts @ self.normals.T - self.offsets
        change = ends @ self.normals.T - self.offsets - at_start
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = -at_start / change
        enter = np.where(change < 0.0, crossing, -np.inf).max(axis=1)
        leave = np.where(change > 0.0, crossing, np.inf).min(axis=1)
        is_beside = ((change == 0.0) & (at_start > 0.0)).any(axis=1)
        low, high = np.maximum(enter, 0.0), np.minimum(leave, 1.0)
        met = np.flatnonzero((low <= high) & ~is_beside)
        if not len(met):
            return None
        k, share = met[0], 0.5 * (low + high)[met[0]]
        return starts[k] + share * (ends[k] - starts[k])
