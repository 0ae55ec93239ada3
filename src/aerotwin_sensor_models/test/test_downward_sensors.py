# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Range finder and optical flow. Oracles: a plane, and where a fixed point of it wanders."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import to_mapping
from aerotwin_sensor_models import (
    OpticalFlow,
    RangeFinder,
    SensorTruth,
    load_preset,
    preset_names,
    seed_sequence,
)

DT = 1e-4
DIFFERENCE_ERROR = 1e-3  # of a one-sided difference over DT at the accelerations of a turn
ROUNDING = 1e-12
N = 4000
SAMPLE_ERROR = 5.0 / math.sqrt(2 * N)  # 5 sigma of a standard deviation


def ground(p_map: np.ndarray, direction_map: np.ndarray) -> float:
    """Distance to the plane z = 0."""
    falls = -direction_map[2] / np.linalg.norm(direction_map)
    return p_map[2] / falls if falls > 0.0 and p_map[2] >= 0.0 else math.inf


def truth(p=(0.0, 0.0, 5.0), v=(0.0, 0.0, 0.0), rotation=None, omega=(0.0, 0.0, 0.0)):
    rotation = Rotation.identity() if rotation is None else rotation
    return SensorTruth(
        p_map_body=np.array(p),
        v_map_body=np.array(v),
        q_map_body=rotation.as_quat(),
        R_map_body=rotation.as_matrix(),
        omega_map_body_in_body=np.array(omega),
        specific_force_in_body=np.zeros(3),
        wind_map=np.zeros(3),
        altitude_amsl_m=0.0,
        cast=ground,
    )


def ideal(make, **values):
    return make(values, seed_sequence(0, 0, "test"))


@pytest.mark.parametrize("axis", [*np.eye(3).tolist(), *(-np.eye(3)).tolist()])
def test_the_frame_of_a_range_finder_begins_at_its_beam_and_looks_along_it_by_x(axis):
    sensor = ideal(RangeFinder, position_m=(0.1, -0.2, 0.3), direction=axis)
    R, p = sensor.T_body_sensor[:3, :3], sensor.T_body_sensor[:3, 3]
    np.testing.assert_allclose(R @ (1.0, 0.0, 0.0), axis, atol=ROUNDING)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=ROUNDING)
    assert np.linalg.det(R) == pytest.approx(1.0)
    np.testing.assert_array_equal(p, (0.1, -0.2, 0.3))
    down = ideal(RangeFinder).T_body_sensor[:3, :3]
    np.testing.assert_allclose(down @ (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), atol=ROUNDING)


def test_a_tilted_beam_is_longer_by_the_cosine():
    sensor = ideal(RangeFinder, position_m=(0.0, 0.0, 0.0))
    tilted = Rotation.from_euler("y", 30.0, degrees=True)
    assert sensor.sample(0, truth())["range"] == pytest.approx(5.0, abs=ROUNDING)
    expected = 5.0 / math.cos(math.radians(30.0))
    assert sensor.sample(0, truth(rotation=tilted))["range"] == pytest.approx(
        expected, abs=ROUNDING
    )


def test_a_beam_begins_where_it_is_mounted():
    sensor = ideal(RangeFinder, position_m=(0.0, 0.0, -0.2))
    assert sensor.sample(0, truth())["range"] == pytest.approx(4.8, abs=ROUNDING)


def test_too_near_and_too_far_are_infinite_as_rep_117_has_it():
    sensor = ideal(RangeFinder, min_range_m=1.0, max_range_m=10.0, position_m=(0.0, 0.0, 0.0))
    assert sensor.sample(0, truth(p=(0.0, 0.0, 0.5)))["range"] == -math.inf
    assert sensor.sample(0, truth(p=(0.0, 0.0, 10.5)))["range"] == math.inf
    level = Rotation.from_euler("y", 95.0, degrees=True)  # looks above the horizon
    assert sensor.sample(0, truth(rotation=level))["range"] == math.inf


def test_noise_and_variance_of_the_range_agree():
    sensor = ideal(RangeFinder, noise_m=0.03, noise_share=0.008, position_m=(0.0, 0.0, 0.0))
    samples = [sensor.sample(0, truth()) for _ in range(N)]
    sigma = math.hypot(0.03, 0.04)
    assert np.std([s["range"] for s in samples]) == pytest.approx(sigma, rel=SAMPLE_ERROR)
    assert samples[0]["variance"] == pytest.approx(sigma**2)


