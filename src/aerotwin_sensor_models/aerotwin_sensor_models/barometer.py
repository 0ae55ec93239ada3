# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Barometer: static pressure of the standard atmosphere, with noise and drift."""

import dataclasses
import math

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_sensor_models.noise import NormalRows, gauss_markov, require_step

SEA_LEVEL_PRESSURE_PA = 101325.0
SEA_LEVEL_TEMPERATURE_K = 288.15
LAPSE_RATE_K_PER_M = 0.0065
TROPOPAUSE_M = 11000.0
EARTH_RADIUS_M = 6356766.0  # the one of the standard, for geopotential altitude
AIR_GAS_CONSTANT = 287.05287  # J/(kg K)
STANDARD_GRAVITY = 9.80665
PRESSURE_EXPONENT = STANDARD_GRAVITY / (LAPSE_RATE_K_PER_M * AIR_GAS_CONSTANT)
_LOWEST_M = -5004.0  # geopotential; -5 km of geometric altitude


@dataclasses.dataclass(frozen=True, kw_only=True)
class BarometerParameters:
    """A barometer."""

    rate_hz: float = parameter(250.0, unit="Hz", minimum=0.1, text="samples per second")
    noise_density_pa: float = parameter(
        0.0, unit="Pa/√Hz", minimum=0.0, text="white noise; per sample sigma = density / sqrt(dt)"
    )
    drift_sigma_pa: float = parameter(
        0.0, unit="Pa", minimum=0.0, text="standard deviation of the Gauss-Markov drift"
    )
    drift_correlation_time_s: float = parameter(
        600.0, unit="s", minimum=1e-3, text="correlation time of the drift"
    )
    resolution_pa: float = parameter(
        0.0, unit="Pa", minimum=0.0, text="quantisation step; 0 is continuous"
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BarometerSample:
    """One reading: static pressure [Pa] and air temperature [K]."""

    pressure_pa: float
    temperature_k: float


def standard_atmosphere(altitude_amsl_m: float) -> tuple[float, float]:
    """Return pressure [Pa] and temperature [K] of the ICAO standard atmosphere up to 11 km.

    The altitude is geometric; gravity falls with height, so the law of the troposphere holds for
    the geopotential altitude H = r h / (r + h).

    Raises
    ------
    ValueError
        Below -5 km or above the tropopause, where this law does not hold.

    References
    ----------
    ICAO Doc 7488/3, and ISO 2533:1975.

    Examples
    --------
    >>> standard_atmosphere(0.0)
    (101325.0, 288.15)
    """
    geopotential = EARTH_RADIUS_M * altitude_amsl_m / (EARTH_RADIUS_M + altitude_amsl_m)
    if not _LOWEST_M <= geopotential <= TROPOPAUSE_M:
        raise ValueError(f"altitude must be in -5 to 11 km, got {altitude_amsl_m} m")
    temperature = SEA_LEVEL_TEMPERATURE_K - LAPSE_RATE_K_PER_M * geopotential
    ratio = temperature / SEA_LEVEL_TEMPERATURE_K
    return SEA_LEVEL_PRESSURE_PA * ratio**PRESSURE_EXPONENT, temperature


def pressure_altitude_m(pressure_pa: float) -> float:
    """Return the geometric altitude at which the standard atmosphere has a pressure.

    The inverse of `standard_atmosphere` (Pegasus eq. 10 takes a constant density instead).

    >>> round(pressure_altitude_m(standard_atmosphere(488.0)[0]), 6)
    488.0
    """
    ratio = (pressure_pa / SEA_LEVEL_PRESSURE_PA) ** (1.0 / PRESSURE_EXPONENT)
    geopotential = SEA_LEVEL_TEMPERATURE_K * (1.0 - ratio) / LAPSE_RATE_K_PER_M
    return EARTH_RADIUS_M * geopotential / (EARTH_RADIUS_M - geopotential)


class Barometer:
    """A barometer that lives through time (its drift wanders).

    Parameters
    ----------
    parameters : BarometerParameters
        Its errors; see `load_preset`.
    rng : numpy.random.Generator
        Its own source of randomness, see `seed_sequence`.
    """

    def __init__(self, parameters: BarometerParameters, rng: np.random.Generator) -> None:
        self.parameters = parameters
        self._drift = parameters.drift_sigma_pa * float(rng.standard_normal())
        self._normals = NormalRows(rng, 2)
        self._dt = -1.0
        self._decay = self._gain = self._sigma = 0.0

    def sample(self, dt: float, altitude_amsl_m: float) -> BarometerSample:
        """Return the reading dt [s] after the last one, at an altitude above mean sea level [m]."""
        if dt != self._dt:
            self._tune(dt)
        pressure, temperature = standard_atmosphere(altitude_amsl_m)
        drive, white = self._normals.take().tolist()
        self._drift = self._decay * self._drift + self._gain * drive
        pressure += self._drift + self._sigma * white
        resolution = self.parameters.resolution_pa
        if resolution > 0.0:
            pressure = resolution * math.floor(pressure / resolution + 0.5)
        return BarometerSample(pressure_pa=pressure, temperature_k=temperature)

    def _tune(self, dt: float) -> None:
        require_step(dt)
        parameters = self.parameters
        self._decay, gain = gauss_markov(dt, parameters.drift_correlation_time_s)
        self._gain = gain * parameters.drift_sigma_pa
        self._sigma = parameters.noise_density_pa / math.sqrt(dt)
        self._dt = dt
