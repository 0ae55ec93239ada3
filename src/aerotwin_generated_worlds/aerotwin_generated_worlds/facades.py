# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Facades: the kernels that paint walls with windows and doors, roofs, and concrete stands."""

import math

import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_generated_worlds.noise import (
    cell_noise,
    fractal_noise,
    gradient_noise,
    hash_unit,
    smoothstep,
)

BRICK, PLASTER, PANEL, SHEET = range(4)
WALL, WINDOW, DOOR, GATE = range(4)
# Entries of a style: material of the wall, its colour, tone of its trims, doors' height.
KIND, RED, GREEN, BLUE, TRIM, DOOR_M = range(6)
BRICK_LENGTH_M, BRICK_HEIGHT_M = 0.25, 0.077
PANEL_M = 2.7


@njit(nogil=True, cache=True)
def _wall_tone(kind, s, z, fine, grain, seed):
    """Tone of a bare wall at s along it and height z."""
    if kind == BRICK:
        course = math.floor(z / BRICK_HEIGHT_M)
        along = s / BRICK_LENGTH_M + 0.5 * (course % 2)
        brick = math.floor(along)
        joint = min(along - brick, brick + 1.0 - along) * BRICK_LENGTH_M
        joint = min(joint, z - course * BRICK_HEIGHT_M)
        tone = 0.74 + 0.52 * hash_unit(brick, course, seed + 601) + 0.08 * grain
        return tone + (1.16 - tone) * (1.0 - smoothstep(0.006, 0.018, joint))
    if kind == PLASTER:
        crack = abs(gradient_noise(0.55 * s + 0.2 * fine, 0.55 * z, seed + 603))
        cracked = smoothstep(0.1, 0.3, gradient_noise(0.21 * s, 0.21 * z, seed + 607))
        tone = 1.0 + 0.10 * fine + 0.18 * grain
        return tone * (1.0 - 0.2 * cracked * (1.0 - smoothstep(0.003, 0.008, crack)))
    if kind == PANEL:
        i, j = math.floor(s / PANEL_M), math.floor(z / 1.35)
        edge = min(s - i * PANEL_M, (i + 1) * PANEL_M - s)
        edge = min(edge, min(z - j * 1.35, (j + 1) * 1.35 - z))
        tone = 0.86 + 0.26 * hash_unit(i, j, seed + 605) + 0.10 * fine + 0.16 * grain
        return tone * (1.0 - 0.5 * (1.0 - smoothstep(0.010, 0.03, edge)))
    wave = math.sin(2.0 * math.pi * s / 0.30)
    return 1.0 + 0.16 * wave + 0.05 * fine + 0.05 * grain


@njit(nogil=True, cache=True)
def _glass(fx, fz, width, height, s, z, cell, seed):
    """Grey of a window and the share of its frame: sky in the glass, blinds, mullions."""
    across, up = fx * width, fz * height
    rim = min(min(across, width - across), min(up, height - up))
    threshold = abs(fx - 0.5) * width
    if height > 1.3:
        threshold = min(threshold, abs(up - 0.68 * height))
    frame = max(1.0 - smoothstep(0.07, 0.09, rim), 1.0 - smoothstep(0.025, 0.04, threshold))
    sky = gradient_noise(0.5 * s, 0.8 * z, seed + 611) + 0.5 * gradient_noise(
        1.9 * s, 2.7 * z, seed + 613
    )
    value = 34.0 + 26.0 * fz + 46.0 * smoothstep(-0.05, 0.5, sky)
    value += 26.0 * hash_unit(cell, 3, seed + 615)
    if hash_unit(cell, 5, seed + 617) > 0.45:
        drawn = hash_unit(cell, 7, seed + 619)
        if fz > drawn:
            slat = up / 0.10 - math.floor(up / 0.10)
            value = (
                148.0 + 44.0 * hash_unit(cell, 9, seed + 621) - 42.0 * smoothstep(0.6, 1.0, slat)
            )
    return value, frame


