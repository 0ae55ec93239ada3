# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Calls from other threads to the thread of the loop, which runs them between its steps."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

T = TypeVar("T")
MAX_WAITING = 200
"""Calls that may wait; the caller of one more blocks, so that a slow loop holds back its input
rather than fill memory. As many as a subscription of depth `IMU_DEPTH` holds."""


class LoopCalls:
    """Runs calls of other threads on the thread of the loop, in the order of arrival.

    The state of a simulation is touched by one thread only; checking for calls costs a step less
    than a microsecond.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[Callable[[], None], Future[Any] | None]] = deque()
        self._changed = threading.Condition()
        self._is_closed = False

    # -- other threads ------------------------------------------------------------------------

    def schedule(self, call: Callable[[], None], answer: "Future[Any] | None" = None) -> None:
        """Schedule a call without waiting for it. Raises CancelledError if the loop has ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or len(self._waiting) < MAX_WAITING)
            if self._is_closed:
                raise CancelledError
            self._waiting.append((call, answer))
            self._changed.notify_all()

    def ask(self, function: Callable[..., T], *arguments: object) -> T:
        """Schedule a call and return its result. Raises CancelledError if the loop ends before."""
        answer: Future[T] = Future()

        def call() -> None:
            try:
                answer.set_result(function(*arguments))
            finally:
                answer.cancel()  # without effect if it is set

        self.schedule(call, answer)
        return answer.result()

    # -- the loop -----------------------------------------------------------------------------

    def run(self) -> None:
        """Run the waiting calls, not those that arrive meanwhile; their exceptions propagate."""
        for _ in range(len(self._waiting)):
            with self._changed:
                call, _ = self._waiting.popleft()
                self._changed.notify_all()
            call()

    def wait(self, timeout_s: float) -> None:
        """Wait for calls at most this wall time, and run those that arrived."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting, timeout_s)
        self.run()

    def close(self) -> None:
        """Run no more calls; waiting callers get CancelledError. Safe to call twice."""
        with self._changed:
            self._is_closed = True
            for _, answer in self._waiting:
                if answer is not None:
                    answer.cancel()
            self._waiting.clear()
            self._changed.notify_all()
