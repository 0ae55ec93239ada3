# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Slip: the difference between the motion of the wheels and that of the vehicle."""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_ground_dynamics.motion import Twist


@dataclass(frozen=True, kw_only=True)
class SlipParameters:
    """Fraction of the wheels' motion that reaches the ground, drawn once for a vehicle on a ground.

    Driving wheels slip a few per cent (Wong 2008, Theory of Ground Vehicles, 1.3); skid-steered
    wheels turn the vehicle less than their geometry predicts, which is the efficiency index of
    Martinez et al. 2005 (IJRR 24(10), 867-878); unequal wheels and cross slopes bend a straight
    path (Borenstein and Feng 1996, IEEE T-RA 12(6), 869-880): a curvature, which follows a random
    walk over the distance driven as ground and load change.
    """

    v_factor_minimum: float = parameter(
        0.95, minimum=0.1, maximum=1.0, text="least true speed for a speed of the wheels of 1"
    )
    v_factor_maximum: float = parameter(
        1.0, minimum=0.1, maximum=1.5, text="most true speed for a speed of the wheels of 1"
    )
    omega_factor_minimum: float = parameter(
        0.85, minimum=0.1, maximum=1.0, text="least true turn for a turn of the wheels of 1"
    )
    omega_factor_maximum: float = parameter(
        1.0, minimum=0.1, maximum=1.5, text="most true turn for a turn of the wheels of 1"
    )
    curvature_walk_1_per_m_sqrt_m: float = parameter(
        5e-4, unit="1/m/sqrt(m)", minimum=0.0, maximum=0.1, text="random walk of added curvature"
    )
    curvature_limit_1_per_m: float = parameter(
        0.02, unit="1/m", minimum=0.0, maximum=0.5, text="where that walk is turned back"
    )

    def __post_init__(self) -> None:
        for name in ("v_factor", "omega_factor"):
            low, high = getattr(self, f"{name}_minimum"), getattr(self, f"{name}_maximum")
            if low > high:
                raise ValueError(
                    f"{name}_minimum must be at most {name}_maximum, got {low:g} and {high:g}; "
                    "exchange them"
                )


NO_SLIP = SlipParameters(
    v_factor_minimum=1.0,
    v_factor_maximum=1.0,
    omega_factor_minimum=1.0,
    omega_factor_maximum=1.0,
    curvature_walk_1_per_m_sqrt_m=0.0,
)
"""Wheels that roll without slipping."""


class Slip:
    """The slip of one vehicle on one ground; `rng` draws the factors and the walk.

    `v_factor` and `omega_factor` are the fractions of the wheels' speed and turn that the vehicle
    makes, `curvature_1_per_m` is added to the curvature of its path now [1/m].
    """

    def __init__(self, parameters: SlipParameters, rng: np.random.Generator) -> None:
        p = parameters
        self._walk, self._limit = p.curvature_walk_1_per_m_sqrt_m, p.curvature_limit_1_per_m
        self._rng = rng
        self.v_factor = float(rng.uniform(p.v_factor_minimum, p.v_factor_maximum))
        self.omega_factor = float(rng.uniform(p.omega_factor_minimum, p.omega_factor_maximum))
        self.curvature_1_per_m = 0.0

    def on_ground(self, wheels: Twist) -> Twist:
        """Return the motion of the vehicle for that of its wheels."""
        v = self.v_factor * wheels.v_m_s
        return Twist(v, self.omega_factor * wheels.omega_rad_s + self.curvature_1_per_m * v)

    def advance(self, way_m: float) -> None:
        """Advance the random walk of the curvature by a distance driven [m], not negative."""
        if self._walk > 0.0 and way_m > 0.0:
            step = self._walk * math.sqrt(way_m) * float(self._rng.standard_normal())
            self.curvature_1_per_m = _reflected(self.curvature_1_per_m + step, self._limit)


def _reflected(value: float, limit: float) -> float:
    """Return a value reflected into +-limit, as a walk between two walls."""
    if abs(value) <= limit:
        return value
    return math.copysign(max(2.0 * limit - abs(value), -limit), value)
