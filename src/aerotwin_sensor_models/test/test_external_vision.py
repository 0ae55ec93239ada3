# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses from outside: noise about the axes of map, and drift as odometry drifts."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_sensor_models import (
    ExternalVision,
    ExternalVisionParameters,
    load_preset,
    seed_sequence,
)

ROUNDING = 1e-12
PLACE = np.array([3.0, -4.0, 5.0])
ATTITUDE = Rotation.from_euler("zyx", [1.0, 0.2, -0.3])


def vision(seed=0, **values):
    return ExternalVision(ExternalVisionParameters(**values), seed_sequence(seed, 0, "vision"))


def turn_of(sample):
    """The error of the attitude as a rotation vector in map axes."""
    return (Rotation.from_quat(sample.q_map_body) * ATTITUDE.inv()).as_rotvec()


def test_an_ideal_source_tells_the_truth():
    source = ExternalVision(load_preset("external_vision", "ideal"), seed_sequence(0, 0, "vision"))
    for offset in (0.0, 1.0):
        sample = source.sample(1 / 30, PLACE + offset, ATTITUDE.as_quat())
        np.testing.assert_allclose(sample.p_map_body, PLACE + offset, rtol=ROUNDING)
        np.testing.assert_allclose(turn_of(sample), 0.0, atol=ROUNDING)


def test_white_noise_has_the_sigmas_that_are_reported_about_the_axes_of_map():
    source, n = vision(position_noise_m=0.02, tilt_noise_deg=0.5, yaw_noise_deg=3.0), 3000
    samples = [source.sample(0.03, PLACE, ATTITUDE.as_quat()) for _ in range(n)]
    positions = np.array([s.p_map_body for s in samples]) - PLACE
    turns = np.array([turn_of(s) for s in samples])
    error = 5 / math.sqrt(2 * n)
    np.testing.assert_allclose(positions.std(axis=0) / 0.02, 1.0, atol=error)
    np.testing.assert_allclose(turns.std(axis=0) / np.radians([0.5, 0.5, 3.0]), 1.0, atol=error)
    assert np.abs(positions.mean(axis=0)).max() < 5 * 0.02 / math.sqrt(n)
    np.testing.assert_allclose(samples[0].position_std_m, 0.02)
    np.testing.assert_allclose(samples[0].attitude_std_rad, np.radians([0.5, 0.5, 3.0]))


@pytest.mark.parametrize("rate_hz", [2.0, 20.0])
def test_the_drift_after_a_time_is_the_same_at_every_rate(rate_hz):
    seconds, n_runs = 2.0, 200
    ends = []
    for seed in range(n_runs):
        source = vision(seed, position_drift_m=0.1, yaw_drift_deg=2.0)
        for _ in range(round(seconds * rate_hz) + 1):  # the first says where it starts
            sample = source.sample(1 / rate_hz, PLACE, ATTITUDE.as_quat())
        np.testing.assert_allclose(sample.p_map_body, PLACE + source.drift_m, rtol=ROUNDING)
        np.testing.assert_allclose(turn_of(sample), (0, 0, source.drift_yaw_rad), atol=ROUNDING)
        ends.append([*source.drift_m, source.drift_yaw_rad])
    expected = math.sqrt(seconds) * np.array([0.1, 0.1, 0.1, math.radians(2.0)])
    ratio = np.std(ends, axis=0) / expected
    np.testing.assert_allclose(ratio, 1.0, atol=5 / math.sqrt(2 * n_runs))


def test_a_wrong_yaw_bends_the_way_to_the_left_as_odometry_does():
    source = vision(yaw_drift_deg=1.0)
    source.sample(1e-9, PLACE, ATTITUDE.as_quat())
    source.sample(900.0, PLACE, ATTITUDE.as_quat())  # half an hour of standing still turns it
    yaw = source.drift_yaw_rad
    assert abs(yaw) > 0.05
    sample = source.sample(1e-9, PLACE + np.array([10.0, 0, 0]), ATTITUDE.as_quat())
    expected = PLACE + 10.0 * np.array([math.cos(yaw), math.sin(yaw), 0.0])
    np.testing.assert_allclose(sample.p_map_body, expected, atol=1e-6)


def test_time_must_go_on():
    with pytest.raises(ValueError, match="dt must be positive"):
        vision().sample(0.0, PLACE, ATTITUDE.as_quat())
