# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a camera makes of a picture: statistics, order of the physics, the same bytes again."""

import dataclasses
import math
import threading
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.parameters import ParameterError, load_parameters
from aerotwin_sensor_models import (
    CameraNoiseParameters,
    CameraParameters,
    DepthNoiseParameters,
    DepthSensor,
    ExposureParameters,
    ImageSensor,
    VignettingParameters,
    light_at,
    load_preset,
    preset_names,
    relative_illumination,
)
from aerotwin_sensor_models.camera_errors import check_vignetting
from aerotwin_sensor_models.counter_noise import DEPTH, PICTURE

SHAPE = (480, 752)
N = SHAPE[0] * SHAPE[1]
ROUNDING_VARIANCE = 1.0 / 12.0
ROUNDING = 1e-6  # of a float32 share
TABLE_SCALE = 1e-3  # the table of normals is scaled to unit variance; here sigma reaches 8 m
BETWEEN_PIXELS = 1e-2  # of the falloff from one pixel to the next, with coefficients of about 2
HALF_A_LEVEL = 0.5 + 1e-3  # of rounding to 8 bits; the filter ends at 4 sigma
QUIET = CameraNoiseParameters()


def lens(shape=SHAPE):
    h, w = shape
    return PinholeCamera(width=w, height=h, fx=458.0, fy=458.0, cx=(w - 1) / 2.0, cy=(h - 1) / 2.0)


def sensor(noise=QUIET, seed=0, shape=SHAPE, **effects):
    return ImageSensor(lens(shape), noise, seed=seed, **effects)


def take(some_sensor, image, stamp_ns=0, camera_index=0):
    return some_sensor.expose(image, stamp_ns, camera_index=camera_index)


def flat(value, shape=SHAPE):
    return np.full(shape, value, np.uint8)


def mix(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def normal(key, group, place):
    level = (mix((key + group * 0x9E3779B97F4A7C15) % 2**64) >> (16 * place)) & 0xFFFF
    return NormalDist().inv_cdf((level + 0.5) / 65536)


def key_of(*entropy):
    return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])


@pytest.mark.parametrize("level", [40, 128, 200])
def test_mean_and_variance_are_those_of_shot_and_read_noise(level):
    parameters = CameraNoiseParameters(read_noise_dn=1.5, gain_dn_per_electron=0.02, mean_dn=3.0)
    noisy = take(sensor(parameters, 3), flat(level), 5).astype(float)
    variance = 1.5**2 + 0.02 * level + ROUNDING_VARIANCE
    assert noisy.mean() == pytest.approx(level + 3.0, abs=5 * math.sqrt(variance / N))
    assert noisy.var() == pytest.approx(variance, abs=5 * variance * math.sqrt(2 / N))


def test_gain_amplifies_noise_and_exposure_collects_it():
    """One grey value by more light or by more gain: the amplified picture is the noisier one."""
    parameters = CameraNoiseParameters(read_noise_dn=1.0, gain_dn_per_electron=0.05)
    lit = take(sensor(parameters, exposure=ExposureParameters(exposure=3.0)), flat(40))
    amplified = take(sensor(parameters, exposure=ExposureParameters(gain=3.0)), flat(40))
    variances = (1.0 + 0.05 * 120, 9.0 * (1.0 + 0.05 * 40))
    for image, variance in zip((lit, amplified), variances, strict=True):
        variance += ROUNDING_VARIANCE
        assert image.mean() == pytest.approx(120.0, abs=5 * math.sqrt(variance / N))
        assert image.var() == pytest.approx(variance, abs=5 * variance * math.sqrt(2 / N))


def test_the_noise_is_normal():
    noise = sensor(CameraNoiseParameters(read_noise_dn=20.0))
    values = (take(noise, flat(128)).astype(float) - 128) / 20.0
    for limit in (1.0, 2.0, 3.0):
        # a value counts when its rounded form does: the edge lies half a step further out
        edge = (math.floor(20 * limit) + 0.5) / 20.0
        share = np.mean(np.abs(values) > edge)
        expected = math.erfc(edge / math.sqrt(2))
        assert share == pytest.approx(expected, abs=5 * math.sqrt(expected / N))


def test_pixels_channels_cameras_stamps_and_seeds_are_independent():
    parameters = CameraNoiseParameters(read_noise_dn=10.0)
    noise, image = sensor(parameters, 1), flat(128)
    a = take(noise, image, 7).astype(float) - 128
    others = [
        take(noise, image, 8),
        take(noise, image, 7, 1),
        take(sensor(parameters, 2), image, 7),
    ]
    channels = take(noise, flat(128, (*SHAPE, 3)), 7).astype(float) - 128
    pairs = [(a, o.astype(float) - 128) for o in others]
    pairs += [(a[:, 1:], a[:, :-1]), (a[1:], a[:-1]), (channels[..., 0], channels[..., 1])]
    for one, other in pairs:
        assert abs(np.mean(one * other) / 100.0) < 5 / math.sqrt(N)


