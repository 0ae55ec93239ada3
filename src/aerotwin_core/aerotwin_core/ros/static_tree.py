# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Static transforms as they arrive on /tf_static."""

import numpy as np
from tf2_msgs.msg import TFMessage

from aerotwin_core.ros.conversions import transform_from_message


class StaticTree:
    """Looks up the pose of a frame in another one above it in the tree."""

    def __init__(self) -> None:
        self._parents: dict[str, tuple[str, np.ndarray]] = {}

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
