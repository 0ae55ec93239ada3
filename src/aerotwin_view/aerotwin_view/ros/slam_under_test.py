# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The SLAM of the chosen vehicle against the truth, message by message."""

from nav_msgs.msg import Odometry
from rclpy.node import Node

from aerotwin_core.frames import FloatArray
from aerotwin_view.robot_topics import SLAM, TRUTH, topic_of
from aerotwin_view.ros.heard_pose import HeardPose
from aerotwin_view.ros.polled_topic import PolledTopic
from aerotwin_view.running_error import RunningError

_DEPTH = 200
"""Messages that wait between two looks."""
_MAP = "map"


class SlamUnderTest:
    """Reads every message of two topics of one vehicle, by a node that is not spun."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._error = RunningError(SLAM)
        self._vehicle: str | None = None
        self._frame = ""
        self._topics: tuple[PolledTopic, PolledTopic] | None = None

    def look(self, vehicle: str, *, has_slam: bool) -> None:
        """Listen to this vehicle, if it has a SLAM."""
        if vehicle != self._vehicle:
            self.rest()
            self._vehicle = vehicle
            self.clear()
        if not has_slam:
            self.rest()
        elif self._topics is None:
            truth, estimate = (
                PolledTopic(
                    self._node, topic_of(vehicle, name), Odometry, is_raw=True, depth=_DEPTH
                )
                for name in (TRUTH, SLAM)
            )
            self._topics = truth, estimate

    def rest(self) -> None:
        """Receive nothing until the next look; what was compared before is kept."""
        for topic in self._topics or ():
            topic.close()
        self._topics = None

    def clear(self) -> None:
        """Begin anew."""
        self._error.clear()
        self._frame = ""

    def read(self) -> None:
        """Take over what came, and compare it."""
        if self._topics is None:
            return
        truth, estimate = self._topics
        pose = HeardPose()
        for message in truth.take_all():
            if pose.set(message) and pose.frame == _MAP:
                self._error.add_truth(pose.stamp_ns, pose.p, pose.q_xyzw)
        for message in estimate.take_all():
            if pose.set(message):
                self._frame = pose.frame
                self._error.add_estimate(pose.stamp_ns, pose.p, pose.q_xyzw)
        self._error.compare()

    def text(self) -> str:
        """Return in words how large the error is; "" if there is none."""
        return self._error.text() if self._topics is not None else ""

    def placement(self, vehicle: str) -> FloatArray | None:
        """Return where the frame of a vehicle's SLAM was laid in map (4, 4); None if it was not."""
        return self._error.T_map_odom if vehicle == self._vehicle else None

    def find(self, frame: str, vehicle: str) -> FloatArray | None:
        """Return T_map_frame (4, 4) of a frame if it is that of a vehicle's SLAM, None if not."""
        return self.placement(vehicle) if frame.strip("/") == self._frame else None
