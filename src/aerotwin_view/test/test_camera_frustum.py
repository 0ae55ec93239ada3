# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The pyramid of a camera."""

import math

import numpy as np
import pytest

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.camera_messages import camera_info_message
from aerotwin_core.frames import R_CAM_OPTICAL, make_transform
from aerotwin_view.scene.camera_frustum import CameraFrustum, FrustumShape, frustum_shape

PICTURE = np.full((60, 80, 3), 90, np.uint8)
VIEW = FrustumShape(vertical_rad=1.0, aspect=4.0 / 3.0)


def _info(fx: float = 400.0, fy: float = 400.0, width: int = 640):
    camera = PinholeCamera(width=width, height=480, fx=fx, fy=fy, cx=320.0, cy=240.0)
    return camera_info_message(0, "cam_optical", camera)


def test_the_angle_follows_from_the_focal_length():
    view = frustum_shape(_info(fy=240.0, fx=240.0), is_rectified=False)
    assert view.vertical_rad == pytest.approx(math.pi / 2.0)
    assert view.aspect == pytest.approx(640.0 / 480.0)


def test_pixels_that_are_not_square_make_it_wider():
    view = frustum_shape(_info(fx=200.0, fy=400.0), is_rectified=True)
    assert view.aspect == pytest.approx(2.0 * 640.0 / 480.0)


@pytest.mark.parametrize("value", [0.0, -400.0, math.nan, math.inf])
@pytest.mark.parametrize("is_rectified", [False, True])
def test_a_camera_without_calibration_is_refused(value, is_rectified):
    info = _info()
    info.k[4] = info.p[5] = value
    with pytest.raises(ValueError, match="focal lengths above 0"):
        frustum_shape(info, is_rectified=is_rectified)


def test_it_is_shown_where_its_camera_is_and_hidden_without_a_pose(page):
    frustum = CameraFrustum(page)
    frustum.move(np.eye(4))  # nothing is shown yet
    frustum.show_picture(VIEW, PICTURE)
    shown = page.scene._handle_from_node_name["/camera"]
    assert not shown.visible
    frustum.move(make_transform(R_CAM_OPTICAL, (1.0, 2.0, 3.0)))
    assert shown.visible
    np.testing.assert_allclose(shown.position, (1.0, 2.0, 3.0))
    np.testing.assert_allclose(np.abs(shown.wxyz), 0.5)  # looks along x
    assert (shown.fov, shown.aspect) == (VIEW.vertical_rad, VIEW.aspect)
    frustum.show_picture(VIEW, PICTURE + 1)
    assert page.scene._handle_from_node_name["/camera"] is shown
    assert shown.image[0, 0, 0] == 91
    frustum.move(None)
    assert not shown.visible
    frustum.hide()
    assert "/camera" not in page.scene._handle_from_node_name
