# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled sensors: one sample of IMU, magnetometer and barometer, alone or in one call.

The classes and `sample_inertial` run the same code, so their readings are equal bit by bit.
"""

import math

from numba import float64, int64, types

from aerotwin_core.kernel_cache import njit
from aerotwin_sensor_models import layout as at
from aerotwin_sensor_models.atmosphere import troposphere

_BLOCK = (float64[::1], int64)


@njit(cache=True)
def on_step(value, resolution):
    """Return the nearest multiple of a resolution; half a step goes up."""
    return resolution * math.floor(value / resolution + 0.5)


@njit(cache=True)
def is_empty(arena, block):
    """Return whether the stored normal numbers do not suffice for another sample."""
    return arena[block + at.NEXT] + arena[block + at.WIDTH] > arena[block + at.END]


@njit(cache=True)
def blank(arena, out, n):
    """Write NaN: a sample was requested before new normal numbers were drawn."""
    for i in range(out, out + n):
        arena[i] = math.nan


@njit(cache=True)
def next_normals(arena, block):
    """Return the index of this sample's normal numbers, and advance past them."""
    first = arena[block + at.NEXT]
    arena[block + at.NEXT] = first + arena[block + at.WIDTH]
    return block + int(arena[block + at.NORMALS] + first)


@njit(cache=True)
def show(value, resolution, limit):
    """Return a value quantised to the resolution and clipped to ± limit."""
    if resolution > 0.0:
        value = on_step(value, resolution)
    return min(limit, max(-limit, value))


@njit(cache=True)
def read_triad(arena, triad, n, x, y, z, out):
    """Write the readings of three axes; return the index of the next unused normal number.

    reading = clip(step(M truth + constant bias + Gauss-Markov bias + white noise)). Unrolled by
    axis: a loop over the array, in which every store may change every load, takes twice as long.
    """
    gain, sigma = arena[triad + at.GAIN], arena[triad + at.SIGMA]
    bias, offset, m = triad + at.BIAS, triad + at.OFFSET, triad + at.MATRIX
    bx, by, bz = arena[bias], arena[bias + 1], arena[bias + 2]
    if gain > 0.0:
        decay = arena[triad + at.DECAY]
        bx = decay * bx + gain * arena[n]
        by = decay * by + gain * arena[n + 1]
        bz = decay * bz + gain * arena[n + 2]
        arena[bias], arena[bias + 1], arena[bias + 2] = bx, by, bz
        n += 3
    u = arena[m] * x + arena[m + 1] * y + arena[m + 2] * z + (arena[offset] + bx)
    v = arena[m + 3] * x + arena[m + 4] * y + arena[m + 5] * z + (arena[offset + 1] + by)
    w = arena[m + 6] * x + arena[m + 7] * y + arena[m + 8] * z + (arena[offset + 2] + bz)
    if sigma > 0.0:
        u, v, w = u + sigma * arena[n], v + sigma * arena[n + 1], w + sigma * arena[n + 2]
        n += 3
    resolution, limit = arena[triad + at.RESOLUTION], arena[triad + at.LIMIT]
    u, v, w = show(u, resolution, limit), show(v, resolution, limit), show(w, resolution, limit)
    arena[out], arena[out + 1], arena[out + 2] = u, v, w
    return n


@njit(cache=True)
def read_imu(arena, block, force, omega, alpha, out):
    """Write six readings at `out`; the other arguments are indices of truth at the centre of mass.

    At the lever arm r: f + alpha x r + w x (w x r); then into the axes of the IMU.
    """
    if is_empty(arena, block):
        blank(arena, out, 6)
        return
    arm, R = block + at.IMU_ARM, block + at.IMU_ROTATION
    x, y, z = arena[arm], arena[arm + 1], arena[arm + 2]
    p, q, r = arena[omega], arena[omega + 1], arena[omega + 2]
    a, b, c = arena[alpha], arena[alpha + 1], arena[alpha + 2]
    wx, wy, wz = q * z - r * y, r * x - p * z, p * y - q * x
    fx = arena[force] + b * z - c * y + q * wz - r * wy
    fy = arena[force + 1] + c * x - a * z + r * wx - p * wz
    fz = arena[force + 2] + a * y - b * x + p * wy - q * wx
    n = next_normals(arena, block)
    n = read_triad(
        arena,
        block + at.IMU_ACCELEROMETER,
        n,
        arena[R] * fx + arena[R + 3] * fy + arena[R + 6] * fz,
        arena[R + 1] * fx + arena[R + 4] * fy + arena[R + 7] * fz,
        arena[R + 2] * fx + arena[R + 5] * fy + arena[R + 8] * fz,
        out,
    )
    read_triad(
        arena,
        block + at.IMU_GYROSCOPE,
        n,
        arena[R] * p + arena[R + 3] * q + arena[R + 6] * r,
        arena[R + 1] * p + arena[R + 4] * q + arena[R + 7] * r,
        arena[R + 2] * p + arena[R + 5] * q + arena[R + 8] * r,
        out + 3,
    )


