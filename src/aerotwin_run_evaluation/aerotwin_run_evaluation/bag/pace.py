# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pacing of a bag replay."""

import time
from collections.abc import Callable

AUTOMATIC, LOCKSTEP = -1.0, 0.0
"""Rates besides the factors of real time: see `ReplayParameters.rate`."""


class RealTimePace:
    """Delays each message until its time; `rate` is recorded time by wall time, above 0.

    `meanwhile`: called with the time left [s] while waiting; it may return early. `clock`:
    monotonic wall clock [s].

    `lag_s`: largest delay of a message [s, wall].
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
        """Return when a message of this stamp is due; the first one is due at once."""
        if self._start is None:
            self._start = stamp_ns, self._clock()
        first_ns, since = self._start
        due = since + (stamp_ns - first_ns) * 1e-9 / self.rate
        while (left := due - self._clock()) > 0.0:
            self._meanwhile(left)
        self.lag_s = max(self.lag_s, self._clock() - due)


class LastAnswers:
    """Decides when to stop waiting for answers to the last message; `clock` is monotonic [s]."""

    QUIET_S = 1.0
    """Without an answer for this long, none is expected any more."""
    LONGEST_S = 10.0
    """Later answers are not recorded."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start_s = self._heard_s = clock()

    def heard(self) -> None:
        """Register an answer."""
        self._heard_s = self._clock()

    @property
    def are_over(self) -> bool:
        """Whether no answer came for `QUIET_S`, or `LONGEST_S` have passed."""
        now = self._clock()
        return now - self._heard_s >= self.QUIET_S or now - self._start_s >= self.LONGEST_S
