# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The picture of a camera and the points of a cloud, as chosen on the page."""

from collections.abc import Mapping

import cv2
import numpy as np
import viser
from rclpy.node import Node
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import Image, PointCloud2
from tf2_msgs.msg import TFMessage

from aerotwin_core.camera_messages import picture_from_image
from aerotwin_core.frames import FloatArray, make_transform, transform_points
from aerotwin_core.point_clouds import finite_points
from aerotwin_core.ros.static_tree import StaticTree
from aerotwin_view.page import Page
from aerotwin_view.robot_topics import owner_of
from aerotwin_view.ros.heard_robots import HeardPose
from aerotwin_view.ros.polled_topic import PolledTopic, TopicGraph, published_topics

NONE = "none"
_WIDTH_PX = 480
_MOST_POINTS = 60_000
_IMAGE, _CLOUD = "sensor_msgs/msg/Image", "sensor_msgs/msg/PointCloud2"


class _Chosen:
    """A topic of a type, chosen from those that are published."""

    def __init__(self, page: Page, node: Node, label: str, kind: type) -> None:
        self._node, self._kind = node, kind
        self._choice = page.gui.add_dropdown(label, (NONE,), initial_value=NONE)
        self._topic: str = NONE
        self._polled: PolledTopic | None = None

    def offer(self, topics: list[str]) -> None:
        options = (NONE, *topics)
        if options != tuple(self._choice.options):
            self._choice.options = options

    def take(self) -> tuple[str, object | None]:
        """Return the chosen topic and its newest message."""
        topic = str(self._choice.value)
        if topic != self._topic:
            self.rest()
            self._topic = topic
            if topic != NONE:
                self._polled = PolledTopic(
                    self._node, topic, self._kind, is_latched=topic.endswith("/map")
                )
        return topic, None if self._polled is None else self._polled.take()

    def rest(self) -> None:
        """Receive nothing until the next take."""
        if self._polled is not None:
            self._polled.close()
        self._topic, self._polled = NONE, None


class ShownSensors:
    """Two choices in the panel; nothing is received unless it is chosen."""

    def __init__(self, page: Page, node: Node) -> None:
        self._page, self._node = page, node
        with page.gui.add_folder("Sensors"):
            self._camera = _Chosen(page, node, "Camera", Image)
            self._picture: viser.GuiImageHandle | None = None
            self._folder = page.gui.add_folder("Picture")
            self._cloud = _Chosen(page, node, "Points", PointCloud2)
            self._notice = page.add_text("")
        self._points: viser.PointCloudHandle | None = None
        self._tree = StaticTree()
        self._static = PolledTopic(node, "/tf_static", TFMessage, is_latched=True)

    def look(self, graph: TopicGraph) -> None:
        """Offer what is published."""
        self._camera.offer(sorted(published_topics(self._node, graph, _IMAGE)))
        self._cloud.offer(sorted(published_topics(self._node, graph, _CLOUD)))
        while (message := self._static.take()) is not None:
            self._tree.add(message)

    def rest(self) -> None:
        """Receive nothing until it is to be shown again."""
        self._camera.rest()
        self._cloud.rest()

    def show(self, robots: Mapping[str, HeardPose]) -> None:
        """Show what came since the last time, points where their robot is."""
        topic, image = self._camera.take()
        if topic == NONE and self._picture is not None:
            self._picture.remove()
            self._picture = None
        if image is not None:
            self._show_picture(image)
        topic, cloud = self._cloud.take()
        if topic == NONE and self._points is not None:
            self._points.remove()
            self._points = None
        if cloud is not None:
            owner = owner_of(topic, robots)
            self._show_points(cloud, None if owner is None else robots[owner])

    def _show_picture(self, message: Image) -> None:
        try:
            picture = picture_from_image(message)
        except ValueError as error:
            self._notice.set(f"camera: {error}")
            return
        scale = min(1.0, _WIDTH_PX / picture.shape[1])
        if scale < 1.0:
            picture = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        if picture.ndim == 2:
            picture = cv2.cvtColor(picture, cv2.COLOR_GRAY2RGB)
        if self._picture is None:
            with self._folder:
                self._picture = self._page.gui.add_image(picture, format="jpeg")
        else:
            self._picture.image = picture

    def _show_points(self, message: PointCloud2, robot: HeardPose | None) -> None:
        frame = message.header.frame_id.strip("/")
        T_map_points = self._pose_of(frame, robot)
        if T_map_points is None:
            self._notice.set(f"points are in the frame {frame}, of which no pose is known")
            return
        try:
            points, _ = finite_points(message)
        except ValueError as error:
            self._notice.set(f"points: {error}")
            return
        self._notice.set("")
        points = transform_points(T_map_points, points[:: max(1, len(points) // _MOST_POINTS)])
        self._points = self._page.scene.add_point_cloud(
            "/points", points.astype(np.float32), _colours(points[:, 2]), point_size=0.05
        )

    def _pose_of(self, frame: str, robot: HeardPose | None) -> FloatArray | None:
        if frame == "map":
            return np.eye(4)
        if robot is None:
            return None
        name, _, _ = frame.rpartition("/")
        base = f"{name}/base_link" if name else "base_link"
        T_base_points = self._tree.find(base, frame)
        if T_base_points is None:
            return None
        R = Rotation.from_quat(robot.q_xyzw).as_matrix()
        return make_transform(R, robot.p) @ T_base_points


def _colours(heights: FloatArray) -> np.ndarray:
    """Return colours (n, 3) uint8 of heights (n,), from low to high."""
    if not len(heights):
        return np.zeros((0, 3), np.uint8)
    low, high = np.percentile(heights, (2.0, 98.0))
    grey = np.clip((heights - low) / max(high - low, 1e-6), 0.0, 1.0)
    values = np.round(255.0 * grey).astype(np.uint8)[:, None]
    return cv2.cvtColor(cv2.applyColorMap(values, cv2.COLORMAP_TURBO), cv2.COLOR_BGR2RGB)[:, 0]
