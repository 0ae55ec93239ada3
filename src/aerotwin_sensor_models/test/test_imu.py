# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The IMU: physics, statistics that do not depend on the rate, and the slow form of its noise."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_sensor_models import (
    Imu,
    ImuParameters,
    TriadParameters,
    load_preset,
    seed_sequence,
    specific_force,
)
from aerotwin_sensor_models.allan import readings_at_rest

ROUNDING = 1e-12
GRAVITY = 9.81
AT_REST = np.array([0.0, 0.0, GRAVITY])
STILL = np.zeros(3)
RATES = (100.0, 250.0, 1000.0)


def sample_error(sigma, n):
    """Five standard errors of a mean of n independent values: one failure in two million."""
    return 5.0 * sigma / math.sqrt(n)


def imu_of(gyroscope=None, accelerometer=None, seed=0, **keywords):
    parameters = ImuParameters(
        gyroscope=TriadParameters(**(gyroscope or {})),
        accelerometer=TriadParameters(**(accelerometer or {})),
        **keywords,
    )
    return Imu(parameters, seed_sequence(seed, 0, "imu"))


def record(imu, rate_hz, n):
    """Readings at rest, shape (n, 6): gyroscope, accelerometer less the truth."""
    rows = np.empty((n, 6))
    for row in rows:
        sample = imu.sample(1.0 / rate_hz, AT_REST, STILL)
        row[:3], row[3:] = sample.angular_velocity, sample.specific_force
    return rows - [0, 0, 0, *AT_REST]


def allan_deviation(values, rate_hz, seconds):
    """The Allan deviation of non-overlapping clusters, straight from its definition."""
    m = round(rate_hz * seconds)
    means = values[: len(values) // m * m].reshape(-1, m).mean(axis=1)
    return math.sqrt(0.5 * np.mean(np.diff(means) ** 2)), len(means)


def test_free_fall_reads_nothing():
    np.testing.assert_allclose(specific_force(np.eye(3), (0, 0, -GRAVITY)), 0.0, atol=ROUNDING)


def test_rolled_to_the_right_the_left_axis_feels_the_lift():
    # right side down by 90 degrees: body y (left) points up
    R = Rotation.from_euler("x", 90, degrees=True).as_matrix()
    np.testing.assert_allclose(specific_force(R, STILL), (0.0, GRAVITY, 0.0), atol=1e-12)


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="must be"):
        specific_force(np.eye(4), STILL)


def test_an_ideal_imu_tells_the_truth():
    imu = Imu(load_preset("imu", "ideal"), seed_sequence(0, 0, "imu"))
    sample = imu.sample(0.004, np.array([1.0, -2.0, 3.0]), np.array([0.1, 0.2, -0.3]))
    np.testing.assert_array_equal(sample.specific_force, (1.0, -2.0, 3.0))
    np.testing.assert_array_equal(sample.angular_velocity, (0.1, 0.2, -0.3))


def test_a_lever_arm_adds_what_the_turn_gives_it():
    arm, omega, alpha = np.array([0.1, -0.2, 0.3]), np.array([1.0, 2, -3]), np.array([4.0, -5, 6])
    imu = imu_of(lever_arm_m=tuple(arm))
    with pytest.raises(ValueError, match="alpha_body"):
        imu.sample(0.004, AT_REST, omega)
    sample = imu.sample(0.004, AT_REST, omega, alpha_body=alpha)
    expected = AT_REST + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
    np.testing.assert_allclose(sample.specific_force, expected, rtol=ROUNDING)
    np.testing.assert_array_equal(sample.angular_velocity, omega)


def test_a_spinning_imu_off_the_axis_feels_the_pull_inwards():
    imu = imu_of(lever_arm_m=(0.5, 0.0, 0.0))
    sample = imu.sample(0.004, STILL, np.array([0.0, 0.0, 4.0]), alpha_body=STILL)
    np.testing.assert_allclose(sample.specific_force, (-8.0, 0.0, 0.0))


@pytest.mark.parametrize("rate_hz", RATES)
def test_white_noise_has_its_density_at_every_rate(rate_hz):
    gyro, accel, n = 3.3937e-4, 0.004, 8000
    values = record(imu_of({"noise_density": gyro}, {"noise_density": accel}), rate_hz, n)
    for block, density in ((values[:, :3], gyro), (values[:, 3:], accel)):
        sigma = density * math.sqrt(rate_hz)
        assert np.abs(block.mean(axis=0)).max() < sample_error(sigma, n)
        assert block.std() == pytest.approx(sigma, abs=sample_error(sigma / math.sqrt(2), 3 * n))
        # the density is what the Allan deviation shows at one second, whatever the rate
        for seconds in (0.05, 0.2):
            deviations = [allan_deviation(block[:, i], rate_hz, seconds) for i in range(3)]
            expected = density / math.sqrt(seconds)
            mean = math.sqrt(np.mean([d**2 for d, _ in deviations]))
            # the squares of n differences, each pair shares a mean: variance 3 / n of a square
            error = sample_error(expected * math.sqrt(3) / 2, 3 * deviations[0][1])
            assert mean == pytest.approx(expected, abs=error)


