# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Exposure and gain of a camera, and light that changes with time."""

import dataclasses
import math

import numpy as np

from aerotwin_core.parameters import parameter


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExposureParameters:
    """How much light a camera collects, its response, and how the light changes.

    `light_curve` draws steps and ramps: pairs of time and factor, linear between them, constant
    before the first and after the last; two pairs of one time make a step. A sinusoid is added.
    """

    exposure: float = parameter(
        1.0,
        minimum=0.0,
        maximum=100.0,
        text="light taken; 1 shows textures as they are",
    )
    gain: float = parameter(
        1.0, minimum=0.0, maximum=100.0, text="amplification of signal and noise"
    )
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
