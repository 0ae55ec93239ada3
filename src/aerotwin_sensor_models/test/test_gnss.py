# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The GNSS receiver: where it says it is, and how far off, and how it says so."""

import math

import numpy as np
import pytest

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_sensor_models import Gnss, GnssParameters, load_preset, seed_sequence

PLANE = LocalTangentPlane(
    GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
)
STILL = np.zeros(3)


def position_errors(parameters, rate_hz, n, seed=0):
    receiver = Gnss(parameters, seed_sequence(seed, 0, "gnss"), PLANE)
    place = np.array([12.0, -7.0, 3.0])
    rows = np.empty((n, 3))
    for row in rows:
        s = receiver.sample(1 / rate_hz, place, STILL)
        row[:] = PLANE.from_geodetic(s.latitude_deg, s.longitude_deg, s.altitude_m) - place
    return rows


def test_an_ideal_receiver_tells_the_truth():
    receiver = Gnss(load_preset("gnss", "ideal"), seed_sequence(0, 0, "gnss"), PLANE)
    sample = receiver.sample(0.1, STILL, np.array([1.0, 2.0, 3.0]))
    assert sample.latitude_deg == pytest.approx(47.397742, abs=1e-12)
    assert sample.longitude_deg == pytest.approx(8.545594, abs=1e-12)
    assert sample.altitude_m == pytest.approx(488.0, abs=1e-8)
    np.testing.assert_array_equal(sample.v_map, (1.0, 2.0, 3.0))


def test_a_step_north_is_a_step_in_latitude_on_the_ellipsoid():
    receiver = Gnss(load_preset("gnss", "ideal"), seed_sequence(0, 0, "gnss"), PLANE)
    sample = receiver.sample(0.1, np.array([0.0, 100.0, 0.0]), STILL)
    # meridian radius of WGS84 at 47.4 degrees, plus the altitude
    sin2 = math.sin(math.radians(47.397742)) ** 2
    radius = 6378137.0 * (1 - 0.00669437999) / (1 - 0.00669437999 * sin2) ** 1.5 + 488.0
    expected = math.degrees(100.0 / radius)
    assert sample.latitude_deg - 47.397742 == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", ["gnss_default", "px4_gazebo_classic"])
@pytest.mark.parametrize("rate_hz", [2.0, 10.0])
def test_errors_have_their_sigma_whatever_the_rate_and_it_is_the_one_reported(name, rate_hz):
    parameters = load_preset("gnss", name)
    runs = np.array([position_errors(parameters, rate_hz, 3, seed) for seed in range(400)])
    errors = runs[:, 2]
    sample = Gnss(parameters, seed_sequence(0, 0, "gnss"), PLANE).sample(0.1, STILL, STILL)
    assert np.abs(errors.mean(axis=0) / sample.position_std_m).max() < 5 / math.sqrt(400)
    ratio = errors.std(axis=0) / sample.position_std_m
    np.testing.assert_allclose(ratio, 1.0, atol=5 / math.sqrt(2 * 400))


@pytest.mark.parametrize("rate_hz", [2.0, 10.0])
def test_the_correlated_error_fades_over_its_time(rate_hz):
    tau = 5.0
    parameters = GnssParameters(
        walk_horizontal_m=0.3, walk_vertical_m=0.5, walk_correlation_time_s=tau
    )
    seconds = 3000.0 if rate_hz < 5 else 1000.0
    errors = position_errors(parameters, rate_hz, round(seconds * rate_hz)) / [0.3, 0.3, 0.5]
    lag = round(tau * rate_hz)
    correlation = np.mean(errors[lag:] * errors[:-lag])
    n_independent = 3 * seconds / tau
    assert correlation == pytest.approx(math.exp(-1), abs=5 / math.sqrt(n_independent))


def test_white_noise_is_the_part_without_memory():
    parameters = load_preset("gnss", "gnss_default")
    steps = np.diff(position_errors(parameters, 10.0, 3000), axis=0)
    white, walk = np.array([0.2, 0.2, 0.4]), np.array([0.3, 0.3, 0.5])
    expected = np.sqrt(2 * white**2 + 2 * walk**2 * (1 - math.exp(-0.1 / 60.0)))
    np.testing.assert_allclose(steps.std(axis=0) / expected, 1.0, atol=5 / math.sqrt(3000))


def test_velocity_noise_has_the_sigma_that_is_reported():
    receiver = Gnss(load_preset("gnss", "gnss_default"), seed_sequence(0, 0, "gnss"), PLANE)
    samples = [receiver.sample(0.1, STILL, np.array([1.0, 2.0, 3.0])) for _ in range(2000)]
    errors = np.array([s.v_map for s in samples]) - [1.0, 2.0, 3.0]
    ratio = errors.std(axis=0) / samples[0].velocity_std_m_s
    np.testing.assert_allclose(ratio, 1.0, atol=5 / math.sqrt(4000))


def test_the_default_delay_is_the_one_px4_assumes():
    parameters = load_preset("gnss", "gnss_default")
    assert (parameters.rate_hz, parameters.delay_s) == (10.0, 0.11)
