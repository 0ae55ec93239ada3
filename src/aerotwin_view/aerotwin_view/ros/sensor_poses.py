# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where sensors are: the frames of /tf_static, below a robot's pose."""

from contextlib import suppress

import numpy as np
from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from aerotwin_core.frames import FloatArray
from aerotwin_core.ros.static_tree import StaticTree
from aerotwin_view.ros.heard_pose import HeardPose
from aerotwin_view.ros.polled_topic import PolledTopic


class SensorPoses:
    """Reads /tf_static by a node that is not spun."""

    def __init__(self, node: Node) -> None:
        self._tree = StaticTree()
        self._static = PolledTopic(node, "/tf_static", TFMessage, is_latched=True)

    def read(self) -> None:
        """Take over what came; a transform that is none is left out."""
        for message in self._static.take_all():
            for transform in message.transforms:
                with suppress(ValueError):
                    self._tree.add(TFMessage(transforms=[transform]))

    def find(self, frame: str, robot: HeardPose | None) -> FloatArray | None:
        """Return T_map_frame (4, 4) of a frame of a robot, or of map; None if it is not known."""
        frame = frame.strip("/")
        if frame == "map":
            return np.eye(4)
        if robot is None:
            return None
        name, _, _ = frame.rpartition("/")
        T_base_frame = self._tree.find(f"{name}/base_link" if name else "base_link", frame)
        if T_base_frame is None or not np.isfinite(T_base_frame).all():
            return None
        return robot.T_frame_body @ T_base_frame
