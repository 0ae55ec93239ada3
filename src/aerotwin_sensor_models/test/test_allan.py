# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The Allan deviation: published values, its definition, and what simulated triads make of it."""

import math

import numpy as np
import pytest

from aerotwin_sensor_models import Imu, ImuParameters, TriadParameters, load_preset, seed_sequence
from aerotwin_sensor_models.allan import (
    allan_deviation,
    averaging_times,
    readings_at_rest,
    triad_allan_deviation,
)

PRINT_ROUNDING = 5e-6
NBS_9_POINTS = (892.0, 809.0, 823.0, 798.0, 671.0, 644.0, 883.0, 903.0, 677.0)


@pytest.mark.parametrize(("m", "published"), [(1, 91.22945), (2, 85.95287)])
def test_the_published_example_is_met(m, published):
    """NIST Special Publication 1065, section 12, NBS data set: overlapping Allan deviation."""
    assert allan_deviation(np.array(NBS_9_POINTS), m) == pytest.approx(
        published, abs=PRINT_ROUNDING
    )


@pytest.mark.parametrize("m", [1, 3, 10])
def test_it_follows_its_definition(m):
    values = np.random.default_rng(0).normal(size=60)
    squares = []
    for start in range(len(values) - 2 * m + 1):
        first, second = values[start : start + m], values[start + m : start + 2 * m]
        squares.append((second.mean() - first.mean()) ** 2)
    assert allan_deviation(values, m) == pytest.approx(math.sqrt(np.mean(squares) / 2), rel=1e-12)


def test_too_short_a_series_says_nothing_and_nonsense_is_refused():
    assert math.isnan(allan_deviation(np.zeros(5), 3))
    with pytest.raises(ValueError, match="at least 1"):
        allan_deviation(np.zeros(5), 0)


def test_a_constant_does_not_show_and_a_ramp_grows_with_time():
    assert allan_deviation(np.full(100, 7.0), 4) == 0.0
    # y = c t: clusters differ by c t, so the deviation is c t / sqrt 2
    assert allan_deviation(np.arange(100.0), 4) == pytest.approx(4.0 / math.sqrt(2.0))


def test_averaging_times_rise_and_leave_nine_clusters():
    counts = averaging_times(9000)
    assert (np.diff(counts) > 0).all()
    assert (counts[0], counts[-1]) == (1, 1000)
    assert averaging_times(5).tolist() == [1]


def test_white_noise_and_random_walk_are_the_limits_of_the_closed_form():
    white = TriadParameters(noise_density=0.2)
    np.testing.assert_allclose(triad_allan_deviation(white, [1.0, 4.0]), [0.2, 0.1])
    walk = TriadParameters(random_walk=0.3, correlation_time_s=1e6)
    # far below the correlation time: K sqrt(t / 3), rate random walk of IEEE 952
    np.testing.assert_allclose(triad_allan_deviation(walk, [3.0]), [0.3], rtol=1e-5)
    fast = TriadParameters(random_walk=0.3, correlation_time_s=1e-3)
    # far above it: white noise of density drive * T
    np.testing.assert_allclose(
        triad_allan_deviation(fast, [10.0]), [0.3e-3 / math.sqrt(10)], rtol=1e-3
    )


def test_the_closed_form_is_smooth_where_the_series_takes_over():
    triad = TriadParameters(random_walk=0.3, correlation_time_s=100.0)
    below, above = triad_allan_deviation(triad, [0.19999, 0.20001])
    assert above / below == pytest.approx(math.sqrt(0.20001 / 0.19999), abs=1e-6)


@pytest.mark.parametrize("rate_hz", [100.0, 250.0, 1000.0])
def test_simulated_triads_have_the_deviation_of_their_parameters_at_every_rate(rate_hz):
    """Bias and white noise together, from below to above the correlation time."""
    accelerometer = TriadParameters(noise_density=0.004, random_walk=0.06, correlation_time_s=0.5)
    gyroscope = TriadParameters(noise_density=3e-4, random_walk=2e-3, correlation_time_s=2.0)
    parameters = ImuParameters(accelerometer=accelerometer, gyroscope=gyroscope)
    seconds = 400.0
    imu = Imu(parameters, seed_sequence(1000, 0, "imu"))
    values = readings_at_rest(imu, 1.0 / rate_hz, round(seconds * rate_hz))
    for first, triad in ((0, accelerometer), (3, gyroscope)):
        for t in (0.02, 0.1, 0.5, 2.0, 10.0):
            m = round(t * rate_hz)
            measured = [allan_deviation(values[:, first + i], m) for i in range(3)]
            expected = triad_allan_deviation(triad, np.array([t]))[0]
            n_clusters = 3 * seconds / t
            # of a mean of squares of normal numbers; neighbours share a cluster: factor 1.5
            error = 5.0 * math.sqrt(1.5 / (2.0 * n_clusters))
            assert math.sqrt(np.mean(np.square(measured))) == pytest.approx(expected, rel=error)


def test_readings_at_rest_are_those_of_sample():
    one, other = (Imu(load_preset("imu", "adis16448"), seed_sequence(5, 0, "imu")) for _ in "ab")
    reported = []
    rows = readings_at_rest(one, 0.004, 600, reported.append)
    assert sum(reported) == 600
    for row in rows:
        sample = other.sample(0.004, [0.0, 0.0, 9.81], [0.0, 0.0, 0.0])
        np.testing.assert_array_equal(row, [*sample.specific_force, *sample.angular_velocity])
