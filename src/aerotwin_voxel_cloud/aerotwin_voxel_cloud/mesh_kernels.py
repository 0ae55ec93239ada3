# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels that convert a mesh into a grid's cells, and list triangles and cells."""

import numpy as np

from aerotwin_core.kernel_cache import njit

_ONE = np.uint64(1)


@njit("b1(f8[:, ::1], i4[:, ::1], f8[:, ::1], i8, i8)", nogil=True, cache=True)
def bounds_of_used(vertices, triangles, bounds, start, stop):
    """Fill bounds (2, 3) of the vertices used; False if a triangle has an invalid index."""
    bounds[0], bounds[1] = np.inf, -np.inf
    for t in range(start, stop):
        for c in range(3):
            n = triangles[t, c]
            if n < 0 or n >= len(vertices):
                return False
            for axis in range(3):
                bounds[0, axis] = min(bounds[0, axis], vertices[n, axis])
                bounds[1, axis] = max(bounds[1, axis], vertices[n, axis])
    return True


@njit("void(f8[:, ::1], f8[::1], f8, f8, f8[:, ::1], i8, i8)", nogil=True, cache=True)
def to_lattice(vertices, origin, resolution, steps_per_cell, points, start, stop):
    """Fill points with vertices in cells from the origin, to the nearest step of a cell."""
    for n in range(start, stop):
        for axis in range(3):
            cells = (vertices[n, axis] - origin[axis]) / resolution
            points[n, axis] = np.rint(cells * steps_per_cell) / steps_per_cell


@njit("i8(f8[:, ::1], i4[:, ::1], i8[::1], b1, i4[:, ::1], i8, i8)", nogil=True, cache=True)
def slab_ranges(points, triangles, dims, is_above_meant, slabs, start, stop):
    """Fill slabs (m, 2) with the first and last slab of each triangle; (1, 0) for none.

    Those that only lie above or below the grid count if is_above_meant. Returns the total number of
    entries in the lists of the slabs.
    """
    n_entries = 0
    for t in range(start, stop):
        slabs[t, 0], slabs[t, 1] = 1, 0
        is_outside = False
        for axis in range(2, -1, -1):
            a = points[triangles[t, 0], axis]
            b = points[triangles[t, 1], axis]
            c = points[triangles[t, 2], axis]
            low, high = min(a, b, c), max(a, b, c)
            if (axis < 2 or not is_above_meant) and (high < 0.0 or low >= dims[axis]):
                is_outside = True
                break
        if not is_outside:
            slabs[t, 0] = int(max(low, 0.0)) // 8
            slabs[t, 1] = int(min(high, dims[0] - 1.0)) // 8
            n_entries += slabs[t, 1] - slabs[t, 0] + 1
    return n_entries


@njit("void(i4[:, ::1], i8[::1], i4[::1])", nogil=True, cache=True)
def list_by_slab(slabs, starts, listed):
    """Fill starts (n_slabs + 1) and listed with the triangles of each slab, in their order."""
    starts[:] = 0
    for t in range(len(slabs)):
        for s in range(slabs[t, 0], slabs[t, 1] + 1):
            starts[s + 1] += 1
    for s in range(len(starts) - 1):
        starts[s + 1] += starts[s]
    at = starts[:-1].copy()
    for t in range(len(slabs)):
        for s in range(slabs[t, 0], slabs[t, 1] + 1):
            listed[at[s]] = t
            at[s] += 1


@njit("void(i8[::1], i8[::1], u8[:, ::1], i8, i4[:, ::1])", nogil=True, cache=True)
def list_cells(slabs, brick_ids, blocks, n_bricks_z, cells):
    """Fill cells (n, 3) with the occupied cells in the order of the grid."""
    n = 0
    for b in range(len(blocks)):
        y, z = 8 * (brick_ids[b] // n_bricks_z), 8 * (brick_ids[b] % n_bricks_z)
        for x in range(8):
            block = blocks[b, x]
            bit = 0
            while block != 0:
                if block & _ONE:
                    cells[n, 0] = 8 * slabs[b] + x
                    cells[n, 1] = y + (bit & 7)
                    cells[n, 2] = z + (bit >> 3)
                    n += 1
                block >>= _ONE
                bit += 1
