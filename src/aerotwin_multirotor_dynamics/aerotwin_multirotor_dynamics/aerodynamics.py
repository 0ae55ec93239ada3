# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Forces and moments of the air on rotors and body: compiled parts of `kernel`.

`quadratic_thrust` and `body_drag` are the two laws that an airframe may replace.
"""

import math

from aerotwin_core.kernel_cache import njit
from aerotwin_multirotor_dynamics import layout as at

LOWEST_HUB_RADII = 0.5
"""Below this height, in rotor radii, ground effect is constant (Cheeseman and Bennett 1955)."""
HIGHEST_RADII = 40.0
"""From this height of the vehicle on there is no ground effect: it would be 4e-5 of the thrust."""
SEA_LEVEL_TEMPERATURE_K = 288.15
LAPSE_RATE_K_PER_M = 0.0065
DENSITY_EXPONENT = 9.80665 / (LAPSE_RATE_K_PER_M * 287.05287) - 1.0
"""g_0 / (R L) - 1 of the standard atmosphere (ICAO Doc 7488/3, 1993)."""
EARTH_RADIUS_M = 6356766.0
TROPOPAUSE_M = 11000.0

LEAN = {"error_model": "numpy", "fastmath": {"contract"}, "_nrt": False}
"""Compiler options for functions that neither create nor slice arrays.

