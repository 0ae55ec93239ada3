# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels of the solid fill: where vertical lines through cell centres enter and leave.

Grazing: a line through an edge or a corner counts as one moved by an infinitesimal, (x + e,
y + e^2): every line then crosses triangles in their interior only, and a closed part an even
number of times (simulation of simplicity, Edelsbrunner and Muecke 1990). All signs are exact.
"""

import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_voxel_cloud.kernels import _turn, set_layers

# Fill rule of a part: none, non-zero winding number, odd parity.
OPEN, WINDING, PARITY = 0, 1, 2
# Fields of a crossing.
COLUMN, PART, FACING = 0, 1, 2
_MARGIN = 1e-3  # far above the rounding of a cut, far below a cell
_OPTIONS = {"nogil": True, "cache": True}


@njit("i8(f8[:, ::1], i8, i8)", **_OPTIONS)
def _crossing(v, i, j):
    """Return whether the line at the centre of column (i, j) crosses a triangle.

    1 if its projection turns counter-clockwise (the surface faces up), -1 clockwise, 0 no.
    """
    facing = 0
    for e in range(3):
        f = e + 1 if e < 2 else 0
        ex, ey = v[f, 0] - v[e, 0], v[f, 1] - v[e, 1]
        side = _turn(ex, ey, i + 0.5 - v[e, 0], j + 0.5 - v[e, 1])
        if side == 0:
            if ey != 0.0:
                side = -1 if ey > 0.0 else 1
            elif ex != 0.0:
                side = 1 if ex > 0.0 else -1
            else:
                return 0
        if e > 0 and side != facing:
            return 0
        facing = side
    return facing


@njit("UniTuple(f8, 2)(f8[:, ::1], f8)", **_OPTIONS)
def _reach(v, x):
    """Return the range of y of a triangle at x."""
    low, high = np.inf, -np.inf
    for e in range(3):
        f = e + 1 if e < 2 else 0
        left, right = min(v[e, 0], v[f, 0]), max(v[e, 0], v[f, 0])
        if left <= x <= right:
            share = (x - v[e, 0]) / (v[f, 0] - v[e, 0]) if left < right else 0.0
            y = v[e, 1] + share * (v[f, 1] - v[e, 1])
            low, high = min(low, y), max(high, y)
    return low, high


@njit("f8(f8[:, ::1], f8, f8)", **_OPTIONS)
def _height(v, x, y):
    """Return the height of a triangle's plane at (x, y), within its corners' heights."""
    ux, uy, uz = v[1, 0] - v[0, 0], v[1, 1] - v[0, 1], v[1, 2] - v[0, 2]
    wx, wy, wz = v[2, 0] - v[0, 0], v[2, 1] - v[0, 1], v[2, 2] - v[0, 2]
    area = ux * wy - uy * wx
    low, high = min(v[0, 2], v[1, 2], v[2, 2]), max(v[0, 2], v[1, 2], v[2, 2])
    if area == 0.0:
        return 0.5 * (low + high)
    dx, dy = x - v[0, 0], y - v[0, 1]
    z = v[0, 2] + uz * (dx * wy - dy * wx) / area + wz * (ux * dy - uy * dx) / area
    return min(max(z, low), high)


@njit(
    "Tuple((i4[:, ::1], f8[::1]))(f8[:, ::1], i4[:, ::1], i4[::1], i4[::1], i1[::1], i8, i8[::1])",
    **_OPTIONS,
)
def _crossings(points, triangles, listed, part_of, kinds, first_layer, dims):
    """Return (column in the slab, part, facing) and height of every crossing with a filled part."""
    n, found, heights = 0, np.empty((4096, 3), np.int32), np.empty(4096)
    v = np.empty((3, 3))
    for t in listed:
        if kinds[part_of[t]] == OPEN:
            continue
        for c in range(3):
            for axis in range(3):
                v[c, axis] = points[triangles[t, c], axis]
        # Centres on the bounds belong to the moved line or to the neighbour: both are tested.
        i_low = max(int(np.ceil(min(v[0, 0], v[1, 0], v[2, 0]) - 0.5)), first_layer)
        i_high = min(int(np.floor(max(v[0, 0], v[1, 0], v[2, 0]) - 0.5)), first_layer + 7)
        j_low = max(int(np.ceil(min(v[0, 1], v[1, 1], v[2, 1]) - 0.5)), 0)
        j_high = min(int(np.floor(max(v[0, 1], v[1, 1], v[2, 1]) - 0.5)), dims[1] - 1)
        for i in range(i_low, min(i_high, dims[0] - 1) + 1):
            low, high = _reach(v, i + 0.5)
            j_first = max(int(np.ceil(low - 0.5 - _MARGIN)), j_low)
            j_last = min(int(np.floor(high - 0.5 + _MARGIN)), j_high)
            for j in range(j_first, j_last + 1):
                facing = _crossing(v, i, j)
                if facing == 0:
                    continue
                if n == len(heights):
                    more = np.empty((2 * n, 3), np.int32), np.empty(2 * n)
                    more[0][:n], more[1][:n] = found, heights
                    found, heights = more
                found[n, COLUMN] = (i - first_layer) * dims[1] + j
                found[n, PART], found[n, FACING] = part_of[t], facing
                heights[n] = _height(v, i + 0.5, j + 0.5)
                n += 1
    return found[:n], heights[:n]


@njit("void(i4[:, ::1], f8[::1], i8[::1])", **_OPTIONS)
def _sort_column(found, heights, order):
    """Sort the crossings of one column by part, then height (few: by insertion)."""
    for a in range(1, len(order)):
        here = order[a]
        part = found[here, PART]
        b = a
        while b > 0 and (
            found[order[b - 1], PART] > part
            or (found[order[b - 1], PART] == part and heights[order[b - 1]] > heights[here])
        ):
            order[b] = order[b - 1]
            b -= 1
        order[b] = here


@njit("i8(i8[:, ::1], i8, i8, i8)", **_OPTIONS)
def _insert(changes, n, layer, by):
    """Insert a change among n, ascending by layer; return the new number of changes."""
    b = n
    while b > 0 and changes[b - 1, 0] > layer:
        changes[b, 0], changes[b, 1] = changes[b - 1, 0], changes[b - 1, 1]
        b -= 1
    changes[b, 0], changes[b, 1] = layer, by
    return n + 1


@njit("i8(i4[:, ::1], f8[::1], i8[::1], i1[::1], i1[::1], i8, i8[:, ::1])", **_OPTIONS)
def _changes(found, heights, order, kinds, weights, nz, changes):
    """Fill changes (layer, change of the fill count from there on); return their number."""
    n, state, start, before = 0, 0, 0.0, -1
    for here in order:
        part = found[here, PART]
        if part != before:
            state, before = 0, part
        was_inside = state != 0
        state = 1 - state if kinds[part] == PARITY else state + found[here, FACING]
        if not was_inside:
            start = heights[here]
        elif state == 0:
            low = min(max(int(np.ceil(start - 0.5)), 0), nz)
            high = min(max(int(np.ceil(heights[here] - 0.5)), 0), nz)
            if low < high:
                n = _insert(changes, n, low, weights[part])
                n = _insert(changes, n, high, -weights[part])
    return n


@njit(
    "void(f8[:, ::1], i4[:, ::1], i4[::1], i4[::1], i1[::1], i1[::1], i8, i8[::1], u8[:, ::1])",
    **_OPTIONS,
)
def fill(points, triangles, listed, part_of, kinds, weights, first_layer, dims, slab):
    """Set the cells of a dense slab whose centres lie inside closed parts.

    `part_of` (n_triangles,) is the part of each triangle; `kinds` (n_parts,) are OPEN, WINDING or
    PARITY, `weights` (n_parts,) 1 for a solid, -1 for a cavity. Other arguments are those of
    `kernels.visit`.
    """
    found, heights = _crossings(points, triangles, listed, part_of, kinds, first_layer, dims)
    starts = np.zeros(8 * dims[1] + 2, np.int64)
    for n in range(len(found)):
        starts[found[n, COLUMN] + 2] += 1
    most = 0
    for column in range(len(starts) - 1):
        most = max(most, starts[column + 1])
        starts[column + 1] += starts[column]
    order = np.empty(len(found), np.int64)
    for n in range(len(found)):  # starts[c + 1] runs from where column c begins to where it ends
        order[starts[found[n, COLUMN] + 1]] = n
        starts[found[n, COLUMN] + 1] += 1
    changes = np.empty((most + 2, 2), np.int64)
    for column in range(8 * dims[1]):
        here = order[starts[column] : starts[column + 1]]
        if len(here) < 2:
            continue
        _sort_column(found, heights, here)
        n = _changes(found, heights, here, kinds, weights, dims[2], changes)
        depth, low = 0, 0
        for c in range(n):
            if depth > 0:
                i, j = column // dims[1], column % dims[1]
                set_layers(slab, (dims[2] + 7) // 8, i, j, low, changes[c, 0])
            low = changes[c, 0]
            depth += changes[c, 1]
