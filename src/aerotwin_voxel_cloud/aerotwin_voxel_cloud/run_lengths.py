# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels between a grid's slabs and binvox run lengths: pairs of (value, count) bytes.

Raw cells run along y, then z, then x, as the words of a brick do: axes are swapped during the walk,
and empty bricks and runs cost nothing.
"""

import numpy as np

from aerotwin_core.kernel_cache import njit

LONGEST_RUN = 255
# Index of the lowest set bit of every byte.
_LOWEST = np.array([0, *(bin(byte)[::-1].index("1") for byte in range(1, 256))], dtype=np.uint8)
_OPTIONS = {"nogil": True, "cache": True}


@njit("UniTuple(i8, 2)(u1[::1], i8, i8[:, ::1])", **_OPTIONS)
def find_slabs(pairs, cells_per_slab, starts):
    """Fill each slab's first pair and its offset; return the numbers of cells and occupied ones."""
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
    """Set a dense slab's cells from runs at byte `at`, without the first `skipped` cells."""
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


@njit("i8(u1[::1], i8, i8, i8)", **_OPTIONS)
def _write_run(pairs, n, value, length):
    """Write a run from byte n on; return the byte after it."""
    while length > 0:
        pairs[n] = value
        pairs[n + 1] = min(length, LONGEST_RUN)
        n += 2
        length -= LONGEST_RUN
    return n


@njit("Tuple((u1[::1], i8[::1]))(i8[::1], u8[:, ::1], i8, i8, i8)", **_OPTIONS)
def encode_slab(brick_ids, blocks, n_layers, ny, nz):
    """Return the runs of a slab of n_layers layers.

    Returns `pairs`: the runs between the first occupied run and the last, without both: they may go
    on in the neighbouring slabs. `ends` (4,): empty cells before the first occupied run, its
    length, the length of the last one (0 where there is one only), empty cells after it.
    """
    n_bricks_z, n_bricks_y = (nz + 7) // 8, (ny + 7) // 8
    in_row = np.empty((n_bricks_z, n_bricks_y), np.int64)
    n_in_row = np.zeros(n_bricks_z, np.int64)
    start_y = np.empty(len(brick_ids), np.int64)
    for b in range(len(brick_ids)):  # rising in y for every z
        z = brick_ids[b] % n_bricks_z
        start_y[b] = 8 * (brick_ids[b] // n_bricks_z)
        in_row[z, n_in_row[z]] = b
        n_in_row[z] += 1
    pairs, ends = np.empty(4096, np.uint8), np.zeros(4, np.int64)
    n, n_runs, start, stop = 0, 0, 0, 0
    is_on, n_seen = 0, 0
    for x in range(n_layers):
        for z in range(nz):
            shift, row = np.uint64(8 * (z & 7)), (x * nz + z) * ny
            for c in range(n_in_row[z >> 3]):
                b = in_row[z >> 3, c]
                bits = np.int64((blocks[b, x] >> shift) & np.uint64(255))
                if bits == 0:
                    continue
                at = row + start_y[b]
                n_bits = min(8, ny - start_y[b])
                if is_on and at != n_seen:  # empty cells were passed over
                    stop, is_on = n_seen, 0
                edges = (bits ^ (bits << 1 | is_on)) & ((1 << n_bits) - 1)
                while edges:
                    here = at + _LOWEST[edges]
                    edges &= edges - 1
                    is_on = 1 - is_on
                    if not is_on:
                        stop = here
                        continue
                    room = n + 2 * ((here - start) // LONGEST_RUN + 2)
                    if room > len(pairs):
                        grown = np.empty(2 * room, np.uint8)
                        grown[:n] = pairs[:n]
                        pairs = grown
                    if n_runs == 0:
                        ends[0] = here
                    elif n_runs == 1:
                        ends[1] = stop - start
                    else:
                        n = _write_run(pairs, n, 1, stop - start)
                    if n_runs > 0:
                        n = _write_run(pairs, n, 0, here - stop)
                    start = here
                    n_runs += 1
                n_seen = at + n_bits
    if is_on:
        stop = n_seen
    if n_runs == 0:
        ends[0] = n_layers * ny * nz
    else:
        ends[1 if n_runs == 1 else 2] = stop - start
        ends[3] = n_layers * ny * nz - stop
    return pairs[:n], ends
