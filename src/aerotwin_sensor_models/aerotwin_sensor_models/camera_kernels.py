# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops over the pixels of cameras; their noise is a function of a key and the index."""

import numpy as np
from numba import float32, int64, uint8, uint64, void

from aerotwin_core.counter_bits import GOLDEN, mix_bits
from aerotwin_core.kernel_cache import njit


@njit(
    void(uint8[:, ::1], float32[::1], float32[::1], float32[::1], uint64, uint8[:, ::1]),
    cache=True,
    nogil=True,
)
def expose(pixels, shade, response, normals, key, out):
    """Write the sensor's output for the light of pixels (n, channels).

    shade (n,) is the share of light that the lens transmits; response is (light, gain, offset,
    variance of the read noise, variance per signal) as in `ImageSensor`. Four pixels share the 64
    bits of one counter, each channel has its own.
    """
    light, gain, offset, read_variance, shot_variance = response
    n, n_channels = pixels.shape
    for group in range((n + 3) // 4):
        for channel in range(n_channels):
            bits = mix_bits(key + uint64(group * n_channels + channel) * uint64(GOLDEN))
            for i in range(4 * group, min(4 * group + 4, n)):
                signal = light * shade[i] * float32(pixels[i, channel])
                sigma = np.sqrt(read_variance + shot_variance * signal)
                noisy = signal + sigma * normals[bits & uint64(0xFFFF)]
                value = gain * noisy + offset + float32(0.5)
                out[i, channel] = uint8(min(float32(255.0), max(float32(0.0), value)))
                bits >>= uint64(16)


@njit(void(float32[::1], float32[::1], float32[::1], uint64), cache=True, nogil=True)
def disturb_depth(depth, limits, normals, key):
    """Add noise that grows as depth^2 [m], and mark pixels out of range, in place.

    limits is (nearest, farthest, noise per depth^2): nearer is -inf, farther inf, NaN stays.
    """
    nearest, farthest, scale = limits
    for group in range((depth.shape[0] + 3) // 4):
        bits = mix_bits(key + uint64(group) * uint64(GOLDEN))
        for i in range(4 * group, min(4 * group + 4, depth.shape[0])):
            z = depth[i]
            if np.isfinite(z):
                z += scale * z * z * normals[bits & uint64(0xFFFF)]
            if z > farthest:
                z = float32(np.inf)
            elif z < nearest:
                z = float32(-np.inf)
            depth[i] = z
            bits >>= uint64(16)


_MOST_SAMPLES = 64
"""A longer line than this many pixels is sampled with gaps."""


@njit(inline="always")
def _shortened(offset):
    """Return where to read between pixels so that the second moment is that of the offset.

    Linear interpolation a fraction f of a pixel aside blurs by f (1 - f) px^2; reading nearer to
    the pixel makes up for it, so that blur over less than a pixel is not exaggerated.
    """
    size = abs(offset)
    whole = np.floor(size)
    rest = size - whole
    size = whole + rest * (2.0 * whole + rest) / (2.0 * whole + 1.0)
    return size if offset >= 0.0 else -size


@njit(
    void(
        int64, int64, uint8[:, :, ::1], float32[:, ::1], float32[:, :, ::1], float32[:, ::1],
        int64, float32, uint8[:, :, ::1],
    ),
    cache=True, nogil=True, fastmath=True, error_model="numpy",
)  # fmt: skip
def blur_rows(first, last, pixels, depth, lens, twists, band_rows, row_share, out):
    """Write rows of the mean of pixels (h, w, channels) along their motion.

    lens (h, w, 6) is x and y of the ray and the Jacobian of the pixel by them; twists (bands, 6)
    the rotation and way of the camera, row_share the time between two rows in exposure times.
    Samples lie in the middle of equal parts, spread to the second moment of the whole line.
    """
    h, w, n_channels = pixels.shape
    for v in range(first, last):
        twist = twists[min(v // band_rows, twists.shape[0] - 1)]
        for u in range(w):
            x, y = lens[v, u, 0], lens[v, u, 1]
            near = float32(1.0) / depth[v, u]
            du = x * y * twist[0] - (1 + x * x) * twist[1] + y * twist[2]
            dv = (1 + y * y) * twist[0] - x * y * twist[1] - x * twist[2]
            du += near * (x * twist[5] - twist[3])
            dv += near * (y * twist[5] - twist[4])
            dx = lens[v, u, 2] * du + lens[v, u, 3] * dv
            dy = lens[v, u, 4] * du + lens[v, u, 5] * dv
            shear = max(float32(0.5), float32(1.0) - row_share * dy)
            dx, dy = dx / shear, dy / shear
            length = max(abs(dx), abs(dy))
            if length < float32(0.05):
                for channel in range(n_channels):
                    out[v, u, channel] = pixels[v, u, channel]
                continue
            n = min(max(2, int(np.ceil(length)) + 1), _MOST_SAMPLES)
            spread = np.sqrt(float32(n * n) / float32(n * n - 1)) / float32(n)
            for channel in range(n_channels):
                total = float32(0.0)
                for k in range(n):
                    share = spread * (float32(k) + float32(0.5) - float32(0.5) * float32(n))
                    a = min(max(float32(u) + _shortened(share * dx), float32(0.0)), float32(w - 1))
                    b = min(max(float32(v) + _shortened(share * dy), float32(0.0)), float32(h - 1))
                    column, row = min(int(a), w - 2), min(int(b), h - 2)
                    a, b = a - float32(column), b - float32(row)
                    top = float32(pixels[row, column, channel])
                    top += a * (float32(pixels[row, column + 1, channel]) - top)
                    low = float32(pixels[row + 1, column, channel])
                    low += a * (float32(pixels[row + 1, column + 1, channel]) - low)
                    total += top + b * (low - top)
                out[v, u, channel] = uint8(total / float32(n) + float32(0.5))