@njit(nogil=True, cache=True)
def paint_facade(row0, row1, s_m, z_m, cell_s, cell_z, kinds, style, light, ceiling, seed, image):
    """Paint texture rows row0..row1 of the walls of a building, unrolled.

    ``s_m`` (columns,) is the distance along the walls and ``z_m`` (rows,) the height above the
    floor of each texel [m]; ``cell_s`` (columns, 3) and ``cell_z`` (rows, 3) hold the number of its
    cell, the cell's lower edge and its size [m]. ``kinds`` (up, along) is the kind of each cell,
    ``style`` (6,) has the entries `KIND` to `DOOR_M`. ``light`` (columns, 2): sky and sun on the
    wall; ``ceiling`` (columns,): height above the floor below which the sun does not reach [m].
    """
    kind, trim = int(style[KIND]), style[TRIM]
    colour = (style[RED], style[GREEN], style[BLUE])
    for i in range(row0, row1):
        z = z_m[i]
        kz, z0, height = int(cell_z[i, 0]), cell_z[i, 1], cell_z[i, 2]
        for j in range(len(s_m)):
            s = s_m[j]
            ks, s0, width = int(cell_s[j, 0]), cell_s[j, 1], cell_s[j, 2]
            fx, fz = (s - s0) / width, (z - z0) / height
            fine = gradient_noise(3.7 * s, 3.7 * z, seed + 631)
            grain = hash_unit(j, i, seed + 633) - 0.5
            cell = kz * 4096 + ks
            what = kinds[kz, ks]
            sky = light[j, 0]
            # Light falls on the lower walls from less of the sky.
            sky *= 0.80 + 0.20 * smoothstep(0.0, 3.0, z)
            lit = sky + light[j, 1] * smoothstep(-0.15, 0.15, z - ceiling[j])
            if what == WINDOW:
                value, frame = _glass(fx, fz, width, height, s, z, cell, seed)
                value *= 0.75 + 0.5 * lit
                edge = trim * (0.95 + 0.1 * grain) * lit * (1.0 - 0.25 * smoothstep(0.8, 1.0, fz))
                image[i, j, 0] = np.uint8(min(0.92 * value + frame * (edge - 0.92 * value), 250.0))
                image[i, j, 1] = np.uint8(min(value + frame * (edge - value), 250.0))
                image[i, j, 2] = np.uint8(min(1.06 * value + frame * (edge - 1.06 * value), 250.0))
                continue
            blotch = fractal_noise(0.37 * s, 0.37 * z, seed + 637, 4)
            if what >= DOOR:
                # Doors and gates reach from the floor over two cells.
                fz, height = z / style[DOOR_M], style[DOOR_M]
                rim = min(min(fx, 1.0 - fx) * width, (1.0 - fz) * height)
                tone = 0.82 + 0.10 * blotch + 0.08 * grain
                if what == GATE:
                    slat = z / 0.12 - math.floor(z / 0.12)
                    tone *= 0.84 + 0.26 * smoothstep(0.0, 0.8, slat)
                elif 0.35 < fz < 0.9 and 0.2 < fx < 0.8:
                    tone *= 0.45 + 0.25 * fz
                tone *= 1.0 - 0.5 * (1.0 - smoothstep(0.05, 0.07, rim))
                hue = hash_unit(ks, 11, seed + 641)
                image[i, j, 0] = np.uint8(min((90.0 + 90.0 * hue) * tone * lit, 250.0))
                image[i, j, 1] = np.uint8(min((96.0 + 50.0 * hue) * tone * lit, 250.0))
                image[i, j, 2] = np.uint8(min((112.0 - 30.0 * hue) * tone * lit, 250.0))
                continue
            tone = _wall_tone(kind, s, z, fine, grain, seed) * (1.0 + 0.16 * blotch)
            # Rain streaks run down, splashes rise from the ground, sills stand out.
            streak = gradient_noise(2.3 * s, 0.12 * z, seed + 643) + 0.5 * fine
            tone *= 1.0 - 0.16 * smoothstep(0.1, 0.6, streak)
            tone *= 1.0 - 0.35 * (1.0 - smoothstep(0.1, 0.7, z + 0.35 * blotch))
            above = kinds[min(kz + 1, kinds.shape[0] - 1), ks] == WINDOW
            if above and (1.0 - fz) * height < 0.14:
                tone = trim / 150.0 * (0.95 + 0.1 * grain)
            for channel in range(3):
                image[i, j, channel] = np.uint8(min(max(colour[channel] * tone * lit, 4.0), 251.0))


@njit(nogil=True, cache=True)
def _bitumen(x, y, blotch, seed):
    """Tone of sheets of roofing felt a metre wide, with seams and repaired patches."""
    sheet = math.floor(y + 0.03 * blotch)
    seam = y + 0.03 * blotch - sheet
    tone = 0.94 + 0.16 * hash_unit(sheet, 1, seed + 657)
    tone *= 1.0 - 0.3 * (1.0 - smoothstep(0.02, 0.05, seam))
    _, _, label = cell_noise(0.45 * x, 0.45 * y, seed + 659)
    return tone * (0.86 if label > 0.8 else 1.0)


@njit(nogil=True, cache=True)
def _tiles(x, y, seed):
    """Tone of rows of tiles, each its own, dark below its lower edge."""
    row = math.floor(y / 0.34)
    along = x / 0.26 + 0.5 * (row % 2)
    tile = math.floor(along)
    tone = 0.78 + 0.40 * hash_unit(tile, row, seed + 661)
    tone *= 1.0 - 0.4 * (1.0 - smoothstep(0.02, 0.08, y - 0.34 * row))
    return tone * (0.85 + 0.15 * smoothstep(0.0, 0.25, min(along - tile, tile + 1.0 - along)))


