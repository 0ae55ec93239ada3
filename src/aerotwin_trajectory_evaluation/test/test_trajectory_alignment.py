# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import align_trajectories

ROUNDING = 1e-9


def path(n=60, seed=5):
    rng = np.random.default_rng(seed)
    steps = rng.normal([1.0, 0.2, 0.0], 1.0, (n, 3))
    attitudes = Rotation.from_rotvec(rng.normal(0, 0.3, (n, 3))).as_quat()
    return Trajectory(np.arange(n) * 10**8, np.cumsum(steps, axis=0), attitudes)


def moved(trajectory, R, t, scale=1.0):
    turn = Rotation.from_matrix(R)
    attitudes = (turn * Rotation.from_quat(trajectory.q_ref_body)).as_quat()
    return Trajectory(trajectory.stamps_ns, scale * trajectory.p_ref_body @ R.T + t, attitudes)


@pytest.mark.parametrize(("mode", "scale"), [("se3", 1.0), ("sim3", 1.25)])
def test_a_moved_path_is_moved_back(mode, scale):
    estimate = path()
    R = Rotation.from_rotvec([0.3, -0.2, 0.9]).as_matrix()
    result = align_trajectories(moved(estimate, R, [5.0, -3.0, 1.0], scale), estimate, mode)
    np.testing.assert_allclose(result.T_reference_estimate[:3, :3], R, atol=ROUNDING)
    np.testing.assert_allclose(result.T_reference_estimate[:3, 3], [5.0, -3.0, 1.0], atol=1e-7)
    assert result.scale == pytest.approx(scale)
    assert result.is_determined


def test_origin_joins_the_first_poses():
    truth, estimate = path(seed=1), path(seed=2)
    aligned = align_trajectories(truth, estimate, "origin").apply(estimate)
    np.testing.assert_allclose(aligned.transforms()[0], truth.transforms()[0], atol=ROUNDING)


def test_yaw_is_the_best_of_all_yaws():
    truth = path()
    rng = np.random.default_rng(8)
    estimate = moved(truth, Rotation.from_euler("z", -0.7).as_matrix(), [1.0, 2.0, 3.0])
    estimate = Trajectory(
        truth.stamps_ns, estimate.p_ref_body + rng.normal(0, 0.3, (60, 3)), estimate.q_ref_body
    )
    r = truth.p_ref_body - truth.p_ref_body.mean(0)
    e = estimate.p_ref_body - estimate.p_ref_body.mean(0)
    cost = lambda a: np.sum((r - e @ Rotation.from_euler("z", a).as_matrix().T) ** 2)  # noqa: E731
    best = minimize_scalar(cost, bounds=(0.0, 1.5), method="bounded", options={"xatol": 1e-10}).x
    result = align_trajectories(truth, estimate, "yaw")
    removed = result.removed(estimate.p_ref_body)
    assert np.radians(removed["yaw_deg"]) == pytest.approx(best, abs=1e-6)
    assert removed["tilt_deg"] == 0.0


def test_removed_parts_are_named_apart():
    estimate = path()
    R = (
        Rotation.from_euler("z", 30, degrees=True) * Rotation.from_euler("x", 4, degrees=True)
    ).as_matrix()
    shifted = moved(estimate, R, [0.0, 0.0, 0.0], 1.02)
    removed = align_trajectories(shifted, estimate, "sim3").removed(estimate.p_ref_body)
    assert removed["yaw_deg"] == pytest.approx(30.0)
    assert removed["tilt_deg"] == pytest.approx(4.0)
    assert removed["scale_percent"] == pytest.approx(2.0)


@pytest.mark.parametrize("direction", [[1.0, 0.0, 0.0], [0.3, -0.5, 0.2]])
def test_a_straight_line_is_explained_and_not_an_exception(direction):
    line = np.outer(np.arange(50.0), direction)
    truth = Trajectory(np.arange(50) * 10**8, line, np.tile([0, 0, 0, 1.0], (50, 1)))
    result = align_trajectories(truth, truth, "se3")
    assert not result.is_determined
    assert "straight line" in result.reason


def test_standing_still_is_explained():
    truth = Trajectory(np.arange(9) * 10**8, np.ones((9, 3)), np.tile([0, 0, 0, 1.0], (9, 1)))
    assert "stands still" in align_trajectories(truth, truth, "sim3").reason
    assert not align_trajectories(truth, truth, "yaw").is_determined
