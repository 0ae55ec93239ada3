# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Simulated time: integer nanoseconds, and the exact instants at which samples are due."""

from decimal import Decimal

NANOSECONDS_PER_SECOND = 1_000_000_000
LONGEST_STAMP_NS = 2**63 - 1
"""The largest int64: after every instant."""


def to_seconds(stamp_ns: int) -> float:
    """Return nanoseconds as float seconds."""
    return stamp_ns / NANOSECONDS_PER_SECOND


def from_seconds(seconds: float) -> int:
    """Return float seconds as integer nanoseconds, rounded to the nearest."""
    return round(seconds * NANOSECONDS_PER_SECOND)


def stamp_of_text(text: str, digits: int = 9) -> int:
    """Return a decimal number as integer nanoseconds, exact to the last digit of the text.

    A float would lose the nanoseconds of times since 1970. Digits below a nanosecond are cut.
    `digits` are those of the unit: 9 for seconds, 0 for nanoseconds.

    Raises `ValueError` if it is no number, or too large for an int64.

    >>> stamp_of_text("1700000000.000000001"), stamp_of_text("-5e-1"), stamp_of_text("7", 6)
    (1700000000000000001, -500000000, 7000000)
    """
    whole, _, fraction = text.partition(".")
    if whole.isdigit() and (fraction.isdigit() or not fraction) and len(whole) + digits < 19:
        return int(whole) * 10**digits + int((fraction + "000000000")[:digits] or 0)
    try:
        stamp = int((Decimal(text) * 10**digits).to_integral_value())
    except (ArithmeticError, ValueError):  # those of decimal are no OverflowError
        raise ValueError(f"{text[:40]!r} is no time") from None
    if abs(stamp) > LONGEST_STAMP_NS:
        raise ValueError(f"{text[:40]!r} is no time in this unit")
    return stamp


class Schedule:
    """The instants at which something of a fixed rate is due, queried step by step.

    Sample k is due at k / rate, rounded to the nanosecond from the exact quotient, so that rates
    that do not divide the simulation step (20 Hz, 30 Hz in steps of 4 ms) never drift. The first
    sample is the first one due after `after_ns`.

    Raises `ValueError` if the rate is not positive.

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
        self.next_ns = self._due_ns()
        """The next instant that is due."""
        while self.next_ns <= after_ns:
            self._advance()

    def until(self, stamp_ns: int) -> list[int]:
        """Return the instants due since the last call, up to and including stamp_ns."""
        if self.next_ns > stamp_ns:
            return []
        times = []
        while self.next_ns <= stamp_ns:
            times.append(self.next_ns)
            self._advance()
        return times

    def _advance(self) -> None:
        self._k += 1
        self.next_ns = self._due_ns()

    def _due_ns(self) -> int:
        return (2 * self._k * self._period + self._numerator) // (2 * self._numerator)
