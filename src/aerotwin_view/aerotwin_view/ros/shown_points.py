# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The points of a cloud, as chosen in the panel."""

from collections.abc import Mapping

import cv2
import numpy as np
import viser
from rclpy.node import Node
from sensor_msgs.msg import PointCloud2

from aerotwin_core.foreign_text import printable
from aerotwin_core.frames import FloatArray, transform_points
from aerotwin_core.point_clouds import finite_points
from aerotwin_view.page import Page
from aerotwin_view.robot_topics import owner_of
from aerotwin_view.ros.chosen_topic import NONE, ChosenTopic
from aerotwin_view.ros.heard_pose import FARTHEST_M, HeardPose
from aerotwin_view.ros.polled_topic import TopicGraph
from aerotwin_view.ros.sensor_poses import SensorPoses
from aerotwin_view.ros.slam_under_test import SlamUnderTest

_MOST_POINTS = 60_000
_MOST_LETTERS = 300
_UNKNOWN = "of which no pose is known; that of a SLAM is known of the vehicle that is steered"


class ShownPoints:
    """A choice in the panel; nothing is received unless it is chosen.

    A cloud in the frame of a SLAM is shown where that frame is laid on map.
    """

    def __init__(self, page: Page, node: Node, poses: SensorPoses, slam: SlamUnderTest) -> None:
        self._page, self._poses, self._slam = page, poses, slam
        self._chosen = ChosenTopic(page, node, "Points", PointCloud2, "sensor_msgs/msg/PointCloud2")
        self._notice = page.add_text("")
        self._points: viser.PointCloudHandle | None = None

    def look(self, graph: TopicGraph) -> None:
        """Offer what is published."""
        self._chosen.look(graph)

    def rest(self) -> None:
        """Receive nothing until the next show."""
        self._chosen.rest()

    def show(self, robots: Mapping[str, HeardPose]) -> None:
        """Show what came since the last time where its robot is."""
        cloud = self._chosen.take()
        if self._chosen.topic == NONE and self._points is not None:
            self._points.remove()
            self._points = None
        if cloud is not None:
            self._show_points(cloud, owner_of(self._chosen.topic, robots), robots)

    def _show_points(
        self, message: PointCloud2, owner: str | None, robots: Mapping[str, HeardPose]
    ) -> None:
        frame = message.header.frame_id
        T_map_points = self._poses.find(frame, None if owner is None else robots[owner])
        if T_map_points is None and owner is not None:
            T_map_points = self._slam.find(frame, owner)
        if T_map_points is None:
            named = printable(frame, _MOST_LETTERS)
            self._notice.set(f"points are in the frame {named}, {_UNKNOWN}")
            return
        try:
            points, _ = finite_points(message)
        except ValueError as error:
            self._notice.set(printable(f"points: {error}", _MOST_LETTERS))
            return
        self._notice.set("")
        points = points[:: max(1, len(points) // _MOST_POINTS)]
        points = transform_points(T_map_points, points[np.abs(points).max(axis=1) < FARTHEST_M])
        self._points = self._page.scene.add_point_cloud(
            "/points", points.astype(np.float32), _colours(points[:, 2]), point_size=0.05
        )


def _colours(heights: FloatArray) -> np.ndarray:
    """Return colours (n, 3) uint8 of heights (n,), from low to high."""
    if not len(heights):
        return np.zeros((0, 3), np.uint8)
    low, high = np.percentile(heights, (2.0, 98.0))
    grey = np.clip((heights - low) / max(high - low, 1e-6), 0.0, 1.0)
    values = np.round(255.0 * grey).astype(np.uint8)[:, None]
    return cv2.cvtColor(cv2.applyColorMap(values, cv2.COLORMAP_TURBO), cv2.COLOR_BGR2RGB)[:, 0]
