# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Publishes recorded bytes with their recorded QoS, and receives those that a SLAM publishes."""

import time
from collections.abc import Callable, Iterable

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from aerotwin_core.errors import UserError
from aerotwin_core.messages import clock_message, serialize
from aerotwin_core.ros.lockstep import OVERRIDABLE
from aerotwin_core.ros.message_classes import message_class
from aerotwin_core.ros.qos import CLOUD_DEPTH, IMAGE_DEPTH, IMU_DEPTH, reliable
from aerotwin_run_evaluation.bag.playing import PlayedTopic

CLOCK_PERIOD_NS = 10_000_000
"""Between two messages on /clock, in time of the bag: 100 Hz are enough for timers."""
_CLOCK = "rosgraph_msgs/msg/Clock"
_DEPTHS = {"sensor_msgs/msg/Image": IMAGE_DEPTH, "sensor_msgs/msg/PointCloud2": CLOUD_DEPTH}
_LOOK_PERIOD_S = 0.2

Receive = Callable[[str, str, bytes], None]


class ReplayPublisher:
    """Publishes the topics of a plan, and /clock.

    `unknown` are topics whose type this ROS installation lacks: they are not played. `n_refused`
    counts the messages refused by the middleware.
    """

    def __init__(self, node: Node, topics: tuple[PlayedTopic, ...]) -> None:
        self.unknown: list[str] = []
        self.n_refused = 0
        self._publishers: dict[str, list[Publisher]] = {}
        self._clock = node.create_publisher(message_class(_CLOCK), "/clock", reliable(IMU_DEPTH))
        self._next_clock_ns: int | None = None
        for topic in topics:
            try:
                publisher = node.create_publisher(
                    message_class(topic.msgtype),
                    topic.name,
                    _profile(topic),
                    qos_overriding_options=OVERRIDABLE,
                )
            except UserError:
                self.unknown.append(topic.source)
                continue
            self._publishers.setdefault(topic.source, []).append(publisher)

    def n_subscribers(self, source: str | None) -> int:
        """Return the number of matched subscriptions, of one topic of the bag or of all."""
        named = self._publishers.values() if source is None else [self._publishers.get(source, [])]
        return sum(p.get_subscription_count() for publishers in named for p in publishers)

    def publish_clock(self, stamp_ns: int) -> None:
        """Publish /clock, unless it was less than 10 ms of the bag's time ago."""
        if self._next_clock_ns is None or stamp_ns >= self._next_clock_ns:
            self._next_clock_ns = stamp_ns + CLOCK_PERIOD_NS
            self._clock.publish(serialize(clock_message(stamp_ns)))

    def publish_cdr(self, source: str, cdr: bytes) -> None:
        """Publish one message of a topic of the bag."""
        for publisher in self._publishers.get(source, ()):
            try:
                publisher.publish(cdr)
            except RuntimeError:  # rclpy's RCLError: larger than what the transport can carry now
                self.n_refused += 1


def _profile(topic: PlayedTopic) -> QoSProfile:
    usual = _DEPTHS.get(topic.msgtype, IMU_DEPTH)
    durability = (
        DurabilityPolicy.TRANSIENT_LOCAL if topic.qos.is_latched else DurabilityPolicy.VOLATILE
    )
    return QoSProfile(
        depth=max(usual, topic.qos.depth),
        reliability=ReliabilityPolicy.RELIABLE,
        durability=durability,
    )


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
