# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
from scipy.optimize import approx_fprime
from scipy.spatial.transform import Rotation

from aerotwin_stereo_odometry.residuals import move_pose, robust, stereo_residual

CAMERA = np.array([458.0, 460.0, 375.5, 239.5, 0.11])
WEIGHTS = np.array([9.0, 1.5, 7.0, 20.0])
STEP_ERROR = 2e-5  # relative; forward differences of functions of this curvature
ROUNDING = 1e-12


def pose(rotvec, translation):
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(rotvec).as_matrix()
    T[:3, 3] = translation
    return T


T = pose([0.2, -0.3, 0.1], [0.5, -0.2, 1.0])
POINT = np.array([1.0, 2.0, 7.0])
MEASURED = np.array([400.0, 300.0, 6.0])


def moved(T_cam_odom, increment):
    out = np.eye(4)
    move_pose(T_cam_odom, np.asarray(increment, dtype=float), 0, out)
    return out


def residual(T_cam_odom, point):
    r, Jc, Jp = np.empty(3), np.empty((3, 6)), np.empty((3, 3))
    assert stereo_residual(T_cam_odom, point, MEASURED, WEIGHTS, CAMERA, r, Jc, Jp)
    return r, Jc, Jp


def test_the_residual_is_projection_minus_measurement_whitened():
    x, y, z = T[:3, :3] @ POINT + T[:3, 3]
    error = np.array(
        [458.0 * x / z + 375.5 - 400.0, 460.0 * y / z + 239.5 - 300.0, 458.0 * 0.11 / z - 6.0]
    )
    whitening = np.array([[9.0, 1.5, 0.0], [0.0, 7.0, 0.0], [0.0, 0.0, 20.0]])
    np.testing.assert_allclose(residual(T, POINT)[0], whitening @ error, rtol=ROUNDING)


def test_jacobians_are_the_numerical_derivatives():
    _, Jc, Jp = residual(T, POINT)
    by_pose = approx_fprime(np.zeros(6), lambda d: residual(moved(T, d), POINT)[0], 1e-7)
    by_point = approx_fprime(POINT, lambda p: residual(T, p)[0], 1e-7)
    np.testing.assert_allclose(Jc, by_pose, rtol=STEP_ERROR, atol=STEP_ERROR * np.abs(Jc).max())
    np.testing.assert_allclose(Jp, by_point, rtol=STEP_ERROR, atol=STEP_ERROR * np.abs(Jp).max())


def test_without_disparity_its_row_is_zero():
    r, Jc, Jp = np.empty(3), np.empty((3, 6)), np.empty((3, 3))
    weights = np.array([9.0, 1.5, 7.0, 0.0])
    stereo_residual(T, POINT, MEASURED, weights, CAMERA, r, Jc, Jp)
    assert r[2] == 0.0
    assert (Jc[2] == 0.0).all()


def test_a_point_behind_the_camera_has_no_residual():
    r, Jc, Jp = np.empty(3), np.empty((3, 6)), np.empty((3, 3))
    assert not stereo_residual(T, -POINT, MEASURED, WEIGHTS, CAMERA, r, Jc, Jp)


def test_a_pose_moves_by_the_rotation_vector_of_scipy():
    for rotvec in ([0.3, -0.2, 0.5], [1e-8, 2e-8, 0.0], [0.0, 0.0, 3.0]):
        expected = pose(rotvec, [0.1, 0.2, 0.3]) @ T
        np.testing.assert_allclose(moved(T, [0.1, 0.2, 0.3, *rotvec]), expected, atol=1e-12)


def test_a_quarter_turn_about_z_takes_x_to_y():
    turned = moved(np.eye(4), [0, 0, 0, 0, 0, np.pi / 2])
    np.testing.assert_allclose(turned[:3, :3] @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=ROUNDING)


def test_huber_is_quadratic_inside_and_linear_outside():
    assert robust(1.0, 2.0) == (1.0, 1.0)
    cost, weight = robust(36.0, 2.0)
    assert cost == 2.0 * 2.0 * 6.0 - 4.0
    assert weight == 2.0 / 6.0
