# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The magnetic field against official values, and the magnetometer in it."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_sensor_models import (
    Magnetometer,
    MagnetometerParameters,
    load_preset,
    magnetic_field_enu_tesla,
    seed_sequence,
)

PRINT_ROUNDING_NT = 0.0501  # the official values are printed to 0.1 nT
ZURICH = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
FIELD = np.array([1.4e-6, 21.5e-6, -43.3e-6])


def test_the_field_has_the_official_values_of_the_world_magnetic_model(shared_data):
    rows = np.loadtxt(shared_data("geo/wmm_pygeomag/WMM2020_TEST_VALUES.txt"), comments="#")
    assert len(rows) == 100
    for year, height_km, latitude, longitude, *_, x, y, z in rows[:, :10]:
        point = GeodeticPoint(
            latitude_deg=latitude, longitude_deg=longitude, altitude_m=1000 * height_km
        )
        if year >= 2025.0:
            continue  # from there on the newer model is taken
        field = magnetic_field_enu_tesla(point, year) * 1e9
        np.testing.assert_allclose(field, (y, x, -z), atol=PRINT_ROUNDING_NT)


def test_the_report_of_noaa_has_the_same_values_and_the_poles_too(shared_data):
    rows = np.loadtxt(
        shared_data("geo/wmm_pygeomag/WMM2020testvalues.txt"), comments="#", usecols=range(7)
    )
    assert len(rows) == 15
    for year, height_km, latitude, longitude, x, y, z in rows:
        point = GeodeticPoint(
            latitude_deg=latitude,
            longitude_deg=(longitude + 180.0) % 360.0 - 180.0,
            altitude_m=1000 * height_km,
        )
        field = magnetic_field_enu_tesla(point, year) * 1e9
        np.testing.assert_allclose(field, (y, x, -z), atol=PRINT_ROUNDING_NT)


def test_the_field_is_that_of_the_tables_of_px4_up_to_80_degrees(shared_data):
    """The simulators that use these tables clip them at 60 degrees of latitude."""
    tables = {}
    for name in ("declination", "inclination", "strength"):
        path = shared_data(f"geo/px4_tables/{name}_table.csv")
        rows = [line.split(",") for line in path.read_text("utf-8").splitlines()]
        longitudes = [float(value) for value in rows[0][1:]]
        for row in rows[1:]:
            for longitude, value in zip(longitudes, row[1:]):
                tables[name, float(row[0]), longitude] = float(value)
    for latitude in (-80.0, -60.0, 0.0, 40.0, 60.0, 70.0, 80.0):
        for longitude in (-180.0, -70.0, 0.0, 10.0, 120.0):
            point = GeodeticPoint(latitude_deg=latitude, longitude_deg=longitude)
            east, north, up = magnetic_field_enu_tesla(point, 2023.3287)
            level = math.hypot(east, north)
            found = {
                "declination": 1e4 * math.atan2(east, north),
                "inclination": 1e4 * math.atan2(-up, level),
                "strength": 1e8 * math.hypot(level, up),  # 1e-4 gauss
            }
            for name, value in found.items():
                assert value == pytest.approx(tables[name, latitude, longitude], abs=0.51)


def test_the_model_changes_with_the_year_2025():
    before = magnetic_field_enu_tesla(ZURICH, 2024.999)
    after = magnetic_field_enu_tesla(ZURICH, 2025.0)
    jump = np.linalg.norm(after - before)
    assert 0.0 < jump < 150e-9  # what a five-year forecast is off, by NOAA's own account


def test_in_zurich_the_needle_points_north_a_little_east_and_dips_down():
    east, north, up = magnetic_field_enu_tesla(ZURICH, 2026.9)
    assert 2.5 < math.degrees(math.atan2(east, north)) < 4.5
    assert 62.0 < math.degrees(math.atan2(-up, math.hypot(east, north))) < 64.5


def test_dates_outside_the_models_are_refused():
    with pytest.raises(ValueError, match="2020 to 2030"):
        magnetic_field_enu_tesla(ZURICH, 2031.0)


def test_an_ideal_magnetometer_facing_east_reads_north_on_its_left():
    magnetometer = Magnetometer(load_preset("magnetometer", "ideal"), seed_sequence(0, 0, "mag"))
    east, north, up = FIELD
    np.testing.assert_allclose(magnetometer.sample(0.004, np.eye(3), FIELD), (east, north, up))
    # facing north: forward reads north, left reads west
    R = Rotation.from_euler("z", 90, degrees=True).as_matrix()
    np.testing.assert_allclose(magnetometer.sample(0.004, R, FIELD), (north, -east, up))


