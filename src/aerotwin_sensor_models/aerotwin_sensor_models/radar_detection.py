# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Points from the power of a radar: a bounded-false-alarm-rate detector along each azimuth.

A cell is an echo if its power exceeds a x (mean of its neighbours) + b. With b = 0 that is the
cell-averaging CFAR detector (Rohling 1983, IEEE Trans. AES 19, 608-621), whose false alarm rate in
exponential noise does not depend on the noise level:

    P = (1 + a / N)^-N,    with b: P = exp(-b / mean) (1 + a / N)^-N

b bounds what remains where noise is low (BFAR: Alhashimi et al. 2021, arXiv 2109.09669; 2024,
Autonomous Robots 48). Neighbouring cells above the threshold are one peak, at their centre of mass;
the strongest peaks of each azimuth are retained (as `kpeaks` of VTR3 does).
"""

import math
from dataclasses import dataclass

import numpy as np
from numba import float64, int64, types, uint8

from aerotwin_core.kernel_cache import njit
from aerotwin_core.parameters import parameter
from aerotwin_sensor_models.radar import LEVEL_DB


@dataclass(frozen=True, kw_only=True)
class DetectorParameters:
    """Parameters of the detector; ranges and number of peaks are those of VTR3."""

    false_alarm_rate: float = parameter(
        1e-2, text="share of cells of noise above a x mean, before b", minimum=1e-12, maximum=0.5
    )
    offset_db: float = parameter(25.0, text="b, as level", unit="dB", minimum=-100.0, maximum=127.5)
    n_side: int = parameter(50, text="cells averaged to each side", minimum=1, maximum=4096)
    n_guard: int = parameter(
        20, text="cells between those and the tested one, to each side", minimum=0, maximum=4096
    )
    n_strongest: int = parameter(4, text="peaks that an azimuth keeps", minimum=1, maximum=256)
    min_range_m: float = parameter(
        2.5, text="nothing is detected nearer (VTR3: 2.0)", unit="m", minimum=0.0
    )
    max_range_m: float = parameter(
        69.0, text="nothing is detected farther", unit="m", minimum=0.1, maximum=1e4
    )

    @property
    def factor(self) -> float:
        """a, from the false alarm rate and the number of cells N."""
        n = 2 * self.n_side
        return n * (math.pow(self.false_alarm_rate, -1.0 / n) - 1.0)

    @property
    def offset(self) -> float:
        """b, as power."""
        return 10.0 ** (self.offset_db / 10.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Peaks:
    """Detected peaks, sorted by azimuth: row of each, range [m] and highest level [dB], (n,)."""

    azimuth: np.ndarray
    range_m: np.ndarray
    level_db: np.ndarray

    def __len__(self) -> int:
        return len(self.azimuth)


def detect(levels: np.ndarray, bin_m: float, parameters: DetectorParameters | None = None) -> Peaks:
    """Return the echoes in a turn of a radar.

    Parameters
    ----------
    levels : (n_azimuths, n_bins) uint8 array
        Power in steps of `LEVEL_DB`; the middle of bin b is at (b + 0.5) `bin_m`.
    bin_m : float
        Length of a bin [m].
    """
    p = parameters or DetectorParameters()
    if levels.ndim != 2 or levels.dtype != np.uint8 or not bin_m > 0.0:
        raise ValueError(
            f"levels must be (n_azimuths, n_bins) uint8 and bin_m positive, got {levels.shape} "
            f"{levels.dtype} and {bin_m}"
        )
    n_bins = levels.shape[1]
    first = min(math.ceil(p.min_range_m / bin_m), n_bins)
    last = max(min(math.floor(p.max_range_m / bin_m), n_bins), first)
    power = 10.0 ** (LEVEL_DB * np.arange(256) / 10.0)
    rows, places, heights = detect_peaks(
        np.ascontiguousarray(levels), power, first, last, p.n_side, p.n_guard, p.factor, p.offset,
        p.n_strongest,
    )  # fmt: skip
    return Peaks(azimuth=rows, range_m=(places + 0.5) * bin_m, level_db=10.0 * np.log10(heights))


@njit(
    types.Tuple((int64[::1], float64[::1], float64[::1]))(
        uint8[:, ::1], float64[::1], int64, int64, int64, int64, float64, float64, int64
    ),
    cache=True,
    nogil=True,
)
def detect_peaks(levels, power, first, last, n_side, guard, factor, offset, n_strongest):
    """Return rows, bins (centre of mass, of bin b: b) and powers of the peaks, row by row.

    `power` (256,) is that of each level; bins from `first` to before `last` are tested against
    `factor` times the mean of `n_side` cells to each side beyond `guard`, plus `offset`. The
    `n_strongest` peaks per row are retained.
    """
    n_rows = levels.shape[0]
    rows = np.empty(n_rows * n_strongest, np.int64)
    places, heights = np.empty(len(rows)), np.empty(len(rows))
    sums = np.zeros(last - first + 1)
    n = 0
    for row in range(n_rows):
        for b in range(first, last):
            sums[b - first + 1] = sums[b - first] + power[levels[row, b]]
        start, mass, moment, height = n, 0.0, 0.0, 0.0
        for b in range(first, last + 1):
            is_above, p = False, 0.0
            if b < last:
                p = power[levels[row, b]]
                low, left = max(b - guard - n_side, first), max(b - guard, first)
                right, high = min(b + guard + 1, last), min(b + guard + 1 + n_side, last)
                total = sums[left - first] - sums[low - first]
                total += sums[high - first] - sums[right - first]
                count = left - low + high - right
                is_above = count > 0 and p > factor * total / count + offset
            if is_above:
                mass += p
                moment += p * b
                height = max(height, p)
            elif mass > 0.0:
                k = n
                if n - start == n_strongest:  # replaces the weakest, if that is weaker
                    k = start + int(np.argmin(heights[start:n]))
                    height = 0.0 if heights[k] >= height else height
                else:
                    n += 1
                if height > 0.0:
                    rows[k], places[k], heights[k] = row, moment / mass, height
                mass, moment, height = 0.0, 0.0, 0.0
    return rows[:n], places[:n], heights[:n]


def peak_points(peaks: Peaks, azimuths: np.ndarray) -> np.ndarray:
    """Return the positions of peaks in the radar's frame, in its plane z = 0, (n, 3) float32 [m].

    `azimuths` (n_azimuths,) are directions from x towards y [rad].
    """
    angles = azimuths[peaks.azimuth]
    flat = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(len(angles))])
    return (flat * peaks.range_m[:, None]).astype(np.float32)
