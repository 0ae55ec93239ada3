# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Direct alignment against images of a textured plane, which have a closed form."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import chi2

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import invert_transform
from aerotwin_core.rigid_motion import exponential
from aerotwin_dense_localization.alignment import AlignmentParameters, DepthImage, DirectAlignment
from aerotwin_dense_localization.alignment.equations import Equations, image_shifts, lengthened
from aerotwin_dense_localization.alignment.kernels import select_pixels
from aerotwin_dense_localization.alignment.pyramid import depth_levels, grey_levels
from support.painted_wall import CAMERA, Wall, pose, waves

ZOOM = PinholeCamera(width=400, height=300, fx=330.0, fy=330.0, cx=199.5, cy=149.5)
NORMAL, OFFSET = np.array(Wall().normal), Wall().offset_m
BARE_M = 0.1
"""Along the ledge; it began up to 5 cm off, and noise of the view's slopes pulls it back."""
SUBPIXEL_M = 0.002
"""A tenth of a pixel is 1.5 mm at 3 m; without noise the bilinear samples err by less."""


def plane_image(camera, T_view_cam, paint=waves):
    """Return grey values and depth of the wall under a paint."""
    return Wall(paint=paint).seen(camera, T_view_cam)


def error(alignment, T_view_cam):
    E = invert_transform(T_view_cam) @ alignment.T_view_cam
    angle = Rotation.from_matrix(E[:3, :3]).magnitude()
    return float(np.linalg.norm(E[:3, 3])), float(np.degrees(angle))


@pytest.fixture(scope="module")
def view():
    grey, depth = plane_image(CAMERA, np.eye(4))
    return DepthImage(grey=grey, depth=depth, camera=CAMERA)


@pytest.mark.parametrize("camera", [CAMERA, ZOOM], ids=["same", "zoom"])
@pytest.mark.parametrize("seed", range(4))
def test_motion_gain_and_offset_are_found(view, camera, seed):
    rng = np.random.default_rng(seed)
    T = pose(rng.normal(0, 0.02, 3), rng.normal(0, 0.06, 3))
    image = 1.3 * plane_image(camera, T)[0] - 20.0
    found = DirectAlignment(view).align(image, camera, np.eye(4))
    assert found.converged, found.reason
    metres, degrees = error(found, T)
    assert metres < SUBPIXEL_M and degrees < 0.05
    assert found.gain == pytest.approx(1.3, rel=0.02)
    assert found.correlation > 0.99


def test_rounding_of_the_start_does_not_live_on(view):
    T = pose([0.01, -0.02, 0.03], [0.05, -0.03, 0.08])
    start = np.eye(4)
    start[:3, :3] += 1e-3 * np.array([[0.0, 1.0, 0.3], [1.0, 0.0, 0.0], [0.3, 0.0, 1.0]])
    R = DirectAlignment(view).align(plane_image(CAMERA, T)[0], CAMERA, start).T_view_cam[:3, :3]
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)


def test_forth_and_back_agree(view):
    T = pose([0.01, -0.02, 0.03], [0.05, -0.03, 0.08])
    grey, depth = plane_image(ZOOM, T)
    forth = DirectAlignment(view).align(grey, ZOOM, np.eye(4))
    other = DirectAlignment(DepthImage(grey=grey, depth=depth, camera=ZOOM))
    back = other.align(view.grey, CAMERA, np.eye(4))
    assert error(forth, invert_transform(back.T_view_cam))[0] < 2 * SUBPIXEL_M


def test_slopes_are_the_numerical_derivative_of_the_view():
    grey, depth = (a.astype(np.float32) for a in plane_image(CAMERA, np.eye(4)))
    n = grey.size
    points, normals = np.empty((n, 3), np.float32), np.empty((n, 3), np.float32)
    slopes, values = np.empty((6, n), np.float32), np.empty(n, np.float32)
    n = select_pixels(
        grey, depth, np.zeros_like(grey), CAMERA.matrix, 7, 0.0, 1.0, points, values, slopes,
        normals,
    )  # fmt: skip
    points, h = points[:n].astype(float), 1e-4

    def at(pixels):  # the grey value that belongs to a ray of the unmoved view
        rays = CAMERA.rays_at(pixels)
        z = OFFSET / (rays @ NORMAL[:2] + NORMAL[2])
        return waves(rays[:, 0] * z, rays[:, 1] * z)

    for k in range(6):
        d = h * np.eye(6)[k]
        ends = [at(CAMERA.project(points @ T[:3, :3].T + T[:3, 3]))
                for T in (exponential(d), exponential(-d))]  # fmt: skip
        numerical = (ends[0] - ends[1]) / (2 * h)
        # Central differences over two pixels smooth the finest waves a little.
        assert np.abs(slopes[k, :n] - numerical).max() < 0.1 * np.abs(numerical).max()
        assert np.corrcoef(slopes[k, :n], numerical)[0, 1] > 0.998
    unit = NORMAL / np.linalg.norm(NORMAL)
    assert np.abs(np.abs(normals[:n] @ unit) - 1.0).max() < 1e-3


