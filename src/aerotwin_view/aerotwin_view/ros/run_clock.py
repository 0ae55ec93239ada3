# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Simulated time as /clock says it, and how it passes against wall time."""

from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from aerotwin_core.ros.conversions import ns_from_stamp
from aerotwin_view.panels.steering_panel import speed_text
from aerotwin_view.ros.polled_topic import PolledTopic

STILL_S = 0.5
"""Simulated time that did not change for so long in wall time stands still."""
PAUSED_S = 2.0
"""After so long a run is called paused: one that waits for a SLAM stands still for less."""
_MOST_LOOKS = 11
_SECOND = 1e9


class RunClock:
    """Reads /clock by a node that is not spun; times `now_s` are monotonic [s]."""

    def __init__(self, node: Node, now_s: float) -> None:
        self._node = node
        self._topic: PolledTopic | None = None
        self._read_s = self._moved_s = now_s
        self._looks = [(now_s, 0)]
        self.stamp_ns = 0  # 0 before the first
        self.began_anew = False  # at the last read

    def read(self, now_s: float) -> float:
        """Return the wall time since the last read [s], 0 while simulated time stands still."""
        if self._topic is None:
            self._topic = PolledTopic(self._node, "/clock", Clock)
        before_ns, before_s = self.stamp_ns, self._read_s
        if (clock := self._topic.take()) is not None:
            self.stamp_ns = ns_from_stamp(clock.clock)
        self.began_anew = self.stamp_ns < before_ns
        self._read_s = now_s
        if self.stamp_ns != before_ns or not self.stamp_ns:
            self._moved_s = now_s
        return now_s - before_s if now_s - self._moved_s < STILL_S else 0.0

    def rest(self) -> None:
        """Receive nothing until the next read."""
        if self._topic is not None:
            self._topic.close()
            self._topic = None

    @property
    def is_paused(self) -> bool:
        """Whether simulated time was heard, and has not passed for some seconds."""
        return self.stamp_ns > 0 and self._read_s - self._moved_s >= PAUSED_S

    @property
    def is_over(self) -> bool:
        """Whether simulated time was heard and nobody publishes it any more."""
        return self.stamp_ns > 0 and not self._node.count_publishers("/clock")

    def text(self, now_s: float, n_robots: int, speed: float | None) -> str:
        """Return the simulated time, how it passed over the last calls, and the speed that is set.

        `speed` is 0 for as fast as possible, None if it is not known.
        """
        self._looks = [*self._looks[1 - _MOST_LOOKS :], (now_s, self.stamp_ns)]
        (first_s, first_ns), (last_s, last_ns) = self._looks[0], self._looks[-1]
        factor = (last_ns - first_ns) / _SECOND / max(last_s - first_s, 1e-3)
        robots = f"{n_robots} robot{'' if n_robots == 1 else 's'}"
        if not self.stamp_ns:
            is_there = self._node.count_publishers("/clock") > 0
            found = "the simulation starts" if is_there else "no simulation is heard"
            return f"{robots}; {found}"
        at = f"{self.stamp_ns / _SECOND:.1f} s"
        if self.is_over:
            ended = f"the run ended at {at}, {robots}"
            return f"{ended}; its terminal says how, and where its report is"
        is_paused = self.is_paused or last_ns == first_ns
        state = "paused" if is_paused else f"{max(factor, 0.0):.2f} x real time"
        asked = "" if speed is None else f"; speed set: {speed_text(speed)}"
        return f"{at}, {state}, {robots}{asked}"
