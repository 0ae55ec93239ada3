# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller: the airframe's numbers and the gains, in the arena of the compiled step."""

import math

import numpy as np

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.arena import Arena
from aerotwin_autopilot.control.allocation import allocation_matrix
from aerotwin_autopilot.control.cascade import Gains
from aerotwin_autopilot.control.setpoint import N_INTEGRAL
from aerotwin_autopilot.estimator.layout import GRAVITY
from aerotwin_autopilot.parameters import AirframeParameters, ControlParameters


class CascadeController:
    """Parameters and state of the compiled controller, written into the arena."""

    def __init__(
        self, airframe: AirframeParameters, parameters: ControlParameters, arena: Arena
    ) -> None:
        n = airframe.n_rotors
        arena.block(at.A_GAINS, at.N_GAINS)[:] = gains(airframe, parameters)
        arena.block(at.A_INVERSE, n, 4)[:] = np.linalg.pinv(allocation_matrix(airframe))
        arena.block(at.A_CONTEXT, at.N_CONTEXT)[at.K_ROTORS] = n
        arena.block(at.A_AIRFRAME, at.N_AIRFRAME)[:] = (
            airframe.thrust_coefficient, airframe.command_offset_rad_s,
            airframe.command_scale_rad_s,
        )  # fmt: skip
        self.commands = arena.block(at.A_COMMANDS, n)
        self._thrust = arena.block(at.A_COMMANDS + at.MAXIMUM_ROTORS, 1)
        self._integral = arena.block(at.A_INTEGRAL, N_INTEGRAL)
        self._weight = airframe.mass_kg * GRAVITY

    def reset(self) -> None:
        """Reset the integrals, which would wind up on the ground."""
        self._integral[:] = 0.0
        self.commands[:] = 0.0
        self._thrust[:] = 0.0

    @property
    def thrust_share(self) -> float:
        """Commanded thrust as part of the weight."""
        return float(self._thrust[0]) / self._weight


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
