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

from aerotwin_core.kernel_cache import njit
from aerotwin_generated_worlds.noise import (
    blend,
    cell_noise,
    fractal_noise,
    gradient_noise,
    hash_unit,
    smoothstep,
)

# Layers of the coarse grid (rows, columns, layer) that the painter reads.
LIGHT, OPENNESS, ROUGHNESS, WARP_S, WARP_T, JOINTS, STAIN, CRACKED, GRASS = range(9)
N_LAYERS = 9
# Columns of the table of beds: lower edge, block width, block offset, hash.
EDGE, WIDTH, OFFSET, HASH = range(4)


def bed_table(seed: int) -> np.ndarray:
    """Return the rock's beds, from below to above the range of the folds, (n, 4) [m]."""
    rng = np.random.default_rng([seed, 1])
    thickness = np.clip(rng.lognormal(math.log(0.7), 0.55, 160), 0.18, 2.4)
    table = np.empty((160, 4))
    table[:, EDGE] = np.cumsum(thickness) - thickness - 25.0
    table[:, WIDTH] = thickness * rng.uniform(0.9, 2.6, 160)
    table[:, OFFSET] = rng.uniform(0.0, 17.0, 160)
    table[:, HASH] = rng.uniform(0.0, 1.0, 160)
    return table


@njit(nogil=True, cache=True)
def _roughness(s, t, seed):
    """Return 1 on broken rock, down to 0.1 on smooth stretches (one of them fixed in place)."""
    edge = 0.35 * fractal_noise(0.35 * s, 0.35 * t, seed + 11, 3)
    fixed = math.hypot((s - 9.0) / 4.5, (t - 10.0) / 5.5) + edge
    patches = gradient_noise(0.11 * s, 0.13 * t, seed + 23) + 0.4 * edge
    smooth = max(1.0 - smoothstep(0.75, 1.05, fixed), smoothstep(0.30, 0.42, patches))
    return 1.0 - 0.9 * smooth


@njit(nogil=True, cache=True)
def _joint_pattern(s, t, beds, seed):
    """Return (distance to the nearest joint [m], block hash, bed hash) in the folded rock."""
    low, high = 0, len(beds) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if beds[middle, EDGE] <= t:
            low = middle
        else:
            high = middle
    width = beds[low, WIDTH]
    x = s / width + beds[low, OFFSET]
    k = math.floor(x)
    # Every joint is offset by up to 0.3 block widths from its position in a regular row.
    nearest = math.floor(x + 0.5)
    joint = nearest + 0.6 * (hash_unit(nearest, low, seed + 3) - 0.5)
    k = nearest if x >= joint else nearest - 1
    far = 2 * k + 1 - nearest
    other = far + 0.6 * (hash_unit(far, low, seed + 3) - 0.5)
    to_joint = min(abs(x - joint), abs(x - other)) * width
    to_bed = min(abs(t - beds[low, EDGE]), abs(beds[low + 1, EDGE] - t))
    return min(to_bed, to_joint), hash_unit(k, low, seed + 5), beds[low, HASH]


@njit(nogil=True, cache=True)
def wall_relief(row0, row1, s_m, t_m, grass_t, beds, seed, relief, layers):
    """Fill the relief [m, outwards] and the coarse layers (but light and openness) of some rows."""
    for i in range(row0, row1):
        t = t_m[i]
        for j in range(len(s_m)):
            s = s_m[j]
            rough = _roughness(s, t, seed)
            warp_s = 0.5 * fractal_noise(0.25 * s, 0.25 * t, seed + 31, 3)
            warp_t = 0.06 * s + 0.8 * fractal_noise(0.09 * s, 0.12 * t, seed + 41, 4)
            joints = smoothstep(-0.25, 0.25, gradient_noise(0.16 * s, 0.2 * t, seed + 53)) * rough
            distance, block, bed = _joint_pattern(s + warp_s, t + warp_t, beds, seed)
            groove = math.exp(-((distance / 0.09) ** 2))
            r = 2.2 * gradient_noise(0.085 * s, 0.03 * t, seed + 61)
            r += 0.9 * fractal_noise(0.21 * s, 0.13 * t, seed + 71, 2)
            ridge = 1.0 - 2.0 * abs(gradient_noise(0.33 * s + warp_s, 0.2 * t, seed + 83))
            r += rough * (0.35 * ridge + 0.30 * (bed - 0.5))
            r += joints * (0.26 * (block - 0.5) - 0.12 * groove)
            r += (0.10 + 0.55 * rough) * 0.32 * fractal_noise(0.9 * s, 0.9 * t, seed + 97, 4)
            relief[i, j] = r
            here = layers[i, j]
            here[ROUGHNESS], here[WARP_S], here[WARP_T] = rough, warp_s, warp_t
            here[JOINTS] = joints
            run = gradient_noise(0.75 * s + 0.3 * warp_s, 0.07 * t, seed + 101)
            run += 0.5 * gradient_noise(2.1 * s, 0.13 * t, seed + 103)
            wide = gradient_noise(0.14 * s, 0.17 * t, seed + 107)
            here[STAIN] = smoothstep(0.0, 0.6, run + 0.8 * wide)
            here[CRACKED] = rough * smoothstep(
                0.0, 0.35, gradient_noise(0.4 * s, 0.4 * t, seed + 109)
            )
            tuft = fractal_noise(0.8 * s, 0.8 * t, seed + 113, 3)
            here[GRASS] = smoothstep(-0.3, 0.3, 0.8 * (t - grass_t) + tuft)


