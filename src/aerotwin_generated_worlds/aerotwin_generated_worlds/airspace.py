# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Airspace: the path of a world's mission, kept free of tall objects whatever the seed.

Missions are in the map's coordinates and are flown in the worlds of all seeds. The land never
reaches up to them; trees, poles and houses could, and are not built there.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

STEP_M = 0.5
RETAINED_M = 1.6
"""Nothing stands nearer to the way than this."""


@dataclass(frozen=True, kw_only=True)
class Airspace:
    """A path through the air; ``points_m`` are its corners [m]."""

    points_m: tuple[tuple[float, float, float], ...]

    @cached_property
    def _way(self) -> np.ndarray:
        """Points (n, 3) of the path, close to one another."""
        corners = np.array(self.points_m)
        lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
        s = np.append(0.0, np.cumsum(lengths))
        fine = np.linspace(0.0, s[-1], int(np.ceil(s[-1] / STEP_M)) + 1)
        return np.column_stack([np.interp(fine, s, c) for c in corners.T])

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self._way[:, :2])

    def is_free(self, x: float, y: float, radius_m: float, top_m: float) -> bool:
        """Whether the path passes beside or above an upright cylinder, with clearance."""
        near = self._tree.query_ball_point([x, y], radius_m + RETAINED_M)
        return bool((self._way[near, 2] > top_m + RETAINED_M).all())
