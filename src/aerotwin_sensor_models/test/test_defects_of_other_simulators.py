# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Defects known of other simulators, each with the tests that show it absent here."""

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2]
TESTED_BY = {
    (
        "gazebo-classic GNSS",
        "noise times, not over, sqrt(dt); bias decay without dt: sigma changes with the step",
    ): [
        "test_errors_have_their_sigma_whatever_the_rate_…",
        "test_the_correlated_error_fades_over_its_time",
        "test_a_correctly_discretised_receiver_…",
    ],
    ("gazebo-classic", "generator never seeded: the same noise in every run"): [
        "test_one_seed_gives_one_stream_…"
    ],
    (
        "gazebo-classic and Pegasus barometer",
        "Box-Muller fed with normal numbers: mean -0.086 Pa, sigma 1.006",
    ): ["test_noise_has_its_density_and_no_offset_at_every_rate"],
    ("gazebo-classic magnetic field", "10 degree tables, clipped at 60 degrees of latitude"): [
        "test_the_field_is_that_of_the_tables_of_px4_up_to_80_degrees",
        "…official_values…",
    ],
    ("Pegasus IMU", "gyroscope takes the accelerometer's time constant"): [
        "test_each_triad_has_its_own_correlation_time"
    ],
    ("Pegasus IMU", "accelerometer bias uniform, then not applied; turn-on bias never used"): [
        "test_the_bias_has_its_sigma_and_correlation_…",
        "test_the_turn_on_bias_is_constant_…",
        "test_the_kernel_follows_the_plain_recursion",
    ],
    ("Pegasus eq. 12", "no gravity in what an accelerometer reads"): [
        "test_free_fall_reads_nothing",
        "test_rolled_to_the_right_…",
    ],
    ("Pegasus barometer", "adds the drift's rate, not the drift"): [
        "test_a_steady_drift_adds_up_over_time_at_every_rate"
    ],
    ("Pegasus eq. 10", "pressure altitude with a density of 1.293, without the drift"): [
        "test_the_pressure_altitude_is_that_of_the_pressure_read_…"
    ],
    ("Pegasus eq. 11", "components of north, east, down named east, north, up"): [
        "…official_values…",
        "test_in_zurich_the_needle_…",
    ],
    ("Pegasus eq. 14-16", "angle not divided by the Earth's radius, atan instead of atan2"): [
        "test_the_sphere_meets_the_example_of_snyder"
    ],
    ("Pegasus GNSS", "velocity noise commented out; course forced to 0"): [
        "test_velocity_noise_has_the_sigma_that_is_reported",
        "test_an_ideal_receiver_tells_the_truth",
    ],
    ("Pegasus GNSS", "altitude takes its noise with another sign; accuracies of 1 cm reported"): [
        "test_the_error_of_the_altitude_is_one_of_its_own",
        "…and_it_is_the_one_reported",
    ],
    ("Pegasus magnetometer", "gauss in a message of teslas"): ["…official_values…"],
    ("gz x500 IMU", "densities used as standard deviations per sample: 16 times too quiet"): [
        "test_simulated_triads_have_the_deviation_of_their_parameters_at_every_rate"
    ],
    ("rotorpy IMU", "densities written as squares"): [
        "test_white_noise_has_its_density_at_every_rate"
    ],
}
"""By simulator and defect the names of tests, cut by an ellipsis at either end."""


@pytest.mark.parametrize("names", TESTED_BY.values(), ids=lambda names: names[0])
def test_the_tests_that_rule_out_a_defect_are_there(names):
    folders = [SOURCE / "aerotwin_sensor_models" / "test", SOURCE / "aerotwin_core" / "test"]
    text = "".join(path.read_text("utf-8") for folder in folders for path in folder.glob("*.py"))
    tests = re.findall(r"def (test_\w+)", text)
    for name in names:
        pattern = re.compile(name.replace("…", r"\w*"))
        assert any(pattern.fullmatch(test) for test in tests), name
