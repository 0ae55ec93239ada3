# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The camera of a survey: data of its maker, and derived values for a flight."""

import math
from dataclasses import dataclass

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.parameters import parameter

FULL_FRAME_DIAGONAL_MM = math.hypot(36.0, 24.0)
"""CIPA DCG-001: the 35 mm equivalent of a focal length goes by the diagonal."""


@dataclass(frozen=True, kw_only=True)
class SurveyCamera:
    """A camera on a gimbal; the defaults are a small mapping camera, 67 x 53 degrees."""

    width_px: int = parameter(
        1600, text="Columns of an image.", unit="px", minimum=16, maximum=16384
    )
    height_px: int = parameter(1200, text="Rows of an image.", unit="px", minimum=16, maximum=16384)
    focal_mm: float = parameter(9.6, text="Focal length.", unit="mm", minimum=1.0, maximum=500.0)
    sensor_width_mm: float = parameter(
        12.8, text="Sensor width (12.8: one inch type).", unit="mm", minimum=1.0, maximum=100.0
    )
    make: str = parameter("aerotwin", text="Maker, as EXIF says.")
    model: str = parameter("survey camera", text="Model, as EXIF says.")

    @property
    def focal_px(self) -> float:
        """Focal length in pixels."""
        return self.focal_mm / self.sensor_width_mm * self.width_px

    @property
    def focal_35mm(self) -> float:
        """Focal length that sees the same diagonal on 36 x 24 mm [mm]."""
        height_mm = self.sensor_width_mm * self.height_px / self.width_px
        return self.focal_mm * FULL_FRAME_DIAGONAL_MM / math.hypot(self.sensor_width_mm, height_mm)

    def model_camera(self) -> PinholeCamera:
        """Return the camera to render with, its axis through the middle of the image."""
        return PinholeCamera(
            width=self.width_px,
            height=self.height_px,
            fx=self.focal_px,
            fy=self.focal_px,
            cx=(self.width_px - 1) / 2.0,
            cy=(self.height_px - 1) / 2.0,
        )

    def footprint(self, distance_m: float) -> tuple[float, float]:
        """Return the size of an image on a surface across the axis, across and down [m]."""
        return (
            distance_m * self.width_px / self.focal_px,
            distance_m * self.height_px / self.focal_px,
        )

    def ground_sampling_m(self, distance_m: float) -> float:
        """Return the size of a pixel at a distance [m]."""
        return distance_m / self.focal_px
