# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled nearest-neighbour search in a tree of boxes, and pairs of a moving cloud.

Points are ordered along a Z-curve, eight to a leaf; eight consecutive boxes have one parent box.
The tree needs no pointers: the children of node i are nodes 8 i to 8 i + 7 of the level below.
"""

import math

import numpy as np
from numba import float64, int64, uint64

from aerotwin_core.kernel_cache import njit

WIDTH = 8  # points of a leaf, and children of a box
_STACK = WIDTH * 12
_TREE = (float64[:, ::1], float64[:, ::1], int64[::1])
N_NEAR = 6  # neighbours that `tracked_pairs` stores of a point
N_SUMS = 19  # number of sums of `tracked_pairs`
NONE, HUBER, CAUCHY, TUKEY = range(4)  # kinds of robust weight
_OPTIONS = {"cache": True, "nogil": True}


@njit("u8(u8)", **_OPTIONS)
def _spread(x):
    """Return the lower 21 bits of x with two zeros after each (Morton 1966)."""
    x = (x | (x << uint64(32))) & uint64(0x1F00000000FFFF)
    x = (x | (x << uint64(16))) & uint64(0x1F0000FF0000FF)
    x = (x | (x << uint64(8))) & uint64(0x100F00F00F00F00F)
    x = (x | (x << uint64(4))) & uint64(0x10C30C30C30C30C3)
    return (x | (x << uint64(2))) & uint64(0x1249249249249249)


@njit("void(i8, i8, f8[:, ::1], f8[::1], f8, i8[::1])", **_OPTIONS)
def morton_keys(start, stop, points, lower, per_metre, keys):
    """Write the Z-curve key of each point of a range."""
    for i in range(start, stop):
        x = _spread(uint64((points[i, 0] - lower[0]) * per_metre))
        y = _spread(uint64((points[i, 1] - lower[1]) * per_metre))
        z = _spread(uint64((points[i, 2] - lower[2]) * per_metre))
        keys[i] = int64((x << uint64(2)) | (y << uint64(1)) | z)


@njit(**_OPTIONS)
def _nearest(points, boxes, offsets, x, y, z, squared, found, nodes, levels, gaps):
    """Sort the nearest points into `squared` and `found` (k,), which initially hold the limits.

    Only points nearer than `squared` are accepted: fill it with a bound, and `found` with -1, to
    search within a radius.
    """
    k = len(squared)
    n_levels = len(offsets) - 1
    nodes[0], levels[0], gaps[0] = 0, n_levels, 0.0
    n = 1
    while n > 0:
        n -= 1
        if gaps[n] >= squared[k - 1]:
            continue
        level, first = levels[n], nodes[n] * WIDTH
        if level == 0:
            for i in range(first, min(first + WIDTH, len(points))):
                dx, dy, dz = points[i, 0] - x, points[i, 1] - y, points[i, 2] - z
                d = dx * dx + dy * dy + dz * dz
                if d < squared[k - 1]:
                    j = k - 1
                    while j > 0 and squared[j - 1] > d:
                        squared[j], found[j] = squared[j - 1], found[j - 1]
                        j -= 1
                    squared[j], found[j] = d, i
            continue
        base = offsets[level - 1]
        lowest = n
        for i in range(first, min(first + WIDTH, offsets[level] - base)):
            b = base + i
            dx = max(boxes[b, 0] - x, x - boxes[b, 3], 0.0)
            dy = max(boxes[b, 1] - y, y - boxes[b, 4], 0.0)
            dz = max(boxes[b, 2] - z, z - boxes[b, 5], 0.0)
            d = dx * dx + dy * dy + dz * dz
            if d >= squared[k - 1]:
                continue
            j = n
            while j > lowest and gaps[j - 1] < d:  # the nearest box comes to the top
                nodes[j], levels[j], gaps[j] = nodes[j - 1], levels[j - 1], gaps[j - 1]
                j -= 1
            nodes[j], levels[j], gaps[j] = i, level - 1, d
            n += 1


@njit(**_OPTIONS)
def _nearest_of(points, x, y, z, known):
    """Return the nearest of some points by index, and its squared distance; -1 is no point."""
    best, squared = int64(-1), math.inf
    for i in known:
        if i < 0:
            break
        dx, dy, dz = points[i, 0] - x, points[i, 1] - y, points[i, 2] - z
        d = dx * dx + dy * dy + dz * dz
        if d < squared:
            best, squared = i, d
    return best, squared


@njit(**_OPTIONS)
def _bound(points, x, y, z, known, limit):
    """Return a squared distance within which as many points lie as `known` (k,) lists."""
    bound = 0.0
    for j in range(len(known)):
        i = known[j]
        if i < 0:
            return limit
        dx, dy, dz = points[i, 0] - x, points[i, 1] - y, points[i, 2] - z
        bound = max(bound, dx * dx + dy * dy + dz * dz)
    # The known points must be found again, though the bound is their own distance.
    return min(limit, bound * (1.0 + 1e-12) + 1e-300)


@njit(
    "void(i8, i8, f8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1], f8, f8[:, ::1], i8[:, ::1])",
    **_OPTIONS,
)
def nearest(start, stop, points, boxes, offsets, queries, limit, distances, indices):
    """Write distances and indices (q, k) of the nearest points to each query of a range.

    Nearest first; beyond `limit` (inf, -1). Queries that are close to their predecessor in space
    are fastest: each starts from the result of the one before.
    """
    k = indices.shape[1]
    nodes, levels, gaps = np.empty(_STACK, int64), np.empty(_STACK, int64), np.empty(_STACK)
    squared, found = np.empty(k), np.full(k, -1)
    for q in range(start, stop):
        x, y, z = queries[q, 0], queries[q, 1], queries[q, 2]
        squared[:] = _bound(points, x, y, z, found, limit * limit)
        found[:] = -1
        _nearest(points, boxes, offsets, x, y, z, squared, found, nodes, levels, gaps)
        for j in range(k):
            indices[q, j] = found[j]
            distances[q, j] = math.sqrt(squared[j]) if found[j] >= 0 else math.inf


@njit("f8(i8, f8, f8)", **_OPTIONS)
def robust_weight(kind, residual, limit):
    """Return the weight of iteratively re-weighted least squares (Zhang 1997, table 1)."""
    if kind == HUBER:
        return 1.0 if residual <= limit else limit / residual
    if kind == CAUCHY:
        return 1.0 / (1.0 + (residual / limit) ** 2)
    if kind == TUKEY:
        u = (residual / limit) ** 2
        return (1.0 - u) ** 2 if u < 1.0 else 0.0
    return 1.0


@njit(
    "f8[::1](i8, i8, f8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1], f8, f8, i8, f8, "
    "f8[:, ::1], f8[::1], f8[::1], i8[:, ::1], f8[:, ::1], i8[::1])",
    **_OPTIONS,
)
def tracked_pairs(
    start, stop, points, boxes, offsets, source, S, radius, reach, robust, robust_m, anchors, leads,
    limits, near, moved, index,
):  # fmt: skip
    """Move a range of the source by S (3, 4), pair it, and return the sums of the pairs.

    A point that has moved by m since its last search keeps its neighbour as long as 2 m < d2 -
    d1, the lead of the nearest over the second nearest (triangle inequality). After that it takes
    the nearest of the few known neighbours, as long as that is nearer than d_k - m, the least
    distance of all others. `anchors` (n, 3), `leads` (n,), squared, `limits` (n,) and `near` (n,
    k) hold the last search from call to call. Without k neighbours d_k is `reach`.

    Sums: number and squared distances of the pairs; then, weighted, the weights, x (3), q (3), q
    x^T (9) and x^T x of source points x and target points q.
    """
    sums = np.zeros(N_SUMS)
    nodes, levels, gaps = np.empty(_STACK, int64), np.empty(_STACK, int64), np.empty(_STACK)
    squared, found = np.empty(N_NEAR), np.full(N_NEAR, -1)
    for i in range(start, stop):
        u, v, w = source[i, 0], source[i, 1], source[i, 2]
        x = S[0, 0] * u + S[0, 1] * v + S[0, 2] * w + S[0, 3]
        y = S[1, 0] * u + S[1, 1] * v + S[1, 2] * w + S[1, 3]
        z = S[2, 0] * u + S[2, 1] * v + S[2, 2] * w + S[2, 3]
        moved[i, 0], moved[i, 1], moved[i, 2] = x, y, z
        dx, dy, dz = x - anchors[i, 0], y - anchors[i, 1], z - anchors[i, 2]
        gone = dx * dx + dy * dy + dz * dz
        q = near[i, 0]
        if not 4.0 * gone < leads[i]:
            q, d = _nearest_of(points, x, y, z, near[i])
            if math.sqrt(min(d, radius * radius)) > limits[i] - math.sqrt(gone):
                found[:] = near[i]
                squared[:] = _bound(points, x, y, z, found, reach * reach)
                found[:] = -1
                _nearest(points, boxes, offsets, x, y, z, squared, found, nodes, levels, gaps)
                first = math.sqrt(squared[0]) if found[0] >= 0 else radius
                second = math.sqrt(squared[1]) if found[1] >= 0 else reach
                leads[i] = (second - first) ** 2
                limits[i] = math.sqrt(squared[-1]) if found[-1] >= 0 else reach
                near[i] = found
                anchors[i, 0], anchors[i, 1], anchors[i, 2] = x, y, z
                q = near[i, 0]
        index[i] = -1
        if q < 0:
            continue
        a, b, c = points[q, 0], points[q, 1], points[q, 2]
        d = (a - x) ** 2 + (b - y) ** 2 + (c - z) ** 2
        if d > radius * radius:
            continue
        index[i] = q
        weight = robust_weight(robust, math.sqrt(d), robust_m)
        sums[0] += 1.0
        sums[1] += d
        sums[2] += weight
        sums[3] += weight * x
        sums[4] += weight * y
        sums[5] += weight * z
        sums[6] += weight * a
        sums[7] += weight * b
        sums[8] += weight * c
        sums[9] += weight * a * x
        sums[10] += weight * a * y
        sums[11] += weight * a * z
        sums[12] += weight * b * x
        sums[13] += weight * b * y
        sums[14] += weight * b * z
        sums[15] += weight * c * x
        sums[16] += weight * c * y
        sums[17] += weight * c * z
        sums[18] += weight * (x * x + y * y + z * z)
    return sums
