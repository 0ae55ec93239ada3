# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One call per inertial sample: store it, fuse what has come of age, carry to the present."""

from numba import njit, types

from aerotwin_autopilot.attitude import rotation_entries
from aerotwin_autopilot.estimator.correction import (
    MATRIX,
    SCALAR,
    VECTOR,
    correct_fix,
    correct_heading,
    correct_height,
    correct_stillness,
)
from aerotwin_autopilot.estimator.layout import (
    C_FIX_COUNT,
    C_FIX_HEAD,
    C_SAMPLE_COUNT,
    C_SAMPLE_HEAD,
    F_TIME,
    FIX_LENGTH,
    GRAVITY,
    O_ACCELERATION,
    O_ATTITUDE,
    O_RATE,
    RING_LENGTH,
    S_ACCEL,
    S_BARO,
    S_DT,
    S_GYRO,
    S_HAS_BARO,
    S_HAS_MAG,
    S_MAG,
    S_STILL,
    S_TIME,
    X_ACCEL,
    X_GYRO,
)
from aerotwin_autopilot.estimator.prediction import (
    NOISE_TYPE,
    carry_forward,
    noise_from_array,
    predict,
)

TRIPLE = types.UniTuple(types.float64, 3)


@njit(
    types.void(
        MATRIX, types.int64[::1], SCALAR, SCALAR, TRIPLE, TRIPLE,
        types.boolean, TRIPLE, types.boolean, SCALAR, types.boolean,
    ),
    cache=True,
)  # fmt: skip
def store_sample(ring, cursor, time_s, dt, accel, gyro, has_mag, field, has_baro, height, is_still):
    """Append a sample; inertial values are the mean over the interval that ends now."""
    newest = (cursor[C_SAMPLE_HEAD] + cursor[C_SAMPLE_COUNT] - 1) % RING_LENGTH
    row = ring[(newest + 1) % RING_LENGTH]
    for i in range(3):
        row[S_ACCEL + i] = accel[i]
        row[S_GYRO + i] = gyro[i]
        row[S_MAG + i] = field[i]
    row[S_TIME] = time_s
    row[S_DT] = dt
    row[S_HAS_MAG] = 1.0 if has_mag else 0.0
    row[S_HAS_BARO] = 1.0 if has_baro else 0.0
    row[S_BARO] = height
    row[S_STILL] = 1.0 if is_still else 0.0
    cursor[C_SAMPLE_COUNT] += 1


@njit(
    types.void(VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, MATRIX, types.int64[::1], NOISE_TYPE),
    cache=True,
)
def fuse_sample(state, covariance, scratch, monitor, sample, fixes, cursor, noise):
    """Advance the delayed state by one sample and fuse all that was measured at its time."""
    predict(state, covariance, sample, noise)
    if sample[S_HAS_MAG] > 0.0:
        correct_heading(
            state, covariance, scratch, monitor,
            sample[S_MAG], sample[S_MAG + 1], sample[S_MAG + 2], noise,
        )  # fmt: skip
    if sample[S_HAS_BARO] > 0.0:
        correct_height(state, covariance, scratch, monitor, sample[S_BARO], noise)
    if sample[S_STILL] > 0.0:
        correct_stillness(state, covariance, scratch)
    while cursor[C_FIX_COUNT] > 0:
        fix = fixes[cursor[C_FIX_HEAD]]
        late = sample[S_TIME] - fix[F_TIME]
        if late < -0.5 * sample[S_DT]:
            break
        correct_fix(state, covariance, scratch, monitor, fix, late, noise)
        cursor[C_FIX_HEAD] = (cursor[C_FIX_HEAD] + 1) % FIX_LENGTH
        cursor[C_FIX_COUNT] -= 1


@njit(types.void(VECTOR, VECTOR, MATRIX, types.int64[::1], TRIPLE, TRIPLE), cache=True)
def carry_to_present(output, state, ring, cursor, accel, gyro):
    """Write the estimate at the newest sample: the delayed state through all samples since."""
    for i in range(O_RATE):
        output[i] = state[i]
    bias = state[X_GYRO : X_GYRO + 6]
    for k in range(cursor[C_SAMPLE_COUNT]):
        carry_forward(output, ring[(cursor[C_SAMPLE_HEAD] + k) % RING_LENGTH], bias)
    q = O_ATTITUDE
    r = rotation_entries(output[q], output[q + 1], output[q + 2], output[q + 3])
    fx = accel[0] - state[X_ACCEL]
    fy = accel[1] - state[X_ACCEL + 1]
    fz = accel[2] - state[X_ACCEL + 2]
    for i in range(3):
        output[O_RATE + i] = gyro[i] - state[X_GYRO + i]
        output[O_ACCELERATION + i] = r[3 * i] * fx + r[3 * i + 1] * fy + r[3 * i + 2] * fz
    output[O_ACCELERATION + 2] -= GRAVITY


@njit(
    types.void(
        VECTOR, VECTOR, MATRIX, MATRIX, MATRIX, MATRIX, types.int64[::1], VECTOR,
        VECTOR, SCALAR, TRIPLE, TRIPLE,
    ),
    cache=True,
)  # fmt: skip
def advance(
    output, state, covariance, scratch, ring, fixes, cursor, monitor, numbers, time_s, accel, gyro
):
    """Fuse every sample older than the delay, then write the estimate at time_s."""
    noise = noise_from_array(numbers)
    while cursor[C_SAMPLE_COUNT] > 0:
        sample = ring[cursor[C_SAMPLE_HEAD]]
        is_full = cursor[C_SAMPLE_COUNT] >= RING_LENGTH - 1
        if sample[S_TIME] > time_s - noise.delay + 1e-9 and not is_full:
            break
        fuse_sample(state, covariance, scratch, monitor, sample, fixes, cursor, noise)
        cursor[C_SAMPLE_HEAD] = (cursor[C_SAMPLE_HEAD] + 1) % RING_LENGTH
        cursor[C_SAMPLE_COUNT] -= 1
    carry_to_present(output, state, ring, cursor, accel, gyro)
