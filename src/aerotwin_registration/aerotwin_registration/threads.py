# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels over ranges of points, on as many threads as there are cores.

The ranges do not depend on the number of threads; sums that kernels keep per range and that are
added in order have the same bits on every machine.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

N_RANGES = 8
_WORTH_A_THREAD = 4000
"""Points of a range; fewer are done sooner than handed over."""


@cache
def _pool(process_id: int) -> ThreadPoolExecutor:
    """One pool per process: a forked child has no threads of its parent's."""
    n_threads = min(len(os.sched_getaffinity(0)), N_RANGES)
    return ThreadPoolExecutor(n_threads, thread_name_prefix="registration")


def ranges_of(n: int) -> list[tuple[int, int]]:
    """Return (start, stop) of consecutive ranges that cover 0..n."""
    n_ranges = max(1, min(N_RANGES, n // _WORTH_A_THREAD))
    return list(pairwise([n * i // n_ranges for i in range(n_ranges + 1)]))


def run_ranges(kernel: Callable[..., Any], n: int, *arguments: Any) -> list[Any]:
    """Return ``kernel(start, stop, *arguments)`` of every range of n, in order."""
    ranges = ranges_of(n)
    if len(ranges) == 1:
        return [kernel(*ranges[0], *arguments)]
    submit = _pool(os.getpid()).submit
    futures = [submit(kernel, start, stop, *arguments) for start, stop in ranges]
    return [future.result() for future in futures]
