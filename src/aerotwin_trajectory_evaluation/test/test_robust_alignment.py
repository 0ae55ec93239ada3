# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_trajectory_evaluation.alignment import align_robustly, align_umeyama

NOISE_M = 0.02
N = 600


def paths(seed, share_astray):
    """Return truth and an estimate of which a stretch at the end has gone astray."""
    rng = np.random.default_rng(seed)
    reference = np.cumsum(rng.normal(0, 0.3, (N, 3)), axis=0)
    R = Rotation.random(rng=rng).as_matrix()
    t = rng.normal(0, 5, 3)
    estimate = (reference - t) @ R + rng.normal(0, NOISE_M, (N, 3))
    n_astray = int(N * share_astray)
    if n_astray:
        estimate[-n_astray:] += np.cumsum(rng.normal(0.1, 0.3, (n_astray, 3)), axis=0) + 3.0
    return reference, estimate, R, t


@pytest.mark.parametrize("share", [0.0, 0.2, 0.4])
@pytest.mark.parametrize("seed", [1000, 1001, 1002, 1003, 1004])
def test_a_stretch_gone_astray_does_not_pull(seed, share):
    reference, estimate, _, _ = paths(seed, share)
    fit = align_robustly(reference, estimate)
    inliers = slice(0, N - int(N * share))
    oracle = align_umeyama(reference[inliers], estimate[inliers]).T_reference_estimate
    # The oracle knows which poses are good; the cost still weighs those by their residuals.
    moved = estimate @ fit.T_reference_estimate[:3, :3].T + fit.T_reference_estimate[:3, 3]
    best = estimate @ oracle[:3, :3].T + oracle[:3, 3]
    assert np.abs(moved - best)[inliers].max() < NOISE_M
    # 97.5 % of the good poses lie within the limit; few of the stray ones do.
    assert fit.inlier_share == pytest.approx((1 - share) * 0.975, abs=0.05)


def test_least_squares_is_pulled():
    reference, estimate, R, _ = paths(1000, 0.4)
    fit = align_umeyama(reference, estimate).T_reference_estimate
    off = Rotation.from_matrix(fit[:3, :3].T @ R).magnitude()
    robust = align_robustly(reference, estimate).T_reference_estimate
    assert Rotation.from_matrix(robust[:3, :3].T @ R).magnitude() < 0.1 * off


def test_two_poses_and_perfect_paths_are_no_trouble():
    reference, _, R, t = paths(1000, 0.0)
    perfect = (reference - t) @ R
    fit = align_robustly(reference, perfect)
    assert fit.inlier_share == 1.0
    np.testing.assert_allclose(fit.T_reference_estimate[:3, :3], R, atol=1e-9)
    two = align_robustly(reference[:2], perfect[:2])
    assert not two.is_determined
    assert "2 poses" in two.reason
    three = align_robustly(reference[:3], perfect[:3])
    assert "too few for a robust fit" in three.reason
    assert (two.inlier_share, three.inlier_share) == (None, None)


@pytest.mark.parametrize("seed", [1000, 1001, 1002])
def test_a_straight_line_is_fitted_robustly_too(seed):
    """Its roll is open, which is said; where the line lies and points is not pulled."""
    rng = np.random.default_rng(seed)
    share = 0.3
    reference = np.outer(np.linspace(0.0, 60.0, N), [0.8, 0.5, 0.33])
    estimate = reference + np.array([3.0, -2.0, 1.0]) + rng.normal(0, NOISE_M, (N, 3))
    n_good = int(N * (1 - share))
    estimate[n_good:] += np.linspace(2.0, 30.0, N - n_good)[:, None] * [0.3, -0.9, 0.3]
    fit = align_robustly(reference, estimate)
    assert not fit.is_determined
    assert "straight line" in fit.reason
    assert fit.inlier_share == pytest.approx((1 - share) * 0.975, abs=0.05)
    off = estimate @ fit.T_reference_estimate[:3, :3].T + fit.T_reference_estimate[:3, 3]
    off_m = np.linalg.norm(off - reference, axis=1)[:n_good]
    # Noise of three axes, its largest of 420 draws below five deviations of each.
    assert off_m.max() < 5.0 * NOISE_M * np.sqrt(3.0)
    pulled = align_umeyama(reference, estimate).T_reference_estimate
    pulled_m = np.linalg.norm(estimate @ pulled[:3, :3].T + pulled[:3, 3] - reference, axis=1)
    assert np.median(pulled_m[:n_good]) > 10.0 * np.median(off_m)
