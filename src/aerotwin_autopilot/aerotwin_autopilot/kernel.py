# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled step: from the fields of a HIL_SENSOR to rotor commands in one call."""

import math

from numba import types

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.control.cascade import VECTOR, gains_from_array
from aerotwin_autopilot.control.guidance import guide
from aerotwin_autopilot.control.kernel import control
from aerotwin_autopilot.estimator.kernel import estimate
from aerotwin_autopilot.estimator.layout import GRAVITY, N_OUTPUT
from aerotwin_core.kernel_cache import njit

FIELDS_IMU, FIELDS_MAG, FIELDS_BARO = 0x003F, 0x01C0, 0x1A00
"""Bits of HIL_SENSOR.fields_updated; each group counts only when complete (as in PX4)."""

MAXIMUM_RATE_RAD_S = 40.0
MAXIMUM_FORCE_M_S2 = 200.0
SEA_LEVEL_HPA, SEA_LEVEL_K, LAPSE_K_M = 1013.25, 288.15, 0.0065
GAS_CONSTANT = 287.05287  # of dry air [J/(kg K)]
EXPONENT = GAS_CONSTANT * LAPSE_K_M / GRAVITY
"""International Standard Atmosphere (ISO 2533), troposphere."""
LOWEST_HPA = 10.0


@njit(types.int64(VECTOR, types.float32[::1], types.int64), cache=True)
def read(reading, values, fields):
    """Write a reading in body axes (forward, left, up) from the fields of a HIL_SENSOR.

    Returns
    -------
    int
        Bit 0: field provided, bit 1: altitude provided; -1 when the inertial values are missing,
        not finite or impossible.
    """
    if fields & FIELDS_IMU != FIELDS_IMU:
        return -1
    for i in range(6):
        limit = MAXIMUM_FORCE_M_S2 if i < 3 else MAXIMUM_RATE_RAD_S
        if not abs(values[i]) < limit:
            return -1
    provided = 0
    for i in range(6):
        reading[i] = values[i] if i % 3 == 0 else -values[i]
    if fields & FIELDS_MAG == FIELDS_MAG and math.isfinite(values[6] + values[7] + values[8]):
        provided |= 1
        reading[6], reading[7], reading[8] = values[6], -values[7], -values[8]
    if fields & FIELDS_BARO == FIELDS_BARO and LOWEST_HPA < values[9] < math.inf:
        provided |= 2
        ratio = values[9] / SEA_LEVEL_HPA
        reading[9] = SEA_LEVEL_K / LAPSE_K_M * (1.0 - ratio**EXPONENT)
    return provided


@njit(
    types.int64(
        VECTOR, types.int64[::1], types.float32[::1], types.int64, types.float64, types.float64
    ),
    cache=True,
)  # fmt: skip
def step(arena, cursor, values, fields, time_s, dt):
    """Estimate, guide, control on an `Arena`; return the result of `read`.

    `values` (13,) is HIL_SENSOR from xacc to temperature, as on the wire (FRD, gauss, hPa),
    `fields` its fields_updated; time_s is simulated time, dt the time since the last sample [s].
    """
    provided = read(arena[at.A_READING : at.A_CONTEXT], values, fields)
    if provided < 0:
        return provided
    estimate(arena, cursor, time_s, dt, provided)
    guidance = arena[at.A_GUIDANCE : at.A_GAINS]
    if guidance[at.G_KIND] == at.STAND:
        return provided
    output = arena[at.A_OUTPUT : at.A_OUTPUT + N_OUTPUT]
    setpoint = arena[at.A_SETPOINT : at.A_INTEGRAL]
    integral = arena[at.A_INTEGRAL : at.A_GUIDANCE]
    n = int(arena[at.A_CONTEXT + at.K_ROTORS])
    inverse = arena[at.A_INVERSE : at.A_INVERSE + 4 * n].reshape(n, 4)
    gains = gains_from_array(arena[at.A_GAINS : at.A_AIRFRAME])
    airframe = arena[at.A_AIRFRAME : at.A_INVERSE]
    commands = arena[at.A_COMMANDS : at.N_ARENA]
    guide(setpoint, guidance, output, time_s, dt)
    control(commands, output, setpoint, guidance, integral, inverse, airframe, gains, dt)
    return provided
