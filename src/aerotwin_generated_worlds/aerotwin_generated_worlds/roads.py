# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Roads: centre lines of a specified length, their markings; free ground and free air."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial import cKDTree

from aerotwin_generated_worlds.site import Stroke
from aerotwin_generated_worlds.surfaces import ASPHALT, CONCRETE, WHITE

STEP_M = 0.5
DASH_M, GAP_M, LINE_M = 3.0, 4.5, 0.14
FREE_CELL_M = 0.5
RETAINED_M = 1.6
"""Nothing stands nearer to the way than this."""


@dataclass(frozen=True, kw_only=True)
class Road:
    """A smooth line on the ground.

    ``points_m`` (n, 2) are half a metre apart [m], and a loop ends where it begins; ``width_m`` is
    the width of the carriageway.
    """

    points_m: np.ndarray
    width_m: float

    @cached_property
    def s_m(self) -> np.ndarray:
        """Arc length at the points, (n,) [m]."""
        return np.append(0.0, np.cumsum(np.linalg.norm(np.diff(self.points_m, axis=0), axis=1)))

    @cached_property
    def left(self) -> np.ndarray:
        """Unit vectors to the left of the line, (n, 2)."""
        along = np.gradient(self.points_m, axis=0)
        if np.allclose(self.points_m[0], self.points_m[-1]):
            along[0] = along[-1] = self.points_m[1] - self.points_m[-2]
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        return np.column_stack([-along[:, 1], along[:, 0]])

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.points_m)

    def nearest(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return distance to the line and arc length of the nearest of its points [m]."""
        distance, index = self._tree.query(np.stack([x, y], axis=-1))
        return distance, self.s_m[index]

    def at(self, s: float, offset_m: float = 0.0) -> tuple[float, float, float]:
        """Return x, y [m] at an arc length, moved to the left, and the heading there [rad]."""
        s = s % self.s_m[-1]
        point = [np.interp(s, self.s_m, c) for c in self.points_m.T]
        left = np.array([np.interp(s, self.s_m, c) for c in self.left.T])
        left /= np.linalg.norm(left)
        x, y = point + offset_m * left
        return float(x), float(y), float(np.arctan2(-left[0], left[1]))

    def beside(self, offset_m: float, s0: float = 0.0, s1: float = np.inf) -> np.ndarray:
        """Return points of the line between two arc lengths, moved to the left [m]."""
        weight = (self.s_m >= s0) & (self.s_m <= s1)
        return self.points_m[weight] + offset_m * self.left[weight]

    def strokes(self, *, walkway_m: float = 0.0) -> list[Stroke]:
        """Return asphalt, edge lines, dashes in the middle and walkways on both sides."""
        half = self.width_m / 2.0
        strokes = [Stroke(material=ASPHALT, points_m=self.points_m, width_m=self.width_m)]
        strokes += [
            Stroke(material=WHITE, points_m=self.beside(side * (half - 0.25)), width_m=LINE_M)
            for side in (-1, 1)
        ]
        for start in np.arange(0.0, self.s_m[-1] - DASH_M, DASH_M + GAP_M):
            dash = self.beside(0.0, start, start + DASH_M)
            strokes.append(Stroke(material=WHITE, points_m=dash, width_m=LINE_M))
        if walkway_m > 0.0:
            strokes += [
                Stroke(
                    material=CONCRETE, points_m=self.beside(side * (half + 3.6)), width_m=walkway_m
                )
                for side in (-1, 1)
            ]
        return strokes

    def crossing(self, s: float) -> list[Stroke]:
        """Return the bars of a pedestrian crossing."""
        thresholds = []
        for offset in np.arange(0.6 - self.width_m / 2.0, self.width_m / 2.0 - 0.3, 1.0):
            threshold = self.beside(offset, s - 1.6, s + 1.6)
            thresholds.append(Stroke(material=WHITE, points_m=threshold, width_m=0.5))
        return thresholds


def loop_road(corners_m: np.ndarray, length_m: float, width_m: float) -> Road:
    """Return a closed smooth road near the corners (n, 2), scaled about its middle to a length."""
    turn = np.vstack([corners_m, corners_m[:1]])
    return _spline(turn, "periodic", lambda points, f: points * f, length_m, width_m)


def open_road(corners_m: np.ndarray, length_m: float, width_m: float) -> Road:
    """Return a smooth road through corners (n, 2), stretched along y to a length."""
    return _spline(corners_m, "natural", lambda points, f: points * [1.0, f], length_m, width_m)


def _spline(corners, ends: str, stretch, length_m: float, width_m: float) -> Road:
    chords = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1)))
    fine = CubicSpline(chords, corners, bc_type=ends)(np.linspace(0.0, chords[-1], 8001))

    def length(f):
        return np.linalg.norm(np.diff(stretch(fine, f), axis=0), axis=1).sum()

    low, high = 0.02, 50.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if length(middle) < length_m else (low, middle)
    line = stretch(fine, low)
    s = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1)))
    even = np.linspace(0.0, s[-1], round(length_m / STEP_M) + 1)
    points = np.column_stack([np.interp(even, s, c) for c in line.T])
    if ends == "periodic":
        points[-1] = points[0]
    return Road(points_m=points, width_m=width_m)


class FreeGround:
    """The unoccupied ground of a site, on a raster of half a metre."""

    def __init__(self, low_m: np.ndarray, high_m: np.ndarray) -> None:
        self._low = np.asarray(low_m, float)
        nx, ny = np.ceil((np.asarray(high_m) - low_m) / FREE_CELL_M).astype(int)
        self._taken = np.zeros((ny, nx), np.uint8)

    def _pixels(self, points: np.ndarray) -> np.ndarray:
        return np.round((np.asarray(points) - self._low) / FREE_CELL_M).astype(np.int32)

    def reserve_line(self, points: np.ndarray, width_m: float) -> None:
        """Reserve the ground along a line."""
        thickness = max(round(width_m / FREE_CELL_M), 1)
        cv2.polylines(self._taken, [self._pixels(points)], False, 1, thickness)

    def reserve(self, polygon: np.ndarray) -> bool:
        """Reserve a convex polygon if all of it is free and on the site; return whether it was."""
        pixels = self._pixels(polygon)
        rows, columns = self._taken.shape
        if pixels.min() < 0 or pixels[:, 0].max() >= columns or pixels[:, 1].max() >= rows:
            return False
        low, high = pixels.min(axis=0), pixels.max(axis=0) + 1
        window = self._taken[low[1] : high[1], low[0] : high[0]]
        requested = np.zeros_like(window)
        cv2.fillConvexPoly(requested, pixels - low, 1)
        if (window & requested).any():
            return False
        window |= requested
        return True

    def reserve_disc(self, x: float, y: float, radius_m: float) -> bool:
        """Reserve a disc if it is free; return whether it was."""
        angle = np.arange(12) * (np.pi / 6.0)
        ring = np.column_stack([np.cos(angle), np.sin(angle)])
        return self.reserve(radius_m * ring + [x, y])


@dataclass(frozen=True, kw_only=True)
class Airspace:
    """The path of a world's mission through corners in the air, kept free for all seeds.

    The land never reaches up to it; trees, poles and houses could, and are not built there.
    """

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


def level_pads(
    x_m, y_m, z_m: np.ndarray, pads: Sequence[tuple], reach_m: float = 7.0
) -> np.ndarray:
    """Return heights levelled on rectangles (x, y, yaw, length, width, z) [m, rad], with slopes."""
    z = z_m.copy()
    for x, y, yaw, length, width, level in pads:
        far = np.hypot(length, width) / 2.0 + reach_m
        columns = slice(*np.searchsorted(x_m, [x - far, x + far]))
        rows = slice(*np.searchsorted(y_m, [y - far, y + far]))
        dx, dy = np.meshgrid(x_m[columns] - x, y_m[rows] - y)
        along, across = dx * np.cos(yaw) + dy * np.sin(yaw), dy * np.cos(yaw) - dx * np.sin(yaw)
        beyond = np.hypot(
            np.maximum(np.abs(along) - length / 2.0, 0.0),
            np.maximum(np.abs(across) - width / 2.0, 0.0),
        )
        share = np.clip(1.0 - beyond / reach_m, 0.0, 1.0)
        share = share * share * (3.0 - 2.0 * share)
        z[rows, columns] += share * (level - z[rows, columns])
    return z
