# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A list of way-points that is edited: each above a point of the surface, in map [m]."""

from dataclasses import dataclass, field, replace

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_rendering import WorldQueries

MOST_POINTS = 100
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, kw_only=True)
class PlacedPoint:
    """A way-point.

    Attributes
    ----------
    p_map_ground : (3,) array
        What was clicked, or the ground below it [m].
    height_m : float
        How far above it lies.
    size_m : float
        Radius of its mark.
    """

    p_map_ground: FloatArray
    height_m: float
    size_m: float

    @property
    def p_map(self) -> FloatArray:
        """The way-point itself (3,) [m]."""
        return self.p_map_ground + self.height_m * _UP


@dataclass
class WaypointList:
    """The way-points in their order, and which one is chosen; None without any."""

    queries: WorldQueries
    points: list[PlacedPoint] = field(default_factory=list)
    chosen: int | None = None

    def add(self, p_map_ground: FloatArray, height_m: float, size_m: float) -> None:
        """Add one behind the chosen one, and choose it; beyond `MOST_POINTS` nothing is added."""
        if len(self.points) < MOST_POINTS:
            k = 0 if self.chosen is None else self.chosen + 1
            point = PlacedPoint(p_map_ground=p_map_ground, height_m=height_m, size_m=size_m)
            self.points.insert(k, point)
            self.chosen = k

    def place(self, p_map: FloatArray, size_m: float) -> None:
        """Add one at (3,) [m] as `add` does, above the ground below it.

        What is in the ground is raised onto it; where no ground is known it is its own.
        """
        height_m = float(self.queries.height_above_ground(p_map[None])[0])
        if not np.isfinite(height_m):
            height_m = 0.0
        self.add(p_map - height_m * _UP, max(height_m, 0.0), size_m)

    def choose(self, k: int) -> None:
        """Choose one by its index."""
        if 0 <= k < len(self.points):
            self.chosen = k

    def remove(self) -> None:
        """Remove the chosen one; the one before it is chosen then."""
        if self.chosen is not None:
            del self.points[self.chosen]
            self.chosen = max(self.chosen - 1, 0) if self.points else None

    def clear(self) -> None:
        """Remove all."""
        self.points, self.chosen = [], None

    def shift(self, n: int) -> None:
        """Move the chosen one by n places in the order, as far as there are any."""
        if self.chosen is not None:
            k = min(max(self.chosen + n, 0), len(self.points) - 1)
            self.points.insert(k, self.points.pop(self.chosen))
            self.chosen = k

    def set_height(self, height_m: float) -> None:
        """Set the height of the chosen one."""
        if self.chosen is not None:
            self.points[self.chosen] = replace(self.points[self.chosen], height_m=height_m)

    def move(self, k: int, p_map: FloatArray) -> None:
        """Move one to (3,) [m]; its height is that above the ground below then.

        Beside the world, or deep below it, where no ground is known, it is above the level of the
        ground that it had.
        """
        if not (0 <= k < len(self.points) and np.isfinite(p_map).all()):
            return
        height_m = float(self.queries.height_above_ground(p_map[None])[0])
        if not np.isfinite(height_m):
            height_m = float(p_map[2] - self.points[k].p_map_ground[2])
        ground = p_map - height_m * _UP
        self.points[k] = replace(self.points[k], p_map_ground=ground, height_m=height_m)

    def positions(self) -> FloatArray:
        """Return the way-points (n, 3) [m]."""
        return np.array([point.p_map for point in self.points]).reshape(-1, 3)
