# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops of the coarse alignment: a field around points, and sums over moved clouds.

A field is uint8 with axes (z, y, x): 0 far from every point, 255 on one.
"""

import numpy as np

from aerotwin_core.kernel_cache import njit

_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy"}


@njit("void(f8[:, ::1], f8[::1], f8, f8, u1[:, :, ::1])", **_OPTIONS)
def splat(points, origin, cell, sigma, field):
    """Raise the field (node 0 at `origin`) to 255 exp(-d^2 / (2 sigma^2)) about points."""
    reach = int(np.ceil(2.0 * sigma / cell))
    for i in range(len(points)):
        u = (points[i] - origin) / cell
        x0, y0, z0 = int(np.rint(u[0])), int(np.rint(u[1])), int(np.rint(u[2]))
        for z in range(max(z0 - reach, 0), min(z0 + reach + 1, field.shape[0])):
            for y in range(max(y0 - reach, 0), min(y0 + reach + 1, field.shape[1])):
                for x in range(max(x0 - reach, 0), min(x0 + reach + 1, field.shape[2])):
                    d2 = ((u[0] - x) ** 2 + (u[1] - y) ** 2 + (u[2] - z) ** 2) * cell * cell
                    if d2 <= 4.0 * sigma * sigma:
                        value = np.uint8(255.0 * np.exp(-0.5 * d2 / (sigma * sigma)))
                        if value > field[z, y, x]:
                            field[z, y, x] = value


@njit("void(i4[:, ::1], u1[:, :, ::1], i4[:, :, ::1])", **_OPTIONS)
def correlate(nodes, field, sums):
    """Add up the field over a cloud at every shift of a window.

    `nodes` (n, 3) are x, y, z of the cloud's points in the field at the window's first shift,
    possibly outside; `sums` (z, y, x) has one element for each shift, in nodes.
    """
    nz, ny, nx = field.shape
    for i in range(len(nodes)):
        x, y, z = nodes[i, 0], nodes[i, 1], nodes[i, 2]
        first, last = max(0, -x), min(sums.shape[2], nx - x)
        if last <= first:
            continue
        for dz in range(max(0, -z), min(sums.shape[0], nz - z)):
            for dy in range(max(0, -y), min(sums.shape[1], ny - y)):
                out = sums[dz, dy, first:last]
                row = field[z + dz, y + dy, x + first : x + last]
                for k in range(len(out)):
                    out[k] += row[k]


@njit("f8(u1[:, :, ::1], f8, f8, f8)", inline="always", **_OPTIONS)
def _sample(field, x, y, z):
    """Return the field between nodes, linear in each axis; 0 outside."""
    nz, ny, nx = field.shape
    if not (0.0 <= x < nx - 1 and 0.0 <= y < ny - 1 and 0.0 <= z < nz - 1):
        return 0.0
    i, j, k = int(x), int(y), int(z)
    u, v, w = x - i, y - j, z - k
    low = (1.0 - v) * ((1.0 - u) * field[k, j, i] + u * field[k, j, i + 1])
    low += v * ((1.0 - u) * field[k, j + 1, i] + u * field[k, j + 1, i + 1])
    high = (1.0 - v) * ((1.0 - u) * field[k + 1, j, i] + u * field[k + 1, j, i + 1])
    high += v * ((1.0 - u) * field[k + 1, j + 1, i] + u * field[k + 1, j + 1, i + 1])
    return (1.0 - w) * low + w * high


@njit("f8(f8[:, ::1], f8[::1], u1[:, :, ::1])", **_OPTIONS)
def score(points, pose, field):
    """Return the mean of the field, 0 to 1, over points moved by a pose (5,), all in nodes."""
    total = 0.0
    c, s = pose[4] * np.cos(pose[3]), pose[4] * np.sin(pose[3])
    for i in range(len(points)):
        x = c * points[i, 0] - s * points[i, 1] + pose[0]
        y = s * points[i, 0] + c * points[i, 1] + pose[1]
        total += _sample(field, x, y, pose[4] * points[i, 2] + pose[2])
    return total / (255.0 * len(points))


@njit("f8[::1](f8[:, ::1], f8[::1], u1[:, :, ::1])", **_OPTIONS)
def scores(points, pose, field):
    """Return the field, 0 to 1, at each point; arguments as those of `score`."""
    values = np.empty(len(points))
    for i in range(len(points)):
        values[i] = score(points[i : i + 1], pose, field)
    return values


@njit("void(f8[:, ::1], f8[:, ::1], f8[::1], i8, u1[:, :, ::1])", **_OPTIONS)
def climb(points, poses, steps, n_halvings, field):
    """Move each pose (x, y, z, yaw, scale) uphill, in place: pattern search with halved steps.

    The step of the scale is one of its logarithm: halves and doubles are equally far. It moves by
    two first steps at most: a cloud that shrinks to a point fits well anywhere.
    """
    for k in range(len(poses)):
        pose, step = poses[k].copy(), steps.copy()
        best = score(points, pose, field)
        for _ in range(n_halvings):
            has_moved = True
            while has_moved:
                has_moved = False
                for axis in range(5):
                    for sign in (-1.0, 1.0):
                        if step[axis] == 0.0:
                            continue
                        trial = pose.copy()
                        if axis == 4:
                            trial[axis] *= np.exp(sign * step[axis])
                            if abs(np.log(trial[axis] / poses[k, axis])) > 2.0 * steps[axis]:
                                continue
                        else:
                            trial[axis] += sign * step[axis]
                        value = score(points, trial, field)
                        if value > best:
                            best, pose, has_moved = value, trial, True
            step *= 0.5
        poses[k] = pose
