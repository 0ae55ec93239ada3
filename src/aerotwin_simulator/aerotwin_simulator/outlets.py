# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""All outlets of the loop behind one call."""

from collections.abc import Sequence

from aerotwin_simulator.topics import Outlet, Topic


class Outlets:
    """Hands every message to every outlet.

    Parameters
    ----------
    outlets : sequence of Outlet
        Who gets the messages.

    Attributes
    ----------
    is_empty : bool
        Nobody gets any: messages need not be made.
    """

    def __init__(self, outlets: Sequence[Outlet]) -> None:
        self._outlets = tuple(outlets)
        self.is_empty = not self._outlets

    def add(self, topics: Sequence[Topic]) -> None:
        """Prepare for topics."""
        for outlet in self._outlets:
            for topic in topics:
                outlet.add(topic)

    def emit(self, topic: Topic, stamp_ns: int, cdr: bytes) -> None:
        """Hand out one message."""
        for outlet in self._outlets:
            outlet.emit(topic, stamp_ns, cdr)
