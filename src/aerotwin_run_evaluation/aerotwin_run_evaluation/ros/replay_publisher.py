# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Publishes recorded bytes with their recorded QoS."""

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