def test_a_frame_gets_the_same_bytes_in_any_order_and_thread():
    parameters, image = load_preset("camera", "mt9v034_stereo"), flat(100)
    expected = [take(parameters.image_sensor(9), image, i) for i in range(4)]
    again = [None] * 4

    def work(i):
        again[i] = take(parameters.image_sensor(9), image, i)

    threads = [threading.Thread(target=work, args=(i,)) for i in (3, 1, 0, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(expected, again, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_channels", [1, 3])
def test_the_bytes_are_those_of_the_slow_form(n_channels):
    noise = CameraNoiseParameters(mean_dn=-2.0, read_noise_dn=2.0, gain_dn_per_electron=0.05)
    exposure = ExposureParameters(
        exposure=1.5, gain=1.2, brightness_dn=4.0, light_curve=((1.0, 1.0), (3.0, 0.5))
    )
    vignetting = VignettingParameters(falloff_r2=-0.4, falloff_r4=-0.2)
    camera = lens((3, 5))
    image = np.random.default_rng(0).integers(0, 256, (3, 5, n_channels), dtype=np.uint8)
    share = relative_illumination(vignetting, camera).ravel()
    key, expected = key_of(PICTURE, 4, 1, 2_000_000_000), np.empty((15, n_channels))
    for i, pixel in enumerate(image.reshape(15, n_channels).tolist()):
        for c, grey in enumerate(pixel):
            signal = 1.5 * 0.75 * share[i] * grey  # the light at 2 s is half way down
            sigma = math.sqrt(4.0 + 0.05 * signal)
            n = sigma * normal(key, (i // 4) * n_channels + c, i % 4) - 2.0
            value = 1.2 * (signal + n) + 4.0
            expected[i, c] = min(255, max(0, math.floor(value + 0.5)))
    made = sensor(noise, 4, (3, 5), exposure=exposure, vignetting=vignetting)
    found = take(made, image.squeeze(), 2_000_000_000, 1)
    np.testing.assert_array_equal(found.reshape(15, n_channels), expected)


def test_an_ideal_camera_returns_a_copy_and_the_ends_do_not_wrap():
    image = flat(77, (4, 4))
    copy = take(load_preset("camera", "ideal").image_sensor(0), flat(77))
    np.testing.assert_array_equal(copy, flat(77))
    assert take(sensor(shape=(4, 4)), image) is not image
    noise = sensor(CameraNoiseParameters(read_noise_dn=5.0))
    assert take(noise, flat(0)).max() < 40
    assert take(noise, flat(255)).min() > 215
    bright = sensor(exposure=ExposureParameters(exposure=9.0))
    assert (take(bright, flat(100)) == 255).all()


def gaussian(sigma_px, x):
    density = np.exp(-0.5 * (x / sigma_px) ** 2)
    return density / density.sum()


@pytest.mark.parametrize("n_channels", [1, 3])
def test_the_picture_of_a_line_is_a_gaussian_across_it(n_channels):
    image = np.zeros((31, 41, n_channels), np.uint8)
    image[:, 12] = 250
    seen = take(sensor(shape=(31, 41), blur_px=1.5), image.squeeze()).reshape(image.shape)
    expected = 250.0 * gaussian(1.5, np.arange(41.0) - 12.0)
    assert np.abs(seen - expected[:, None]).max() <= HALF_A_LEVEL


def test_blur_keeps_the_light_and_what_is_even_and_comes_before_the_shade():
    np.testing.assert_array_equal(take(sensor(blur_px=3.0), flat(90)), flat(90))
    picture = np.random.default_rng(1).integers(0, 256, SHAPE, dtype=np.uint8)
    blurred = take(sensor(blur_px=2.0), picture)
    edges = 2.0 * 4.0 * sum(SHAPE) / N  # pixels whose light comes from beyond the edges, once more
    assert blurred.mean() == pytest.approx(picture.mean(), abs=edges)
    shading = VignettingParameters(falloff_r2=-0.5)
    share = relative_illumination(shading, lens())
    shaded = take(sensor(blur_px=2.0, vignetting=shading), picture)
    assert np.abs(shaded - share * blurred).max() <= HALF_A_LEVEL


@pytest.mark.parametrize("blur_px", [-1.0, math.nan, 51.0])
def test_a_blur_that_is_none_is_refused(blur_px):
    with pytest.raises(ValueError, match="blur_px must be from 0 to 50"):
        sensor(blur_px=blur_px)


def test_the_field_worn_pair_of_twins_differs_from_the_default_by_what_spoils_its_pictures_alone():
    path = Path(__file__).parents[3] / "config" / "cameras" / "stadium_real.yaml"
    camera = load_preset("camera", str(path))
    corrupted = {"noise", "vignetting", "exposure", "blur_px", "baseline_m"}
    same = {f.name for f in dataclasses.fields(camera)} - corrupted
    assert all(getattr(camera, name) == getattr(CameraParameters(), name) for name in same)
    assert camera.baseline_m == 0.11
    assert camera.blur_px > 0.0 and len(camera.exposure.light_curve) > 2


def test_views_and_read_only_images_are_taken_and_others_refused():
    view = flat(100, (960, 1504))[::2, ::2]
    view.flags.writeable = False
    noise = sensor(CameraNoiseParameters(read_noise_dn=1.0))
    np.testing.assert_array_equal(take(noise, view), take(noise, flat(100)))
    for image in (flat(1).astype(float), flat(1, (480, 751))):
        with pytest.raises(ValueError, match="uint8 of 752 x 480 pixels"):
            take(noise, image)
    with pytest.raises(ValueError, match="seed must not be negative"):
        sensor(seed=-1)


def test_vignetting_is_the_polynomial_of_the_distance():
    parameters = VignettingParameters(falloff_r2=-0.3, falloff_r4=-0.2, falloff_r6=0.1)
    share = relative_illumination(parameters, lens((481, 753)))
    assert share[240, 376] == 1.0
    r = math.hypot(100.0, 50.0) / (math.hypot(753, 481) / 2.0)
    expected = 1.0 - 0.3 * r**2 - 0.2 * r**4 + 0.1 * r**6
    for v in (190, 290):
        for u in (276, 476):
            assert share[v, u] == pytest.approx(expected, abs=ROUNDING)
    shaded = take(sensor(shape=(481, 753), vignetting=parameters), flat(200, (481, 753)))
    np.testing.assert_array_equal(shaded, np.floor(share * np.float32(200.0) + np.float32(0.5)))


def test_a_lens_that_lets_no_light_through_is_refused():
    with pytest.raises(ValueError, match="must leave light in the whole image"):
        relative_illumination(VignettingParameters(falloff_r2=-1.2), lens())


@pytest.mark.parametrize("centre", [(376.0, 240.0), (-60.0, 100.0), (900.0, 700.0)])
def test_the_darkest_place_is_found_without_looking_at_every_pixel(centre):
    """Random falloffs: what is refused is what has a pixel without light, but for its rounding."""
    camera = dataclasses.replace(lens(), cx=centre[0], cy=centre[1])
    u, v = np.meshgrid(np.arange(SHAPE[1]), np.arange(SHAPE[0]))
    square = ((u - centre[0]) ** 2 + (v - centre[1]) ** 2) * 4.0 / (SHAPE[0] ** 2 + SHAPE[1] ** 2)
    n_refused = 0
    for c2, c4, c6 in np.random.default_rng(0).normal(0.0, 2.0, (40, 3)):
        share = 1.0 + c2 * square + c4 * square**2 + c6 * square**3
        if abs(share.min()) < BETWEEN_PIXELS:
            continue
        try:
            check_vignetting(
                VignettingParameters(falloff_r2=c2, falloff_r4=c4, falloff_r6=c6), camera
            )
        except ValueError:
            n_refused += 1
            assert share.min() < 0.0
        else:
            assert share.min() > 0.0
    assert 0 < n_refused < 40


@pytest.mark.parametrize(
    ("time_s", "factor"),
    [(0.0, 1.0), (5.0, 1.0), (6.0, 0.7), (7.0, 0.4), (9.999, 0.4), (10.0, 1.5), (99.0, 1.5)],
)
def test_light_goes_by_ramps_and_steps(time_s, factor):
    curve = ((5.0, 1.0), (7.0, 0.4), (10.0, 0.4), (10.0, 1.5))
    assert light_at(ExposureParameters(light_curve=curve), time_s) == pytest.approx(factor)


@pytest.mark.parametrize("noise", [QUIET, CameraNoiseParameters(read_noise_dn=2.0)])
def test_more_light_of_the_scene_is_a_larger_exposure(noise):
    image = np.arange(N, dtype=np.int64).astype(np.uint8).reshape(SHAPE)
    exposed = take(sensor(noise, exposure=ExposureParameters(exposure=2.5)), image)
    lit = sensor(noise).expose(image, 0, camera_index=0, light=2.5)
    np.testing.assert_array_equal(lit, exposed)


def test_light_flickers_as_a_sinusoid_on_top_of_its_curve():
    parameters = ExposureParameters(
        light_curve=((0.0, 2.0),), flicker_amplitude=0.25, flicker_hz=50.0
    )
    for phase, factor in ((0.0, 2.0), (0.25, 2.5), (0.5, 2.0), (0.75, 1.5)):
        assert light_at(parameters, (1000 + phase) / 50.0) == pytest.approx(factor)


def test_light_that_goes_back_in_time_or_is_negative_is_refused():
    for curve, message in (
        (((2.0, 1.0), (1.0, 1.0)), "must not go back in time"),
        (((2.0, -1.0),), "factors of at least 0"),
    ):
        with pytest.raises(ValueError, match=message):
            ExposureParameters(light_curve=curve)


def test_depth_noise_grows_with_the_square_of_the_distance():
    noise = DepthNoiseParameters(disparity_noise_px=0.08, baseline_m=0.05)
    depth_sensor = DepthSensor(noise, focal_px=454.7, near_m=0.3, far_m=50.0, seed=2)
    for z in (1.0, 3.0, 9.0):
        true = np.full(SHAPE, z, np.float32)
        error = depth_sensor.measure(true, stamp_ns=0, camera_index=0) - true
        sigma = z**2 * 0.08 / (454.7 * 0.05)
        assert error.std() == pytest.approx(sigma, rel=5 / math.sqrt(2 * N))
        assert abs(error.mean()) < 5 * sigma / math.sqrt(N)


def test_noise_does_not_carry_depth_out_of_its_range():
    noise = DepthNoiseParameters(disparity_noise_px=1.0, baseline_m=0.05)
    depth_sensor = DepthSensor(noise, focal_px=400.0, near_m=4.9, far_m=5.1, seed=0)
    found = depth_sensor.measure(np.full(SHAPE, 5.0, np.float32), stamp_ns=0, camera_index=0)
    seen = found[np.isfinite(found)]
    assert 0.01 < seen.size / N < 0.2 and seen.min() >= 4.9 - ROUNDING and seen.max() <= 5.1
    assert np.isposinf(found).any() and np.isneginf(found).any()


def test_depth_out_of_range_is_infinite_and_none_is_not_a_number():
    depth_sensor = DepthSensor(
        DepthNoiseParameters(), focal_px=400.0, near_m=0.3, far_m=10.0, seed=0
    )
    true = np.array([[0.29, 0.31, 9.9, 10.1, np.inf, np.nan]], np.float32)
    found = depth_sensor.measure(true, stamp_ns=0, camera_index=0)
    expected = np.array([[-np.inf, 0.31, 9.9, np.inf, np.inf, np.nan]], np.float32)
    np.testing.assert_array_equal(found, expected)
    assert true[0, 0] == np.float32(0.29)  # the input stays


def test_the_noise_of_depth_is_that_of_the_slow_form():
    noise = DepthNoiseParameters(disparity_noise_px=1.0, baseline_m=0.1)
    depth_sensor = DepthSensor(noise, focal_px=100.0, near_m=-50.0, far_m=100.0, seed=7)
    true = np.random.default_rng(1).uniform(0.5, 9.0, (3, 3)).astype(np.float32)
    key = key_of(DEPTH, 7, 3, 11)
    expected = [
        z + 0.1 * z**2 * normal(key, i // 4, i % 4) for i, z in enumerate(true.ravel().tolist())
    ]
    found = depth_sensor.measure(true, 11, camera_index=3)
    np.testing.assert_allclose(found.ravel(), expected, atol=TABLE_SCALE)


def test_presets_say_what_the_papers_say():
    stereo, o3 = load_preset("camera", "mt9v034_stereo"), load_preset("camera", "dji_o3")
    assert (stereo.width, stereo.height, stereo.baseline_m) == (752, 480, 0.12)
    assert stereo.lens().distortion == (-0.2, 0.08, 5e-5, -1e-4, 0.0)
    assert (o3.width, o3.height, o3.rate_hz) == (2688, 1512, 30.0)
    corners = o3.lens().rays_at([[0.0, 0.0], [2687.0, 1511.0]])
    field = np.degrees(np.arctan(np.hypot(*corners.T))).sum()
    assert field == pytest.approx(155.0, abs=0.01)
    rolling = [n for n in preset_names("camera") if load_preset("camera", n).readout_s > 0.0]
    assert rolling == ["as_flown_rolling"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"k1": 0.1}, "model pinhole: k1 must be 0"),
        ({"model": "fisheye", "p1": 0.1}, "model fisheye: p1 must be 0"),
        ({"model": "brown", "k1": -0.9}, "turns back"),
        ({"model": "fisheye", "cx": 9000.0}, "must hold a pixel of the image"),
        ({"vignetting": {"falloff_r2": -2.0}}, "must leave light in the whole image"),
        ({"far_m": 0.1, "near_m": 0.2}, "far_m must be above near_m"),
        ({"noise": {"read_noise_dn": -1.0}}, r"noise\.read_noise_dn: expected at least"),
    ],
)
def test_cameras_that_cannot_be_are_refused(values, message):
    with pytest.raises(ParameterError, match=message):
        load_parameters(CameraParameters, values, where="preset")
