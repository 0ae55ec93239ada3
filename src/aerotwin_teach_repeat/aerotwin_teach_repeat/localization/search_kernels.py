# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled search over shifts and headings: how many points of a scan fall on occupied cells."""

import math

import numpy as np
from numba import float32, float64, int64, types, uint8

from aerotwin_core.kernel_cache import njit


@njit(
    types.Tuple((float32[:, ::1], float64[:, ::1]))(float32[:, ::1], float64[:, ::1], float64[::1]),
    cache=True,
    nogil=True,
)
def moved_into(points, R_a_b, p_a_b):
    """Return points (n, 3) of a in frame b, and their box: least and greatest (2, 3)."""
    moved, box = np.empty((len(points), 3), np.float32), np.empty((2, 3))
    box[0], box[1] = np.inf, -np.inf
    for p in range(len(points)):
        x, y, z = points[p, 0] - p_a_b[0], points[p, 1] - p_a_b[1], points[p, 2] - p_a_b[2]
        for j in range(3):
            value = x * R_a_b[0, j] + y * R_a_b[1, j] + z * R_a_b[2, j]
            moved[p, j] = value
            box[0, j], box[1, j] = min(box[0, j], value), max(box[1, j], value)
    return moved, box


@njit(uint8[:, :, ::1](float32[:, ::1], float64[::1], float64, int64[::1]), cache=True, nogil=True)
def occupied_cells(points, low, per_metre, shape):
    """Return an array of cells, 1 where a point lies in it or in one of its six neighbours."""
    cells = np.zeros((shape[0], shape[1], shape[2]), np.uint8)
    for p in range(len(points)):
        i = int64(math.floor((points[p, 0] - low[0]) * per_metre))
        j = int64(math.floor((points[p, 1] - low[1]) * per_metre))
        k = int64(math.floor((points[p, 2] - low[2]) * per_metre))
        if 0 < i < shape[0] - 1 and 0 < j < shape[1] - 1 and 0 < k < shape[2] - 1:
            cells[i, j, k] = 1
            cells[i - 1, j, k] = cells[i + 1, j, k] = 1
            cells[i, j - 1, k] = cells[i, j + 1, k] = 1
            cells[i, j, k - 1] = cells[i, j, k + 1] = 1
    return cells


@njit(
    types.void(
        float32[:, ::1],
        float64[::1],
        float64[:, ::1],
        float64[::1],
        float64,
        uint8[:, :, ::1],
        int64[:, ::1],
    ),
    cache=True,
    nogil=True,
)
def count_hits(points, headings, shifts, low, per_metre, cells, hits):
    """Write the number of points on occupied cells (h, s) for headings (h,) and shifts (s, 2)."""
    moved = np.empty((len(points), 3))
    nx, ny, nz = cells.shape
    for h in range(len(headings)):
        c, s = math.cos(headings[h]), math.sin(headings[h])
        for p in range(len(points)):
            x, y = float64(points[p, 0]), float64(points[p, 1])
            moved[p, 0] = (c * x - s * y - low[0]) * per_metre
            moved[p, 1] = (s * x + c * y - low[1]) * per_metre
            moved[p, 2] = (points[p, 2] - low[2]) * per_metre
        for q in range(len(shifts)):
            dx, dy = shifts[q, 0] * per_metre, shifts[q, 1] * per_metre
            n = 0
            for p in range(len(points)):
                i, j = int64(math.floor(moved[p, 0] + dx)), int64(math.floor(moved[p, 1] + dy))
                k = int64(math.floor(moved[p, 2]))
                if 0 <= i < nx and 0 <= j < ny and 0 <= k < nz:
                    n += cells[i, j, k]
            hits[h, q] = n
