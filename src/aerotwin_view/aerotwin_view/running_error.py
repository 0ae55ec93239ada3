# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How far an estimate is from the truth while both are still running."""

import math
from bisect import bisect_left
from collections import deque

import numpy as np

from aerotwin_core.frames import FloatArray, invert_transform, slerp, transform_from_pose

MOST_GAP_NS = 250_000_000
"""Between two poses of the truth that one is interpolated from."""
_MOST_TRUTHS, _MOST_WAITING = 2000, 500
_BACK_NS = 1_000_000_000
"""Time that goes back by so much begins anew."""
_NS = 1e9


class RunningError:
    """Error of the positions of an estimate against the truth of the same stamp.

    The frame of the estimate is laid on map once: so that both poses, position and attitude, are
    the same at the first stamp that both have. Nothing is fitted after that. The truth at a stamp
    is interpolated between its neighbours, unless they are more than `MOST_GAP_NS` apart.
    """

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self.clear()

    def clear(self) -> None:
        """Begin anew: forget poses, placement and errors."""
        self._stamps: deque[int] = deque(maxlen=_MOST_TRUTHS)
        self._truths: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=_MOST_TRUTHS)
        self._waiting: deque[tuple[int, FloatArray, FloatArray]] = deque(maxlen=_MOST_WAITING)
        self._start_ns, self._last_ns = -1, -1
        self._sum_squared, self._n, self._error_m, self._flown_m = 0.0, 0, math.nan, 0.0
        self.T_map_odom: FloatArray | None = None

    def add_truth(self, stamp_ns: int, p_map: FloatArray, q_map_body: FloatArray) -> None:
        """Add a pose of the truth; one of a time that was already has no effect."""
        if self._stamps and stamp_ns <= self._stamps[-1]:
            if stamp_ns < self._stamps[-1] - _BACK_NS:
                self.clear()
            else:
                return
        if self._truths and self.T_map_odom is not None:
            self._flown_m += float(np.linalg.norm(p_map - self._truths[-1][0]))
        self._stamps.append(stamp_ns)
        self._truths.append((p_map, q_map_body))

    def add_estimate(self, stamp_ns: int, p_odom: FloatArray, q_odom_body: FloatArray) -> None:
        """Add a pose of the estimate; it waits for the truth."""
        self._waiting.append((stamp_ns, p_odom, q_odom_body))

    def compare(self) -> None:
        """Compare the estimates whose truth has come."""
        while self._waiting and self._stamps and self._waiting[0][0] <= self._stamps[-1]:
            stamp_ns, p_odom, q_odom_body = self._waiting.popleft()
            truth = self._truth_at(stamp_ns)
            if truth is not None and stamp_ns > self._last_ns:
                self._last_ns = stamp_ns
                self._add_error(*truth, transform_from_pose(p_odom, q_odom_body))

    def text(self) -> str:
        """Return in words how large the error is, and of what exactly; "" before the first."""
        if not self._n:
            return ""
        share = 100.0 * self._error_m / self._flown_m if self._flown_m > 1.0 else 0.0
        of_way = f", {share:.1f} % of {self._flown_m:.0f} m flown" if share else ""
        rms_m = math.sqrt(self._sum_squared / self._n)
        return (
            f"{self._topic}: {self._error_m:.2f} m from the truth at {self._last_ns / _NS:.2f} s"
            f"{of_way}; RMS of {self._n} positions {rms_m:.2f} m. "
            f"Laid on the truth, position and attitude, at {self._start_ns / _NS:.2f} s, their "
            "first common stamp that this page heard; no fit after it"
        )

    @property
    def error_m(self) -> float:
        """The last error [m], NaN before the first."""
        return self._error_m

    def _add_error(
        self, p_map: FloatArray, q_map_body: FloatArray, T_odom_body: FloatArray
    ) -> None:
        if self.T_map_odom is None:
            self._start_ns = self._last_ns
            self.T_map_odom = transform_from_pose(p_map, q_map_body) @ invert_transform(T_odom_body)
        placed = self.T_map_odom @ T_odom_body
        self._error_m = float(np.linalg.norm(placed[:3, 3] - p_map))
        self._sum_squared += self._error_m**2
        self._n += 1

    def _truth_at(self, stamp_ns: int) -> tuple[FloatArray, FloatArray] | None:
        """Return position and quaternion at a stamp up to the last one; None if it is not known."""
        k = bisect_left(self._stamps, stamp_ns)
        if self._stamps[k] == stamp_ns:
            return self._truths[k]
        if k == 0 or self._stamps[k] - self._stamps[k - 1] > MOST_GAP_NS:
            return None
        (p_before, q_before), (p_after, q_after) = self._truths[k - 1], self._truths[k]
        share = (stamp_ns - self._stamps[k - 1]) / (self._stamps[k] - self._stamps[k - 1])
        q = slerp(q_before, q_after, np.array([share]))
        return p_before + share * (p_after - p_before), q
