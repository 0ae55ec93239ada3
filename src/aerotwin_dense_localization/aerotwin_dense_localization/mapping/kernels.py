# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled parts of the map: pixel classes of a key-frame, point updates, splats from pixels."""

import math

import numpy as np
from numba import float64

from aerotwin_core.kernel_cache import njit

F = np.float32
UNKNOWN, AGREES, NEW, FINER, REVEALED, SPURIOUS = range(6)
"""Class of a pixel of a key-frame relative to the map: without depth; known; not
known; known, seen finer; another object than before; a wrong depth."""
_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy"}


@njit(
    "void(i8, i8, f4[:, ::1], f4[:, ::1], f4[:, :, ::1], f4[:, ::1], f4[:, ::1], f4[:, ::1], "
    "f4[:, :, ::1], f8, f8, f8, f8, f8, f8, u1[:, ::1])",
    **_OPTIONS,
)
def classify_pixels(
    top, bottom, depth, variance, colour, map_depth, map_variance, map_weight, map_colour,
    focal_px, gate, slack, finer, alike, min_weight, kind,
):  # fmt: skip
    """Write the class of each pixel of a key-frame relative to the map.

    `map_colour` has one channel more than `colour`: the size on the surface of the pixel that a
    splat came from [m]. `gate` is in standard deviations, `slack` a share of the depth, `alike` the
    colour difference below which two pixels show the same object [DN].
    """
    n_channels = colour.shape[2]
    for row in range(top, bottom):
        for column in range(depth.shape[1]):
            z = depth[row, column]
            if not z > F(0.0):
                kind[row, column] = UNKNOWN
                continue
            known = map_depth[row, column]
            if not map_weight[row, column] > F(min_weight) or math.isnan(known):
                kind[row, column] = NEW
                continue
            spread = math.sqrt(variance[row, column] + map_variance[row, column])
            if abs(z - known) <= gate * spread + slack * z:
                is_finer = z / focal_px < finer * map_colour[row, column, n_channels]
                kind[row, column] = FINER if is_finer else AGREES
                continue
            squares = F(0.0)
            for channel in range(n_channels):
                step = colour[row, column, channel] - map_colour[row, column, channel]
                squares += step * step
            # Alike to the eye, elsewhere in space: the depth is wrong. Different in both: new.
            is_alike = squares <= F(alike * alike) * F(n_channels)
            kind[row, column] = SPURIOUS if is_alike else REVEALED


@njit(
    "void(i8, i8, f4[:, ::1], f4[::1], f4[::1], f4[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1], "
    "f4[:, ::1], f4[:, ::1], f4[:, :, ::1], u1[:, ::1], f8, f8, u1[::1])",
    **_OPTIONS,
)
def learn_points(
    start, stop, rays, depth, variance, colours, n_seen, T, K, key_depth, key_variance,
    key_colour, kind, gate, slack, is_retained,
):  # fmt: skip
    """Update the points of a surface with a key-frame, and mark those that it replaces.

    A point lies at depth times ray (x/z, y/z) in its surface's frame; T (3, 4) maps that to the
    key-frame's. Where the key-frame agrees, the depth moves along the point's own ray to the mean
    weighted by certainty, and the colours to the mean weighted by their number.
    """
    height, width = kind.shape
    for i in range(start, stop):
        a, b, z = float64(rays[i, 0]), float64(rays[i, 1]), float64(depth[i])
        # The ray's direction in the key-frame, and the point.
        dx = T[0, 0] * a + T[0, 1] * b + T[0, 2]
        dy = T[1, 0] * a + T[1, 1] * b + T[1, 2]
        dz = T[2, 0] * a + T[2, 1] * b + T[2, 2]
        seen = dz * z + T[2, 3]
        if not seen > 0.01 or not dz > 0.1:
            continue
        x, y = (dx * z + T[0, 3]) / seen, (dy * z + T[1, 3]) / seen
        u, v = K[0, 0] * x + K[0, 1] * y + K[0, 2], K[1, 1] * y + K[1, 2]
        if not (u > -0.5 and v > -0.5 and u < width - 0.5 and v < height - 0.5):
            continue
        column, row = int(u + 0.5), int(v + 0.5)
        what = kind[row, column]
        if what in (UNKNOWN, SPURIOUS, NEW):
            continue
        measured = float64(key_depth[row, column])
        spread = math.sqrt(key_variance[row, column] + variance[i])
        is_near = abs(measured - seen) <= gate * spread + slack * seen
        if what == REVEALED:
            # What is in front of the new object, or was it at another position, is gone.
            if seen < measured or is_near:
                is_retained[i] = 0
            continue
        if not is_near:
            continue
        if what == FINER:
            is_retained[i] = 0
            continue
        # Along the own ray, the key-frame's depth says z + (measured - seen) / dz.
        reported = key_variance[row, column] / (dz * dz)
        share = variance[i] / (variance[i] + reported)
        depth[i] = F(z + share * (measured - seen) / dz)
        variance[i] = F(variance[i] * reported / (variance[i] + reported))
        n_seen[i] += 1
        for channel in range(colours.shape[1]):
            step = key_colour[row, column, channel] - colours[i, channel]
            colours[i, channel] += step / F(n_seen[i])


