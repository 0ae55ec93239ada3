# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled step: fourth-order Runge-Kutta in sub-steps of a millisecond, in place."""

import math

import numpy as np
from numba import float64, int64, njit, void

from aerotwin_multirotor_dynamics import layout as at
from aerotwin_multirotor_dynamics.wrench import (
    air_wrench,
    depth_below_ground,
    ground_wrench,
    normal_push,
    point_in_map,
    rotation_from_quaternion,
    tangential_pull,
    to_body,
    to_map,
)

MAXIMUM_SUB_STEP = 1e-3


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
def lagged_speed(speed, wanted, h, c):
    """Return the rotor speed after h seconds of first-order lag: the exact solution."""
    tau = c[at.TAU_UP] if wanted > speed else c[at.TAU_DOWN]
    if tau <= 0.0:
        return wanted
    return wanted + (speed - wanted) * math.exp(-h / tau)


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
    """Take note, after a sub-step, of the points that touch, stick, slip or leave, and of crashes."""
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
    n_steps = max(1, int(math.ceil(dt / MAXIMUM_SUB_STEP - 1e-6)))
    h = dt / n_steps
    work = np.empty((6, at.N_MOVING))
    speeds = np.empty((3, n_rotors))
    for _ in range(n_steps):
        for i in range(n_rotors):
            speed, wanted = state[at.N_HEAD + i], wanted_speed(u[at.COMMAND + i], c, u)
            speeds[0, i] = lagged_speed(speed, wanted, 0.0, c)
            speeds[1, i] = lagged_speed(speed, wanted, 0.5 * h, c)
            speeds[2, i] = lagged_speed(speed, wanted, h, c)
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
