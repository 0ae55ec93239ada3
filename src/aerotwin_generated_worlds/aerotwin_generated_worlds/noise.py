# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Noise functions for generated worlds: hashed lattices, the same bytes for the same seed.

Gradient noise after Perlin (2002), cellular noise after Worley (1996); the lattice values come
from an integer hash of cell and seed, so nothing is tabulated and the plane has no period.
"""

import math

import numpy as np

from aerotwin_core.kernel_cache import njit


@njit(nogil=True, cache=True)
def hash_unit(i, j, seed):
    """Return a pseudo-random number in [0, 1) from two cell indices and a seed."""
    h = (
        np.uint64(np.int64(i)) * np.uint64(0x9E3779B97F4A7C15)
        ^ np.uint64(np.int64(j)) * np.uint64(0xC2B2AE3D27D4EB4F)
        ^ np.uint64(np.int64(seed)) * np.uint64(0x165667B19E3779F9)
    )
    h = (h ^ (h >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
    return np.float64(h >> np.uint64(40)) * (1.0 / 16777216.0)


@njit(nogil=True, cache=True)
def _lattice_dot(i, j, x, y, seed):
    """Dot product of a cell corner's random unit gradient with the offset from that corner."""
    # A rational point of the circle instead of sine and cosine: t -> ((1-t^2), 2t)/(1+t^2).
    h = 4.0 * hash_unit(i, j, seed)
    quadrant = int(h)
    t = h - quadrant
    scale = 1.0 / (1.0 + t * t)
    gx, gy = (1.0 - t * t) * scale, 2.0 * t * scale
    if quadrant == 0:
        return gx * x + gy * y
    if quadrant == 1:
        return -gy * x + gx * y
    if quadrant == 2:
        return -gx * x - gy * y
    return gy * x - gx * y


@njit(nogil=True, cache=True)
def gradient_noise(x, y, seed):
    """Return smooth noise of wavelength 1, about -0.7 .. 0.7, zero at the lattice points."""
    i, j = math.floor(x), math.floor(y)
    fx, fy = x - i, y - j
    u = fx * fx * fx * (fx * (fx * 6.0 - 15.0) + 10.0)
    v = fy * fy * fy * (fy * (fy * 6.0 - 15.0) + 10.0)
    a = _lattice_dot(i, j, fx, fy, seed)
    b = _lattice_dot(i + 1, j, fx - 1.0, fy, seed)
    c = _lattice_dot(i, j + 1, fx, fy - 1.0, seed)
    d = _lattice_dot(i + 1, j + 1, fx - 1.0, fy - 1.0, seed)
    upper = a + u * (b - a)
    return upper + v * (c + u * (d - c) - upper)


@njit(nogil=True, cache=True)
def fractal_noise(x, y, seed, octaves):
    """Return a sum of gradient noises, each of half the wavelength and half the amplitude."""
    total, amplitude = 0.0, 1.0
    for octave in range(octaves):
        total += amplitude * gradient_noise(x, y, seed + octave)
        # Rotated by 37 degrees so that the lattices' axes do not line up.
        x, y = 2.0 * (0.8 * x - 0.6 * y), 2.0 * (0.6 * x + 0.8 * y)
        amplitude *= 0.5
    return total


@njit(nogil=True, cache=True)
def cell_noise(x, y, seed):
    """Return (distance to the nearest random point, to the second nearest, the nearest's hash)."""
    i, j = math.floor(x), math.floor(y)
    nearest, second, label = 9.0, 9.0, 0.0
    for di in range(-1, 2):
        for dj in range(-1, 2):
            # One hash gives both coordinates: its leading 12 bits, and the 12 below them.
            h = 4096.0 * hash_unit(i + di, j + dj, seed)
            a = int(h)
            dx, dy = i + di + a * (1.0 / 4096.0) - x, j + dj + (h - a) - y
            distance = dx * dx + dy * dy
            if distance < nearest:
                second, nearest, label = nearest, distance, h
            elif distance < second:
                second = distance
    return math.sqrt(nearest), math.sqrt(second), hash_unit(int(label * 4096.0), 5, seed)


@njit(nogil=True, cache=True)
def smoothstep(low, high, x):
    """Return 0 below ``low``, 1 above ``high``, a smooth cubic between."""
    t = min(max((x - low) / (high - low), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@njit(nogil=True, cache=True, inline="always")
def blend(layers, k, r, c, fy, fx):
    """Look up layer k of layers (rows, columns, n) at row r + fy, column c + fx."""
    a = layers[r, c, k] + fx * (layers[r, c + 1, k] - layers[r, c, k])
    b = layers[r + 1, c, k] + fx * (layers[r + 1, c + 1, k] - layers[r + 1, c, k])
    return a + fy * (b - a)
