# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Errors of cameras as parameters: noise, exposure and changing light, vignetting."""

import dataclasses
import math

import numpy as np

from aerotwin_core.camera import CameraModel
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class AutoExposureParameters:
    """A controller of exposure time and gain, driven by the image before.

    Exposure time times gain is multiplied by (target / mean)^speed: by a longer exposure first, by
    gain when that is at its limit: the order that the data sheet of the MT9V032 recommends
    (ON Semiconductor, "Analog Gain").
    """

    target_dn: float = parameter(
        0.0, unit="DN", minimum=0.0, maximum=250.0, text="mean of the image aimed at; 0 = fixed"
    )
    speed: float = parameter(
        0.3, minimum=0.01, maximum=1.0, text="share of an error, in stops, corrected at a frame"
    )
    shortest_s: float = parameter(
        1e-4, unit="s", minimum=1e-6, maximum=1.0, text="shortest exposure time"
    )
    longest_s: float = parameter(
        0.015, unit="s", minimum=1e-6, maximum=1.0, text="longest exposure time"
    )
    largest_gain: float = parameter(
        4.0, minimum=1.0, maximum=100.0, text="largest gain, beside that of the exposure"
    )

    def __post_init__(self) -> None:
        if self.longest_s < self.shortest_s:
            raise ValueError(
                f"longest_s must not be below shortest_s ({self.shortest_s}), got {self.longest_s}"
            )


_FIXED = AutoExposureParameters()


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExposureParameters:
    """How much light a camera collects, its response, and how the light changes.

    `exposure` is collected in `time_s`; during it the image moves (motion blur). `light_curve`
    draws steps and ramps: pairs of time and factor, linear between them, constant before the first
    and after the last; two pairs of one time make a step. A sinusoid is added.
    """

    exposure: float = parameter(
        1.0, minimum=0.0, maximum=100.0, text="light collected; 1 shows textures as they are"
    )
    time_s: float = parameter(
        0.0,
        unit="s",
        minimum=0.0,
        maximum=1.0,
        text="exposure time, about the stamp; 0 = an instant, no motion blur",
    )
    gain: float = parameter(
        1.0, minimum=0.0, maximum=100.0, text="amplification of signal and noise"
    )
    automatic: AutoExposureParameters = parameter(_FIXED, text="automatic exposure")
    brightness_dn: float = parameter(0.0, unit="DN", text="added to every pixel")
    light_curve: tuple[tuple[float, float], ...] = parameter(
        (), unit="s", text="light over time: pairs of time and factor; empty = constant"
    )
    flicker_amplitude: float = parameter(
        0.0, minimum=0.0, maximum=1.0, text="sinusoidal change of the light, as a share of it"
    )
    flicker_hz: float = parameter(
        1.0, unit="Hz", minimum=0.0, text="frequency of the sinusoid, which begins at 0"
    )

    def __post_init__(self) -> None:
        times = [time for time, _ in self.light_curve]
        if times != sorted(times):
            raise ValueError(f"light_curve must not go back in time, got {times}")
        if any(factor < 0.0 for _, factor in self.light_curve):
            raise ValueError(f"light_curve must have factors of at least 0, got {self.light_curve}")
        automatic = self.automatic
        if automatic.target_dn > 0.0 and not (
            automatic.shortest_s <= self.time_s <= automatic.longest_s
        ):
            raise ValueError(
                "time_s, where automatic exposure begins, must be from "
                f"{automatic.shortest_s} s to {automatic.longest_s} s, got {self.time_s}"
            )

    @property
    def longest_s(self) -> float:
        """The longest exposure time of any image [s]."""
        return self.automatic.longest_s if self.automatic.target_dn > 0.0 else self.time_s


def light_at(parameters: ExposureParameters, time_s: float) -> float:
    """Return the factor of the light at a simulated time; at the instant of a step the new one."""
    phase = 2.0 * math.pi * math.fmod(parameters.flicker_hz * time_s, 1.0)
    flicker = 1.0 + parameters.flicker_amplitude * math.sin(phase)
    curve = parameters.light_curve
    n_past = sum(time <= time_s for time, _ in curve)
    if not curve:
        return flicker
    if n_past in (0, len(curve)):
        return flicker * curve[min(n_past, len(curve) - 1)][1]
    (t0, before), (t1, after) = curve[n_past - 1 : n_past + 1]
    return flicker * float(np.interp(time_s, [t0, t1], [before, after]))


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
    """Refuse, by a ValueError, a lens with negative illumination somewhere in the image.

    The polynomial in r^2 is least at an end of its interval or where its derivative vanishes.
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
