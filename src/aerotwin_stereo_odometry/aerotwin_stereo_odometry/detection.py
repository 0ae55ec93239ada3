# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Shi-Tomasi corners, at most one per grid cell, so that they cover the whole image."""

import cv2
import numpy as np

from aerotwin_core.kernel_cache import njit

BLOCK_PX = 7  # window of the structure tensor
SOBEL_SCALE = 4.0  # OpenCV's normalised min-eigenvalue is this times mean squared gradient


@njit(cache=True, error_model="numpy")
def _best_per_cell(strength, occupied_uv, cell, border, minimum, distance):
    height, width = strength.shape
    rows = (height - 2 * border + cell - 1) // cell
    columns = (width - 2 * border + cell - 1) // cell
    best = np.zeros((rows, columns), dtype=np.float32)
    place = np.full((rows, columns, 2), -1, dtype=np.int32)
    blocked = np.zeros((height, width), dtype=np.uint8)
    for k in range(occupied_uv.shape[0]):
        u = int(np.rint(occupied_uv[k, 0]))
        v = int(np.rint(occupied_uv[k, 1]))
        for row in range(max(v - distance, 0), min(v + distance + 1, height)):
            for column in range(max(u - distance, 0), min(u + distance + 1, width)):
                blocked[row, column] = 1
    for row in range(border, height - border):
        for column in range(border, width - border):
            value = strength[row, column]
            if value < minimum or blocked[row, column]:
                continue
            i = (row - border) // cell
            j = (column - border) // cell
            if value <= best[i, j]:
                continue
            is_peak = True
            for a in range(-1, 2):
                for b in range(-1, 2):
                    if strength[row + a, column + b] > value:
                        is_peak = False
            if is_peak:
                best[i, j] = value
                place[i, j, 0] = column
                place[i, j, 1] = row
    found = np.empty((rows * columns, 2))
    n = 0
    for i in range(rows):
        for j in range(columns):
            if place[i, j, 0] < 0:
                continue
            is_free = True  # a stronger corner just across a cell border wins
            for a in range(max(i - 1, 0), min(i + 2, rows)):
                for b in range(max(j - 1, 0), min(j + 2, columns)):
                    if (a != i or b != j) and place[a, b, 0] >= 0:
                        du = abs(place[a, b, 0] - place[i, j, 0])
                        dv = abs(place[a, b, 1] - place[i, j, 1])
                        if max(du, dv) < distance // 2 and best[a, b] > best[i, j]:
                            is_free = False
            if is_free:
                found[n, 0] = place[i, j, 0]
                found[n, 1] = place[i, j, 1]
                n += 1
    return found[:n].copy()


def detect_corners(
    image, occupied_uv, *, cell_px: int, border_px: int, min_gradient_energy: float
) -> np.ndarray:
    """Return new whole-pixel corners (m, 2) in free grid cells, row by row of the grid [px].

    `image` (h, w) float32: smoothed image [DN]. `occupied_uv` (n, 2): existing features [px].
    `cell_px`, `border_px`: grid size, and distance to the image border [px]. `min_gradient_energy`:
    smallest mean squared gradient in the weakest direction [DN^2/px^2].

    Reference: Shi and Tomasi, Good Features to Track, CVPR 1994.
    """
    strength = cv2.cornerMinEigenVal(image, BLOCK_PX, ksize=3)
    occupied = np.ascontiguousarray(np.asarray(occupied_uv, dtype=np.float64).reshape(-1, 2))
    minimum = np.float32(SOBEL_SCALE * min_gradient_energy)
    return _best_per_cell(strength, occupied, cell_px, border_px, minimum, int(0.6 * cell_px))