@njit(nogil=True, cache=True)
def paint_roof(row0, row1, texel_m, colour, tiled, shade, seed, image):
    """Paint texture rows of a roof; ``shade``: its light at each quarter of a metre."""
    for i in range(row0, row1):
        y = i * texel_m
        r = min(int(y / 0.25), shade.shape[0] - 1)
        for j in range(image.shape[1]):
            x = j * texel_m
            blotch = fractal_noise(0.31 * x, 0.31 * y, seed + 651, 4)
            fine = gradient_noise(5.1 * x, 5.1 * y, seed + 653)
            grain = hash_unit(j, i, seed + 655) - 0.5
            tone = _tiles(x, y, seed) if tiled else _bitumen(x, y, blotch, seed)
            tone += 0.20 * blotch + 0.14 * fine + 0.22 * grain
            tone *= shade[r, min(int(x / 0.25), shade.shape[1] - 1)]
            for channel in range(3):
                image[i, j, channel] = np.uint8(min(max(colour[channel] * tone, 4.0), 251.0))


@njit(nogil=True, cache=True)
def paint_stand(row0, row1, s_m, across_m, step, light, aisle_m, seat_colours, seed, image):
    """Paint texture rows of a stand: concrete steps with seats, stairs, walls.

    ``s_m`` (columns,) is the distance along the stand, ``across_m`` (rows,) that along its profile,
    unrolled [m]. ``step`` (rows, 4): number of the profile's piece, position within it [m], its
    length [m], and its kind: 0 wall, 1 tread with seats, 2 riser, 3 walkway. ``light`` (rows,
    columns / 4) is the light at every fourth column, ``aisle_m`` (k,) the positions of the stairs
    along the stand [m], ``seat_colours`` (n, 3) the colours of the blocks of seats between the
    aisles.
    """
    for i in range(row0, row1):
        row, place, length, what = int(step[i, 0]), step[i, 1], step[i, 2], int(step[i, 3])
        for j in range(len(s_m)):
            s = s_m[j]
            block = np.searchsorted(aisle_m, s)
            away = 1e3
            if block > 0:
                away = s - aisle_m[block - 1]
            if block < len(aisle_m):
                away = min(away, aisle_m[block] - s)
            fine = gradient_noise(4.3 * s, 4.3 * across_m[i], seed + 671)
            grain = hash_unit(j, i, seed + 673) - 0.5
            blotch = fractal_noise(0.33 * s, 0.33 * across_m[i], seed + 675, 4)
            tone = 1.0 + 0.22 * blotch + 0.14 * fine + 0.16 * grain
            r, g, b = 158.0, 154.0, 146.0
            if what == 0 or what == 3:
                panel = math.floor(s / 3.0)
                edge = min(s - 3.0 * panel, 3.0 * panel + 3.0 - s)
                tone *= 0.90 + 0.2 * hash_unit(panel, row, seed + 677)
                tone *= 1.0 - 0.45 * (1.0 - smoothstep(0.01, 0.04, edge))
                streak = gradient_noise(1.7 * s, 0.1 * across_m[i], seed + 679)
                tone *= 1.0 - 0.28 * smoothstep(0.1, 0.5, streak)
            elif away < 0.65:
                if what == 2 or place < 0.06:
                    r, g, b = 205.0, 172.0, 70.0
                    tone *= 0.85
            else:
                # A seat lies on the rear of each tread, its back before the riser behind it.
                seat = math.floor(s / 0.52)
                across = (s / 0.52 - seat) * 0.52
                rear = length - place if what == 1 else place
                deep = 0.50 if what == 1 else 0.34
                if 0.03 < across < 0.49 and rear < deep:
                    tier = row // 2 if what == 1 else (row + 1) // 2
                    colour = seat_colours[(block + tier // 9) % len(seat_colours)]
                    tone = 0.66 + 0.50 * hash_unit(seat, tier, seed + 681) + 0.25 * blotch
                    if hash_unit(seat, tier, seed + 683) > 0.97:
                        tone *= 0.35
                    tone *= 0.72 + 0.36 * smoothstep(0.0, 0.4, rear) + 0.10 * grain
                    r, g, b = colour[0], colour[1], colour[2]
                else:
                    tone *= 0.80
            light_here = light[i, j // 4]
            image[i, j, 0] = np.uint8(min(max(r * tone * light_here, 4.0), 251.0))
            image[i, j, 1] = np.uint8(min(max(g * tone * light_here, 4.0), 251.0))
            image[i, j, 2] = np.uint8(min(max(b * tone * light_here, 4.0), 251.0))
