# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of others beside a view, for tests that hear and steer them."""

import time
from collections.abc import Callable

from aerotwin_core.messages import serialize

_PATIENCE_S = 20.0


class Others:
    """A node that publishes as others do, and one that listens as the view does."""

    def __init__(self) -> None:
        import rclpy

        self.node = rclpy.create_node("others")
        self.listener = rclpy.create_node("listener")
        self._publishers: dict[str, object] = {}

    def publish(self, topic: str, message: object, *, is_latched: bool = False) -> None:
        from aerotwin_core.ros.message_classes import message_class
        from aerotwin_core.ros.qos import LATCHED, reliable

        if topic not in self._publishers:
            kind = message_class(message.__msgtype__)
            qos = LATCHED if is_latched else reliable(10)
            self._publishers[topic] = self.node.create_publisher(kind, topic, qos)
        self._publishers[topic].publish(serialize(message))

    def graph(self):
        return self.listener.get_topic_names_and_types()

    def until(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not is_so():
            assert time.monotonic() < end
            time.sleep(0.05)

    def close(self) -> None:
        self.node.destroy_node()
        self.listener.destroy_node()
