# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""ROS topics as sinks of the loop: publishes serialised bytes, receives those of other nodes."""

import struct
import time
from collections.abc import Callable, Sequence

import numpy as np
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos_overriding_options import QoSOverridingOptions

from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.message_rows import Values
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.message_classes import message_class
from aerotwin_core.ros.parameters import ConfiguredNode
from aerotwin_core.ros.qos import CLOUD_DEPTH, IMAGE_DEPTH, IMU_DEPTH, LATCHED, reliable
from aerotwin_core.ros.sources import pose_sources
from aerotwin_simulator.topics import MessageSink, Publish, PublishBlock, Topic

_COUNT_PERIOD_S, _COUNT_SHARE = 0.2, 0.01
"""Wall time between two counts of subscribers, and the most of it that a count may take: a hundred
vehicles have 1,400 publishers."""
_NO_EVENTS = PublisherEventCallbacks(use_default_callbacks=False)
"""A subscriber with another QoS is warned by its own node; each event of each publisher would have
a part in every wait of the executor."""
_STAMP = struct.Struct("<iI")
_ENCAPSULATION = 4


class RosSink(MessageSink):
    """Publishes the messages of the loop, in the node's namespace.

    Topics without subscribers are not sent (latched ones always are). While the run is faster than
    real time and no node is waited for, each topic is thinned to its nominal rate in wall time;
    the bag is not.
    """

    def __init__(self, node: Node) -> None:
        self._publishers: dict[str, Publisher] = {}
        self._has_subscribers: dict[str, bool] = {}
        self._last_sent: dict[tuple[str, str], float] = {}
        self._next_count = 0.0
        self._node = node
        self._is_thinned = False

    def add(self, topic: Topic) -> None:
        """Create the publisher of a topic, once: a reset declares topics again."""
        if topic.name in self._publishers:
            return
        depth = CLOUD_DEPTH if topic.is_cloud else IMAGE_DEPTH if topic.is_image else IMU_DEPTH
        self._has_subscribers[topic.name] = False
        self._publishers[topic.name] = self._node.create_publisher(
            message_class(topic.msgtype),
            topic.name,
            LATCHED if topic.is_latched else reliable(depth),
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
            event_callbacks=_NO_EVENTS,
        )

    def set_thinned(self, is_thinned: bool) -> None:
        """Set whether each topic is limited to its nominal rate in wall time."""
        self._is_thinned = is_thinned

    def n_subscribers(self, topic: Topic) -> int:
        """Return the number of matched subscriptions; 0 for a topic that is not published."""
        publisher = self._publishers.get(topic.name)
        return 0 if publisher is None else int(publisher.get_subscription_count())

    def recount(self) -> None:
        """Count subscribers at the next message, not within 0.2 s: a new one is known to exist."""
        self._next_count = 0.0

    def publish_cdr(self, topic: Topic, stamp_ns: int, cdr: bytes) -> None:
        """Publish one message, unless there is no subscriber or it is too soon."""
        if self._is_wanted(topic):
            self._publishers[topic.name].publish(cdr)

    def outlet(self, topic: Topic, layout: FixedLayout) -> Publish:
        """Return what publishes messages by their numbers, as `publish_cdr`.

        Until it is known that somebody hears a topic, a message costs one look; who hears is
        counted by `publish_cdr`, of the clock for one.
        """
        publisher, has_subscribers = self._publishers[topic.name], self._has_subscribers

        def publish(_: int, stamp_ns: int, values: Values) -> None:
            may_be_wanted = topic.is_latched or has_subscribers[topic.name]
            if may_be_wanted and self._is_wanted(topic):
                publisher.publish(layout.pack(stamp_ns, values))

        return publish

    def block_outlet(self, topics: Sequence[Topic], layouts: Sequence[FixedLayout]) -> PublishBlock:
        """Return what publishes messages on several topics; while none is heard it costs a look."""
        publish_all = super().block_outlet(topics, layouts)
        assert publish_all is not None
        names, has_subscribers = [topic.name for topic in topics], self._has_subscribers

        def publish(sent_ns: int, stamp_ns: int, values: np.ndarray) -> None:
            if any(map(has_subscribers.__getitem__, names)):
                publish_all(sent_ns, stamp_ns, values)

        return publish

    def _is_wanted(self, topic: Topic) -> bool:
        now = time.monotonic()
        if now > self._next_count:
            self._count_subscribers(now)
        if topic.is_latched:
            return True
        if not self._has_subscribers[topic.name]:
            return False
        if self._is_thinned and topic.rate_hz > 0.0:
            sent = topic.name, topic.source
            if now - self._last_sent.get(sent, 0.0) < 0.95 / topic.rate_hz:
                return False
            self._last_sent[sent] = now
        return True

    def _count_subscribers(self, begin_s: float) -> None:
        for name, publisher in self._publishers.items():
            self._has_subscribers[name] = publisher.get_subscription_count() > 0
        took_s = time.monotonic() - begin_s
        self._next_count = begin_s + max(_COUNT_PERIOD_S, took_s / _COUNT_SHARE)


class ForeignTopics:
    """Receives other nodes' messages as bytes; `n_lost` counts lost ones by topic.

    Poses may come as any type of `pose_sources`; they are passed on, and recorded, as Odometry.
    """

    def __init__(self, node: ConfiguredNode, receive: Callable[[Topic, bytes], None]) -> None:
        self.n_lost: dict[str, int] = {}
        self._node, self._receive = node, receive
        self._names: set[str] = set()

    def add(self, topic: Topic, *, from_others: bool = False) -> None:
        """Receive a topic, `from_others` if it is one of this node; once, however often called."""
        if topic.name in self._names:
            return
        self._names.add(topic.name)
        self._node.intakes.add(
            _sources(topic),
            lambda cdr: self._receive(topic, cdr),
            depth=1 if topic.is_latched else IMU_DEPTH,
            is_latched=topic.is_latched,
            is_optional=True,
            is_raw=True,
            from_others=from_others,
            on_lost=lambda n_lost: self._lose(topic, n_lost),
        )

    def _lose(self, topic: Topic, n_lost: int) -> None:
        self.n_lost[topic.name] = n_lost


def _sources(topic: Topic) -> list[TopicSource]:
    if topic.msgtype == "nav_msgs/msg/Odometry":
        return [*pose_sources(topic.name).values()]
    return [TopicSource(topic=topic.name, kind=message_class(topic.msgtype))]


def header_stamp_ns(cdr: bytes) -> int:
    """Return the stamp of a serialised message that begins with a header [ns]."""
    seconds, nanoseconds = _STAMP.unpack_from(cdr, _ENCAPSULATION)
    return int(seconds) * 1_000_000_000 + int(nanoseconds)
