# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels on triangles in a grid: which cells they intersect, and their surface there.

Corners are in cells from the grid's origin, on the lattice of `frame.STEPS_PER_CELL`: differences
are exact, and every decision below is that of exact arithmetic. The test is the separating-axis
theorem for triangle and box (Akenine-Moeller 2001) in the form of Schwarz and Seidel 2010: the
triangle's plane, and its three projections against squares, each edge at its critical corner.
Cells are half open; a cell that is touched only at its upper faces is treated as a box smaller by
an infinitesimal: a tie separates where the critical corner lies on an upper face.
"""

import numpy as np

from aerotwin_core.kernel_cache import njit

_SPLITTER = 134217729.0  # 2^27 + 1 (Dekker 1971)
# Rounding of the plane's value is below 8 x 2^-53 x 6 L^2 (L + 1), L the triangle's extent.
_PLANE_ERROR = 1e-14
# An area [cells^2] no larger is a line or a point: it counts only where there is nothing else.
_NO_AREA = 1e-24
# Far above the rounding of a cut, far below a cell.
_MARGIN = 1e-3
_OPTIONS = {"nogil": True, "cache": True}


@njit("f8(f8, f8, f8)", **_OPTIONS)
def _tail(a, b, product):
    """Return a * b - product exactly, product being a * b rounded (Dekker 1971)."""
    c = _SPLITTER * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = _SPLITTER * b
    b_high = c - (c - b)
    b_low = b - b_high
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@njit("i8(f8, f8, f8, f8)", **_OPTIONS)
def _turn(ux, uy, vx, vy):
    """Return the exact sign of ux vy - uy vx (rounding is monotonic, tails decide on a tie)."""
    left, right = ux * vy, uy * vx
    if left == right:
        if left == 0.0:
            return 0
        left, right = _tail(ux, vy, left), _tail(uy, vx, right)
    return 1 if left > right else (-1 if left < right else 0)


@njit("i8(f8[:, ::1], f8, f8, f8)", **_OPTIONS)
def _exact_side(v, dx, dy, dz):
    """Return the exact sign of (u x w) . d, with u and w the edges from the first corner.

    The determinant is a sum of 24 products without rounding; the sum stores every rounding error
    in further terms, of which the largest has the sign (Shewchuk 1997, grow-expansion).
    """
    u, w = v[1] - v[0], v[2] - v[0]
    d = (dx, dy, dz)
    terms = np.empty(28)
    n = 0
    for axis in range(3):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        for sign in (1.0, -1.0):
            product = u[a] * w[b]
            tail = _tail(u[a], w[b], product)
            for factor in (product, tail):
                high = factor * d[axis]
                low = _tail(factor, d[axis], high)
                for term in (sign * low, sign * high):
                    m = 0
                    for k in range(n):  # two-sum (Knuth)
                        total = term + terms[k]
                        part = total - term
                        error = (term - (total - part)) + (terms[k] - part)
                        term = total
                        if error != 0.0:
                            terms[m] = error
                            m += 1
                    if term != 0.0:
                        terms[m] = term
                        m += 1
                    n = m
            a, b = b, a
    if n == 0:
        return 0
    return 1 if terms[n - 1] > 0.0 else -1


@njit("b1(f8[:, ::1], i8, i8, i8, i8, i8)", **_OPTIONS)
def _meets_square(v, a, b, turn, s, t):
    """Whether the triangle's projection on axes a, b meets the half-open unit square at (s, t).

    Its bounds must meet it. `turn` is the exact sense of the projection; 0 is a line.
    """
    for e in range(3):
        pa, pb = v[e, a], v[e, b]
        f = e + 1 if e < 2 else 0
        ea, eb = v[f, a] - pa, v[f, b] - pb
        if ea == 0.0 or eb == 0.0:
            continue  # an edge along an axis is the bounds' own
        if turn >= 0:
            side = _turn(ea, eb, s + (eb < 0.0) - pa, t + (ea > 0.0) - pb)
            if side < 0 or (side == 0 and (eb < 0.0 or ea > 0.0)):
                return False
        if turn <= 0:
            side = _turn(ea, eb, s + (eb > 0.0) - pa, t + (ea < 0.0) - pb)
            if side > 0 or (side == 0 and (eb > 0.0 or ea < 0.0)):
                return False
    return True


@njit("b1(f8[:, ::1], f8[::1], i8[::1], f8, i8, i8, i8)", **_OPTIONS)
def _plane_meets(v, normal, signs, error, i, j, k):
    """Whether the plane of the triangle passes cell (i, j, k); `signs` are those of the normal."""
    for towards in (1, -1):  # the corner farthest along the normal, then the nearest
        dx = i + (signs[0] * towards > 0) - v[0, 0]
        dy = j + (signs[1] * towards > 0) - v[0, 1]
        dz = k + (signs[2] * towards > 0) - v[0, 2]
        value = normal[0] * dx + normal[1] * dy + normal[2] * dz
        if abs(value) > error:
            if value * towards < 0.0:
                return False
            continue
        side = _exact_side(v, dx, dy, dz) * towards
        uses_upper = max(signs[0] * towards, signs[1] * towards, signs[2] * towards) > 0
        if side < 0 or (side == 0 and uses_upper):
            return False
    return True


@njit("void(f8[:, ::1], f8[::1], i8[::1])", **_OPTIONS)
def _normal_of(v, normal, signs):
    """Fill the normal of a triangle (twice its area long) and the exact signs of it."""
    for axis in range(3):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        ua, ub = v[1, a] - v[0, a], v[1, b] - v[0, b]
        wa, wb = v[2, a] - v[0, a], v[2, b] - v[0, b]
        normal[axis] = ua * wb - ub * wa
        signs[axis] = _turn(ua, ub, wa, wb)


@njit("UniTuple(i8, 2)(f8[:, ::1], f8[::1], f8, f8, i8, i8, i8, i8)", **_OPTIONS)
def _layers_of_plane(v, normal, extent, error, i, j, low, high):
    """Return the layers in which the plane may pass the column (i, j), within [low, high]."""
    slope = abs(normal[0]) + abs(normal[1])
    steep = 1000.0 * abs(normal[2])
    if high - low < 3 or slope > steep or 1e6 * error > steep * extent or extent > 1e5:
        return low, high
    z = v[0, 2] - (normal[0] * (i + 0.5 - v[0, 0]) + normal[1] * (j + 0.5 - v[0, 1])) / normal[2]
    reach = 0.5 * slope / abs(normal[2]) + 1.0  # a whole cell for the rounding
    return max(low, int(np.floor(z - reach))), min(high, int(np.floor(z + reach)))


@njit("b1(f8[:, ::1], f8[::1], i8[::1], f8, i8, i8, i8)", **_OPTIONS)
def _meets(v, normal, signs, error, i, j, k):
    """Whether the triangle meets cell (i, j, k), if bounds and xy projection do."""
    is_level = abs(signs[0]) + abs(signs[1]) + abs(signs[2]) <= 1  # along two axes, or a line
    return (
        (is_level or _plane_meets(v, normal, signs, error, i, j, k))
        and _meets_square(v, 1, 2, signs[0], j, k)
        and _meets_square(v, 2, 0, signs[1], k, i)
    )


@njit("void(f8[:, ::1], i4[:, ::1], i8, f8[:, ::1], i8[:, ::1], i8[:, ::1])", **_OPTIONS)
def _load(points, triangles, t, v, cells, bounds):
    """Fill v and cells (3, 3) with the corners of a triangle, bounds (3, 2) with their range."""
    for axis in range(3):
        for c in range(3):
            v[c, axis] = points[triangles[t, c], axis]
            cells[c, axis] = int(np.floor(v[c, axis]))
        bounds[axis, 0] = min(cells[0, axis], cells[1, axis], cells[2, axis])
        bounds[axis, 1] = max(cells[0, axis], cells[1, axis], cells[2, axis])


@njit("i8(f8[:, ::1], i8, i8, f8, f8, f8[:, ::1])", **_OPTIONS)
def _clip(polygon, n, axis, bound, keep, out):
    """Cut a polygon of n corners by a plane across an axis (Sutherland and Hodgman 1974).

    The part above the bound remains for keep = 1, below for -1. If the polygon misses the bound by
    rounding only, its nearest corner remains, moved onto the bound.
    """
    m = 0
    nearest = 0
    for k in range(n):
        h = k + 1 if k < n - 1 else 0
        here, there = keep * (polygon[k, axis] - bound), keep * (polygon[h, axis] - bound)
        if here > keep * (polygon[nearest, axis] - bound):
            nearest = k
        if here >= 0.0:
            for c in range(3):
                out[m, c] = polygon[k, c]
            m += 1
        if (here > 0.0 and there < 0.0) or (here < 0.0 and there > 0.0):
            share = here / (here - there)
            for c in range(3):
                out[m, c] = polygon[k, c] + share * (polygon[h, c] - polygon[k, c])
            out[m, axis] = bound
            m += 1
    if m == 0:
        for c in range(3):
            out[0, c] = polygon[nearest, c]
        out[0, axis] = bound
        m = 1
    return m


@njit("i8(f8[:, ::1], i8, i8, i8, f8[:, ::1], f8[:, ::1])", **_OPTIONS)
def _clip_to_layer(polygon, n, axis, layer, scratch, out):
    """Cut a polygon to [layer, layer + 1] along an axis; return the number of corners of out."""
    n = _clip(polygon, n, axis, float(layer), 1.0, scratch)
    return _clip(scratch, n, axis, layer + 1.0, -1.0, out)


@njit("UniTuple(i8, 2)(f8[:, ::1], i8, i8, i8, i8)", **_OPTIONS)
def _range(polygon, n, axis, low, high):
    """Return the layers within [low, high] that a polygon may meet, with margin for rounding."""
    least, most = polygon[0, axis], polygon[0, axis]
    for k in range(1, n):
        least, most = min(least, polygon[k, axis]), max(most, polygon[k, axis])
    return max(low, int(np.floor(least - _MARGIN))), min(high, int(np.floor(most + _MARGIN)))


@njit("void(f8[:, ::1], i8, f8[::1])", **_OPTIONS)
def _add_polygon(polygon, n, total):
    """Add a flat polygon to total: its centroid times its area, and its area [cells^2]."""
    area_sum = 0.0
    x0, y0, z0 = polygon[0, 0], polygon[0, 1], polygon[0, 2]
    for k in range(2, n):
        ux, uy, uz = polygon[k - 1, 0] - x0, polygon[k - 1, 1] - y0, polygon[k - 1, 2] - z0
        wx, wy, wz = polygon[k, 0] - x0, polygon[k, 1] - y0, polygon[k, 2] - z0
        nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        area = 0.5 * np.sqrt(nx * nx + ny * ny + nz * nz)
        area_sum += area
        total[0] += area * (x0 + (ux + wx) / 3.0)
        total[1] += area * (y0 + (uy + wy) / 3.0)
        total[2] += area * (z0 + (uz + wz) / 3.0)
    if area_sum <= _NO_AREA:
        for k in range(n):
            for c in range(3):
                total[c] += _NO_AREA / n * polygon[k, c]
        area_sum += _NO_AREA
    total[3] += area_sum


@njit("i8(u8)", **_OPTIONS)
def _n_bits(block):
    """Return the number of set bits (Warren 2012, Hacker's Delight, figure 5-2)."""
    block = block - ((block >> np.uint64(1)) & np.uint64(0x5555555555555555))
    twos = np.uint64(0x3333333333333333)
    block = (block & twos) + ((block >> np.uint64(2)) & twos)
    block = (block + (block >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((block * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit("b1(u8[:, ::1], i8, i8, i8, i8)", **_OPTIONS)
def _is_set(slab, n_bricks_z, i, j, k):
    """Whether cell (i, j, k) of the slab is set; i counts from the slab's first layer."""
    bit = np.uint64(((k & 7) << 3) | (j & 7))
    return (slab[(j >> 3) * n_bricks_z + (k >> 3), i] >> bit) & np.uint64(1) != 0


@njit("void(u8[:, ::1], i8, i8, i8, i8, i8)", **_OPTIONS)
def set_layers(slab, n_bricks_z, i, j, low, high):
    """Set the cells (i, j, low) to (i, j, high - 1) of the slab."""
    k = low
    while k < high:
        brick = (j >> 3) * n_bricks_z + (k >> 3)
        if k & 7 == 0 and k + 8 <= high:
            slab[brick, i] |= np.uint64(0x0101010101010101) << np.uint64(j & 7)
            k += 8
        else:
            slab[brick, i] |= np.uint64(1) << np.uint64(((k & 7) << 3) | (j & 7))
            k += 1


@njit(
    "void(f8[:, ::1], i4[:, ::1], i4[::1], i8, i8[::1], u8[:, ::1], i8[:, ::1], f8[:, ::1])",
    **_OPTIONS,
)
def visit(points, triangles, listed, first_layer, dims, slab, ranks, sums):
    """Mark the cells that triangles meet, or add up the surface in cells marked before.

    `points` (n, 3): corners in cells from the grid's origin, on the lattice. `triangles` (m, 3),
    `listed` (k,): corners of the triangles, and which of them are visited. `first_layer`: x of the
    slab's first layer of cells. `dims` (3,): cells of the grid. `slab`, `ranks`
    (n_bricks_y * n_bricks_z, 8): the slab's words, densely, set here when sums is empty; index in
    sums of each word's first cell. `sums` (n_cells, 4): centroid times area, and area, of the
    surface in each cell. Empty: mark.
    """
    is_marking = len(sums) == 0
    n_bricks_z = (dims[2] + 7) // 8
    v, normal, signs = np.empty((3, 3)), np.zeros(3), np.zeros(3, np.int64)
    cells, bounds = np.empty((3, 3), np.int64), np.empty((3, 2), np.int64)
    row, column = np.empty((12, 3)), np.empty((12, 3))
    cell, scratch = np.empty((12, 3)), np.empty((12, 3))
    extent, error = 0.0, 0.0
    for t in listed:
        _load(points, triangles, t, v, cells, bounds)
        i_low, i_high = max(bounds[0, 0], first_layer), min(bounds[0, 1], first_layer + 7)
        i_high = min(i_high, dims[0] - 1)
        j_low, j_high = max(bounds[1, 0], 0), min(bounds[1, 1], dims[1] - 1)
        low, high = max(bounds[2, 0], 0), min(bounds[2, 1], dims[2] - 1)
        if i_low > i_high or j_low > j_high or low > high:
            continue
        n_spanned = 0
        for axis in range(3):
            n_spanned += bounds[axis, 1] > bounds[axis, 0]
        if is_marking:
            # The corners' cells: most cells of small triangles need no further test.
            for c in range(3 if n_spanned else 1):
                i, j, k = cells[c, 0], cells[c, 1], cells[c, 2]
                if i_low <= i <= i_high and j_low <= j <= j_high and low <= k <= high:
                    bit = np.uint64(((k & 7) << 3) | (j & 7))
                    brick = (j >> 3) * n_bricks_z + (k >> 3)
                    slab[brick, i - first_layer] |= np.uint64(1) << bit
            if n_spanned == 0:
                continue
        if n_spanned > 1:
            extent = 1.0
            for axis in range(3):
                extent = max(extent, bounds[axis, 1] - bounds[axis, 0] + 1.0)
            _normal_of(v, normal, signs)
            error = _PLANE_ERROR * extent * extent * (extent + 1.0)
        for i in range(i_low, i_high + 1):
            in_row, n_row, j_first, j_last = v, 3, j_low, j_high
            if bounds[0, 0] < bounds[0, 1] and not (is_marking and j_high - j_low < 4):
                in_row, n_row = row, _clip_to_layer(v, 3, 0, i, scratch, row)
                j_first, j_last = _range(row, n_row, 1, j_low, j_high)
            for j in range(j_first, j_last + 1):
                k0, k1 = low, high
                if is_marking:
                    while k0 <= k1 and _is_set(slab, n_bricks_z, i - first_layer, j, k0):
                        k0 += 1
                    if k0 > k1:
                        continue
                if n_spanned > 1:
                    if not _meets_square(v, 0, 1, signs[2], i, j):
                        continue
                    if bounds[2, 0] < bounds[2, 1]:
                        k0, k1 = _layers_of_plane(v, normal, extent, error, i, j, k0, k1)
                        while k0 <= k1 and not _meets(v, normal, signs, error, i, j, k0):
                            k0 += 1
                        while k0 < k1 and not _meets(v, normal, signs, error, i, j, k1):
                            k1 -= 1
                if k0 > k1:
                    continue
                if is_marking:
                    set_layers(slab, n_bricks_z, i - first_layer, j, k0, k1 + 1)
                    continue
                in_column, n_column = in_row, n_row
                if bounds[1, 0] < bounds[1, 1]:
                    n_column = _clip_to_layer(in_row, n_row, 1, j, scratch, column)
                    in_column = column
                for k in range(k0, k1 + 1):
                    in_cell, n_cell = in_column, n_column
                    if bounds[2, 0] < bounds[2, 1]:
                        n_cell = _clip_to_layer(in_column, n_column, 2, k, scratch, cell)
                        in_cell = cell
                    brick = (j >> 3) * n_bricks_z + (k >> 3)
                    below = (np.uint64(1) << np.uint64(((k & 7) << 3) | (j & 7))) - np.uint64(1)
                    x = i - first_layer
                    rank = ranks[brick, x] + _n_bits(slab[brick, x] & below)
                    _add_polygon(in_cell, n_cell, sums[rank])
