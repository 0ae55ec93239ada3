# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pressure altitude of the International Standard Atmosphere (ISO 2533), troposphere."""

SEA_LEVEL_PA = 101325.0
SEA_LEVEL_K = 288.15
LAPSE_K_M = 0.0065
GAS_CONSTANT = 287.05287
"""Of dry air [J/(kg K)]."""
EXPONENT = GAS_CONSTANT * LAPSE_K_M / 9.80665


def pressure_altitude(pressure_pa: float) -> float:
    """Return the height above mean sea level at which the standard atmosphere has a pressure.

    >>> round(pressure_altitude(101325.0), 3)
    0.0
    """
    return SEA_LEVEL_K / LAPSE_K_M * (1.0 - (pressure_pa / SEA_LEVEL_PA) ** EXPONENT)
