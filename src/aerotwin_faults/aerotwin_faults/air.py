# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Weather that comes and goes: a gust, shear with height, a microburst.

References
----------
MIL-F-8785C, 3.7.1.3: the discrete gust, one minus cosine.
Oseguera and Bowles: A Simple, Analytic 3-Dimensional Downburst Model Based on Boundary Layer
Stagnation Flow. NASA TM-100632, 1988.
"""

from dataclasses import dataclass
from math import cos, exp, hypot, pi
from typing import ClassVar, Protocol

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_faults.fault import AIR, Fault, Moment

LARGEST_M_S = 60.0


class AirEffect(Protocol):
    """What a fault at place `air` does."""

    def wind_map(self, p_map: np.ndarray, height_m: float, moment: Moment) -> np.ndarray:
        """Return the added velocity of the air (3,) [m/s] in map axes.

        At a position (3,) in map [m], and its height above the ground [m].
        """


@dataclass(frozen=True, kw_only=True)
class WindGust(Fault):
    """A gust: it rises and falls as one minus cosine, each in ramp_s, and lasts duration_s."""

    place: ClassVar[str] = AIR
    east_m_s: float = parameter(
        0.0, text="towards east", unit="m/s", minimum=-LARGEST_M_S, maximum=LARGEST_M_S
    )
    north_m_s: float = parameter(
        0.0, text="towards north", unit="m/s", minimum=-LARGEST_M_S, maximum=LARGEST_M_S
    )
    up_m_s: float = parameter(
        0.0, text="upwards", unit="m/s", minimum=-LARGEST_M_S, maximum=LARGEST_M_S
    )

    def wind_map(self, p_map: np.ndarray, height_m: float, moment: Moment) -> np.ndarray:
        """Return it; the same everywhere."""
        share = 0.5 * (1.0 - cos(pi * moment.level))
        return share * np.array([self.east_m_s, self.north_m_s, self.up_m_s])


@dataclass(frozen=True, kw_only=True)
class WindShear(Fault):
    """A layer in which the wind grows linearly with height."""

    place: ClassVar[str] = AIR
    east_m_s: float = parameter(
        0.0, text="above it, towards east", unit="m/s", minimum=-LARGEST_M_S, maximum=LARGEST_M_S
    )
    north_m_s: float = parameter(
        0.0, text="above it, towards north", unit="m/s", minimum=-LARGEST_M_S, maximum=LARGEST_M_S
    )
    from_height_m: float = parameter(
        0.0, text="lower edge above the ground", unit="m", minimum=0.0, maximum=1000.0
    )
    to_height_m: float = parameter(
        20.0, text="upper edge above the ground", unit="m", minimum=0.1, maximum=1000.0
    )

    def __post_init__(self) -> None:
        if self.to_height_m <= self.from_height_m:
            raise ValueError(
                f"to_height_m must be above from_height_m ({self.from_height_m}), got "
                f"{self.to_height_m}"
            )

    def wind_map(self, p_map: np.ndarray, height_m: float, moment: Moment) -> np.ndarray:
        """Return the wind at a height."""
        share = (height_m - self.from_height_m) / (self.to_height_m - self.from_height_m)
        share = moment.level * min(max(share, 0.0), 1.0)
        return share * np.array([self.east_m_s, self.north_m_s, 0.0])


@dataclass(frozen=True, kw_only=True)
class Microburst(Fault):
    """A downburst that spreads over the ground: head wind, down wind and tail wind of a crossing.

    Oseguera and Bowles, eq. 1-3, for air of constant density: the flow has no divergence. It is
    strongest horizontally at 1.12 radii from the axis and at the given height.
    """

    place: ClassVar[str] = AIR
    east_m: float = parameter(0.0, text="its axis in map", unit="m", minimum=-1e5, maximum=1e5)
    north_m: float = parameter(0.0, text="its axis in map", unit="m", minimum=-1e5, maximum=1e5)
    outflow_m_s: float = parameter(
        10.0, text="largest horizontal wind", unit="m/s", minimum=0.0, maximum=LARGEST_M_S
    )
    radius_m: float = parameter(
        30.0, text="of the downward shaft", unit="m", minimum=1.0, maximum=5000.0
    )
    outflow_height_m: float = parameter(
        10.0, text="of the largest horizontal wind", unit="m", minimum=0.1, maximum=500.0
    )

    def wind_map(self, p_map: np.ndarray, height_m: float, moment: Moment) -> np.ndarray:
        """Return the wind at a place; none below the ground."""
        x, y = float(p_map[0]) - self.east_m, float(p_map[1]) - self.north_m
        radius, height = self.radius_m, max(height_m, 0.0)
        outer_m, inner_m = self.outflow_height_m / 0.22, self.outflow_height_m / 2.75
        strength = moment.level * self.outflow_m_s / (0.2357 * radius)
        ratio = hypot(x, y) / radius
        shaft = exp(-(ratio**2))
        # (1 - exp(-r^2)) / r^2 is 1 at the axis
        spread = (1.0 - shaft) / ratio**2 if ratio > 1e-6 else 1.0
        profile = exp(-height / outer_m) - exp(-height / inner_m)
        outward = 0.5 * strength * spread * profile
        sinking = inner_m * (exp(-height / inner_m) - 1.0) - outer_m * (
            exp(-height / outer_m) - 1.0
        )
        return np.array([outward * x, outward * y, -strength * shaft * sinking])
