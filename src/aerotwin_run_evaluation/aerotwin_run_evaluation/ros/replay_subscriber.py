# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Receives a SLAM's outputs as bytes, with the type and QoS of their publishers."""

import time
from collections.abc import Callable, Iterable

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from aerotwin_core.ros.message_classes import message_class
from aerotwin_core.ros.qos import IMU_DEPTH

_LOOK_PERIOD_S = 0.2

Receive = Callable[[str, str, bytes], None]


class SlamOutputs:
    """Subscribes to topics of unknown type as soon as another node publishes them.

    `names` are absolute; `receive` is called with topic, type and bytes of every message. `n_lost`
    counts lost messages by topic, as reported by the middleware.
    """

    def __init__(self, node: Node, names: Iterable[str], receive: Receive) -> None:
        self._node, self._receive = node, receive
        self._requested = dict.fromkeys(names)
        self._next_look_s = 0.0
        self.n_lost: dict[str, int] = {}

    def subscribe_new_topics(self) -> None:
        """Subscribe to new topics; looks at most five times a second."""
        now = time.monotonic()
        if not self._requested or now < self._next_look_s:
            return
        self._next_look_s = now + _LOOK_PERIOD_S
        own = (self._node.get_name(), self._node.get_namespace())
        for name in list(self._requested):
            found = [
                info
                for info in self._node.get_publishers_info_by_topic(name)
                if (info.node_name, info.node_namespace) != own
            ]
            if found:
                del self._requested[name]
                self._subscribe(name, str(found[0].topic_type), [i.qos_profile for i in found])

    def has(self, name: str) -> bool:
        """Return whether a topic has a publisher and is received."""
        return name not in self._requested

    def _subscribe(self, name: str, msgtype: str, offered: list[QoSProfile]) -> None:
        """Request no more than each publisher offers, else the QoS would be incompatible."""
        is_reliable = all(q.reliability == ReliabilityPolicy.RELIABLE for q in offered)
        is_latched = all(q.durability == DurabilityPolicy.TRANSIENT_LOCAL for q in offered)
        self._node.create_subscription(
            message_class(msgtype),
            name,
            lambda cdr: self._receive(name, msgtype, cdr),
            QoSProfile(
                depth=IMU_DEPTH,
                reliability=ReliabilityPolicy.RELIABLE
                if is_reliable
                else ReliabilityPolicy.BEST_EFFORT,
                durability=DurabilityPolicy.TRANSIENT_LOCAL
                if is_latched
                else DurabilityPolicy.VOLATILE,
            ),
            raw=True,
            event_callbacks=SubscriptionEventCallbacks(
                message_lost=lambda lost: self.n_lost.update({name: lost.total_count})
            ),
        )
