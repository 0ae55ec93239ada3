# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled step: forces, contact, and fourth-order Runge-Kutta in sub-steps of a millisecond.

Everything compiled stands in this one file on purpose: numba's cache looks for changes only in the
file of the function that is called, and would run old code of another. Who changes a number in
`layout` must touch this file, too.
"""

import math

import numpy as np
from numba import float64, int64, njit, void

from aerotwin_multirotor_dynamics import layout as at

MAXIMUM_SUB_STEP = 1e-3


@njit(cache=True)
def rotation_from_quaternion(x, y, z, w):
    """Return R_map_body row by row as nine numbers; the quaternion need not be of unit length.

    The middle stages of Runge-Kutta are a little off the unit sphere, and stiff feet would feel
    a body that swells.
    """
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return (
        1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w),
        s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w),
        s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y),
    )  # fmt: skip


@njit(cache=True)
def to_map(R, x, y, z):
    """Return a body vector in map axes."""
    return (
        R[0] * x + R[1] * y + R[2] * z,
        R[3] * x + R[4] * y + R[5] * z,
        R[6] * x + R[7] * y + R[8] * z,
    )


@njit(cache=True)
def to_body(R, x, y, z):
    """Return a map vector in body axes."""
    return (
        R[0] * x + R[3] * y + R[6] * z,
        R[1] * x + R[4] * y + R[7] * z,
        R[2] * x + R[5] * y + R[8] * z,
    )


@njit(cache=True)
def air_wrench(y, R, speed, c, u):
    """Return force and moment of rotors and body drag, both in body axes.

    Every rotor meets the air at its own place: v = R^T (v_map - wind) + omega x r. Along its axis
    that changes the thrust (it falls linearly in climb and grows in descent), across it gives the
    H-force and the rolling moment, both against the wind (XTDrone eq. 3-6, with the gazebo signs:
    the rolling moment does not follow the turning direction).
    """
    ax, ay, az = to_body(R, y[7] - u[at.WIND], y[8] - u[at.WIND + 1], y[9] - u[at.WIND + 2])
    p, q, r = y[10], y[11], y[12]
    fx, fy, fz = -c[at.DRAG] * ax, -c[at.DRAG + 1] * ay, -c[at.DRAG + 2] * az
    mx, my, mz = 0.0, 0.0, 0.0
    for i in range(int(c[at.N_ROTORS])):
        j = at.ROTORS + 4 * i
        x, y_, z, spin = c[j], c[j + 1], c[j + 2], c[j + 3]
        vx, vy, vz = ax + q * z - r * y_, ay + r * x - p * z, az + p * y_ - q * x
        omega = speed[i]
        loss = max(0.0, 1.0 - vz * c[at.PER_AXIAL_SPEED])
        thrust = c[at.C_THRUST] * omega * omega * loss
        hx, hy = -omega * c[at.C_DRAG] * vx, -omega * c[at.C_DRAG] * vy
        fx, fy, fz = fx + hx, fy + hy, fz + thrust
        mx += y_ * thrust - z * hy - omega * c[at.C_ROLLING] * vx
        my += z * hx - x * thrust - omega * c[at.C_ROLLING] * vy
        mz += x * hy - y_ * hx - spin * c[at.C_TORQUE] * thrust
    return fx, fy, fz, mx, my, mz


@njit(cache=True)
def point_in_map(y, R, x, y_, z):
    """Return place and velocity in map of a point fixed in the body."""
    rx, ry, rz = to_map(R, x, y_, z)
    p, q, r = y[10], y[11], y[12]
    vx, vy, vz = to_map(R, q * z - r * y_, r * x - p * z, p * y_ - q * x)
    return y[0] + rx, y[1] + ry, y[2] + rz, y[7] + vx, y[8] + vy, y[9] + vz


@njit(cache=True)
def depth_below_ground(px, py, pz, u):
    """Return how far a point of map lies below the ground plane."""
    g, n = at.GROUND_POINT, at.GROUND_NORMAL
    return u[n] * (u[g] - px) + u[n + 1] * (u[g + 1] - py) + u[n + 2] * (u[g + 2] - pz)


@njit(cache=True)
def tangential_pull(px, py, pz, vx, vy, vz, state, k, c, u):
    """Return what spring and damper along the ground ask for at one point, before friction."""
    nx, ny, nz = u[at.GROUND_NORMAL], u[at.GROUND_NORMAL + 1], u[at.GROUND_NORMAL + 2]
    vn = vx * nx + vy * ny + vz * nz
    tx, ty, tz = vx - vn * nx, vy - vn * ny, vz - vn * nz
    tx, ty, tz = -c[at.D_TANGENT] * tx, -c[at.D_TANGENT] * ty, -c[at.D_TANGENT] * tz
    if state[k] > 0.0:
        sx, sy, sz = px - state[k + 1], py - state[k + 2], pz - state[k + 3]
        sn = sx * nx + sy * ny + sz * nz
        tx -= c[at.K_TANGENT] * (sx - sn * nx)
        ty -= c[at.K_TANGENT] * (sy - sn * ny)
        tz -= c[at.K_TANGENT] * (sz - sn * nz)
    return tx, ty, tz


@njit(cache=True)
def normal_push(depth, vx, vy, vz, c, u):
    """Return the ground's push on a point; the damper fades in with depth, it never pulls."""
    n = at.GROUND_NORMAL
    vn = vx * u[n] + vy * u[n + 1] + vz * u[n + 2]
    fade = min(1.0, depth * c[at.PER_DAMPING_DEPTH])
    return max(0.0, c[at.K_NORMAL] * depth - c[at.D_NORMAL] * fade * vn)


