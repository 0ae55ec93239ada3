# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled sensors: one sample of IMU, magnetometer and barometer, alone or in one call.

The classes and `sample_inertial` run the same code, so their readings are equal bit by bit. An
argument `memory` is the float64 view of an array of one record: as an argument, an array of records
costs 0.1 us more per call.
"""

import math

from numba import float64, int64, types

from aerotwin_core.kernel_cache import njit
from aerotwin_sensor_models import layout as at
from aerotwin_sensor_models.atmosphere import troposphere

LEAN = {"_nrt": False}
"""Compiler option: arrays inside records are not counted as in use."""
part = njit(forceinline=True, **LEAN)


@part
def on_step(value, resolution):
    """Return the nearest multiple of a resolution; half a step goes up."""
    return resolution * math.floor(value / resolution + 0.5)


@part
def is_empty(sensor):
    """Return whether the stored normal numbers do not suffice for another sample."""
    return sensor.next + sensor.width > sensor.end


@part
def next_normals(sensor):
    """Return the index of this sample's normal numbers, and advance past them."""
    first = sensor.next
    sensor.next = first + sensor.width
    return first


@part
def show(value, resolution, limit):
    """Return a value quantised to the resolution and clipped to ± limit."""
    if resolution > 0.0:
        value = on_step(value, resolution)
    return min(limit, max(-limit, value))


@part
def read_triad(triad, normals, n, x, y, z):
    """Return the readings of three axes, and the index of the next unused normal number.

    reading = clip(step(M truth + constant bias + Gauss-Markov bias + white noise)). Unrolled by
    axis: a loop over the array, in which every store may change every load, takes twice as long.
    """
    gain, sigma = triad.gain, triad.sigma
    bias, offset, m = triad.bias, triad.offset, triad.matrix
    bx, by, bz = bias[0], bias[1], bias[2]
    if gain > 0.0:
        decay = triad.decay
        bx = decay * bx + gain * normals[n]
        by = decay * by + gain * normals[n + 1]
        bz = decay * bz + gain * normals[n + 2]
        bias[0], bias[1], bias[2] = bx, by, bz
        n += 3
    u = m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + (offset[0] + bx)
    v = m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + (offset[1] + by)
    w = m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + (offset[2] + bz)
    if sigma > 0.0:
        u, v, w = u + sigma * normals[n], v + sigma * normals[n + 1], w + sigma * normals[n + 2]
        n += 3
    resolution, limit = triad.resolution, triad.limit
    u, v, w = show(u, resolution, limit), show(v, resolution, limit), show(w, resolution, limit)
    return u, v, w, n


@part
def to_sensor(R, x, y, z):
    """Return R^T (x, y, z)."""
    return (
        R[0, 0] * x + R[1, 0] * y + R[2, 0] * z,
        R[0, 1] * x + R[1, 1] * y + R[2, 1] * z,
        R[0, 2] * x + R[1, 2] * y + R[2, 2] * z,
    )


@part
def read_imu(imu, motion, out):
    """Write a reading of the true motion at the centre of mass; NaN without normal numbers.

    At the lever arm r: f + alpha x r + w x (w x r); then into the axes of the IMU.
    """
    force, rate = out.specific_force_m_s2, out.angular_velocity_rad_s
    if is_empty(imu):
        for i in range(3):
            force[i] = rate[i] = math.nan
        return
    arm, R = imu.arm_m, imu.R_body_imu
    f, omega, alpha = (
        motion.specific_force_m_s2,
        motion.angular_velocity_rad_s,
        motion.angular_acceleration_rad_s2,
    )
    x, y, z = arm[0], arm[1], arm[2]
    p, q, r = omega[0], omega[1], omega[2]
    a, b, c = alpha[0], alpha[1], alpha[2]
    wx, wy, wz = q * z - r * y, r * x - p * z, p * y - q * x
    fx = f[0] + b * z - c * y + q * wz - r * wy
    fy = f[1] + c * x - a * z + r * wx - p * wz
    fz = f[2] + a * y - b * x + p * wy - q * wx
    n = next_normals(imu)
    x, y, z = to_sensor(R, fx, fy, fz)
    force[0], force[1], force[2], n = read_triad(imu.accelerometer, imu.normals, n, x, y, z)
    x, y, z = to_sensor(R, p, q, r)
    rate[0], rate[1], rate[2], n = read_triad(imu.gyroscope, imu.normals, n, x, y, z)


