# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Stereo depth against the closed form of a painted plane."""

import numpy as np
import pytest

from aerotwin_core.camera import PinholeCamera
from aerotwin_dense_localization.depth import StereoDepth, StereoParameters
from support.painted_wall import Wall, waves

CAMERA = PinholeCamera(width=480, height=300, fx=420.0, fy=420.0, cx=239.5, cy=149.5)
BASELINE_M = 0.2
INSIDE = np.s_[20:-20, 100:-20]
NOISE_DN = 2.0


def fine(x, y):
    """Return a paint of waves from 0.05 m on: seven pixels."""
    return waves(5.0 * x, 5.0 * y)


def pair(wall, *, noise_dn=NOISE_DN, seed=0):
    rng, images = np.random.default_rng(seed), []
    for x in (0.0, BASELINE_M):
        T = np.eye(4)
        T[0, 3] = x
        grey, depth = wall.seen(CAMERA, T)
        noisy = grey + rng.normal(0.0, noise_dn, grey.shape)
        images.append(np.clip(noisy, 0, 255).round().astype(np.uint8))
        if x == 0.0:
            true = depth
    return (*images, true)


@pytest.fixture(scope="module")
def seen():
    return pair(Wall(paint=fine))


@pytest.mark.parametrize(
    "parameters",
    [StereoParameters(nearest_m=1.5), StereoParameters(nearest_m=1.5, method="block", block_px=11)],
    ids=["semi_global", "block"],
)
def test_depth_is_that_of_the_plane_and_as_certain_as_it_says(seen, parameters):
    left, right, true = seen
    stereo = StereoDepth(CAMERA, BASELINE_M, parameters)
    disparity, sigma = stereo.disparity(left, right)
    expected = CAMERA.fx * BASELINE_M / true
    known = np.isfinite(disparity[INSIDE])
    assert known.mean() > 0.95
    off = (disparity - expected)[INSIDE][known]
    assert abs(np.median(off)) < 0.01  # the pull towards whole pixels would be 0.02 to 0.1
    assert np.median(np.abs(off)) < 0.06
    ratio = np.median(np.abs(off) / sigma[INSIDE][known])
    assert 0.3 < ratio < 1.0  # 0.67 for a Gaussian of that sigma
    found = stereo.depth(left, right)
    both = np.isfinite(found.depth[INSIDE])
    assert np.median(np.abs(found.depth - true)[INSIDE][both] / true[INSIDE][both]) < 0.003
    spread = np.sqrt(found.variance[INSIDE][both]) / true[INSIDE][both] ** 2
    np.testing.assert_allclose(spread, sigma[INSIDE][both] / (CAMERA.fx * BASELINE_M), rtol=0.2)


def test_depth_reaches_as_far_left_as_both_cameras_see(seen):
    left, right, true = seen
    column = np.arange(CAMERA.width, dtype=float)[None, :]
    in_right_px = (column - CAMERA.fx * BASELINE_M / true)[20:-20]
    disparity, _ = StereoDepth(CAMERA, BASELINE_M, StereoParameters(nearest_m=1.5)).disparity(
        left, right
    )
    known = np.isfinite(disparity[20:-20])
    half_px = StereoParameters().refine_px // 2 + 1  # of the patch that is refined
    assert known[(in_right_px > half_px) & (in_right_px < 60.0)].mean() > 0.95
    assert not known[in_right_px < half_px - 2].any()
    matched, _ = StereoDepth(
        CAMERA, BASELINE_M, StereoParameters(nearest_m=1.5, refine_px=1)
    ).disparity(left, right)
    assert not (matched > column).any()  # nothing is matched outside of the right image


def test_refinement_beats_the_matchers_parabola(seen):
    left, right, true = seen
    expected = CAMERA.fx * BASELINE_M / true
    errors = []
    for size in (1, 9):
        parameters = StereoParameters(nearest_m=1.5, refine_px=size)
        disparity, _ = StereoDepth(CAMERA, BASELINE_M, parameters).disparity(left, right)
        errors.append(np.nanmedian(np.abs(disparity - expected)[INSIDE]))
    assert errors[1] < 0.7 * errors[0]


def test_what_is_too_far_or_cannot_be_matched_has_no_depth():
    left, right, _ = pair(Wall(paint=fine, offset_m=4.0))
    parameters = StereoParameters(nearest_m=1.5, farthest_m=2.0)
    far = StereoDepth(CAMERA, BASELINE_M, parameters).depth(left, right)
    assert np.isfinite(far.depth).mean() < 0.12  # paint of waves is alike in many places
    assert not (far.depth > 2.0).any()
    flat = np.full_like(left, 90)
    blank = StereoDepth(CAMERA, BASELINE_M, StereoParameters(nearest_m=1.5)).depth(flat, flat)
    assert np.isnan(blank.depth).all() and np.isnan(blank.variance).all()


@pytest.mark.parametrize(
    ("call", "tokens"),
    [
        (lambda: StereoDepth(CAMERA, BASELINE_M, StereoParameters(nearest_m=0.1)), "disparities"),
        (lambda: StereoParameters(block_px=4), "block_px must be odd"),
        (lambda: StereoParameters(nearest_m=9.0, farthest_m=8.0), "nearest_m must be less"),
        (
            lambda: StereoDepth(CAMERA, BASELINE_M, StereoParameters(nearest_m=1.5)).depth(
                np.zeros((300, 480)), np.zeros((300, 480), np.uint8)
            ),
            "left image must be",
        ),
    ],
)
def test_what_cannot_work_is_refused(call, tokens):
    with pytest.raises(ValueError, match=tokens):
        call()
