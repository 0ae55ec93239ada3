# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The camera without distortion that replaces a real one, from its calibration."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.camera_messages import camera_from_info, raw_camera_from_info
from aerotwin_core.frames import FloatArray, make_transform
from aerotwin_stereo_odometry.rectification import Rectification


@dataclass(frozen=True, kw_only=True, eq=False)
class IdealCamera:
    """A camera without distortion, and the rectification from raw images to its own.

    `T_optical_ideal` (4, 4) is its pose in the optical frame of the images' header: turned back
    by R.
    """

    camera: PinholeCamera
    rectification: Rectification
    T_optical_ideal: FloatArray

    @classmethod
    def from_info(cls, message: Any, *, images_are_rectified: bool) -> Self:
        """Return the camera of P of a sensor_msgs/CameraInfo; without P, that of K.

        A single calibrated camera has neither P nor R. If `images_are_rectified`, images are those
        of P already: K, D and R are not used.

        Raises ValueError if the calibration cannot be used.
        """
        if images_are_rectified:
            camera, _ = camera_from_info(message)
            return cls(
                camera=camera, rectification=Rectification(camera, camera, np.eye(3)),
                T_optical_ideal=np.eye(4),
            )  # fmt: skip
        raw = raw_camera_from_info(message)
        R = np.asarray(message.r, dtype=np.float64).reshape(3, 3)
        R = R if R.any() else np.eye(3)
        if message.p[0] > 0.0:
            camera, _ = camera_from_info(message)
        else:
            camera = PinholeCamera(
                width=raw.width, height=raw.height, fx=raw.matrix[0, 0], fy=raw.matrix[1, 1],
                cx=raw.matrix[0, 2], cy=raw.matrix[1, 2],
            )  # fmt: skip
        return cls(
            camera=camera, rectification=Rectification(raw, camera, R),
            T_optical_ideal=make_transform(R.T, np.zeros(3)),
        )  # fmt: skip
