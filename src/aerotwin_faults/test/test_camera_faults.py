# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of cameras on images: against SciPy, closed forms and counts."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from aerotwin_faults import FaultTiming, Moment, activated, load_fault
from aerotwin_faults.together import found_depth, frame_delay_s, lit_image, sent_picture

NONE, HALF, FULL = (Moment(level, 1.0, 1.0) for level in (0.0, 0.5, 1.0))
HALF_DN = 0.5 + 1e-3  # rounding to 8 bits
SMALL, LARGE = (48, 64), (240, 320)
SIGMAS = 5.0


def fault(kind, seed=3, **values):
    return load_fault(kind, values, where="test").effect(np.random.default_rng(seed))


def active(kind, **values):
    timing = FaultTiming(begin_ns=0)
    loaded = load_fault(kind, values, where="test")
    return activated(kind, loaded, timing, np.random.default_rng(3))


def noise(shape, seed=1):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


@pytest.mark.parametrize("kind", ["camera_black", "camera_blur", "camera_dirt"])
@pytest.mark.parametrize("shape", [SMALL, (*SMALL, 3)])
def test_at_level_0_an_image_is_as_it_was(kind, shape):
    image = noise(shape)
    np.testing.assert_array_equal(fault(kind).light(image, "eye", NONE), image)


def test_a_covered_lens_passes_no_light_and_a_closing_one_less():
    image, black = noise(SMALL), fault("camera_black")
    assert not black.light(image, "eye", FULL).any()
    found = black.light(image, "eye", HALF).astype(float)
    np.testing.assert_allclose(found, 0.5 * image, atol=HALF_DN)


@pytest.mark.parametrize("sigma_px", [0.6, 3.0, 12.0])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_defocus_is_the_gaussian_of_scipy(sigma_px, channels):
    image = noise((90, 120, *channels))
    found = fault("camera_blur", sigma_px=sigma_px).light(image, "eye", FULL)
    sigmas = (sigma_px, sigma_px, *(0.0 for _ in channels))
    expected = gaussian_filter(image.astype(float), sigmas, mode="nearest")
    np.testing.assert_allclose(found, expected, atol=HALF_DN)
    half = fault("camera_blur", sigma_px=2.0 * sigma_px).light(image, "eye", HALF)
    np.testing.assert_array_equal(half, found)


def test_the_light_of_the_scene_doubles_with_each_exposure_value():
    assert fault("camera_exposure", ev=3.0).light_factor(FULL) == 8.0
    assert fault("camera_exposure", ev=-2.0).light_factor(HALF) == 0.5
    two = [active("camera_exposure", ev=1.0), active("camera_exposure", ev=-3.0)]
    image = noise(SMALL)
    assert lit_image(two, image, "eye", 0) == (image, 0.25)


class TestDirt:
    """What is on the lens does not move, and hides what it hides."""

    grey = np.full(LARGE, 200, np.uint8)

    def share(self, effect, moment=FULL, eye="eye"):
        return effect.light(self.grey, eye, moment) / 200.0

    def test_it_is_at_one_place_in_all_frames_in_colour_and_in_grey(self):
        dirt = fault("camera_dirt")
        share, image = self.share(dirt), noise((*LARGE, 3), seed=9)
        found = dirt.light(image, "eye", FULL)
        np.testing.assert_allclose(found, image * share[..., None], atol=0.5 + 255 * 0.5 / 200)
        np.testing.assert_array_equal(self.share(dirt), share)
        np.testing.assert_array_equal(self.share(fault("camera_dirt")), share)
        assert (self.share(fault("camera_dirt", seed=4)) != share).any()

    def test_each_lens_has_its_own(self):
        dirt = fault("camera_dirt")
        assert (self.share(dirt, eye="left") != self.share(dirt, eye="right")).any()

    def test_it_grows_with_the_level(self):
        dirt = fault("camera_dirt", spots=1, size=0.4)
        darkness = [
            1.0 - self.share(dirt, Moment(level, 0.0, 0.0)).mean()
            for level in (0.0, 0.25, 0.5, 0.75, 1.0)
        ]
        assert darkness[0] == 0.0
        assert (np.diff(darkness) > 0.0).all()
        assert darkness[2] == pytest.approx(4.0 * darkness[1], rel=0.05)  # within the image

    def test_its_area_and_opacity_are_what_is_said(self):
        few = fault("camera_dirt", spots=1, size=0.3, opacity=0.6, seed=12)
        share = self.share(few)
        assert share.min() == pytest.approx(0.4, abs=0.01)
        sizes = [
            1.0 - self.share(fault("camera_dirt", spots=1, size=0.1, opacity=1.0, seed=k)).mean()
            for k in range(300)
        ]
        # Mean of the squared radius, of a circle (lognormal) and with bumps (each half a square of
        # its amplitude), less what hangs over the edge of the image.
        of_circle = np.pi * (0.05 * 320) ** 2 * np.exp(2.0 * 0.4**2) / (240 * 320)
        assert 0.8 * of_circle < np.mean(sizes) < 1.3 * of_circle


