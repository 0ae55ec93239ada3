# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Buffered samples of an IMU."""

from collections import deque
from typing import Any

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.time import from_seconds, to_seconds

N_RETAINED = 5000  # 5 s at 1 kHz
_NOT_SET = -1.0


class InertialSamples:
    """The last samples: interpolated linearly, held before the first and after the last.

    Samples late by at most `max_gap_s` are dropped. `period_s` is the time between the last two
    samples; infinite before.
    """

    def __init__(self, max_gap_s: float) -> None:
        self._max_gap_ns = from_seconds(max_gap_s)
        self._retained: deque[tuple[int, FloatArray]] = deque(maxlen=N_RETAINED)
        self.period_s = float("inf")

    def add(self, stamp_ns: int, reading: FloatArray) -> bool:
        """Add a sample; False if time went back, which clears all earlier samples."""
        since_ns = stamp_ns - self._retained[-1][0] if self._retained else 0
        has_gone_back = since_ns < -self._max_gap_ns
        if has_gone_back:
            self._retained.clear()
        if since_ns > 0:
            self.period_s = to_seconds(since_ns)
        if since_ns > 0 or not self._retained:
            self._retained.append((stamp_ns, reading))
        return not has_gone_back

    def clear(self) -> None:
        """Drop all samples."""
        self._retained.clear()

    def has_passed(self, begin_ns: int) -> None:
        """Drop the samples before a time [ns], except the last one."""
        while len(self._retained) > 1 and self._retained[1][0] <= begin_ns:
            self._retained.popleft()

    def gap_s(self, begin_ns: int, end_ns: int) -> float:
        """Return the longest time between samples around and in an interval [s], until the last."""
        before = [at_ns for at_ns, _ in self._retained if at_ns < end_ns]
        after = [at_ns for at_ns, _ in self._retained if at_ns >= end_ns][:1]
        known_ns = [*before, *after]
        first_ns = [begin_ns] if known_ns and known_ns[0] > begin_ns else []
        return to_seconds(int(np.diff([*first_ns, *known_ns]).max(initial=0)))

    def lag_s(self, stamp_ns: int) -> float:
        """Return the age of the last sample at a time [s]; infinite without any."""
        return to_seconds(stamp_ns - self._retained[-1][0]) if self._retained else float("inf")

    def means(self, begin_ns: int, end_ns: int) -> tuple[np.ndarray, FloatArray]:
        """Return the steps (n,) [s] that fill an interval, and the mean readings (n, m) in them."""
        knots_ns = np.array([begin_ns, *self._inside(begin_ns, end_ns), end_ns], dtype=np.int64)
        readings = self._at(knots_ns)
        return np.diff(knots_ns) * 1e-9, 0.5 * (readings[1:] + readings[:-1])

    def at(self, stamp_ns: int) -> FloatArray:
        """Return the reading (m,) at a time [ns]."""
        return self._at(np.array([stamp_ns], dtype=np.int64))[0]

    def _inside(self, begin_ns: int, end_ns: int) -> list[int]:
        return [at_ns for at_ns, _ in self._retained if begin_ns < at_ns < end_ns]

    def _at(self, stamps_ns: np.ndarray) -> FloatArray:
        first_ns = self._retained[0][0]
        known = [at_ns - first_ns for at_ns, _ in self._retained]
        columns = np.array([reading for _, reading in self._retained]).T
        return np.column_stack([np.interp(stamps_ns - first_ns, known, one) for one in columns])


def reading_of(message: Any) -> tuple[list[float], list[float]]:
    """Return angular velocity [rad/s] and specific force [m/s^2] of a sensor_msgs/Imu, in its axes.

    Raises
    ------
    ValueError
        If one of them is missing (REP-145: the first covariance is -1).
    """
    for name in ("angular_velocity", "linear_acceleration"):
        if getattr(message, f"{name}_covariance")[0] == _NOT_SET:
            raise ValueError(f"it has no {name} ({name}_covariance[0] is -1); both are needed")
    omega, force = message.angular_velocity, message.linear_acceleration
    return [omega.x, omega.y, omega.z], [force.x, force.y, force.z]
