# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Undistorted images of one camera, with its pose on the body."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sensor_msgs.msg import CameraInfo, Image

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.camera_messages import array_from_image
from aerotwin_core.frames import FloatArray
from aerotwin_core.ros.conversions import ns_from_stamp
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.parameters import ConfiguredNode
from aerotwin_core.ros.qos import IMAGE_DEPTH
from aerotwin_core.ros.sources import image_sources
from aerotwin_dense_localization.ros.mounting import Mounting
from aerotwin_dense_localization.ros.node_parameters import MountedCameraParameters
from aerotwin_stereo_odometry.rectification import IdealCamera


@dataclass(frozen=True, kw_only=True, eq=False)
class Picture:
    """An image of an ideal camera; `T_base_optical` (4, 4) is its pose on the body."""

    stamp_ns: int
    grey: np.ndarray
    camera: PinholeCamera
    T_base_optical: FloatArray


class CameraIntake:
    """Subscribes to a camera; calls back with every undistorted image, and after every image.

    Invalid images, and those before camera_info and mounting are known, are skipped.

    `n_waiting`: queue length; the oldest images are dropped. `on_picture`: called with a `Picture`.
    `on_done`: called with the stamp [ns] of every image after it is processed. `counters`:
    `n_images` delivered, `n_images_skipped`. `last_skip`: why the last image was skipped; empty if
    it was not.
    """

    def __init__(
        self,
        node: ConfiguredNode,
        parameters: MountedCameraParameters,
        n_waiting: int,
        on_picture: Callable[[Picture], None],
        on_done: Callable[[int], None],
    ) -> None:
        self._node, self._parameters = node, parameters
        self._on_picture, self._on_done = on_picture, on_done
        self._mounting = Mounting(node, parameters.base_frame, parameters.mounting)
        self._ideal: IdealCamera | None = None
        self._refusal = "camera_info has not come"
        self.counters = {"n_images": 0, "n_images_skipped": 0}
        self.last_skip = ""
        info = TopicSource(topic="camera/camera_info", kind=CameraInfo)
        node.intakes.add(info, self._on_info, depth=IMAGE_DEPTH)
        node.intakes.add(image_sources("camera/image_raw"), self._on_image, depth=n_waiting)

    def _on_info(self, message: CameraInfo) -> None:
        """Use the first valid calibration; log each new reason why one is invalid."""
        if self._ideal is not None:
            return
        try:
            self._ideal = IdealCamera.from_info(
                message, images_are_rectified=self._parameters.images_are_rectified
            )
        except ValueError as error:
            refusal = f"camera_info is refused: {error}"
            if refusal != self._refusal:
                self._node.get_logger().error(refusal)
            self._refusal = refusal

    def _on_image(self, message: Image) -> None:
        try:
            picture = self._picture(message)
        except ValueError as error:
            self.last_skip = str(error)
            self.counters["n_images_skipped"] += 1
            self._node.get_logger().warning(f"image skipped: {error}", throttle_duration_sec=5.0)
        else:
            self.last_skip = ""
            self.counters["n_images"] += 1
            self._on_picture(picture)
        self._on_done(ns_from_stamp(message.header.stamp))

    def _picture(self, message: Image) -> Picture:
        if self._ideal is None:
            raise ValueError(self._refusal)
        frame_id = message.header.frame_id
        T_base_optical = self._mounting.find(frame_id)
        if T_base_optical is None:
            raise ValueError(
                f"/tf_static does not tell where {frame_id!r} sits on "
                f"{self._parameters.base_frame!r}; publish it or set the parameter mounting"
            )
        grey = self._ideal.rectification.apply(array_from_image(message))
        return Picture(
            stamp_ns=ns_from_stamp(message.header.stamp),
            grey=np.ascontiguousarray(grey),
            camera=self._ideal.camera,
            T_base_optical=T_base_optical @ self._ideal.T_optical_ideal,
        )
