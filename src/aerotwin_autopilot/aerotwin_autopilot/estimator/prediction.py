# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Strapdown integration of the nominal state and propagation of its covariance."""

import math

from numba import types

from aerotwin_autopilot.attitude import (
    normalised,
    quaternion_from_rotation_vector,
    quaternion_product,
    rotation_entries,
)
from aerotwin_autopilot.estimator import layout as at
from aerotwin_autopilot.estimator.layout import NOISE_TYPE
from aerotwin_core.kernel_cache import njit


@njit("void(f8[::1],f8[::1],f8[::1])", cache=True)
def carry_forward(state, sample, bias):
    """Propagate position, velocity and attitude through one inertial sample, in place.

    The specific force is rotated by the attitude in the middle of the interval, which leaves
    errors of third order in the step.

    `state` (>=10,) is position, velocity, quaternion (xyzw) in local axes, `sample` (15,) one row
    of the sample ring, `bias` (6,) gyroscope and accelerometer bias.
    """
    dt = sample[at.S_DT]
    wx = (sample[at.S_GYRO] - bias[0]) * dt
    wy = (sample[at.S_GYRO + 1] - bias[1]) * dt
    wz = (sample[at.S_GYRO + 2] - bias[2]) * dt
    fx = sample[at.S_ACCEL] - bias[3]
    fy = sample[at.S_ACCEL + 1] - bias[4]
    fz = sample[at.S_ACCEL + 2] - bias[5]
    q = at.X_ATTITUDE
    hx, hy, hz, hw = quaternion_from_rotation_vector(0.5 * wx, 0.5 * wy, 0.5 * wz)
    mx, my, mz, mw = quaternion_product(
        state[q], state[q + 1], state[q + 2], state[q + 3], hx, hy, hz, hw
    )
    r = rotation_entries(mx, my, mz, mw)
    ax = r[0] * fx + r[1] * fy + r[2] * fz
    ay = r[3] * fx + r[4] * fy + r[5] * fz
    az = r[6] * fx + r[7] * fy + r[8] * fz - at.GRAVITY
    p, v = at.X_POSITION, at.X_VELOCITY
    state[p] += (state[v] + 0.5 * ax * dt) * dt
    state[p + 1] += (state[v + 1] + 0.5 * ay * dt) * dt
    state[p + 2] += (state[v + 2] + 0.5 * az * dt) * dt
    state[v] += ax * dt
    state[v + 1] += ay * dt
    state[v + 2] += az * dt
    nx, ny, nz, nw = quaternion_product(mx, my, mz, mw, hx, hy, hz, hw)
    state[q], state[q + 1], state[q + 2], state[q + 3] = normalised(nx, ny, nz, nw)


@njit("void(f8[:,::1],f8,f8,f8,f8,UniTuple(f8,9),f8)", cache=True)
def _transition_rows(matrix, dt, sx, sy, sz, r, decay):
    """Multiply a matrix by the transition from the left: matrix <- F matrix.

    (sx, sy, sz) is the specific force in local axes times dt; r the rotation entries times dt.
    Rows are changed from position down, so that each still reads the old values below it. The
    frame of external vision, if active, is constant.
    """
    p, v, t, g, a = at.E_POSITION, at.E_VELOCITY, at.E_ATTITUDE, at.E_GYRO, at.E_ACCEL
    for j in range(matrix.shape[0]):
        tx, ty, tz = matrix[t, j], matrix[t + 1, j], matrix[t + 2, j]
        gx, gy, gz = matrix[g, j], matrix[g + 1, j], matrix[g + 2, j]
        ax, ay, az = matrix[a, j], matrix[a + 1, j], matrix[a + 2, j]
        matrix[p, j] += dt * matrix[v, j]
        matrix[p + 1, j] += dt * matrix[v + 1, j]
        matrix[p + 2, j] += dt * matrix[v + 2, j]
        matrix[v, j] += ty * sz - tz * sy - (r[0] * ax + r[1] * ay + r[2] * az)
        matrix[v + 1, j] += tz * sx - tx * sz - (r[3] * ax + r[4] * ay + r[5] * az)
        matrix[v + 2, j] += tx * sy - ty * sx - (r[6] * ax + r[7] * ay + r[8] * az)
        matrix[t, j] = tx - (r[0] * gx + r[1] * gy + r[2] * gz)
        matrix[t + 1, j] = ty - (r[3] * gx + r[4] * gy + r[5] * gz)
        matrix[t + 2, j] = tz - (r[6] * gx + r[7] * gy + r[8] * gz)
        matrix[at.E_GNSS, j] *= decay
        matrix[at.E_GNSS + 1, j] *= decay
        matrix[at.E_GNSS + 2, j] *= decay


