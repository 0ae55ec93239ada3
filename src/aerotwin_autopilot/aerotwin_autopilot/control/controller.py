# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller: integrals and the airframe's numbers around the compiled cascade."""

import math

import numpy as np

from aerotwin_autopilot.control.allocation import allocation_matrix
from aerotwin_autopilot.control.cascade import N_INTEGRAL, Gains
from aerotwin_autopilot.control.kernel import control_step
from aerotwin_autopilot.control.setpoint import Setpoint
from aerotwin_autopilot.estimator.layout import GRAVITY
from aerotwin_autopilot.parameters import AirframeParameters, ControlParameters


class Controller:
    """Turns an estimate and a set-point into four rotor commands in [0, 1].

    Parameters
    ----------
    airframe : AirframeParameters
        What the controller believes it flies.
    parameters : ControlParameters
        Gains and limits.
    """

    def __init__(self, airframe: AirframeParameters, parameters: ControlParameters) -> None:
        self._gains = np.array(gains(airframe, parameters))
        self._inverse = np.ascontiguousarray(np.linalg.inv(allocation_matrix(airframe)))
        self._integral = np.zeros(N_INTEGRAL)
        self._commands = np.zeros(5)
        self._airframe = np.array(
            [
                airframe.thrust_coefficient,
                airframe.command_offset_rad_s,
                airframe.command_scale_rad_s,
            ]
        )
        self.hover_thrust_n = airframe.mass_kg * GRAVITY
        self.thrust_n = 0.0

    def step(
        self, estimate: np.ndarray, setpoint: Setpoint, dt: float, *, integrates: bool
    ) -> list[float]:
        """Return the rotor commands; `integrates` is False while the vehicle stands."""
        control_step(
            self._commands, estimate, setpoint.values, self._integral, self._inverse,
            self._airframe, self._gains, dt, integrates,
        )  # fmt: skip
        *commands, self.thrust_n = self._commands.tolist()
        return commands

    def reset(self) -> None:
        """Forget the integrals; on the ground they would wind up."""
        self._integral[:] = 0.0
        self.thrust_n = 0.0

    @property
    def thrust_share(self) -> float:
        """Thrust asked for as part of the weight."""
        return self.thrust_n / self.hover_thrust_n


def gains(airframe: AirframeParameters, parameters: ControlParameters) -> Gains:
    """Return the numbers of the compiled cascade."""
    p = parameters
    values = (
        p.position_gain_1_s, p.velocity_gain_1_s, p.velocity_integral_1_s2, p.attitude_gain_1_s,
        p.yaw_gain_1_s, p.rate_gain_1_s, p.yaw_rate_gain_1_s, p.rate_integral_1_s2,
        p.tilt_limit_rad, p.acceleration_limit_m_s2, p.climb_acceleration_limit_m_s2,
        p.rate_limit_rad_s, p.yaw_rate_limit_rad_s, p.speed_limit_m_s,
        p.position_correction_limit_m_s, p.integral_limit_m_s2,
        airframe.mass_kg, *airframe.inertia_kg_m2,
    )  # fmt: skip
    assert all(math.isfinite(value) for value in values)
    return Gains(*(float(value) for value in values))
