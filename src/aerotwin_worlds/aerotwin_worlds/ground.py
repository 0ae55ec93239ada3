# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Ground: relief and colours of the generated cliff's beach and plateau."""

import math

import numpy as np
from numba import njit

from aerotwin_worlds.noise import (
    bilinear,
    cell_noise,
    fractal_noise,
    gradient_noise,
    hash_unit,
    smoothstep,
)


@njit(nogil=True, cache=True)
def boulder_height(x, y, inland, seed):
    """Height of the fallen rocks that lie at the foot of the wall [m]."""
    fade = smoothstep(-6.5, -2.5, inland)
    if fade == 0.0:
        return 0.0
    wx = x + 0.25 * gradient_noise(1.1 * x, 1.1 * y, seed + 301)
    wy = y + 0.25 * gradient_noise(1.1 * x, 1.1 * y, seed + 303)
    first, second, label = cell_noise(0.75 * wx, 0.75 * wy, seed + 305)
    # Cells are rocks or gaps by lot; the dome ends where the next cell begins.
    if label > 0.25 + 0.5 * fade:
        return 0.0
    dome = smoothstep(0.0, 0.45, second - first)
    rough = 0.15 * fractal_noise(2.7 * x, 2.7 * y, seed + 307, 3)
    return fade * dome * (0.35 + 2.2 * label + rough)


@njit(nogil=True, cache=True)
def beach_relief(row0, row1, x_m, y_m, inland_m, pad, seed, z_m, boulder_m):
    """Fill heights [m] and boulder heights [m]; ``pad`` (x, y) is made level for the take-off."""
    for i in range(row0, row1):
        for j in range(len(x_m)):
            x, y, inland = x_m[j], y_m[i], inland_m[i, j]
            seaward = min(max(-inland / 18.0, 0.0), 1.0)
            z = 2.2 * (1.0 - seaward) ** 1.4 - 1.2 * smoothstep(14.0, 40.0, -inland)
            calm = smoothstep(1.0, 4.0, math.hypot(x - pad[0], y - pad[1]))
            z += calm * 0.10 * fractal_noise(0.22 * x, 0.22 * y, seed + 311, 4)
            z += 0.25 * max(inland, 0.0)
            boulder = calm * boulder_height(x, y, inland, seed)
            z_m[i, j], boulder_m[i, j] = z + boulder, boulder


@njit(nogil=True, cache=True)
def _pebbles(x, y, amount, seed):
    """Brightness of a layer of pebbles: (share covered, tone)."""
    first, second, label = cell_noise(11.0 * x, 11.0 * y, seed + 321)
    if label > amount:
        return 0.0, 1.0
    return smoothstep(0.02, 0.16, second - first), 0.55 + 0.8 * hash_unit(int(label * 1e6), 3, seed)


@njit(nogil=True, cache=True)
def paint_beach(row0, row1, x_m, y_m, column_x, row_y, inland, boulder, light, seed, image):
    """Paint texture rows row0..row1 of the beach: sand, pebbles, weed, wet sand, boulders."""
    for i in range(row0, row1):
        for j in range(len(x_m)):
            x, y = x_m[j], y_m[i]
            d = bilinear(inland, column_x[j], row_y[i])
            rock = smoothstep(0.06, 0.16, bilinear(boulder, column_x[j], row_y[i]))
            fine = gradient_noise(7.3 * x, 7.3 * y, seed + 331)
            blotch = fractal_noise(0.6 * x, 0.6 * y, seed + 333, 4)
            grain = hash_unit(j, i, seed + 335) - 0.5
            ripple = math.sin(52.0 * (0.35 * x + y) + 7.0 * blotch) * smoothstep(-9.0, -13.0, d)
            sand = 1.0 + 0.11 * blotch + 0.07 * fine + 0.13 * grain + 0.05 * ripple
            stony = 0.35 + 0.9 * gradient_noise(0.19 * x, 0.31 * y, seed + 337)
            stony += 0.5 * smoothstep(-9.0, -3.0, d)
            covered, tone = _pebbles(x, y, min(max(stony, 0.03), 0.95), seed)
            weed = gradient_noise(0.9 * x, 0.9 * y, seed + 341) + 0.35 * fine
            weed *= math.exp(-(((d + 12.5 + 1.2 * blotch) / 0.8) ** 2))
            wet = smoothstep(-13.5, -17.0, d)
            stone = 1.0 + 0.35 * fractal_noise(3.1 * x, 3.1 * y, seed + 343, 3) + 0.16 * grain
            lit = bilinear(light, column_x[j], row_y[i]) * (1.0 - 0.38 * wet)
            for c in range(3):
                value = (198.0 if c == 0 else (182.0 if c == 1 else 151.0)) * sand
                grey = (
                    (165.0 if c == 0 else (160.0 if c == 1 else 150.0)) * tone * (1.0 + fine * 0.2)
                )
                value += covered * (grey - value)
                value *= 1.0 - 0.6 * smoothstep(0.12, 0.3, weed)
                bare = (160.0 if c == 0 else (151.0 if c == 1 else 137.0)) * stone
                value = (value + rock * (bare - value)) * lit
                image[i, j, c] = np.uint8(min(max(value, 4.0), 251.0) + 0.5)


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
            bush = smoothstep(
                0.42, 0.5, gradient_noise(0.45 * x, 0.45 * y, seed + 357) + 0.15 * tuft
            )
            tone = (1.0 + 0.3 * tuft + 0.25 * grain + 0.25 * blotch) * (1.0 - 0.5 * bush)
            for c in range(3):
                grass = 112.0 if c == 0 else (124.0 if c == 1 else 70.0)
                soil = 165.0 if c == 0 else (146.0 if c == 1 else 112.0)
                value = (grass + bare * (soil - grass)) * tone
                image[i, j, c] = np.uint8(min(max(value, 4.0), 251.0) + 0.5)
