# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from aerotwin_stereo_odometry.bundle import adjust_bundle
from aerotwin_stereo_odometry.cholesky import factorise, invert_3x3, solve_factorised

CAMERA = np.array([458.0, 458.0, 375.5, 239.5, 0.11])
SIGMA_UV, SIGMA_D = 0.1, 0.05
SAME_OPTIMUM = 1e-5  # m, rad; both solvers stop at relative cost changes of about 1e-9
ROUNDING = 1e-9


def measure(T_cam_odom, points):
    p = points @ T_cam_odom[:3, :3].T + T_cam_odom[:3, 3]
    uv = 458.0 * p[:, :2] / p[:, 2:] + [375.5, 239.5]
    return np.column_stack([uv, 458.0 * 0.11 / p[:, 2]])


def problem(n_keys=4, n_points=25, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.uniform([-4, -3, 7], [5, 3, 11], (n_points, 3))
    poses = np.tile(np.eye(4), (n_keys, 1, 1))
    for k in range(n_keys):
        poses[k, :3, :3] = Rotation.from_rotvec(rng.normal(0, 0.03, 3)).as_matrix()
        poses[k, :3, 3] = [-0.5 * k, 0.05 * k, 0.0]
    keys, indices = np.meshgrid(np.arange(n_keys), np.arange(n_points))
    keys, indices = keys.ravel(), indices.ravel()
    exact = np.array([measure(poses[k], points[[i]])[0] for k, i in zip(keys, indices)])
    noise = rng.normal(size=exact.shape) * [SIGMA_UV, SIGMA_UV, SIGMA_D]
    weights = np.tile([1 / SIGMA_UV, 0.0, 1 / SIGMA_UV, 1 / SIGMA_D], (len(keys), 1))
    return poses, points, keys, indices, exact + 0.5 * noise, weights


def start(poses, points, seed=1):
    rng = np.random.default_rng(seed)
    poses = poses.copy()
    for k in range(1, len(poses)):
        poses[k] = moved(poses[k], rng.normal(0, [0.05] * 3 + [0.01] * 3))
    return poses, points * rng.normal(1.0, 0.03, (len(points), 1))


def moved(T, d):
    step = np.eye(4)
    step[:3, :3] = Rotation.from_rotvec(d[3:]).as_matrix()
    step[:3, 3] = d[:3]
    return step @ T


def scipy_solution(poses, points, keys, indices, measured):
    n_free = len(poses) - 1

    def unpack(x):
        d = x[: 6 * n_free].reshape(n_free, 6)
        return [poses[0]] + [moved(T, e) for T, e in zip(poses[1:], d)], x[6 * n_free :]

    def residual(x):
        T, p = unpack(x)
        p = p.reshape(-1, 3)
        seen = np.array([measure(T[k], p[[i]])[0] for k, i in zip(keys, indices)])
        return ((seen - measured) / [SIGMA_UV, SIGMA_UV, SIGMA_D]).ravel()

    x0 = np.concatenate([np.zeros(6 * n_free), points.ravel()])
    solution = least_squares(residual, x0, xtol=1e-12, ftol=1e-12, x_scale="jac")
    return *unpack(solution.x), solution.jac


def test_a_tiny_bundle_has_the_optimum_and_covariance_of_scipy():
    poses, points, keys, indices, measured, weights = problem(3, 12)
    T0, p0 = start(poses, points)
    ours = adjust_bundle(
        T0, p0, n_fixed=1, keys=keys, indices=indices, measured=measured, weights=weights,
        camera=CAMERA, max_iterations=50,
    )  # fmt: skip
    T, p, jacobian = scipy_solution(T0, p0, keys, indices, measured)
    np.testing.assert_allclose(ours.T_cam_odom, T, atol=SAME_OPTIMUM)
    np.testing.assert_allclose(ours.points_odom, p.reshape(-1, 3), atol=20 * SAME_OPTIMUM)
    # the scipy increments start at T0: to first order the last pose's block is the same
    covariance = np.linalg.inv(jacobian.T @ jacobian)[6:12, 6:12]
    std, expected = np.sqrt(np.diag(ours.pose_covariance)), np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(std, expected, rtol=0.05)


def test_exact_measurements_give_back_the_truth():
    poses, points, keys, indices, _, weights = problem()
    exact = np.array([measure(poses[k], points[[i]])[0] for k, i in zip(keys, indices)])
    T0, p0 = start(poses, points)
    result = adjust_bundle(
        T0, p0, n_fixed=1, keys=keys, indices=indices, measured=exact, weights=weights,
        camera=CAMERA, max_iterations=50,
    )  # fmt: skip
    np.testing.assert_allclose(result.T_cam_odom, poses, atol=SAME_OPTIMUM)
    np.testing.assert_allclose(result.points_odom, points, atol=20 * SAME_OPTIMUM)
    assert result.squared_errors.max() < SAME_OPTIMUM


def test_fixed_poses_do_not_move_and_the_cost_falls():
    poses, points, keys, indices, measured, weights = problem()
    T0, p0 = start(poses, points)
    result = adjust_bundle(
        T0, p0, n_fixed=2, keys=keys, indices=indices, measured=measured, weights=weights,
        camera=CAMERA, max_iterations=3,
    )  # fmt: skip
    np.testing.assert_array_equal(result.T_cam_odom[:2], T0[:2])
    assert result.cost[1] < result.cost[0]


def test_a_tenth_of_gross_errors_hardly_moves_the_poses_and_shows():
    poses, points, keys, indices, measured, weights = problem(5, 60)
    clean = adjust_bundle(
        poses, points, n_fixed=1, keys=keys, indices=indices, measured=measured, weights=weights,
        camera=CAMERA, max_iterations=30,
    )  # fmt: skip
    rng = np.random.default_rng(2)
    bad = rng.random(len(keys)) < 0.1
    wrong = measured.copy()
    wrong[bad, :2] += rng.choice([-1, 1], (bad.sum(), 2)) * rng.uniform(2, 20, (bad.sum(), 2))
    result = adjust_bundle(
        poses, points, n_fixed=1, keys=keys, indices=indices, measured=wrong, weights=weights,
        camera=CAMERA, max_iterations=30,
    )  # fmt: skip
    shift = np.abs(result.T_cam_odom[:, :3, 3] - clean.T_cam_odom[:, :3, 3]).max()
    assert shift < 5.0 * np.sqrt(clean.pose_covariance[0, 0])
    assert (result.squared_errors[bad, 0] > 16.0).mean() > 0.95


def test_misuse_is_refused():
    poses, points, keys, indices, measured, weights = problem()
    options = {"measured": measured, "weights": weights, "camera": CAMERA, "max_iterations": 1}
    with pytest.raises(ValueError, match="gauge"):
        adjust_bundle(poses, points, n_fixed=0, keys=keys, indices=indices, **options)
    with pytest.raises(ValueError, match="sorted"):
        adjust_bundle(poses, points, n_fixed=1, keys=keys, indices=indices[::-1], **options)


def test_cholesky_solves_as_numpy_does():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 20))
    A = A.T @ A
    b = rng.normal(size=20)
    expected = np.linalg.solve(A, b)
    assert factorise(A)
    solve_factorised(A, b)
    np.testing.assert_allclose(b, expected, rtol=ROUNDING)
    assert not factorise(np.diag([1.0, -1.0]))
    M, out = np.cov(rng.normal(size=(3, 9))), np.empty((3, 3))
    invert_3x3(M, out)
    np.testing.assert_allclose(out, np.linalg.inv(M), rtol=ROUNDING)
