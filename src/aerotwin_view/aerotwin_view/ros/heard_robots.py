# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots that are heard: their names, shapes and latest poses."""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import trimesh
from nav_msgs.msg import Odometry
from rclpy.node import Node
from std_msgs.msg import String

from aerotwin_view.robot_topics import (
    DESCRIPTION,
    ESTIMATES,
    ODOMETRY_TYPE,
    described_model,
    motion_topics,
    robot_of,
)
from aerotwin_view.ros.polled_topic import PolledTopic, TopicGraph, published_topics

MOST_ESTIMATES = 20
"""Topics of estimates that are drawn."""
_HEAD, _POSE = struct.Struct("<iII"), struct.Struct("<7d")
_STRING_TYPE = "std_msgs/msg/String"


@dataclass
class HeardPose:
    """The last pose on a topic; NaN before the first."""

    stamp_ns: int = -1
    frame: str = ""
    p: np.ndarray = field(default_factory=lambda: np.full(3, np.nan))
    q_xyzw: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 0.0, 1.0]))

    def set(self, odometry: bytes) -> None:
        """Take over a message, its CDR bytes, unless a number is not finite."""
        stamp_ns, frame, numbers = pose_of_odometry(odometry)
        length = math.sqrt(sum(value * value for value in numbers[3:]))
        if all(map(math.isfinite, numbers)) and length > 0.0:
            self.stamp_ns, self.frame = stamp_ns, frame
            self.p = np.array(numbers[:3])
            self.q_xyzw = np.array(numbers[3:]) / length


def pose_of_odometry(cdr: bytes) -> tuple[int, str, tuple[float, ...]]:
    """Return stamp [ns], frame, and position with quaternion xyzw of a nav_msgs/Odometry.

    Read from its bytes (little endian, as on every machine that ROS supports): to make the message
    with its covariances first takes ten times as long, which counts for a hundred robots.
    """
    seconds, nanoseconds, length = _HEAD.unpack_from(cdr, 4)
    at = 16 + length
    frame = cdr[16 : at - 1].decode(errors="replace")
    at += -at % 4
    at += 4 + int.from_bytes(cdr[at : at + 4], "little")
    at += (4 - at) % 8  # numbers are aligned behind the four bytes of the encapsulation
    return seconds * 1_000_000_000 + nanoseconds, frame.strip("/"), _POSE.unpack_from(cdr, at)


class HeardRobots:
    """Reads odometry and descriptions by a node that is not spun."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._topics: dict[str, PolledTopic] = {}
        self._descriptions: dict[str, PolledTopic] = {}
        self._shapes: dict[str, trimesh.Trimesh | None] = {}
        self.poses: dict[str, HeardPose] = {}
        self.models: dict[str, trimesh.Trimesh | None] = {}
        self.motions: dict[str, str] = {}  # robot -> the topic of its motion

    def look(self, graph: TopicGraph) -> None:
        """Look for robots that came or left."""
        odometries = published_topics(self._node, graph, ODOMETRY_TYPE, "odom")
        self.motions = motion_topics(odometries)
        estimates = [t for t in odometries if t.endswith(ESTIMATES) and robot_of(t) in self.motions]
        drawn = [*self.motions.values(), *sorted(estimates)[:MOST_ESTIMATES]]
        self._keep(self._topics, drawn, Odometry, is_latched=False)
        self.poses = {topic: self.poses.get(topic, HeardPose()) for topic in self._topics}
        described = published_topics(self._node, graph, _STRING_TYPE, f"/{DESCRIPTION}")
        self._keep(self._descriptions, described, String, is_latched=True)

    def read(self) -> None:
        """Take over what came."""
        for topic, polled in self._topics.items():
            if (message := polled.take()) is not None:
                self.poses[topic].set(message)
        for topic, polled in self._descriptions.items():
            if (message := polled.take()) is not None:
                name = robot_of(topic)
                self.models[name] = described_model(name, message.data, self._shapes)

    def rest(self) -> None:
        """Receive nothing until the next look."""
        self._keep(self._topics, (), Odometry, is_latched=False)

    def estimates(self) -> list[str]:
        """Return the topics of estimates that are drawn."""
        return [topic for topic in self._topics if topic not in self.motions.values()]

    def _keep(
        self,
        kept: dict[str, PolledTopic],
        topics: Sequence[str],
        kind: type[Odometry] | type[String],
        *,
        is_latched: bool,
    ) -> None:
        for topic in kept.keys() - set(topics):
            kept.pop(topic).close()
        for topic in topics:
            if topic not in kept:
                kept[topic] = PolledTopic(
                    self._node, topic, kind, is_latched=is_latched, is_raw=kind is Odometry
                )
