# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels of `voxelise`.

The test is the separating-axis theorem for a triangle and a box (Akenine-Möller 2001): the three
box axes, the triangle's normal, and the nine cross products of edges.
"""

import numpy as np
from numba import njit

# Cells are half open: what only touches a cell's upper face belongs to the next one. So a plane
# on a grid plane fills one layer, not two. The upper face is drawn in by this share of a cell.
UPPER_FACE = 1e-9


@njit("void(f8[:, ::1], f8[:, ::1])", cache=True)
def _separating_axes(edges, axes):
    """Fill axes (10, 3): the normal and the cross products of edges with the box axes."""
    axes[0, 0] = edges[0, 1] * edges[1, 2] - edges[0, 2] * edges[1, 1]
    axes[0, 1] = edges[0, 2] * edges[1, 0] - edges[0, 0] * edges[1, 2]
    axes[0, 2] = edges[0, 0] * edges[1, 1] - edges[0, 1] * edges[1, 0]
    for e in range(3):
        x, y, z = edges[e, 0], edges[e, 1], edges[e, 2]
        axes[1 + 3 * e, 0], axes[1 + 3 * e, 1], axes[1 + 3 * e, 2] = 0.0, -z, y
        axes[2 + 3 * e, 0], axes[2 + 3 * e, 1], axes[2 + 3 * e, 2] = z, 0.0, -x
        axes[3 + 3 * e, 0], axes[3 + 3 * e, 1], axes[3 + 3 * e, 2] = -y, x, 0.0


@njit("b1(f8[:, ::1], f8[:, ::1], i8, i8, i8)", cache=True)
def _meets(v, axes, i, j, k):
    """Whether the triangle v meets the half-open unit cell (i, j, k)."""
    half = 0.5 * (1.0 - UPPER_FACE)
    cx, cy, cz = i + half, j + half, k + half
    for a in range(3):
        corner = i if a == 0 else (j if a == 1 else k)
        if min(v[0, a], v[1, a], v[2, a]) > corner + 2.0 * half:
            return False
        if max(v[0, a], v[1, a], v[2, a]) < corner:
            return False
    for n in range(10):
        ax, ay, az = axes[n, 0], axes[n, 1], axes[n, 2]
        reach = half * (abs(ax) + abs(ay) + abs(az))
        p0 = ax * (v[0, 0] - cx) + ay * (v[0, 1] - cy) + az * (v[0, 2] - cz)
        p1 = ax * (v[1, 0] - cx) + ay * (v[1, 1] - cy) + az * (v[1, 2] - cz)
        p2 = ax * (v[2, 0] - cx) + ay * (v[2, 1] - cy) + az * (v[2, 2] - cz)
        if min(p0, p1, p2) > reach or max(p0, p1, p2) < -reach:
            return False
    return True


@njit("void(f8[:, ::1], i8[:, ::1], u1[:, :, ::1])", cache=True)
def mark(vertices, triangles, occupied):
    """Set the cells that a triangle meets; vertices are in cells from the grid's origin."""
    dims = occupied.shape
    v = np.empty((3, 3))
    edges = np.empty((3, 3))
    axes = np.empty((10, 3))
    low = np.empty(3, np.int64)
    high = np.empty(3, np.int64)
    for t in range(len(triangles)):
        inside = True
        for a in range(3):
            for c in range(3):
                v[c, a] = vertices[triangles[t, c], a]
            lowest = min(v[0, a], v[1, a], v[2, a])
            highest = max(v[0, a], v[1, a], v[2, a])
            if highest < 0.0 or lowest >= dims[a]:
                inside = False
                break
            low[a] = max(0, int(np.floor(lowest)))
            high[a] = min(dims[a] - 1, int(np.floor(highest)))
        if not inside:
            continue
        for a in range(3):
            edges[0, a] = v[1, a] - v[0, a]
            edges[1, a] = v[2, a] - v[1, a]
            edges[2, a] = v[0, a] - v[2, a]
        _separating_axes(edges, axes)
        for i in range(low[0], high[0] + 1):
            for j in range(low[1], high[1] + 1):
                for k in range(low[2], high[2] + 1):
                    if occupied[i, j, k] == 0 and _meets(v, axes, i, j, k):
                        occupied[i, j, k] = 1
