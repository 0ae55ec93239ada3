# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Random bits from counters: the published numbers of SplitMix64."""

import numpy as np

from aerotwin_core.counter_bits import GOLDEN, mix_bits

SEED = 1234567
PUBLISHED = [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]
"""First numbers of splitmix64.c by Vigna (2015) for that seed."""


def test_the_numbers_are_those_of_splitmix64():
    counters = [(SEED + k * GOLDEN) % 2**64 for k in range(1, 6)]
    assert [int(mix_bits(np.uint64(counter))) for counter in counters] == PUBLISHED
