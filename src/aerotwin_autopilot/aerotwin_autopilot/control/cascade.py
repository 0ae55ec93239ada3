# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled cascade: position and velocity to force, force and yaw to attitude, rate to torque.

Attitude control on the rotation as in Mellinger and Kumar, "Minimum snap trajectory generation and
control for quadrotors", ICRA 2011, sec. IV, with the yaw error weighted apart from the tilt error.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import from_dtype, types

from aerotwin_autopilot.attitude import quaternion_product, rotation_entries
from aerotwin_autopilot.control.setpoint import (
    I_RATE,
    I_VELOCITY,
    P_ACCELERATION,
    P_POSITION,
    P_VELOCITY,
    P_YAW,
    P_YAW_RATE,
)
from aerotwin_autopilot.estimator import layout as at
from aerotwin_core.kernel_cache import njit

MINIMUM_VERTICAL_FORCE = 0.25
"""Lower limit of the vertical force, as part of the weight: the tilt must stay defined."""


class Gains(NamedTuple):
    """Gains and limits; units as `ControlParameters`."""

    position: float
    velocity: float
    velocity_integral: float
    attitude: float
    yaw: float
    rate: float
    yaw_rate: float
    rate_integral: float
    tilt_limit: float
    acceleration_limit: float
    climb_acceleration_limit: float
    rate_limit: float
    yaw_rate_limit: float
    speed_limit: float
    correction_limit: float
    integral_limit: float
    mass: float
    inertia_x: float
    inertia_y: float
    inertia_z: float


GAINS = np.dtype([(name, "f8") for name in Gains._fields], align=True)
GAINS_TYPE = from_dtype(GAINS)
VECTOR = types.float64[::1]
SCALAR = types.float64
TRIPLE = types.UniTuple(types.float64, 3)


@njit(types.UniTuple(types.float64, 2)(types.float64, types.float64, types.float64), cache=True)
def _limited_pair(x, y, limit):
    """Return a horizontal vector shortened to a limit."""
    length = math.hypot(x, y)
    scale = limit / length if length > limit else 1.0
    return x * scale, y * scale


@njit(TRIPLE(VECTOR, VECTOR, GAINS_TYPE), cache=True)
def _velocity_error(estimate, setpoint, gains):
    """Return the desired velocity (feed-forward plus position error) minus the estimated one."""
    c0, c1, c2 = 0.0, 0.0, 0.0
    if not math.isnan(setpoint[P_POSITION]):
        c0 = gains.position * (setpoint[P_POSITION] - estimate[at.O_POSITION])
    if not math.isnan(setpoint[P_POSITION + 1]):
        c1 = gains.position * (setpoint[P_POSITION + 1] - estimate[at.O_POSITION + 1])
    if not math.isnan(setpoint[P_POSITION + 2]):
        c2 = gains.position * (setpoint[P_POSITION + 2] - estimate[at.O_POSITION + 2])
    c0, c1 = _limited_pair(c0, c1, gains.correction_limit)
    c2 = min(max(c2, -gains.correction_limit), gains.correction_limit)
    v0, v1, v2 = setpoint[P_VELOCITY], setpoint[P_VELOCITY + 1], setpoint[P_VELOCITY + 2]
    w0 = c0 if math.isnan(v0) else c0 + v0
    w1 = c1 if math.isnan(v1) else c1 + v1
    w2 = c2 if math.isnan(v2) else c2 + v2
    w0, w1 = _limited_pair(w0, w1, gains.speed_limit)
    v = at.O_VELOCITY
    return w0 - estimate[v], w1 - estimate[v + 1], w2 - estimate[v + 2]


@njit(TRIPLE(VECTOR, VECTOR, VECTOR, GAINS_TYPE, types.float64, types.boolean), cache=True)
def wished_force(estimate, setpoint, integral, gains, dt, integrates):
    """Return the specific force to produce, in local axes [m/s^2], within tilt and limits.

    The integral stops where a limit cuts the output and the error would push further into it.
    """
    e0, e1, e2 = _velocity_error(estimate, setpoint, gains)
    f = P_ACCELERATION
    w0 = setpoint[f] + gains.velocity * e0 + integral[I_VELOCITY]
    w1 = setpoint[f + 1] + gains.velocity * e1 + integral[I_VELOCITY + 1]
    w2 = setpoint[f + 2] + gains.velocity * e2 + integral[I_VELOCITY + 2]
    limit = gains.climb_acceleration_limit
    a2 = min(max(w2, -min(limit, (1.0 - MINIMUM_VERTICAL_FORCE) * at.GRAVITY)), limit)
    vertical = at.GRAVITY + a2
    reach = min(gains.acceleration_limit, math.tan(gains.tilt_limit) * vertical)
    a0, a1 = _limited_pair(w0, w1, reach)
    if integrates:
        gain = gains.velocity_integral * dt
        if (a0 == w0 and a1 == w1) or e0 * w0 + e1 * w1 < 0.0:
            integral[I_VELOCITY] += gain * e0
            integral[I_VELOCITY + 1] += gain * e1
        if a2 == w2 or e2 * w2 < 0.0:
            integral[I_VELOCITY + 2] += gain * e2
        for i in range(3):
            bound = gains.integral_limit
            integral[I_VELOCITY + i] = min(max(integral[I_VELOCITY + i], -bound), bound)
    return a0, a1, vertical


