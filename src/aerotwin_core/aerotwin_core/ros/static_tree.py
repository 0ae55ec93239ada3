# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Static transforms as they arrive on /tf_static."""

from collections.abc import Callable

import numpy as np
from tf2_msgs.msg import TFMessage

from aerotwin_core.ros.conversions import transform_from_message
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.parameters import ConfiguredNode

_DEPTH = 100


class StaticTree:
    """Looks up the pose of a frame in another one above it in the tree.

    `subscribe` feeds it from /tf_static; `on_change` is called after each message.
    """

    def __init__(self) -> None:
        self._parents: dict[str, tuple[str, np.ndarray]] = {}

    def subscribe(self, node: ConfiguredNode, on_change: Callable[[], None]) -> None:
        """Add what arrives on /tf_static; some drivers publish it without transient local."""

        def receive(message: TFMessage) -> None:
            self.add(message)
            on_change()

        source = TopicSource(topic="/tf_static", kind=TFMessage)
        node.intakes.add(source, receive, depth=_DEPTH, is_latched=True)

    def add(self, message: TFMessage) -> None:
        """Store transforms; a later one of the same child replaces the earlier."""
        for item in message.transforms:
            T = transform_from_message(item.transform)
            self._parents[item.child_frame_id] = (item.header.frame_id, T)

    def find(self, ancestor: str, frame: str) -> np.ndarray | None:
        """Return T_ancestor_frame, or None while the chain is incomplete."""
        T = np.eye(4)
        for _ in range(len(self._parents) + 1):
            if frame == ancestor:
                return T
            if frame not in self._parents:
                return None
            frame, T_parent_frame = self._parents[frame]
            T = T_parent_frame @ T
        return None
