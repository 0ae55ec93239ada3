# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Shared parts of nodes that run in lockstep: input watchdog, wait for readers, counters.

Time here is wall time on a steady clock: a node that waits for the source of simulated time must
notice when that time stands still.
"""

import time
from collections.abc import Callable, Iterable

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.timer import Timer

from aerotwin_core.errors import UserError
from aerotwin_core.messages import diagnostics_message, serialize
from aerotwin_core.ros.qos import reliable

OVERRIDABLE = QoSOverridingOptions.with_default_policies()
"""For `qos_overriding_options` of publishers and subscriptions."""
_CHECKS_PER_LIMIT = 10.0
_LONGEST_CHECK_PERIOD_S = 1.0
_DIAGNOSTICS_PERIOD_S = 1.0
_DIAGNOSTICS_DEPTH = 10

Report = Callable[[], tuple[int, str, dict[str, str]]]


class InputWatch:
    """Ends a node with one line when its input stops for too long.

    `limit_s` is the longest gap in wall time [s], counted from the first input on; 0 never ends the
    node. The message names the input, `topic`, and what the user should check, `way_out`.
    """

    def __init__(self, node: Node, topic: str, limit_s: float, way_out: str) -> None:
        self._topic = node.resolve_topic_name(topic)
        self._limit_s, self._way_out = limit_s, way_out
        self._last_s: float | None = None
        if limit_s > 0.0:
            period_s = min(limit_s / _CHECKS_PER_LIMIT, _LONGEST_CHECK_PERIOD_S)
            create_wall_timer(node, period_s, self._check)

    def mark_received(self) -> None:
        """Record that input arrived."""
        self._last_s = time.monotonic()

    def _check(self) -> None:
        if self._last_s is not None and time.monotonic() - self._last_s > self._limit_s:
            raise UserError(
                f"nothing came on {self._topic} for {self._limit_s:g} s of wall time; "
                f"{self._way_out}"
            )


class ReaderWait:
    """Waits for the nodes that a run must not begin without: until each of them reads a topic.

    `names` are names of nodes without namespace; `limit_s` is the longest wait in wall time [s].
    """

    def __init__(self, node: Node, topic: str, names: Iterable[str], limit_s: float) -> None:
        self._node, self._topic = node, node.resolve_topic_name(topic)
        self._absent = sorted(set(names))
        self._limit_s, self._start_s = limit_s, time.monotonic()

    def is_over(self) -> bool:
        """Return whether all of them read it; raises UserError that names the rest, too late."""
        if not self._absent:
            return True
        readers = {i.node_name for i in self._node.get_subscriptions_info_by_topic(self._topic)}
        self._absent = [name for name in self._absent if name not in readers]
        if self._absent and time.monotonic() - self._start_s > self._limit_s:
            raise UserError(
                f"{self._topic} is not read by {', '.join(self._absent)} after {self._limit_s:g} s "
                "of wall time; are these nodes running? See above, or wait longer"
            )
        return not self._absent


def create_wall_timer(node: Node, period_s: float, callback: Callable[[], None]) -> Timer:
    """Call `callback` in steady wall time, also where `use_sim_time` is set."""
    return node.create_timer(period_s, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))


def publish_diagnostics(node: Node, report: Report) -> None:
    """Publish what `report` returns (level, message, values) on /diagnostics once a second."""
    publish = node.create_publisher(
        DiagnosticArray,
        "/diagnostics",
        reliable(_DIAGNOSTICS_DEPTH),
        qos_overriding_options=OVERRIDABLE,
    ).publish
    name = node.get_fully_qualified_name().lstrip("/")

    def log() -> None:
        stamp_ns = node.get_clock().now().nanoseconds
        publish(serialize(diagnostics_message(stamp_ns, [(name, *report())])))

    create_wall_timer(node, _DIAGNOSTICS_PERIOD_S, log)
