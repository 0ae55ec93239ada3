# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled detector of a radar: cells above a sliding threshold, joined to peaks."""

import numpy as np
from numba import float64, int64, types, uint8

from aerotwin_core.kernel_cache import njit


@njit(
    types.Tuple((int64[::1], float64[::1], float64[::1]))(
        uint8[:, ::1], float64[::1], int64, int64, int64, int64, float64, float64, int64
    ),
    cache=True,
    nogil=True,
)
def detect_peaks(levels, power, first, last, n_side, guard, factor, offset, n_strongest):
    """Return rows, bins (centre of mass, of bin b: b) and powers of the peaks, row by row.

    `power` (256,) is that of each level; bins from `first` to before `last` are tested against
    `factor` times the mean of `n_side` cells to each side beyond `guard`, plus `offset`. The
    `n_strongest` peaks per row are retained.
    """
    n_rows = levels.shape[0]
    rows = np.empty(n_rows * n_strongest, np.int64)
    places, heights = np.empty(len(rows)), np.empty(len(rows))
    sums = np.zeros(last - first + 1)
    n = 0
    for row in range(n_rows):
        for b in range(first, last):
            sums[b - first + 1] = sums[b - first] + power[levels[row, b]]
        start, mass, moment, height = n, 0.0, 0.0, 0.0
        for b in range(first, last + 1):
            is_above, p = False, 0.0
            if b < last:
                p = power[levels[row, b]]
                low, left = max(b - guard - n_side, first), max(b - guard, first)
                right, high = min(b + guard + 1, last), min(b + guard + 1 + n_side, last)
                total = sums[left - first] - sums[low - first]
                total += sums[high - first] - sums[right - first]
                count = left - low + high - right
                is_above = count > 0 and p > factor * total / count + offset
            if is_above:
                mass += p
                moment += p * b
                height = max(height, p)
            elif mass > 0.0:
                k = n
                if n - start == n_strongest:  # replaces the weakest, if that is weaker
                    k = start + int(np.argmin(heights[start:n]))
                    height = 0.0 if heights[k] >= height else height
                else:
                    n += 1
                if height > 0.0:
                    rows[k], places[k], heights[k] = row, moment / mass, height
                mass, moment, height = 0.0, 0.0, 0.0
    return rows[:n], places[:n], heights[:n]
