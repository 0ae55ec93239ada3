# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import PinholeCamera
from aerotwin_stereo_odometry import StereoOdometry, StereoOdometryParameters
from aerotwin_stereo_odometry.landmarks import new_landmarks
from aerotwin_stereo_odometry.matching import in_camera, local_warps, position_weights
from aerotwin_stereo_odometry.window import KeyframeWindow, OdometryKeyframe

CAMERA = PinholeCamera(width=752, height=480, fx=458.0, fy=460.0, cx=375.5, cy=239.5)
CAMERA_ROW = np.array([458.0, 460.0, 375.5, 239.5, 0.11])
STEP_ERROR = 1e-4
ROUNDING = 1e-9


def pose(rotvec, translation):
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(rotvec).as_matrix()
    T[:3, 3] = translation
    return T


def born(T_cam_odom, uv, depth):
    points = in_camera(np.linalg.inv(T_cam_odom), CAMERA.unproject(uv, depth))
    patches = np.zeros((len(uv), 25, 25), dtype=np.float32)
    return new_landmarks(0, points, patches, uv, T_cam_odom)


def test_a_warp_is_the_derivative_of_the_pixel_over_a_plane_parallel_to_the_key_image():
    T_key, T_now = pose([0.1, 0.2, -0.1], [1, 2, 3]), pose([-0.1, 0.3, 0.4], [0.5, 2.2, 3.1])
    uv, depth = np.array([[300.0, 200.0], [500.0, 100.0]]), np.array([8.0, 11.0])
    T_now_key = T_now @ np.linalg.inv(T_key)
    warps = local_warps(T_now, born(T_key, uv, depth), np.arange(2), CAMERA)
    step = 1e-3
    for axis in (0, 1):
        there = [
            CAMERA.project(in_camera(T_now_key, CAMERA.unproject(uv + s * e, depth)))
            for s in (step, -step)
            for e in [np.eye(2)[axis]]
        ]
        np.testing.assert_allclose(
            warps[:, :, axis], (there[0] - there[1]) / (2 * step), atol=STEP_ERROR
        )


def test_a_camera_rolled_by_a_quarter_turn_turns_the_patch():
    T_key = np.eye(4)
    T_now = pose([0.0, 0.0, np.pi / 2], [0.0, 0.0, 0.0])  # x of the key camera becomes y
    landmark = born(T_key, np.array([[375.5, 239.5]]), np.array([5.0]))
    warp = local_warps(T_now, landmark, np.arange(1), CAMERA)[0]
    np.testing.assert_allclose(warp, [[0.0, -458 / 460], [460 / 458, 0.0]], atol=ROUNDING)


def test_weights_are_the_square_root_of_the_inverse_covariance():
    information, variance = np.array([[90.0, 25.0, 40.0]]), np.array([8.0])
    H = np.array([[90.0, 25.0], [25.0, 40.0]])
    covariance = 8.0 * np.linalg.inv(H) + 0.05**2 * np.eye(2)
    w = position_weights(information, variance, floor_px=0.05)[0]
    W = np.array([[w[0], w[1]], [0.0, w[2]]])
    np.testing.assert_allclose(W.T @ W, np.linalg.inv(covariance), rtol=ROUNDING)
    assert w[3] == 0.0


def test_turning_on_the_spot_makes_no_keyframe_but_sliding_does(wall):
    parameters = StereoOdometryParameters(image_noise_std=1.0, cell_px=24)
    turn = [pose([0.0, np.radians(0.6 * k), 0.0], [0.0, 0.0, 0.0]) for k in range(7)]
    slide = [pose([0.0, 0.0, 0.0], [0.06 * k, 0.0, 0.0]) for k in range(7)]
    made = []
    for poses in (turn, slide):
        rng, odometry = np.random.default_rng(0), StereoOdometry(wall.rig, parameters)
        frames = [odometry.track(k, *wall.pair(T, rng)) for k, T in enumerate(poses, start=1)]
        assert all(f.is_tracked for f in frames)
        made.append(sum(f.is_keyframe for f in frames[1:]))
    assert made[0] == 0
    assert made[1] >= 1


def test_a_rolling_camera_keeps_its_landmarks(wall):
    odometry = StereoOdometry(wall.rig, StereoOdometryParameters(image_noise_std=1.0, cell_px=24))
    for k in range(16):
        T = pose([0.0, 0.0, 0.03 * k], [0.0, 0.0, 0.0])
        frame = odometry.track(k, *wall.pair(T, np.random.default_rng(k)))
        assert frame.n_inliers > 0.95 * frame.n_features
    np.testing.assert_allclose(frame.T_odom_optical, T, atol=2e-3)


def filled_window(n_keys=6):
    rng = np.random.default_rng(0)
    window = KeyframeWindow(CAMERA_ROW, StereoOdometryParameters(window_free=3, window_fixed=2))
    uv = rng.uniform([100, 80], [650, 400], (40, 2))
    window.landmarks = born(np.eye(4), uv, rng.uniform(8, 12, 40))
    for k in range(n_keys):
        T = pose([0.0, 0.0, 0.0], [-0.4 * k, 0.0, 0.0])
        p = in_camera(T, window.landmarks.points)
        measured = np.column_stack([CAMERA.project(p), 458.0 * 0.11 / p[:, 2]])
        window.add(
            OdometryKeyframe(
                stamp_ns=k,
                T_cam_odom=T,
                covariance=np.eye(6) * 1e-6,
                ident=window.landmarks.ident.copy(),
                measured=measured,
                weights=np.tile([10.0, 0.0, 10.0, 20.0], (40, 1)),
            )
        )
    return window


def test_what_does_not_fit_is_forgotten_and_the_rest_stays():
    window = filled_window()
    newest = window.keyframes[-1]
    newest.measured[7, 0] += 30.0
    newest.measured[9, 2] += 3.0
    window.adjust()
    assert 7 not in newest.ident
    assert len(newest.ident) == 39
    assert newest.weights[newest.ident == 9, 3] == 0.0
    assert (newest.weights[newest.ident != 9, 3] > 0.0).all()
    np.testing.assert_allclose(newest.p_odom_cam, [2.0, 0.0, 0.0], atol=1e-3)


def test_the_window_keeps_its_size_and_the_oldest_stand_still():
    window = filled_window(9)
    assert [k.stamp_ns for k in window.keyframes] == [4, 5, 6, 7, 8]
    before = [k.T_cam_odom.copy() for k in window.keyframes]
    window.keyframes[-1].T_cam_odom = pose([0.01, 0, 0], [-3.3, 0.05, 0])
    window.adjust()
    for k in range(window.n_fixed):
        np.testing.assert_array_equal(window.keyframes[k].T_cam_odom, before[k])
    np.testing.assert_allclose(window.keyframes[-1].T_cam_odom, before[-1], atol=1e-4)
    assert window.keyframes[-1].covariance[0, 0] > window.keyframes[1].covariance[0, 0]


def test_landmarks_retire_once_only_fixed_keyframes_know_them():
    window = filled_window()
    gone = window.landmarks.ident < 5
    window.landmarks.is_tracked[gone] = False
    assert len(window.retire()) == 0
    for keyframe in window.keyframes[window.n_fixed :]:
        keyframe.drop(keyframe.ident < 3)
    np.testing.assert_array_equal(window.retire().ident, [0, 1, 2])
    assert len(window.landmarks) == 37
    np.testing.assert_array_equal(window.landmarks.rows_of(np.array([2, 3, 39])), [-1, 0, 36])