A division by zero is infinite, a product and a sum may be fused, and arrays are not counted as in
use: the counting would take half of a step's time here.
"""
part = njit(forceinline=True, **LEAN)
"""Decorator of parts of a kernel: inlined into it and stored in its cache."""


@part
def rotation_from_quaternion(x, y, z, w):
    """Return R_map_body row by row as nine numbers; the quaternion need not be of unit length.

    Intermediate Runge-Kutta stages are slightly off the unit sphere, and stiff feet would react to
    a scaled body.
    """
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return (
        1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w),
        s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w),
        s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y),
    )  # fmt: skip


@part
def to_map(R, x, y, z):
    """Return a body vector in map axes."""
    return (
        R[0] * x + R[1] * y + R[2] * z,
        R[3] * x + R[4] * y + R[5] * z,
        R[6] * x + R[7] * y + R[8] * z,
    )


@part
def to_body(R, x, y, z):
    """Return a map vector in body axes."""
    return (
        R[0] * x + R[3] * y + R[6] * z,
        R[1] * x + R[4] * y + R[7] * z,
        R[2] * x + R[5] * y + R[8] * z,
    )


@part
def density_ratio(altitude_m):
    """Return the density of the standard atmosphere over that at sea level; 1 for NaN.

    rho / rho_0 = (1 - L H / T_0)^4.256 with the geopotential altitude H = r h / (r + h), constant
    above the tropopause (ICAO Doc 7488/3, Manual of the ICAO Standard Atmosphere, 1993).
    """
    if math.isnan(altitude_m):
        return 1.0
    geopotential = EARTH_RADIUS_M * altitude_m / (EARTH_RADIUS_M + altitude_m)
    fall = LAPSE_RATE_K_PER_M * min(geopotential, TROPOPAUSE_M) / SEA_LEVEL_TEMPERATURE_K
    return math.exp(DENSITY_EXPONENT * math.log1p(-fall))


@part
def quadratic_thrust(omega, vx, vy, vz, c):
    """Return the thrust of one rotor [N]: C_T omega^2, less linearly with the climb speed.

    omega is the rotor speed [rad/s], (vx, vy, vz) the hub's velocity through the air in body axes
    [m/s], vz along the axis; c is a record of `layout.CONSTANTS`.
    """
    loss = max(0.0, 1.0 - vz * c.per_zero_thrust_axial_speed_s_m)
    return c.thrust_coefficient_n_s2 * omega * omega * loss


@part
def body_drag(vx, vy, vz, c):
    """Return the force of the air on the body [N], body axes: linear and quadratic per axis.

    (vx, vy, vz) is the velocity of the centre of mass through the air in body axes [m/s]; c
    is a record of `layout.CONSTANTS`.
    """
    speed = math.sqrt(vx * vx + vy * vy + vz * vz)
    d, e = c.linear_drag_n_s_per_m, c.quadratic_drag_n_s2_per_m2
    return (
        -(d[0] + e[0] * speed) * vx,
        -(d[1] + e[1] * speed) * vy,
        -(d[2] + e[2] * speed) * vz,
    )


@part
def height_above_ground(px, py, pz, u):
    """Return the height of a point of map above the ground plane."""
    g, n = at.GROUND_POINT, at.GROUND_NORMAL
    return u[n] * (px - u[g]) + u[n + 1] * (py - u[g + 1]) + u[n + 2] * (pz - u[g + 2])


@part
def lagged_speed(speed, desired, up, down):
    """Return the rotor speed after first-order lag, exactly; up and down are exp(-t / tau)."""
    return desired + (speed - desired) * (up if desired > speed else down)


@part
def speed_rate(speed, desired, c):
    """Return the rate of a lagging rotor speed [rad/s^2]; 0 for a motor without lag."""
    tau = c.time_constant_up_s if desired > speed else c.time_constant_down_s
    return (desired - speed) / tau if tau > 0.0 else 0.0


@part
def ground_gain(centre_height, ux, uy, uz, x, y, z, c):
    """Return thrust in ground effect over that without, of a rotor at x, y, z of the body.

    1 / (1 - k (R / 4h)^2) with h from the hub to the ground along the rotor's axis; (u) is the
    ground's normal in body axes. Cheeseman and Bennett, The effect of the ground on a helicopter
    rotor in forward flight, ARC R&M 3021, 1955, eq. 4.
    """
    if uz <= 0.0:
        return 1.0
    radius = c.radius_m
    height = (centre_height + ux * x + uy * y + uz * z) / uz
    ratio = 0.25 * radius / max(LOWEST_HUB_RADII * radius, height)
    return 1.0 / (1.0 - c.ground_effect * ratio * ratio)


def make_air_wrench(thrust_model, drag_model):
    """Return the function that sums aerodynamic forces and moments by these models."""

    @part
    def air_wrench(y, R, state, c, u, up, down):
        """Return force and moment of rotors and body drag, both in body axes.

        Every rotor meets the air at its own place: v = R^T (v_map - wind) + omega x r. Along its
        axis that changes the thrust, across it gives the H-force and the rolling moment, both
        against the wind (XTDrone eq. 3-6). The reaction torque follows the thrust that the blades
        themselves make, not what the ground adds to it. Turning rotors carry angular momentum h
        along body z, and the body feels -omega x h - dh/dt.
        """
        ax, ay, az = to_body(R, y[7] - u[at.WIND], y[8] - u[at.WIND + 1], y[9] - u[at.WIND + 2])
        p, q, r = y[10], y[11], y[12]
        fx, fy, fz = drag_model(ax, ay, az, c)
        mx, my, mz = 0.0, 0.0, 0.0
        spin_speed, spin_rate = 0.0, 0.0
        n_rotors = c.n_rotors
        c_drag, c_axial = c.drag_coefficient_n_s2_per_m, c.axial_drag_coefficient_n_s2_per_m
        c_lift = c.translational_lift_n_s2_per_m2
        n = at.GROUND_NORMAL
        has_ground_effect = c.ground_effect > 0.0
        height, ux, uy, uz = 0.0, 0.0, 0.0, 0.0
        if has_ground_effect:
            height = height_above_ground(y[0], y[1], y[2], u)
            has_ground_effect = height < HIGHEST_RADII * c.radius_m
        if has_ground_effect:
            ux, uy, uz = to_body(R, u[n], u[n + 1], u[n + 2])
        for i in range(n_rotors):
            rotor = c.rotors[i]
            x, y_, z = rotor.x_m, rotor.y_m, rotor.z_m
            spin, rolling = rotor.spin, rotor.rolling_n_s2
            vx, vy, vz = ax + q * z - r * y_, ay + r * x - p * z, az + p * y_ - q * x
            start, desired = state[at.N_HEAD + i], state[at.N_HEAD + n_rotors + i]
            omega = lagged_speed(start, desired, up, down)
            thrust = rotor.thrust_share * thrust_model(omega, vx, vy, vz, c)
            lift = thrust
            if has_ground_effect:
                lift = thrust * ground_gain(height, ux, uy, uz, x, y_, z, c)
            lift += c_lift * (vx * vx + vy * vy) - omega * c_axial * vz
            hx, hy = -omega * c_drag * vx, -omega * c_drag * vy
            fx, fy, fz = fx + hx, fy + hy, fz + lift
            mx += y_ * lift - z * hy - omega * rolling * vx
            my += z * hx - x * lift - omega * rolling * vy
            mz += x * hy - y_ * hx - spin * c.torque_per_thrust_m * thrust
            if c.rotor_inertia_kg_m2 > 0.0:
                spin_speed += spin * omega
                spin_rate += spin * speed_rate(omega, desired, c)
        air = state[at.AIR_DENSITY]
        mx = air * mx - c.rotor_inertia_kg_m2 * spin_speed * q
        my = air * my + c.rotor_inertia_kg_m2 * spin_speed * p
        mz = air * mz - c.rotor_inertia_kg_m2 * spin_rate
        return air * fx, air * fy, air * fz, mx, my, mz

    return air_wrench