@pytest.mark.parametrize("rate_hz", RATES)
def test_the_bias_has_its_sigma_and_correlation_at_every_rate(rate_hz):
    drive, tau = 0.006, 0.5
    sigma = drive * math.sqrt(tau / 2.0)
    seconds = 60.0
    n = round(seconds * rate_hz)
    triad = {"random_walk": drive, "correlation_time_s": tau}
    values = record(imu_of(triad, triad), rate_hz, n)
    n_independent = 6 * seconds / tau  # squares decorrelate in tau / 2, both sides
    assert values.std() == pytest.approx(sigma, abs=sample_error(sigma, n_independent))
    lag = round(0.5 * rate_hz)
    correlation = np.mean(values[lag:] * values[:-lag]) / sigma**2
    assert correlation == pytest.approx(math.exp(-1.0), abs=sample_error(1.0, n_independent))


def test_the_bias_is_there_from_the_first_sample_on():
    triad = {"random_walk": 0.006, "correlation_time_s": 300.0}
    first = [imu_of(triad, triad, seed=s).sample(1e-3, AT_REST, STILL) for s in range(200)]
    values = np.array([np.r_[s.angular_velocity, s.specific_force - AT_REST] for s in first])
    sigma = 0.006 * math.sqrt(150.0)
    assert values.std() == pytest.approx(sigma, abs=sample_error(sigma, 1200))


def test_the_turn_on_bias_is_constant_and_differs_from_seed_to_seed():
    triad = {"turn_on_bias_sigma": 0.196}
    values = np.array([record(imu_of(triad, triad, seed=s), 250.0, 3) for s in range(300)])
    np.testing.assert_allclose(values[:, 2], values[:, 0], atol=1e-12)
    assert values[:, 0].std() == pytest.approx(0.196, abs=sample_error(0.196, 1800))


def test_the_true_bias_is_at_hand_for_the_evaluation():
    triad = {"turn_on_bias_sigma": 0.2, "random_walk": 0.01}
    imu = imu_of(triad, triad)
    sample = imu.sample(0.004, AT_REST, STILL)
    np.testing.assert_allclose(imu.gyroscope_bias, sample.angular_velocity)
    np.testing.assert_allclose(imu.accelerometer_bias, sample.specific_force - AT_REST)


def test_readings_end_at_the_saturation_and_lie_on_the_steps():
    imu = imu_of({"saturation": 2.0, "resolution": 0.25}, {"saturation": 5.0})
    sample = imu.sample(0.004, np.array([9.0, -9.0, 1.0]), np.array([3.0, -3.0, 0.3]))
    np.testing.assert_array_equal(sample.specific_force, (5.0, -5.0, 1.0))
    np.testing.assert_array_equal(sample.angular_velocity, (2.0, -2.0, 0.25))


def test_the_kernel_follows_the_plain_recursion():
    parameters = load_preset("imu", "adis16448")
    imu, rng = Imu(parameters, np.random.default_rng(5)), np.random.default_rng(5)
    triads = [parameters.accelerometer] * 3 + [parameters.gyroscope] * 3
    walk = np.array([t.random_walk * math.sqrt(t.correlation_time_s / 2) for t in triads])
    first = rng.standard_normal((2, 15))
    bias = walk * first[:, :3].ravel()
    turn_on = first[:, 3:6].ravel() * [t.turn_on_bias_sigma for t in triads]
    rows = rng.standard_normal((256, 2, 2, 3))
    for i, dt in enumerate((0.004, 0.004, 0.01, 0.004)):
        decay = np.exp([-dt / t.correlation_time_s for t in triads])
        bias = decay * bias + walk * np.sqrt(1 - decay**2) * rows[i, :, 0].ravel()
        white = np.array([t.noise_density for t in triads]) / math.sqrt(dt) * rows[i, :, 1].ravel()
        step = np.array([t.resolution for t in triads])
        expected = step * np.round((np.r_[AT_REST, STILL] + turn_on + bias + white) / step)
        sample = imu.sample(dt, AT_REST, STILL)
        read = np.r_[sample.specific_force, sample.angular_velocity]
        np.testing.assert_allclose(read, expected, atol=ROUNDING)


def test_the_adis16448_has_the_known_noise_per_sample_at_250_hz():
    parameters = load_preset("imu", "adis16448")
    assert parameters.rate_hz == 250.0
    gyro = parameters.gyroscope.noise_density * math.sqrt(250.0)
    accel = parameters.accelerometer.noise_density * math.sqrt(250.0)
    assert (round(gyro, 4), round(accel, 3)) == (0.0054, 0.063)