@njit(cache=True)
def read_magnetometer(arena, block, rotation, field, out):
    """Write three readings at `out`; `rotation`, `field`: indices of R_map_body, field in map."""
    if is_empty(arena, block):
        blank(arena, out, 3)
        return
    R = rotation
    x, y, z = arena[field], arena[field + 1], arena[field + 2]
    n = read_triad(
        arena,
        block + at.MAGNETOMETER_TRIAD,
        next_normals(arena, block),
        arena[R] * x + arena[R + 3] * y + arena[R + 6] * z,
        arena[R + 1] * x + arena[R + 4] * y + arena[R + 7] * z,
        arena[R + 2] * x + arena[R + 5] * y + arena[R + 8] * z,
        out,
    )
    disturbance = block + at.MAGNETOMETER_DISTURBANCE
    decay, gain = arena[disturbance + 3], arena[disturbance + 4]
    if gain > 0.0:
        for i in range(3):
            arena[disturbance + i] = decay * arena[disturbance + i] + gain * arena[n + i]
            arena[out + i] += arena[disturbance + i]


@njit(cache=True)
def read_barometer(arena, block, altitude_m, out):
    """Write pressure and temperature at `out`."""
    if is_empty(arena, block):
        blank(arena, out, 2)
        return
    errors, drift = block + at.BAROMETER_ERRORS, block + at.BAROMETER_DRIFT
    airflow, trend = block + at.BAROMETER_AIRFLOW, block + at.BAROMETER_TREND
    n = next_normals(arena, block)
    pressure, arena[out + 1] = troposphere(altitude_m)
    if arena[errors + at.GAIN] > 0.0:
        arena[drift] = arena[errors + at.DECAY] * arena[drift] + arena[errors + at.GAIN] * arena[n]
        n += 1
    gain = arena[block + at.BAROMETER_AIRFLOW_GAIN]
    if gain > 0.0:
        decay = arena[block + at.BAROMETER_AIRFLOW_DECAY]
        arena[airflow] = decay * arena[airflow] + gain * arena[n]
        n += 1
    arena[trend] += arena[block + at.BAROMETER_TREND_STEP]
    pressure += arena[drift] + arena[airflow] + arena[trend]
    if arena[errors + at.SIGMA] > 0.0:
        pressure += arena[errors + at.SIGMA] * arena[n]
    if arena[errors + at.RESOLUTION] > 0.0:
        pressure = on_step(pressure, arena[errors + at.RESOLUTION])
    arena[out] = pressure


@njit(int64(*_BLOCK), cache=True)
def sample_imu(arena, block):
    """Sample the IMU of a block from the truth in it; return whether it needs normal numbers."""
    truth = block + at.IMU_TRUTH
    read_imu(arena, block, truth, truth + 3, truth + 6, block + at.IMU_READING)
    return int64(is_empty(arena, block))


@njit(types.UniTuple(int64, 2)(*_BLOCK, float64[:, ::1], int64), cache=True)
def sample_imu_rows(arena, block, rows, first):
    """Write samples into rows from `first` on, until rows or normal numbers are used up.

    Returns the next row, and whether normal numbers are needed.
    """
    for k in range(first, rows.shape[0]):
        is_needed = sample_imu(arena, block)
        for i in range(6):
            rows[k, i] = arena[block + at.IMU_READING + i]
        if is_needed:
            return k + 1, int64(1)
    return rows.shape[0], int64(0)


@njit(int64(*_BLOCK), cache=True)
def sample_magnetometer(arena, block):
    """Sample the magnetometer of a block from the truth in it; return as `sample_imu`."""
    truth = block + at.MAGNETOMETER_TRUTH
    read_magnetometer(arena, block, truth, truth + 9, block + at.MAGNETOMETER_READING)
    return int64(is_empty(arena, block))


@njit(int64(*_BLOCK), cache=True)
def sample_barometer(arena, block):
    """Sample the barometer of a block from the truth in it; return as `sample_imu`."""
    read_barometer(arena, block, arena[block + at.BAROMETER_TRUTH], block + at.BAROMETER_READING)
    return int64(is_empty(arena, block))


@njit(int64(float64[::1], int64, int64), cache=True)
def sample_inertial(arena, unit, due):
    """Sample the sensors of an inertial block that are due, at one instant.

    Parameters
    ----------
    arena, unit : (n,) array, int
        Truth and sensors, laid out by `InertialUnit`; start of the inertial block.
    due : int
        A sum of `layout.IMU`, `layout.MAGNETOMETER`, `layout.BAROMETER`.

    Returns
    -------
    int
        0, or the sum of the sensors that need new normal numbers before the next sample,
        plus `layout.OUTSIDE_ATMOSPHERE`; pass it to `InertialUnit.attend` if it is not 0.
    """
    status, out = 0, unit + at.READINGS
    if due & at.IMU:
        block = unit + int(arena[unit + at.IMU_BLOCK])
        force, omega = int(arena[unit + at.FORCE_PLACE]), int(arena[unit + at.OMEGA_PLACE])
        read_imu(arena, block, force, omega, int(arena[unit + at.ALPHA_PLACE]), out)
        if is_empty(arena, block):
            status |= at.IMU
    if due & at.MAGNETOMETER:
        block = unit + int(arena[unit + at.MAGNETOMETER_BLOCK])
        rotation = int(arena[unit + at.ROTATION_PLACE])
        read_magnetometer(arena, block, rotation, unit + at.FIELD, out + 6)
        if is_empty(arena, block):
            status |= at.MAGNETOMETER
    if due & at.BAROMETER:
        block = unit + int(arena[unit + at.BAROMETER_BLOCK])
        height = arena[int(arena[unit + at.HEIGHT_PLACE])]
        read_barometer(arena, block, arena[unit + at.ORIGIN_ALTITUDE] + height, out + 9)
        if is_empty(arena, block):
            status |= at.BAROMETER
        if math.isnan(arena[out + 10]):
            status |= at.OUTSIDE_ATMOSPHERE
    return status
