# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import PinholeCamera
from aerotwin_stereo_odometry.pose import ransac_pose, refine_pose

MODEL = PinholeCamera(width=752, height=480, fx=458.0, fy=458.0, cx=375.5, cy=239.5)
CAMERA = np.array([458.0, 458.0, 375.5, 239.5, 0.11])
SIGMA_PX = 0.1
N_SIGMA = 4.5  # of six numbers, all of them in 999 of 1000 draws


def scene(n=200, seed=0):
    rng = np.random.default_rng(seed)
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec([0.05, -0.1, 0.03]).as_matrix()
    T[:3, 3] = [-0.8, 0.1, 0.2]
    points = rng.uniform([-5, -3, 7], [5, 3, 12], (n, 3))
    uv = MODEL.project(points @ T[:3, :3].T + T[:3, 3])
    return T, points, uv + SIGMA_PX * rng.standard_normal(uv.shape), rng


def error(T, truth):
    """Return the left increment from the truth to T."""
    step = T @ np.linalg.inv(truth)
    return np.concatenate([step[:3, 3], Rotation.from_matrix(step[:3, :3]).as_rotvec()])


def weights(n):
    return np.tile([1 / SIGMA_PX, 0.0, 1 / SIGMA_PX, 0.0], (n, 1))


def test_the_pose_is_found_within_its_covariance():
    for seed in range(5):
        truth, points, uv, _ = scene(seed=seed)
        measured = np.column_stack([uv, np.zeros(len(uv))])
        result = refine_pose(np.eye(4), points, measured, weights(len(uv)), CAMERA)
        sigma = np.sqrt(np.diag(result.covariance))
        assert (np.abs(error(result.T_cam_odom, truth)) < N_SIGMA * sigma).all()
        assert sigma[:3].max() < 0.02  # m: 0.1 px at 10 m is 2 mm per point


def test_ransac_finds_the_inliers_among_40_percent_nonsense_and_repeats_itself():
    truth, points, uv, rng = scene()
    bad = rng.random(len(uv)) < 0.4
    uv[bad] = rng.uniform([0, 0], [752, 480], (bad.sum(), 2))
    options = {"threshold_px": 1.0, "max_iterations": 200, "seed": 3}
    T, inliers = ransac_pose(points, uv, MODEL.matrix, **options)
    assert np.abs(error(T, truth)).max() < 0.05
    assert inliers[~bad].mean() > 0.95
    assert inliers[bad].mean() < 0.05
    again, same = ransac_pose(points, uv, MODEL.matrix, **options)
    np.testing.assert_array_equal(T, again)
    np.testing.assert_array_equal(inliers, same)


def test_three_points_are_no_pose():
    _, points, uv, _ = scene(3)
    assert ransac_pose(points, uv, MODEL.matrix, threshold_px=1, max_iterations=9, seed=0) is None


def test_points_on_one_ray_leave_the_pose_undetermined():
    points = np.column_stack([np.zeros(8), np.zeros(8), np.arange(5.0, 13.0)])
    measured = np.tile([375.5, 239.5, 0.0], (8, 1))
    result = refine_pose(np.eye(4), points, measured, weights(8), CAMERA)
    covariance = result.covariance
    assert not np.isfinite(covariance).all() or np.diag(covariance).max() > 1e3
