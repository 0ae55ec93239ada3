# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Consistency of an estimate's own uncertainty: NEES and NIS against chi-square bounds.

Bar-Shalom, Li and Kirubarajan (2001), "Estimation with applications to tracking and navigation",
section 5.4: the normalised squared error of a consistent estimator is chi-square distributed with
as many degrees of freedom as the error has components, so its mean is that number.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.alignment import TrajectoryAlignment, align_trajectories

PROBABILITY = 0.95
_LEAST_SAMPLES = 10
# A first variance below this share of the usual one is that of an odometry.
_GROWS_FROM = 0.1
# A verdict must not depend on the last digit of a number of samples.
_MAX_LAG_SHARE = 0.25


@dataclass(frozen=True, kw_only=True)
class ChiSquareTest:
    """Normalised squared errors compared with those of a consistent estimator.

    Attributes
    ----------
    values, at : (n,) arrays
        e^T P^-1 e of each usable pose, and its index.
    degrees : int
        Components of the error: 3 of a position, 6 of a pose.
    mean, low, high : float
        Mean of the values, and the 95 % bounds of the mean of a consistent estimator.
    n_effective : float
        Independent samples among the n, by their autocorrelation.
    share_within : float
        Share of the values below the 95 % quantile of the distribution.
    n_unusable : int
        Poses with a covariance that is zero, negative or not a number.
    """

    values: np.ndarray
    at: np.ndarray
    degrees: int
    mean: float
    low: float
    high: float
    n_effective: float
    share_within: float
    n_unusable: int

    @property
    def verdict(self) -> str:
        """`consistent`, `over-confident` or `too cautious`."""
        if self.mean > self.high:
            return "over-confident"
        return "too cautious" if self.mean < self.low else "consistent"

    @property
    def factor(self) -> float:
        """Factor by which the standard deviations must be multiplied to fit the errors."""
        return float(np.sqrt(self.mean / self.degrees))

    def plain(self) -> dict[str, Any]:
        """Return a mapping for JSON."""
        names = ("degrees", "mean", "low", "high", "n_effective", "share_within", "n_unusable")
        return {
            "n": len(self.values),
            "verdict": self.verdict,
            "factor": self.factor,
            **{name: getattr(self, name) for name in names},
        }


def consistency_of(
    paired: Trajectory,
    guess: Trajectory,
    covariances: np.ndarray | None,
    *,
    alignment: TrajectoryAlignment,
    R_initial: np.ndarray,
) -> dict[str, ChiSquareTest]:
    """Return the NEES of the aligned estimate; of an odometry, with the first poses joined.

    The covariance of an odometry grows from about zero: a least-squares fit would move the first
    poses by the drift of the last ones, which no covariance could cover.
    """
    if covariances is None:
        return {}
    variances = np.trace(covariances[:, :3, :3], axis1=1, axis2=2)
    if alignment.mode != "none" and variances[0] < _GROWS_FROM * np.nanmedian(variances):
        alignment = align_trajectories(paired, guess, "origin")
    return pose_nees(
        paired,
        alignment.apply(guess),
        covariances,
        R_reference_estimate=alignment.T_reference_estimate[:3, :3] @ R_initial,
        scale=alignment.scale,
    )


def pose_nees(
    reference: Trajectory,
    estimate: Trajectory,
    covariances: np.ndarray,
    *,
    R_reference_estimate: np.ndarray,
    scale: float = 1.0,
) -> dict[str, ChiSquareTest]:
    """Return the tests of position (`position`, 3 degrees) and whole pose (`pose`, 6).

    Parameters
    ----------
    reference, estimate : Trajectory
        Paired; the estimate aligned. The covariance also covers the error that the alignment
        removes, so the verdict is more favourable than the truth.
    covariances : (n, 6, 6) array
        As in geometry_msgs/PoseWithCovariance: x, y, z, then rotations about the fixed axes x, y, z
        of the estimate's own frame [m^2, rad^2].
    R_reference_estimate, scale
        Rotation and scale of the alignment, applied to the covariances too.
    """
    from scipy.spatial.transform import Rotation

    turn = np.zeros((6, 6))
    turn[:3, :3], turn[3:, 3:] = scale * R_reference_estimate, R_reference_estimate
    turned = turn @ covariances @ turn.T
    shift = estimate.p_ref_body - reference.p_ref_body
    rotation = (
        Rotation.from_quat(estimate.q_ref_body) * Rotation.from_quat(reference.q_ref_body).inv()
    )
    error = np.hstack([shift, rotation.as_rotvec()])
    tests = {
        "position": normalised_squared(error[:, :3], turned[:, :3, :3]),
        "pose": normalised_squared(error, turned),
    }
    return {name: test for name, test in tests.items() if test is not None}


def innovation_nis(innovations: np.ndarray, covariances: np.ndarray) -> ChiSquareTest | None:
    """Return the test of innovations (n, k) with their predicted covariances (n, k, k).

    Innovations of a consistent filter are independent, so each counts as one sample.
    """
    return normalised_squared(innovations, covariances, are_independent=True)


def normalised_squared(
    errors: np.ndarray, covariances: np.ndarray, *, are_independent: bool = False
) -> ChiSquareTest | None:
    """Return the test of errors (n, k) with covariances (n, k, k); None below ten usable ones."""
    from scipy.stats import chi2

    symmetric = (covariances + covariances.transpose(0, 2, 1)) / 2.0
    finite = np.isfinite(symmetric).all(axis=(1, 2))
    symmetric = np.where(finite[:, None, None], symmetric, 0.0)
    at = np.flatnonzero(np.linalg.eigvalsh(symmetric)[:, 0] > 0.0)
    if len(at) < _LEAST_SAMPLES:
        return None
    solved = np.linalg.solve(symmetric[at], errors[at][:, :, None])[:, :, 0]
    values = np.sum(errors[at] * solved, axis=1)
    degrees = errors.shape[1]
    n = float(len(at)) if are_independent else effective_samples(values)
    low, high = chi2.ppf([(1 - PROBABILITY) / 2, (1 + PROBABILITY) / 2], n * degrees) / n
    return ChiSquareTest(
        values=values,
        at=at,
        degrees=degrees,
        mean=float(values.mean()),
        low=float(low),
        high=float(high),
        n_effective=n,
        share_within=float(np.mean(values <= chi2.ppf(PROBABILITY, degrees))),
        n_unusable=len(errors) - len(at),
    )


def effective_samples(values: np.ndarray) -> float:
    """Return how many independent samples estimate the mean as well as these (n,) do.

    n / (1 + 2 sum rho), autocorrelations summed while neighbouring pairs of them are positive
    (initial positive sequence, Geyer 1992, section 3.3).
    """
    n = len(values)
    centred = values - values.mean()
    spectrum = np.abs(np.fft.rfft(centred, 2 * n)) ** 2
    rho = np.fft.irfft(spectrum)[: max(int(n * _MAX_LAG_SHARE), 2)]
    if rho[0] <= 0.0:
        return float(n)
    rho = rho / rho[0]
    couples = rho[: len(rho) // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(couples <= 0.0)
    end = int(negative[0]) if len(negative) else len(couples)
    return float(np.clip(n / max(2.0 * couples[:end].sum() - 1.0, 1.0), 1.0, n))
