# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Deviation of repeats from each other, without a reference for where they should have been."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_core.rms import rms
from aerotwin_repeat_evaluation.path_errors import arc_length, lateral_errors

WINDOW_M = 5.0
"""How far the arc length of a run may jump between samples, beyond its motion [m]."""
DROPPED_AT_THE_END = 2
"""Samples left out at the end of a run, where it stops (as the scripts of VTR3 do)."""
N_STATIONS = 1000
"""Common stations of the nominal average."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RepeatDeviation:
    """Deviations of runs from the first, pooled, and of all pairs.

    `pair_rmse_m` (r, r) holds the RMSE of the column's run against the path of the row's run; the
    diagonal is zero [m].
    """

    rmse_m: float
    max_m: float
    pair_rmse_m: np.ndarray


def repeat_deviation(
    runs: Sequence[np.ndarray], *, is_closed: bool = False, window_m: float = WINDOW_M
) -> RepeatDeviation:
    """Return the deviation of two or more repeats (n, 3) relative to run 1, and of all pairs [m].

    `is_closed` says that each run ends where it starts; `window_m` is that of `lateral_errors`.
    """
    if len(runs) < 2:
        raise ValueError(f"runs must be two at least, got {len(runs)}")
    retained = [np.asarray(run, np.float64)[:-DROPPED_AT_THE_END] for run in runs]
    pairs = [[_errors(a, b, is_closed, window_m) for b in retained] for a in retained]
    pair_rmse = np.array([[rms(e) for e in row] for row in pairs])
    pooled = np.concatenate(pairs[0][1:])
    return RepeatDeviation(
        rmse_m=rms(pooled),
        max_m=float(np.abs(pooled).max()),
        pair_rmse_m=pair_rmse,
    )


def _errors(path: np.ndarray, run: np.ndarray, is_closed: bool, window_m: float) -> np.ndarray:
    if path is run:
        return np.zeros(len(run))
    found = lateral_errors(path, run, window_m=window_m, s_near_m=0.0, is_closed=is_closed)
    return found.error_m


@dataclass(frozen=True, kw_only=True, eq=False)
class NominalDeviation:
    """Deviations (r, k) of r runs across their mean path at k stations, left positive [m]."""

    errors_m: np.ndarray

    @property
    def mean_rmse_m(self) -> float:
        """Root mean square over the runs at each station, averaged over the stations [m]."""
        return float(np.sqrt((self.errors_m**2).mean(axis=0)).mean())

    @property
    def max_m(self) -> float:
        """Largest deviation [m]."""
        return float(np.abs(self.errors_m).max())


def nominal_deviation(runs: Sequence[np.ndarray]) -> NominalDeviation:
    """Return the deviation of runs (n, 3) from their average [m]: no run is the reference.

    All runs lead from the same start to the same end. Each is sampled at equal fractions of its
    own length; the error is taken across the mean path, (run - mean) . n with n = (-t_y, t_x), so
    that a lag along the path does not count.
    """
    if len(runs) < 2:
        raise ValueError(f"runs must be two at least, got {len(runs)}")
    share = np.linspace(0.0, 1.0, N_STATIONS)
    sampled = np.stack([_at_shares(np.asarray(run, np.float64)[:, :2], share) for run in runs])
    mean = sampled.mean(axis=0)
    tangent = np.gradient(mean, axis=0)
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-12)
    left = np.column_stack([-tangent[:, 1], tangent[:, 0]])
    errors = np.einsum("rkd,kd->rk", sampled - mean, left)
    return NominalDeviation(errors_m=errors)


def _at_shares(run: np.ndarray, share: np.ndarray) -> np.ndarray:
    s = arc_length(run)
    return np.column_stack([np.interp(share * s[-1], s, column) for column in run.T])
