# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Surfaces: the kernels that paint ground, from meadow to car park, and shape rolling land.

Each texel is grass at first; the other materials lie over it with the share of their mask. All
patterns come from noise over map coordinates, at wavelengths from 30 m down to a texel, so that no
two positions look alike and neighbouring textures join.
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

GRAVEL, ASPHALT, CONCRETE, TRACK, FIELD, SOIL, WHITE, YELLOW = range(8)
N_MATERIALS = 8
# Layers of the coarse grid.
DRY, BLOTCH, WEAR, CLOVER, LIGHT = range(5)
N_LAYERS = 5
SLAB_M, STRIPE_M = 1.5, 4.572
"""Side of a concrete slab; width of a mowing stripe: five yards."""


@njit(nogil=True, cache=True)
def rolling_land(row0, row1, x_m, y_m, wave_m, rise_m, bumps_m, seed, z_m):
    """Fill heights [m]: hills of a wavelength and rise, and bumps of a few metres' width."""
    for i in range(row0, row1):
        for j in range(len(x_m)):
            x, y = x_m[j], y_m[i]
            z = rise_m * fractal_noise(x / wave_m, y / wave_m, seed + 401, 2)
            bump = fractal_noise(0.13 * x, 0.13 * y, seed + 411, 5)
            z_m[i, j] = z + bumps_m * bump


@njit(nogil=True, cache=True)
def ground_layers(row0, row1, x_m, y_m, seed, layers):
    """Fill the slowly varying layers of a coarse grid; the caller fills LIGHT."""
    for i in range(row0, row1):
        for j in range(len(x_m)):
            x, y = x_m[j], y_m[i]
            layers[i, j, DRY] = fractal_noise(0.031 * x, 0.031 * y, seed + 421, 5)
            layers[i, j, BLOTCH] = fractal_noise(0.43 * x, 0.43 * y, seed + 431, 4)
            layers[i, j, CLOVER] = gradient_noise(0.7 * x, 0.7 * y, seed + 451)
            layers[i, j, WEAR] = fractal_noise(0.11 * x, 0.11 * y, seed + 441, 4)


@njit(nogil=True, cache=True)
def _grass(dry, blotch, wear, clover, fine, finer, grain):
    """Colour of a meadow: green and straw, clover, bare soil where it is worn."""
    straw = smoothstep(-0.35, 0.55, dry + 0.45 * blotch + 0.25 * fine)
    tone = 1.0 + 0.22 * blotch + 0.30 * fine + 0.34 * finer + 0.34 * grain
    r, g, b = 92.0 + 64.0 * straw, 104.0 + 36.0 * straw, 58.0 + 34.0 * straw
    clover = smoothstep(0.16, 0.30, clover + 0.3 * fine)
    tone *= 1.0 - 0.34 * clover * (1.0 - straw)
    bare = smoothstep(0.42, 0.62, wear + 0.55 * blotch + 0.35 * fine)
    if bare > 0.0:
        pebble = 1.0 + 0.35 * finer + 0.25 * fine + 0.3 * grain
        r += bare * (152.0 * pebble / max(tone, 0.3) - r)
        g += bare * (131.0 * pebble / max(tone, 0.3) - g)
        b += bare * (104.0 * pebble / max(tone, 0.3) - b)
    return r * tone, g * tone, b * tone


@njit(nogil=True, cache=True)
def _asphalt(x, y, blotch, wear, fine, finer, grain, seed):
    """Tone of asphalt: aggregate, repaired patches with seams, cracks, oil."""
    tone = 1.0 + 0.16 * blotch + 0.10 * wear + 0.10 * fine + 0.13 * finer + 0.26 * grain
    first, second, label = cell_noise(0.11 * x, 0.19 * y, seed + 461)
    if label > 0.72:
        tone *= 0.70 + 0.45 * (label - 0.72)
        tone *= 1.0 - 0.25 * (1.0 - smoothstep(0.0, 0.012, second - first))
    wx, wy = x + 0.35 * blotch + 0.05 * fine, y + 0.35 * wear + 0.05 * finer
    first, second, label = cell_noise(0.30 * wx, 0.30 * wy, seed + 471)
    cracked = smoothstep(-0.1, 0.25, wear)
    tone *= 1.0 - 0.55 * cracked * (1.0 - smoothstep(0.006, 0.016, second - first))
    if label > 0.6:
        tone *= 1.0 - 0.45 * (1.0 - smoothstep(0.05, 0.16, first + 0.06 * fine))
    return tone


@njit(nogil=True, cache=True)
def _concrete(x, y, blotch, fine, finer, grain, seed):
    """Tone of slabs, different for each, with dirty joints and stains."""
    sx, sy = x / SLAB_M, y / SLAB_M
    i, j = math.floor(sx), math.floor(sy)
    edge = min(min(sx - i, i + 1 - sx), min(sy - j, j + 1 - sy)) * SLAB_M
    tone = 0.90 + 0.24 * hash_unit(i, j, seed + 481) + 0.16 * blotch
    tone += 0.10 * fine + 0.11 * finer + 0.14 * grain
    tone *= 1.0 - 0.45 * (1.0 - smoothstep(0.008, 0.03, edge))
    stain = gradient_noise(0.6 * x, 0.6 * y, seed + 487) + 0.4 * fine
    return tone * (1.0 - 0.22 * smoothstep(0.2, 0.45, stain))


