# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pose of a camera on its body: from a parameter, or from /tf_static."""

from collections.abc import Callable, Sequence

from aerotwin_core.frames import FloatArray, transform_from_pose
from aerotwin_core.ros.parameters import ConfiguredNode
from aerotwin_core.ros.static_tree import StaticTree


class Mounting:
    """Looks up poses of optical frames on a body; `on_change` is called when one may be new.

    `provided` is x y z [m] and quaternion x y z w of the optical frame; empty for /tf_static.
    """

    def __init__(
        self,
        node: ConfiguredNode,
        base_frame: str,
        provided: Sequence[float],
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._base_frame, self._tree = base_frame, StaticTree()
        self._provided = transform_from_pose(provided[:3], provided[3:]) if provided else None
        if self._provided is None:
            self._tree.subscribe(node, on_change)

    def find(self, frame_id: str) -> FloatArray | None:
        """Return T_base_optical of a frame; None while it is not known."""
        return (
            self._tree.find(self._base_frame, frame_id)
            if self._provided is None
            else self._provided
        )