@njit(nogil=True, cache=True)
def _fine_relief(s, t, rough, crack, detail, seed):
    """Relief below the mesh's resolution [m]: pits and grains down to 2 cm, with detail to 6 mm."""
    r = 0.050 * gradient_noise(4.1 * s, 5.3 * t, seed + 201)
    r += 0.030 * gradient_noise(9.7 * s, 12.1 * t, seed + 203)
    r += 0.020 * gradient_noise(23.0 * s, 25.0 * t, seed + 207)
    if detail > 0.0:
        r += detail * 0.0060 * gradient_noise(61.0 * s + 9.0 * t, 67.0 * t - 9.0 * s, seed + 241)
        r += detail * 0.0028 * gradient_noise(151.0 * s, 163.0 * t, seed + 243)
    return rough * (r - 0.03 * crack)


@njit(nogil=True, cache=True)
def add_fine_relief(row0, row1, s_m, t_m, layers, share, seed, relief):
    """Add the relief down to ten centimetres to that of a fine mesh, with a share per vertex."""
    for i in range(row0, row1):
        for j in range(len(s_m)):
            s, t, rough = s_m[j], t_m[i], layers[i, j, ROUGHNESS]
            r = 0.050 * gradient_noise(4.1 * s, 5.3 * t, seed + 201)
            r += 0.030 * gradient_noise(9.7 * s, 12.1 * t, seed + 203)
            relief[i, j] += share[i, j] * rough * r


@njit(nogil=True, cache=True)
def paint_wall(row0, row1, s_m, t_m, column_x, row_y, layers, beds, gain, detail, seed, image):
    """Paint texture rows row0..row1 (top row first) of the wall, sRGB.

    ``column_x, row_y``: fractional indices into the coarse layers for each column and row;
    ``gain``: light per height step between texels [1/m]; ``detail``: 1 also paints fine grains and
    pores below two centimetres.
    """
    n = len(s_m)
    height_above = np.zeros(n)
    for i in range(max(row0 - 1, 0), row1):
        t = t_m[i]
        r = min(int(row_y[i]), layers.shape[0] - 2)
        fy = row_y[i] - r
        height_left = 0.0
        for j in range(n):
            s = s_m[j]
            c = min(int(column_x[j]), layers.shape[1] - 2)
            fx = column_x[j] - c
            rough = blend(layers, ROUGHNESS, r, c, fy, fx)
            joints = blend(layers, JOINTS, r, c, fy, fx)
            sw = s + blend(layers, WARP_S, r, c, fy, fx)
            tw = t + blend(layers, WARP_T, r, c, fy, fx)
            distance, block, bed = _joint_pattern(sw, tw, beds, seed)
            crack = joints * max(0.0, 1.0 - distance / (0.014 + 0.03 * block * block))
            cracked = blend(layers, CRACKED, r, c, fy, fx)
            if cracked > 0.05:
                vein = abs(gradient_noise(0.9 * sw + 0.9 * tw, 1.6 * tw - 0.7 * sw, seed + 211))
                crack = max(crack, 1.0 - vein / (0.013 * cracked))
            height = _fine_relief(s, t, rough, crack, detail, seed)
            slope_s, slope_t = height - height_left, height_above[j] - height
            height_left, height_above[j] = height, height
            if i < row0:
                continue
            light = blend(layers, LIGHT, r, c, fy, fx)
            light -= gain * (slope_t - 0.7 * (slope_s if j > 0 else 0.0))
            openness = blend(layers, OPENNESS, r, c, fy, fx) * (1.0 + 2.6 * height)
            light = max(0.25 + 0.75 * light, 0.12) * openness * (1.0 - 0.62 * crack)
            stain = blend(layers, STAIN, r, c, fy, fx) * (0.35 + 0.65 * rough)
            lamina = gradient_noise(0.4 * sw, 6.0 * tw, seed + 221) * (0.05 + 0.12 * rough)
            grain = (hash_unit(j, i, seed + 231) - 0.5) * (0.03 + 0.19 * rough)
            tone = 1.0 + lamina + grain + (0.06 + 0.22 * rough) * (bed - 0.5)
            tone += joints * 0.16 * (block - 0.5)
            tone *= 1.0 - 0.42 * stain
            warm = (bed - 0.5) * 0.12 + 0.05 * (1.0 - rough)
            if detail > 0.0:
                first, _, label = cell_noise(74.0 * s, 74.0 * t, seed + 245)
                if label > 0.7:
                    pore = 1.0 - smoothstep(0.04, 0.10 + 0.9 * (label - 0.7), first)
                    tone *= 1.0 - (0.2 + 0.8 * stain) * 0.5 * detail * rough * pore
            grass = blend(layers, GRASS, r, c, fy, fx)
            turf = (0.75 + 14.0 * height + grain) * (0.5 + 0.5 * openness)
            for channel in range(3):
                base = (186.0, 174.0, 155.0)[channel]
                tint = 1.0 + (1.0, 0.2, -1.0)[channel] * warm
                value = base * tint * tone * light
                value += grass * ((118.0, 126.0, 74.0)[channel] * turf - value)
                image[i, j, channel] = np.uint8(min(max(value, 4.0), 251.0) + 0.5)
