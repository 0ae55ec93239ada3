# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled parts of direct alignment: pyramids, pixel selection, residuals, normal equations.

Images are float32, (0, 0) is the centre of the upper left pixel, NaN is unknown.
"""

import math

import numpy as np
from numba import float64

from aerotwin_core.kernel_cache import njit

F = np.float32
N_UNKNOWNS = 8  # six of the motion, gain and offset
_RUN = 256
_LEAST_KNOWN = 2
"""Of four pixels that become one: views of a map have holes, which would eat the small images."""
_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy"}


@njit(inline="always", **_OPTIONS)
def _known(a, b, d, e):
    """Return the mean and the spread of the known values; NaN where there are too few."""
    total, n, low, high = F(0.0), 0, F(np.inf), F(-np.inf)
    for value in (a, b, d, e):
        if value == value:
            total += value
            n += 1
            low, high = min(low, value), max(high, value)
    return (total / F(n) if n >= _LEAST_KNOWN else F(np.nan)), high - low


@njit("void(i8, i8, f4[:, ::1], f4[:, ::1])", **_OPTIONS)
def halve(top, bottom, image, half):
    """Write the means of 2 x 2 pixels; NaN where fewer than two of them are known."""
    for row in range(top, bottom):
        for column in range(half.shape[1]):
            r, c = 2 * row, 2 * column
            a, b, d, e = image[r, c], image[r, c + 1], image[r + 1, c], image[r + 1, c + 1]
            mean = F(0.25) * (a + b + d + e)
            half[row, column] = mean if mean == mean else _known(a, b, d, e)[0]


@njit("void(i8, i8, f4[:, ::1], f4, f4[:, ::1])", **_OPTIONS)
def halve_depth(top, bottom, depth, max_step, half):
    """Write the means of 2 x 2 depths, as `halve`; NaN where their relative step is too large."""
    for row in range(top, bottom):
        for column in range(half.shape[1]):
            r, c = 2 * row, 2 * column
            a, b, d, e = depth[r, c], depth[r, c + 1], depth[r + 1, c], depth[r + 1, c + 1]
            mean, spread = _known(a, b, d, e)
            half[row, column] = mean if spread <= max_step * mean else F(np.nan)


@njit(
    "i8(f4[:, ::1], f4[:, ::1], f4[:, ::1], f8[:, ::1], i8, f8, f8, f4[:, ::1], f4[::1], "
    "f4[:, ::1], f4[:, ::1])",
    **_OPTIONS,
)
def select_pixels(
    grey, depth, variance, K, stride, min_gradient, max_sigma, points, values, slopes, normals
):
    """Write the pixels that constrain the motion, and return their number.

    Per pixel: its point in the view's frame (3), its grey value, the derivative of that by
    d = (v, omega) of a point moved to X + v + omega x X (a column of six), and the normal of its
    surface (3).
    """
    height, width = grey.shape
    fx, skew, cx, fy, cy = K[0, 0], K[0, 1], K[0, 2], K[1, 1], K[1, 2]
    n = 0
    for row in range(1, height - 1, stride):
        for column in range(1, width - 1, stride):
            z, value = depth[row, column], grey[row, column]
            du = F(0.5) * (grey[row, column + 1] - grey[row, column - 1])
            dv = F(0.5) * (grey[row + 1, column] - grey[row - 1, column])
            steep = du * du + dv * dv
            if not (z > F(0.0) and value == value and steep >= F(min_gradient * min_gradient)):
                continue
            if not variance[row, column] <= F(max_sigma * max_sigma) * z * z:
                continue
            y = (row - cy) / fy
            x = (column - cx - skew * y) / fx
            a = du * fx / z
            b = (du * skew + dv * fy) / z
            c = -(a * x + b * y)
            px, py, pz = x * z, y * z, float64(z)
            points[n, 0], points[n, 1], points[n, 2] = px, py, pz
            values[n] = value
            slopes[0, n], slopes[1, n], slopes[2, n] = a, b, c
            slopes[3, n] = py * c - pz * b
            slopes[4, n] = pz * a - px * c
            slopes[5, n] = px * b - py * a
            zu = 0.5 * (depth[row, column + 1] - depth[row, column - 1])
            zv = 0.5 * (depth[row + 1, column] - depth[row - 1, column])
            # Of the surface z(u, v): its tangents are dX/du and dX/dv, the normal their product.
            tx, ty, tz = z / fx + x * zu, y * zu, zu
            sx, sy, sz = -skew * z / (fx * fy) + x * zv, z / fy + y * zv, zv
            nx, ny, nz = ty * sz - tz * sy, tz * sx - tx * sz, tx * sy - ty * sx
            length = math.sqrt(nx * nx + ny * ny + nz * nz)
            normals[n, 0], normals[n, 1], normals[n, 2] = nx / length, ny / length, nz / length
            n += 1
    return n


@njit(
    "i8(i8, i8, f4[:, ::1], f4[::1], f8[:, ::1], f8[:, ::1], f4[:, ::1], f8, f8, f4[::1])",
    fastmath={"contract"},
    **_OPTIONS,
)
def find_residuals(start, stop, points, values, T, K, image, gain, offset, residuals):
    """Write image - (gain value + offset) of points from T (3, 4), NaN outside; return how many."""
    height, width = image.shape
    r00, r01, r02, tx = F(T[0, 0]), F(T[0, 1]), F(T[0, 2]), F(T[0, 3])
    r10, r11, r12, ty = F(T[1, 0]), F(T[1, 1]), F(T[1, 2]), F(T[1, 3])
    r20, r21, r22, tz = F(T[2, 0]), F(T[2, 1]), F(T[2, 2]), F(T[2, 3])
    fx, skew, cx, fy, cy = F(K[0, 0]), F(K[0, 1]), F(K[0, 2]), F(K[1, 1]), F(K[1, 2])
    a, b = F(gain), F(offset)
    last_u, last_v = F(width - 1), F(height - 1)
    seen = 0
    for i in range(start, stop):
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        z = r20 * px + r21 * py + r22 * pz + tz
        residuals[i] = F(np.nan)
        if not z > F(1e-3):
            continue
        x = (r00 * px + r01 * py + r02 * pz + tx) / z
        y = (r10 * px + r11 * py + r12 * pz + ty) / z
        u, v = fx * x + skew * y + cx, fy * y + cy
        if not (u >= F(0.0) and v >= F(0.0) and u < last_u and v < last_v):
            continue
        column, row = int(u), int(v)
        p, q = u - F(column), v - F(row)
        top = image[row, column] + p * (image[row, column + 1] - image[row, column])
        low = image[row + 1, column] + p * (image[row + 1, column + 1] - image[row + 1, column])
        sampled = top + q * (low - top)
        if sampled == sampled:
            residuals[i] = sampled - (a * values[i] + b)
            seen += 1
    return seen


@njit(
    "i8(i8, i8, f4[:, ::1], f4[:, ::1], f8[:, ::1], f8[:, ::1], f4[:, ::1], f4[::1])",
    fastmath={"contract"},
    **_OPTIONS,
)
def find_distances(start, stop, points, normals, T, K, depth, residuals):
    """Write the distance of the points' planes to the image's own depth [m]; NaN: not visible.

    With the depth of the nearest pixel, in the frame of the view: n . (X - T^-1 X_image).
    """
    height, width = depth.shape
    seen = 0
    for i in range(start, stop):
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        z = T[2, 0] * px + T[2, 1] * py + T[2, 2] * pz + T[2, 3]
        residuals[i] = F(np.nan)
        if not z > 1e-3:
            continue
        x = (T[0, 0] * px + T[0, 1] * py + T[0, 2] * pz + T[0, 3]) / z
        y = (T[1, 0] * px + T[1, 1] * py + T[1, 2] * pz + T[1, 3]) / z
        u, v = K[0, 0] * x + K[0, 1] * y + K[0, 2], K[1, 1] * y + K[1, 2]
        if not (u > -0.5 and v > -0.5 and u < width - 0.5 and v < height - 0.5):
            continue
        column, row = int(u + 0.5), int(v + 0.5)
        measured = depth[row, column]
        if not measured > F(0.0):
            continue
        y = (row - K[1, 2]) / K[1, 1]
        x = (column - K[0, 2] - K[0, 1] * y) / K[0, 0]
        qx, qy, qz = x * measured - T[0, 3], y * measured - T[1, 3], measured - T[2, 3]
        dx = T[0, 0] * qx + T[1, 0] * qy + T[2, 0] * qz - px
        dy = T[0, 1] * qx + T[1, 1] * qy + T[2, 1] * qz - py
        dz = T[0, 2] * qx + T[1, 2] * qy + T[2, 2] * qz - pz
        off = normals[i, 0] * dx + normals[i, 1] * dy + normals[i, 2] * dz
        if off == off:
            residuals[i] = -off
            seen += 1
    return seen


@njit("f8(f4[::1], i8, f8, f8)", **_OPTIONS)
def student_scale(residuals, stride, nu, sigma):
    """Return the scale of Student's t distribution of residuals, by fixed-point iteration.

    sigma^2 = mean of r^2 (nu + 1) / (nu + r^2 / sigma^2), Kerl et al. (2013), eq. 15; `sigma` is
    the initial value. 0 without residuals.
    """
    square = sigma * sigma
    for _ in range(10):
        total, n = 0.0, 0
        for i in range(0, len(residuals), stride):
            r = residuals[i]
            if r == r:
                total += r * r * (nu + 1.0) / (nu + r * r / square)
                n += 1
        if n == 0:
            return 0.0
        before, square = square, max(total / n, 1e-12)
        if abs(square - before) < 0.01 * before:
            break
    return math.sqrt(square)


@njit(
    "void(i8, i8, f4[:, ::1], f4[::1], f4[::1], f8, f8, f8, b1, f8[:, ::1], f8[::1], f8[::1])",
    fastmath={"contract", "reassoc"},
    **_OPTIONS,
)
def add_grey_equations(
    start, stop, slopes, values, residuals, gain, sigma, nu, is_gain_free, H, g, sums
):
    """Add the weighted normal equations of grey values to H (8, 8), upper half, and g (8).

    `slopes` are rows of six. Pixels are processed in runs that fit the cache, with float32 sums per
    run. `sums` receives the sums for an M-estimator's covariance, with psi = w r / sigma: w, psi^2
    and psi'; and for a correlation: n, the value, the image, their squares and their product.
    """
    rows = np.zeros((N_UNKNOWNS, _RUN), np.float32)
    w, off = np.zeros(_RUN, np.float32), np.zeros(_RUN, np.float32)
    weighted = np.zeros(_RUN, np.float32)
    n_unknowns = N_UNKNOWNS if is_gain_free else 6
    inverse, a = F(1.0 / sigma), F(gain)
    for first in range(start, stop, _RUN):
        n = min(_RUN, stop - first)
        seen = 0
        for i in range(n):
            r = residuals[first + i]
            is_seen = r == r
            off[i] = r if is_seen else F(0.0)
            scaled = off[i] * inverse
            square = scaled * scaled
            weight = F(nu + 1.0) / (F(nu) + square) if is_seen else F(0.0)
            w[i] = weight
            value = values[first + i] if is_seen else F(0.0)
            rows[6, i], rows[7, i] = value, F(1.0)
            image = off[i] + a * value
            sums[0] += weight
            sums[1] += weight * weight * square
            sums[2] += weight * (F(nu) - square) / (F(nu) + square)
            sums[4] += value
            sums[5] += image
            sums[6] += value * value
            sums[7] += image * image
            sums[8] += value * image
            seen += is_seen
        sums[3] += seen
        for j in range(6):
            for i in range(n):
                rows[j, i] = a * slopes[j, first + i]
        for j in range(n_unknowns):
            total = F(0.0)
            for i in range(n):
                weighted[i] = w[i] * rows[j, i]
                total += weighted[i] * off[i]
            g[j] += total
            for k in range(j, n_unknowns):
                total = F(0.0)
                for i in range(n):
                    total += weighted[i] * rows[k, i]
                H[j, k] += total


@njit("void(i8, i8, f4[:, ::1], f4[:, ::1], f4[::1], f8, f8, f8, f8[:, ::1], f8[::1])", **_OPTIONS)
def add_depth_equations(start, stop, points, normals, residuals, sigma, nu, worth, H, g):
    """Add the equations of distances to planes, weighted by `worth`, to H and g."""
    row = np.empty(6)
    for i in range(start, stop):
        r = residuals[i]
        if math.isnan(r):
            continue
        w = worth * (nu + 1.0) / (nu + (r / sigma) ** 2)
        for j in range(3):
            row[j] = normals[i, j]
        row[3] = points[i, 1] * row[2] - points[i, 2] * row[1]
        row[4] = points[i, 2] * row[0] - points[i, 0] * row[2]
        row[5] = points[i, 0] * row[1] - points[i, 1] * row[0]
        for j in range(6):
            g[j] += w * row[j] * r
            for k in range(j, 6):
                H[j, k] += w * row[j] * row[k]
