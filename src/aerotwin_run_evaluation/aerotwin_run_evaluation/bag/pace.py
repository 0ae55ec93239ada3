# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How fast a bag is played: each message when its time has come."""

import time
from collections.abc import Callable

AUTOMATIC, LOCKSTEP = -1.0, 0.0
"""Rates besides the factors of real time: see `ReplayParameters.rate`."""


class RealTimePace:
    """Holds messages back until their time has come.

    Parameters
    ----------
    rate : float
        Recorded by wall time, above 0.
    meanwhile : callable
        Called with the time left [s] while waiting; it may return early.
    clock : callable
        Monotonic wall clock [s].

    Attributes
    ----------
    rate : float
        As given.
    lag_s : float
        How late the latest message was at most [s, wall].
    """

    def __init__(
        self,
        rate: float,
        *,
        meanwhile: Callable[[float], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not rate > 0.0:
            raise ValueError(f"rate must be positive, got {rate}")
        self.rate, self._meanwhile, self._clock = rate, meanwhile, clock
        self._start: tuple[int, float] | None = None
        self.lag_s = 0.0

    def wait(self, stamp_ns: int) -> None:
        """Return when it is time for a message of this stamp; the first one's is now."""
        if self._start is None:
            self._start = stamp_ns, self._clock()
        first_ns, since = self._start
        due = since + (stamp_ns - first_ns) * 1e-9 / self.rate
        while (left := due - self._clock()) > 0.0:
            self._meanwhile(left)
        self.lag_s = max(self.lag_s, self._clock() - due)


class LastAnswers:
    """Tells when nothing more is waited for after the last message was played.

    Parameters
    ----------
    clock : callable
        Monotonic wall clock [s].
    """

    QUIET_S = 1.0
    """No answer for so long: there is none any more."""
    LONGEST_S = 10.0
    """What comes later is not recorded, however many answers still come."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start_s = self._heard_s = clock()

    def heard(self) -> None:
        """An answer came."""
        self._heard_s = self._clock()

    @property
    def are_over(self) -> bool:
        """Whether it has been quiet, or long, enough."""
        now = self._clock()
        return now - self._heard_s >= self.QUIET_S or now - self._start_s >= self.LONGEST_S
