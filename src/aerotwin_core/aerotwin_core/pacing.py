# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Wall time against simulated time: the speed factor, pauses and the real-time factor."""

import time
from collections.abc import Callable

LONGEST_SLEEP_S = 0.05
"""Longer sleeps are split so that Ctrl-C is handled."""


class Pacer:
    """Holds the loop back to `speed` times real time; 0 lets it run freely.

    `clock` is a monotonic wall clock [s], `sleep` lets wall time [s] pass: it may return early and
    may set the speed, as the due time is computed anew after each.
    """

    def __init__(
        self,
        speed: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._speed = speed
        self._anchor: tuple[float, int] | None = None

    @property
    def speed(self) -> float:
        """Simulated over wall time; 0 = as fast as possible."""
        return self._speed

    def set_speed(self, speed: float) -> None:
        """Continue at another speed."""
        self._speed = speed
        self._anchor = None

    def restart(self) -> None:
        """Restart after a pause or a wait, so that lost time is not caught up."""
        self._anchor = None

    def wait_until_due(self, stamp_ns: int) -> None:
        """Sleep until simulated time stamp_ns is due."""
        while (ahead := self._ahead_s(stamp_ns)) > 0.0:
            self._sleep(min(ahead, LONGEST_SLEEP_S))
        if ahead < -1.0:  # more than a second late: continue from here without catching up
            self._anchor = None

    def _ahead_s(self, stamp_ns: int) -> float:
        """Return the wall time left until simulated time stamp_ns [s]."""
        if self._speed <= 0.0:
            return 0.0
        now = self._clock()
        if self._anchor is None:
            self._anchor = (now, stamp_ns)
        wall, start_ns = self._anchor
        return wall + (stamp_ns - start_ns) * 1e-9 / self._speed - now


class RealTimeFactor:
    """Simulated over wall time, over the last seconds and in total."""

    WINDOW_S = 2.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start: tuple[float, int] | None = None
        self._window: tuple[float, int] | None = None
        self.recent = 0.0
        self.overall = 0.0

    def restart(self) -> None:
        """Begin anew: simulated time goes back to zero."""
        self._start = self._window = None
        self.recent = 0.0

    def update(self, stamp_ns: int) -> None:
        """Record that simulated time has reached stamp_ns."""
        now = self._clock()
        if self._start is None or self._window is None:
            self._start = self._window = (now, stamp_ns)
            return
        wall = now - self._start[0]
        self.overall = (stamp_ns - self._start[1]) * 1e-9 / wall if wall > 0.0 else 0.0
        span = now - self._window[0]
        if span >= self.WINDOW_S:
            self.recent = (stamp_ns - self._window[1]) * 1e-9 / span
            self._window = (now, stamp_ns)
        elif self.recent == 0.0:
            self.recent = self.overall
