# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled parts of the search: a hash grid of points, thinning of a scan, normals of a cloud.

Cells are cubes of a hash table with open addressing (Teschner et al. 2003, "Optimized Spatial
Hashing for Collision Detection of Deformable Objects"); the points of a cell are contiguous, each
with its normal in one row of 32 bytes. So a search near a surface reads one to three cells.
"""

import math

import numpy as np
from numba import float32, float64, int32, int64, types

from aerotwin_core.kernel_cache import njit

EMPTY = np.int64(-1)
HALF_RANGE = np.int64(1 << 20)
"""Cells to each side of the origin that a key of three times 21 bits can address."""
ROW = 8
"""Floats per point: position, normal, weight of the normal (0 = none), padding."""
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: Knuth, TAOCP 3, 6.4
_LOAD = 2  # table entries for each point, at least
_HALF_TURN = 2.0 * math.pi / 3.0


@njit(cache=True, nogil=True, inline="always")
def _key(i, j, k):
    return ((i + HALF_RANGE) << 42) | ((j + HALF_RANGE) << 21) | (k + HALF_RANGE)


@njit(cache=True, nogil=True, inline="always")
def _slot(keys, key):
    """Return the slot of a key in the table, or the empty slot where it belongs."""
    mask = len(keys) - 1
    at = np.int64((np.uint64(key) * _MIX) >> np.uint64(32)) & mask
    while keys[at] != EMPTY and keys[at] != key:
        at = (at + 1) & mask
    return at


@njit(cache=True, nogil=True)
def _table_size(n):
    size = 16
    while size < _LOAD * n:
        size *= 2
    return size


@njit(
    types.Tuple((int64[::1], int32[:, ::1], float32[:, ::1], int64[::1]))(
        float32[:, ::1], float32[:, ::1], float32[::1], float64
    ),
    cache=True,
    nogil=True,
)
def build_grid(points, normals, weights, per_metre):
    """Return table keys, spans of rows (start, stop) of each, rows of points, and their order."""
    n = len(points)
    keys = np.full(_table_size(n), EMPTY)
    spans = np.zeros((len(keys), 2), np.int32)
    slots = np.empty(n, np.int64)
    for p in range(n):
        i = np.int64(math.floor(points[p, 0] * per_metre))
        j = np.int64(math.floor(points[p, 1] * per_metre))
        k = np.int64(math.floor(points[p, 2] * per_metre))
        key = _key(i, j, k)
        at = _slot(keys, key)
        keys[at] = key
        spans[at, 1] += 1
        slots[p] = at
    total = 0
    for at in range(len(keys)):
        count = spans[at, 1]
        spans[at, 0], spans[at, 1] = total, total
        total += count
    rows = np.zeros((n, ROW), np.float32)
    order = np.empty(n, np.int64)
    for p in range(n):
        at = slots[p]
        row = spans[at, 1]
        spans[at, 1] += 1
        order[row] = p
        for c in range(3):
            rows[row, c], rows[row, 3 + c] = points[p, c], normals[p, c]
        rows[row, 6] = weights[p]
    return keys, spans, rows, order


@njit(cache=True, nogil=True)
def nearest_in_grid(x, y, z, squared, best, keys, spans, rows, per_metre):
    """Return the row of the nearest point within a squared distance, and its squared distance.

    `best` (-1: none) is returned if no point is nearer: a guess with its distance shortens the
    search.
    """
    ci = np.int64(math.floor(x * per_metre))
    cj = np.int64(math.floor(y * per_metre))
    ck = np.int64(math.floor(z * per_metre))
    at = _slot(keys, _key(ci, cj, ck))
    for row in range(spans[at, 0], spans[at, 1]):
        dx, dy, dz = rows[row, 0] - x, rows[row, 1] - y, rows[row, 2] - z
        d = dx * dx + dy * dy + dz * dz
        if d < squared:
            squared, best = d, row
    reach = math.sqrt(squared)
    side = 1.0 / per_metre
    i0, i1 = math.floor((x - reach) * per_metre), math.floor((x + reach) * per_metre)
    j0, j1 = math.floor((y - reach) * per_metre), math.floor((y + reach) * per_metre)
    k0, k1 = math.floor((z - reach) * per_metre), math.floor((z + reach) * per_metre)
    for i in range(i0, i1 + 1):
        gi = max(i * side - x, x - (i + 1) * side, 0.0)
        gi *= gi
        for j in range(j0, j1 + 1):
            gj = max(j * side - y, y - (j + 1) * side, 0.0)
            gj = gi + gj * gj
            if gj >= squared:
                continue
            for k in range(k0, k1 + 1):
                gk = max(k * side - z, z - (k + 1) * side, 0.0)
                if gj + gk * gk >= squared or (i == ci and j == cj and k == ck):
                    continue
                at = _slot(keys, _key(np.int64(i), np.int64(j), np.int64(k)))
                for row in range(spans[at, 0], spans[at, 1]):
                    dx, dy, dz = rows[row, 0] - x, rows[row, 1] - y, rows[row, 2] - z
                    d = dx * dx + dy * dy + dz * dz
                    if d < squared:
                        squared, best = d, row
    return best, squared


@njit(
    int64[::1](float32[:, ::1], float64, float64, float64),
    cache=True,
    nogil=True,
)
def thin(points, voxel_m, min_range_m, max_range_m):
    """Return the indices (m,) of the first point of each voxel between two distances from zero.

    NaN, as organised clouds have where nothing returned, are left out.
    """
    n = len(points)
    keys = np.full(_table_size(n), EMPTY)
    retained = np.empty(n, np.int64)
    low, high, per_metre = min_range_m * min_range_m, max_range_m * max_range_m, 1.0 / voxel_m
    m = 0
    for p in range(n):
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        squared = x * x + y * y + z * z
        if not (squared >= low and squared <= high):
            continue
        i = np.int64(math.floor(x * per_metre))
        j = np.int64(math.floor(y * per_metre))
        k = np.int64(math.floor(z * per_metre))
        key = _key(i, j, k)
        at = _slot(keys, key)
        if keys[at] == EMPTY:
            keys[at] = key
            retained[m] = p
            m += 1
    return retained[:m].copy()


@njit(cache=True, nogil=True)
def _eigenvalues(xx, xy, xz, yy, yz, zz):
    """Return the eigenvalues of a symmetric matrix, ascending (Smith 1961, Comm. ACM 4, 168)."""
    mean = (xx + yy + zz) / 3.0
    a, b, c = xx - mean, yy - mean, zz - mean
    p = math.sqrt((a * a + b * b + c * c + 2.0 * (xy * xy + xz * xz + yz * yz)) / 6.0)
    if p <= 0.0:
        return mean, mean, mean
    det = a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz)
    angle = math.acos(min(max(det / (2.0 * p * p * p), -1.0), 1.0)) / 3.0
    high = mean + 2.0 * p * math.cos(angle)
    low = mean + 2.0 * p * math.cos(angle + _HALF_TURN)
    return low, 3.0 * mean - high - low, high


@njit(cache=True, nogil=True)
def _null_vector(xx, xy, xz, yy, yz, zz):
    """Return the unit vector orthogonal to the rows of a symmetric matrix of rank two."""
    x0, y0, z0 = xy * yz - xz * yy, xz * xy - xx * yz, xx * yy - xy * xy
    x1, y1, z1 = xy * zz - xz * yz, xz * xz - xx * zz, xx * yz - xy * xz
    x2, y2, z2 = yy * zz - yz * yz, yz * xz - xy * zz, xy * yz - yy * xz
    n0, n1, n2 = (
        x0 * x0 + y0 * y0 + z0 * z0,
        x1 * x1 + y1 * y1 + z1 * z1,
        x2 * x2 + y2 * y2 + z2 * z2,
    )
    if n1 > n0 and n1 >= n2:
        x0, y0, z0, n0 = x1, y1, z1, n1
    elif n2 > n0:
        x0, y0, z0, n0 = x2, y2, z2, n2
    if n0 <= 0.0:
        return 0.0, 0.0, 0.0
    scale = 1.0 / math.sqrt(n0)
    return x0 * scale, y0 * scale, z0 * scale


@njit(
    types.void(
        int64,
        int64,
        int64[::1],
        float64,
        int64,
        float64,
        int64[::1],
        int32[:, ::1],
        float32[:, ::1],
        float64,
        int64[::1],
        float32[:, ::1],
        float32[::1],
    ),
    cache=True,
    nogil=True,
)
def fit_normals(
    start,
    stop,
    places,
    radius_m,
    min_points,
    min_flatness,
    keys,
    spans,
    rows,
    per_metre,
    order,
    normals,
    weights,
):
    """Write normals and weights of rows `places`, from all points within a radius of each.

    Results are stored at the points' original indices `order`. The weight is the flatness 1 -
    sqrt(l1 / l2) of the smaller two eigenvalues of the covariance, or 0 where it or the number of
    points is too small: along one ring of a lidar, on a pole or in leaves there is no surface.
    """
    limit = radius_m * radius_m
    for place in range(start, stop):
        row = places[place]
        x, y, z = float64(rows[row, 0]), float64(rows[row, 1]), float64(rows[row, 2])
        n = 0
        sx = sy = sz = xx = xy = xz = yy = yz = zz = 0.0
        for i in range(
            math.floor((x - radius_m) * per_metre), math.floor((x + radius_m) * per_metre) + 1
        ):
            for j in range(
                math.floor((y - radius_m) * per_metre), math.floor((y + radius_m) * per_metre) + 1
            ):
                for k in range(
                    math.floor((z - radius_m) * per_metre),
                    math.floor((z + radius_m) * per_metre) + 1,
                ):
                    at = _slot(keys, _key(np.int64(i), np.int64(j), np.int64(k)))
                    for other in range(spans[at, 0], spans[at, 1]):
                        dx, dy, dz = rows[other, 0] - x, rows[other, 1] - y, rows[other, 2] - z
                        if dx * dx + dy * dy + dz * dz > limit:
                            continue
                        n += 1
                        sx, sy, sz = sx + dx, sy + dy, sz + dz
                        xx, xy, xz = xx + dx * dx, xy + dx * dy, xz + dx * dz
                        yy, yz, zz = yy + dy * dy, yz + dy * dz, zz + dz * dz
        p = order[row]
        normals[p, 0] = normals[p, 1] = normals[p, 2] = weights[p] = 0.0
        if n < min_points:
            continue
        xx, xy, xz = xx - sx * sx / n, xy - sx * sy / n, xz - sx * sz / n
        yy, yz, zz = yy - sy * sy / n, yz - sy * sz / n, zz - sz * sz / n
        low, middle, _ = _eigenvalues(xx, xy, xz, yy, yz, zz)
        flatness = 1.0 - math.sqrt(max(low, 0.0) / middle) if middle > 0.0 else 0.0
        if flatness < min_flatness:
            continue
        nx, ny, nz = _null_vector(xx - low, xy, xz, yy - low, yz, zz - low)
        normals[p, 0], normals[p, 1], normals[p, 2] = nx, ny, nz
        weights[p] = flatness if nx != 0.0 or ny != 0.0 or nz != 0.0 else 0.0
