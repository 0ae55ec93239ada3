# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The ideal camera of a calibration, by where a direction is seen."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import BrownCamera
from aerotwin_core.camera_messages import camera_info_message
from aerotwin_stereo_odometry.rectification import IdealCamera

LENS = BrownCamera(
    width=320, height=240, fx=200.0, fy=210.0, cx=158.0, cy=121.0, k1=-0.1, k2=0.01, p1=0.0,
    p2=0.0, k3=0.0,
)  # fmt: skip


def info(**changes):
    message = camera_info_message(0, "camera", LENS)
    for name, value in changes.items():
        setattr(message, name, value)
    return message


@pytest.mark.parametrize(
    "changes", [{}, {"p": np.zeros(12)}, {"p": np.zeros(12), "r": np.zeros(9)}]
)
def test_a_camera_calibrated_alone_keeps_its_focal_lengths(changes):
    ideal = IdealCamera.from_info(info(**changes), images_are_rectified=False)
    camera = ideal.camera
    assert (camera.fx, camera.fy, camera.cx, camera.cy) == (200.0, 210.0, 158.0, 121.0)
    np.testing.assert_array_equal(ideal.T_optical_ideal, np.eye(4))
    assert ideal.rectification.is_needed


def test_pictures_and_pose_turn_by_r_together():
    """A spot that the lens saw somewhere is seen, by the ideal camera, where its direction says."""
    R = Rotation.from_euler("xyz", [2.0, -3.0, 1.0], degrees=True).as_matrix()
    ideal = IdealCamera.from_info(info(r=R.ravel()), images_are_rectified=False)
    direction = np.array([[0.2, -0.1, 1.0]])
    u, v = LENS.project(direction)[0]
    columns, rows = np.meshgrid(np.arange(320), np.arange(240))
    spot = 255.0 * np.exp(-0.5 * ((columns - u) ** 2 + (rows - v) ** 2) / 4.0)
    seen = ideal.rectification.apply(spot.round().astype(np.uint8)).astype(float)
    found = np.array([(seen * columns).sum(), (seen * rows).sum()]) / seen.sum()
    expected = ideal.camera.project(direction @ ideal.T_optical_ideal[:3, :3])[0]
    np.testing.assert_allclose(found, expected, atol=0.1)


def test_rectified_images_pass_as_they_are():
    R = Rotation.from_euler("x", 2.0, degrees=True).as_matrix()
    ideal = IdealCamera.from_info(info(r=R.ravel()), images_are_rectified=True)
    assert not ideal.rectification.is_needed
    np.testing.assert_array_equal(ideal.T_optical_ideal, np.eye(4))


def test_without_any_calibration_there_is_none():
    with pytest.raises(ValueError, match="no camera matrix"):
        IdealCamera.from_info(info(k=np.zeros(9)), images_are_rectified=False)
    with pytest.raises(ValueError, match="no projection matrix"):
        IdealCamera.from_info(info(p=np.zeros(12)), images_are_rectified=True)