def test_readings_are_multiples_of_the_resolution():
    sensor = ideal(RangeFinder, noise_m=0.1, resolution_m=0.25)
    steps = np.array([sensor.sample(0, truth())["range"] / 0.25 for _ in range(50)])
    assert np.abs(steps - np.round(steps)).max() < ROUNDING
    assert len(set(steps)) > 1


@pytest.mark.parametrize("direction", [(0.0, 0.7, 0.7), (0.0, 0.0, 0.0), (0.0, 0.0, -2.0)])
def test_a_beam_askew_is_refused(direction):
    with pytest.raises(ParameterError, match="an axis of the body"):
        ideal(RangeFinder, direction=direction)


MOTIONS = [
    {"omega": (0.3, 0.0, 0.0)},
    {"omega": (0.0, 0.4, 0.0)},
    {"v": (2.0, 0.0, 0.0)},
    {"v": (0.0, -1.5, 0.0)},
    {
        "v": (1.0, -2.0, 0.5),
        "omega": (0.2, -0.3, 0.8),
        "rotation": Rotation.from_euler("zyx", [40.0, 10.0, -15.0], degrees=True),
    },
]


@pytest.mark.parametrize("motion", MOTIONS)
def test_flow_is_how_a_point_of_the_ground_wanders_through_the_view(motion):
    """The point under the centre of the view, seen from the sensor a moment later."""
    position = np.array([0.1, -0.05, -0.2])
    sensor = ideal(OpticalFlow, position_m=tuple(position))
    now = truth(**motion)
    sensor.sample(0, now)
    sensor.sample(1, now)
    flow = sensor.reading.flow_rad / sensor.reading.interval_s

    R = now.R_map_body
    origin = now.p_map_body + R @ position
    down = R @ np.array([0.0, 0.0, -1.0])
    point = origin + ground(origin, down) * down
    R_later = R @ Rotation.from_rotvec(now.omega_map_body_in_body * DT).as_matrix()
    later = now.p_map_body + now.v_map_body * DT + R_later @ position
    seen = R_later.T @ (point - later)
    seen /= -seen[2]
    assert flow == pytest.approx(np.array([-seen[1], seen[0]]) / DT, abs=DIFFERENCE_ERROR)


def test_the_message_of_flow_holds_rates_and_the_reading_their_integral():
    sensor = ideal(OpticalFlow)
    twist = sensor.sample(0, truth(v=(1.0, 0.0, 0.0), omega=(0.0, 0.0, 0.5)))["twist"]["angular"]
    reading = sensor.reading
    assert reading.flow_rad == pytest.approx(np.array([twist["x"], twist["y"]]) / 20.0)
    assert reading.turn_rad == pytest.approx(np.array([0.0, 0.0, 0.5]) / 20.0)
    assert (reading.quality, reading.interval_s) == (255, 0.05)


@pytest.mark.parametrize(
    "motion", [{"p": (0.0, 0.0, 50.0)}, {"v": (40.0, 0.0, 0.0), "p": (0.0, 0.0, 1.0)}]
)
def test_flow_without_a_picture_has_no_quality(motion):
    sensor = ideal(OpticalFlow)
    sensor.sample(0, truth(**motion))
    assert sensor.reading.quality == 0
    assert np.abs(sensor.reading.flow_rad).max() <= 7.4 * sensor.reading.interval_s


def test_noise_of_flow_and_gyroscope_is_that_of_the_parameters():
    sensor = ideal(OpticalFlow, noise_rad_s=0.05, gyro_noise_rad_s=0.002)
    flow, turn = [], []
    for _ in range(N):
        sensor.sample(0, truth())
        flow.append(sensor.reading.flow_rad * 20.0)
        turn.append(sensor.reading.turn_rad * 20.0)
    assert np.std(flow, axis=0) == pytest.approx([0.05] * 2, rel=SAMPLE_ERROR)
    assert np.std(turn, axis=0) == pytest.approx([0.002] * 3, rel=SAMPLE_ERROR)


@pytest.mark.parametrize("kind", ["range_finder", "optical_flow"])
def test_presets_make_sensors(kind):
    make = {"range_finder": RangeFinder, "optical_flow": OpticalFlow}[kind]
    for name in preset_names(kind):
        sensor = make(to_mapping(load_preset(kind, name)), seed_sequence(0, 0, name))
        assert sensor.sample(0, truth()) is not None
