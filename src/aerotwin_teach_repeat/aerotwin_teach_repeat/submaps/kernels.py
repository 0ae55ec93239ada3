# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels for submaps: cutting a cylinder out of a grid, and a depth buffer."""

import math

from numba import boolean, float32, float64, int64, void

from aerotwin_core.kernel_cache import njit


@njit(
    int64(
        float64[:, ::1], float32[:, ::1], int64[:, ::1], float64[::1], float64, float64[::1],
        float64[:, ::1], float64[::1], float64, float32[:, ::1], float32[:, ::1],
    ),
    cache=True, nogil=True,
)  # fmt: skip
def crop_cylinder(
    points, normals, starts, low, cell, centre, T, room, reach, out_points, out_normals
):
    """Write the points and normals of a cylinder, moved by T (3, 4), and return their number.

    `room` is its radius, lowest and highest z. Only the columns within `reach` of the centre are
    visited. With empty outputs nothing is written: the call only counts.
    """
    ny, nx = starts.shape[0], starts.shape[1] - 1
    is_counting = len(out_points) == 0
    squared = room[0] * room[0]
    j_first = max(math.floor((centre[1] - reach - low[1]) / cell), 0)
    j_last = min(math.floor((centre[1] + reach - low[1]) / cell), ny - 1)
    n = 0
    for j in range(j_first, j_last + 1):
        # Half of the chord of the circle at the row's nearest y.
        y = min(max(centre[1], low[1] + j * cell), low[1] + (j + 1) * cell)
        half = math.sqrt(max(reach * reach - (y - centre[1]) ** 2, 0.0))
        i_first = max(math.floor((centre[0] - half - low[0]) / cell), 0)
        i_last = min(math.floor((centre[0] + half - low[0]) / cell), nx - 1)
        if i_first > i_last:
            continue
        for p in range(starts[j, i_first], starts[j, i_last + 1]):
            a, b, c = points[p, 0], points[p, 1], points[p, 2]
            z = T[2, 0] * a + T[2, 1] * b + T[2, 2] * c + T[2, 3]
            if z < room[1] or z > room[2]:
                continue
            x = T[0, 0] * a + T[0, 1] * b + T[0, 2] * c + T[0, 3]
            y = T[1, 0] * a + T[1, 1] * b + T[1, 2] * c + T[1, 3]
            if x * x + y * y > squared:
                continue
            if not is_counting:
                out_points[n, 0], out_points[n, 1], out_points[n, 2] = x, y, z
                a, b, c = normals[p, 0], normals[p, 1], normals[p, 2]
                for k in range(3):
                    out_normals[n, k] = T[k, 0] * a + T[k, 1] * b + T[k, 2] * c
            n += 1
    return n


@njit(
    void(float32[:, ::1], float32[:, ::1], float64, float64, float64, float64[:, ::1]),
    cache=True, nogil=True,
)  # fmt: skip
def splat_discs(points, normals, height, radius, bin_, depth):
    """Write the range of the nearest disc into each cell of a depth buffer (elevation, azimuth).

    Every point stands for a disc across its normal. Its extent along azimuth and elevation is the
    disc's, seen from `height` over the origin: ground seen at a flat angle is thin.
    """
    n_up, n_round = depth.shape
    for p in range(len(points)):
        x, y, z = float(points[p, 0]), float(points[p, 1]), points[p, 2] - height
        across = math.hypot(x, y)
        r = math.hypot(across, z)
        if across < 1e-6 or r < 2.0 * radius:
            continue
        azimuth, elevation = math.atan2(y, x) + math.pi, math.atan2(z, across) + math.pi / 2.0
        ca, sa, ce, se = x / across, y / across, across / r, z / r
        a, b, c = normals[p, 0], normals[p, 1], normals[p, 2]
        along = -sa * a + ca * b
        upward = -se * ca * a - se * sa * b + ce * c
        half_round = radius * math.sqrt(max(1.0 - along * along, 0.0)) / across
        half_up = radius * math.sqrt(max(1.0 - upward * upward, 0.0)) / r
        i_first = max(int((elevation - half_up) / bin_), 0)
        i_last = min(int((elevation + half_up) / bin_), n_up - 1)
        j_first = math.floor((azimuth - half_round) / bin_)
        j_last = min(math.floor((azimuth + half_round) / bin_), j_first + n_round - 1)
        for i in range(i_first, i_last + 1):
            for j in range(j_first, j_last + 1):
                if r < depth[i, j % n_round]:
                    depth[i, j % n_round] = r


@njit(
    void(
        float32[:, ::1], float32[:, ::1], float64, float64, float64, float64[:, ::1], boolean[::1]
    ),
    cache=True, nogil=True,
)  # fmt: skip
def find_visible_discs(points, normals, height, radius, bin_, depth, is_visible):
    """Write which points are not occluded.

    A point may lie behind its cell's depth by a voxel, and by its own surface's gain in range over
    one cell: much at a flat angle.
    """
    n_up, n_round = depth.shape
    for p in range(len(points)):
        x, y, z = float(points[p, 0]), float(points[p, 1]), points[p, 2] - height
        across = math.hypot(x, y)
        r = math.hypot(across, z)
        if across < 1e-6 or r < 2.0 * radius:
            is_visible[p] = True
            continue
        azimuth, elevation = math.atan2(y, x) + math.pi, math.atan2(z, across) + math.pi / 2.0
        facing = abs(normals[p, 0] * x + normals[p, 1] * y + normals[p, 2] * z) / r
        own = r * bin_ / max(facing, 0.02)
        nearest = depth[min(int(elevation / bin_), n_up - 1), int(azimuth / bin_) % n_round]
        is_visible[p] = r <= nearest + 2.0 * radius + own
