# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core import frames

ROUNDING = 1e-12  # a few operations in double precision


def test_a_quarter_turn_left_takes_forward_to_north():
    R_map_body = frames.rotation_from_quaternion(frames.quaternion_from_yaw(np.pi / 2))
    np.testing.assert_allclose(R_map_body @ [1, 0, 0], [0, 1, 0], atol=ROUNDING)


def test_north_in_ned_is_y_in_enu_and_down_is_minus_z():
    np.testing.assert_array_equal(frames.R_ENU_NED @ [1, 0, 0], [0, 1, 0])
    np.testing.assert_array_equal(frames.R_ENU_NED @ [0, 0, 1], [0, 0, -1])


def test_the_optical_axis_looks_along_x_of_the_camera():
    np.testing.assert_array_equal(frames.R_CAM_OPTICAL @ [0, 0, 1], [1, 0, 0])
    np.testing.assert_array_equal(frames.R_CAM_OPTICAL @ [1, 0, 0], [0, -1, 0])
    np.testing.assert_array_equal(frames.R_CAM_OPTICAL @ [0, 1, 0], [0, 0, -1])


def test_level_and_facing_north_is_the_identity_in_ned():
    q_map_body = frames.quaternion_from_yaw(np.pi / 2)
    np.testing.assert_allclose(
        frames.quat_wxyz_ned_frd_from_map_body(q_map_body), [1, 0, 0, 0], atol=ROUNDING
    )


def test_mavlink_attitude_is_the_product_of_the_rotation_matrices():
    rng = np.random.default_rng(6)
    for q in Rotation.random(20, rng=rng).as_quat():
        R_ned_frd = frames.R_ENU_NED @ Rotation.from_quat(q).as_matrix() @ frames.R_FLU_FRD
        expected = Rotation.from_matrix(R_ned_frd).as_quat(canonical=True)
        found = frames.quat_wxyz_ned_frd_from_map_body(q)
        np.testing.assert_allclose(found, np.roll(expected, 1), atol=ROUNDING)


def test_mavlink_attitude_comes_back():
    rng = np.random.default_rng(1)
    for q in Rotation.random(20, rng=rng).as_quat(canonical=True):
        quat_wxyz = frames.quat_wxyz_ned_frd_from_map_body(q)
        back = frames.map_body_from_quat_wxyz_ned_frd(quat_wxyz)
        np.testing.assert_allclose(back, q, atol=ROUNDING)


def test_a_transform_and_its_inverse_cancel_and_points_follow():
    rng = np.random.default_rng(2)
    T = frames.transform_from_pose(rng.normal(size=3), Rotation.random(rng=rng).as_quat())
    np.testing.assert_allclose(T @ frames.invert_transform(T), np.eye(4), atol=ROUNDING)
    points = rng.normal(size=(5, 3))
    expected = [(T @ [*p, 1.0])[:3] for p in points]
    np.testing.assert_allclose(frames.transform_points(T, points), expected, atol=ROUNDING)


@pytest.mark.parametrize("yaw", [-3.0, -1.0, 0.0, 0.5, 3.1])
def test_yaw_survives_roll_and_pitch(yaw):
    R = Rotation.from_euler("ZYX", [yaw, 0.3, -0.2]).as_matrix()
    assert frames.yaw_from_rotation(R) == pytest.approx(yaw, abs=ROUNDING)


def test_a_wrong_shape_is_refused_by_name():
    with pytest.raises(ValueError, match=r"q_xyzw must have shape \(4,\), got \(3,\)"):
        frames.rotation_from_quaternion([0, 0, 1])


def test_rotations_are_those_of_scipy_to_the_bit():
    rng = np.random.default_rng(5)
    for q in rng.normal(size=(500, 4)):
        np.testing.assert_array_equal(
            frames.rotation_from_quaternion(q), Rotation.from_quat(q).as_matrix()
        )
    with pytest.raises(ValueError, match="zero norm"):
        frames.rotation_from_quaternion(np.zeros(4))