@pytest.mark.parametrize("dt", [0.0, -0.004, math.nan, math.inf])
def test_time_must_go_on(dt):
    with pytest.raises(ValueError, match="dt must be positive"):
        imu_of().sample(dt, AT_REST, STILL)


def test_plain_lists_and_read_only_arrays_are_taken():
    frozen = AT_REST.copy()
    frozen.flags.writeable = False
    sample = imu_of().sample(0.004, frozen, [0, 0, 1])
    assert sample.angular_velocity.tolist() == [0.0, 0.0, 1.0]


def test_a_sample_cannot_be_changed_by_the_next():
    imu = Imu(load_preset("imu", "adis16448"), seed_sequence(0, 0, "imu"))
    first = imu.sample(0.004, AT_REST, STILL)
    retained = first.specific_force.copy()
    imu.sample(0.004, AT_REST, STILL)
    np.testing.assert_array_equal(first.specific_force, retained)


def test_a_mounted_imu_reads_in_its_own_axes_about_the_fixed_axes_of_the_body():
    # turned left by 90 degrees: its x is the body's y, its y points backwards
    imu = imu_of(mounting_rpy_deg=(0.0, 0.0, 90.0))
    sample = imu.sample(0.004, np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]))
    np.testing.assert_allclose(sample.specific_force, (2.0, -1.0, 3.0), atol=ROUNDING)
    np.testing.assert_allclose(sample.angular_velocity, (0.2, -0.1, 0.3), atol=ROUNDING)
    # roll first, then yaw, both about axes of the body: z of the IMU ends along x of the body
    imu = imu_of(mounting_rpy_deg=(90.0, 0.0, 90.0))
    np.testing.assert_allclose(imu.R_body_imu[:, 2], (1.0, 0.0, 0.0), atol=ROUNDING)
    np.testing.assert_allclose(imu.R_body_imu[:, 0], (0.0, 1.0, 0.0), atol=ROUNDING)
    force = np.array([1.0, 2.0, 3.0])
    read = imu.sample(0.004, force, STILL).specific_force
    np.testing.assert_allclose(imu.R_body_imu @ read, force, atol=ROUNDING)


def test_the_lever_arm_is_in_body_axes_whatever_the_mounting():
    imu = imu_of(lever_arm_m=(0.5, 0.0, 0.0), mounting_rpy_deg=(0.0, 0.0, 90.0))
    sample = imu.sample(0.004, STILL, np.array([0.0, 0.0, 4.0]), alpha_body=STILL)
    np.testing.assert_allclose(sample.specific_force, (0.0, 8.0, 0.0), atol=ROUNDING)


def test_scale_and_misalignment_act_on_the_truth_in_the_axes_of_the_imu():
    triad = {"scale": (0.1, -0.2, 0.0), "misalignment_rad": (0.01, 0.02, 0.03, 0.04, 0.05, 0.06)}
    imu = imu_of(triad, {})
    matrix = np.array([[1.1, 0.01, 0.02], [0.03, 0.8, 0.04], [0.05, 0.06, 1.0]])
    np.testing.assert_allclose(imu.gyroscope_matrix, matrix)
    np.testing.assert_array_equal(imu.accelerometer_matrix, np.eye(3))
    omega = np.array([1.0, 2.0, 3.0])
    sample = imu.sample(0.004, AT_REST, omega)
    np.testing.assert_allclose(sample.angular_velocity, matrix @ omega, rtol=ROUNDING)
    np.testing.assert_array_equal(sample.specific_force, AT_REST)


def test_each_unit_has_its_own_scale_and_misalignment_of_the_sigma_asked_for():
    triad = {"scale_sigma": 0.01, "misalignment_sigma_rad": 0.002}
    units = [imu_of(triad, triad, seed=seed) for seed in range(200)]
    matrices = np.array([m for u in units for m in (u.gyroscope_matrix, u.accelerometer_matrix)])
    off = matrices - np.eye(3)
    scale = off[:, range(3), range(3)]
    assert scale.std() == pytest.approx(0.01, abs=sample_error(0.01, 2 * scale.size))
    pairs = off[:, ~np.eye(3, dtype=bool)]
    assert pairs.std() == pytest.approx(0.002, abs=sample_error(0.002, 2 * pairs.size))


def test_each_triad_has_its_own_correlation_time():
    slow, fast, n = 2.0, 0.1, 30000
    imu = imu_of(
        {"random_walk": 0.01, "correlation_time_s": fast},
        {"random_walk": 0.01, "correlation_time_s": slow},
    )
    values = readings_at_rest(imu, 0.01, n) - [*AT_REST, *STILL]
    lag = 10  # 0.1 s
    for block, tau in ((values[:, :3], slow), (values[:, 3:], fast)):
        correlation = np.mean(block[lag:] * block[:-lag]) / block.var()
        n_independent = 3 * n * 0.01 / tau
        error = sample_error(1.0, n_independent)
        assert correlation == pytest.approx(math.exp(-0.1 / tau), abs=error)
