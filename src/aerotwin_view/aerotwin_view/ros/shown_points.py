# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The points of a cloud, as chosen in the panel."""

import math
from collections.abc import Callable, Mapping

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
from aerotwin_view.scene.error_colours import ColourBar

_MOST_POINTS, _MOST_MEASURED = 60_000, 20_000
ERROR_LIMITS_M = 0.0, 0.5
"""Of the colours of a map: a SLAM of a room and one of a stadium are seen by the same."""
_MOST_LETTERS = 300
_UNKNOWN = "of which no pose is known; that of a SLAM is known of the vehicle that is steered"


class ShownPoints:
    """A choice in the panel; nothing is received unless it is chosen.

    A cloud in the frame of a SLAM is shown where that frame is laid on map. One on a topic `map` is
    coloured by its distance to the world that `measure_by` sets, all others by height.
    """

    def __init__(self, page: Page, node: Node, poses: SensorPoses, slam: SlamUnderTest) -> None:
        self._page, self._poses, self._slam = page, poses, slam
        self._chosen = ChosenTopic(page, node, "Points", PointCloud2, "sensor_msgs/msg/PointCloud2")
        self._notice = page.add_text("")
        self._points: viser.PointCloudHandle | None = None
        self._bar = ColourBar(page, np.zeros(0), "distance to the world", limits=ERROR_LIMITS_M)
        self._bar.show(False)
        self._distance: Callable[[FloatArray], FloatArray] | None = None

    def measure_by(self, distance: Callable[[FloatArray], FloatArray]) -> None:
        """Colour maps by the distance (n,) of points (n, 3) in map to the world [m] from now on."""
        self._distance = distance

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
            self._notice.set("")
            self._bar.show(False)
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
        is_map = self._distance is not None and self._chosen.is_map
        most = _MOST_MEASURED if is_map else _MOST_POINTS
        points = points[:: max(1, math.ceil(len(points) / most))]
        points = transform_points(T_map_points, points[np.abs(points).max(axis=1) < FARTHEST_M])
        if is_map:
            colours, figures = self._by_distance(points)
        else:
            colours, figures = _by_height(points[:, 2]), ""
        self._notice.set(figures)
        self._bar.show(is_map)
        self._points = self._page.scene.add_point_cloud(
            "/points", points.astype(np.float32), colours, point_size=0.05
        )

    def _by_distance(self, points_map: FloatArray) -> tuple[np.ndarray, str]:
        """Return colours (n, 3) uint8 of points (n, 3), and how far they are from the world."""
        assert self._distance is not None
        if not len(points_map):
            return np.zeros((0, 3), np.uint8), "no points"
        distances_m = self._distance(points_map)
        median_m, most_m = np.percentile(distances_m, (50.0, 95.0))
        figures = f"{len(distances_m)} points: median {median_m:.2f} m, 95 % within {most_m:.2f} m"
        return self._bar.colours(distances_m), figures


def _by_height(heights: FloatArray) -> np.ndarray:
    """Return colours (n, 3) uint8 of heights (n,), from low to high."""
    if not len(heights):
        return np.zeros((0, 3), np.uint8)
    low, high = np.percentile(heights, (2.0, 98.0))
    grey = np.clip((heights - low) / max(high - low, 1e-6), 0.0, 1.0)
    values = np.round(255.0 * grey).astype(np.uint8)[:, None]
    return cv2.cvtColor(cv2.applyColorMap(values, cv2.COLORMAP_TURBO), cv2.COLOR_BGR2RGB)[:, 0]
