# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The ground: springs, dampers, friction with anchors, and crashes; compiled parts of `kernel`."""

import math

from aerotwin_core.kernel_cache import njit
from aerotwin_multirotor_dynamics import layout as at
from aerotwin_multirotor_dynamics.aerodynamics import (
    LEAN,
    height_above_ground,
    part,
    rotation_from_quaternion,
    to_body,
    to_map,
)

CLEARANCE = 0.01
"""Room beyond what the speed covers in a step before the ground counts as out of reach [m]."""


@part
def is_clear_of_ground(state, c, u, dt):
    """Return whether no contact point can reach the ground within dt."""
    height = height_above_ground(state[0], state[1], state[2], u)
    vx, vy, vz = state[7], state[8], state[9]
    way = math.sqrt(vx * vx + vy * vy + vz * vz) * dt
    return height > c.reach_m + way + CLEARANCE


@part
def forget_contacts(state, c):
    """Release every anchor."""
    state[at.N_CONTACTS] = 0.0
    for k in range(at.N_HEAD + 2 * c.n_rotors, state.shape[0], 4):
        state[k] = 0.0


@part
def point_in_map(y, R, x, y_, z):
    """Return position and velocity in map of a point fixed in the body."""
    rx, ry, rz = to_map(R, x, y_, z)
    p, q, r = y[10], y[11], y[12]
    vx, vy, vz = to_map(R, q * z - r * y_, r * x - p * z, p * y_ - q * x)
    return y[0] + rx, y[1] + ry, y[2] + rz, y[7] + vx, y[8] + vy, y[9] + vz


@part
def tangential_pull(px, py, pz, vx, vy, vz, state, k, c, u):
    """Return the force of spring and damper along the ground at one point, before friction."""
    nx, ny, nz = u[at.GROUND_NORMAL], u[at.GROUND_NORMAL + 1], u[at.GROUND_NORMAL + 2]
    vn = vx * nx + vy * ny + vz * nz
    tx, ty, tz = vx - vn * nx, vy - vn * ny, vz - vn * nz
    damping, stiffness = c.tangential_damping_n_s_per_m, c.tangential_stiffness_n_per_m
    tx, ty, tz = -damping * tx, -damping * ty, -damping * tz
    if state[k] > 0.0:
        sx, sy, sz = px - state[k + 1], py - state[k + 2], pz - state[k + 3]
        sn = sx * nx + sy * ny + sz * nz
        tx -= stiffness * (sx - sn * nx)
        ty -= stiffness * (sy - sn * ny)
        tz -= stiffness * (sz - sn * nz)
    return tx, ty, tz


@part
def normal_push(depth, vx, vy, vz, c, u):
    """Return the ground's push on a point; the damper fades in with depth, it never pulls."""
    n = at.GROUND_NORMAL
    vn = vx * u[n] + vy * u[n + 1] + vz * u[n + 2]
    fade = min(1.0, depth * c.per_damping_depth_1_m)
    return max(0.0, c.normal_stiffness_n_per_m * depth - c.normal_damping_n_s_per_m * fade * vn)


@njit(**LEAN)
def ground_wrench(y, R, state, c, u):
    """Return contact force in map axes and contact moment in body axes."""
    fx, fy, fz, mx, my, mz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    centre_height = height_above_ground(y[0], y[1], y[2], u)
    if centre_height > c.reach_m:
        return fx, fy, fz, mx, my, mz
    nx, ny, nz = u[at.GROUND_NORMAL], u[at.GROUND_NORMAL + 1], u[at.GROUND_NORMAL + 2]
    ux, uy, uz = to_body(R, nx, ny, nz)
    for i in range(c.n_points):
        k = at.N_HEAD + 2 * c.n_rotors + 4 * i
        bx, by, bz = c.points_m[i, 0], c.points_m[i, 1], c.points_m[i, 2]
        depth = -(centre_height + ux * bx + uy * by + uz * bz)
        if depth <= 0.0:
            continue
        px, py, pz, vx, vy, vz = point_in_map(y, R, bx, by, bz)
        push = normal_push(depth, vx, vy, vz, c, u)
        tx, ty, tz = tangential_pull(px, py, pz, vx, vy, vz, state, k, c, u)
        pull = math.sqrt(tx * tx + ty * ty + tz * tz)
        hold = c.friction * push
        scale = hold / pull if pull > hold else 1.0
        gx, gy, gz = push * nx + scale * tx, push * ny + scale * ty, push * nz + scale * tz
        fx, fy, fz = fx + gx, fy + gy, fz + gz
        ex, ey, ez = to_body(R, gx, gy, gz)
        mx, my, mz = mx + by * ez - bz * ey, my + bz * ex - bx * ez, mz + bx * ey - by * ex
    return fx, fy, fz, mx, my, mz


@njit(**LEAN)
def settle_contacts(y, before, state, c, u):
    """Record what touches, sticks, slips, leaves or crashes between the states before and y."""
    state[at.N_CONTACTS] = 0.0
    if height_above_ground(y[0], y[1], y[2], u) > c.reach_m:
        forget_contacts(state, c)
        return
    R = rotation_from_quaternion(y[3], y[4], y[5], y[6])
    nx, ny, nz = u[at.GROUND_NORMAL], u[at.GROUND_NORMAL + 1], u[at.GROUND_NORMAL + 2]
    upright = R[2] * nx + R[5] * ny + R[8] * nz
    for i in range(c.n_points):
        k = at.N_HEAD + 2 * c.n_rotors + 4 * i
        ax, ay, az = c.points_m[i, 0], c.points_m[i, 1], c.points_m[i, 2]
        px, py, pz, vx, vy, vz = point_in_map(y, R, ax, ay, az)
        depth = -height_above_ground(px, py, pz, u)
        if depth <= 0.0:
            state[k] = 0.0
            continue
        state[at.N_CONTACTS] += 1.0
        if state[k] <= 0.0:
            R_before = rotation_from_quaternion(before[3], before[4], before[5], before[6])
            _, _, _, bx, by, bz = point_in_map(before, R_before, ax, ay, az)
            state[at.IMPACT_SPEED] = max(0.0, -(bx * nx + by * ny + bz * nz))
            state[k], state[k + 1], state[k + 2], state[k + 3] = 1.0, px, py, pz
        crashed = state[at.IMPACT_SPEED] > c.crash_speed_m_s or upright < c.crash_cos_tilt
        if crashed or i >= c.n_feet:
            state[at.IS_CRASHED] = 1.0
        slip(px, py, pz, vx, vy, vz, depth, state, k, c, u)


@njit(**LEAN)
def slip(px, py, pz, vx, vy, vz, depth, state, k, c, u):
    """Drag the anchor along when the pull exceeds friction."""
    hold = c.friction * normal_push(depth, vx, vy, vz, c, u)
    tx, ty, tz = tangential_pull(px, py, pz, vx, vy, vz, state, k, c, u)
    if tx * tx + ty * ty + tz * tz <= hold * hold or c.tangential_stiffness_n_per_m <= 0.0:
        return
    sx, sy, sz = px - state[k + 1], py - state[k + 2], pz - state[k + 3]
    stretch = math.sqrt(sx * sx + sy * sy + sz * sz)
    longest = hold / c.tangential_stiffness_n_per_m
    if stretch > longest:
        keep = longest / stretch
        state[k + 1], state[k + 2], state[k + 3] = px - keep * sx, py - keep * sy, pz - keep * sz
