# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Random bits from counters: SplitMix64 (Steele, Lea and Flood 2014, OOPSLA), for kernels.

Its k-th number of a seed is `mix_bits(seed + k * GOLDEN)`, modulo 2^64.
"""

from numba import uint64

from aerotwin_core.kernel_cache import njit

GOLDEN = 0x9E3779B97F4A7C15
"""Step between the counters of neighbours: 2^64 over the golden ratio."""


@njit(uint64(uint64), cache=True)
def mix_bits(x):
    """Return 64 scrambled bits of a counter, a one-to-one function of it."""
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))
