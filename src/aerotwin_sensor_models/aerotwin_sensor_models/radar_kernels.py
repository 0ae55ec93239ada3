# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled parts of the spinning radar: echoes to the field of a turn, the field to levels."""

import math

import numpy as np
from numba import float32, float64, int64, uint8, uint16, uint64, void

from aerotwin_core.counter_bits import GOLDEN, mix_bits
from aerotwin_core.kernel_cache import njit

LOBE = 2.0
"""The main lobe of a Hann window ends so many resolution cells from its middle (Harris 1978)."""
UNITS_PER_NEPER = 20.0 / math.log(10.0)
"""Half decibels of a power for each unit of its natural logarithm."""


@njit(float64(float64), cache=True, nogil=True)
def hann_lobe(x):
    """Return the spectrum of a Hann window x resolution cells off: sinc(x) / (1 - x^2).

    Harris 1978, Proc. IEEE 66, 51-83, section V.C; scaled to 1 in the middle.
    """
    if abs(x) < 1e-9:
        return 1.0
    if abs(abs(x) - 1.0) < 1e-9:
        return 0.5
    return math.sin(math.pi * x) / (math.pi * x * (1.0 - x * x))


@njit(
    void(
        float64[::1],
        float64[::1],
        int64[::1],
        float64[::1],
        int64,
        float64,
        float64,
        uint64,
        float32[:, :, ::1],
    ),
    cache=True,
    nogil=True,
)
def add_echoes(ranges, amplitudes, columns, beam, per, bin_m, resolution_m, key, field):
    """Add echoes to the field of a turn, each with its own phase from the random `key`.

    Echoes have an apparent range [m], an amplitude mid-beam (0 for none) and a column. `beam` (2 m
    + 1,) is the amplitude by columns off its middle, `per` the columns from one azimuth to the
    next, `resolution_m` c / 2B. `field` (n_azimuths, n_bins, 2) holds real and imaginary part.
    """
    n_azimuths, n_bins = field.shape[0], field.shape[1]
    m, reach = len(beam) // 2, LOBE * resolution_m
    lobe = np.empty(int(2.0 * reach / bin_m) + 2)
    for k in range(len(ranges)):
        first = max(int64(math.ceil((ranges[k] - reach) / bin_m - 0.5)), 0)
        last = min(int64(math.floor((ranges[k] + reach) / bin_m - 0.5)), n_bins - 1)
        if amplitudes[k] == 0.0 or last < first:
            continue
        for b in range(first, last + 1):
            lobe[b - first] = hann_lobe(((b + 0.5) * bin_m - ranges[k]) / resolution_m)
        phase = 2.0 * math.pi * float64(mix_bits(key + uint64(k) * uint64(GOLDEN))) / 2.0**64
        real, imaginary = amplitudes[k] * math.cos(phase), amplitudes[k] * math.sin(phase)
        lowest = -((m - columns[k]) // per)  # the first azimuth whose beam reaches the column
        for azimuth in range(lowest, (columns[k] + m) // per + 1):
            gain = beam[columns[k] - azimuth * per + m]
            row = azimuth % n_azimuths
            for b in range(first, last + 1):
                field[row, b, 0] += float32(real * gain * lobe[b - first])
                field[row, b, 1] += float32(imaginary * gain * lobe[b - first])


@njit(
    void(
        float32[:, :, ::1], float64, int64, int64, float32[::1], uint64, uint8[:, ::1]
    ),
    cache=True,
    nogil=True,
)  # fmt: skip
def write_levels(field, noise, first_bin, highest, gauss, key, levels):
    """Write power in half decibels (n_azimuths, n_bins): field plus noise of the receiver.

    `field` (n_azimuths, n_bins, 2) holds real and imaginary part; `noise` is the standard deviation
    of each part of the noise, from the normal quantiles `gauss` (65536,) by the random `key`.
    Bins before `first_bin` are 0; the receiver saturates at the level `highest`.
    """
    n_bins = field.shape[1]
    for azimuth in range(field.shape[0]):
        levels[azimuth, :first_bin] = 0
        for b in range(first_bin, n_bins):
            bits = mix_bits(key + uint64(azimuth * n_bins + b) * uint64(GOLDEN))
            x = field[azimuth, b, 0] + noise * gauss[uint16(bits)]
            y = field[azimuth, b, 1] + noise * gauss[uint16(bits >> uint64(16))]
            level = UNITS_PER_NEPER * math.log(max(x * x + y * y, 1e-30))
            levels[azimuth, b] = uint8(min(max(int64(math.floor(level + 0.5)), 0), highest))
