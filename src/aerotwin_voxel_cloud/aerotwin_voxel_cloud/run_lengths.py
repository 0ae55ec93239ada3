# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels between a grid's slabs and binvox run lengths: pairs of (value, count) bytes.

Raw cells run along y, then z, then x, as the words of a brick do: both ways the turn of the axes
is part of the walk, and empty bricks and runs cost nothing.
"""

import numpy as np
from numba import njit

LONGEST_RUN = 255
_OPTIONS = {"nogil": True, "cache": True}


@njit("UniTuple(i8, 2)(u1[::1], i8, i8[:, ::1])", **_OPTIONS)
def find_slabs(pairs, cells_per_slab, starts):
    """Fill starts (n_slabs, 2) with the pair in which each slab starts and the cells into it.

    Returns how many cells the pairs fill, and how many of them are occupied.
    """
    n_cells, n_occupied, slab = 0, 0, 0
    for at in range(0, len(pairs), 2):
        count = pairs[at + 1]
        while slab < len(starts) and slab * cells_per_slab < n_cells + count:
            starts[slab, 0] = at
            starts[slab, 1] = slab * cells_per_slab - n_cells
            slab += 1
        n_cells += count
        if pairs[at] != 0:
            n_occupied += count
    return n_cells, n_occupied


@njit("void(u1[::1], i8, i8, i8, i8, i8, u8[:, ::1])", **_OPTIONS)
def decode_slab(pairs, at, skipped, n_cells, ny, nz, slab):
    """Set the cells of a dense slab that runs from byte `at` on fill.

    `skipped` cells of the first run belong to the slab before; n_cells are those of this slab.
    """
    n_bricks_z = (nz + 7) // 8
    n_done = -skipped
    while n_done < n_cells:
        stop = n_done + pairs[at + 1]
        if pairs[at] != 0:
            start = max(n_done, 0)
            row, y = start // ny, start % ny
            x, z = row // nz, row % nz
            for _ in range(start, min(stop, n_cells)):
                bit = np.uint64(((z & 7) << 3) | (y & 7))
                slab[(y >> 3) * n_bricks_z + (z >> 3), x] |= np.uint64(1) << bit
                y += 1
                if y == ny:
                    y = 0
                    z += 1
                    if z == nz:
                        z = 0
                        x += 1
        n_done = stop
        at += 2


@njit("Tuple((u1[::1], i8))(u1[::1], i8, i8, i8)", **_OPTIONS)
def _append(out, n, value, length):
    """Append a run; return the bytes, grown where they were full, and how many are used."""
    while length > 0:
        if n + 2 > len(out):
            grown = np.empty(2 * len(out), np.uint8)
            grown[:n] = out[:n]
            out = grown
        out[n] = value
        out[n + 1] = min(length, LONGEST_RUN)
        n += 2
        length -= LONGEST_RUN
    return out, n


@njit("Tuple((u1[::1], i8[::1]))(i8[::1], u8[:, ::1], i8, i8, i8)", **_OPTIONS)
def encode_slab(brick_ids, words, n_layers, ny, nz):
    """Return the runs of a slab of n_layers layers.

    Returns
    -------
    pairs : array
        The runs between the first occupied run and the last, without both: they may go on in the
        neighbouring slabs.
    ends : (4,) array
        Empty cells before the first occupied run, its length, the length of the last one (0 where
        there is one only), empty cells after it.
    """
    n_bricks_z, n_bricks_y = (nz + 7) // 8, (ny + 7) // 8
    in_row = np.empty((n_bricks_z, n_bricks_y), np.int64)
    n_in_row = np.zeros(n_bricks_z, np.int64)
    for b in range(len(brick_ids)):  # rising in y for every z
        z = brick_ids[b] % n_bricks_z
        in_row[z, n_in_row[z]] = b
        n_in_row[z] += 1
    pairs = np.empty(4096, np.uint8)
    ends = np.zeros(4, np.int64)
    n, n_runs, start, stop = 0, 0, 0, 0
    for x in range(n_layers):
        for z in range(nz):
            for b in in_row[z >> 3, : n_in_row[z >> 3]]:
                bits = (words[b, x] >> np.uint64(8 * (z & 7))) & np.uint64(255)
                at = (x * nz + z) * ny + 8 * (brick_ids[b] // n_bricks_z)
                while bits != 0:
                    if bits & np.uint64(1):
                        if at > stop or n_runs == 0:
                            if n_runs == 0:
                                ends[0] = at
                            elif n_runs == 1:
                                ends[1] = stop - start
                            else:
                                pairs, n = _append(pairs, n, 1, stop - start)
                            if n_runs > 0:
                                pairs, n = _append(pairs, n, 0, at - stop)
                            start = at
                            n_runs += 1
                        stop = at + 1
                    bits >>= np.uint64(1)
                    at += 1
    if n_runs == 0:
        ends[0] = n_layers * ny * nz
    else:
        ends[1 if n_runs == 1 else 2] = stop - start
        ends[3] = n_layers * ny * nz - stop
    return pairs[:n], ends
