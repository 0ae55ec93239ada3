# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Exposure time and gain of a frame, and their automatic control."""

from dataclasses import dataclass

import numpy as np

from aerotwin_sensor_models.camera_errors import ExposureParameters

_DARKEST_DN = 1.0
"""A mean below is taken for this one, so that a black image has a finite correction."""


@dataclass(frozen=True)
class FrameExposure:
    """Exposure time [s] of a frame and the gain beside that of the parameters."""

    time_s: float
    gain: float = 1.0


class AutoExposure:
    """Chooses the exposure of each frame from the image of the frame before.

    Cameras of a pair share one, so that they see an edge with the same brightness.

    Examples
    --------
    >>> from aerotwin_sensor_models.camera_errors import AutoExposureParameters
    >>> automatic = AutoExposureParameters(target_dn=100.0, speed=1.0)
    >>> control = AutoExposure(ExposureParameters(time_s=0.005, automatic=automatic))
    >>> control.on_image(np.full((2, 2), 50, np.uint8))
    >>> control.exposure
    FrameExposure(time_s=0.01, gain=1.0)
    """

    def __init__(self, parameters: ExposureParameters) -> None:
        self._parameters = parameters
        self.restart()

    def restart(self) -> None:
        """Begin again with the exposure of the parameters."""
        self.exposure = FrameExposure(self._parameters.time_s)

    def on_image(self, image: np.ndarray) -> None:
        """Take the image (h, w) or (h, w, 3) uint8 of a frame; sets the exposure of the next."""
        control = self._parameters.automatic
        if control.target_dn == 0.0:
            return
        error = control.target_dn / max(float(image.mean()), _DARKEST_DN)
        total_s = self.exposure.time_s * self.exposure.gain * error**control.speed
        time_s = min(max(total_s, control.shortest_s), control.longest_s)
        gain = min(max(total_s / time_s, 1.0), control.largest_gain)
        self.exposure = FrameExposure(time_s, gain)
