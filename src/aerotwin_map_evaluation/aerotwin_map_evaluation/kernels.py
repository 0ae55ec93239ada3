# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels on a tree of boxes over points, and on groups of points.

The tree is that of `aerotwin_registration.point_tree`: points along a Z-curve, `WIDTH` to a leaf,
`WIDTH` boxes to a box; the children of node i are nodes 8 i to 8 i + 7 of the level below.
"""

import math

import numpy as np

from aerotwin_core.kernel_cache import njit

WIDTH = 8
"""Of the tree: that of `aerotwin_registration.tree_kernels`."""
_STACK = WIDTH * 12
_OPTIONS = {"nogil": True, "cache": True}


@njit("void(i8, i8, f8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1], f8, f8, f8[::1])", **_OPTIONS)
def nearest_cubes(start, stop, points, boxes, offsets, queries, half, limit, distances):
    """Write the distance from queries (q, 3) to the nearest of equal axis-aligned cubes.

    Points, boxes and offsets are the tree of the cubes' centres; `half` is half of their edge.
    Distances beyond `limit` are infinite. Fastest where consecutive queries are near each other:
    each search starts from the last answer.
    """
    nodes, levels = np.empty(_STACK, np.int64), np.empty(_STACK, np.int64)
    gaps = np.empty(_STACK)
    last = -1
    for q in range(start, stop):
        x, y, z = queries[q, 0], queries[q, 1], queries[q, 2]
        best = limit * limit
        if last >= 0:
            dx = max(abs(points[last, 0] - x) - half, 0.0)
            dy = max(abs(points[last, 1] - y) - half, 0.0)
            dz = max(abs(points[last, 2] - z) - half, 0.0)
            best = min(best, dx * dx + dy * dy + dz * dz)
        found = -1
        n = 1
        nodes[0], levels[0], gaps[0] = 0, len(offsets) - 1, 0.0
        while n > 0:
            n -= 1
            if gaps[n] > best or (best == 0.0 and found >= 0):
                continue
            level, first = levels[n], nodes[n] * WIDTH
            if level == 0:
                for i in range(first, min(first + WIDTH, len(points))):
                    dx = max(abs(points[i, 0] - x) - half, 0.0)
                    dy = max(abs(points[i, 1] - y) - half, 0.0)
                    dz = max(abs(points[i, 2] - z) - half, 0.0)
                    d = dx * dx + dy * dy + dz * dz
                    if d < best or (d == best and found < 0):
                        best, found = d, i
                continue
            base = offsets[level - 1]
            lowest = n
            for i in range(first, min(first + WIDTH, offsets[level] - base)):
                b = base + i
                dx = max(boxes[b, 0] - half - x, x - boxes[b, 3] - half, 0.0)
                dy = max(boxes[b, 1] - half - y, y - boxes[b, 4] - half, 0.0)
                dz = max(boxes[b, 2] - half - z, z - boxes[b, 5] - half, 0.0)
                d = dx * dx + dy * dy + dz * dz
                if d > best:
                    continue
                j = n
                while j > lowest and gaps[j - 1] < d:  # the nearest box is on top of the stack
                    nodes[j], levels[j], gaps[j] = nodes[j - 1], levels[j - 1], gaps[j - 1]
                    j -= 1
                nodes[j], levels[j], gaps[j] = i, level - 1, d
                n += 1
        distances[q] = math.sqrt(best) if found >= 0 else math.inf
        if found >= 0:
            last = found


@njit("void(i8, i8, f8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1], f8, f8[:, ::1])", **_OPTIONS)
def moments_within(start, stop, points, boxes, offsets, queries, radius, moments):
    """Write count, sums and sums of products of the offsets of all points within a radius.

    Columns of `moments` (q, 10): count; sums of x, y, z; sums of xx, yy, zz, xy, xz, yz; all
    relative to the query (q, 3).
    """
    nodes, levels = np.empty(_STACK, np.int64), np.empty(_STACK, np.int64)
    limit = radius * radius
    for q in range(start, stop):
        x, y, z = queries[q, 0], queries[q, 1], queries[q, 2]
        count = sx = sy = sz = 0.0
        xx = yy = zz = xy = xz = yz = 0.0
        n = 1
        nodes[0], levels[0] = 0, len(offsets) - 1
        while n > 0:
            n -= 1
            level, first = levels[n], nodes[n] * WIDTH
            if level > 0:
                base = offsets[level - 1]
                for i in range(first, min(first + WIDTH, offsets[level] - base)):
                    b = base + i
                    dx = max(boxes[b, 0] - x, x - boxes[b, 3], 0.0)
                    dy = max(boxes[b, 1] - y, y - boxes[b, 4], 0.0)
                    dz = max(boxes[b, 2] - z, z - boxes[b, 5], 0.0)
                    if dx * dx + dy * dy + dz * dz <= limit:
                        nodes[n], levels[n] = i, level - 1
                        n += 1
                continue
            for i in range(first, min(first + WIDTH, len(points))):
                dx, dy, dz = points[i, 0] - x, points[i, 1] - y, points[i, 2] - z
                if dx * dx + dy * dy + dz * dz <= limit:
                    count += 1.0
                    sx, sy, sz = sx + dx, sy + dy, sz + dz
                    xx, yy, zz = xx + dx * dx, yy + dy * dy, zz + dz * dz
                    xy, xz, yz = xy + dx * dy, xz + dx * dz, yz + dy * dz
        moments[q] = (count, sx, sy, sz, xx, yy, zz, xy, xz, yz)


@njit("void(i8, i8, f8[:, ::1], f8, f8[:, ::1])", **_OPTIONS)
def spreads(start, stop, moments, n_least, eigenvalues):
    """Write the eigenvalues (q, 3) of the covariance (by n - 1) of each moment row, ascending.

    Rows with fewer than `n_least` points are not changed.
    """
    covariance = np.empty((3, 3))
    for q in range(start, stop):
        row = moments[q]
        n = row[0]
        if n < n_least:
            continue
        k = 7
        for a in range(3):
            covariance[a, a] = (row[4 + a] - row[1 + a] * row[1 + a] / n) / (n - 1.0)
            for b in range(a + 1, 3):
                covariance[a, b] = (row[k] - row[1 + a] * row[1 + b] / n) / (n - 1.0)
                covariance[b, a] = covariance[a, b]
                k += 1
        eigenvalues[q] = np.linalg.eigvalsh(covariance)


@njit("void(i8, i8, f8[:, ::1], i8[::1], i8[::1], f8[:, ::1], f8[:, :, ::1])", **_OPTIONS)
def gaussians(start, stop, points, order, starts, means, covariances):
    """Write mean and covariance (divided by n) of the points (n, 3) of each group of a range.

    `order` (n,) lists the indices of points, group after group; `starts` (g + 1,) is where each
    group begins in it.
    """
    for g in range(start, stop):
        n = starts[g + 1] - starts[g]
        mean = np.zeros(3)
        for i in range(starts[g], starts[g + 1]):
            for a in range(3):
                mean[a] += points[order[i], a]
        mean /= n
        means[g] = mean
        for i in range(starts[g], starts[g + 1]):
            for a in range(3):
                for b in range(a + 1):
                    covariances[g, a, b] += (points[order[i], a] - mean[a]) * (
                        points[order[i], b] - mean[b]
                    )
        for a in range(3):
            for b in range(a + 1):
                covariances[g, a, b] /= n
                covariances[g, b, a] = covariances[g, a, b]
