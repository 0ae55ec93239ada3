# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled quaternion algebra on scalar-last (xyzw) quaternions, for the filter and the controller.

Arguments and results are tuples in registers, so a 250 Hz step allocates nothing.
"""

import math

from aerotwin_core.kernel_cache import njit


@njit("UniTuple(f8,9)(f8,f8,f8,f8)", cache=True)
def rotation_entries(x, y, z, w):
    """Return the nine entries (row by row) of the rotation matrix of a unit quaternion."""
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - z * w),
        2.0 * (x * z + y * w),
        2.0 * (x * y + z * w),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - x * w),
        2.0 * (x * z - y * w),
        2.0 * (y * z + x * w),
        1.0 - 2.0 * (x * x + y * y),
    )


@njit("UniTuple(f8,4)(f8,f8,f8,f8,f8,f8,f8,f8)", cache=True)
def quaternion_product(ax, ay, az, aw, bx, by, bz, bw):
    """Return the Hamilton product a*b (first b, then a, as rotation matrices)."""
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@njit("UniTuple(f8,4)(f8,f8,f8)", cache=True)
def quaternion_from_rotation_vector(rx, ry, rz):
    """Return the quaternion of a rotation vector [rad]."""
    angle2 = rx * rx + ry * ry + rz * rz
    if angle2 < 1e-8:  # third-order series: exact to double precision below 1e-4 rad
        scale = 0.5 - angle2 / 48.0
        return (rx * scale, ry * scale, rz * scale, 1.0 - angle2 / 8.0)
    angle = math.sqrt(angle2)
    scale = math.sin(0.5 * angle) / angle
    return (rx * scale, ry * scale, rz * scale, math.cos(0.5 * angle))


@njit("UniTuple(f8,4)(f8,f8,f8,f8)", cache=True)
def normalised(x, y, z, w):
    """Return the unit quaternion along (x, y, z, w)."""
    scale = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    return (x * scale, y * scale, z * scale, w * scale)