@njit(cache=True)
def ground_wrench(y, R, state, c, u):
    """Return contact force in map axes and contact moment in body axes."""
    fx, fy, fz, mx, my, mz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    centre_depth = depth_below_ground(y[0], y[1], y[2], u)
    if centre_depth < -c[at.REACH]:
        return fx, fy, fz, mx, my, mz
    nx, ny, nz = u[at.GROUND_NORMAL], u[at.GROUND_NORMAL + 1], u[at.GROUND_NORMAL + 2]
    ux, uy, uz = to_body(R, nx, ny, nz)
    n_rotors = int(c[at.N_ROTORS])
    for i in range(int(c[at.N_POINTS])):
        j, k = at.ROTORS + 4 * n_rotors + 3 * i, at.N_HEAD + n_rotors + 4 * i
        bx, by, bz = c[j], c[j + 1], c[j + 2]
        depth = centre_depth - (ux * bx + uy * by + uz * bz)
        if depth <= 0.0:
            continue
        px, py, pz, vx, vy, vz = point_in_map(y, R, bx, by, bz)
        push = normal_push(depth, vx, vy, vz, c, u)
        tx, ty, tz = tangential_pull(px, py, pz, vx, vy, vz, state, k, c, u)
        pull = math.sqrt(tx * tx + ty * ty + tz * tz)
        hold = c[at.FRICTION] * push
        scale = hold / pull if pull > hold else 1.0
        gx, gy, gz = push * nx + scale * tx, push * ny + scale * ty, push * nz + scale * tz
        fx, fy, fz = fx + gx, fy + gy, fz + gz
        ex, ey, ez = to_body(R, gx, gy, gz)
        mx, my, mz = mx + by * ez - bz * ey, my + bz * ex - bx * ez, mz + bx * ey - by * ex
    return fx, fy, fz, mx, my, mz


@njit(cache=True)
def derivative(y, speed, state, c, u, out):
    """Write the rate of (position, quaternion, velocity, angular velocity) into out.

    Newton in map axes, Euler in body axes (XTDrone eq. 1-2 with gravity and one body drag).
    """
    R = rotation_from_quaternion(y[3], y[4], y[5], y[6])
    fx, fy, fz, mx, my, mz = air_wrench(y, R, speed, c, u)
    gx, gy, gz, cx, cy, cz = ground_wrench(y, R, state, c, u)
    ax, ay, az = to_map(R, fx, fy, fz)
    p, q, r = y[10], y[11], y[12]
    ix, iy, iz = c[at.INERTIA], c[at.INERTIA + 1], c[at.INERTIA + 2]
    out[0], out[1], out[2] = y[7], y[8], y[9]
    out[3] = 0.5 * (y[6] * p + y[4] * r - y[5] * q)
    out[4] = 0.5 * (y[6] * q + y[5] * p - y[3] * r)
    out[5] = 0.5 * (y[6] * r + y[3] * q - y[4] * p)
    out[6] = -0.5 * (y[3] * p + y[4] * q + y[5] * r)
    out[7] = (ax + gx) / c[at.MASS]
    out[8] = (ay + gy) / c[at.MASS]
    out[9] = (az + gz) / c[at.MASS] - c[at.GRAVITY_PLACE]
    out[10] = (mx + cx - (iz - iy) * q * r) / ix
    out[11] = (my + cy - (ix - iz) * r * p) / iy
    out[12] = (mz + cz - (iy - ix) * p * q) / iz


