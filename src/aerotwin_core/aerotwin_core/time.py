# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Simulated time: integer nanoseconds, and the exact instants at which samples are due."""

NANOSECONDS_PER_SECOND = 1_000_000_000


def to_seconds(stamp_ns: int) -> float:
    """Return nanoseconds as float seconds."""
    return stamp_ns / NANOSECONDS_PER_SECOND


def from_seconds(seconds: float) -> int:
    """Return float seconds as integer nanoseconds, rounded to the nearest."""
    return round(seconds * NANOSECONDS_PER_SECOND)


class Schedule:
    """The instants at which something of a fixed rate is due, asked for step by step.

    Sample k is due at k / rate, rounded to the nanosecond from the exact quotient, so that rates
    that do not divide the simulation step (20 Hz, 30 Hz in steps of 4 ms) never drift.

    Parameters
    ----------
    rate_hz : float
        Samples per second.
    after_ns : int
        The first sample is the first one due after this instant [ns].

    Raises
    ------
    ValueError
        If the rate is not positive.

    Examples
    --------
    >>> schedule = Schedule(30.0)
    >>> schedule.until(50_000_000), schedule.until(100_000_000)
    ([33333333], [66666667, 100000000])
    """

    def __init__(self, rate_hz: float, after_ns: int = 0) -> None:
        if not rate_hz > 0.0:
            raise ValueError(f"rate_hz must be positive, got {rate_hz}")
        self._numerator, denominator = float(rate_hz).as_integer_ratio()
        self._period = NANOSECONDS_PER_SECOND * denominator
        self._k = after_ns * self._numerator // self._period
        self._next_ns = self._due_ns()
        while self._next_ns <= after_ns:
            self._advance()

    def until(self, stamp_ns: int) -> list[int]:
        """Return the instants due since the last call, up to and with stamp_ns."""
        if self._next_ns > stamp_ns:
            return []
        times = []
        while self._next_ns <= stamp_ns:
            times.append(self._next_ns)
            self._advance()
        return times

    def _advance(self) -> None:
        self._k += 1
        self._next_ns = self._due_ns()

    def _due_ns(self) -> int:
        return (2 * self._k * self._period + self._numerator) // (2 * self._numerator)
