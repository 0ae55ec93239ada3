# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Camera models against OpenCV, their own inverse and closed forms."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from aerotwin_core.camera import BrownCamera, FisheyeCamera, PinholeCamera
from aerotwin_core.lens import brown_distort, odd_polynomial, turning_point

ROUNDING_PX = 1e-9  # a double holds 1e-13 px of an image this size
DIFFERENCE = 1e-9  # of central differences with steps of 1e-6
OPENCV_PX = 1e-6  # OpenCV's own iteration ends there

SIZE = {"width": 752, "height": 480}
PINHOLE = PinholeCamera(**SIZE, fx=458.0, fy=457.0, cx=367.2, cy=248.4, skew=2.5)
EUROC = BrownCamera(  # cam0 of the EuRoC data set (Burri et al. 2016), with a k3
    **SIZE,
    fx=458.654,
    fy=457.296,
    cx=367.215,
    cy=248.375,
    k1=-0.28340811,
    k2=0.07395907,
    p1=0.00019359,
    p2=1.76187114e-05,
    k3=0.003,
)
DECENTRED = BrownCamera(
    **SIZE, fx=500.0, fy=480.0, cx=370.0, cy=230.0, skew=1.5, k1=0.1, k2=-0.02, p1=0.01, p2=-0.02
)
FISHEYE = FisheyeCamera(
    width=640,
    height=400,
    fx=280.0,
    fy=281.0,
    cx=318.5,
    cy=201.0,
    k1=-0.01,
    k2=0.02,
    k3=-0.008,
    k4=0.001,
)
CAMERAS = {"pinhole": PINHOLE, "euroc": EUROC, "decentred": DECENTRED, "fisheye": FISHEYE}


def points_in_front(n=500, seed=4):
    rng = np.random.default_rng(seed)
    xy = rng.uniform([-0.75, -0.5], [0.75, 0.5], (n, 2))
    z = rng.uniform(0.5, 80.0, n)
    return np.column_stack([xy * z[:, None], z])


def literal_pixel(camera, x, y):
    """OpenCV's documented formulas, term by term, for one point (x, y, 1)."""
    if isinstance(camera, FisheyeCamera):
        r = np.hypot(x, y)
        t = np.arctan(r)
        k1, k2, k3, k4 = camera.distortion
        bent = t * (1 + k1 * t**2 + k2 * t**4 + k3 * t**6 + k4 * t**8)
        x, y = x * bent / r, y * bent / r
    else:
        k1, k2, p1, p2, k3 = camera.distortion
        r2 = x * x + y * y
        f = 1 + k1 * r2 + k2 * r2**2 + k3 * r2**3
        x, y = (
            x * f + 2 * p1 * x * y + p2 * (r2 + 2 * x * x),
            y * f + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y,
        )
    return camera.matrix @ [x, y, 1.0]


@pytest.mark.parametrize("name", CAMERAS)
def test_a_point_falls_where_the_textbook_says(name):
    camera = CAMERAS[name]
    expected = literal_pixel(camera, 0.31, -0.22)[:2]
    found = camera.project([[0.31 * 3.0, -0.22 * 3.0, 3.0]])
    np.testing.assert_allclose(found[0], expected, atol=ROUNDING_PX)


def test_brown_projects_as_opencv():
    camera = BrownCamera(**{**EUROC.__dict__, "p1": 0.004, "p2": -0.006})
    points = points_in_front()
    expected, _ = cv2.projectPoints(
        points, np.zeros(3), np.zeros(3), camera.matrix, np.array(camera.distortion)
    )
    np.testing.assert_allclose(camera.project(points), expected[:, 0], atol=ROUNDING_PX)


def test_fisheye_projects_as_opencv():
    points = points_in_front() * [3.0, 3.0, 1.0]  # up to 70 degrees from the axis
    expected, _ = cv2.fisheye.projectPoints(
        points[:, None], np.zeros(3), np.zeros(3), FISHEYE.matrix, np.array(FISHEYE.distortion)
    )
    np.testing.assert_allclose(FISHEYE.project(points), expected[:, 0], atol=ROUNDING_PX)


def test_fisheye_skew_is_opencvs_alpha():
    camera = FisheyeCamera(**{**FISHEYE.__dict__, "skew": 3.0})
    expected, _ = cv2.fisheye.projectPoints(
        points_in_front()[:, None],
        np.zeros(3),
        np.zeros(3),
        FISHEYE.matrix,
        np.array(FISHEYE.distortion),
        alpha=3.0 / FISHEYE.fx,
    )
    np.testing.assert_allclose(camera.project(points_in_front()), expected[:, 0], atol=ROUNDING_PX)


def test_brown_rays_are_opencvs_undistorted_points():
    v, u = np.mgrid[0:480:7, 0:752:7]
    pixels = np.column_stack([u.ravel(), v.ravel()]).astype(float)
    stop = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 200, 1e-14)
    expected = cv2.undistortImagePoints(
        pixels[:, None], EUROC.matrix, np.array(EUROC.distortion), arg1=stop
    )[:, 0]
    rays = EUROC.rays_at(pixels)
    found = rays * [EUROC.fx, EUROC.fy] + [EUROC.cx, EUROC.cy]
    assert np.abs(found - expected).max() < OPENCV_PX


def test_fisheye_rays_are_opencvs_undistorted_points():
    pixels = np.column_stack([np.linspace(5.0, 630.0, 80), np.linspace(390.0, 10.0, 80)])
    expected = cv2.fisheye.undistortPoints(
        pixels[:, None], FISHEYE.matrix, np.array(FISHEYE.distortion)
    )
    np.testing.assert_allclose(FISHEYE.rays_at(pixels), expected[:, 0], rtol=1e-6)


