# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Thread pools for compiled kernels that release the interpreter lock.

Tasks do not share an output, and ranges do not depend on the number of threads: the result has the
same bytes on every machine, also for sums that are stored per range and added in order. These
replace numba's parallel loops: no OpenMP threads that spin while others compute, none that break
after a fork, and a third of the compile time.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

T = TypeVar("T")

N_BANDS, N_RANGES = 24, 8
_WORTH_A_THREAD = 4000
"""Elements of a range; fewer are done sooner than handed over."""
_SIGNALS_S = 0.1
"""A signal ends no wait of Python for another thread: it is heard after so long."""


def default_thread_count() -> int:
    """Return the number of CPU cores that this process may use, four at most."""
    return min(len(os.sched_getaffinity(0)), 4)


@cache
def _pool(name: str, n_threads: int, process_id: int) -> ThreadPoolExecutor:
    """One pool per kind, size and process (a forked child has no threads of its parent's pool).

    Tasks may wait for ranges, so the two must not share threads.
    """
    return ThreadPoolExecutor(n_threads, thread_name_prefix=name)


def run_tasks(kernel: Callable[..., object], tasks: Sequence[tuple], n_threads: int) -> list:
    """Call ``kernel(*task)`` for every task, spread over threads; return the results in order."""
    if n_threads <= 1 or len(tasks) <= 1:
        return [kernel(*task) for task in tasks]
    submit = _pool("tasks", n_threads, os.getpid()).submit
    return [future.result() for future in [submit(kernel, *task) for task in tasks]]


def split_range(n: int, n_parts: int) -> list[tuple[int, int]]:
    """Return ``n_parts`` consecutive (start, stop) ranges that cover 0..n, without empty ones."""
    edges = [n * i // n_parts for i in range(n_parts + 1)]
    return [(a, b) for a, b in pairwise(edges) if b > a]


def fill_bands(kernel: Callable[..., object], n_rows: int, *arguments: Any) -> None:
    """Call ``kernel(start, stop, *arguments)``, which fills rows of its last arguments, for all."""
    tasks = [(start, stop, *arguments) for start, stop in split_range(n_rows, N_BANDS)]
    run_tasks(kernel, tasks, default_thread_count())


def ranges_of(n: int) -> list[tuple[int, int]]:
    """Return (start, stop) of consecutive ranges that cover 0..n, at least one."""
    return split_range(n, max(1, min(N_RANGES, n // _WORTH_A_THREAD))) or [(0, 0)]


def run_ranges(kernel: Callable[..., Any], n: int, *arguments: Any) -> list[Any]:
    """Return ``kernel(start, stop, *arguments)`` of every range of n, in order."""
    ranges = ranges_of(n)
    if len(ranges) == 1:
        return [kernel(*ranges[0], *arguments)]
    n_threads = min(len(os.sched_getaffinity(0)), N_RANGES)
    submit = _pool("ranges", n_threads, os.getpid()).submit
    futures = [submit(kernel, start, stop, *arguments) for start, stop in ranges]
    return [future.result() for future in futures]


def begin_in_background(call: Callable[[], T]) -> Future[T]:
    """Begin a call in a thread of its own; the end of the process does not wait for it."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="background", daemon=True).start()
    return future


def in_background(call: Callable[[], T]) -> Callable[[], T]:
    """Begin a call as above, and return what waits for its result or its exception."""
    future = begin_in_background(call)

    def result() -> T:
        while not future.done():
            with suppress(TimeoutError):
                future.exception(_SIGNALS_S)
        return future.result()

    return result


class CallsInOrder:
    """Calls that a thread of its own makes one after another, while the caller goes on.

    At most `n_waiting` are not yet done: one more waits for the first of them. Once a call raises,
    no later one is made, and every `add`, `make_room`, `wait` and `close` from then on raises its
    exception. The thread ends with `close`, or when nothing refers to this object any more.
    """

    def __init__(self, n_waiting: int) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="calls in order")
        self._n_waiting = n_waiting
        self._waiting: deque[Future[None]] = deque()
        self._has_failed = False

    def add(self, call: Callable[..., object], *arguments: Any) -> None:
        """Have a call made after those before it."""
        self.make_room()
        self._waiting.append(self._pool.submit(self._make, call, arguments))

    def make_room(self) -> None:
        """Return when `add` need not wait."""
        waiting = self._waiting
        while waiting and (len(waiting) >= self._n_waiting or waiting[0].done()):
            self._wait_for_first()

    def wait(self) -> None:
        """Return when all are made."""
        while self._waiting:
            self._wait_for_first()

    def close(self) -> None:
        """Return when all are made; none may follow."""
        try:
            self.wait()
        finally:
            self._pool.shutdown()

    def _wait_for_first(self) -> None:
        self._waiting[0].result()  # a call that has raised stays the first
        self._waiting.popleft()

    def _make(self, call: Callable[..., object], arguments: tuple[Any, ...]) -> None:
        if self._has_failed:
            return
        self._has_failed = True
        call(*arguments)
        self._has_failed = False
