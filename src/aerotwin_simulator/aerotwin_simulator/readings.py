# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the sensors of one vehicle read in one step, as the controllers get it."""

from dataclasses import dataclass, field

import numpy as np

from aerotwin_sensor_models import GnssSample
from aerotwin_simulator.truth import TruthStep


@dataclass(slots=True)
class Readings:
    """The readings of one step; what was not due is None.

    Attributes
    ----------
    step : TruthStep
        The motion during the step; its end is the time of the readings.
    specific_force, angular_velocity : (3,) array or None
        The IMU's, body axes [m/s^2], [rad/s].
    magnetic_field : (3,) array or None
        Body axes [T].
    pressure_pa, temperature_k : float or None
        The barometer's.
    fixes : list of GnssSample
        What the GNSS receiver delivered: measured `delay_s` ago.
    """

    step: TruthStep
    specific_force: np.ndarray | None = None
    angular_velocity: np.ndarray | None = None
    magnetic_field: np.ndarray | None = None
    pressure_pa: float | None = None
    temperature_k: float | None = None
    fixes: list[GnssSample] = field(default_factory=list)
