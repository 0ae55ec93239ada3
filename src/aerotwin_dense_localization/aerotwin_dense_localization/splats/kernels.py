# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled parts of the splat rasteriser: projection, the nearest surface, and the weighted mean.

Each function works on a range of splats, or on a band of rows of its own: images have the same
bytes for any number of threads.
"""

import math

import numpy as np
from numba import float64

from aerotwin_core.kernel_cache import njit

F = np.float32
CORE = F(2.25)
"""Radial distance within which a splat hides what is behind: 1.5 sigma. With the low-pass of a
pixel this always takes in the nearest pixel centre."""
_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy"}


@njit(inline="always", **_OPTIONS)
def _spread_along(covariances, i, x, y, z):
    """Return the product of a covariance with a vector."""
    xy, xz, yz = covariances[i, 1], covariances[i, 2], covariances[i, 4]
    return (
        covariances[i, 0] * x + xy * y + xz * z,
        xy * x + covariances[i, 3] * y + yz * z,
        xz * x + yz * y + covariances[i, 5] * z,
    )


@njit(
    "void(i8, i8, f4[:, ::1], f4[:, ::1], f8[:, ::1], f8[:, ::1], f4[:, :, :, ::1], f8[::1], f8, "
    "f8, f8, f8, f4[:, ::1])",
    **_OPTIONS,
)
def project_splats(
    start, stop, points, covariances, T, pixels, lens, centre, near, deepest, low_pass, cutoff,
    record,
):  # fmt: skip
    """Project splats, eq. (1): T (3, 4) maps them to the optical frame.

    `pixels` are the projections of their centres and `lens` the derivative of the pixel by x/z and
    y/z at every pixel; a camera without distortion has no `pixels`, a single derivative, and
    `centre` is its principal point. A record is u v z, the conic Q (uu, uv, vv), the slope of depth
    along u and v, the variance of depth at a pixel, and the reach in v; a reach of -1: not visible.
    """
    rows, columns = lens.shape[0], lens.shape[1]
    for i in range(start, stop):
        record[i, 9] = F(-1.0)
        a, b, c = float64(points[i, 0]), float64(points[i, 1]), float64(points[i, 2])
        z = T[2, 0] * a + T[2, 1] * b + T[2, 2] * c + T[2, 3]
        if not z >= near:
            continue
        sx, sy, sz = _spread_along(covariances, i, T[2, 0], T[2, 1], T[2, 2])
        deep = T[2, 0] * sx + T[2, 1] * sy + T[2, 2] * sz
        if not deep <= (deepest * z) ** 2:
            continue  # what reaches towards the eye has no linear image
        x = (T[0, 0] * a + T[0, 1] * b + T[0, 2] * c + T[0, 3]) / z
        y = (T[1, 0] * a + T[1, 1] * b + T[1, 2] * c + T[1, 3]) / z
        if len(pixels):
            u, v = pixels[i, 0], pixels[i, 1]
            if not (math.isfinite(u) and math.isfinite(v)):
                continue
        else:
            u = lens[0, 0, 0, 0] * x + lens[0, 0, 0, 1] * y + centre[0]
            v = lens[0, 0, 1, 0] * x + lens[0, 0, 1, 1] * y + centre[1]
        row = min(max(round(v), 0), rows - 1)
        column = min(max(round(u), 0), columns - 1)
        luu, luv = float64(lens[row, column, 0, 0]), float64(lens[row, column, 0, 1])
        lvu, lvv = float64(lens[row, column, 1, 0]), float64(lens[row, column, 1, 1])
        # Rows of J W: how the pixel moves with the point in the frame of the cloud.
        ux = (luu * (T[0, 0] - x * T[2, 0]) + luv * (T[1, 0] - y * T[2, 0])) / z
        uy = (luu * (T[0, 1] - x * T[2, 1]) + luv * (T[1, 1] - y * T[2, 1])) / z
        uz = (luu * (T[0, 2] - x * T[2, 2]) + luv * (T[1, 2] - y * T[2, 2])) / z
        vx = (lvu * (T[0, 0] - x * T[2, 0]) + lvv * (T[1, 0] - y * T[2, 0])) / z
        vy = (lvu * (T[0, 1] - x * T[2, 1]) + lvv * (T[1, 1] - y * T[2, 1])) / z
        vz = (lvu * (T[0, 2] - x * T[2, 2]) + lvv * (T[1, 2] - y * T[2, 2])) / z
        px, py, pz = _spread_along(covariances, i, ux, uy, uz)
        qx, qy, qz = _spread_along(covariances, i, vx, vy, vz)
        uu = ux * px + uy * py + uz * pz + low_pass
        uv = ux * qx + uy * qy + uz * qz
        vv = vx * qx + vy * qy + vz * qz + low_pass
        determinant = uu * vv - uv * uv
        if not determinant > 0.0:
            continue
        reach_u, reach_v = math.sqrt(cutoff * uu), math.sqrt(cutoff * vv)
        if u + reach_u < 0.0 or v + reach_v < 0.0:
            continue
        zu = T[2, 0] * px + T[2, 1] * py + T[2, 2] * pz
        zv = T[2, 0] * qx + T[2, 1] * qy + T[2, 2] * qz
        slope_u = (zu * vv - zv * uv) / determinant
        slope_v = (zv * uu - zu * uv) / determinant
        variance = deep - zu * slope_u - zv * slope_v
        record[i, 0], record[i, 1], record[i, 2] = u, v, z
        record[i, 3], record[i, 4] = vv / determinant, -uv / determinant
        record[i, 5] = uu / determinant
        record[i, 6], record[i, 7], record[i, 8] = slope_u, slope_v, max(variance, 0.0)
        record[i, 9] = reach_v


@njit(inline="always", **_OPTIONS)
def _columns_of(record, row, limit, width):
    """Return the first and last column of an ellipse in a row; last before first: none."""
    dv = F(row) - record[1]
    across = record[4] * dv
    rest = across * across - record[3] * (record[5] * dv * dv - limit)
    if rest < F(0.0):
        return 0, -1
    half = math.sqrt(rest)
    first = math.ceil(record[0] + (-across - half) / record[3])
    last = math.floor(record[0] + (-across + half) / record[3])
    return max(int(first), 0), min(int(last), width - 1)


@njit("void(i8, i8, f4[:, ::1], f8, f4[:, ::1])", fastmath={"contract"}, **_OPTIONS)
def find_front(top, bottom, record, cutoff, front):
    """Write the depth of the nearest surface into the rows of a band; infinite where none is."""
    width = front.shape[1]
    for row in range(top, bottom):
        for column in range(width):
            front[row, column] = F(np.inf)
    share = F(math.sqrt(min(float64(CORE) / cutoff, 1.0)))
    limit = F(min(float64(CORE), cutoff))
    for i in range(len(record)):
        v, reach = record[i, 1], record[i, 9] * share
        if reach < F(0.0) or v + reach < F(top) or v - reach > F(bottom - 1):
            continue
        first_row, last_row = math.ceil(v - reach), math.floor(v + reach)
        for row in range(max(first_row, top), min(last_row, bottom - 1) + 1):
            first, last = _columns_of(record[i], row, limit, width)
            depth = record[i, 2] + record[i, 7] * (F(row) - v)
            for column in range(first, last + 1):
                z = depth + record[i, 6] * (F(column) - record[i, 0])
                if z < front[row, column]:
                    front[row, column] = z


@njit(
    "void(i8, i8, f4[:, ::1], f4[:, ::1], f4[::1], f8, f8, f8, f4[:, ::1], f4[:, :, ::1])",
    fastmath={"contract"},
    **_OPTIONS,
)
def sum_splats(top, bottom, record, colours, table, cutoff, front_m, front_sigmas, front, sums):
    """Sum the splats of the nearest surface into a band of rows, numerator and divisor of eq. (3).

    `front` is what `find_front` wrote. The sums of a pixel are those of weight, of weighted depth
    and squared depth behind the front, and of weighted colours.
    """
    width, n_channels = front.shape[1], colours.shape[1]
    sums[top:bottom] = F(0.0)
    limit, scale, last_entry = F(cutoff), F((len(table) - 1) / cutoff), len(table) - 1
    for i in range(len(record)):
        u, v, reach = record[i, 0], record[i, 1], record[i, 9]
        if reach < F(0.0) or v + reach < F(top) or v - reach > F(bottom - 1):
            continue
        own, slope = record[i, 8], record[i, 6]
        behind = F(front_m) + F(front_sigmas) * math.sqrt(own)
        first_row, last_row = math.ceil(v - reach), math.floor(v + reach)
        for row in range(max(first_row, top), min(last_row, bottom - 1) + 1):
            first, last = _columns_of(record[i], row, limit, width)
            dv = F(row) - v
            z_row = record[i, 2] + record[i, 7] * dv
            r_row, r_cross = record[i, 5] * dv * dv, F(2.0) * record[i, 4] * dv
            for column in range(first, last + 1):
                du = F(column) - u
                z = z_row + slope * du
                if front[row, column] == F(np.inf):
                    front[row, column] = z  # a gap that only fringes reach
                beyond = z - front[row, column]
                if beyond > behind:
                    continue
                r = r_row + du * (r_cross + record[i, 3] * du)
                w = table[min(int(r * scale + F(0.5)), last_entry)]
                pixel = sums[row, column]
                pixel[0] += w
                pixel[1] += w * beyond
                pixel[2] += w * (own + beyond * beyond)
                for channel in range(n_channels):
                    pixel[3 + channel] += w * colours[i, channel]


@njit(
    "void(i8, i8, f4[:, :, ::1], f8, f4[:, ::1], f4[:, :, ::1], f4[:, ::1], f4[:, ::1], "
    "f4[:, ::1])",
    **_OPTIONS,
)
def divide_sums(top, bottom, sums, min_weight, front, image, depth, weight, variance):
    """Write eq. (3), depth and its variance of a band; NaN and a weight of 0 where nothing is."""
    for row in range(top, bottom):
        for column in range(front.shape[1]):
            pixel = sums[row, column]
            total = pixel[0]
            if not total > F(min_weight):
                weight[row, column] = F(0.0)
                depth[row, column], variance[row, column] = F(np.nan), F(np.nan)
                image[row, column, :] = F(np.nan)
                continue
            mean = pixel[1] / total
            weight[row, column] = total
            depth[row, column] = front[row, column] + mean
            variance[row, column] = max(pixel[2] / total - mean * mean, F(0.0))
            for channel in range(image.shape[2]):
                image[row, column, channel] = pixel[3 + channel] / total
