# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Measurements: scalar updates of the error state, one component after the other, gated."""

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

STREAK_LIMIT = 10  # fixes rejected in a row before the filter accepts them ungated
STILL_VARIANCE = 0.05**2  # velocity of a disarmed vehicle on the ground [m^2/s^2]
MONITOR_WEIGHT = 0.02
VECTOR = types.float64[::1]
MATRIX = types.float64[:, ::1]
SCALAR = types.float64


@njit(types.void(VECTOR, VECTOR, types.int64), cache=True)
def inject(state, error, n):
    """Add the first n errors to the nominal state; the attitude error turns from the left."""
    for i in range(6):
        state[i] += error[i]
    q = at.X_ATTITUDE
    dx, dy, dz, dw = quaternion_from_rotation_vector(
        error[at.E_ATTITUDE], error[at.E_ATTITUDE + 1], error[at.E_ATTITUDE + 2]
    )
    nx, ny, nz, nw = quaternion_product(
        dx, dy, dz, dw, state[q], state[q + 1], state[q + 2], state[q + 3]
    )
    state[q], state[q + 1], state[q + 2], state[q + 3] = normalised(nx, ny, nz, nw)
    for i in range(n - at.E_GYRO):
        state[at.X_GYRO + i] += error[at.E_GYRO + i]


@njit(types.float64(VECTOR, MATRIX, MATRIX, SCALAR, SCALAR, SCALAR), cache=True)
def fuse(state, covariance, scratch, innovation, variance, gate2):
    """Fuse one scalar measurement whose row of H is in scratch[0].

    Returns the normalised innovation squared; negative when the gate rejected the measurement.
    """
    h = scratch[0]
    column = scratch[1]
    n = covariance.shape[0]
    for i in range(n):
        column[i] = 0.0
    for j in range(n):
        if h[j] != 0.0:
            for i in range(n):
                column[i] += covariance[j, i] * h[j]
    total = variance
    for i in range(n):
        total += h[i] * column[i]
    squared = innovation * innovation / total
    if squared > gate2:
        return -squared
    for i in range(n):
        scaled = column[i] / total
        for j in range(n):
            covariance[i, j] -= scaled * column[j]
        scratch[2, i] = scaled * innovation
    for i in range(n):  # rounding must not make it asymmetric
        for j in range(i):
            covariance[j, i] = covariance[i, j]
    inject(state, scratch[2], n)
    return squared


@njit(types.void(VECTOR, types.int64, SCALAR), cache=True)
def watch(monitor, group, squared):
    """Record the outcome of one scalar update."""
    monitor[at.M_REFUSED if squared < 0.0 else at.M_FUSED] += 1.0
    monitor[group] += MONITOR_WEIGHT * (abs(squared) - monitor[group])


@njit(types.void(VECTOR, MATRIX, MATRIX, VECTOR, SCALAR, SCALAR, SCALAR, NOISE_TYPE), cache=True)
def correct_heading(state, covariance, scratch, monitor, mx, my, mz, noise):
    """Fuse the horizontal direction of the magnetic field.

    Only the angle is used: strength and inclination add no information. A tilt error moves the
    angle too (by the slope of the field), so it is in H. H comes from the known field, never from
    this sample: noise common to H and the innovation would pull the tilt away, a hundred times its
    own size within seconds.
    """
    q = at.X_ATTITUDE
    r = rotation_entries(state[q], state[q + 1], state[q + 2], state[q + 3])
    east = r[0] * mx + r[1] * my + r[2] * mz
    north = r[3] * mx + r[4] * my + r[5] * mz
    innovation = noise.field_angle - math.atan2(north, east)
    innovation -= 2.0 * math.pi * math.floor(innovation / (2.0 * math.pi) + 0.5)
    h = scratch[0]
    h[:] = 0.0
    h[at.E_ATTITUDE] = -noise.field_slope * math.cos(noise.field_angle)
    h[at.E_ATTITUDE + 1] = -noise.field_slope * math.sin(noise.field_angle)
    h[at.E_ATTITUDE + 2] = 1.0
    squared = fuse(state, covariance, scratch, innovation, noise.heading_variance, noise.gate2)
    watch(monitor, at.M_HEADING, squared)


@njit(types.void(VECTOR, MATRIX, MATRIX, VECTOR, SCALAR, NOISE_TYPE), cache=True)
def correct_height(state, covariance, scratch, monitor, height, noise):
    """Fuse a barometric height: local height plus the slowly drifting barometer bias."""
    h = scratch[0]
    h[:] = 0.0
    h[at.E_POSITION + 2] = 1.0
    h[at.E_BARO] = 1.0
    innovation = height - state[at.X_POSITION + 2] - state[at.X_BARO]
    squared = fuse(state, covariance, scratch, innovation, noise.baro_variance, noise.gate2)
    watch(monitor, at.M_BARO, squared)


@njit(types.void(VECTOR, MATRIX, MATRIX), cache=True)
def correct_stillness(state, covariance, scratch):
    """Fuse zero velocity: the vehicle is disarmed and stands on the ground."""
    h = scratch[0]
    for i in range(3):
        h[:] = 0.0
        h[at.E_VELOCITY + i] = 1.0
        fuse(state, covariance, scratch, -state[at.X_VELOCITY + i], STILL_VARIANCE, math.inf)


@njit(types.void(VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, SCALAR, NOISE_TYPE), cache=True)
def correct_fix(state, covariance, scratch, monitor, fix, late, noise):
    """Fuse a GNSS fix; `late` is the age of the fix at the state's time (below half a step)."""
    h = scratch[0]
    gate2 = noise.gate2
    if monitor[at.M_STREAK] >= STREAK_LIMIT:
        gate2 = math.inf
    refused = False
    for i in range(3):
        scale = fix[at.F_SCALE] if i < 2 else fix[at.F_SCALE + 1]
        variance = noise.gnss_velocity_variance_h if i < 2 else noise.gnss_velocity_variance_v
        h[:] = 0.0
        h[at.E_VELOCITY + i] = 1.0
        innovation = fix[at.F_VELOCITY + i] - state[at.X_VELOCITY + i]
        squared = fuse(state, covariance, scratch, innovation, variance * scale * scale, gate2)
        watch(monitor, at.M_VELOCITY, squared)
        refused = refused or squared < 0.0
    for i in range(3):
        scale = fix[at.F_SCALE] if i < 2 else fix[at.F_SCALE + 1]
        variance = noise.gnss_variance_h if i < 2 else noise.gnss_variance_v
        h[:] = 0.0
        h[at.E_POSITION + i] = 1.0
        h[at.E_VELOCITY + i] = -late
        h[at.E_GNSS + i] = 1.0
        predicted = (
            state[at.X_POSITION + i] - late * state[at.X_VELOCITY + i] + state[at.X_GNSS + i]
        )
        innovation = fix[at.F_POSITION + i] - predicted
        squared = fuse(state, covariance, scratch, innovation, variance * scale * scale, gate2)
        watch(monitor, at.M_HORIZONTAL if i < 2 else at.M_VERTICAL, squared)
        refused = refused or squared < 0.0
    monitor[at.M_STREAK] = monitor[at.M_STREAK] + 1.0 if refused else 0.0
