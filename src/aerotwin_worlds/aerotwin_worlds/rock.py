# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rock: the relief and the colours of the generated cliff's wall.

The wall is a sheet with the coordinates s (along the foot) and t (up the profile), both in metres.
Its rock is bedded: beds of random thickness, cut into blocks by staggered joints, folded gently;
over it lie buttresses and gullies, fractal roughness, stains that run down, and smooth stretches
where the rock is nearly bare of texture.
"""

import math

import numpy as np
from numba import njit

from aerotwin_worlds.noise import (
    bilinear,
    fractal_noise,
    gradient_noise,
    hash_unit,
    smoothstep,
)

# Layers of the coarse grid that the painter reads.
LIGHT, OPENNESS, ROUGHNESS, WARP_S, WARP_T, JOINTS, STAIN = range(7)
N_LAYERS = 7


@njit(nogil=True, cache=True)
def roughness(s, t, seed):
    """Return 1 on broken rock, down to 0.1 on smooth stretches (one of them fixed in place)."""
    edge = 0.35 * fractal_noise(0.35 * s, 0.35 * t, seed + 11, 3)
    fixed = math.hypot((s - 9.0) / 4.5, (t - 10.0) / 5.5) + edge
    patches = gradient_noise(0.11 * s, 0.13 * t, seed + 23) + 0.4 * edge
    smooth = max(1.0 - smoothstep(0.75, 1.05, fixed), smoothstep(0.30, 0.42, patches))
    return 1.0 - 0.9 * smooth


@njit(nogil=True, cache=True)
def joint_pattern(s, t, bed_edges, seed):
    """Return (distance to the nearest joint [m], block hash, bed hash) in the folded rock."""
    bed = np.searchsorted(bed_edges, t) - 1
    bed = min(max(bed, 0), len(bed_edges) - 2)
    thickness = bed_edges[bed + 1] - bed_edges[bed]
    to_bed = min(t - bed_edges[bed], bed_edges[bed + 1] - t)
    width = thickness * (0.9 + 1.6 * hash_unit(bed, 1, seed))
    x = s / width + 17.0 * hash_unit(bed, 2, seed)
    k = math.floor(x)
    left = k + 0.6 * (hash_unit(k, bed, seed + 3) - 0.5)
    right = k + 1 + 0.6 * (hash_unit(k + 1, bed, seed + 3) - 0.5)
    if x < left:
        k, right = k - 1, left
        left = k + 0.6 * (hash_unit(k, bed, seed + 3) - 0.5)
    elif x >= right:
        k, left = k + 1, right
        right = k + 1 + 0.6 * (hash_unit(k + 1, bed, seed + 3) - 0.5)
    to_joint = min(x - left, right - x) * width
    return min(abs(to_bed), to_joint), hash_unit(k, bed, seed + 5), hash_unit(bed, 4, seed)


@njit(nogil=True, cache=True)
def wall_relief(row0, row1, s_m, t_m, bed_edges, seed, relief, layers):
    """Fill the relief [m, outwards] and the coarse layers (but light and openness) of some rows."""
    for i in range(row0, row1):
        t = t_m[i]
        for j in range(len(s_m)):
            s = s_m[j]
            rough = roughness(s, t, seed)
            warp_s = 0.5 * fractal_noise(0.25 * s, 0.25 * t, seed + 31, 3)
            warp_t = 0.06 * s + 0.8 * fractal_noise(0.09 * s, 0.12 * t, seed + 41, 4)
            joints = smoothstep(-0.25, 0.25, gradient_noise(0.16 * s, 0.2 * t, seed + 53)) * rough
            distance, block, bed = joint_pattern(s + warp_s, t + warp_t, bed_edges, seed)
            groove = math.exp(-((distance / 0.09) ** 2))
            r = 2.2 * gradient_noise(0.085 * s, 0.03 * t, seed + 61)
            r += 0.9 * fractal_noise(0.21 * s, 0.13 * t, seed + 71, 2)
            ridge = 1.0 - 2.0 * abs(gradient_noise(0.33 * s + warp_s, 0.2 * t, seed + 83))
            r += rough * (0.35 * ridge + 0.30 * (bed - 0.5))
            r += joints * (0.26 * (block - 0.5) - 0.12 * groove)
            r += (0.10 + 0.55 * rough) * 0.28 * fractal_noise(0.9 * s, 0.9 * t, seed + 97, 4)
            relief[i, j] = r
            layers[ROUGHNESS, i, j] = rough
            layers[WARP_S, i, j], layers[WARP_T, i, j] = warp_s, warp_t
            layers[JOINTS, i, j] = joints
            run = gradient_noise(0.75 * s + 0.3 * warp_s, 0.07 * t, seed + 101)
            run += 0.5 * gradient_noise(2.1 * s, 0.13 * t, seed + 103)
            wide = gradient_noise(0.14 * s, 0.17 * t, seed + 107)
            layers[STAIN, i, j] = smoothstep(0.0, 0.6, run + 0.8 * wide)


@njit(nogil=True, cache=True)
def _fine_relief(s, t, rough, crack, seed):
    """Relief below the mesh's resolution [m]: pits and grains down to two centimetres."""
    r = 0.045 * gradient_noise(4.1 * s, 5.3 * t, seed + 201)
    r += 0.026 * gradient_noise(9.7 * s, 12.1 * t, seed + 203)
    r += 0.014 * gradient_noise(23.0 * s, 25.0 * t, seed + 207)
    return rough * (r - 0.03 * crack)


