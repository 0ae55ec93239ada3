# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""All sinks of the loop behind one call."""

from collections.abc import Sequence

from aerotwin_simulator.topics import MessageSink, Topic


class SinkGroup:
    """Publishes every message to every sink; if it `is_empty`, messages need not be made."""

    def __init__(self, sinks: Sequence[MessageSink]) -> None:
        self._sinks = tuple(sinks)
        self.is_empty = not self._sinks

    def add(self, topics: Sequence[Topic]) -> None:
        """Prepare for topics."""
        for sink in self._sinks:
            for topic in topics:
                sink.add(topic)

    def publish_cdr(self, topic: Topic, stamp_ns: int, cdr: bytes) -> None:
        """Publish one message."""
        for sink in self._sinks:
            sink.publish_cdr(topic, stamp_ns, cdr)
