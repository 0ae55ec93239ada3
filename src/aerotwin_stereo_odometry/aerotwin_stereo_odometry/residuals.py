# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Stereo reprojection: residual, Jacobians and robust weight, shared by pose and bundle kernels.

A point is projected to (u, v, disparity) = (fx x/z + cx, fy y/z + cy, fx b / z). Poses move by a
left increment (translation, rotation vector) in the camera frame: x' = exp(increment) x.
"""

import numpy as np

from aerotwin_core.kernel_cache import njit

MIN_DEPTH_M = 0.05  # points nearer to the camera plane are not projected


@njit(cache=True, error_model="numpy")
def move_pose(T_cam_odom, increments, first, moved):
    """Write the pose after a left increment (translation, rotation vector) in the camera.

    `increments[first:first + 6]` is the increment [m, rad]. The last row of `moved` stays
    unchanged.

    Rodrigues: R = I + sin(a)/a [w] + (1 - cos(a))/a^2 [w]^2 with a = |w|.
    """
    x, y, z = increments[first + 3], increments[first + 4], increments[first + 5]
    angle2 = x * x + y * y + z * z
    if angle2 < 1e-12:
        a = 1.0 - angle2 / 6.0
        b = 0.5 - angle2 / 24.0
    else:
        angle = np.sqrt(angle2)
        a = np.sin(angle) / angle
        b = (1.0 - np.cos(angle)) / angle2
    xx, yy, zz = b * x * x, b * y * y, b * z * z
    xy, xz, yz = b * x * y, b * x * z, b * y * z
    ax, ay, az = a * x, a * y, a * z
    for j in range(4):
        p, q, r = T_cam_odom[0, j], T_cam_odom[1, j], T_cam_odom[2, j]
        moved[0, j] = (1.0 - yy - zz) * p + (xy - az) * q + (xz + ay) * r
        moved[1, j] = (xy + az) * p + (1.0 - xx - zz) * q + (yz - ax) * r
        moved[2, j] = (xz - ay) * p + (yz + ax) * q + (1.0 - xx - yy) * r
    for i in range(3):
        moved[i, 3] += increments[first + i]


@njit(cache=True, error_model="numpy")
def stereo_residual(T_cam_odom, point, measured, weights, camera, r, Jc, Jp):
    """Write the whitened residual (3) and its Jacobians by pose (3x6) and point (3x3).

    `T_cam_odom` (4, 4), `point` (3,): pose of odom in the camera, and point in odom [m]. `measured`
    (3,): u, v, disparity [px]. `weights` (4,): upper triangle of the square-root information of
    (u, v), then 1/std of the disparity, zero if there is none [1/px]. `camera` (5,): fx, fy, cx,
    cy [px], baseline [m]. Returns False if the point lies behind the camera; the outputs are not
    written then.
    """
    x = T_cam_odom[0, 3]
    y = T_cam_odom[1, 3]
    z = T_cam_odom[2, 3]
    for k in range(3):
        x += T_cam_odom[0, k] * point[k]
        y += T_cam_odom[1, k] * point[k]
        z += T_cam_odom[2, k] * point[k]
    if not z > MIN_DEPTH_M:
        return False
    fx, fy, cx, cy, baseline = camera[0], camera[1], camera[2], camera[3], camera[4]
    inverse = 1.0 / z
    eu = fx * x * inverse + cx - measured[0]
    ev = fy * y * inverse + cy - measured[1]
    w00, w01, w11, wd = weights[0], weights[1], weights[2], weights[3]
    r[0] = w00 * eu + w01 * ev
    r[1] = w11 * ev
    r[2] = wd * (fx * baseline * inverse - measured[2]) if wd > 0.0 else 0.0
    # rows of d(u, v, disparity)/d(x, y, z), whitened
    a00 = w00 * fx * inverse
    a01 = w01 * fy * inverse
    a02 = -(w00 * fx * x + w01 * fy * y) * inverse * inverse
    a11 = w11 * fy * inverse
    a12 = -w11 * fy * y * inverse * inverse
    a22 = -wd * fx * baseline * inverse * inverse
    # d(point in camera)/d(increment) = [I, -[x]]
    Jc[0, 0], Jc[0, 1], Jc[0, 2] = a00, a01, a02
    Jc[1, 0], Jc[1, 1], Jc[1, 2] = 0.0, a11, a12
    Jc[2, 0], Jc[2, 1], Jc[2, 2] = 0.0, 0.0, a22
    for k in range(3):
        Jc[k, 3] = -z * Jc[k, 1] + y * Jc[k, 2]
        Jc[k, 4] = z * Jc[k, 0] - x * Jc[k, 2]
        Jc[k, 5] = -y * Jc[k, 0] + x * Jc[k, 1]
        for j in range(3):
            Jp[k, j] = (
                Jc[k, 0] * T_cam_odom[0, j]
                + Jc[k, 1] * T_cam_odom[1, j]
                + Jc[k, 2] * T_cam_odom[2, j]
            )
    return True


@njit(cache=True, error_model="numpy")
def robust(squared, threshold):
    """Return Huber's cost and weight of a squared whitened residual."""
    if squared <= threshold * threshold:
        return squared, 1.0
    length = np.sqrt(squared)
    return 2.0 * threshold * length - threshold * threshold, threshold / length
