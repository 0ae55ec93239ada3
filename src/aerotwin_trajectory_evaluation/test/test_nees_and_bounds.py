# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import dataclasses
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import (
    StereoCamera,
    TrajectoryProtocol,
    evaluate_trajectory,
    figures,
    innovation_nis,
    pose_nees,
    stereo_bound,
)
from aerotwin_trajectory_evaluation.consistency import effective_samples, normalised_squared

N = 2000
# Mean of n chi-square numbers of k degrees: five standard deviations sqrt(2 k / n).
MEAN_3, MEAN_6 = 5 * np.sqrt(2 * 3 / N), 5 * np.sqrt(2 * 6 / N)


def noisy_poses(rng, factor=1.0):
    """Return truth, estimate and covariances; the errors are `factor` times what those say."""
    t = np.arange(N) * 0.1
    p = np.column_stack([t, np.sin(t), np.cos(0.3 * t)])
    q = Rotation.from_rotvec(np.column_stack([0.2 * np.sin(t), 0.1 * np.cos(t), 0.5 * t]))
    mixing = rng.normal(0, 1, (6, 6)) * np.array([0.1] * 3 + [0.01] * 3)[:, None]
    covariance = mixing @ mixing.T
    errors = factor * rng.multivariate_normal(np.zeros(6), covariance, N)
    # Rotations of the covariance are about the fixed axes of the frame: the error comes first.
    turned = Rotation.from_rotvec(errors[:, 3:]) * q
    stamps = (t * 1e9).astype(np.int64)
    truth = Trajectory(stamps, p, q.as_quat())
    estimate = Trajectory(stamps, p + errors[:, :3], turned.as_quat())
    return truth, estimate, np.tile(covariance, (N, 1, 1))


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1.0, "consistent"), (2.0, "over-confident"), (0.5, "too cautious")],
)
def test_the_verdict_is_that_of_the_errors(factor, verdict):
    truth, estimate, covariances = noisy_poses(np.random.default_rng(1000), factor)
    tests = pose_nees(truth, estimate, covariances, R_reference_estimate=np.eye(3))
    assert {name: test.verdict for name, test in tests.items()} == {
        "position": verdict,
        "pose": verdict,
    }
    assert tests["position"].mean == pytest.approx(3 * factor**2, rel=MEAN_3)
    assert tests["pose"].mean == pytest.approx(6 * factor**2, rel=MEAN_6)
    assert tests["pose"].factor == pytest.approx(factor, rel=MEAN_6)


def test_covariances_turn_with_the_alignment():
    """The estimate in another frame, with its covariances in that frame: the same NEES."""
    truth, estimate, covariances = noisy_poses(np.random.default_rng(1001))
    R = Rotation.from_rotvec([0.5, -1.0, 2.0])
    turn = np.kron(np.eye(2), R.as_matrix())
    moved = Trajectory(
        estimate.stamps_ns,
        R.apply(estimate.p_ref_body) + np.array([3.0, 2.0, 1.0]),
        (R * Rotation.from_quat(estimate.q_ref_body)).as_quat(),
    )
    plain = pose_nees(truth, estimate, covariances, R_reference_estimate=np.eye(3))
    back = np.eye(4)
    back[:3, :3], back[:3, 3] = R.inv().as_matrix(), -R.inv().apply([3.0, 2.0, 1.0])
    provided = evaluate_trajectory(
        truth,
        moved,
        protocol=TrajectoryProtocol(align="none"),
        T_reference_estimate=back,
        covariances=turn @ covariances @ turn.T,
    )
    for name, test in provided.consistency.items():
        np.testing.assert_allclose(test.values, plain[name].values, rtol=1e-6)
    fitted = evaluate_trajectory(truth, moved, covariances=turn @ covariances @ turn.T)
    # The fit takes a little of the 2000 errors away, and adds a little turn.
    test = fitted.consistency["position"]
    assert test.mean == pytest.approx(plain["position"].mean, rel=0.02)
    assert fitted.metrics()["consistency"]["position"]["verdict"] == "consistent"


def test_the_pose_joined_to_truth_does_not_set_the_scale_of_the_picture():
    truth, estimate, covariances = noisy_poses(np.random.default_rng(1003))
    evaluation = evaluate_trajectory(truth, estimate, covariances=covariances)
    test = evaluation.consistency["position"]
    joined = dataclasses.replace(test, values=np.append(1e-19, test.values[1:]))
    decades = re.findall(r"10\^\{(-?\d+)\}", figures.consistency(evaluation, joined, "nees"))
    assert min(map(int, decades)) == -3
    assert max(map(int, decades)) >= 1


def test_covariances_that_are_none_are_counted_and_left_out():
    truth, estimate, covariances = noisy_poses(np.random.default_rng(1002))
    covariances[:100] = 0.0
    covariances[100] = np.nan
    covariances[101] = -np.eye(6)
    test = pose_nees(truth, estimate, covariances, R_reference_estimate=np.eye(3))["pose"]
    assert test.n_unusable == 102
    assert test.at[0] == 102
    assert pose_nees(truth, estimate, covariances * 0, R_reference_estimate=np.eye(3)) == {}