def test_depth_is_found_where_half_of_the_light_comes_through():
    depth = np.random.default_rng(2).uniform(1.0, 9.0, LARGE).astype(np.float32)
    dirt, grey = fault("camera_dirt"), np.full(LARGE, 200, np.uint8)
    found, seen = dirt.depth(depth, "eye", FULL), dirt.light(grey, "eye", FULL)
    np.testing.assert_array_equal(found[seen > 100], depth[seen > 100])
    assert np.isnan(found[seen < 100]).all()
    assert 0.01 < np.isnan(found).mean() < 0.9
    black = fault("camera_black")
    np.testing.assert_array_equal(black.depth(depth, "eye", HALF), depth)
    assert np.isnan(black.depth(depth, "eye", FULL)).all()
    for kind in ("camera_blur", "camera_exposure"):
        np.testing.assert_array_equal(found_depth([active(kind)], depth, "eye", 0), depth)


def test_a_frozen_camera_repeats_each_of_its_pictures():
    frozen = [active("camera_frozen")]
    pictures = {key: noise(SMALL, seed=k) for k, key in enumerate([("l", "mono"), ("r", "mono"),
                                                                    ("l", "depth")])}  # fmt: skip
    for key, first in pictures.items():
        np.testing.assert_array_equal(sent_picture(frozen, first, *key, 0), first)
    for key, first in pictures.items():
        np.testing.assert_array_equal(sent_picture(frozen, noise(SMALL, 8), *key, 50), first)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_share_of_dropped_frames_is_what_is_said_and_the_same_again(share):
    stamps = np.arange(3000) * 50_000_000
    runs = [
        [frame_delay_s([active("camera_dropped", share=share)], "eye", name, int(stamp)) is None
         for stamp in stamps]
        for name in ("eye", "eye", "other")
    ]  # fmt: skip
    n_sigma = SIGMAS * np.sqrt(3000 * share * (1.0 - share))
    assert sum(runs[0]) == pytest.approx(3000 * share, abs=n_sigma)
    assert runs[0] == runs[1]
    both = np.logical_and(runs[0], runs[2]).sum()  # another camera loses others
    assert both == pytest.approx(3000 * share**2, abs=SIGMAS * np.sqrt(3000 * share**2))


def test_delays_add_up_and_grow_and_lost_is_lost():
    delays = [active("camera_delay", seconds=0.2), active("camera_delay", seconds=0.3)]
    assert frame_delay_s(delays, "eye", "eye", 0) == pytest.approx(0.5)
    assert frame_delay_s([*delays, active("camera_dropped")], "eye", "eye", 0) is None
    assert fault("camera_delay", seconds=0.4).delay_s(0, "eye", HALF) == pytest.approx(0.2)


def test_a_fault_of_one_camera_leaves_the_others_alone():
    image = noise(SMALL)
    black = [active("camera_black", camera="left"), active("camera_dropped", camera="left")]
    assert not lit_image(black, image, "left", 0)[0].any()
    np.testing.assert_array_equal(lit_image(black, image, "right", 0)[0], image)
    assert frame_delay_s(black, "left", "left", 0) is None
    assert frame_delay_s(black, "right", "left", 0) == 0.0
