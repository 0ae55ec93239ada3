# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A camera in the world: the pyramid that it sees, with its picture on it."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import viser

from aerotwin_core.frames import FloatArray, pose_from_transform
from aerotwin_view.page import Page

_SIZE = 1.2
"""Of the pyramid; viser draws one of the same volume whatever the angle."""
_COLOUR = (250, 200, 60)


@dataclass(frozen=True, kw_only=True)
class FrustumShape:
    """What a camera sees about its axis: the vertical angle [rad], and width over height."""

    vertical_rad: float
    aspect: float


def frustum_shape(info: Any, *, is_rectified: bool) -> FrustumShape:
    """Return the pyramid of a sensor_msgs/CameraInfo, of its raw or its rectified images.

    Distortion and the offset of the centre are left out.

    Raises
    ------
    ValueError
        If a size or a focal length is not positive and finite.
    """
    matrix = [float(value) for value in (info.p if is_rectified else info.k)]
    fx_px, fy_px = matrix[0], matrix[5 if is_rectified else 4]
    width, height = int(info.width), int(info.height)
    if not (width > 0 and height > 0 and 0.0 < fx_px < math.inf and 0.0 < fy_px < math.inf):
        raise ValueError(
            "camera_info must have a size and focal lengths above 0, got "
            f"{width} x {height} px, {fx_px:g} and {fy_px:g} px"
        )
    return FrustumShape(
        vertical_rad=2.0 * math.atan(0.5 * height / fy_px),
        aspect=(width / fx_px) / (height / fy_px),
    )


class CameraFrustum:
    """The pyramid of one camera; none at first."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._shown: viser.CameraFrustumHandle | None = None
        self._shape: FrustumShape | None = None

    def show_picture(self, shape: FrustumShape, picture: np.ndarray) -> None:
        """Show a picture (h, w, 3) uint8 on a pyramid of a shape."""
        if self._shown is None or shape != self._shape:
            self.hide()
            self._shape = shape
            self._shown = self._page.scene.add_camera_frustum(
                "/camera",
                shape.vertical_rad,
                shape.aspect,
                scale=_SIZE,
                thickness=2.0,
                thickness_units="screen",
                color=_COLOUR,
                image=picture,
                format="jpeg",
                cast_shadow=False,
                receive_shadow=False,
                visible=False,  # until its pose is known
            )
        else:
            self._shown.image = picture

    def move(self, T_map_optical: FloatArray | None) -> None:
        """Move the camera to a pose (4, 4), x right, y down, z forward; None hides it."""
        if self._shown is None:
            return
        self._shown.visible = T_map_optical is not None
        if T_map_optical is not None:
            place, turn = pose_from_transform(T_map_optical)
            self._shown.position = place
            self._shown.wxyz = np.roll(turn, 1)

    def hide(self) -> None:
        """Draw none."""
        if self._shown is not None:
            self._shown.remove()
            self._shown, self._shape = None, None
