# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sunlight: one sun for all generated worlds, and the shade that objects cast.

The shade is a *ceiling*: a height for every point of the site, below which nothing is lit. It is
computed from the heights of all objects, swept along the sun's rays, and applies to the ground,
walls and trees alike.
"""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from scipy.ndimage import map_coordinates

from aerotwin_core.kernel_cache import njit
from aerotwin_core.threads import fill_bands

SUN_MAP = np.array([-0.55, -0.60, 0.58]) / math.sqrt(0.55**2 + 0.60**2 + 0.58**2)
"""Unit vector to the sun: from the south-west, 35 degrees high."""
AMBIENT, DIRECT = 0.60, 0.52
"""Light of the sky on a level surface, and of the sun on one that faces it."""
_NOTHING = -1e6


@dataclass(frozen=True, kw_only=True)
class Shade:
    """Sun and sky light on a site, on cells whose first one has its centre at ``low_m``.

    A point below ``ceiling_m`` (rows, columns) is in the shade; ``openness`` is the share of the
    sky's light that reaches the ground between the surrounding objects.
    """

    low_m: np.ndarray
    cell_m: float
    ceiling_m: np.ndarray
    openness: np.ndarray

    def _at(self, layer: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        row = (np.asarray(y) - self.low_m[1]) / self.cell_m
        column = (np.asarray(x) - self.low_m[0]) / self.cell_m
        return bilinear(layer, row, column)

    def ceiling(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Height below which points are in the shade [m]."""
        return self._at(self.ceiling_m, x, y)

    def lit(self, points: np.ndarray, *, soft_m: float = 0.35) -> np.ndarray:
        """Share of the sun (0 to 1) that reaches points (…, 3)."""
        ceiling = self.ceiling(points[..., 0], points[..., 1])
        return np.clip(0.5 + (points[..., 2] - ceiling) / (2.0 * soft_m), 0.0, 1.0)

    def open(self, points: np.ndarray) -> np.ndarray:
        """Share of the sky (0 to 1) seen from the ground below points (…, 2 or 3)."""
        return self._at(self.openness, points[..., 0], points[..., 1])


def bilinear(layer: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Return values of a grid at fractional indices, clamped to its border."""
    row, column = np.broadcast_arrays(row, column)
    places = [row.ravel(), column.ravel()]
    return map_coordinates(layer, places, order=1, mode="nearest").reshape(row.shape)


def cast_shade(low_m, high_m, solids, ground_z_m: np.ndarray, *, cell_m: float) -> Shade:
    """Return the shade of ``solids``, (vertices, triangles) each, on a site between two corners.

    ``ground_z_m`` are ground heights on any regular grid over the site, first row in the south;
    ``cell_m`` is the resolution of the shade.
    """
    low, high = np.asarray(low_m, float), np.asarray(high_m, float)
    nx, ny = (np.ceil((high - low) / cell_m)).astype(int) + 1
    ground = cv2.resize(ground_z_m.astype(np.float32), (int(nx), int(ny)))
    heights = ground.copy()
    for vertices, triangles in solids:
        _raise_heights(vertices, np.asarray(triangles), low, cell_m, heights)
    ceiling = np.full_like(heights, _NOTHING)
    reach = float(heights.max() - heights.min())
    fill_bands(_sweep, int(ny), heights, SUN_MAP, reach, cell_m, ceiling)
    above = np.clip(heights - ground, 0.0, 4.0)
    near = cv2.GaussianBlur(above, (0, 0), 1.2 / cell_m)
    near += cv2.GaussianBlur(above, (0, 0), 4.0 / cell_m)
    # Height steps shade a point by a third of the sky at most.
    openness = 1.0 - 0.35 * np.clip(near / 4.0, 0.0, 1.0)
    soft = cv2.GaussianBlur(ceiling, (0, 0), 0.6)
    return Shade(
        low_m=low,
        cell_m=cell_m,
        ceiling_m=np.where(ceiling > 0.5 * _NOTHING, soft, ceiling),
        openness=openness.astype(np.float32),
    )


@njit(nogil=True, cache=True)
def _raise_heights(vertices, triangles, low, cell, heights):
    """Lift the cells below triangles to the triangles' heights."""
    rows, columns = heights.shape
    for t in range(len(triangles)):
        a, b, c = vertices[triangles[t, 0]], vertices[triangles[t, 1]], vertices[triangles[t, 2]]
        ax, ay = (a[0] - low[0]) / cell, (a[1] - low[1]) / cell
        bx, by = (b[0] - low[0]) / cell, (b[1] - low[1]) / cell
        cx, cy = (c[0] - low[0]) / cell, (c[1] - low[1]) / cell
        j, i = int(ax + 0.5), int(ay + 0.5)
        if 0 <= i < rows and 0 <= j < columns:
            heights[i, j] = max(heights[i, j], a[2])
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if abs(area) < 1e-9:
            continue
        for i in range(max(math.ceil(min(ay, by, cy)), 0), min(int(max(ay, by, cy)) + 1, rows)):
            for j in range(
                max(math.ceil(min(ax, bx, cx)), 0), min(int(max(ax, bx, cx)) + 1, columns)
            ):
                u = ((bx - j) * (cy - i) - (cx - j) * (by - i)) / area
                v = ((cx - j) * (ay - i) - (ax - j) * (cy - i)) / area
                w = 1.0 - u - v
                if u >= 0.0 and v >= 0.0 and w >= 0.0:
                    heights[i, j] = max(heights[i, j], u * a[2] + v * b[2] + w * c[2])


@njit(nogil=True, cache=True)
def _sweep(row0, row1, heights, sun, reach, cell, ceiling):
    """Fill the ceilings of rows: the highest ray from objects towards the sun, less its fall."""
    rows, columns = heights.shape
    flat = math.hypot(sun[0], sun[1])
    dx, dy, fall = sun[0] / flat, sun[1] / flat, sun[2] / flat * cell
    n = int(reach / fall) + 1
    for i in range(row0, row1):
        for j in range(columns):
            best = -1e6
            # The first cells are the object's own: it does not shade itself.
            for k in range(2, n):
                r, c = int(i + k * dy + 0.5), int(j + k * dx + 0.5)
                if r < 0 or c < 0 or r >= rows or c >= columns:
                    break
                best = max(best, heights[r, c] - k * fall)
            ceiling[i, j] = best
