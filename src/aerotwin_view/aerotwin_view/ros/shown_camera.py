# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The picture of the chosen camera: in the panel, and in the world where the camera is."""

from collections.abc import Mapping
from contextlib import suppress

import cv2
import numpy as np
import viser
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image

from aerotwin_core.camera_messages import picture_from_image
from aerotwin_core.foreign_text import printable
from aerotwin_view.page import Page
from aerotwin_view.robot_topics import owner_of
from aerotwin_view.ros.chosen_topic import NONE, ChosenTopic
from aerotwin_view.ros.heard_pose import HeardPose
from aerotwin_view.ros.polled_topic import PolledTopic, TopicGraph
from aerotwin_view.ros.sensor_poses import SensorPoses
from aerotwin_view.scene.camera_frustum import CameraFrustum, FrustumShape, frustum_shape

_WIDTH_PX, _HEIGHT_PX = 480, 960
_MOST_PIXELS = 30_000_000
_MOST_LETTERS = 300


class ShownCamera:
    """A choice in the panel; the camera is drawn by the CameraInfo next to its images."""

    def __init__(self, page: Page, node: Node, poses: SensorPoses) -> None:
        self._page, self._node, self._poses = page, node, poses
        self._chosen = ChosenTopic(page, node, "Camera", Image, "sensor_msgs/msg/Image")
        self._folder = page.gui.add_folder("Picture")
        self._notice = page.add_text("")
        self._frustum = CameraFrustum(page)
        self._picture: viser.GuiImageHandle | None = None
        self._topic = NONE
        self._info: PolledTopic | None = None
        self._shape: FrustumShape | None = None
        self._frame = ""

    def look(self, graph: TopicGraph) -> None:
        """Offer what is published."""
        self._chosen.look(graph)

    def rest(self) -> None:
        """Receive nothing until the next show."""
        self._chosen.rest()
        self._choose(NONE)

    def show(self) -> None:
        """Show what came since the last time."""
        image = self._chosen.take()
        if self._chosen.topic != self._topic:
            self._choose(self._chosen.topic)
        if self._info is not None and (info := self._info.take()) is not None:
            is_rectified = self._topic.rpartition("/")[2].startswith("image_rect")
            with suppress(ValueError):  # the picture is shown all the same
                self._shape = frustum_shape(info, is_rectified=is_rectified)
        try:
            if image is not None:
                self._show_picture(_reduced(image))
                self._frame = image.header.frame_id
        except (ValueError, cv2.error) as error:
            self._notice.set(printable(f"camera: {error}", _MOST_LETTERS))

    def move(self, robots: Mapping[str, HeardPose]) -> None:
        """Move the camera in the world along with its robot."""
        if self._topic == NONE or not self._frame:
            return
        owner = owner_of(self._topic, robots)
        T_map_optical = self._poses.find(self._frame, None if owner is None else robots[owner])
        self._frustum.move(T_map_optical)
        if T_map_optical is None:
            frame = printable(self._frame, _MOST_LETTERS)
            self._notice.set(f"it is in the frame {frame}, of which no pose is known")
        elif self._shape is None:
            self._notice.set("where it looks is not known: no usable camera_info comes beside it")
        else:
            self._notice.set("")

    def _choose(self, topic: str) -> None:
        """Begin with another topic."""
        if self._info is not None:
            self._info.close()
        if self._picture is not None:
            self._picture.remove()
        self._frustum.hide()
        self._notice.set("")
        self._topic, self._frame = topic, ""
        self._picture = self._info = self._shape = None
        if topic != NONE:
            name = f"{topic.rpartition('/')[0]}/camera_info"
            self._info = PolledTopic(self._node, name, CameraInfo)

    def _show_picture(self, picture: np.ndarray) -> None:
        if self._picture is None:
            with self._folder:
                self._picture = self._page.gui.add_image(picture, format="jpeg")
        else:
            self._picture.image = picture
        if self._shape is not None:
            self._frustum.show_picture(self._shape, picture)


def _reduced(message: Image) -> np.ndarray:
    """Return a picture (h, w, 3) uint8 that is small enough for a page. Raises ValueError."""
    if not 0 < message.width * message.height <= _MOST_PIXELS:
        raise ValueError(
            f"a picture of {message.width} x {message.height} px is not shown; at most "
            f"{_MOST_PIXELS // 1_000_000} million px are"
        )
    picture = picture_from_image(message)
    height, width = picture.shape[:2]
    scale = min(_WIDTH_PX / width, _HEIGHT_PX / height)
    if scale < 1.0:
        size = max(1, round(width * scale)), max(1, round(height * scale))
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return cv2.cvtColor(picture, cv2.COLOR_GRAY2RGB) if picture.ndim == 2 else picture
