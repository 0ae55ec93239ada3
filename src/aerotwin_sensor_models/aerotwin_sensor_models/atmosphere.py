# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The standard atmosphere from -5 to 11 km: pressure and temperature by altitude, and back.

References
----------
ICAO Doc 7488/3, Manual of the ICAO Standard Atmosphere, 1993, and ISO 2533:1975.
"""

import math

from numba import float64, types

from aerotwin_core.kernel_cache import njit

SEA_LEVEL_PRESSURE_PA = 101325.0
SEA_LEVEL_TEMPERATURE_K = 288.15
LAPSE_RATE_K_PER_M = 0.0065
EARTH_RADIUS_M = 6356766.0  # the one of the standard, for geopotential altitude
AIR_GAS_CONSTANT = 287.05287  # J/(kg K)
STANDARD_GRAVITY = 9.80665
PRESSURE_EXPONENT = STANDARD_GRAVITY / (LAPSE_RATE_K_PER_M * AIR_GAS_CONSTANT)
LOWEST_M = -5004.0  # geopotential; -5 km of geometric altitude
HIGHEST_M = 11000.0  # geopotential: the tropopause


@njit(types.UniTuple(float64, 2)(float64), cache=True)
def troposphere(altitude_m):
    """Return pressure [Pa] and temperature [K] at a geometric altitude; NaN beyond -5 to 11 km."""
    geopotential = EARTH_RADIUS_M * altitude_m / (EARTH_RADIUS_M + altitude_m)
    if not LOWEST_M <= geopotential <= HIGHEST_M:
        return math.nan, math.nan
    temperature = SEA_LEVEL_TEMPERATURE_K - LAPSE_RATE_K_PER_M * geopotential
    ratio = temperature / SEA_LEVEL_TEMPERATURE_K
    return SEA_LEVEL_PRESSURE_PA * ratio**PRESSURE_EXPONENT, temperature


def standard_atmosphere(altitude_amsl_m: float) -> tuple[float, float]:
    """Return pressure [Pa] and temperature [K] of the ICAO standard atmosphere up to 11 km.

    The altitude is geometric; gravity falls with height, so the law of the troposphere holds for
    the geopotential altitude H = r h / (r + h).

    Raises
    ------
    ValueError
        Below -5 km or above the tropopause, where this law does not hold.

    Examples
    --------
    >>> standard_atmosphere(0.0)
    (101325.0, 288.15)
    """
    pressure, temperature = troposphere(altitude_amsl_m)
    if math.isnan(pressure):
        raise outside_atmosphere(altitude_amsl_m)
    return pressure, temperature


def pressure_altitude_m(pressure_pa: float) -> float:
    """Return the geometric altitude [m] of a pressure in the standard atmosphere.

    The inverse of `standard_atmosphere` (Pegasus eq. 10 takes a constant density instead).

    >>> round(pressure_altitude_m(standard_atmosphere(488.0)[0]), 6)
    488.0
    """
    ratio = (pressure_pa / SEA_LEVEL_PRESSURE_PA) ** (1.0 / PRESSURE_EXPONENT)
    geopotential = SEA_LEVEL_TEMPERATURE_K * (1.0 - ratio) / LAPSE_RATE_K_PER_M
    return EARTH_RADIUS_M * geopotential / (EARTH_RADIUS_M - geopotential)


def air_density(pressure_pa: float, temperature_k: float) -> float:
    """Return the density of dry air [kg/m^3].

    >>> round(air_density(*standard_atmosphere(0.0)), 3)
    1.225
    """
    return pressure_pa / (AIR_GAS_CONSTANT * temperature_k)


def outside_atmosphere(altitude_amsl_m: float) -> ValueError:
    """Return the error for an altitude outside -5 to 11 km."""
    return ValueError(
        f"altitude must be in -5 to 11 km above mean sea level, got {altitude_amsl_m} m; "
        "check the height in map and the altitude of its origin"
    )
