# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A topic of a type, chosen in the panel from those that are published."""

from typing import Any

from rclpy.node import Node

from aerotwin_view.page import Page
from aerotwin_view.ros.polled_topic import PolledTopic, TopicGraph, published_topics

NONE = "none"


class ChosenTopic:
    """The choice and the newest message; nothing is received unless it is chosen.

    `kind` is the class of the messages, `msgtype` its name in the graph.
    """

    def __init__(self, page: Page, node: Node, label: str, kind: type, msgtype: str) -> None:
        self._node, self._kind, self._msgtype = node, kind, msgtype
        self._choice = page.gui.add_dropdown(label, (NONE,), initial_value=NONE)
        self._polled: PolledTopic | None = None
        self.topic: str = NONE

    def look(self, graph: TopicGraph) -> None:
        """Offer what is published."""
        options = (NONE, *sorted(published_topics(self._node, graph, self._msgtype)))
        if options != tuple(self._choice.options):
            self._choice.options = options

    def take(self) -> Any:
        """Return the newest message of the chosen topic, or None."""
        topic = str(self._choice.value)
        if topic != self.topic:
            self.rest()
            self.topic = topic
            if topic != NONE:
                self._polled = PolledTopic(self._node, topic, self._kind, is_latched=self.is_map)
        return None if self._polled is None else self._polled.take()

    @property
    def is_map(self) -> bool:
        """Whether the topic is that of a map, which is latched."""
        return self.topic.endswith("/map")

    def rest(self) -> None:
        """Receive nothing until the next take."""
        if self._polled is not None:
            self._polled.close()
        self.topic, self._polled = NONE, None
