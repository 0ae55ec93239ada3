# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Noise from counters: a function of key and index alone, by `aerotwin_core.counter_bits`.

It does not depend on the number of threads or on previous draws, as that of a generator does.
"""

import functools
from statistics import NormalDist

import numpy as np

N_LEVELS = 65536
"""One normal number is made of 16 random bits."""
PICTURE, DEPTH, LIDAR, RADAR = 1, 2, 3, 4
"""Streams: what is measured at one instant by sensors of one number has noise of its own."""


@functools.cache
def normal_table() -> np.ndarray:
    """Return normal quantiles of equal shares, of unit variance, up to 4.3 standard deviations."""
    half = [NormalDist().inv_cdf((i + 0.5) / N_LEVELS) for i in range(N_LEVELS // 2)]
    table = np.array(half + [-value for value in reversed(half)])
    return (table / table.std()).astype(np.float32)


def counter_key(stream: int, *entropy: int) -> np.uint64:
    """Return the key of a stream and integers, none negative, mixed by NumPy's SeedSequence."""
    return np.random.SeedSequence((stream, *entropy)).generate_state(1, np.uint64)[0]