@njit(nogil=True, cache=True)
def _gravel(x, y, blotch, fine, grain, seed):
    """Tone of gravel: pebbles of several centimetres and dark gaps."""
    first, second, label = cell_noise(13.0 * x, 13.0 * y, seed + 491)
    pebble = smoothstep(0.02, 0.2, second - first)
    return (0.66 + 0.34 * pebble) * (0.84 + 0.32 * label) + 0.16 * blotch + 0.1 * fine + 0.1 * grain


@njit(nogil=True, cache=True)
def paint_ground(row0, row1, x_m, y_m, column_x, row_y, layers, masks, seed, image):
    """Paint texture rows row0..row1 of a piece of ground, sRGB.

    ``column_x, row_y``: fractional indices into the coarse layers; ``masks`` (rows, columns,
    material) uint8: shares of the materials, laid over the grass in their order.
    """
    for i in range(row0, row1):
        y = y_m[i]
        ri = min(int(row_y[i]), layers.shape[0] - 2)
        fy = row_y[i] - ri
        for j in range(len(x_m)):
            x = x_m[j]
            c = min(int(column_x[j]), layers.shape[1] - 2)
            fx = column_x[j] - c
            blotch = blend(layers, BLOTCH, ri, c, fy, fx)
            wear = blend(layers, WEAR, ri, c, fy, fx)
            fine = gradient_noise(4.7 * x, 4.7 * y, seed + 501)
            finer = gradient_noise(13.1 * x + 3.0 * y, 13.1 * y - 3.0 * x, seed + 503)
            grain = hash_unit(int(x * 500.0), int(y * 500.0), seed + 507) - 0.5
            mask = masks[i, j]
            solid = max(mask[ASPHALT], max(mask[CONCRETE], mask[FIELD]))
            r, g, b = 0.0, 0.0, 0.0
            if solid < 255:
                dry = blend(layers, DRY, ri, c, fy, fx)
                clover = blend(layers, CLOVER, ri, c, fy, fx)
                r, g, b = _grass(dry, blotch, wear, clover, fine, finer, grain)
            for m in range(N_MATERIALS):
                if mask[m] == 0:
                    continue
                share = mask[m] / 255.0
                mr, mg, mb, tone = 0.0, 0.0, 0.0, 1.0
                if m == ASPHALT:
                    tone = _asphalt(x, y, blotch, wear, fine, finer, grain, seed)
                    mr, mg, mb = 96.0, 95.0, 96.0
                elif m == CONCRETE:
                    tone = _concrete(x, y, blotch, fine, finer, grain, seed)
                    mr, mg, mb = 170.0, 165.0, 155.0
                elif m == GRAVEL:
                    tone = _gravel(x, y, blotch, fine, grain, seed)
                    mr, mg, mb = 168.0, 154.0, 132.0
                    share = smoothstep(0.25, 0.75, share + 0.5 * fine + 0.35 * finer)
                elif m == FIELD:
                    side = math.floor(x / STRIPE_M) % 2.0 - 0.5
                    tone = 1.0 + 0.13 * side + 0.16 * blotch + 0.16 * wear
                    tone += 0.22 * fine + 0.26 * finer + 0.30 * grain
                    mr, mg, mb = 84.0 + 26.0 * wear, 110.0 + 10.0 * wear, 62.0
                elif m == TRACK:
                    tone = 1.0 + 0.14 * blotch + 0.10 * fine + 0.12 * finer + 0.26 * grain
                    mr, mg, mb = 158.0, 88.0, 70.0
                elif m == SOIL:
                    tone = 0.95 + 0.2 * blotch + 0.45 * fine + 0.5 * finer + 0.3 * grain
                    mr, mg, mb = 104.0, 82.0, 62.0
                else:
                    # Paint wears off, most where wheels and boots pass.
                    share *= 0.96 - 0.5 * smoothstep(0.05, 0.5, wear + 0.9 * finer + 0.7 * grain)
                    tone = 1.0 + 0.06 * blotch + 0.10 * grain
                    mr, mg, mb = 222.0, 221.0, 214.0
                    if m == YELLOW:
                        mr, mg, mb = 214.0, 174.0, 66.0
                r += share * (mr * tone - r)
                g += share * (mg * tone - g)
                b += share * (mb * tone - b)
            light = blend(layers, LIGHT, ri, c, fy, fx)
            image[i, j, 0] = np.uint8(min(max(r * light, 4.0), 251.0) + 0.5)
            image[i, j, 1] = np.uint8(min(max(g * light, 4.0), 251.0) + 0.5)
            image[i, j, 2] = np.uint8(min(max(b * light, 4.0), 251.0) + 0.5)
