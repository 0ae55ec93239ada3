# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the chosen vehicle is told to be, by a mission, a controller or another page."""

import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node

from aerotwin_core.frames import FloatArray
from aerotwin_view.robot_topics import SETPOINT, topic_of
from aerotwin_view.ros.heard_pose import FARTHEST_M
from aerotwin_view.ros.polled_topic import PolledTopic, TopicGraph, published_topics

_POSE_TYPE = "geometry_msgs/msg/PoseStamped"
_MAP = "map"


class HeardSetpoint:
    """Reads the set-points of one vehicle, by a node that is not spun."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._vehicle: str | None = None
        self._topic: PolledTopic | None = None
        self.p_map: FloatArray | None = None  # the last one (3,) [m], None before the first

    def look(self, graph: TopicGraph, vehicle: str) -> None:
        """Listen to this vehicle, if anybody tells it where to be."""
        name = topic_of(vehicle, SETPOINT)
        is_there = name in published_topics(self._node, graph, _POSE_TYPE, name)
        if vehicle != self._vehicle or not is_there:
            self.rest()
        self._vehicle = vehicle
        if is_there and self._topic is None:
            self._topic = PolledTopic(self._node, name, PoseStamped)

    def read(self) -> None:
        """Take over what came; what is not in map, or cannot be drawn, is left out."""
        message = None if self._topic is None else self._topic.take()
        if message is None or message.header.frame_id.strip("/") != _MAP:
            return
        place = message.pose.position
        p_map = np.array([place.x, place.y, place.z])
        if (np.abs(p_map) < FARTHEST_M).all():  # False for NaN
            self.p_map = p_map

    def rest(self) -> None:
        """Receive nothing until the next look."""
        if self._topic is not None:
            self._topic.close()
        self._topic = self.p_map = None
