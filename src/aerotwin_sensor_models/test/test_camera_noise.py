# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Camera noise: its statistics, and the same bytes for the same frame."""

import math
import threading

import numpy as np
import pytest

from aerotwin_sensor_models import CameraNoise, CameraNoiseParameters, load_preset

SHAPE = (480, 752)
N = SHAPE[0] * SHAPE[1]
ROUNDING_VARIANCE = 1.0 / 12.0


def flat(value, shape=SHAPE):
    return np.full(shape, value, np.uint8)


@pytest.mark.parametrize("level", [40, 128, 200])
def test_mean_and_variance_are_those_of_shot_and_read_noise(level):
    parameters = CameraNoiseParameters(read_noise_dn=1.5, gain_dn_per_electron=0.02)
    noisy = CameraNoise(parameters, 3).apply(flat(level), 5, 0).astype(float)
    variance = 1.5**2 + 0.02 * level + ROUNDING_VARIANCE
    assert noisy.mean() == pytest.approx(level, abs=5 * math.sqrt(variance / N))
    assert noisy.var() == pytest.approx(variance, abs=5 * variance * math.sqrt(2 / N))


def test_the_noise_is_normal():
    parameters = CameraNoiseParameters(read_noise_dn=20.0)
    values = (CameraNoise(parameters, 0).apply(flat(128), 0, 0).astype(float) - 128) / 20.0
    for limit in (1.0, 2.0, 3.0):
        # a value counts when its rounded form does: the edge lies half a step further out
        edge = (math.floor(20 * limit) + 0.5) / 20.0
        share = np.mean(np.abs(values) > edge)
        expected = math.erfc(edge / math.sqrt(2))
        assert share == pytest.approx(expected, abs=5 * math.sqrt(expected / N))


def test_pixels_cameras_frames_and_seeds_are_independent():
    parameters = CameraNoiseParameters(read_noise_dn=10.0)
    noise, image = CameraNoise(parameters, 1), flat(128)
    a = noise.apply(image, 7, 0).astype(float) - 128
    others = [noise.apply(image, 8, 0), noise.apply(image, 7, 1)]
    others.append(CameraNoise(parameters, 2).apply(image, 7, 0))
    for other in [a[:, 1:], a[1:], *(o.astype(float) - 128 for o in others)]:
        b = a[: other.shape[0], : other.shape[1]]
        correlation = np.mean(b * other) / 100.0
        assert abs(correlation) < 5 / math.sqrt(N)


def test_a_frame_gets_the_same_bytes_in_any_order_and_thread():
    noise, image = CameraNoise(load_preset("camera_noise", "default"), 9), flat(100)
    expected = [noise.apply(image, i, 0) for i in range(4)]
    again = [None] * 4

    def work(i):
        again[i] = CameraNoise(load_preset("camera_noise", "default"), 9).apply(image, i, 0)

    threads = [threading.Thread(target=work, args=(i,)) for i in (3, 1, 0, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(expected, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_bytes_are_those_of_the_slow_form():
    def mix(x):
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
        return x ^ (x >> 31)

    from statistics import NormalDist

    parameters = CameraNoiseParameters(read_noise_dn=2.0, gain_dn_per_electron=0.05)
    image = np.random.default_rng(0).integers(0, 256, (3, 5), dtype=np.uint8)
    key = int(np.random.SeedSequence([4, 1, 6]).generate_state(1, np.uint64)[0])
    expected = []
    for i, pixel in enumerate(image.ravel().tolist()):
        bits = mix((key + (i // 4) * 0x9E3779B97F4A7C15) % 2**64)
        level = (bits >> (16 * (i % 4))) & 0xFFFF
        normal = NormalDist().inv_cdf((level + 0.5) / 65536)
        value = pixel + math.sqrt(4.0 + 0.05 * pixel) * normal
        expected.append(min(255, max(0, math.floor(value + 0.5))))
    noisy = CameraNoise(parameters, 4).apply(image, 6, 1)
    np.testing.assert_array_equal(noisy.ravel(), expected)


def test_an_ideal_camera_returns_a_copy_and_the_ends_do_not_wrap():
    image = flat(77, (4, 4))
    copy = CameraNoise(load_preset("camera_noise", "ideal"), 0).apply(image, 0, 0)
    np.testing.assert_array_equal(copy, image)
    assert copy is not image
    noise = CameraNoise(CameraNoiseParameters(read_noise_dn=5.0), 0)
    assert noise.apply(flat(0), 0, 0).max() < 40
    assert noise.apply(flat(255), 0, 0).min() > 215


def test_views_and_read_only_images_are_taken_and_others_refused():
    noise = CameraNoise(load_preset("camera_noise", "default"), 0)
    image = flat(100)
    view = image[::2, ::2]
    view.flags.writeable = False
    assert noise.apply(view, 0, 0).shape == (240, 376)
    with pytest.raises(ValueError, match="uint8"):
        noise.apply(image.astype(float), 0, 0)
