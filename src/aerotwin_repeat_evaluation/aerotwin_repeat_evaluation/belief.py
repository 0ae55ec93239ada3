# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Path tracking as the robot estimates it, and the error of that estimate against truth."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.angles import wrap_rad
from aerotwin_core.rms import rms

DROPPED_AT_THE_START = 5
"""Samples that the time integral skips, as VTR3's scripts do: the robot is still turning in."""


@dataclass(frozen=True, kw_only=True)
class TrackingScores:
    """Error of one run: maximum, and RMSE with three weightings, which differ where it dwells [m].

    `sample_rmse_m` is the mean over the samples, sqrt(sum e^2 / n), `length_rmse_m` the integral
    over the distance driven, sqrt(int e^2 ds / L), and `time_rmse_m` the integral over time without
    the first five samples, sqrt(int e^2 dt / T).
    """

    sample_rmse_m: float
    length_rmse_m: float
    time_rmse_m: float
    max_m: float


def tracking_scores(error_m: np.ndarray, s_m: np.ndarray, stamps_ns: np.ndarray) -> TrackingScores:
    """Return the errors of a run from lateral error (n,) and distance driven (n,) [m].

    Integrals are trapezoidal. Distance must not decrease, and stamps (n,) must increase.
    """
    error, s = np.asarray(error_m, np.float64), np.asarray(s_m, np.float64)
    seconds = (np.asarray(stamps_ns) - np.asarray(stamps_ns)[0]) * 1e-9
    if len(error) <= DROPPED_AT_THE_START + 1:
        raise ValueError(f"a run must have more than {DROPPED_AT_THE_START + 1} samples")
    retained = slice(DROPPED_AT_THE_START, None)
    return TrackingScores(
        sample_rmse_m=rms(error),
        length_rmse_m=_integral_rmse(error, s),
        time_rmse_m=_integral_rmse(error[retained], seconds[retained]),
        max_m=float(np.abs(error).max()),
    )


def _integral_rmse(error: np.ndarray, at: np.ndarray) -> float:
    length = at[-1] - at[0]
    if length <= 0.0:
        return rms(error)
    return float(np.sqrt(np.trapezoid(error**2, at) / length))


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalizationErrors:
    """Estimated minus true pose in one frame, in the axes of the true vehicle; (n,) arrays.

    Left and ahead are positive [m]; `yaw_rad` is wrapped to [-pi, pi].
    """

    lateral_m: np.ndarray
    longitudinal_m: np.ndarray
    yaw_rad: np.ndarray


def localization_errors(T_map_base: np.ndarray, T_map_base_true: np.ndarray) -> LocalizationErrors:
    """Return the errors of estimated poses (n, 4, 4) against true ones, both in the teach map.

    True poses are those that appear in the map (`image_of_poses`): in a bent map the estimate is
    right when it is where the map shows the vehicle's position.
    """
    believed, true = (np.asarray(T, np.float64) for T in (T_map_base, T_map_base_true))
    if believed.shape != true.shape or believed.ndim != 3:
        raise ValueError(f"poses must be (n, 4, 4) both, got {believed.shape} and {true.shape}")
    forward = true[:, :2, 0] / np.linalg.norm(true[:, :2, 0], axis=1, keepdims=True)
    miss = believed[:, :2, 3] - true[:, :2, 3]
    yaw = _yaw(believed) - _yaw(true)
    return LocalizationErrors(
        lateral_m=forward[:, 0] * miss[:, 1] - forward[:, 1] * miss[:, 0],
        longitudinal_m=np.einsum("ij,ij->i", forward, miss),
        yaw_rad=wrap_rad(yaw),
    )


def _yaw(T: np.ndarray) -> np.ndarray:
    return np.arctan2(T[:, 1, 0], T[:, 0, 0])
