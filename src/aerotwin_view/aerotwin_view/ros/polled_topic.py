# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The newest message of a topic, looked at now and then."""

from collections.abc import Iterator, Sequence
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from aerotwin_core.ros.qos import LATCHED
from aerotwin_core.ros.waiting_messages import waiting_messages


def _newest(depth: int) -> QoSProfile:
    """Return the QoS of a reader for whom nobody waits, and that meets every publisher."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.VOLATILE,
    )


TopicGraph = Sequence[tuple[str, Sequence[str]]]
"""Names of topics and their types, as `Node.get_topic_names_and_types` returns them."""


def published_topics(node: Node, graph: TopicGraph, msgtype: str, ending: str = "") -> list[str]:
    """Return the topics of a type that somebody publishes; only of these that is asked for."""
    return [
        topic
        for topic, types in graph
        if msgtype in types and topic.endswith(ending) and node.count_publishers(topic)
    ]


class PolledTopic:
    """A subscription that is never waited for: no executor wakes, messages between are dropped.

    Its node must not be spun. With `is_raw` messages are taken as their CDR bytes. `depth` of them
    wait at most.
    """

    def __init__(
        self,
        node: Node,
        topic: str,
        kind: Any,
        *,
        is_latched: bool = False,
        is_raw: bool = False,
        depth: int = 1,
    ) -> None:
        self._node = node
        qos = LATCHED if is_latched else _newest(depth)
        self._subscription = node.create_subscription(kind, topic, lambda _: None, qos, raw=is_raw)

    def take(self) -> Any:
        """Return the oldest message that waits, the only one but of latched topics, or None."""
        return next(waiting_messages(self._subscription), None)

    def take_all(self) -> Iterator[Any]:
        """Yield the messages that wait, oldest first."""
        return waiting_messages(self._subscription)

    def close(self) -> None:
        """End the subscription."""
        self._node.destroy_subscription(self._subscription)
