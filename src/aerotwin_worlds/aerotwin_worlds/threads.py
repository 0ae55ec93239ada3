# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A thread pool for compiled kernels that release the interpreter lock.

Kernels work on ranges that do not share an output, so that the result has the same bytes
whatever the number of threads. A pool of our own, not numba's parallel loops: no OpenMP threads
that spin while others compute, none that break after a fork, and a third of the compile time.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise


def default_thread_count() -> int:
    """Return the number of CPU cores that this process may use, four at most."""
    return min(len(os.sched_getaffinity(0)), 4)


@cache
def _pool(n_threads: int, process_id: int) -> ThreadPoolExecutor:
    """One pool per size and process (a forked child has no threads of its parent's pool)."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="worlds")


def run_tasks(kernel: Callable[..., object], tasks: Sequence[tuple], n_threads: int) -> list:
    """Call ``kernel(*task)`` for every task, spread over threads; return the results in order."""
    if n_threads <= 1 or len(tasks) <= 1:
        return [kernel(*task) for task in tasks]
    futures = [_pool(n_threads, os.getpid()).submit(kernel, *task) for task in tasks]
    return [future.result() for future in futures]


def split_range(n: int, n_parts: int) -> list[tuple[int, int]]:
    """Return ``n_parts`` consecutive (start, stop) ranges that cover 0..n; empty ones left out."""
    edges = [n * i // n_parts for i in range(n_parts + 1)]
    return [(a, b) for a, b in pairwise(edges) if b > a]
