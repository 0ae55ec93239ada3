# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Threads that read and decode tiles; results come in the order of the requests."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from aerotwin_core.cli import progress

T = TypeVar("T")
Q = TypeVar("Q")


class Workers:
    """A pool of threads.

    With ``show_progress``, `each` shows a progress bar on a terminal when it has a text.
    """

    def __init__(self, n_threads: int, *, show_progress: bool = False) -> None:
        self.n_threads = n_threads
        self._show_progress = show_progress
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="tiles")

    def close(self) -> None:
        """Stop the threads; requests that have not begun are dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def each(self, ask: Callable[[Q], T], questions: Sequence[Q], text: str = "") -> Iterator[T]:
        """Call a function for each question; yield the results in the order of the questions."""
        if not (text and self._show_progress):
            yield from self._pool.map(ask, questions)
            return
        with progress(len(questions), text, unit="tile") as bar:
            for answer in self._pool.map(ask, questions):
                bar.update(1)
                yield answer