def test_the_covariance_says_how_wrong_the_answer_is(view):
    noise_dn, n = 4.0, 30
    align = DirectAlignment(view).align
    T = pose([0.01, 0.0, -0.01], [0.03, 0.02, -0.03])
    image = plane_image(CAMERA, T)[0]
    clean = align(image, CAMERA, T).T_view_cam  # the bias of sampling is not the noise's
    total = 0.0
    for seed in range(n):
        noisy = image + np.random.default_rng(seed).normal(0, noise_dn, image.shape)
        found = align(noisy, CAMERA, T)
        E = found.T_view_cam @ invert_transform(clean)
        d = np.concatenate([E[:3, 3], Rotation.from_matrix(E[:3, :3]).as_rotvec()])
        total += d @ np.linalg.solve(found.covariance, d)
    low, high = chi2.ppf([0.0005, 0.9995], 6 * n)
    assert low < total < high


def test_depth_holds_a_direction_that_grey_values_leave_open():
    def stripes(x, _):
        return 120.0 + 40.0 * np.sin(9.0 * x)

    grey, depth = plane_image(CAMERA, np.eye(4), stripes)
    view = DepthImage(grey=grey, depth=depth, camera=CAMERA)
    T = pose([0.0, 0.0, 0.0], [0.02, 0.0, 0.10])
    image, seen = plane_image(CAMERA, T, stripes)
    aligner = DirectAlignment(view)
    alone = aligner.align(image, CAMERA, np.eye(4))
    assert not alone.converged
    assert "open" in alone.reason or "pixels" in alone.reason
    both = aligner.align(image, CAMERA, np.eye(4), depth=seen)
    off = invert_transform(T) @ both.T_view_cam
    assert abs(NORMAL @ off[:3, 3]) / np.linalg.norm(NORMAL) < SUBPIXEL_M


@pytest.mark.parametrize("seed", range(3))
def test_an_image_of_another_place_is_not_believed(view, seed):
    rng = np.random.default_rng(seed)
    shift = rng.uniform(20.0, 40.0, 2)
    image = plane_image(CAMERA, np.eye(4), lambda x, y: waves(x + shift[0], y + shift[1]))[0]
    found = DirectAlignment(view).align(image, CAMERA, np.eye(4))
    assert not found.converged
    assert found.reason


def test_a_negative_is_not_believed(view):
    found = DirectAlignment(view).align(255.0 - view.grey, CAMERA, np.eye(4))
    assert not found.converged


def test_nothing_to_see_is_said(view):
    blank = DirectAlignment(view).align(np.full((240, 320), 90.0), CAMERA, np.eye(4))
    assert not blank.converged
    unknown = DepthImage(grey=view.grey, depth=np.zeros_like(view.depth), camera=CAMERA)
    found = DirectAlignment(unknown).align(view.grey, CAMERA, np.eye(4))
    assert not found.converged
    assert "pixels" in found.reason
    away = DirectAlignment(view).align(view.grey, CAMERA, pose([0.0, np.pi, 0.0], np.zeros(3)))
    assert not away.converged
    assert "pixels" in away.reason


def test_how_far_a_motion_shifts_an_image_is_what_projections_say():
    rng = np.random.default_rng(5)
    points = rng.uniform([-2.0, -1.0, 2.0], [2.0, 1.0, 4.0], (50, 3))
    shifts, tiny = image_shifts(points), 1e-6
    for _ in range(5):
        d = rng.normal(size=6)
        T = exponential(tiny * d)
        moved = points @ T[:3, :3].T + T[:3, 3]
        off = (moved[:, :2] / moved[:, 2:] - points[:, :2] / points[:, 2:]) / tiny
        assert d @ shifts @ d == pytest.approx((off**2).sum(axis=1).mean(), rel=1e-4)
    assert not image_shifts(points[:0]).any()


def test_before_a_bare_wall_it_settles():
    """A ledge and hardly more: a shift along it shows almost as a turn, and steps fall short."""
    wall = Wall(
        paint=lambda x, y: (
            90.0 + 40.0 * np.exp(-0.5 * ((y + 0.1 * x) / 0.03) ** 2) + 0.06 * waves(x, y)
        )
    )
    rng = np.random.default_rng(8)

    def noisy(image):
        return image + rng.normal(0.0, 2.0, image.shape)

    seen, depth = wall.seen(CAMERA, np.eye(4))
    aligner = DirectAlignment(DepthImage(grey=noisy(seen), depth=depth, camera=CAMERA))
    for _ in range(4):
        T = pose(rng.normal(0, 0.005, 3), rng.normal(0, 0.03, 3))
        found = aligner.align(noisy(wall.seen(CAMERA, T)[0]), CAMERA, np.eye(4))
        assert found.reason == ""
        metres, degrees = error(found, T)
        assert metres < BARE_M and degrees < 2.0


