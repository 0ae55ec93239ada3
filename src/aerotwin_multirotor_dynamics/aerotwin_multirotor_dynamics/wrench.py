# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Forces and moments on a multirotor: rotors and body in moving air, and ground contact."""

import math

from numba import njit

from aerotwin_multirotor_dynamics import layout as at


@njit(cache=True)
def rotation_from_quaternion(x, y, z, w):
    """Return R_map_body row by row as nine numbers."""
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w),
        2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w),
        2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y),
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
    """Return the ground's push on a point; the damper fades in with depth, the ground never pulls."""
    n = at.GROUND_NORMAL
    vn = vx * u[n] + vy * u[n + 1] + vz * u[n + 2]
    fade = min(1.0, depth * c[at.PER_DAMPING_DEPTH])
    return max(0.0, c[at.K_NORMAL] * depth - c[at.D_NORMAL] * fade * vn)


@njit(cache=True)
def ground_wrench(y, R, state, c, u):
    """Return contact force in map axes and contact moment in body axes."""
    fx, fy, fz, mx, my, mz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if depth_below_ground(y[0], y[1], y[2], u) < -c[at.REACH]:
        return fx, fy, fz, mx, my, mz
    nx, ny, nz = u[at.GROUND_NORMAL], u[at.GROUND_NORMAL + 1], u[at.GROUND_NORMAL + 2]
    n_rotors = int(c[at.N_ROTORS])
    for i in range(int(c[at.N_POINTS])):
        j, k = at.ROTORS + 4 * n_rotors + 3 * i, at.N_HEAD + n_rotors + 4 * i
        bx, by, bz = c[j], c[j + 1], c[j + 2]
        px, py, pz, vx, vy, vz = point_in_map(y, R, bx, by, bz)
        depth = depth_below_ground(px, py, pz, u)
        if depth <= 0.0:
            continue
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
