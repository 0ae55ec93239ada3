# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The barometer against the ICAO table, and its noise at every rate."""

import csv
import math

import numpy as np
import pytest

from aerotwin_sensor_models import (
    Barometer,
    BarometerParameters,
    air_density,
    load_preset,
    pressure_altitude_m,
    seed_sequence,
    standard_atmosphere,
)

PRINT_ROUNDING = 1e-5  # the table is printed to six digits


def pressures(parameters, rate_hz, n):
    barometer = Barometer(parameters, seed_sequence(1, 0, "barometer"))
    perfect = standard_atmosphere(488.0)[0]
    return np.array([barometer.sample(1 / rate_hz, 488.0).pressure_pa - perfect for _ in range(n)])


def test_the_atmosphere_is_that_of_the_icao_table_up_to_11_km(shared_data):
    with shared_data("geo/isa/isa_doc7488_style_table.csv").open() as file:
        rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
    rows = [row for row in rows if -5000 <= row["geometric_height_m"] <= 11000]
    assert len(rows) >= 6
    for row in rows:
        pressure, temperature = standard_atmosphere(row["geometric_height_m"])
        # heights of the table are whole metres, so the odd ones stand for a round geopotential
        assert pressure == pytest.approx(row["pressure"], rel=5 * PRINT_ROUNDING)
        assert temperature == pytest.approx(row["temperature"], rel=PRINT_ROUNDING)


@pytest.mark.parametrize(
    ("height", "pressure", "temperature"),
    [(0.0, 101325.0, 288.15), (1000.0, 89876.3, 281.651), (2000.0, 79501.4, 275.154)],
)
def test_published_values_of_the_atmosphere(height, pressure, temperature):
    values = standard_atmosphere(height)
    assert values == pytest.approx((pressure, temperature), rel=PRINT_ROUNDING)


def test_pressure_altitude_is_the_inverse():
    for height in (-300.0, 0.0, 488.0, 3000.0, 10900.0):
        assert pressure_altitude_m(standard_atmosphere(height)[0]) == pytest.approx(height)


def test_beyond_its_law_the_atmosphere_is_refused():
    with pytest.raises(ValueError, match="-5 to 11 km"):
        standard_atmosphere(12000.0)


def test_an_ideal_barometer_tells_the_truth_and_higher_reads_less():
    barometer = Barometer(load_preset("barometer", "ideal"), seed_sequence(0, 0, "barometer"))
    low, high = barometer.sample(0.004, 488.0), barometer.sample(0.004, 489.0)
    assert (low.pressure_pa, low.temperature_k) == standard_atmosphere(488.0)
    # dp/dz = -rho g
    density = low.pressure_pa / (287.05287 * low.temperature_k)
    assert high.pressure_pa - low.pressure_pa == pytest.approx(-density * 9.80665, rel=1e-3)


@pytest.mark.parametrize("rate_hz", [50.0, 100.0, 250.0])
def test_noise_has_its_density_and_no_offset_at_every_rate(rate_hz):
    density, n = math.sqrt(0.02), 20000  # 1 Pa at 50 Hz
    values = pressures(BarometerParameters(noise_density_pa=density), rate_hz, n)
    sigma = math.sqrt(rate_hz / 50.0)
    assert abs(values.mean()) < 5 * sigma / math.sqrt(n)
    assert values.std() == pytest.approx(sigma, abs=5 * sigma / math.sqrt(2 * n))


@pytest.mark.parametrize("rate_hz", [50.0, 250.0])
def test_drift_has_its_sigma_and_correlation_at_every_rate(rate_hz):
    seconds, tau, sigma = 400.0, 0.5, 3.0
    parameters = BarometerParameters(drift_sigma_pa=sigma, drift_correlation_time_s=tau)
    values = pressures(parameters, rate_hz, round(seconds * rate_hz))
    n_independent = seconds / tau
    assert values.std() == pytest.approx(sigma, abs=5 * sigma / math.sqrt(n_independent))
    lag = round(tau * rate_hz)
    correlation = np.mean(values[lag:] * values[:-lag]) / sigma**2
    assert correlation == pytest.approx(math.exp(-1), abs=5 / math.sqrt(n_independent))


def test_readings_lie_on_the_steps():
    values = Barometer(BarometerParameters(resolution_pa=10.0), seed_sequence(0, 0, "barometer"))
    assert values.sample(0.004, 0.0).pressure_pa == 101330.0  # half a step goes up


@pytest.mark.parametrize("rate_hz", [10.0, 250.0])
def test_a_steady_drift_adds_up_over_time_at_every_rate(rate_hz):
    barometer = Barometer(
        BarometerParameters(drift_rate_pa_s=0.1), seed_sequence(0, 0, "barometer")
    )
    for _ in range(round(20.0 * rate_hz)):
        reading = barometer.sample(1 / rate_hz, 488.0)
    assert reading.pressure_pa - standard_atmosphere(488.0)[0] == pytest.approx(2.0, abs=1e-8)
    assert barometer.drift_pa == pytest.approx(2.0, abs=1e-12)


def test_the_pressure_altitude_is_that_of_the_pressure_read_with_its_errors():
    parameters = BarometerParameters(drift_rate_pa_s=2500.0, noise_density_pa=0.1)
    barometer = Barometer(parameters, seed_sequence(0, 0, "barometer"))
    sample = barometer.sample(0.004, 488.0)
    error_pa = sample.pressure_pa - standard_atmosphere(488.0)[0]
    assert abs(error_pa) > 1.0
    # dh = -dp / (rho g), density at 488 m; Pegasus takes 1.293 kg/m^3 and leaves the drift out
    expected = 488.0 - error_pa / (air_density(*standard_atmosphere(488.0)) * 9.80665)
    assert sample.pressure_altitude_m == pytest.approx(expected, abs=1e-3 * abs(error_pa))


def test_the_classes_refuse_what_lies_outside_the_atmosphere():
    barometer = Barometer(load_preset("barometer", "default"), seed_sequence(0, 0, "barometer"))
    with pytest.raises(ValueError, match="-5 to 11 km"):
        barometer.sample(0.004, 12000.0)
