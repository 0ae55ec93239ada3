# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Noise of images and of depth images: its size."""

import dataclasses

from aerotwin_core.parameters import parameter


@dataclasses.dataclass(frozen=True, kw_only=True)
class CameraNoiseParameters:
    """Gaussian noise of a camera in digital numbers (DN) of an 8-bit image, at gain 1."""

    mean_dn: float = parameter(0.0, unit="DN", text="mean of the noise")
    read_noise_dn: float = parameter(
        0.0, unit="DN", minimum=0.0, text="standard deviation that does not depend on the light"
    )
    gain_dn_per_electron: float = parameter(
        0.0, unit="DN", minimum=0.0, text="shot noise variance per grey value"
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DepthNoiseParameters:
    """Noise of a depth camera that finds disparities: sigma = z^2 disparity_noise / (f baseline).

    References
    ----------
    A. Grunnet-Jepsen et al.: Best-Known-Methods for Tuning Intel RealSense D400 Depth Cameras for
    Best Performance, Intel 2018: depth RMS error = z^2 subpixel / (f baseline).
    """

    disparity_noise_px: float = parameter(
        0.0, unit="px", minimum=0.0, text="standard deviation of a disparity; 0 = exact depth"
    )
    baseline_m: float = parameter(
        0.05, unit="m", minimum=1e-3, text="distance between its two eyes"
    )
