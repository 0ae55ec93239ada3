# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels that walk through the bricks of a grid."""

import numpy as np

from aerotwin_core.kernel_cache import njit

_ONE = np.uint64(1)


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
