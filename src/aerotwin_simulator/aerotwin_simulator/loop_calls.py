# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Calls that other threads hand to the thread of the loop, which runs them between its steps."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

T = TypeVar("T")
MAX_WAITING = 200
"""Calls that may wait; whoever has one more waits, too, so that a slow loop holds back its input
rather than fill memory. As many as a subscription of depth `IMU_DEPTH` holds."""


class LoopCalls:
    """Runs what other threads ask for on the thread of the loop, in the order in which it came.

    The state of a simulation is touched by one thread only; asking whether anything waits costs a
    step less than a microsecond.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[Callable[[], None], Future[Any] | None]] = deque()
        self._changed = threading.Condition()
        self._is_closed = False

    # -- other threads ------------------------------------------------------------------------

    def schedule(self, call: Callable[[], None], answer: "Future[Any] | None" = None) -> None:
        """Have a call made, and do not wait for it.

        Raises
        ------
        CancelledError
            If the loop has ended.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or len(self._waiting) < MAX_WAITING)
            if self._is_closed:
                raise CancelledError
            self._waiting.append((call, answer))
            self._changed.notify_all()

    def ask(self, function: Callable[..., T], *arguments: object) -> T:
        """Have a call made and return what it returns.

        Raises
        ------
        CancelledError
            If the loop ends before, or the call raises there.
        """
        answer: Future[T] = Future()

        def call() -> None:
            try:
                answer.set_result(function(*arguments))
            finally:
                answer.cancel()  # without effect on one that is set

        self.schedule(call, answer)
        return answer.result()

    # -- the loop -----------------------------------------------------------------------------

    def run(self) -> None:
        """Make the calls that wait, not those that come meanwhile; what one raises is raised."""
        for _ in range(len(self._waiting)):
            with self._changed:
                call, _ = self._waiting.popleft()
                self._changed.notify_all()
            call()

    def wait(self, timeout_s: float) -> None:
        """Wait for calls at most this long, and make those that came.

        Parameters
        ----------
        timeout_s : float
            Wall time [s].
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting, timeout_s)
        self.run()

    def close(self) -> None:
        """Make no more calls; whoever waits for one is told. Safe to call twice."""
        with self._changed:
            self._is_closed = True
            for _, answer in self._waiting:
                if answer is not None:
                    answer.cancel()
            self._waiting.clear()
            self._changed.notify_all()
