# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Magnetometer, and the Earth's magnetic field it measures."""

import dataclasses
import functools
import math

import numpy as np
from numba import float64, njit, void

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.parameters import parameter
from aerotwin_sensor_models.noise import NormalRows, gauss_markov, require_step

Vector = tuple[float, float, float]
_TESLA_PER_NANOTESLA = 1e-9


@dataclasses.dataclass(frozen=True, kw_only=True)
class MagnetometerParameters:
    """A three-axis magnetometer, its axes those of the body."""

    rate_hz: float = parameter(250.0, unit="Hz", minimum=0.1, text="samples per second")
    noise_density_t: float = parameter(
        0.0, unit="T/√Hz", minimum=0.0, text="white noise; per sample sigma = density / sqrt(dt)"
    )
    random_walk_t: float = parameter(
        0.0, unit="T/s/√Hz", minimum=0.0, text="drive of the bias; its sigma = drive sqrt(tau / 2)"
    )
    correlation_time_s: float = parameter(
        600.0, unit="s", minimum=1e-3, text="tau of the Gauss-Markov bias"
    )
    hard_iron_t: Vector = parameter(
        (0.0, 0.0, 0.0), unit="T", text="field of the vehicle itself, body axes"
    )


@functools.cache
def _model(first_year: int):
    from pygeomag import GeoMag  # loaded here: it is needed once per run

    return GeoMag(coefficients_file=f"wmm/WMM_{first_year}.COF")


def magnetic_field_enu_tesla(point: GeodeticPoint, decimal_year: float) -> np.ndarray:
    """Return the Earth's magnetic field by the World Magnetic Model.

    Parameters
    ----------
    point : GeodeticPoint
        Where; altitude above the ellipsoid.
    decimal_year : float
        When; 2020 to 2025 takes WMM2020, 2025 to 2030 takes WMM2025.

    Returns
    -------
    (3,) array
        Field along east, north and up [T]: H sin D, H cos D, -H tan I. (Pegasus eq. 11 names the
        components of north, east and down as if they were these.)

    Raises
    ------
    ValueError
        If the year is outside the models.
    """
    if not 2020.0 <= decimal_year <= 2030.0:
        raise ValueError(
            f"decimal_year must be in 2020 to 2030, got {decimal_year}; "
            "the World Magnetic Model of that time is not at hand"
        )
    model = _model(2020 if decimal_year < 2025.0 else 2025)
    field = model.calculate(
        glat=point.latitude_deg,
        glon=point.longitude_deg,
        alt=point.altitude_m / 1000.0,
        time=decimal_year,
    )
    return np.array([field.y, field.x, -field.z]) * _TESLA_PER_NANOTESLA


@njit(void(float64[:, ::1], float64[::1], float64[::1], float64[::1], float64[::1]), cache=True)
def _measure(truth, normals, memory, k, out):
    """Write three readings; truth holds R_map_body and, as fourth row, the field in map axes.

    memory holds bias and hard iron, k decay, gain and sigma.
    """
    for i in range(3):
        memory[i] = k[0] * memory[i] + k[1] * normals[i]
        along = 0.0
        for j in range(3):
            along += truth[j, i] * truth[3, j]
        out[i] = along + memory[i] + memory[3 + i] + k[2] * normals[3 + i]


class Magnetometer:
    """A magnetometer that lives through time (its bias wanders).

    Parameters
    ----------
    parameters : MagnetometerParameters
        Its errors; see `load_preset`.
    rng : numpy.random.Generator
        Its own source of randomness, see `seed_sequence`.
    """

    def __init__(self, parameters: MagnetometerParameters, rng: np.random.Generator) -> None:
        self.parameters = parameters
        self._bias_sigma = parameters.random_walk_t * math.sqrt(parameters.correlation_time_s / 2.0)
        bias = self._bias_sigma * rng.standard_normal(3)
        self._memory = np.concatenate([bias, parameters.hard_iron_t])
        self._normals = NormalRows(rng, 6)
        self._dt, self._k, self._truth = -1.0, np.zeros(3), np.empty((4, 3))

    def sample(self, dt: float, R_map_body: np.ndarray, field_map_tesla: np.ndarray) -> np.ndarray:
        """Return the field in body axes [T], dt [s] after the last sample."""
        if dt != self._dt:
            require_step(dt)
            decay, gain = gauss_markov(dt, self.parameters.correlation_time_s)
            sigma = self.parameters.noise_density_t / math.sqrt(dt)
            self._k[:] = decay, gain * self._bias_sigma, sigma
            self._dt = dt
        out = np.empty(3)
        normals = self._normals.take()
        self._truth[:3] = R_map_body
        self._truth[3] = field_map_tesla
        _measure(self._truth, normals, self._memory, self._k, out)
        return out
