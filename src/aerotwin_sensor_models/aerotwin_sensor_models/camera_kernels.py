# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops over the pixels of cameras; their noise is a function of a key and the index."""

import numpy as np
from numba import float32, uint8, uint64, void

from aerotwin_core.kernel_cache import njit
from aerotwin_sensor_models.counter_noise import GOLDEN, mix_bits


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
