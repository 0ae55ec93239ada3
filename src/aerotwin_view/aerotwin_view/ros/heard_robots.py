# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots that are heard: their names, shapes and latest poses."""

from collections.abc import Sequence

import trimesh
from nav_msgs.msg import Odometry
from rclpy.node import Node
from std_msgs.msg import String

from aerotwin_view.robot_topics import (
    DESCRIPTION,
    ESTIMATES,
    ODOMETRY_TYPE,
    described,
    described_model,
    motion_topics,
    robot_of,
)
from aerotwin_view.ros.heard_pose import HeardPose
from aerotwin_view.ros.polled_topic import PolledTopic, TopicGraph, published_topics
from aerotwin_view.scene.rotor_hubs import RotorHub, rotor_hubs

MOST_ESTIMATES = 20
"""Topics of estimates that are drawn."""
_STRING_TYPE = "std_msgs/msg/String"


class HeardRobots:
    """Reads odometry and descriptions by a node that is not spun."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._topics: dict[str, PolledTopic] = {}
        self._descriptions: dict[str, PolledTopic] = {}
        self._shapes: dict[str, trimesh.Trimesh | None] = {}
        self._hubs: dict[str, tuple[RotorHub, ...] | None] = {}
        self.poses: dict[str, HeardPose] = {}
        self.models: dict[str, trimesh.Trimesh | None] = {}
        self.rotors: dict[str, tuple[RotorHub, ...]] = {}
        self.motions: dict[str, str] = {}  # robot -> the topic of its motion
        self.estimates: list[str] = []  # the topics of those that are drawn

    def look(self, graph: TopicGraph) -> None:
        """Look for robots that came or left."""
        odometries = published_topics(self._node, graph, ODOMETRY_TYPE, "odom")
        self.motions = motion_topics(odometries, before=self.motions)
        others = set(odometries) - set(self.motions.values())
        estimates = [t for t in others if t.endswith(ESTIMATES) and robot_of(t) in self.motions]
        self.estimates = sorted(estimates)[:MOST_ESTIMATES]
        drawn = [*self.motions.values(), *self.estimates]
        self._keep(self._topics, drawn, Odometry, is_latched=False)
        self.poses = {topic: self.poses.get(topic, HeardPose()) for topic in self._topics}
        descriptions = published_topics(self._node, graph, _STRING_TYPE, f"/{DESCRIPTION}")
        self._keep(self._descriptions, descriptions, String, is_latched=True)
        present = set(map(robot_of, descriptions))
        for found in (self.models, self.rotors):
            for name in found.keys() - present:
                del found[name]

    def read(self) -> None:
        """Take over what came."""
        for topic, polled in self._topics.items():
            if (message := polled.take()) is not None:
                self.poses[topic].set(message)
        for topic, polled in self._descriptions.items():
            if (message := polled.take()) is not None:
                name = robot_of(topic)
                self.models[name] = described_model(name, message.data, self._shapes)
                self.rotors[name] = described(name, message.data, self._hubs, rotor_hubs) or ()

    def rest(self) -> None:
        """Receive nothing until the next look."""
        self._keep(self._topics, (), Odometry, is_latched=False)

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
