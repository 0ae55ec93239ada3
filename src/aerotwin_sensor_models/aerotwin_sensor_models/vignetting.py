# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Vignetting: how much of the light reaches a pixel away from the principal point."""

import dataclasses

import numpy as np

from aerotwin_core.camera import CameraModel
from aerotwin_core.parameters import parameter


@dataclasses.dataclass(frozen=True, kw_only=True)
class VignettingParameters:
    """Relative illumination 1 + falloff_r2 r^2 + falloff_r4 r^4 + falloff_r6 r^6.

    r is the distance from the principal point, 1 at half the diagonal of the image.

    References
    ----------
    D. B. Goldman: Vignette and exposure calibration and compensation. IEEE Trans. PAMI 32(12),
    2010, section 3 (a sixth-order even polynomial).
    """

    falloff_r2: float = parameter(0.0, text="coefficient of r^2, negative to darken")
    falloff_r4: float = parameter(0.0, text="coefficient of r^4")
    falloff_r6: float = parameter(0.0, text="coefficient of r^6")


def relative_illumination(parameters: VignettingParameters, camera: CameraModel) -> np.ndarray:
    """Return the share of light (h, w) float32 that reaches each pixel, 1 at the principal point.

    Raises
    ------
    ValueError
        If it is negative somewhere in the image.
    """
    cx, cy = camera.matrix[0, 2], camera.matrix[1, 2]
    x = np.arange(camera.width) - cx
    y = np.arange(camera.height)[:, None] - cy
    square = (x**2 + y**2) / (camera.width**2 + camera.height**2) * 4.0
    c2, c4, c6 = parameters.falloff_r2, parameters.falloff_r4, parameters.falloff_r6
    share = 1.0 + square * (c2 + square * (c4 + square * c6))
    if share.min() < 0.0:
        raise ValueError(
            f"vignetting must leave light in the whole image, got {share.min():.2f} of it at the "
            "darkest pixel; take coefficients nearer to 0"
        )
    return share.astype(np.float32)
