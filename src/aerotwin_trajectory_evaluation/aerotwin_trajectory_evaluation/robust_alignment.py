# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A rigid alignment that is insensitive to outlier poses."""

import dataclasses

import numpy as np

from aerotwin_trajectory_evaluation.umeyama import TrajectoryAlignment, align_umeyama

# Three poses fix a rigid motion. With 45 % outliers a sample is good with 0.55^3 = 17 %, so that of
# this many more than fifty are, and one of them has its poses far apart.
_N_SAMPLES = 300
_SAMPLE = 3
_MAX_JUDGED = 1500
_SEED = 20260
# The median of |x|, x normal in three dimensions, is 1.538 sigma (chi with 3 degrees of freedom);
# an inlier lies within the 97.5 % quantile of the same distribution, 3.058 sigma.
_MEDIAN_CHI3 = 1.538
_INLIER_CHI3 = 3.058
_LEAST_SIGMA_M = 1e-6
_MAX_STEPS = 50


def align_robustly(p_reference: np.ndarray, p_estimate: np.ndarray) -> TrajectoryAlignment:
    """Return the rigid motion between points (n, 3) under the Geman-McClure cost.

    It starts from the motion with the least median residual (Rousseeuw 1984) among seeded samples
    of three poses each and the fit of all; reweighted least squares follow. Up to half of the poses
    may be outliers. The scale of the noise is that of the better half of the points.

    Paths that leave a freedom open (a line, a point) are fitted in the same way, with the rotation
    of `align_umeyama`. With three poses or fewer: least squares, no inlier share.
    """
    fit = align_umeyama(p_reference, p_estimate)
    if len(p_reference) <= _SAMPLE:
        few = f"{len(p_reference)} poses are too few for a robust fit: least squares"
        return dataclasses.replace(fit, mode="robust", reason=fit.reason or few)
    fit = _least_median(fit, p_reference, p_estimate)
    residuals = _residuals(fit, p_reference, p_estimate)
    for _ in range(_MAX_STEPS):
        limit = _INLIER_CHI3 * _noise_m(residuals)
        weights = (limit**2 / (residuals**2 + limit**2)) ** 2
        fit = align_umeyama(p_reference, p_estimate, weights=weights)
        before, residuals = residuals, _residuals(fit, p_reference, p_estimate)
        if np.abs(residuals - before).max() < _LEAST_SIGMA_M:
            break
    inlier_share = float(np.mean(residuals <= _INLIER_CHI3 * _noise_m(residuals)))
    return dataclasses.replace(fit, mode="robust", inlier_share=inlier_share)


def _least_median(
    fit: TrajectoryAlignment, p_reference: np.ndarray, p_estimate: np.ndarray
) -> TrajectoryAlignment:
    """Return the motion with the least median residual, of all poses or of three sampled ones."""
    judged = slice(None, None, -(-len(p_reference) // _MAX_JUDGED))
    score = lambda found: float(  # noqa: E731
        np.median(_residuals(found, p_reference[judged], p_estimate[judged]))
    )
    best, least = fit, score(fit)
    rng = np.random.default_rng(_SEED)
    for _ in range(_N_SAMPLES):
        drawn = rng.choice(len(p_reference), _SAMPLE, replace=False)
        found = align_umeyama(p_reference[drawn], p_estimate[drawn])
        is_usable = found.is_determined or not fit.is_determined
        if is_usable and (median := score(found)) < least:
            best, least = found, median
    return best


def _residuals(
    fit: TrajectoryAlignment, p_reference: np.ndarray, p_estimate: np.ndarray
) -> np.ndarray:
    T = fit.T_reference_estimate
    return np.linalg.norm(p_reference - p_estimate @ T[:3, :3].T - T[:3, 3], axis=1)


def _noise_m(residuals: np.ndarray) -> float:
    return max(float(np.median(residuals)) / _MEDIAN_CHI3, _LEAST_SIGMA_M)
