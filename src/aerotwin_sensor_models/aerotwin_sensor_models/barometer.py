# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Barometer: static pressure of the standard atmosphere, with noise and drift."""

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_sensor_models import layout as at
from aerotwin_sensor_models.atmosphere import outside_atmosphere, pressure_altitude_m
from aerotwin_sensor_models.block import SensorBlock
from aerotwin_sensor_models.kernels import sample_barometer
from aerotwin_sensor_models.noise import gauss_markov, reading_std, require_step


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
    airflow_sigma_pa: float = parameter(
        0.0, unit="Pa", minimum=0.0, text="sigma of the Gauss-Markov error by the air flow"
    )
    airflow_correlation_time_s: float = parameter(
        1.0, unit="s", minimum=1e-3, text="correlation time of that"
    )
    turn_on_bias_sigma_pa: float = parameter(
        0.0, unit="Pa", minimum=0.0, text="constant bias, drawn once"
    )
    drift_rate_pa_s: float = parameter(
        0.0, unit="Pa/s", text="steady drift: weather or warming; the reading is off by rate * time"
    )
    resolution_pa: float = parameter(
        0.0, unit="Pa", minimum=0.0, text="quantisation step; 0 is continuous"
    )

    def reading_std(self, rate_hz: float) -> float:
        """Return the standard deviation of a reading about the truth, over many power cycles [Pa].

        White noise, both Gauss-Markov errors, turn-on bias and rounding; not the steady drift.
        """
        white = self.noise_density_pa * math.sqrt(rate_hz)
        parts = white, self.drift_sigma_pa, self.airflow_sigma_pa, self.turn_on_bias_sigma_pa
        return reading_std(*parts, resolution=self.resolution_pa)


class BarometerSample(NamedTuple):
    """One reading: static pressure [Pa] and air temperature [K].

    A named tuple, because making a frozen dataclass takes as long as the reading itself.
    """

    pressure_pa: float
    temperature_k: float

    @property
    def pressure_altitude_m(self) -> float:
        """Return the altitude of this pressure in the standard atmosphere [m], errors included."""
        return pressure_altitude_m(self.pressure_pa)


class Barometer:
    """A barometer whose drift wanders over time.

    Presets of its errors: see `load_preset`. `rng` is not shared, see `seed_sequence`.
    """

    def __init__(self, parameters: BarometerParameters, rng: np.random.Generator) -> None:
        self.parameters = parameters
        normals = rng.standard_normal(3)
        sigmas = parameters.drift_sigma_pa, parameters.airflow_sigma_pa
        active = [parameters.noise_density_pa > 0.0, *(sigma > 0.0 for sigma in sigmas)]
        self.block = SensorBlock(rng, at.BAROMETER_RECORD, sum(active))
        record = self.block.record
        record["resolution"] = parameters.resolution_pa
        errors = normals * (*sigmas, parameters.turn_on_bias_sigma_pa)
        record["drift_pa"], record["airflow_pa"], record["trend_pa"] = errors
        self._dt = -1.0
        self.look_up()

    def look_up(self) -> None:
        """Renew the views into the block after it moved."""
        self._record, self._reading = self.block.record, self.block.record["reading"]

    def sample(self, dt: float, altitude_amsl_m: float) -> BarometerSample:
        """Return the reading dt [s] after the last one, at an altitude above mean sea level [m].

        Raises
        ------
        ValueError
            Below -5 km or above 11 km.
        """
        self.tune(dt)
        block = self.block
        self._record["altitude_m"] = altitude_amsl_m
        if sample_barometer(block.memory):
            block.draw()
        pressure, temperature = self._reading.item()
        if temperature != temperature:
            raise outside_atmosphere(altitude_amsl_m)
        return BarometerSample(pressure, temperature)

    @property
    def drift_pa(self) -> float:
        """Return the current error without white noise [Pa], for the evaluation."""
        record = self.block.record
        return float(record["drift_pa"] + record["airflow_pa"] + record["trend_pa"])

    def tune(self, dt: float) -> None:
        """Set the noise for samples dt [s] apart; `sample` calls it."""
        if dt == self._dt:
            return
        require_step(dt)
        parameters = self.parameters
        decay, gain = gauss_markov(dt, parameters.drift_correlation_time_s)
        record = self.block.record
        record["decay"], record["gain"] = decay, gain * parameters.drift_sigma_pa
        record["sigma"] = parameters.noise_density_pa / math.sqrt(dt)
        decay, gain = gauss_markov(dt, parameters.airflow_correlation_time_s)
        record["airflow_decay"], record["airflow_gain"] = decay, gain * parameters.airflow_sigma_pa
        record["trend_step_pa"] = parameters.drift_rate_pa_s * dt
        self._dt = dt
