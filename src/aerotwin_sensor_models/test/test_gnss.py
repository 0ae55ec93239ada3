# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The GNSS receiver: where it says it is, and how far off, and how it says so."""

import math

import numpy as np
import pytest
from scipy.stats import halfnorm, rayleigh

from aerotwin_core.errors import ParameterError
from aerotwin_core.geodesy import AzimuthalEquidistant, GeodeticPoint, LocalTangentPlane
from aerotwin_core.parameters import load_parameters
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


def velocity_errors(parameters, rate_hz, n, seed=0):
    receiver = Gnss(parameters, seed_sequence(seed, 0, "gnss"), PLANE)
    return np.array([receiver.sample(1 / rate_hz, STILL, STILL).v_map for _ in range(n)])


@pytest.mark.parametrize("rate_hz", [1.0, 5.0, 20.0])
def test_the_correlated_velocity_error_has_its_sigma_and_time_at_every_rate(rate_hz):
    tau, seconds, sigma = 2.0, 1500.0, np.array([0.2, 0.2, 0.4])
    parameters = GnssParameters(
        velocity_walk_horizontal_m_s=0.2,
        velocity_walk_vertical_m_s=0.4,
        velocity_correlation_time_s=tau,
    )
    errors = velocity_errors(parameters, rate_hz, round(seconds * rate_hz)) / sigma
    n_independent = 3 * seconds / tau
    assert errors.std() == pytest.approx(1.0, abs=5 / math.sqrt(n_independent))
    lag = round(tau * rate_hz)
    correlation = np.mean(errors[lag:] * errors[:-lag])
    assert correlation == pytest.approx(math.exp(-1), abs=5 / math.sqrt(n_independent))


def test_both_parts_of_the_velocity_error_are_reported():
    parameters = GnssParameters(velocity_horizontal_m_s=0.3, velocity_walk_horizontal_m_s=0.4)
    first = [velocity_errors(parameters, 5.0, 1, seed)[0] for seed in range(400)]
    sample = Gnss(parameters, seed_sequence(0, 0, "gnss"), PLANE).sample(0.1, STILL, STILL)
    np.testing.assert_allclose(sample.velocity_std_m_s, (0.5, 0.5, 0.0))
    std = np.std(np.array(first)[:, :2])
    assert std == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(2 * 800))


def test_within_an_outage_there_is_no_fix_and_afterwards_there_is():
    parameters = GnssParameters(rate_hz=10.0, outages_s=((1.0, 2.0), (3.0, 3.5)))
    receiver = Gnss(parameters, seed_sequence(0, 0, "gnss"), PLANE)
    samples = [receiver.sample(0.125, STILL, STILL) for _ in range(40)]  # exact in binary
    times = [0.125 * (i + 1) for i in range(40)]
    without = [t for t, s in zip(times, samples) if not s.has_fix]
    assert without == [t for t in times if 1.0 <= t < 2.0 or 3.0 <= t < 3.5]
    lost = samples[times.index(1.0)]
    assert math.isnan(lost.latitude_deg) and np.isnan(lost.v_map).all()
    assert np.isinf(lost.position_std_m).all()
    assert samples[-1].latitude_deg == pytest.approx(47.397742, abs=1e-12)


def test_an_outage_changes_no_reading_before_or_after_it():
    with_it, without = (
        Gnss(GnssParameters(walk_horizontal_m=1.0, outages_s=o), seed_sequence(0, 0, "gnss"), PLANE)
        for o in (((1.0, 2.0),), ())
    )
    for _ in range(40):
        a, b = with_it.sample(0.1, STILL, STILL), without.sample(0.1, STILL, STILL)
        assert not a.has_fix or a.latitude_deg == b.latitude_deg


def test_a_multipath_step_is_there_in_its_window_and_not_in_the_reported_accuracy():
    parameters = GnssParameters(multipath_steps=((1.0, 2.0, 5.0, -3.0, 2.0),))
    receiver = Gnss(parameters, seed_sequence(0, 0, "gnss"), PLANE)
    offsets = []
    for _ in range(24):
        s = receiver.sample(0.125, STILL, STILL)
        offsets.append(PLANE.from_geodetic(s.latitude_deg, s.longitude_deg, s.altitude_m))
        np.testing.assert_array_equal(s.position_std_m, 0.0)
    expected = [(5.0, -3.0, 2.0) if 1.0 <= 0.125 * (i + 1) < 2.0 else (0, 0, 0) for i in range(24)]
    np.testing.assert_allclose(offsets, expected, atol=1e-6)


