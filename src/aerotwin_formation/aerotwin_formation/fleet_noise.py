# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Gusts and errors of estimates: random walks that return to zero, in part shared by all vehicles.

Each component is a Gauss-Markov process of the first order, discretised exactly, so that variance
and correlation time do not depend on the step.
"""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class FleetWindParameters:
    """Wind on all vehicles: steady, with gusts that are in part the same everywhere."""

    east_m_s: float = parameter(
        0.0, unit="m/s", minimum=-60.0, maximum=60.0, text="steady velocity of the air to the east"
    )
    north_m_s: float = parameter(
        0.0, unit="m/s", minimum=-60.0, maximum=60.0, text="steady velocity of the air to the north"
    )
    gust_m_s: float = parameter(
        0.0, unit="m/s", minimum=0.0, maximum=30.0, text="gusts, 1 sigma of each component"
    )
    gust_time_s: float = parameter(
        2.0, unit="s", minimum=0.05, maximum=600.0, text="correlation time of gusts"
    )
    gust_shared: float = parameter(
        0.5, minimum=0.0, maximum=1.0, text="part of the gusts' variance that all vehicles share"
    )


@dataclass(frozen=True, kw_only=True)
class EstimateErrorParameters:
    """Errors of the vehicles' estimates of their positions."""

    shared_m: float = parameter(
        0.0, unit="m", minimum=0.0, maximum=100.0, text="the same for all, 1 sigma: as of GNSS"
    )
    own_m: float = parameter(
        0.0, unit="m", minimum=0.0, maximum=100.0, text="of each vehicle, 1 sigma"
    )
    time_s: float = parameter(
        30.0, unit="s", minimum=0.05, maximum=1e5, text="correlation time of both"
    )


class FleetNoise:
    """Gauss-Markov vectors of n vehicles: a part shared by all, and one of each vehicle.

    Parameters
    ----------
    n_vehicles : int
        Vehicles.
    shared, own : float
        Standard deviation of each component of the two parts.
    time_s : float
        Correlation time of both [s].
    rng : numpy.random.Generator
        Draws all of them, the first values from the stationary distribution.
    """

    def __init__(
        self, n_vehicles: int, *, shared: float, own: float, time_s: float, rng: np.random.Generator
    ) -> None:
        self._time_s, self._rng, self._own = time_s, rng, own
        self._deviations = np.vstack([[shared], np.full((n_vehicles, 1), own)])
        self._is_on = shared > 0.0 or own > 0.0
        self._values = self._deviations * self._normals()

    @property
    def values(self) -> FloatArray:
        """The vectors now (n, 3)."""
        return self._values[1:] + self._values[0]

    def advance(self, dt: float) -> None:
        """Go on by dt [s]."""
        if self._is_on:
            decay = math.exp(-dt / self._time_s)
            spread = math.sqrt(-math.expm1(-2.0 * dt / self._time_s))
            self._values = decay * self._values + spread * self._deviations * self._normals()

    def join(self) -> None:
        """Add a vehicle, the last one; its first value is from the stationary distribution."""
        value = self._own * self._rng.standard_normal((1, 3))
        self._values = np.vstack([self._values, value])
        self._deviations = np.vstack([self._deviations, [[self._own]]])

    def leave(self, vehicle: int) -> None:
        """Remove a vehicle by its number; later ones move up."""
        self._values = np.delete(self._values, vehicle + 1, axis=0)
        self._deviations = np.delete(self._deviations, vehicle + 1, axis=0)

    def _normals(self) -> FloatArray:
        return self._rng.standard_normal((len(self._deviations), 3))


def gusts(parameters: FleetWindParameters, n_vehicles: int, rng: np.random.Generator) -> FleetNoise:
    """Return the gusts at n vehicles, without the steady wind [m/s]."""
    p = parameters
    return FleetNoise(
        n_vehicles,
        shared=p.gust_m_s * math.sqrt(p.gust_shared),
        own=p.gust_m_s * math.sqrt(1.0 - p.gust_shared),
        time_s=p.gust_time_s,
        rng=rng,
    )


def estimate_errors(
    parameters: EstimateErrorParameters, n_vehicles: int, rng: np.random.Generator
) -> FleetNoise:
    """Return the errors of n vehicles' positions [m]."""
    p = parameters
    return FleetNoise(n_vehicles, shared=p.shared_m, own=p.own_m, time_s=p.time_s, rng=rng)
