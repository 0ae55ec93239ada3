# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_stereo_odometry.covariance import compose_covariance, increment_to_odom
from aerotwin_stereo_odometry.odometry import StereoOdometryFrame, body_odometry
from aerotwin_stereo_odometry.pair_calibration import MAX_WAITING, StereoPairing

ROUNDING = 1e-9
STEP_ERROR = 1e-5
SAMPLE_ERROR = 0.05  # 5 sigma of a variance from 20 000 samples
T_BODY_OPTICAL = np.array(
    [[0.0, 0.0, 1.0, 0.1], [-1.0, 0.0, 0.0, 0.055], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
)


def transform(rotvec, p):
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(rotvec).as_matrix()
    T[:3, 3] = p
    return T


def frame(stamp_ns, T_odom_body, covariance=None):
    covariance = np.eye(6) * 1e-4 if covariance is None else covariance
    return StereoOdometryFrame(
        stamp_ns=stamp_ns,
        T_odom_optical=T_odom_body @ T_BODY_OPTICAL,
        covariance=covariance,
        frame_covariance=covariance,
        is_tracked=True,
        is_keyframe=False,
        n_features=100,
        n_inliers=90,
    )


def test_a_circle_at_constant_speed_has_a_constant_twist_in_the_body():
    speed, rate, dt = 3.0, 0.8, 0.05
    before = None
    for k in range(4):
        yaw = rate * dt * k
        p = speed / rate * np.array([np.sin(yaw), 1 - np.cos(yaw), 0.0])
        before = body_odometry(
            frame(int(k * dt * 1e9), transform([0, 0, yaw], p)), T_BODY_OPTICAL, before
        )
        if k:
            # the chord of an arc is shorter than the arc by (angle)^2 / 24
            np.testing.assert_allclose(before.twist_in_body, [speed, 0, 0, 0, 0, rate], atol=1e-3)


def test_the_first_frame_knows_its_place_but_not_its_speed():
    T = transform([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])
    body = body_odometry(frame(0, T), T_BODY_OPTICAL, None)
    np.testing.assert_allclose(body.T_odom_body, T, atol=ROUNDING)
    assert np.diag(body.twist_covariance).min() > 1e5


def test_a_rotation_error_of_the_camera_moves_the_body_by_the_lever():
    covariance = np.diag([0, 0, 0, 0, 0, 0.01**2])
    body = body_odometry(frame(0, np.eye(4), covariance), T_BODY_OPTICAL, None)
    # the body's origin is 0.1 m behind and 0.055 m right of the camera; the error turns about z
    expected = 0.01**2 * np.array([0.055**2, 0.1**2, 0.0])
    np.testing.assert_allclose(np.diag(body.pose_covariance)[:3], expected, atol=1e-12)


def test_the_covariance_of_a_chain_is_that_of_samples():
    rng = np.random.default_rng(0)
    base, relative = np.diag([1, 2, 3, 4, 5, 6]) * 1e-6, np.diag([6, 5, 4, 3, 2, 1]) * 1e-6
    lever = np.array([3.0, -1.0, 2.0])
    a = rng.multivariate_normal(np.zeros(6), base, 20000)
    b = rng.multivariate_normal(np.zeros(6), relative, 20000)
    p = a[:, :3] + Rotation.from_rotvec(a[:, 3:]).apply(lever) - lever + b[:, :3]
    sampled = np.cov(np.column_stack([p, a[:, 3:] + b[:, 3:]]).T)
    scale = np.sqrt(np.outer(np.diag(sampled), np.diag(sampled)))
    np.testing.assert_allclose(
        compose_covariance(base, lever, relative) / scale, sampled / scale, atol=SAMPLE_ERROR
    )


def test_a_camera_increment_becomes_the_error_of_the_pose_in_odom():
    T_cam_odom = transform([0.4, -0.2, 0.9], [1.0, 2.0, 3.0])
    rng = np.random.default_rng(1)
    A = rng.normal(size=(6, 6)) * 1e-5
    columns = []
    for d in A.T:  # the covariance A A^T is the sum over its columns
        T = np.linalg.inv(transform(d[3:], d[:3]) @ T_cam_odom)
        truth = np.linalg.inv(T_cam_odom)
        turn = Rotation.from_matrix(T[:3, :3] @ truth[:3, :3].T).as_rotvec()
        columns.append(np.concatenate([T[:3, 3] - truth[:3, 3], turn]))
    expected = np.array(columns).T @ np.array(columns)
    ours = increment_to_odom(A @ A.T, T_cam_odom)
    np.testing.assert_allclose(ours[3:, 3:], expected[3:, 3:], rtol=1e-3, atol=1e-15)
    np.testing.assert_allclose(ours[:3, :3], expected[:3, :3], rtol=1e-3, atol=1e-15)


def test_images_pair_by_equal_stamps_only():
    pairing = StereoPairing()
    assert pairing.add("left", 10, "L10") is None
    assert pairing.add("right", 11, "R11") is None
    assert pairing.add("right", 10, "R10") == (10, "L10", "R10")
    assert pairing.add("left", 12, "L12") is None
    assert pairing.add("right", 12, "R12") == (12, "L12", "R12")
    assert pairing.n_single == 1


def test_single_images_do_not_pile_up():
    pairing = StereoPairing()
    for stamp in range(3 * MAX_WAITING):
        assert pairing.add("left", stamp, stamp) is None
    assert pairing.n_single == 2 * MAX_WAITING
