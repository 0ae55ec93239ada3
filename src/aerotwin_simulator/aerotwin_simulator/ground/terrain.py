# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The ground of a world at the wheels: below trees and roofs, over kerbs."""

import numpy as np

from aerotwin_rendering import WorldQueries

CARRY_M = 0.25
"""Distance between two queries of the ground while a vehicle is carried along it."""


class TerrainBelow:
    """Height of the ground at x, y: the highest surface at most 0.5 m above the last answer.

    Higher surfaces are no ground to drive on to, but a roof or a tree's crown. The height `z_m` at
    the start is needed to 0.5 m.
    """

    def __init__(self, queries: WorldQueries, z_m: float) -> None:
        self._queries = queries
        self._z = float(z_m)

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the heights (n,) [m] at x, y (n,) [m]; minus infinity outside the world."""
        points = np.empty((len(x), 3))
        points[:, 0], points[:, 1], points[:, 2] = x, y, self._z
        heights = points[:, 2] - self._queries.height_above_ground(points)
        mean = float(heights.mean())
        if np.isfinite(mean):
            self._z = mean
        return heights

    def carried(self, start: np.ndarray, end: np.ndarray) -> "TerrainBelow":
        """Return the ground at an end (2,) that is reached along the ground from a start (2,)."""
        terrain = TerrainBelow(self._queries, self._z)
        n = max(int(np.ceil(np.linalg.norm(end - start) / CARRY_M)), 1)
        for share in np.arange(n + 1) / n:
            place = start + share * (end - start)
            terrain(place[:1], place[1:])
        return terrain
