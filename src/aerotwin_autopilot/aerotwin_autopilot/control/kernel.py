# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One compiled call per step: cascade, allocation, rotor commands."""

import math

import numpy as np
from numba import njit, types

from aerotwin_autopilot.control.allocation import allocate
from aerotwin_autopilot.control.cascade import VECTOR, cascade, gains_from_array


@njit(
    types.void(
        VECTOR, VECTOR, VECTOR, VECTOR, types.float64[:, ::1], VECTOR, VECTOR,
        types.float64, types.boolean,
    ),
    cache=True,
)  # fmt: skip
def control_step(
    commands, estimate, setpoint, integral, inverse, airframe, numbers, dt, integrates
):
    """Write four rotor commands in [0, 1] and, fifth, the thrust asked for [N].

    Parameters
    ----------
    airframe : (3,) array
        Thrust coefficient, rotor speed at command 0, gain from command 0 to 1.
    """
    gains = gains_from_array(numbers)
    wrench = np.empty(4)
    cascade(wrench, estimate, setpoint, integral, gains, dt, integrates)
    coefficient, offset, scale = airframe[0], airframe[1], airframe[2]
    thrusts = np.empty(4)
    allocate(
        thrusts, inverse, wrench[0], wrench[1], wrench[2], wrench[3],
        coefficient * offset**2, coefficient * (offset + scale) ** 2,
    )  # fmt: skip
    for i in range(4):
        speed = math.sqrt(max(thrusts[i], 0.0) / coefficient)
        commands[i] = min(max((speed - offset) / scale, 0.0), 1.0)
    commands[4] = wrench[0]
