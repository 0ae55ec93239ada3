# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled step: from the fields of a HIL_SENSOR to rotor commands in one call."""

import math

from numba import types

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.control.cascade import VECTOR
from aerotwin_autopilot.control.guidance import guide
from aerotwin_autopilot.control.kernel import control
from aerotwin_autopilot.estimator.kernel import estimate
from aerotwin_autopilot.estimator.layout import GRAVITY
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
    types.int64(VECTOR, types.float32[::1], types.int64, types.float64, types.float64), cache=True
)
def step(memory, values, fields, time_s, dt):
    """Estimate, guide, control on the memory of an `Arena`; return the result of `read`.

    `values` (13,) is HIL_SENSOR from xacc to temperature, as on the wire (FRD, gauss, hPa),
    `fields` its fields_updated; time_s is simulated time, dt the time since the last sample [s].
    """
    arena = memory.view(at.ARENA)[0]
    provided = read(arena.reading[:], values, fields)
    if provided < 0:
        return provided
    estimate(memory, time_s, dt, provided)
    if arena.guidance.kind == at.STAND:
        return provided
    guide(arena.setpoint[:], arena.guidance, arena.output[:], time_s, dt)
    control(arena, dt)
    return provided
