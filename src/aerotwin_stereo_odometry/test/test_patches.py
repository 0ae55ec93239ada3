# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import cv2
import numpy as np
import pytest
from scipy.ndimage import map_coordinates
from scipy.optimize import least_squares

from aerotwin_stereo_odometry.patches import align_patches, cut_patches, warp_patches

SIZE = 11
INTERPOLATION = 0.015  # px; bilinear sampling of a smoothed image
SAMPLING = 4.0  # sigma of a mean over all patches
ROUNDING = 2e-3  # DN; float32 patches


def waves(x, y, seed=0):
    """Return a texture that is exact at any place: a sum of sines down to 5 px."""
    rng = np.random.default_rng(seed)
    total = np.zeros(np.broadcast(x, y).shape)
    for _ in range(40):
        period, angle, phase = rng.uniform(5, 30), rng.uniform(0, np.pi), rng.uniform(0, 6.28)
        along = x * np.cos(angle) + y * np.sin(angle)
        total += period / 20.0 * np.sin(2 * np.pi * along / period + phase)
    return 128.0 + 12.0 * total


def image(du=0.0, dv=0.0, noise=0.0, rng=None, gain=1.0, offset=0.0, seed=0):
    y, x = np.mgrid[0:240, 0:320].astype(float)
    grey = gain * waves(x - du, y - dv, seed) + offset
    if noise:
        grey = np.rint(grey + noise * rng.standard_normal(grey.shape))
    return cv2.GaussianBlur(grey.astype(np.float32), (5, 5), 0.8)


def grid():
    y, x = np.mgrid[25:220:13, 25:300:13]
    return np.column_stack([x.ravel(), y.ravel()]).astype(float)


def test_a_known_shift_is_found_to_hundredths_of_a_pixel():
    uv = grid()
    templates = cut_patches(image(), uv, SIZE + 2)
    for du, dv in [(0.0, 0.0), (0.25, -0.4), (0.5, 0.5), (-1.3, 0.8)]:
        found = align_patches(image(du, dv), templates, uv)
        error = found.uv - uv - [du, dv]
        assert np.median(np.abs(error)) < INTERPOLATION
        assert np.abs(error.mean(axis=0)).max() < INTERPOLATION
        assert found.correlation.min() > 0.98


def test_gain_and_offset_do_not_move_a_patch():
    uv = grid()
    templates = cut_patches(image(), uv, SIZE + 2)
    plain = align_patches(image(0.3, 0.2), templates, uv)
    brighter = align_patches(image(0.3, 0.2, gain=1.4, offset=-30.0), templates, uv)
    np.testing.assert_allclose(brighter.uv, plain.uv, atol=INTERPOLATION)


def test_noise_leaves_the_disparity_unbiased_at_every_fraction_of_a_pixel():
    rng = np.random.default_rng(5)
    uv = grid()
    for du in np.arange(4.0, 5.01, 0.2):
        templates = cut_patches(image(noise=2.0, rng=rng), uv, SIZE + 2)
        found = align_patches(
            image(-du, noise=2.0, rng=rng), templates, uv - [round(du), 0.0], is_horizontal=True
        )
        error = uv[:, 0] - found.uv[:, 0] - du
        bias = abs(error.mean())
        assert bias < 0.02 + SAMPLING * error.std() / np.sqrt(len(uv))
        assert bias < 0.03  # px; what 3 % of scale at a disparity of 5 px leaves, five times over


def test_the_spread_agrees_with_the_predicted_one():
    rng = np.random.default_rng(6)
    uv = grid()
    errors, predicted = [], []
    for _ in range(5):
        templates = cut_patches(image(noise=2.0, rng=rng), uv, SIZE + 2)
        found = align_patches(image(0.4, noise=2.0, rng=rng), templates, uv)
        uu, uv_, vv = found.information.T
        predicted.append(2.0 * 2.0**2 * vv / (uu * vv - uv_**2))
        errors.append(found.uv[:, 0] - uv[:, 0] - 0.4)
    ratio = np.mean(np.square(errors)) / np.mean(predicted)
    assert 0.4 < ratio < 1.6  # smoothing correlates the noise: the formula is a bound, no more