@njit(TRIPLE(VECTOR, TRIPLE, types.float64, types.float64, GAINS_TYPE), cache=True)
def wished_rate(estimate, force, yaw, yaw_rate, gains):
    """Return the body rate [rad/s] that turns the thrust along the force and the nose to the yaw.

    Tilt: along the cross product of the present and the desired thrust axis, by the angle between
    them. Yaw: the heading error of the nose projected on the horizontal plane.
    """
    q = at.O_ATTITUDE
    r = rotation_entries(estimate[q], estimate[q + 1], estimate[q + 2], estimate[q + 3])
    norm = math.sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2])
    fx, fy, fz = force[0] / norm, force[1] / norm, force[2] / norm
    bx = r[0] * fx + r[3] * fy + r[6] * fz  # desired thrust axis in body axes
    by = r[1] * fx + r[4] * fy + r[7] * fz
    bz = r[2] * fx + r[5] * fy + r[8] * fz
    sine = math.hypot(bx, by)
    angle = math.atan2(sine, bz)
    gain = gains.attitude * angle / sine if sine > 1e-9 else 0.0
    roll_rate, pitch_rate = _limited_pair(-by * gain, bx * gain, gains.rate_limit)
    error = yaw - math.atan2(r[3], r[0])
    error -= 2.0 * math.pi * math.floor(error / (2.0 * math.pi) + 0.5)
    turn = gains.yaw * error + yaw_rate
    turn = min(max(turn, -gains.yaw_rate_limit), gains.yaw_rate_limit)
    return roll_rate + turn * r[6], pitch_rate + turn * r[7], turn * r[8]


@njit(TRIPLE(VECTOR, TRIPLE, VECTOR, GAINS_TYPE, types.float64, types.boolean), cache=True)
def wished_torque(estimate, rate, integral, gains, dt, integrates):
    """Return the body torque [N m] for a body rate, with the gyroscopic torque compensated."""
    p, q, r = estimate[at.O_RATE], estimate[at.O_RATE + 1], estimate[at.O_RATE + 2]
    e0, e1, e2 = rate[0] - p, rate[1] - q, rate[2] - r
    if integrates:
        bound = 2.0
        gain = gains.rate_integral * dt
        integral[I_RATE] = min(max(integral[I_RATE] + gain * e0, -bound), bound)
        integral[I_RATE + 1] = min(max(integral[I_RATE + 1] + gain * e1, -bound), bound)
        integral[I_RATE + 2] = min(max(integral[I_RATE + 2] + 0.2 * gain * e2, -bound), bound)
    jx, jy, jz = gains.inertia_x, gains.inertia_y, gains.inertia_z
    return (
        jx * (gains.rate * e0 + integral[I_RATE]) + (jz - jy) * q * r,
        jy * (gains.rate * e1 + integral[I_RATE + 1]) + (jx - jz) * r * p,
        jz * (gains.yaw_rate * e2 + integral[I_RATE + 2]) + (jy - jx) * p * q,
    )


@njit(
    types.float64(VECTOR, VECTOR, VECTOR, VECTOR, GAINS_TYPE, types.float64, types.boolean),
    cache=True,
)  # fmt: skip
def cascade(wrench, estimate, setpoint, integral, gains, dt, integrates):
    """Write (thrust, torque x, y, z) for a set-point; return the desired tilt cosine.

    Thrust is the desired force along the present thrust axis, so that the vehicle does not climb
    while it still turns.
    """
    force = wished_force(estimate, setpoint, integral, gains, dt, integrates)
    rate = wished_rate(estimate, force, setpoint[P_YAW], setpoint[P_YAW_RATE], gains)
    torque = wished_torque(estimate, rate, integral, gains, dt, integrates)
    q = at.O_ATTITUDE
    r = rotation_entries(estimate[q], estimate[q + 1], estimate[q + 2], estimate[q + 3])
    along = force[0] * r[2] + force[1] * r[5] + force[2] * r[8]
    wrench[0] = gains.mass * max(along, 0.0)
    wrench[1], wrench[2], wrench[3] = torque
    return force[2] / math.sqrt(force[0] ** 2 + force[1] ** 2 + force[2] ** 2)


@njit(
    types.void(VECTOR, VECTOR, VECTOR, VECTOR, SCALAR, VECTOR, GAINS_TYPE, SCALAR, types.boolean),
    cache=True,
)  # fmt: skip
def hold_attitude(wrench, estimate, target, rate, thrust, integral, gains, dt, integrates):
    """Write (thrust, torque x, y, z) for an external attitude and thrust [N] along the body's axis.

    `target` (4,) is the attitude xyzw, local <- body; NaN commands `rate` alone. `rate` (3,) is
    the body rate, fed forward [rad/s].
    """
    wx, wy, wz = rate[0], rate[1], rate[2]
    if not math.isnan(target[0]):
        q = at.O_ATTITUDE
        ex, ey, ez, ew = quaternion_product(
            -estimate[q], -estimate[q + 1], -estimate[q + 2], estimate[q + 3],
            target[0], target[1], target[2], target[3],
        )  # fmt: skip
        gain = 2.0 if ew >= 0.0 else -2.0
        tilt_x, tilt_y = _limited_pair(
            gains.attitude * gain * ex, gains.attitude * gain * ey, gains.rate_limit
        )
        turn = gains.yaw * gain * ez
        wx += tilt_x
        wy += tilt_y
        wz += min(max(turn, -gains.yaw_rate_limit), gains.yaw_rate_limit)
    wrench[0] = thrust
    wrench[1], wrench[2], wrench[3] = wished_torque(
        estimate, (wx, wy, wz), integral, gains, dt, integrates
    )