@njit(nogil=True, cache=True)
def paint_wall(row0, row1, s_m, t_m, column_x, row_y, layers, bed_edges, seed, image):
    """Paint texture rows row0..row1 (top row first) of the wall, sRGB.

    ``column_x, row_y``: fractional indices into the coarse layers for each column and row.
    """
    n = len(s_m)
    height_above = np.zeros(n)
    for i in range(max(row0 - 1, 0), row1):
        t, y = t_m[i], row_y[i]
        height_left = 0.0
        for j in range(n):
            s, x = s_m[j], column_x[j]
            rough = bilinear(layers[ROUGHNESS], x, y)
            joints = bilinear(layers[JOINTS], x, y)
            sw = s + bilinear(layers[WARP_S], x, y)
            tw = t + bilinear(layers[WARP_T], x, y)
            distance, block, bed = joint_pattern(sw, tw, bed_edges, seed)
            width = 0.016 + 0.03 * hash_unit(int(block * 1e6), 9, seed)
            crack = joints * max(0.0, 1.0 - distance / width)
            vein = abs(gradient_noise(1.3 * sw, 1.7 * tw, seed + 211))
            crack = max(crack, rough * max(0.0, 1.0 - vein / 0.022))
            height = _fine_relief(s, t, rough, crack, seed)
            slope_s, slope_t = height - height_left, height_above[j] - height
            height_left, height_above[j] = height, height
            if i < row0:
                continue
            light = bilinear(layers[LIGHT], x, y)
            light -= 9.0 * (slope_t - 0.7 * (slope_s if j > 0 else 0.0))
            openness = bilinear(layers[OPENNESS], x, y) * (1.0 + 2.2 * height)
            light = max(0.25 + 0.75 * light, 0.12) * openness * (1.0 - 0.62 * crack)
            stain = bilinear(layers[STAIN], x, y) * (0.35 + 0.65 * rough)
            lamina = gradient_noise(0.4 * sw, 6.0 * tw, seed + 221) * (0.05 + 0.10 * rough)
            grain = (hash_unit(j, i, seed + 231) - 0.5) * (0.03 + 0.13 * rough)
            tone = 1.0 + lamina + grain + (0.06 + 0.22 * rough) * (bed - 0.5)
            tone += joints * 0.16 * (block - 0.5)
            tone *= 1.0 - 0.42 * stain
            warm = (bed - 0.5) * 0.12 + 0.05 * (1.0 - rough)
            for c in range(3):
                base = 186.0 if c == 0 else (174.0 if c == 1 else 155.0)
                tint = 1.0 + (warm if c == 0 else (0.2 * warm if c == 1 else -warm))
                value = base * tint * tone * light
                image[i, j, c] = np.uint8(min(max(value, 4.0), 251.0) + 0.5)