@njit(
    "void(i8, i8, f4[:, ::1], f4[::1], f4[::1], f4[:, ::1], f8[:, ::1], f8, f8, f8, f4[:, ::1], "
    "f4[:, ::1])",
    **_OPTIONS,
)
def make_splats(
    start, stop, rays, depth, variance, slopes, T, pixel, size, steepest, points, covariances
):
    """Write the points and covariances of pixels of a surface, moved by T (3, 4).

    The covariance is that of the pixel's patch of surface, with a standard deviation of `size`
    pixels, plus the depth's along its ray. `slopes` are those of the log of the depth per unit of
    x/z and y/z, `pixel` the size of a pixel in these units; patches steeper than `steepest` are
    treated as edges and are round.
    """
    for i in range(start, stop):
        a, b, z = float64(rays[i, 0]), float64(rays[i, 1]), float64(depth[i])
        su, sv = float64(slopes[i, 0]), float64(slopes[i, 1])
        if not su * su + sv * sv <= steepest * steepest:
            su, sv = 0.0, 0.0
        across = size * pixel * z
        # d(z a, z b, z) / d(a, b), and the ray itself for the depth.
        ux, uy, uz = across * (1.0 + a * su), across * b * su, across * su
        vx, vy, vz = across * a * sv, across * (1.0 + b * sv), across * sv
        deep = math.sqrt(variance[i])
        rx, ry, rz = deep * a, deep * b, deep
        for k in range(3):
            points[i, k] = F(z * (T[k, 0] * a + T[k, 1] * b + T[k, 2]) + T[k, 3])
        n = 0
        for j in range(3):
            uj = T[j, 0] * ux + T[j, 1] * uy + T[j, 2] * uz
            vj = T[j, 0] * vx + T[j, 1] * vy + T[j, 2] * vz
            rj = T[j, 0] * rx + T[j, 1] * ry + T[j, 2] * rz
            for k in range(j, 3):
                uk = T[k, 0] * ux + T[k, 1] * uy + T[k, 2] * uz
                vk = T[k, 0] * vx + T[k, 1] * vy + T[k, 2] * vz
                rk = T[k, 0] * rx + T[k, 1] * ry + T[k, 2] * rz
                covariances[i, n] = F(uj * uk + vj * vk + rj * rk)
                n += 1


@njit("void(i8, i8, f4[:, ::1], f8, f8, f4[:, :, ::1])", **_OPTIONS)
def find_slopes(top, bottom, depth, fx, fy, slopes):
    """Write the slopes of the log of the depth per unit of x/z and y/z; 0 by unknown neighbours."""
    height, width = depth.shape
    for row in range(top, bottom):
        for column in range(width):
            slopes[row, column, 0], slopes[row, column, 1] = F(0.0), F(0.0)
            if row < 2 or column < 2 or row >= height - 2 or column >= width - 2:
                continue
            z = depth[row, column]
            across = (depth[row, column + 2] - depth[row, column - 2]) * F(0.25 * fx) / z
            down = (depth[row + 2, column] - depth[row - 2, column]) * F(0.25 * fy) / z
            if across == across and down == down:
                slopes[row, column, 0], slopes[row, column, 1] = across, down
