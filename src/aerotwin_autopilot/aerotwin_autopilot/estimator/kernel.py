# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One call per inertial sample: store it, fuse due measurements, predict to the present."""

import math

from numba import types

from aerotwin_autopilot import arena as at
from aerotwin_autopilot.attitude import rotation_entries
from aerotwin_autopilot.estimator import layout as lay
from aerotwin_autopilot.estimator.correction import (
    MATRIX,
    SCALAR,
    VECTOR,
    correct_fix,
    correct_heading,
    correct_height,
    correct_stillness,
)
from aerotwin_autopilot.estimator.prediction import (
    add_process_noise,
    carry_forward,
    predict,
    transition,
)
from aerotwin_autopilot.estimator.vision import correct_vision
from aerotwin_core.kernel_cache import njit

INTEGERS = types.int64[::1]


@njit(
    types.void(MATRIX, INTEGERS, SCALAR, SCALAR, VECTOR, VECTOR, lay.CONTEXT_TYPE, types.int64),
    cache=True,
)
def store_sample(ring, cursor, time_s, dt, reading, previous, context, provided):
    """Append a sample; inertial values are the mean over the interval that ends now.

    `reading` (10,) is specific force, angular velocity, magnetic field (body axes), pressure
    altitude; `previous` (6,), force and rate of the last sample, is overwritten with the present
    ones. Bit 0 of `provided`: the field is new; bit 1: so is the altitude.
    """
    newest = (cursor[lay.C_SAMPLE_HEAD] + cursor[lay.C_SAMPLE_COUNT] - 1) % lay.RING_LENGTH
    row = ring[(newest + 1) % lay.RING_LENGTH]
    for i in range(3):
        row[lay.S_ACCEL + i] = 0.5 * (previous[i] + reading[i])
        row[lay.S_GYRO + i] = 0.5 * (previous[3 + i] + reading[3 + i])
        row[lay.S_MAG + i] = reading[6 + i]
    previous[:] = reading[:6]
    row[lay.S_TIME] = time_s
    row[lay.S_DT] = dt
    row[lay.S_HAS_MAG] = context.uses_field if provided & 1 else 0.0
    row[lay.S_HAS_BARO] = 1.0 if provided & 2 else 0.0
    row[lay.S_BARO] = reading[9] - context.height_datum_m
    row[lay.S_STILL] = context.is_still
    cursor[lay.C_SAMPLE_COUNT] += 1


@njit(
    types.void(VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, MATRIX, MATRIX, INTEGERS, lay.NOISE_TYPE),
    cache=True,
)
def fuse_sample(state, covariance, scratch, monitor, sample, fixes, poses, cursor, noise):
    """Advance the delayed state by one sample and fuse all measurements of its time."""
    predict(state, covariance, sample, noise)
    if sample[lay.S_HAS_MAG] > 0.0:
        correct_heading(
            state, covariance, scratch, monitor,
            sample[lay.S_MAG], sample[lay.S_MAG + 1], sample[lay.S_MAG + 2], noise,
        )  # fmt: skip
    if sample[lay.S_HAS_BARO] > 0.0:
        correct_height(state, covariance, scratch, monitor, sample[lay.S_BARO], noise)
    if sample[lay.S_STILL] > 0.0:
        correct_stillness(state, covariance, scratch)
    while cursor[lay.C_FIX_COUNT] > 0:
        fix = fixes[cursor[lay.C_FIX_HEAD]]
        late = sample[lay.S_TIME] - fix[lay.F_TIME]
        if late < -0.5 * sample[lay.S_DT]:
            break
        correct_fix(state, covariance, scratch, monitor, fix, late, noise)
        cursor[lay.C_FIX_HEAD] = (cursor[lay.C_FIX_HEAD] + 1) % lay.FIX_LENGTH
        cursor[lay.C_FIX_COUNT] -= 1
    while cursor[lay.C_VISION_COUNT] > 0:
        pose = poses[cursor[lay.C_VISION_HEAD]]
        late = sample[lay.S_TIME] - pose[lay.V_TIME]
        if late < -0.5 * sample[lay.S_DT]:
            break
        correct_vision(state, covariance, scratch, monitor, pose, late, noise.gate2)
        cursor[lay.C_VISION_HEAD] = (cursor[lay.C_VISION_HEAD] + 1) % lay.VISION_LENGTH
        cursor[lay.C_VISION_COUNT] -= 1


