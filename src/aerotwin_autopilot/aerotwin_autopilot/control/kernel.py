# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From an estimate and a set-point to rotor commands: cascade, allocation, rotor speeds."""

import math

import numpy as np
from numba import types

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.arena import Arena
from aerotwin_autopilot.control.allocation import allocate, allocation_matrix
from aerotwin_autopilot.control.cascade import (
    GAINS_TYPE,
    SCALAR,
    VECTOR,
    Gains,
    cascade,
    hold_attitude,
)
from aerotwin_autopilot.control.setpoint import N_INTEGRAL
from aerotwin_autopilot.estimator.layout import GRAVITY
from aerotwin_autopilot.parameters import AirframeParameters, ControlParameters
from aerotwin_core.kernel_cache import njit

MATRIX = types.float64[:, ::1]


@njit(SCALAR(SCALAR, VECTOR, types.int64), cache=True)
def collective_thrust(share, airframe, n):
    """Return the thrust [N] of n rotors with the common command `share` (in [0, 1])."""
    speed = airframe[1] + min(max(share, 0.0), 1.0) * airframe[2]
    return n * airframe[0] * speed * speed


@njit(types.void(VECTOR, VECTOR, MATRIX, VECTOR), cache=True)
def command_rotors(commands, wrench, inverse, airframe):
    """Write a command in [0, 1] per rotor and, behind them, the commanded thrust [N].

    `airframe` (3,) is thrust coefficient, rotor speed at command 0, gain from command 0 to 1.
    """
    coefficient, offset, scale = airframe[0], airframe[1], airframe[2]
    allocate(
        commands, inverse, wrench[0], wrench[1], wrench[2], wrench[3],
        coefficient * offset**2, coefficient * (offset + scale) ** 2,
    )  # fmt: skip
    for i in range(inverse.shape[0]):
        speed = math.sqrt(max(commands[i], 0.0) / coefficient)
        commands[i] = min(max((speed - offset) / scale, 0.0), 1.0)
    commands[at.MAXIMUM_ROTORS] = wrench[0]


@njit(
    types.void(VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX, VECTOR, GAINS_TYPE, SCALAR),
    cache=True,
)  # fmt: skip
def control(commands, estimate, setpoint, guidance, integral, inverse, airframe, gains, dt):
    """Write the rotor commands that follow the set-point, or the external attitude."""
    wrench = np.empty(4)
    integrates = guidance[at.G_INTEGRATES] > 0.0
    if guidance[at.G_KIND] == at.ATTITUDE:
        thrust = collective_thrust(guidance[at.G_THRUST], airframe, inverse.shape[0])
        target = guidance[at.G_QUATERNION : at.G_QUATERNION + 4]
        rate = guidance[at.G_RATE : at.G_RATE + 3]
        integral[:3] = 0.0
        hold_attitude(wrench, estimate, target, rate, thrust, integral, gains, dt, integrates)
    else:
        cascade(wrench, estimate, setpoint, integral, gains, dt, integrates)
    command_rotors(commands, wrench, inverse, airframe)


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