@njit(cache=True)
def wanted_speed(command, c, u):
    """Return the speed a motor is asked for; disarmed, or commanded not-a-number, it stops."""
    if u[at.IS_ARMED] <= 0.0 or math.isnan(command):
        return 0.0
    limited = min(1.0, max(0.0, command))
    return min(c[at.MAXIMUM_SPEED], c[at.SPEED_PER_COMMAND] * limited + c[at.ARMED_SPEED])


@njit(cache=True)
def lagged_speed(speed, wanted, up, down):
    """Return the rotor speed after first-order lag, exactly; up and down are exp(-h / tau)."""
    return wanted + (speed - wanted) * (up if wanted > speed else down)


@njit(cache=True)
def decay(h, tau):
    """Return what is left of a first-order lag after h seconds; nothing if tau is zero."""
    return math.exp(-h / tau) if tau > 0.0 else 0.0


@njit(cache=True)
def runge_kutta(y, speeds, state, c, u, h, work):
    """Advance y by h; the rotor speeds at the start, middle and end are known beforehand."""
    k1, k2, k3, k4, stage = work[0], work[1], work[2], work[3], work[4]
    derivative(y, speeds[0], state, c, u, k1)
    for i in range(at.N_MOVING):
        stage[i] = y[i] + 0.5 * h * k1[i]
    derivative(stage, speeds[1], state, c, u, k2)
    for i in range(at.N_MOVING):
        stage[i] = y[i] + 0.5 * h * k2[i]
    derivative(stage, speeds[1], state, c, u, k3)
    for i in range(at.N_MOVING):
        stage[i] = y[i] + h * k3[i]
    derivative(stage, speeds[2], state, c, u, k4)
    for i in range(at.N_MOVING):
        y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])
    norm = math.sqrt(y[3] * y[3] + y[4] * y[4] + y[5] * y[5] + y[6] * y[6])
    for i in range(3, 7):
        y[i] /= norm


@njit(cache=True)
def settle_contacts(state, before, c, u):
    """Take note, after a sub-step, of points that touch, stick, slip or leave, and of crashes."""
    state[at.N_CONTACTS] = 0.0
    if depth_below_ground(state[0], state[1], state[2], u) < -c[at.REACH]:
        for k in range(at.N_HEAD + int(c[at.N_ROTORS]), state.shape[0], 4):
            state[k] = 0.0
        return
    R = rotation_from_quaternion(state[3], state[4], state[5], state[6])
    R_before = rotation_from_quaternion(before[3], before[4], before[5], before[6])
    nx, ny, nz = u[at.GROUND_NORMAL], u[at.GROUND_NORMAL + 1], u[at.GROUND_NORMAL + 2]
    n_rotors = int(c[at.N_ROTORS])
    upright = R[2] * nx + R[5] * ny + R[8] * nz
    for i in range(int(c[at.N_POINTS])):
        j, k = at.ROTORS + 4 * n_rotors + 3 * i, at.N_HEAD + n_rotors + 4 * i
        px, py, pz, vx, vy, vz = point_in_map(state, R, c[j], c[j + 1], c[j + 2])
        depth = depth_below_ground(px, py, pz, u)
        if depth <= 0.0:
            state[k] = 0.0
            continue
        state[at.N_CONTACTS] += 1.0
        if state[k] <= 0.0:
            _, _, _, bx, by, bz = point_in_map(before, R_before, c[j], c[j + 1], c[j + 2])
            state[at.IMPACT_SPEED] = max(0.0, -(bx * nx + by * ny + bz * nz))
            state[k], state[k + 1], state[k + 2], state[k + 3] = 1.0, px, py, pz
        crashed = state[at.IMPACT_SPEED] > c[at.CRASH_SPEED] or upright < c[at.CRASH_COS_TILT]
        if crashed or i >= c[at.N_FEET]:
            state[at.IS_CRASHED] = 1.0
        slip(px, py, pz, vx, vy, vz, depth, state, k, c, u)