@njit("void(f8[:,::1])", cache=True)
def _transpose(matrix):
    """Transpose the square of the active errors in place."""
    for i in range(matrix.shape[0]):
        for j in range(i):
            matrix[i, j], matrix[j, i] = matrix[j, i], matrix[i, j]


@njit(types.void(types.float64[:, ::1], types.float64, types.float64, NOISE_TYPE), cache=True)
def add_process_noise(covariance, dt, decay, noise):
    """Add the process noise of one step of dt."""
    forgotten = 1.0 - decay * decay
    for i in range(3):
        covariance[at.E_VELOCITY + i, at.E_VELOCITY + i] += noise.accel_density2 * dt
        covariance[at.E_ATTITUDE + i, at.E_ATTITUDE + i] += noise.gyro_density2 * dt
        covariance[at.E_GYRO + i, at.E_GYRO + i] += noise.gyro_walk2 * dt
        covariance[at.E_ACCEL + i, at.E_ACCEL + i] += noise.accel_walk2 * dt
        bias = noise.gnss_bias_variance_h if i < 2 else noise.gnss_bias_variance_v
        covariance[at.E_GNSS + i, at.E_GNSS + i] += forgotten * bias
    covariance[at.E_BARO, at.E_BARO] += noise.baro_walk2 * dt


@njit("void(f8[:,::1],f8[::1],f8[::1],f8)", cache=True)
def transition(covariance, state, sample, decay):
    """Propagate a covariance through one sample without noise: P <- F P F'."""
    dt = sample[at.S_DT]
    q = at.X_ATTITUDE
    r = rotation_entries(state[q], state[q + 1], state[q + 2], state[q + 3])
    fx = (sample[at.S_ACCEL] - state[at.X_ACCEL]) * dt
    fy = (sample[at.S_ACCEL + 1] - state[at.X_ACCEL + 1]) * dt
    fz = (sample[at.S_ACCEL + 2] - state[at.X_ACCEL + 2]) * dt
    sx = r[0] * fx + r[1] * fy + r[2] * fz
    sy = r[3] * fx + r[4] * fy + r[5] * fz
    sz = r[6] * fx + r[7] * fy + r[8] * fz
    turned = (
        r[0] * dt, r[1] * dt, r[2] * dt, r[3] * dt, r[4] * dt, r[5] * dt,
        r[6] * dt, r[7] * dt, r[8] * dt,
    )  # fmt: skip
    _transition_rows(covariance, dt, sx, sy, sz, turned, decay)
    _transpose(covariance)
    _transition_rows(covariance, dt, sx, sy, sz, turned, decay)
    for i in range(covariance.shape[0]):
        for j in range(i):
            mean = 0.5 * (covariance[i, j] + covariance[j, i])
            covariance[i, j] = mean
            covariance[j, i] = mean


@njit(
    types.void(
        types.float64[::1], types.float64[:, ::1], types.float64[::1], NOISE_TYPE
    ),
    cache=True,
)  # fmt: skip
def predict(state, covariance, sample, noise):
    """Propagate the nominal state and its covariance through one sample: P <- F P F' + Q.

    The covariance has a row for each active error (19, or 23 with external vision) and always 23
    columns.
    """
    dt = sample[at.S_DT]
    decay = math.exp(-dt / noise.gnss_bias_time)
    transition(covariance, state, sample, decay)
    add_process_noise(covariance, dt, decay, noise)
    carry_forward(state, sample, state[at.X_GYRO : at.X_GYRO + 6])
    for i in range(3):
        state[at.X_GNSS + i] *= decay
