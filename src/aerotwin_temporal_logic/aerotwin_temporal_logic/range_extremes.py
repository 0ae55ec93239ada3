# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The least value of many ranges of a sequence, in O(n log n): a sparse table.

References
----------
Bender and Farach-Colton: The LCA Problem Revisited. LATIN 2000, section 3 (range minimum queries).
"""

import numpy as np


def index_of_least(values: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return for each range the index (k,) of its least value, the first of equal ones.

    Parameters
    ----------
    values : (n,) array
        Without NaN.
    first, last : (k,) array of int
        Indices of the ranges, both included, 0 <= first <= last < n.

    Examples
    --------
    >>> index_of_least(np.array([3.0, 1.0, 2.0]), np.array([0, 2]), np.array([1, 2]))
    array([1, 2])
    """
    levels = [np.arange(len(values))]
    step = 1
    while 2 * step <= len(values):
        below = levels[-1]
        left, right = below[:-step], below[step:]
        levels.append(np.where(values[right] < values[left], right, left))
        step *= 2
    lengths = last - first + 1
    level_of = np.frexp(lengths.astype(np.float64))[1] - 1  # floor of the logarithm to base 2
    found = np.empty(len(first), dtype=np.int64)
    for level in np.unique(level_of):
        of_level = level_of == level
        table = levels[level]
        left = table[first[of_level]]
        right = table[last[of_level] - (1 << int(level)) + 1]
        found[of_level] = np.where(values[right] < values[left], right, left)
    return found