@njit(cache=True)
def slip(px, py, pz, vx, vy, vz, depth, state, k, c, u):
    """Drag the anchor along when the pull is more than friction holds."""
    hold = c[at.FRICTION] * normal_push(depth, vx, vy, vz, c, u)
    tx, ty, tz = tangential_pull(px, py, pz, vx, vy, vz, state, k, c, u)
    if tx * tx + ty * ty + tz * tz <= hold * hold or c[at.K_TANGENT] <= 0.0:
        return
    sx, sy, sz = px - state[k + 1], py - state[k + 2], pz - state[k + 3]
    stretch = math.sqrt(sx * sx + sy * sy + sz * sz)
    longest = hold / c[at.K_TANGENT]
    if stretch > longest:
        keep = longest / stretch
        state[k + 1], state[k + 2], state[k + 3] = px - keep * sx, py - keep * sy, pz - keep * sz


@njit(cache=True)
def refresh_derived(state, c, u, out):
    """Write accelerations, specific force and rotation that belong to the present state."""
    n_rotors = int(c[at.N_ROTORS])
    derivative(state, state[at.N_HEAD : at.N_HEAD + n_rotors], state, c, u, out)
    R = rotation_from_quaternion(state[3], state[4], state[5], state[6])
    for i in range(3):
        state[13 + i] = out[7 + i]
        state[16 + i] = out[10 + i]
    fx, fy, fz = to_body(R, out[7], out[8], out[9] + c[at.GRAVITY_PLACE])
    state[19], state[20], state[21] = fx, fy, fz
    for i in range(9):
        state[22 + i] = R[i]


@njit(int64(float64[::1], float64[::1], float64[::1], float64), cache=True)
def step_state(state, inputs, constants, dt):
    """Advance a state array in place by dt; the arrays are laid out in `layout`.

    Returns
    -------
    int
        1 if the new state is finite, 0 if not.
    """
    c, u = constants, inputs
    n_rotors = int(c[at.N_ROTORS])
    n_steps = max(1, math.ceil(dt / MAXIMUM_SUB_STEP - 1e-6))
    h = dt / n_steps
    work = np.empty((6, at.N_MOVING))
    speeds = np.empty((3, n_rotors))
    up, down = decay(0.5 * h, c[at.TAU_UP]), decay(0.5 * h, c[at.TAU_DOWN])
    up_0, down_0 = decay(0.0, c[at.TAU_UP]), decay(0.0, c[at.TAU_DOWN])
    for _ in range(n_steps):
        for i in range(n_rotors):
            speed, wanted = state[at.N_HEAD + i], wanted_speed(u[at.COMMAND + i], c, u)
            speeds[0, i] = lagged_speed(speed, wanted, up_0, down_0)
            speeds[1, i] = lagged_speed(speed, wanted, up, down)
            speeds[2, i] = lagged_speed(speed, wanted, up * up, down * down)
        for i in range(at.N_MOVING):
            work[5, i] = state[i]
        runge_kutta(state, speeds, state, c, u, h, work)
        for i in range(n_rotors):
            state[at.N_HEAD + i] = speeds[2, i]
        settle_contacts(state, work[5], c, u)
    refresh_derived(state, c, u, work[0])
    total = 0.0
    for i in range(at.N_MOVING):
        total += state[i]
    return 1 if math.isfinite(total) else 0


@njit(void(float64[::1], float64[::1], float64[::1]), cache=True)
def refresh_state(state, inputs, constants):
    """Bring the derived part of a state array in line with the rest."""
    refresh_derived(state, constants, inputs, np.empty(at.N_MOVING))
