# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Shore: relief and colours of the generated cliff's beach and plateau."""

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

# Layers of the beach's coarse grid (rows, columns, layer).
INLAND, BOULDER, LIGHT, BLOTCH, STONY, WEED = range(6)
N_LAYERS = 6


@njit(nogil=True, cache=True)
def _boulders(x, y, frequency, amount, seed):
    """Height of a layer of round rocks [in units of their spacing]; ``amount``: share of cells."""
    first, second, label = cell_noise(frequency * x, frequency * y, seed)
    if label > amount:
        return 0.0
    rise = min((second - first) / 0.75, 1.0)
    # A quarter circle up from the gap between two rocks: steep flanks, round tops.
    return math.sqrt(rise * (2.0 - rise)) * (0.25 + 0.5 * label / amount)


@njit(nogil=True, cache=True)
def boulder_height(x, y, inland, seed):
    """Height of the fallen rocks at the foot of the wall [m]."""
    near = smoothstep(-6.5, -2.0, inland)
    if near == 0.0:
        return 0.0
    wx = x + 0.30 * fractal_noise(0.9 * x, 0.9 * y, seed + 301, 3)
    wy = y + 0.30 * fractal_noise(0.9 * x, 0.9 * y, seed + 303, 3)
    large = _boulders(wx, wy, 0.55, 0.05 + 0.40 * near, seed + 305) / 0.55
    small = _boulders(wx, wy, 1.6, 0.10 + 0.55 * near, seed + 307) / 1.6
    height = max(large, small)
    rough = fractal_noise(2.3 * x, 2.3 * y, seed + 309, 3)
    return 0.8 * height * (1.0 + 0.25 * rough) * min(0.5 + near, 1.0)


@njit(nogil=True, cache=True)
def _slope(inland):
    """Height of the even beach [m]."""
    seaward = min(max(-inland / 18.0, 0.0), 1.0)
    z = 2.2 * (1.0 - seaward) ** 1.4 - 1.2 * smoothstep(14.0, 40.0, -inland)
    return z + 0.25 * max(inland, 0.0)


@njit(nogil=True, cache=True)
def beach_relief(row0, row1, x_m, y_m, inland_m, pad, seed, z_m, layers):
    """Fill heights [m] and layers; the ground at ``pad`` (x, y, inland) is level for take-off."""
    for i in range(row0, row1):
        for j in range(len(x_m)):
            x, y, inland = x_m[j], y_m[i], inland_m[i, j]
            blotch = fractal_noise(0.6 * x, 0.6 * y, seed + 333, 4)
            uneven = smoothstep(0.8, 3.5, math.hypot(x - pad[0], y - pad[1]))
            boulder = uneven * boulder_height(x, y, inland, seed)
            z = _slope(inland) + 0.10 * fractal_noise(0.22 * x, 0.22 * y, seed + 311, 4)
            z_m[i, j] = _slope(pad[2]) + uneven * (z - _slope(pad[2])) + boulder
            here = layers[i, j]
            here[INLAND], here[BOULDER], here[BLOTCH] = inland, boulder, blotch
            stony = 0.35 + 0.9 * gradient_noise(0.19 * x, 0.31 * y, seed + 337)
            here[STONY] = min(max(stony + 0.5 * smoothstep(-9.0, -3.0, inland), 0.02), 0.95)
            line = (inland + 12.5 + 1.2 * blotch) / 0.8
            here[WEED] = math.exp(-min(line * line, 50.0))


@njit(nogil=True, cache=True)
def _pebbles(x, y, amount, seed):
    """Return (cover, tone) of a layer of pebbles."""
    first, second, label = cell_noise(11.0 * x, 11.0 * y, seed + 321)
    if label > amount:
        return 0.0, 1.0
    return smoothstep(0.02, 0.16, second - first), 0.55 + 0.8 * label / amount


@njit(nogil=True, cache=True)
def paint_beach(row0, row1, x_m, y_m, column_x, row_y, layers, seed, image):
    """Paint texture rows row0..row1 of the beach: sand, pebbles, weed, wet sand, boulders."""
    for i in range(row0, row1):
        y = y_m[i]
        r = min(int(row_y[i]), layers.shape[0] - 2)
        fy = row_y[i] - r
        for j in range(len(x_m)):
            x = x_m[j]
            c = min(int(column_x[j]), layers.shape[1] - 2)
            fx = column_x[j] - c
            d = blend(layers, INLAND, r, c, fy, fx)
            rock = smoothstep(0.03, 0.12, blend(layers, BOULDER, r, c, fy, fx))
            blotch = blend(layers, BLOTCH, r, c, fy, fx)
            fine = gradient_noise(7.3 * x, 7.3 * y, seed + 331)
            grain = hash_unit(j, i, seed + 335) - 0.5
            sand = 1.0 + 0.11 * blotch + 0.07 * fine + 0.13 * grain
            if d < -9.0:
                ripple = math.sin(52.0 * (0.35 * x + y) + 7.0 * blotch)
                sand += 0.05 * ripple * smoothstep(-9.0, -13.0, d)
            covered, tone, stone = 0.0, 1.0, 1.0
            if rock < 1.0:
                covered, tone = _pebbles(x, y, blend(layers, STONY, r, c, fy, fx), seed)
            if rock > 0.0:
                stone += 0.4 * fractal_noise(3.1 * x, 3.1 * y, seed + 343, 4)
                stone += 0.25 * fine + 0.16 * grain
            weed = blend(layers, WEED, r, c, fy, fx)
            if weed > 0.05:
                weed *= gradient_noise(0.9 * x, 0.9 * y, seed + 341) + 0.6 * fine
            lit = blend(layers, LIGHT, r, c, fy, fx) * (1.0 - 0.38 * smoothstep(-13.5, -17.0, d))
            lit *= 1.0 - 0.6 * smoothstep(0.12, 0.3, weed)
            for channel in range(3):
                value = (198.0, 182.0, 151.0)[channel] * sand
                pebble = (165.0, 160.0, 150.0)[channel] * tone * (1.0 + 0.2 * fine)
                value += covered * (pebble - value)
                value += rock * ((160.0, 151.0, 137.0)[channel] * stone - value)
                image[i, j, channel] = np.uint8(min(max(value * lit, 4.0), 251.0) + 0.5)


@njit(nogil=True, cache=True)
def paint_plateau(row0, row1, x_m, y_m, seed, image):
    """Paint texture rows row0..row1 of the plateau: grass, bare patches, bushes."""
    for i in range(row0, row1):
        for j in range(len(x_m)):
            x, y = x_m[j], y_m[i]
            blotch = fractal_noise(0.09 * x, 0.09 * y, seed + 351, 5)
            tuft = fractal_noise(1.9 * x, 1.9 * y, seed + 353, 3)
            grain = hash_unit(j, i, seed + 355) - 0.5
            bare = smoothstep(0.25, 0.45, blotch + 0.25 * tuft)
            bush = gradient_noise(0.45 * x, 0.45 * y, seed + 357) + 0.15 * tuft
            tone = 0.85 + 0.3 * tuft + 0.25 * grain + 0.25 * blotch
            tone *= 1.0 - 0.5 * smoothstep(0.42, 0.5, bush)
            for channel in range(3):
                grass, soil = (118.0, 126.0, 74.0)[channel], (165.0, 146.0, 112.0)[channel]
                value = (grass + bare * (soil - grass)) * tone
                image[i, j, channel] = np.uint8(min(max(value, 4.0), 251.0) + 0.5)
