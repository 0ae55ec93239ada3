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


def check_vignetting(parameters: VignettingParameters, camera: CameraModel) -> None:
    """Refuse a lens with negative illumination somewhere in the image.

    The polynomial in r^2 is least at an end of its interval or where its derivative vanishes.
    Raises ValueError if it is negative.
    """
    nearest, farthest = _square_distances(camera)
    c2, c4, c6 = parameters.falloff_r2, parameters.falloff_r4, parameters.falloff_r6
    turns = np.roots([3.0 * c6, 2.0 * c4, c2])
    inside = turns.real[(turns.imag == 0.0) & (turns.real > nearest) & (turns.real < farthest)]
    least = _share(parameters, np.array([nearest, farthest, *inside])).min()
    if not least >= 0.0:
        raise ValueError(
            f"vignetting must leave light in the whole image, got {least:.2f} of it at the "
            "darkest place; take coefficients nearer to 0"
        )


def relative_illumination(parameters: VignettingParameters, camera: CameraModel) -> np.ndarray:
    """Return the share of light (h, w) float32 that reaches each pixel, 1 at the principal point.

    Raises
    ------
    ValueError
        If it is negative somewhere in the image.
    """
    check_vignetting(parameters, camera)
    cx, cy = camera.matrix[0, 2], camera.matrix[1, 2]
    x = np.arange(camera.width) - cx
    y = np.arange(camera.height)[:, None] - cy
    return _share(parameters, (x**2 + y**2) / _unit(camera)).astype(np.float32)


def _share(parameters: VignettingParameters, square: np.ndarray) -> np.ndarray:
    c2, c4, c6 = parameters.falloff_r2, parameters.falloff_r4, parameters.falloff_r6
    return 1.0 + square * (c2 + square * (c4 + square * c6))


def _unit(camera: CameraModel) -> float:
    """Return the square of half the diagonal [px^2]."""
    return (camera.width**2 + camera.height**2) / 4.0


def _square_distances(camera: CameraModel) -> tuple[float, float]:
    """Return r^2 of the image points nearest to and farthest from the principal point."""
    last = np.array([camera.width - 1.0, camera.height - 1.0])
    centre = camera.matrix[:2, 2]
    nearest = np.clip(centre, 0.0, last) - centre
    farthest = np.maximum(np.abs(centre), np.abs(last - centre))
    return float(nearest @ nearest) / _unit(camera), float(farthest @ farthest) / _unit(camera)
