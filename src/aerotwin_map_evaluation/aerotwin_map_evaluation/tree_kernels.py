# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels of a tree of boxes over points: nearest point, and moments within a radius.

Points stand in Morton order, eight to a leaf; eight boxes in a row have one box above them. So the
tree has no pointers: the children of node i are the nodes 8 i to 8 i + 7 of the level below. What
is missing at the end of a level is a point at infinity or an empty box, which is never near.
"""

import math

import numpy as np
from numba import njit

WIDTH = 8
# Levels of a tree over 2^31 points, and the most boxes that wait at once: seven a level and one.
_N_LEVELS = 11
_STACK = (WIDTH - 1) * _N_LEVELS + 1 + WIDTH
_OPTIONS = {"nogil": True, "cache": True, "fastmath": {"nnan", "nsz", "contract", "arcp"}}


@njit("u8(u8)", **_OPTIONS)
def _spread(x):
    """Return the lower 21 bits of x with two zeros between them."""
    x &= np.uint64(0x1FFFFF)
    x = (x | (x << np.uint64(32))) & np.uint64(0x1F00000000FFFF)
    x = (x | (x << np.uint64(16))) & np.uint64(0x1F0000FF0000FF)
    x = (x | (x << np.uint64(8))) & np.uint64(0x100F00F00F00F00F)
    x = (x | (x << np.uint64(4))) & np.uint64(0x10C30C30C30C30C3)
    return (x | (x << np.uint64(2))) & np.uint64(0x1249249249249249)


@njit("void(f8[:, ::1], f8[::1], f8, u8[::1], i8, i8)", **_OPTIONS)
def morton_keys(points, lower, per_metre, keys, start, stop):
    """Write the Morton key of each point of a range: the bits of its three indices in turn."""
    for i in range(start, stop):
        x = _spread(np.uint64((points[i, 0] - lower[0]) * per_metre))
        y = _spread(np.uint64((points[i, 1] - lower[1]) * per_metre))
        z = _spread(np.uint64((points[i, 2] - lower[2]) * per_metre))
        keys[i] = (x << np.uint64(2)) | (y << np.uint64(1)) | z


@njit("void(f4[:, ::1], f4[:, ::1], f4[:, ::1], f4[:, ::1])", **_OPTIONS)
def enclose(below_lower, below_upper, lower, upper):
    """Write the boxes (3, n) around each eight of the level below (3, 8 n)."""
    for axis in range(3):
        for i in range(lower.shape[1]):
            low, high = np.float32(np.inf), np.float32(-np.inf)
            for j in range(WIDTH * i, WIDTH * i + WIDTH):
                if below_lower[axis, j] < low:
                    low = below_lower[axis, j]
                # A missing point is at +infinity in both: it encloses nothing.
                if below_upper[axis, j] > high and below_upper[axis, j] < np.inf:
                    high = below_upper[axis, j]
            lower[axis, i], upper[axis, i] = low, high


@njit("void(f4[:, ::1], f4[:, ::1], i8, f4, f4, f4, f4, f4[::1])", **_OPTIONS)
def _box_distances(lower, upper, first, x, y, z, half, squared):
    """Write the squared distances from a point to eight boxes, each grown by `half`."""
    zero = np.float32(0.0)
    for j in range(WIDTH):
        i = first + j
        dx = max(max(lower[0, i] - half - x, x - upper[0, i] - half), zero)
        dy = max(max(lower[1, i] - half - y, y - upper[1, i] - half), zero)
        dz = max(max(lower[2, i] - half - z, z - upper[2, i] - half), zero)
        squared[j] = dx * dx + dy * dy + dz * dz


@njit(
    "void(f4[:, ::1], f4[:, ::1], f4[:, ::1], i8[::1], i8, f4[:, ::1], f4, f4, i8, i8, i4[::1])",
    **_OPTIONS,
)
def nearest(points, lower, upper, offsets, n_points, queries, half, limit, start, stop, found):
    """Write the slot of the nearest point to each query of a range; -1 where none is near enough.

    Parameters
    ----------
    points : (3, p) array
        In slots, rows x, y, z.
    lower, upper : (3, b) arrays
        Boxes of all levels, the leaves first.
    offsets : (l + 1,) array
        Where each level begins in them.
    n_points : int
        Slots that hold a point.
    queries : (3, q) array
        Neighbours in this order should be neighbours in space: each begins at the last answer.
    half : float
        Half the edge of the cube that stands for each point; 0 for points.
    limit : float
        Distance beyond which nothing counts.
    """
    zero = np.float32(0.0)
    stack_node = np.empty(_STACK, np.int64)
    stack_level = np.empty(_STACK, np.int64)
    stack_squared = np.empty(_STACK, np.float32)
    squared = np.empty(WIDTH, np.float32)
    top_level = len(offsets) - 2
    last = np.int64(min(n_points // 2, n_points - 1))
    for q in range(start, stop):
        x, y, z = queries[0, q], queries[1, q], queries[2, q]
        dx = max(abs(points[0, last] - x) - half, zero)
        dy = max(abs(points[1, last] - y) - half, zero)
        dz = max(abs(points[2, last] - z) - half, zero)
        best, best_slot = dx * dx + dy * dy + dz * dz, last
        if best > limit * limit:
            best, best_slot = limit * limit, np.int64(-1)
        n = 1
        stack_node[0], stack_level[0], stack_squared[0] = 0, top_level + 1, zero
        while n > 0:
            n -= 1
            if stack_squared[n] > best or (stack_squared[n] == best and best_slot >= 0):
                continue
            node, level = stack_node[n], stack_level[n]
            first = node * WIDTH
            if level == 0:
                for j in range(WIDTH):
                    dx = max(abs(points[0, first + j] - x) - half, zero)
                    dy = max(abs(points[1, first + j] - y) - half, zero)
                    dz = max(abs(points[2, first + j] - z) - half, zero)
                    squared[j] = dx * dx + dy * dy + dz * dz
                for j in range(WIDTH):
                    if squared[j] < best or (squared[j] == best and best_slot < 0):
                        best, best_slot = squared[j], first + j
                continue
            _box_distances(lower, upper, offsets[level - 1] + first, x, y, z, half, squared)
            for j in range(WIDTH):
                d = squared[j]
                if d > best or not d < np.inf:
                    continue
                # The nearest comes to the top: it is opened first.
                k = n
                while k > 0 and stack_level[k - 1] == level - 1 and stack_squared[k - 1] < d:
                    stack_node[k], stack_level[k] = stack_node[k - 1], level - 1
                    stack_squared[k] = stack_squared[k - 1]
                    k -= 1
                stack_node[k], stack_level[k], stack_squared[k] = first + j, level - 1, d
                n += 1
        found[q] = best_slot
        if best_slot >= 0:
            last = best_slot


@njit(
    "void(f8[:, ::1], i8[::1], f8[:, ::1], i8[::1], f8, f8, i4[::1], i8, i8, f8[::1], i8[::1])",
    **_OPTIONS,
)
def exact_distances(
    points, order, queries, asked, half, limit, found, start, stop, distances, indices
):
    """Write distance and index of what `nearest` found, in the order of the queries as given.

    Parameters
    ----------
    points, queries : (n, 3), (q, 3) arrays
        As given, in float64.
    order, asked : (n,), (q,) arrays
        Which point stands in a slot, and which query was asked in a place.
    half, limit : float
        As in `nearest`.
    """
    for place in range(start, stop):
        q, slot = asked[place], found[place]
        distances[q], indices[q] = np.inf, -1
        if slot < 0:
            continue
        p = order[slot]
        squared = 0.0
        for axis in range(3):
            gap = max(abs(points[p, axis] - queries[q, axis]) - half, 0.0)
            squared += gap * gap
        distance = math.sqrt(squared)
        if distance <= limit:
            distances[q], indices[q] = distance, p


@njit(
    "void(f4[:, ::1], f4[:, ::1], f4[:, ::1], i8[::1], f4[:, ::1], f4, i8, i8, f8[:, ::1])",
    **_OPTIONS,
)
def moments_within(points, lower, upper, offsets, queries, radius, start, stop, moments):
    """Write count, sums and sums of products of the offsets of all points within a radius.

    Parameters
    ----------
    points, lower, upper, offsets, queries
        As in `nearest`.
    radius : float
    moments : (q, 10) array
        Count; sums of x, y, z; sums of xx, yy, zz, xy, xz, yz; all relative to the query.
    """
    stack_node = np.empty(_STACK, np.int64)
    stack_level = np.empty(_STACK, np.int64)
    squared = np.empty(WIDTH, np.float32)
    limit = radius * radius
    for q in range(start, stop):
        x, y, z = queries[0, q], queries[1, q], queries[2, q]
        count = sx = sy = sz = 0.0
        xx = yy = zz = xy = xz = yz = 0.0
        n = 1
        stack_node[0], stack_level[0] = 0, len(offsets) - 1
        while n > 0:
            n -= 1
            level, first = stack_level[n], stack_node[n] * WIDTH
            if level > 0:
                _box_distances(
                    lower, upper, offsets[level - 1] + first, x, y, z, np.float32(0.0), squared
                )
                for j in range(WIDTH):
                    if squared[j] <= limit:
                        stack_node[n], stack_level[n] = first + j, level - 1
                        n += 1
                continue
            for j in range(first, first + WIDTH):
                dx, dy, dz = points[0, j] - x, points[1, j] - y, points[2, j] - z
                if dx * dx + dy * dy + dz * dz <= limit:
                    count += 1.0
                    sx, sy, sz = sx + dx, sy + dy, sz + dz
                    xx, yy, zz = xx + dx * dx, yy + dy * dy, zz + dz * dz
                    xy, xz, yz = xy + dx * dy, xz + dx * dz, yz + dy * dz
        moments[q] = (count, sx, sy, sz, xx, yy, zz, xy, xz, yz)


@njit("void(f8[:, ::1], i8[::1], i8[::1], f8[:, ::1], f8[:, :, ::1], i8, i8)", **_OPTIONS)
def gaussians(points, order, starts, means, covariances, first, last):
    """Write mean and covariance (divided by n) of the points of each group of a range.

    Parameters
    ----------
    points : (n, 3) array
    order : (n,) array
        Indices of points, group after group.
    starts : (g + 1,) array
        Where each group begins in `order`.
    """
    for g in range(first, last):
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


@njit("void(f8[:, ::1], f8, f8[:, ::1])", **_OPTIONS)
def spreads(moments, n_least, eigenvalues):
    """Write the eigenvalues (q, 3) of the covariance (by n - 1) of each moment row, rising.

    Rows with fewer than `n_least` points are left as they are.
    """
    covariance = np.empty((3, 3))
    for q in range(len(moments)):
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