def test_errors_that_are_alike_count_less():
    """An AR(1) process with rho = 0.9 has n (1 - rho) / (1 + rho) independent samples."""
    rng = np.random.default_rng(1003)
    n, rho = 200_000, 0.9
    noise = rng.normal(0, 1, n)
    values = np.zeros(n)
    for k in range(1, n):
        values[k] = rho * values[k - 1] + noise[k]
    assert effective_samples(values) == pytest.approx(n * (1 - rho) / (1 + rho), rel=0.15)
    assert effective_samples(noise) == pytest.approx(n, rel=0.05)
    assert effective_samples(np.ones(50)) == 50.0


def test_a_slow_error_is_not_judged_by_the_number_of_poses():
    """One constant offset of 1.5 sigma over 500 poses is one sample, not 500."""
    errors = np.full((500, 3), 1.5) + np.random.default_rng(1004).normal(0, 1e-3, (500, 3)).cumsum(
        0
    )
    test = normalised_squared(errors, np.tile(np.eye(3), (500, 1, 1)))
    assert test.n_effective < 20
    independent = normalised_squared(errors, np.tile(np.eye(3), (500, 1, 1)), are_independent=True)
    assert independent.verdict == "over-confident"


def test_innovations_of_a_right_filter_are_consistent():
    rng = np.random.default_rng(1005)
    S = np.array([[2.0, 0.3], [0.3, 0.5]])
    innovations = rng.multivariate_normal([0, 0], S, N)
    test = innovation_nis(innovations, np.tile(S, (N, 1, 1)))
    assert test.verdict == "consistent"
    assert test.n_effective == N
    assert test.share_within == pytest.approx(0.95, abs=5 * np.sqrt(0.95 * 0.05 / N))
    assert innovation_nis(3 * innovations, np.tile(S, (N, 1, 1))).verdict == "over-confident"
    assert innovation_nis(innovations[:5], np.tile(S, (5, 1, 1))) is None


def test_the_bound_of_a_stereo_camera_is_that_of_its_geometry():
    """b = 0.11 m, f = 458 px, z = 10 m: about 2 m per pixel of disparity."""
    camera = StereoCamera(baseline_m=0.11, focal_px=458.0, distance_m=10.0, pixel_noise_px=0.1)
    bound = stereo_bound(camera)
    per_pixel = bound.depth_std_m / (np.sqrt(2) * 0.1)
    assert per_pixel == pytest.approx(2.0, abs=0.02)
    # Full bundle adjustment is known to reach 0.1 to 0.2 % there.
    assert bound.drift_percent == pytest.approx(0.2, abs=0.01)


def test_the_bound_holds_against_simulated_features():
    """Depths with the stated noise, scale of a motion from their mean: the same spread."""
    camera = StereoCamera(baseline_m=0.5, focal_px=450.0, distance_m=10.0, pixel_noise_px=0.2)
    bound, rng, n_trials = stereo_bound(camera), np.random.default_rng(1006), 4000
    disparity = camera.focal_px * camera.baseline_m / camera.distance_m
    noise = rng.normal(0, camera.pixel_noise_px, (n_trials, camera.n_features, 2))
    depths = camera.focal_px * camera.baseline_m / (disparity + noise[..., 0] - noise[..., 1])
    scale = depths.mean(axis=1) / camera.distance_m
    # Spread of a standard deviation from 4000 trials, five times, and the bend of 1/d.
    assert scale.std() * 100 == pytest.approx(
        bound.drift_percent, rel=5 / np.sqrt(2 * n_trials) + 0.01
    )


def test_an_honest_odometry_is_not_called_over_confident_for_being_aligned():
    """Errors walk from zero and the covariance says so; a fit would move the first poses."""
    rng = np.random.default_rng(1000)
    n, step_m = 2000, 0.01
    stamps = (np.arange(n) * 5e7).astype(np.int64)
    t = np.arange(n) * 0.05
    p = np.column_stack([3.0 * np.sin(0.2 * t), 2.0 * np.cos(0.17 * t), 0.1 * t])
    q = np.tile([0.0, 0.0, 0.0, 1.0], (n, 1))
    drift = np.cumsum(np.vstack([np.zeros(3), rng.normal(0.0, step_m, (n - 1, 3))]), axis=0)
    covariances = np.tile(np.eye(6), (n, 1, 1)) * (np.arange(n) * step_m**2 + 1e-9)[:, None, None]
    truth, estimate = Trajectory(stamps, p, q), Trajectory(stamps, p + drift, q)
    for align in ("none", "origin", "se3"):
        choices = TrajectoryProtocol(align=align)
        found = evaluate_trajectory(truth, estimate, protocol=choices, covariances=covariances)
        test = found.consistency["position"]
        assert test.low < test.mean < test.high, (align, test.mean)
