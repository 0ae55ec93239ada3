# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled look-up of surfaces straight above and below a point: exact, microseconds."""

import math

import numpy as np

from aerotwin_core.kernel_cache import njit

STEEPEST = math.tan(math.radians(60.0))
"""Slope from a position to the points around it above which it stands on a rim or at a wall."""


@njit(cache=True)
def _cell_range(a, b, c, low, cell, n):
    first = math.floor((min(a, b, c) - low) / cell)
    last = math.floor((max(a, b, c) - low) / cell)
    return min(max(first, 0), n - 1), min(max(last, 0), n - 1)


@njit(cache=True)
def build_columns(vertices, triangles, low_x, low_y, cell, nx, ny):
    """Return, for a grid of square columns, which triangles reach into each: (starts, indices)."""
    start = np.zeros(nx * ny + 1, np.int64)
    for fill in range(2):
        if fill == 1:
            start[1:] = np.cumsum(start[1:])
            position = start[:-1].copy()
            index = np.empty(start[-1], np.int32)
        for t in range(len(triangles)):
            a, b, c = (
                vertices[triangles[t, 0]],
                vertices[triangles[t, 1]],
                vertices[triangles[t, 2]],
            )
            i0, i1 = _cell_range(a[0], b[0], c[0], low_x, cell, nx)
            j0, j1 = _cell_range(a[1], b[1], c[1], low_y, cell, ny)
            for j in range(j0, j1 + 1):
                for i in range(i0, i1 + 1):
                    if fill == 0:
                        start[1 + j * nx + i] += 1
                    else:
                        index[position[j * nx + i]] = t
                        position[j * nx + i] += 1
    return start, index


@njit(cache=True)
def highest_below(x, y, z_limit, vertices, triangles, start, index, grid):
    """Return (height, triangle) of the highest surface at x, y that is not above z_limit.

    ``grid``: low_x, low_y, cell, nx, ny. No surface: (minus infinity, -1).
    """
    nx, ny = int(grid[3]), int(grid[4])
    i = math.floor((x - grid[0]) / grid[2])
    j = math.floor((y - grid[1]) / grid[2])
    best, owner = -np.inf, -1
    if i < 0 or j < 0 or i >= nx or j >= ny:
        return best, owner
    for k in range(start[j * nx + i], start[j * nx + i + 1]):
        t = index[k]
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay = vertices[a, 0] - x, vertices[a, 1] - y
        bx, by = vertices[b, 0] - x, vertices[b, 1] - y
        cx, cy = vertices[c, 0] - x, vertices[c, 1] - y
        wa, wb, wc = bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx
        area = wa + wb + wc
        if area == 0.0:
            continue
        if area < 0.0:
            wa, wb, wc, area = -wa, -wb, -wc, -area
        if wa < 0.0 or wb < 0.0 or wc < 0.0:
            continue
        z = (wa * vertices[a, 2] + wb * vertices[b, 2] + wc * vertices[c, 2]) / area
        if best < z <= z_limit:
            best, owner = z, t
    return best, owner


@njit(cache=True)
def heights_below(points, vertices, triangles, start, index, grid):
    """Return the height of the highest surface that is not above each point (n, 3)."""
    out = np.empty(len(points))
    for i in range(len(points)):
        out[i], _ = highest_below(
            points[i, 0], points[i, 1], points[i, 2], vertices, triangles, start, index, grid
        )
    return out


@njit(cache=True)
def plane_below(x, y, z_limit, foot, vertices, triangles, start, index, grid):
    """Return height and unit normal of the ground under x, y.

    The normal is that of the plane through the surface at four points ``foot`` away, like the feet
    of a landing gear; where one of them has no surface, or one more than `STEEPEST` off, that of
    the triangle itself. Nothing can stand on what is steeper, and its plane would cut through the
    air beside it (a tree's side): there the normal is up.
    """
    z, t = highest_below(x, y, z_limit, vertices, triangles, start, index, grid)
    if t < 0:
        return z, 0.0, 0.0, 1.0
    east, _ = highest_below(x + foot, y, z_limit, vertices, triangles, start, index, grid)
    west, _ = highest_below(x - foot, y, z_limit, vertices, triangles, start, index, grid)
    north, _ = highest_below(x, y + foot, z_limit, vertices, triangles, start, index, grid)
    south, _ = highest_below(x, y - foot, z_limit, vertices, triangles, start, index, grid)
    drop = z - min(min(east, west), min(north, south))
    rise = max(max(east, west), max(north, south)) - z
    if max(drop, rise) <= STEEPEST * foot:
        nx, ny, nz = (west - east) / (2.0 * foot), (south - north) / (2.0 * foot), 1.0
    else:
        a, b, c = vertices[triangles[t, 0]], vertices[triangles[t, 1]], vertices[triangles[t, 2]]
        nx = (b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1])
        ny = (b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2])
        nz = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if nz < 0.0:
            nx, ny, nz = -nx, -ny, -nz
    if math.sqrt(nx * nx + ny * ny) > STEEPEST * nz:
        return z, 0.0, 0.0, 1.0
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    return z, nx / length, ny / length, nz / length
