# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import cv2
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import BrownCamera, FisheyeCamera, PinholeCamera
from aerotwin_stereo_odometry.rectification import Rectification

INVERSE_PX = 1e-3  # float32 sources round to 3e-5 px, OpenCV's inverse iterates to 1e-8
FULLY = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 50, 1e-8)  # it would stop after 5
MAP_PX = 1e-3  # float32 maps
INTERPOLATION_DN = 1.0  # of a picture whose curvature is 0.2 DN/px^2, linearly, with rounding
FRAME = {"width": 320, "height": 240, "fx": 190.0, "fy": 188.0, "cx": 157.3, "cy": 122.1}
BROWN = BrownCamera(**FRAME, k1=-0.25, k2=0.07, p1=0.002, p2=-0.003, k3=0.004)
FISHEYE = FisheyeCamera(**FRAME, k1=-0.02, k2=0.004, k3=-0.001, k4=1e-4)
IDEAL = PinholeCamera(width=320, height=240, fx=185.0, fy=185.0, cx=160.0, cy=118.0)
TURN = Rotation.from_euler("xyz", [0.02, -0.03, 0.015]).as_matrix()


def grid(camera):
    v, u = np.mgrid[0 : camera.height, 0 : camera.width]
    return np.column_stack([u.ravel(), v.ravel()]).astype(np.float64)


def undistorted(raw, pixels, R):
    """Return OpenCV's ideal pixels (n, 2) of raw ones."""
    undistort = cv2.undistortPoints if raw is BROWN else cv2.fisheye.undistortPoints
    how = {"R": R, "P": IDEAL.matrix, "criteria": FULLY}
    return undistort(pixels[:, None], raw.matrix, np.array(raw.distortion), **how)[:, 0]


@pytest.mark.parametrize("raw", [BROWN, FISHEYE], ids=["plumb_bob", "equidistant"])
def test_the_sources_are_those_that_opencv_leads_back(raw):
    sources = Rectification(raw, IDEAL, TURN).sources.reshape(-1, 2).astype(np.float64)
    inside = np.all((sources >= 0.0) & (sources <= [319.0, 239.0]), axis=1)
    assert inside.mean() > 0.8
    back = undistorted(raw, sources[inside], TURN)
    np.testing.assert_allclose(back, grid(IDEAL)[inside], atol=INVERSE_PX)


@pytest.mark.parametrize("raw", [BROWN, FISHEYE], ids=["plumb_bob", "equidistant"])
def test_the_sources_are_opencvs_maps(raw):
    make = cv2.initUndistortRectifyMap if raw is BROWN else cv2.fisheye.initUndistortRectifyMap
    maps = make(raw.matrix, np.array(raw.distortion), TURN, IDEAL.matrix, (320, 240), cv2.CV_32FC1)
    sources = Rectification(raw, IDEAL, TURN).sources
    np.testing.assert_allclose(sources, np.dstack(maps[:2]), atol=MAP_PX)


def waves(rays):
    """A picture of the far away, by direction: smooth, so that interpolation is exact enough."""
    x, y = rays.T
    return 120.0 + 60.0 * np.sin(9.0 * x + 2.0 * y) + 40.0 * np.cos(11.0 * y - 3.0 * x)


@pytest.mark.parametrize("raw", [BROWN, FISHEYE], ids=["plumb_bob", "equidistant"])
def test_a_rectified_picture_is_what_the_ideal_camera_sees(raw):
    rectification = Rectification(raw, IDEAL, TURN)
    picture = np.rint(waves(raw.rays_at(grid(raw)))).reshape(240, 320).astype(np.uint8)
    rays = np.column_stack([IDEAL.rays_at(grid(IDEAL)), np.ones(240 * 320)]) @ TURN
    expected = waves(rays[:, :2] / rays[:, 2:]).reshape(240, 320)
    sources = rectification.sources
    inside = np.all((sources >= 1.0) & (sources <= [318.0, 238.0]), axis=-1)
    error = np.abs(rectification.apply(picture) - expected)
    assert error[inside].max() < INTERPOLATION_DN
    assert np.abs(picture - expected)[inside].max() > 20 * INTERPOLATION_DN


def test_a_quarter_turn_of_r_turns_the_picture_clockwise():
    camera = PinholeCamera(width=5, height=5, fx=4.0, fy=4.0, cx=2.0, cy=2.0)
    # x to the right in the raw frame is y, down, in the rectified one
    R = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    picture = np.arange(25, dtype=np.uint8).reshape(5, 5)
    np.testing.assert_array_equal(
        Rectification(camera, camera, R).apply(picture), np.rot90(picture, -1)
    )


def test_skew_is_taken_out():
    raw = PinholeCamera(width=9, height=5, fx=4.0, fy=4.0, cx=4.0, cy=2.0, skew=4.0)
    ideal = PinholeCamera(width=9, height=5, fx=4.0, fy=4.0, cx=4.0, cy=2.0)
    sources = Rectification(raw, ideal, np.eye(3)).sources
    # a row further down, the skewed columns stand one further to the right
    np.testing.assert_allclose(sources[3, 4], [5.0, 3.0])


def test_an_ideal_picture_passes_as_the_same_object():
    picture = np.zeros((240, 320), np.uint8)
    rectification = Rectification(IDEAL, IDEAL, np.eye(3))
    assert not rectification.is_needed
    assert rectification.apply(picture) is picture
    for raw, R in [(BROWN, np.eye(3)), (IDEAL, TURN), (PinholeCamera(**FRAME), np.eye(3))]:
        assert Rectification(raw, IDEAL, R).apply(picture) is not picture


def test_what_the_lens_does_not_show_repeats_the_edge():
    wide = PinholeCamera(width=320, height=240, fx=120.0, fy=120.0, cx=160.0, cy=120.0)
    picture = np.full((240, 320), 77, np.uint8)
    assert np.all(Rectification(BROWN, wide, np.eye(3)).apply(picture) == 77)


@pytest.mark.parametrize(("raw", "shape"), [(BROWN, (240, 319)), (IDEAL, (120, 320))])
def test_a_picture_of_another_size_is_refused(raw, shape):
    with pytest.raises(ValueError, match="must be 320 x 240 as its camera_info says"):
        Rectification(raw, IDEAL, np.eye(3)).apply(np.zeros(shape, np.uint8))


@pytest.mark.parametrize("R", [np.zeros((3, 3)), -np.eye(3), np.diag([1.0, 1.0, np.nan])])
def test_an_r_that_is_no_rotation_is_refused(R):
    with pytest.raises(ValueError, match="R must be a rotation"):
        Rectification(BROWN, IDEAL, R)


def test_a_calibration_of_another_camera_is_refused():
    with pytest.raises(ValueError, match="must be of one calibration"):
        Rectification(BROWN, IDEAL, Rotation.from_euler("y", 1.5).as_matrix())
