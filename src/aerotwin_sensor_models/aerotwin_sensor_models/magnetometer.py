# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Magnetometer, and the Earth's magnetic field it measures."""

import dataclasses
import functools
import math

import numpy as np

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.parameters import parameter
from aerotwin_sensor_models import layout as at
from aerotwin_sensor_models.block import SensorBlock
from aerotwin_sensor_models.kernels import sample_magnetometer
from aerotwin_sensor_models.noise import gauss_markov, reading_std, require_step

Vector = tuple[float, float, float]
Matrix = tuple[float, float, float, float, float, float, float, float, float]
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
    turn_on_bias_sigma_t: float = parameter(
        0.0, unit="T", minimum=0.0, text="constant bias, drawn once per axis"
    )
    disturbance_sigma_t: float = parameter(
        0.0, unit="T", minimum=0.0, text="sigma of the Gauss-Markov field of motors and cables"
    )
    disturbance_correlation_time_s: float = parameter(
        0.3, unit="s", minimum=1e-3, text="correlation time of that"
    )
    hard_iron_t: Vector = parameter(
        (0.0, 0.0, 0.0), unit="T", text="field of the vehicle itself, body axes"
    )
    soft_iron: Matrix = parameter(
        (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        text="how the vehicle bends the field: a matrix row by row, body axes; also scale errors",
    )

    @property
    def bias_sigma_t(self) -> float:
        """Standard deviation of the Gauss-Markov bias [T]."""
        return self.random_walk_t * math.sqrt(self.correlation_time_s / 2.0)

    def reading_std(self, rate_hz: float) -> float:
        """Return the standard deviation of a reading about the truth, over many power cycles [T].

        White noise, disturbance and both biases; not the iron of the vehicle.
        """
        white = self.noise_density_t * math.sqrt(rate_hz)
        parts = white, self.bias_sigma_t, self.disturbance_sigma_t, self.turn_on_bias_sigma_t
        return reading_std(*parts)


@functools.cache
def _model(first_year: int):
    from pygeomag import GeoMag  # loaded here: it is needed once per run

    return GeoMag(coefficients_file=f"wmm/WMM_{first_year}.COF")


def magnetic_field_enu_tesla(point: GeodeticPoint, decimal_year: float) -> np.ndarray:
    """Return the Earth's magnetic field (3,) by the World Magnetic Model: east, north, up [T].

    That is H sin D, H cos D, -H tan I. (Pegasus eq. 11 uses the components of north, east and down
    for these.) WMM2020 serves 2020 to 2025, WMM2025 2025 to 2030; altitudes are ellipsoidal.

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


class Magnetometer:
    """A magnetometer whose bias wanders over time.

    reading = soft iron @ R^T B + hard iron + biases + disturbance + white noise, in body axes.
    Presets of its errors: see `load_preset`. `rng` is not shared, see `seed_sequence`.
    """

    def __init__(self, parameters: MagnetometerParameters, rng: np.random.Generator) -> None:
        self.parameters = parameters
        self._bias_sigma = parameters.bias_sigma_t
        bias, turn_on = rng.standard_normal((2, 3))
        sigmas = parameters.noise_density_t, self._bias_sigma, parameters.disturbance_sigma_t
        disturbance = rng.standard_normal(3) if parameters.disturbance_sigma_t > 0.0 else 0.0
        n_active = sum(sigma > 0.0 for sigma in sigmas)
        self.block = SensorBlock(rng, at.MAGNETOMETER_RECORD, 3 * n_active)
        self.block.record["disturbance_t"] = parameters.disturbance_sigma_t * disturbance
        triad = self.block.record["triad"]
        triad["limit"], triad["bias"] = math.inf, self._bias_sigma * bias
        triad["offset"] = parameters.hard_iron_t + parameters.turn_on_bias_sigma_t * turn_on
        triad["matrix"] = np.reshape(parameters.soft_iron, (3, 3))
        self._dt = -1.0
        self.look_up()

    def look_up(self) -> None:
        """Renew the views into the block after it moved."""
        record = self.block.record
        self._rotation, self._field = record["R_map_body"], record["field_map_t"]
        self._reading = record["reading"]["field_t"]

    def sample(self, dt: float, R_map_body: np.ndarray, field_map_tesla: np.ndarray) -> np.ndarray:
        """Return the field in body axes [T], dt [s] after the last sample."""
        self.tune(dt)
        self._rotation[:] = R_map_body
        self._field[:] = field_map_tesla
        block = self.block
        if sample_magnetometer(block.memory):
            block.draw()
        return self._reading.copy()

    def tune(self, dt: float) -> None:
        """Set the noise for samples dt [s] apart; `sample` calls it."""
        if dt == self._dt:
            return
        require_step(dt)
        decay, gain = gauss_markov(dt, self.parameters.correlation_time_s)
        triad = self.block.record["triad"]
        triad["decay"], triad["gain"] = decay, gain * self._bias_sigma
        triad["sigma"] = self.parameters.noise_density_t / math.sqrt(dt)
        decay, gain = gauss_markov(dt, self.parameters.disturbance_correlation_time_s)
        self.block.record["disturbance_decay"] = decay
        self.block.record["disturbance_gain"] = gain * self.parameters.disturbance_sigma_t
        self._dt = dt