@njit(types.void(VECTOR, VECTOR, MATRIX, INTEGERS, VECTOR), cache=True)
def carry_to_present(output, state, ring, cursor, reading):
    """Write the estimate at the newest sample: the delayed state, propagated."""
    for i in range(lay.O_RATE):
        output[i] = state[i]
    bias = state[lay.X_GYRO : lay.X_GYRO + 6]
    for k in range(cursor[lay.C_SAMPLE_COUNT]):
        carry_forward(output, ring[(cursor[lay.C_SAMPLE_HEAD] + k) % lay.RING_LENGTH], bias)
    q = lay.O_ATTITUDE
    r = rotation_entries(output[q], output[q + 1], output[q + 2], output[q + 3])
    fx = reading[0] - state[lay.X_ACCEL]
    fy = reading[1] - state[lay.X_ACCEL + 1]
    fz = reading[2] - state[lay.X_ACCEL + 2]
    for i in range(3):
        output[lay.O_RATE + i] = reading[3 + i] - state[lay.X_GYRO + i]
        output[lay.O_ACCELERATION + i] = r[3 * i] * fx + r[3 * i + 1] * fy + r[3 * i + 2] * fz
    output[lay.O_ACCELERATION + 2] -= lay.GRAVITY


@njit(MATRIX(MATRIX, types.int64), cache=True)
def alive(covariance, n):
    """Return the rows of the n active errors."""
    return covariance.reshape(lay.N_ERROR**2)[: n * lay.N_ERROR].reshape(n, lay.N_ERROR)


@njit(types.void(VECTOR, SCALAR, SCALAR, types.int64), cache=True)
def estimate(memory, time_s, dt, provided):
    """Process the reading: fuse every sample older than the delay, predict to time_s."""
    arena = memory.view(at.ARENA)[0]
    cursor, output, state, noise = arena.cursor[:], arena.output[:], arena.state[:], arena.noise
    covariance = alive(arena.covariance[:], cursor[lay.C_ALIVE])
    scratch, monitor, reading = arena.scratch[:], arena.monitor[:], arena.reading[:]
    ring, fixes, poses = arena.ring[:], arena.fixes[:], arena.poses[:]
    previous, context = arena.previous[:], arena.context
    store_sample(ring, cursor, time_s, dt, reading, previous, context, provided)
    while cursor[lay.C_SAMPLE_COUNT] > 0:
        sample = ring[cursor[lay.C_SAMPLE_HEAD]]
        is_full = cursor[lay.C_SAMPLE_COUNT] >= lay.RING_LENGTH - 1
        if sample[lay.S_TIME] > time_s - noise.delay + 1e-9 and not is_full:
            break
        fuse_sample(state, covariance, scratch, monitor, sample, fixes, poses, cursor, noise)
        cursor[lay.C_SAMPLE_HEAD] = (cursor[lay.C_SAMPLE_HEAD] + 1) % lay.RING_LENGTH
        cursor[lay.C_SAMPLE_COUNT] -= 1
    carry_to_present(output, state, ring, cursor, reading)


@njit(types.void(MATRIX, VECTOR), cache=True)
def covariance_at_present(out, memory):
    """Write the covariance (n, 23) of the present estimate, of the n active errors.

    It is the delayed one, propagated in one step over the whole delay with the mean specific force:
    enough for 0.1 s, in which the noise of the inertial sensors adds a hundredth.
    """
    n = out.shape[0]
    arena = memory.view(at.ARENA)[0]
    state, ring, cursor = arena.state[:], arena.ring[:], arena.cursor
    out[:] = alive(arena.covariance[:], n)
    mean = ring[lay.RING_LENGTH - 1].copy()
    mean[:] = 0.0
    count = cursor[lay.C_SAMPLE_COUNT]
    for k in range(count):
        row = ring[(cursor[lay.C_SAMPLE_HEAD] + k) % lay.RING_LENGTH]
        for i in range(3):
            mean[lay.S_ACCEL + i] += row[lay.S_ACCEL + i] / count
        mean[lay.S_DT] += row[lay.S_DT]
    noise = arena.noise
    decay = math.exp(-mean[lay.S_DT] / noise.gnss_bias_time)
    transition(out, state, mean, decay)
    add_process_noise(out, mean[lay.S_DT], decay, noise)