def test_hard_iron_is_added_in_body_axes():
    iron = (1e-6, -2e-6, 3e-6)
    parameters = MagnetometerParameters(hard_iron_t=iron)
    R = Rotation.from_euler("xyz", [0.3, -0.2, 1.0]).as_matrix()
    read = Magnetometer(parameters, seed_sequence(0, 0, "mag")).sample(0.01, R, FIELD)
    np.testing.assert_allclose(read, R.T @ FIELD + iron, rtol=1e-12)


def test_soft_iron_bends_the_field_in_body_axes_before_the_hard_iron():
    soft = np.array([[1.1, 0.02, 0.0], [0.05, 0.9, -0.03], [0.01, -0.04, 1.0]])
    iron = (1e-6, -2e-6, 3e-6)
    parameters = MagnetometerParameters(soft_iron=tuple(soft.ravel()), hard_iron_t=iron)
    R = Rotation.from_euler("xyz", [0.3, -0.2, 1.0]).as_matrix()
    read = Magnetometer(parameters, seed_sequence(0, 0, "mag")).sample(0.01, R, FIELD)
    np.testing.assert_allclose(read, soft @ R.T @ FIELD + iron, rtol=1e-12)


@pytest.mark.parametrize("rate_hz", [100.0, 250.0, 1000.0])
def test_noise_and_bias_have_their_sigmas_at_every_rate(rate_hz):
    density, drive, tau = 4e-8, 4e-7, 0.2
    n = round(40 * rate_hz)
    parameters = MagnetometerParameters(
        noise_density_t=density, random_walk_t=drive, correlation_time_s=tau
    )
    magnetometer = Magnetometer(parameters, seed_sequence(4, 0, "mag"))
    values = np.array(
        [magnetometer.sample(1 / rate_hz, np.eye(3), FIELD) - FIELD for _ in range(n)]
    )
    # neighbours differ by the white noise alone, but for the little that the bias walks
    decay = math.exp(-1 / (rate_hz * tau))
    bias2, white2 = drive**2 * tau / 2, density**2 * rate_hz
    steps = np.diff(values, axis=0)
    expected = math.sqrt(2 * white2 + 2 * bias2 * (1 - decay))
    assert steps.std() == pytest.approx(expected, abs=5 * expected / math.sqrt(3 * n))
    n_independent = 3 * 40 / tau
    total = math.sqrt(bias2 + white2)
    assert values.std() == pytest.approx(total, abs=5 * total / math.sqrt(n_independent))


@pytest.mark.parametrize("rate_hz", [50.0, 100.0, 1000.0])
def test_the_disturbance_has_its_sigma_and_correlation_at_every_rate(rate_hz):
    sigma, tau, duration_s = 9e-7, 0.3, 200.0
    parameters = MagnetometerParameters(
        disturbance_sigma_t=sigma, disturbance_correlation_time_s=tau
    )
    magnetometer = Magnetometer(parameters, seed_sequence(5, 0, "mag"))
    values = np.array(
        [
            magnetometer.sample(1 / rate_hz, np.eye(3), FIELD) - FIELD
            for _ in range(round(duration_s * rate_hz))
        ]
    )
    sample_error = 5 / math.sqrt(3 * duration_s / tau)
    assert values.std() == pytest.approx(sigma, rel=sample_error)
    lag = round(tau * rate_hz)
    correlation = np.mean(values[lag:] * values[:-lag]) / sigma**2
    assert correlation == pytest.approx(math.exp(-1.0), abs=2 * sample_error)
    assert parameters.reading_std(rate_hz) == sigma


def test_a_disturbance_leaves_the_rest_of_the_preset_as_it_was_switched_on():
    """Its first draw comes after those of the biases: another preset's turn-on bias stays."""
    plain = MagnetometerParameters(turn_on_bias_sigma_t=2.3e-7)
    disturbed = MagnetometerParameters(turn_on_bias_sigma_t=2.3e-7, disturbance_sigma_t=1e-15)
    readings = [
        Magnetometer(p, seed_sequence(6, 0, "mag")).sample(0.01, np.eye(3), FIELD)
        for p in (plain, disturbed)
    ]
    assert np.abs(readings[0] - FIELD).max() > 1e-8
    np.testing.assert_allclose(readings[0], readings[1], atol=1e-14)