@part
def read_magnetometer(magnetometer, R_map_body, field, out):
    """Write a reading of a field in map axes [T]; NaN without normal numbers."""
    reading = out.field_t
    if is_empty(magnetometer):
        for i in range(3):
            reading[i] = math.nan
        return
    x, y, z = to_sensor(R_map_body, field[0], field[1], field[2])
    normals, n = magnetometer.normals, next_normals(magnetometer)
    u, v, w, n = read_triad(magnetometer.triad, normals, n, x, y, z)
    reading[0], reading[1], reading[2] = u, v, w
    decay, gain = magnetometer.disturbance_decay, magnetometer.disturbance_gain
    if gain > 0.0:
        disturbance = magnetometer.disturbance_t
        for i in range(3):
            disturbance[i] = decay * disturbance[i] + gain * normals[n + i]
            reading[i] += disturbance[i]


@part
def read_barometer(barometer, altitude_m, out):
    """Write pressure and temperature at an altitude above sea level; NaN without normal numbers."""
    b = barometer
    if is_empty(b):
        out.pressure_pa = out.temperature_k = math.nan
        return
    n = next_normals(b)
    pressure, out.temperature_k = troposphere(altitude_m)
    if b.gain > 0.0:
        b.drift_pa = b.decay * b.drift_pa + b.gain * b.normals[n]
        n += 1
    if b.airflow_gain > 0.0:
        b.airflow_pa = b.airflow_decay * b.airflow_pa + b.airflow_gain * b.normals[n]
        n += 1
    b.trend_pa += b.trend_step_pa
    pressure += b.drift_pa + b.airflow_pa + b.trend_pa
    if b.sigma > 0.0:
        pressure += b.sigma * b.normals[n]
    if b.resolution > 0.0:
        pressure = on_step(pressure, b.resolution)
    out.pressure_pa = pressure


@njit(int64(float64[::1]), cache=True, **LEAN)
def sample_imu(memory):
    """Sample an IMU from the truth in its record; return whether it needs normal numbers."""
    imu = memory.view(at.IMU_RECORD)[0]
    read_imu(imu, imu.truth, imu.reading)
    return int64(is_empty(imu))


@njit(types.UniTuple(int64, 2)(float64[::1], float64[:, ::1], int64), cache=True, **LEAN)
def sample_imu_rows(memory, rows, first):
    """Write samples into rows from `first` on, until rows or normal numbers are used up.

    Returns the next row, and whether normal numbers are needed.
    """
    reading = memory.view(at.IMU_RECORD)[0].reading
    for k in range(first, rows.shape[0]):
        is_needed = sample_imu(memory)
        for i in range(3):
            rows[k, i] = reading.specific_force_m_s2[i]
            rows[k, 3 + i] = reading.angular_velocity_rad_s[i]
        if is_needed:
            return k + 1, int64(1)
    return rows.shape[0], int64(0)


@njit(int64(float64[::1]), cache=True, **LEAN)
def sample_magnetometer(memory):
    """Sample a magnetometer from the truth in its record; return as `sample_imu`."""
    m = memory.view(at.MAGNETOMETER_RECORD)[0]
    read_magnetometer(m, m.R_map_body, m.field_map_t, m.reading)
    return int64(is_empty(m))


@njit(int64(float64[::1]), cache=True, **LEAN)
def sample_barometer(memory):
    """Sample a barometer from the truth in its record; return as `sample_imu`."""
    barometer = memory.view(at.BAROMETER_RECORD)[0]
    read_barometer(barometer, barometer.altitude_m, barometer.reading)
    return int64(is_empty(barometer))


@part
def sample_unit(unit, due):
    """Sample the sensors of a `layout.INERTIAL` record; see `sample_inertial`."""
    status = 0
    if due & at.IMU:
        read_imu(unit.imu, unit.motion, unit.readings.imu)
        if is_empty(unit.imu):
            status |= at.IMU
    if due & at.MAGNETOMETER:
        out = unit.readings.magnetometer
        read_magnetometer(unit.magnetometer, unit.R_map_body, unit.field_map_t, out)
        if is_empty(unit.magnetometer):
            status |= at.MAGNETOMETER
    if due & at.BAROMETER:
        air = unit.readings.barometer
        read_barometer(unit.barometer, unit.origin_altitude_m + unit.height_m, air)
        if is_empty(unit.barometer):
            status |= at.BAROMETER
        if math.isnan(air.temperature_k):
            status |= at.OUTSIDE_ATMOSPHERE
    return status


@njit(cache=True, **LEAN)
def sample_inertial(memory, due):
    """Sample the sensors that are due at one instant, from the truth in their record.

    Parameters
    ----------
    memory : (n,) array
        That of an `InertialUnit`, laid out by `layout.INERTIAL`.
    due : int
        A sum of `layout.IMU`, `layout.MAGNETOMETER`, `layout.BAROMETER`.

    Returns
    -------
    int
        0, or the sum of the sensors that need new normal numbers before the next sample,
        plus `layout.OUTSIDE_ATMOSPHERE`; pass it to `InertialUnit.attend` if it is not 0.
    """
    return sample_unit(memory.view(at.INERTIAL)[0], due)