@pytest.mark.parametrize("name", CAMERAS)
def test_every_ray_projects_onto_its_pixel(name):
    camera = CAMERAS[name]
    rays = camera.rays()
    assert rays.shape == (camera.height, camera.width, 2)
    v, u = np.mgrid[0 : camera.height, 0 : camera.width]
    back = camera.project(np.concatenate([rays, np.ones((*u.shape, 1))], axis=2).reshape(-1, 3))
    expected = np.column_stack([u.ravel(), v.ravel()])
    has_ray = np.isfinite(rays[..., 0]).ravel()
    assert has_ray.all()
    np.testing.assert_allclose(back[has_ray], expected[has_ray], atol=ROUNDING_PX)


def test_the_slope_of_browns_model_is_its_numerical_derivative():
    radial, tangential, h = (0.1, -0.02, 0.01), (0.01, -0.02), 1e-6
    xy = np.random.default_rng(2).uniform(-0.8, 0.8, (20, 2))
    _, jacobian = brown_distort(radial, tangential, xy)
    for axis in range(2):
        step = h * np.eye(2)[axis]
        ahead, behind = (brown_distort(radial, tangential, xy + k * step)[0] for k in (1, -1))
        np.testing.assert_allclose(
            jacobian[:, :, axis], (ahead - behind) / (2 * h), atol=DIFFERENCE
        )


def test_without_coefficients_brown_is_a_pinhole():
    brown = BrownCamera(**SIZE, fx=458.0, fy=457.0, cx=367.2, cy=248.4, skew=2.5)
    np.testing.assert_array_equal(brown.rays(), PINHOLE.rays())
    np.testing.assert_array_equal(
        brown.project(points_in_front()), PINHOLE.project(points_in_front())
    )


def test_a_fisheye_shows_nothing_beyond_its_field():
    camera = FisheyeCamera(width=641, height=641, fx=200.0, fy=200.0, cx=320.0, cy=320.0)
    half = np.radians(80.0)
    edge = np.array([half - 1e-6, half + 1e-6])
    points = np.column_stack([np.sin(edge), np.zeros(2), np.cos(edge)])
    np.testing.assert_allclose(camera.project(points)[0], [320.0 + 200.0 * half, 320.0], atol=1e-3)
    assert np.isnan(camera.project(points)[1]).all()
    rays = camera.rays()
    assert np.isnan(rays[0, 0]).all()
    assert np.isnan(rays[320, 320 - 280]).all() and np.isfinite(rays[320, 320 - 279]).all()


def test_a_lens_that_turns_back_inside_the_image_is_refused():
    with pytest.raises(ValueError, match=r"must grow outwards.* turns back at x/z = 0\.745"):
        BrownCamera(**SIZE, fx=300.0, fy=300.0, cx=375.5, cy=239.5, k1=-0.6)
    with pytest.raises(ValueError, match="turns back at 66"):
        FisheyeCamera(width=640, height=480, fx=190.0, fy=190.0, cx=320.0, cy=240.0, k1=-0.25)


@pytest.mark.parametrize(
    "change",
    [{"cx": 9000.0}, {"cy": -4000.0}, {"cx": 3.5, "fx": 1.0, "fy": 1.0, "field_of_view_deg": 1.0}],
)
def test_a_fisheye_without_a_ray_for_any_pixel_is_refused(change):
    with pytest.raises(ValueError, match="must hold a pixel of the image of 640 x 400"):
        replace(FISHEYE, **{"k1": 0.0, "k2": 0.0, "k3": 0.0, "k4": 0.0, **change})


def test_what_lies_behind_the_turn_is_not_seen():
    camera = BrownCamera(width=100, height=100, fx=300.0, fy=300.0, cx=50.0, cy=50.0, k1=-0.6)
    turn = turning_point((-0.6, 0.0, 0.0))
    assert turn == pytest.approx(np.sqrt(1.0 / 1.8))
    points = [[turn * 1.01, 0.0, 1.0], [turn * 0.99, 0.0, 1.0]]
    np.testing.assert_array_equal(np.isnan(camera.project(points)[:, 0]), [True, False])


def test_the_turning_point_is_where_the_slope_changes_sign():
    rng = np.random.default_rng(7)
    for coefficients in rng.normal(scale=[0.3, 0.1, 0.05, 0.01], size=(50, 4)):
        s = np.linspace(0.0, 3.0, 30001)
        slope = odd_polynomial(coefficients, s)[1]
        turns = s[slope < 0.0]
        expected = turns[0] if len(turns) else np.inf
        found = turning_point(coefficients)
        assert found == pytest.approx(expected, abs=2e-4) or (expected == np.inf and found > 3.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 0}, "image size"),
        ({"fx": -1.0}, "focal lengths"),
        ({"fy": np.inf}, "focal lengths"),
        ({"cx": np.nan}, "finite"),
        ({"k2": np.nan}, "finite"),
        ({"field_of_view_deg": 170.0}, "field_of_view_deg must lie in 0..160, got 170"),
    ],
)
def test_impossible_cameras_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        FisheyeCamera(**{**FISHEYE.__dict__, **change})


def test_a_camera_shows_what_is_before_it_within_its_corners():
    camera = PinholeCamera(width=5, height=3, fx=2.0, fy=2.0, cx=2.0, cy=1.0)
    corners = [[-1.0, -0.5, 1.0], [1.0, 0.5, 1.0]]
    beside = [[1.001, 0.0, 1.0], [0.0, -0.501, 1.0]]
    behind = [[0.0, 0.0, -1.0], [0.0, 0.0, 0.0]]
    expected = [True, True, False, False, False, False]
    assert camera.shows(corners + beside + behind).tolist() == expected
