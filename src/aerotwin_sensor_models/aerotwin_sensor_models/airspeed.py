# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Airspeed by a Pitot tube: the example of a custom sensor."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from aerotwin_core.parameters import load_parameters, parameter
from aerotwin_sensor_models.atmosphere import air_density, standard_atmosphere
from aerotwin_sensor_models.extra_sensor import SensorTruth


@dataclasses.dataclass(frozen=True, kw_only=True)
class AirspeedParameters:
    """A differential pressure sensor behind a Pitot tube along body x."""

    rate_hz: float = parameter(10.0, unit="Hz", minimum=0.1, text="samples per second")
    noise_density_pa: float = parameter(
        0.3162278, unit="Pa/√Hz", minimum=0.0, text="white noise: sigma = density * sqrt(rate)"
    )
    offset_pa: float = parameter(0.0, unit="Pa", text="constant error")


class Airspeed:
    """Differential pressure q = rho v |v| / 2 of the air along body x.

    `parameters` holds values of `AirspeedParameters` by name; `rng` is not shared.
    """

    topic = "airspeed/differential_pressure"
    msgtype = "sensor_msgs/msg/FluidPressure"

    def __init__(self, parameters: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.parameters = load_parameters(AirspeedParameters, parameters, where="airspeed")
        self.rate_hz = self.parameters.rate_hz
        self._sigma = self.parameters.noise_density_pa * math.sqrt(self.rate_hz)
        self._rng = rng

    def sample(self, stamp_ns: int, truth: SensorTruth) -> dict[str, float]:
        """Return pressure and variance; the fields of sensor_msgs/FluidPressure."""
        along = float(truth.R_map_body[:, 0] @ (truth.v_map_body - truth.wind_map))
        density = air_density(*standard_atmosphere(truth.altitude_amsl_m))
        pressure = 0.5 * density * along * abs(along) + self.parameters.offset_pa
        pressure += self._sigma * float(self._rng.standard_normal())
        return {"fluid_pressure": pressure, "variance": self._sigma**2}
