# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Allan deviation: measured from readings at rest, and expected from the parameters of a triad.

References
----------
IEEE Std 952-1997, annex C (white noise, exponentially correlated noise); Riley, Handbook of
Frequency Stability Analysis, NIST Special Publication 1065, 2008, section 5.2 (overlapping).
"""

import math
from collections.abc import Callable

import numpy as np

from aerotwin_sensor_models.imu import GRAVITY, Imu, TriadParameters
from aerotwin_sensor_models.kernels import sample_imu_rows

PER_DECADE = 12
"""Averaging times in a decade."""


def allan_deviation(values: np.ndarray, n_per_cluster: int) -> float:
    """Return the overlapping Allan deviation of a series (n,) of constant rate, in its unit.

    The averaging time is in samples. NaN if there are fewer than two clusters.

    Examples
    --------
    >>> round(allan_deviation([892, 809, 823, 798, 671, 644, 883, 903, 677], 1), 5)
    91.22945
    """
    m = n_per_cluster
    if m < 1:
        raise ValueError(f"n_per_cluster must be at least 1, got {m}")
    series = np.asarray(values, float)
    total = np.concatenate([[0.0], np.cumsum(series - series.mean())])
    means = (total[m:] - total[:-m]) / m
    steps = means[m:] - means[:-m]
    return math.sqrt(0.5 * float(np.mean(steps**2))) if len(steps) else math.nan


def averaging_times(n: int) -> np.ndarray:
    """Return numbers of samples per cluster, logarithmically spaced, for n samples.

    The longest leaves nine clusters: beyond that the estimate says little.
    """
    longest = max(1, n // 9)
    spread = np.logspace(0.0, math.log10(longest), 1 + round(PER_DECADE * math.log10(longest)))
    return np.unique(np.round(spread).astype(int))


def triad_allan_deviation(triad: TriadParameters, seconds: np.ndarray) -> np.ndarray:
    """Return the Allan deviation of noise density and bias of a triad at `seconds` (n,).

    White noise gives N / sqrt(t); a Gauss-Markov bias of standard deviation s and correlation time
    T gives s^2 (2 T / t) (1 - T / (2 t) (3 - 4 exp(-t / T) + exp(-2 t / T))) as its square.
    Constant errors do not show; the quantisation is not modelled.
    """
    t, T = np.asarray(seconds, float), triad.correlation_time_s
    bias_variance = triad.random_walk**2 * T / 2.0
    x = t / T
    # by series, x^2/3 - x^3/4 + 7 x^4/60, where the difference would cancel
    exact = 1.0 - (3.0 - 4.0 * np.exp(-x) + np.exp(-2.0 * x)) / (2.0 * np.maximum(x, 1e-3))
    series = x**2 / 3.0 - x**3 / 4.0
    walk = bias_variance * 2.0 / x * np.where(x < 2e-3, series, exact)
    return np.sqrt(triad.noise_density**2 / t + walk)


def readings_at_rest(
    imu: Imu, dt: float, n: int, on_rows: Callable[[int], object] = lambda n_rows: None
) -> np.ndarray:
    """Return n readings of an IMU that lies level and still, from its current state on.

    Parameters
    ----------
    dt : float
        Time between readings [s].
    on_rows : callable
        Called from time to time with the number of readings added.

    Returns
    -------
    (n, 6) array
        Specific force [m/s^2], angular velocity [rad/s].
    """
    imu.tune(dt)
    block, rows, done = imu.block, np.empty((n, 6)), 0
    block.record["truth"] = (0.0, 0.0, GRAVITY), np.zeros(3), np.zeros(3)
    while done < n:
        before = done
        done, is_empty = sample_imu_rows(block.memory, rows, done)
        if is_empty:
            block.draw()
        on_rows(done - before)
    return rows
