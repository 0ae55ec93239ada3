# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Simulated camera images of a flight: rendered at true poses, degraded by the sensor model."""

import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import FloatArray
from aerotwin_rendering import CameraView, Rasteriser
from aerotwin_sensor_models import load_preset
from aerotwin_sensor_models.camera_errors import ExposureParameters
from aerotwin_sensor_models.image_sensor import ImageSensor

LEFT, RIGHT, SCAN = range(3)
"""Numbers of cameras, which set their noise apart."""
CHANGING = ExposureParameters(flicker_amplitude=0.3, flicker_hz=0.13)
"""Exposure that changes by 30 % up and down in eight seconds."""
BLUR_PX = 1.0
"""Blur that goes with it, the standard deviation of a point's picture."""


class Pictures:
    """Takes images of a world.

    `seed` is of the noise; `blur_px` is the standard deviation of the image of a point.
    """

    def __init__(
        self,
        rasteriser: Rasteriser,
        camera: PinholeCamera,
        *,
        seed: int,
        exposure: ExposureParameters | None = None,
        blur_px: float = 0.0,
    ) -> None:
        self._rasteriser, self._camera = rasteriser, camera
        self._sensor = ImageSensor(
            camera,
            load_preset("camera_noise", "default"),
            exposure=exposure,
            blur_px=blur_px,
            seed=seed,
        )

    def mono(self, T_map_optical: FloatArray, stamp_ns: int, camera_index: int) -> np.ndarray:
        """Return the picture (h, w) uint8 from a true pose."""
        (seen,) = self.rendered(T_map_optical)
        return self.taken(seen, stamp_ns, camera_index)

    def stereo(
        self, T_map_left: FloatArray, baseline_m: float, stamp_ns: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the pictures (h, w) uint8 of a rectified pair, from the left one's true pose."""
        T_map_right = T_map_left.copy()
        T_map_right[:3, 3] += baseline_m * T_map_left[:3, 0]
        left, right = self.rendered(T_map_left, T_map_right)
        return self.taken(left, stamp_ns, LEFT), self.taken(right, stamp_ns, RIGHT)

    def rendered(self, *poses: FloatArray) -> list[np.ndarray]:
        """Return the ideal images at true poses, (h, w) uint8 each, before the sensor model."""
        frames = self._rasteriser.render(
            [CameraView(camera=self._camera, T_map_optical=T, encoding="mono8") for T in poses]
        )
        return [frame.image for frame in frames if frame.image is not None]

    def taken(self, seen: np.ndarray, stamp_ns: int, camera_index: int) -> np.ndarray:
        """Apply the sensor model to an ideal image; return it (h, w) uint8."""
        return self._sensor.expose(seen, stamp_ns, camera_index=camera_index)
