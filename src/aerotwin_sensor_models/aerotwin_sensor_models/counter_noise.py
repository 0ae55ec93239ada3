# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers from counters, functions of key and index alone.

They do not depend on the number of threads or on previous draws, as those of a generator do.
"""

import functools
from statistics import NormalDist

import numpy as np
from numba import uint64

from aerotwin_core.kernel_cache import njit

N_LEVELS = 65536
"""One normal number is made of 16 random bits."""
GOLDEN = 0x9E3779B97F4A7C15
"""Step between the counters of neighbours: 2^64 over the golden ratio, as SplitMix64 has it."""
PICTURE, DEPTH, LIDAR, RADAR = 1, 2, 3, 4
"""Streams: what is measured at one instant by sensors of one number has noise of its own."""


@functools.cache
def normal_table() -> np.ndarray:
    """Return normal quantiles of equal shares, of unit variance, up to 4.3 standard deviations."""
    half = [NormalDist().inv_cdf((i + 0.5) / N_LEVELS) for i in range(N_LEVELS // 2)]
    table = np.array(half + [-value for value in reversed(half)])
    return (table / table.std()).astype(np.float32)


@njit(uint64(uint64), cache=True)
def mix_bits(x):
    """Return 64 scrambled bits of a counter (the finaliser of SplitMix64, Steele et al. 2014)."""
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


def counter_key(stream: int, *entropy: int) -> np.uint64:
    """Return the key of a stream and integers, none negative, mixed by NumPy's SeedSequence."""
    return np.random.SeedSequence((stream, *entropy)).generate_state(1, np.uint64)[0]