@pytest.mark.parametrize("rate_hz", [1.0, 5.0])
def test_random_multipath_steps_come_as_often_and_as_large_as_asked_at_every_rate(rate_hz):
    parameters = GnssParameters(
        multipath_horizontal_m=2.0, multipath_vertical_m=3.0, multipath_interval_s=4.0
    )
    seconds = 3000.0
    errors = position_errors(parameters, rate_hz, round(seconds * rate_hz)) / [2.0, 2.0, 3.0]
    n_steps = np.count_nonzero(np.abs(np.diff(errors[:, 0])) > 1e-6)
    expected = -math.expm1(-1 / (4.0 * rate_hz)) * seconds * rate_hz
    assert n_steps == pytest.approx(expected, abs=5 * math.sqrt(expected))
    n_independent = 3 * seconds / 4.0
    assert errors.std() == pytest.approx(1.0, abs=5 / math.sqrt(n_independent))
    lag = round(4.0 * rate_hz)
    correlation = np.mean(errors[lag:] * errors[:-lag])
    assert correlation == pytest.approx(math.exp(-1), abs=5 / math.sqrt(n_independent))


def test_windows_come_from_yaml_and_nonsense_is_refused():
    loaded = load_parameters(GnssParameters, {"outages_s": [[10, 20.5]]}, where="test")
    assert loaded.outages_s == ((10.0, 20.5),)
    with pytest.raises(ParameterError, match=r"outages_s: each must start .* got \(5.0, 4.0\)"):
        load_parameters(GnssParameters, {"outages_s": [[5, 4]]}, where="test")
    with pytest.raises(ParameterError, match="expected 5 values, found 2"):
        load_parameters(GnssParameters, {"multipath_steps": [[5, 4]]}, where="test")


def test_with_the_projection_of_px4_its_map_gets_back_the_true_metres():
    place = np.array([1000.0, 0.0, 20.0])
    parameters = GnssParameters(projection="azimuthal_equidistant")
    s = Gnss(parameters, seed_sequence(0, 0, "gnss"), PLANE).sample(0.1, place, STILL)
    fix = (s.latitude_deg, s.longitude_deg, s.altitude_m)
    np.testing.assert_allclose(
        AzimuthalEquidistant(PLANE.origin).from_geodetic(*fix), place, atol=1e-6
    )
    # on the ellipsoid a turn of longitude is longer, by its radius across and the height above it
    across = 6378137.0 / math.sqrt(1 - 0.00669437999 * math.sin(math.radians(47.397742)) ** 2)
    expected = 1000.0 * ((across + 508.0) / 6371000.0 - 1.0)
    assert PLANE.from_geodetic(*fix)[0] - 1000.0 == pytest.approx(expected, abs=1e-3)
    assert expected == pytest.approx(3.0, abs=0.05)


def test_the_error_of_the_altitude_is_one_of_its_own():
    errors = position_errors(load_preset("gnss", "gnss_default"), 0.01, 2000)
    correlation = np.corrcoef(errors.T)
    assert np.abs(correlation[np.triu_indices(3, 1)]).max() < 5 / math.sqrt(2000)


def test_a_correctly_discretised_receiver_of_gazebo_classic_is_given_by_what_it_does():
    """Its numbers, as they stand in the SDF, would be a bias of 2 sqrt(60 / 2) = 11 m."""
    parameters = load_preset("gnss", "px4_gazebo_classic")
    assert (parameters.rate_hz, parameters.delay_s) == (5.0, 0.12)
    # the plugin: b += w sqrt(dt) n dt - b / tau, with w = 2 and 4, tau = 60, at dt = 0.2
    decay = 1.0 - 1.0 / 60.0
    for walk, stated in ((2.0, parameters.walk_horizontal_m), (4.0, parameters.walk_vertical_m)):
        effective = walk * 0.2**1.5 / math.sqrt(1.0 - decay**2)
        assert stated == pytest.approx(effective, rel=0.01)
    assert parameters.walk_correlation_time_s == pytest.approx(-0.2 / math.log(decay), rel=0.01)


def test_the_errors_of_position_and_velocity_wander_apart():
    parameters = GnssParameters(
        walk_horizontal_m=1.0,
        walk_vertical_m=1.0,
        walk_correlation_time_s=1.0,
        velocity_walk_horizontal_m_s=1.0,
        velocity_walk_vertical_m_s=1.0,
        velocity_correlation_time_s=1.0,
    )
    receiver, n = Gnss(parameters, seed_sequence(0, 0, "gnss"), PLANE), 1500
    products = []
    for _ in range(n):
        receiver.sample(2.0, STILL, STILL)
        products.append(receiver.correlated_error_m * receiver.correlated_velocity_error_m_s)
    assert abs(np.mean(products)) < 5 / math.sqrt(3 * n)


def test_half_of_the_errors_of_rtk_are_within_the_centimetre_of_its_data_sheet():
    receiver = Gnss(load_preset("gnss", "rtk"), seed_sequence(0, 0, "gnss"), PLANE)
    east, _, up = receiver.sample(0.1, STILL, STILL).position_std_m
    rounded = 0.005  # sigmas of the preset are rounded to 0.5 %
    assert rayleigh.cdf(0.01, scale=east) == pytest.approx(0.5, abs=rounded)
    assert halfnorm.cdf(0.01, scale=up) == pytest.approx(0.5, abs=rounded)