@pytest.mark.parametrize("share", [0.1, 0.3, 0.8])
def test_steps_that_fall_short_by_a_share_are_lengthened_to_the_end(share):
    rng = np.random.default_rng(3)
    A = rng.normal(0.0, 1.0, (8, 8))
    equations = Equations(H=A @ A.T, g=np.zeros(8), overlap=1.0, correlation=1.0, spread=1.0)
    way = rng.normal(0.0, 1.0, 6)
    before = share * way
    taken = 1.5 * before
    step = share * (way - taken)
    assert lengthened(equations, step, None, None) == 1.0
    assert lengthened(equations, step, before, taken) == pytest.approx(min(1.0 / share, 5.0))
    assert lengthened(equations, 2.0 * before, before, taken) == 1.0  # it became worse


def test_a_noisy_view_leaves_nothing_of_the_way():
    # Noise in the view's slopes makes steps short; 200 of them, however small, go to the end.
    grey, depth = plane_image(CAMERA, np.eye(4))
    noisy = grey + np.random.default_rng(0).normal(0.0, 10.0, grey.shape)
    view = DepthImage(grey=noisy, depth=depth, camera=CAMERA)
    image = plane_image(CAMERA, pose([0.01, -0.02, 0.01], [0.04, -0.03, 0.05]))[0]
    found = DirectAlignment(view).align(image, CAMERA, np.eye(4))
    thorough = AlignmentParameters(stop_px=1e-5, max_iterations=200)
    end = DirectAlignment(view, thorough).align(image, CAMERA, np.eye(4))
    assert found.converged and found.n_iterations < 30
    assert error(found, end.T_view_cam)[0] < 0.03 * OFFSET / CAMERA.fx  # of a pixel


def test_a_view_of_which_little_is_left_when_halved_is_aligned_at_finer_levels():
    grey, depth = plane_image(CAMERA, np.eye(4))
    rows, columns = np.indices(depth.shape)
    holes = np.where((rows % 8 < 4) & (columns % 8 < 4), depth, np.nan)
    view = DepthImage(grey=grey, depth=holes, camera=CAMERA)
    T = pose([0.002, 0.0, 0.001], [0.006, -0.004, 0.01])
    found = DirectAlignment(view).align(plane_image(CAMERA, T)[0], CAMERA, np.eye(4))
    assert found.converged, found.reason
    assert error(found, T)[0] < SUBPIXEL_M


def test_a_fixed_gain_stays(view):
    parameters = AlignmentParameters(is_gain_free=False)
    T = pose([0.0, 0.01, 0.0], [0.03, 0.0, 0.02])
    found = DirectAlignment(view, parameters).align(plane_image(CAMERA, T)[0], CAMERA, np.eye(4))
    assert found.converged
    assert (found.gain, found.offset) == (1.0, 0.0)
    assert error(found, T)[0] < SUBPIXEL_M


def test_shapes_must_be_those_of_the_camera(view):
    with pytest.raises(ValueError, match="depth must be"):
        DepthImage(grey=view.grey, depth=view.depth[1:], camera=CAMERA)


def test_halves_are_means_of_what_is_known_and_of_one_surface():
    nan, rng = np.nan, np.random.default_rng(0)
    full = rng.uniform(0.0, 255.0, (32, 48)).astype(np.float32)
    expected = full.reshape(16, 2, 24, 2).mean(axis=(1, 3))
    np.testing.assert_allclose(grey_levels(full, 2)[1], expected, rtol=1e-6)
    blocks = {(0, 0): ([4.0, nan, nan, 4.1], 4.05), (0, 1): ([4.0, nan, nan, nan], nan),
              (1, 0): ([4.0, 4.1, nan, 4.4], nan), (1, 1): ([nan] * 4, nan)}  # fmt: skip
    depth = np.full((32, 32), 7.0, np.float32)
    for (row, column), (values, _) in blocks.items():
        depth[2 * row : 2 * row + 2, 2 * column : 2 * column + 2] = np.reshape(values, (2, 2))
    half = depth_levels(depth, 2)[1]
    for place, (_, mean) in blocks.items():
        np.testing.assert_allclose(half[place], mean, rtol=1e-6)
    assert half[2, 2] == 7.0
    np.testing.assert_allclose(grey_levels(depth, 2)[1][1, 0], 12.5 / 3.0, rtol=1e-6)
