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
    GAINS,
    SCALAR,
    VECTOR,
    Gains,
    cascade,
    hold_attitude,
)
from aerotwin_autopilot.estimator.layout import GRAVITY
from aerotwin_autopilot.parameters import AirframeParameters, ControlParameters
from aerotwin_core.kernel_cache import njit

MATRIX = types.float64[:, ::1]


@njit(SCALAR(SCALAR, at.AIRFRAME_TYPE), cache=True)
def collective_thrust(share, airframe):
    """Return the thrust [N] of all rotors with the common command `share` (in [0, 1])."""
    share = min(max(share, 0.0), 1.0)
    speed = airframe.command_offset_rad_s + share * airframe.command_scale_rad_s
    return airframe.n_rotors * airframe.thrust_coefficient * speed * speed


@njit(types.void(VECTOR, VECTOR, MATRIX, at.AIRFRAME_TYPE), cache=True)
def command_rotors(commands, wrench, inverse, airframe):
    """Write a command in [0, 1] per rotor."""
    coefficient = airframe.thrust_coefficient
    offset, scale = airframe.command_offset_rad_s, airframe.command_scale_rad_s
    allocate(
        commands, inverse, wrench[0], wrench[1], wrench[2], wrench[3],
        coefficient * offset**2, coefficient * (offset + scale) ** 2,
    )  # fmt: skip
    for i in range(inverse.shape[0]):
        speed = math.sqrt(max(commands[i], 0.0) / coefficient)
        commands[i] = min(max((speed - offset) / scale, 0.0), 1.0)


@njit(types.void(at.ARENA_TYPE, SCALAR), cache=True)
def control(arena, dt):
    """Write the rotor commands that follow the set-point, or the external attitude."""
    wrench = np.empty(4)
    estimate, integral = arena.output[:], arena.integral[:]
    guidance, gains = arena.guidance, arena.gains
    integrates = guidance.integrates > 0.0
    n = arena.airframe.n_rotors
    if guidance.kind == at.ATTITUDE:
        thrust = collective_thrust(guidance.thrust, arena.airframe)
        target, rate = guidance.quaternion[:], guidance.rate_rad_s[:]
        integral[:3] = 0.0
        hold_attitude(wrench, estimate, target, rate, thrust, integral, gains, dt, integrates)
    else:
        cascade(wrench, estimate, arena.setpoint[:], integral, gains, dt, integrates)
    inverse = arena.inverse.reshape(4 * at.MAXIMUM_ROTORS)[: 4 * n].reshape(n, 4)
    command_rotors(arena.commands[:], wrench, inverse, arena.airframe)
    arena.commanded_thrust_n = wrench[0]


class CascadeController:
    """Parameters and state of the compiled controller, written into the arena."""

    def __init__(
        self, airframe: AirframeParameters, parameters: ControlParameters, arena: Arena
    ) -> None:
        n = airframe.n_rotors
        self._record = record = arena.record
        record["gains"] = gains(airframe, parameters)
        record["inverse"][:n] = np.linalg.pinv(allocation_matrix(airframe))
        record["airframe"] = (
            airframe.thrust_coefficient, airframe.command_offset_rad_s,
            airframe.command_scale_rad_s, n,
        )  # fmt: skip
        self.commands, self._integral = record["commands"][:n], record["integral"]
        self._weight = airframe.mass_kg * GRAVITY

    def reset(self) -> None:
        """Reset the integrals, which would wind up on the ground."""
        self._integral[:] = 0.0
        self.commands[:] = 0.0
        self._record["commanded_thrust_n"] = 0.0

    @property
    def thrust_share(self) -> float:
        """Commanded thrust as part of the weight."""
        return float(self._record["commanded_thrust_n"]) / self._weight


def gains(airframe: AirframeParameters, parameters: ControlParameters) -> np.record:
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
    return np.array([Gains(*map(float, values))], GAINS).view(np.recarray)[0]