def test_the_optimum_is_that_of_a_general_least_squares_solver():
    rng = np.random.default_rng(7)
    target = image(0.35, -0.2, noise=2.0, rng=rng)
    uv = np.array([[120.0, 97.0]])
    templates = cut_patches(image(noise=2.0, rng=rng), uv, SIZE + 2)
    ours = align_patches(target, templates, uv, max_iterations=50).uv[0]
    template = templates[0, 1:-1, 1:-1].astype(float)
    rows, columns = np.mgrid[-5:6, -5:6]

    def residual(p):
        where = [rows + p[1], columns + p[0]]
        return (map_coordinates(target, where, order=1) - p[2] * template - p[3]).ravel()

    theirs = least_squares(residual, [*uv[0], 1.0, 0.0], x_scale=[1, 1, 0.1, 10]).x[:2]
    # inverse compositional steps by the template's gradient: the same optimum but for noise in it
    np.testing.assert_allclose(ours, theirs, atol=0.03)


def test_patches_beyond_the_border_are_not_found():
    uv = np.array([[2.0, 50.0], [50.0, 238.0], [np.nan, np.nan]])
    patches = cut_patches(image(), uv, SIZE + 2)
    assert np.isnan(patches).all()
    templates = cut_patches(image(), np.full((3, 2), 60.0), SIZE + 2)
    assert (align_patches(image(), templates, uv).correlation == -1.0).all()


def test_a_patch_without_texture_is_not_found():
    flat = np.full((1, SIZE + 2, SIZE + 2), 80.0, dtype=np.float32)
    assert align_patches(image(), flat, np.array([[60.0, 60.0]])).correlation[0] == -1.0


@pytest.mark.parametrize("angle_deg", [0.0, 20.0])
def test_a_warped_patch_is_the_texture_seen_through_the_warp(angle_deg):
    angle = np.radians(angle_deg)
    inverse_warp = 0.8 * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    y, x = np.mgrid[-20:21, -20:21]
    key = waves(x + 100.0, y + 80.0).astype(np.float32)
    template = warp_patches(key[None], np.zeros(1, np.intp), inverse_warp[None], SIZE)[0]
    rows, columns = np.mgrid[-5:6, -5:6]
    px = inverse_warp[0, 0] * columns + inverse_warp[0, 1] * rows
    py = inverse_warp[1, 0] * columns + inverse_warp[1, 1] * rows
    expected = map_coordinates(key.astype(float), [py + 20, px + 20], order=1)
    np.testing.assert_allclose(template, expected, atol=ROUNDING)


def test_a_warp_to_the_right_reads_the_patch_to_the_right():
    key = np.tile(np.arange(25, dtype=np.float32), (25, 1))
    stretch = np.array([[[0.5, 0.0], [0.0, 1.0]]])
    template = warp_patches(key[None], np.zeros(1, np.intp), stretch, 5)[0]
    np.testing.assert_allclose(template[2], [11.0, 11.5, 12.0, 12.5, 13.0], atol=ROUNDING)


def test_a_faint_patch_matches_when_it_differs_by_noise_only():
    rng = np.random.default_rng(8)
    uv = grid()
    faint = [
        cv2.GaussianBlur(
            (100 + 0.04 * waves(*np.mgrid[0:240, 0:320][::-1]) + rng.normal(0, 2, (240, 320)))
            .astype(np.float32), (5, 5), 0.8,
        )
        for _ in range(2)
    ]  # fmt: skip
    found = align_patches(faint[1], cut_patches(faint[0], uv, SIZE + 2), uv)
    unequal = align_patches(image(), cut_patches(image(seed=1), uv, SIZE + 2), uv)
    noise = 2.0 * 2.0**2 * 0.2
    assert found.is_match(0.99, noise).mean() > found.is_match(0.99, 0.0).mean()
    assert unequal.is_match(0.99, noise).mean() < 0.1
