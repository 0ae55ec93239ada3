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


def due_times_ns(rate_hz: float, after_ns: int, until_ns: int) -> list[int]:
    """Return the instants in (after_ns, until_ns] at which a sensor of this rate is due.

    Sample k is due at k / rate, rounded to the nanosecond from the exact quotient, so that rates
    that do not divide the simulation step (20 Hz, 30 Hz in steps of 4 ms) never drift.

    Raises
    ------
    ValueError
        If the rate is not positive.

    Examples
    --------
    >>> due_times_ns(30.0, 0, 100_000_000)
    [33333333, 66666667, 100000000]
    """
    if not rate_hz > 0.0:
        raise ValueError(f"rate_hz must be positive, got {rate_hz}")
    numerator, denominator = float(rate_hz).as_integer_ratio()
    period = NANOSECONDS_PER_SECOND * denominator

    def due(k: int) -> int:
        return (2 * k * period + numerator) // (2 * numerator)

    k = after_ns * numerator // period
    times = []
    while due(k) <= until_ns:
        if due(k) > after_ns:
            times.append(due(k))
        k += 1
    return times
