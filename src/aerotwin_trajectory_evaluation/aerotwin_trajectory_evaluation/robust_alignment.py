# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A rigid alignment that a part of the path gone astray does not pull."""

import dataclasses

import numpy as np

from aerotwin_trajectory_evaluation.alignment import TrajectoryAlignment, align_umeyama

# Yang et al. (2020), "Graduated non-convexity for robust spatial perception", section IV and
# remark 5: the control parameter mu starts at 2 r_max^2 / c^2 and falls by 1.4 down to 1.
_SHRINK = 1.4
# The median of |x|, x normal in three dimensions, is 1.538 sigma (chi with 3 degrees of freedom);
# an inlier lies within the 97.5 % quantile of the same distribution, 3.058 sigma.
_MEDIAN_CHI3 = 1.538
_INLIER_CHI3 = 3.058
_LEAST_SIGMA_M = 1e-6
_MIN_POSES = 3


def align_robustly(p_reference: np.ndarray, p_estimate: np.ndarray) -> TrajectoryAlignment:
    """Return the rigid motion between points (n, 3) under the Geman-McClure cost.

    The cost is solved from the convex side (graduated non-convexity), so no start is needed.
    The scale of the noise is that of the better half of the points, found anew until it stays.
    """
    fit = align_umeyama(p_reference, p_estimate)
    if len(p_reference) < _MIN_POSES or not fit.is_determined:
        return dataclasses.replace(fit, mode="robust", inlier_share=1.0)
    sigma = _noise_m(_residuals(fit, p_reference, p_estimate))
    for _ in range(10):
        fit = _graduated(p_reference, p_estimate, _INLIER_CHI3 * sigma)
        residuals = _residuals(fit, p_reference, p_estimate)
        found = _noise_m(residuals)
        if found >= sigma * 0.99:
            break
        sigma = found
    inlier_share = float(np.mean(residuals <= _INLIER_CHI3 * sigma))
    return dataclasses.replace(fit, mode="robust", inlier_share=inlier_share)


def _graduated(
    p_reference: np.ndarray, p_estimate: np.ndarray, limit_m: float
) -> TrajectoryAlignment:
    """Minimise the Geman-McClure cost of scale limit_m: weights (mu c^2 / (r^2 + mu c^2))^2."""
    fit = align_umeyama(p_reference, p_estimate)
    mu = max(2.0 * float(_residuals(fit, p_reference, p_estimate).max()) ** 2 / limit_m**2, 1.0)
    while True:
        for _ in range(3 if mu > 1.0 else 10):
            squared = _residuals(fit, p_reference, p_estimate) ** 2
            weights = (mu * limit_m**2 / (squared + mu * limit_m**2)) ** 2
            fit = align_umeyama(p_reference, p_estimate, weights=weights)
        if mu <= 1.0:
            return fit
        mu = max(mu / _SHRINK, 1.0)


def _residuals(
    fit: TrajectoryAlignment, p_reference: np.ndarray, p_estimate: np.ndarray
) -> np.ndarray:
    T = fit.T_reference_estimate
    return np.linalg.norm(p_reference - p_estimate @ T[:3, :3].T - T[:3, 3], axis=1)


def _noise_m(residuals: np.ndarray) -> float:
    return max(float(np.median(residuals)) / _MEDIAN_CHI3, _LEAST_SIGMA_M)
