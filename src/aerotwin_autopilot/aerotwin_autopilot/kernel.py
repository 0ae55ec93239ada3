# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled step: from the fields of a HIL_SENSOR to rotor commands in one call."""

import math

import numpy as np
from numba import float32, float64, int64, types, uint8, void

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.control.cascade import VECTOR
from aerotwin_autopilot.control.guidance import guide
from aerotwin_autopilot.control.kernel import control
from aerotwin_autopilot.estimator.kernel import estimate
from aerotwin_autopilot.estimator.layout import GRAVITY
from aerotwin_core.kernel_cache import njit
from aerotwin_px4_bridge.hil_kernels import ANSWER_BYTES, PART_HEAD_BYTES, pack_answer

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


VALUES_AT, N_VALUES = 2, 13
"""Of a HIL_SENSOR in 32-bit numbers: xacc to temperature, after the time."""


@njit(
    void(uint8[:, ::1], int64[::1], float64[:, ::1], float32[:, ::1], int64[:, ::1], float64[::1]),
    cache=True,
)
def step_together(answers, provided, arenas, inboxes, samples, durations_s):
    """Step several autopilots, as `step`, and write their answers as parts of a `shared_lane`.

    `arenas` and `inboxes` are those of a `StepMemory`, the latter as 32-bit numbers. Of each
    sample, `samples` (m, 5) has the instance, time [us], fields_updated, whether the vehicle is
    armed and the sequence number of its answer, `durations_s` (m,) the time since the last.
    `provided` (m,) gets the results of `read`, `answers` (m, PART_HEAD_BYTES + ANSWER_BYTES) the
    parts; a rejected sample is answered with the last commands.
    """
    for k in range(len(samples)):
        instance, time_us = samples[k, 0], samples[k, 1]
        memory = arenas[instance]
        values = inboxes[instance][VALUES_AT : VALUES_AT + N_VALUES]
        provided[k] = step(memory, values, samples[k, 2], time_us * 1e-6, durations_s[k])
        arena = memory.view(at.ARENA)[0]
        part = answers[k]
        part[0], part[1] = instance & 0xFF, instance >> 8
        part[2], part[3] = ANSWER_BYTES & 0xFF, ANSWER_BYTES >> 8
        pack_answer(
            part[PART_HEAD_BYTES:], np.uint64(time_us), arena.commands[: arena.airframe.n_rotors],
            samples[k, 3], samples[k, 4], instance + 1,
        )  # fmt: skip
