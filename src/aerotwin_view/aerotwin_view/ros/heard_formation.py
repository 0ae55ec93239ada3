# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Who follows whom: by what the vehicles of a formation say to each other."""

from contextlib import suppress

from rclpy.node import Node
from std_msgs.msg import String

from aerotwin_formation.messages import LEADER, NEVER_NS, VehicleReport
from aerotwin_formation.report_text import report_from_text
from aerotwin_view.ros.polled_topic import PolledTopic, TopicGraph, published_topics
from aerotwin_view.scene.formation_links import FormationLink

MOST_VEHICLES = 200
_REPORT = "/formation/report"


class HeardFormation:
    """Reads VEHICLE/formation/report by a node that is not spun."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._topics: dict[str, PolledTopic] = {}
        self._reports: dict[str, VehicleReport] = {}  # by the name of the vehicle

    def look(self, graph: TopicGraph) -> None:
        """Look for vehicles that came or left."""
        topics = sorted(published_topics(self._node, graph, "std_msgs/msg/String", _REPORT))
        for topic in self._topics.keys() - set(topics[:MOST_VEHICLES]):
            self._topics.pop(topic).close()
            self._reports.pop(_vehicle_of(topic), None)
        for topic in topics[:MOST_VEHICLES]:
            if topic not in self._topics:
                self._topics[topic] = PolledTopic(self._node, topic, String)

    def rest(self) -> None:
        """Receive nothing until the next look."""
        self.look(())

    def read(self) -> None:
        """Take over what came; a text that is no report is left out."""
        for topic, polled in self._topics.items():
            if (message := polled.take()) is not None:
                with suppress(ValueError):
                    report = report_from_text(message.data, len(self._topics))
                    self._reports[_vehicle_of(topic)] = report

    def links(self) -> list[FormationLink]:
        """Return a link to each follower that has heard of the motion of the leader.

        Its age counts to the newest report of all: a follower that is silent grows old, too.
        """
        leader = next((n for n, each in self._reports.items() if each.sender == LEADER), None)
        if leader is None:
            return []
        now_ns = max(each.stamp_ns for each in self._reports.values())
        return [
            FormationLink(
                leader=leader,
                follower=name,
                age_s=(now_ns - report.leader_stamp_ns) * 1e-9,
            )
            for name, report in self._reports.items()
            if report.sender != LEADER and report.leader_stamp_ns > NEVER_NS
        ]


def _vehicle_of(topic: str) -> str:
    return topic.removesuffix(_REPORT).strip("/")
