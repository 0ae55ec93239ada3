# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rectification: from the raw image of a lens to that of an ideal camera, parallel to its peer."""

from dataclasses import dataclass
from typing import Any, Self

import cv2
import numpy as np

from aerotwin_core.camera import CameraModel, PinholeCamera
from aerotwin_core.camera_messages import camera_from_info, raw_camera_from_info
from aerotwin_core.frames import FloatArray, make_transform

LEAST_SEEN = 0.25  # below this share of seen pixels the calibration is not this camera's
_NOWHERE_PX = -1.0  # where the lens shows nothing; the pixel at the edge is repeated


class Rectification:
    """Samples every pixel of the ideal camera from the raw image.

    Interpolation is linear; if rectification changes nothing, the image passes unchanged. Outside
    of the raw image its edge is repeated: a black rim would have corners, which move with the
    camera.

    `raw`, `rectified`: the camera of the raw image (K and D of a CameraInfo), and the ideal camera
    (P). `R_rectified_raw` (3, 3): turns directions of the raw optical frame into the rectified one:
    R. `is_needed`: whether images change. `sources` (h, w, 2) float32: raw pixel (column, row) of
    each rectified one; None if not needed. Raises ValueError if R is no rotation, or hardly
    anything of the ideal image lies inside the raw one.

    OpenCV's initUndistortRectifyMap gives the same sources, but ignores the skew.
    """

    def __init__(self, raw: CameraModel, rectified: PinholeCamera, R_rectified_raw) -> None:
        R = np.asarray(R_rectified_raw, dtype=np.float64).reshape(3, 3)
        if not (np.allclose(R @ R.T, np.eye(3), atol=1e-4) and np.linalg.det(R) > 0.0):
            raise ValueError(f"R must be a rotation, got {R.ravel().tolist()}; calibrate the pair")
        self._shape = (raw.height, raw.width)
        self.is_needed = raw != rectified or not np.array_equal(R, np.eye(3))
        self.sources: np.ndarray | None = None
        if self.is_needed:
            self.sources = _sources(raw, rectified, R)
            _check_view(self.sources, raw)

    def apply(self, image: np.ndarray) -> np.ndarray:
        """Return a (h, w) or (h, w, c) uint8 image rectified; ValueError if it differs in size."""
        if image.shape[:2] != self._shape:
            (height, width), got = self._shape, image.shape
            raise ValueError(
                f"image must be {width} x {height} as its camera_info says, got "
                f"{got[1]} x {got[0]}; send camera_info of the size of the images"
            )
        if self.sources is None:
            return image
        return cv2.remap(image, self.sources, None, cv2.INTER_LINEAR, None, cv2.BORDER_REPLICATE)


def _sources(raw: CameraModel, rectified: PinholeCamera, R_rectified_raw: np.ndarray) -> np.ndarray:
    rays = rectified.rays().reshape(-1, 2)
    pixels = raw.project(np.column_stack([rays, np.ones(len(rays))]) @ R_rectified_raw)
    sources = np.nan_to_num(pixels, nan=_NOWHERE_PX).reshape(rectified.height, rectified.width, 2)
    return sources.astype(np.float32)


def _check_view(sources: np.ndarray, raw: CameraModel) -> None:
    last = np.array([raw.width, raw.height]) - 1.0
    seen = np.all((sources >= 0.0) & (sources <= last), axis=-1).mean()
    if seen < LEAST_SEEN:
        raise ValueError(
            f"at least {LEAST_SEEN:.0%} of the rectified image must lie inside the raw one, "
            f"got {seen:.0%}; K, D, R and P must be of one calibration"
        )


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
