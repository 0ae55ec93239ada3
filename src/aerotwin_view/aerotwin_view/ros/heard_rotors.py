# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How fast rotors turn: by the topic `rotors` of a robot, else by whether it is armed."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from sensor_msgs.msg import JointState

from aerotwin_core.frames import FloatArray
from aerotwin_view.ros.polled_topic import PolledTopic, TopicGraph, published_topics
from aerotwin_view.scene.rotor_hubs import RotorHub

ARMED_RAD_S = 400.0
"""Shown of an armed vehicle whose rotors are not heard: that they turn, not how fast."""
_MOST_RAD_S = 5000.0
_MOST_JOINTS = 1000
_JOINTS, _STATUS = "sensor_msgs/msg/JointState", "diagnostic_msgs/msg/DiagnosticArray"


class HeardRotors:
    """Reads one topic of each of some robots, by a node that is not spun."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._topics: dict[str, PolledTopic] = {}
        self._names: dict[str, str] = {}  # topic -> robot
        self._speeds: dict[str, dict[str, float] | float] = {}

    def look(self, graph: TopicGraph, robots: Sequence[str]) -> None:
        """Listen to these robots and to no others."""
        joints = set(published_topics(self._node, graph, _JOINTS, "/rotors"))
        status = set(published_topics(self._node, graph, _STATUS, "/autopilot/status"))
        chosen: dict[str, tuple[str, type]] = {}
        for name in robots:
            prefix = f"/{name}" if name else ""
            if f"{prefix}/rotors" in joints:
                chosen[f"{prefix}/rotors"] = name, JointState
            elif f"{prefix}/autopilot/status" in status:
                chosen[f"{prefix}/autopilot/status"] = name, DiagnosticArray
        for topic in self._topics.keys() - chosen.keys():
            self._topics.pop(topic).close()
            self._speeds.pop(self._names.pop(topic), None)
        for topic, (name, kind) in chosen.items():
            if topic not in self._topics:
                self._topics[topic] = PolledTopic(self._node, topic, kind)
                self._names[topic] = name

    def rest(self) -> None:
        """Receive nothing until the next look."""
        self.look((), ())

    def read(self) -> None:
        """Take over what came."""
        for topic, polled in self._topics.items():
            if (message := polled.take()) is not None:
                is_joints = topic.endswith("/rotors")
                speeds = _joint_speeds(message) if is_joints else _armed_speed(message)
                self._speeds[self._names[topic]] = speeds

    def speeds(self, robot: str, hubs: Sequence[RotorHub]) -> FloatArray:
        """Return how fast the rotors of a robot turn [rad/s], 0 where that is not known."""
        found = self._speeds.get(robot, 0.0)
        if isinstance(found, dict):
            return np.array([found.get(hub.name, 0.0) for hub in hubs], dtype=np.float64)
        return np.full(len(hubs), found)


def _joint_speeds(message: JointState) -> dict[str, float]:
    """Return the velocities of a message by the last part of the names, without impossible ones."""
    if len(message.name) > _MOST_JOINTS:
        return {}
    return {
        name.rpartition("/")[2]: float(speed)
        for name, speed in zip(message.name, message.velocity, strict=False)
        if math.isfinite(speed) and abs(speed) <= _MOST_RAD_S
    }


def _armed_speed(message: DiagnosticArray) -> float:
    values: dict[str, Any] = {pair.key: pair.value for s in message.status for pair in s.values}
    return ARMED_RAD_S if values.get("armed") == "true" else 0.0
