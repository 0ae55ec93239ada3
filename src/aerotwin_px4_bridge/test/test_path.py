# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Paths against closed forms, their own derivatives and the limits they were given."""

from math import pi, radians, sqrt

import numpy as np
import pytest

from aerotwin_px4_bridge.path import PATH_STEP_S, PathLimits, PathPoint, plan_path

LIMITS = PathLimits(
    speed=3.0, climb_rate=1.0, acceleration=2.0, jerk=4.0, corner_radius=2.0, yaw_rate=0.5
)
SPACING = 0.02  # of the points along a path [m]
ROUNDING = 1e-9
TWO_BRAKINGS = sqrt(2.0) * 1.05  # along and across at the rim of a corner, and sampling


def _point(x: float, y: float, z: float, **keywords) -> PathPoint:
    return PathPoint(p_map=(x, y, z), **keywords)


def _square(**keywords):
    points = [_point(20, 0, 5), _point(20, 20, 8), _point(0, 20, 5, **keywords), _point(0, 0, 5)]
    return plan_path((0.0, 0.0, 5.0), 0.0, points, LIMITS)


def test_a_straight_line_takes_the_time_of_a_trapezoid():
    """v/a to speed up and again to brake, d/v between; the average adds a/j once."""
    path = plan_path((0, 0, 0), 0.0, [_point(30, 0, 0)], LIMITS)
    expected = 30.0 / 3.0 + 3.0 / 2.0 + 2.0 / 4.0
    ends = 2 * 3 * PATH_STEP_S * 12.5  # samples at rest before and after
    assert path.duration == pytest.approx(expected, abs=ends)
    assert path.length_m == pytest.approx(30.0, abs=1e-6)


def test_it_starts_and_ends_at_rest_at_the_right_places():
    path = _square()
    assert path.p_map[0] == pytest.approx([0, 0, 5], abs=ROUNDING)
    assert path.p_map[-1] == pytest.approx([0, 0, 5], abs=ROUNDING)
    for rows in (path.v_map, path.a_map):
        assert np.abs(rows[[0, -1]]).max() < ROUNDING


@pytest.mark.parametrize("length_m", [1e-3, 0.01, 0.019, 0.03])
def test_a_way_point_beside_the_present_place_is_reached(length_m):
    path = plan_path((1.0, 2.0, 3.0), 0.0, [_point(1.0 + length_m, 2.0, 3.0)], LIMITS)
    assert path.p_map[-1] == pytest.approx([1.0 + length_m, 2.0, 3.0], abs=ROUNDING)
    assert np.isfinite(path.v_map).all()


def test_a_straight_path_stays_on_its_line():
    start, end = np.array([1.0, 2.0, 3.0]), np.array([9.0, -4.0, 5.0])
    path = plan_path(start, 0.0, [PathPoint(p_map=end)], LIMITS)
    along = (end - start) / np.linalg.norm(end - start)
    offset = path.p_map - start
    assert np.abs(offset - np.outer(offset @ along, along)).max() < ROUNDING


def test_speed_climb_acceleration_and_yaw_rate_keep_their_limits():
    path = _square(yaw=pi)
    assert np.linalg.norm(path.v_map, axis=1).max() <= 3.0 + 1e-6
    assert np.abs(path.v_map[:, 2]).max() <= 1.0 + 1e-6
    assert np.linalg.norm(path.a_map, axis=1).max() <= 2.0 * TWO_BRAKINGS
    assert np.abs(path.yaw_rate).max() <= 0.5 + 1e-6


def test_a_steep_climb_is_slowed_to_the_climb_rate():
    path = plan_path((0, 0, 0), 0.0, [_point(0, 0, 10)], LIMITS)
    assert path.v_map[:, 2].max() == pytest.approx(1.0, abs=1e-6)


def test_velocity_and_acceleration_are_the_derivatives_of_the_position():
    path = _square()
    assert np.gradient(path.p_map, PATH_STEP_S, axis=0) == pytest.approx(path.v_map, abs=1e-9)
    middle = np.diff(path.p_map, 2, axis=0) / PATH_STEP_S**2
    rough = np.abs(middle - path.a_map[1:-1]).max()
    assert rough < 2 * LIMITS.jerk * PATH_STEP_S * 3  # two samples of jerk, three axes


def test_corners_are_cut_by_no_more_than_their_arc():
    """An arc of radius r about a turn by pi/2 leaves the corner by r (sqrt(2) - 1)."""
    path = _square()
    gap = np.linalg.norm(path.p_map - np.array([20.0, 0.0, 5.0]), axis=1).min()
    assert gap == pytest.approx(2.0 * (sqrt(2.0) - 1.0), abs=0.1)


def test_a_corner_of_radius_zero_is_reached_and_nearly_stopped_at():
    limits = PathLimits(**{**LIMITS.__dict__, "corner_radius": 0.0})
    path = plan_path((0, 0, 5), 0.0, [_point(10, 0, 5), _point(10, 10, 5)], limits)
    gaps = np.linalg.norm(path.p_map - np.array([10.0, 0.0, 5.0]), axis=1)
    assert gaps.min() < 0.1
    assert np.linalg.norm(path.v_map[gaps.argmin()]) < 0.8


def test_a_hold_stops_there_for_its_time():
    path = _square(hold=3.0)
    is_there = np.linalg.norm(path.p_map - np.array([0.0, 20.0, 5.0]), axis=1) < 1e-6
    assert is_there.sum() * PATH_STEP_S == pytest.approx(3.0, abs=0.6)


def test_a_turn_on_the_spot_takes_its_time():
    path = plan_path((0, 0, 5), 0.0, [_point(0, 0, 5, yaw=pi / 2, hold=0.1)], LIMITS)
    assert path.p_map == pytest.approx(np.tile([0.0, 0.0, 5.0], (len(path.yaw), 1)))
    assert path.yaw[-1] == pytest.approx(pi / 2, abs=ROUNDING)
    assert path.duration >= pi / 2 / 0.5


def test_yaw_takes_the_shorter_way_and_is_there_at_a_stop():
    points = [_point(10, 0, 5, yaw=radians(-170.0), hold=1.0), _point(0, 0, 5)]
    path = plan_path((0, 0, 5), radians(170.0), points, LIMITS)
    assert np.ptp(path.yaw) == pytest.approx(radians(20.0), abs=ROUNDING)
    assert path.at(path.duration).yaw == pytest.approx(radians(-170.0), abs=ROUNDING)


def test_yaw_is_held_where_none_is_desired():
    path = _square()
    assert np.abs(path.yaw).max() < ROUNDING


def test_yaw_turns_to_the_next_point_after_the_one_before_is_passed():
    points = [_point(20, 0, 5, yaw=0.0), _point(20, 20, 5, yaw=1.0)]
    path = plan_path((0, 0, 5), 0.0, points, LIMITS)
    begins = int(np.argmax(path.yaw > 0.05))
    assert path.p_map[begins, 0] > 18.0
    assert path.yaw[-1] == pytest.approx(1.0, abs=ROUNDING)


def test_between_samples_it_is_linear_and_outside_it_is_held():
    path = _square()
    half = path.at(5.01)
    k = round(5.0 / PATH_STEP_S)
    assert half.p_map == pytest.approx(path.p_map[k : k + 2].mean(axis=0))
    assert path.at(-1.0).p_map == pytest.approx(path.p_map[0])
    assert path.at(1e9).p_map == pytest.approx(path.p_map[-1])


def test_a_path_to_where_it_already_is_ends_at_once():
    path = plan_path((1, 2, 3), 0.5, [_point(1, 2, 3)], LIMITS)
    assert path.p_map[-1] == pytest.approx([1, 2, 3])
    assert path.length_m == pytest.approx(0.0, abs=ROUNDING)
    assert path.at(0.1).yaw == pytest.approx(0.5)


def test_going_there_and_straight_back_stops_at_the_turn():
    path = plan_path((0, 0, 5), 0.0, [_point(10, 0, 5), _point(0, 0, 5)], LIMITS)
    assert path.p_map[:, 0].max() == pytest.approx(10.0, abs=0.15)
    assert np.linalg.norm(path.a_map, axis=1).max() <= 2.0 * TWO_BRAKINGS
    assert path.p_map[-1] == pytest.approx([0, 0, 5])


@pytest.mark.parametrize("seed", range(5))
def test_random_missions_keep_every_limit(seed):
    rng = np.random.default_rng(seed)
    corners = rng.uniform((-20, -20, 2), (20, 20, 10), (6, 3))
    yaws = rng.uniform(-pi, pi, 6)
    points = [PathPoint(p_map=p, yaw=float(y)) for p, y in zip(corners, yaws, strict=True)]
    path = plan_path(rng.uniform(-5, 5, 3), 0.0, points, LIMITS)
    assert np.isfinite(path.p_map).all()
    assert np.linalg.norm(path.v_map, axis=1).max() <= 3.0 + 1e-6
    assert np.abs(path.v_map[:, 2]).max() <= 1.0 + 1e-6
    assert np.linalg.norm(path.a_map, axis=1).max() <= 2.0 * TWO_BRAKINGS
    assert path.p_map[-1] == pytest.approx(corners[-1], abs=ROUNDING)
    assert SPACING < 0.1


def test_the_times_of_the_points_are_those_at_which_it_is_nearest_to_them():
    points = [(10.0, 0.0, 5.0), (10.0, 8.0, 5.0), (0.0, 8.0, 5.0)]
    path = plan_path(
        (0.0, 0.0, 5.0), 0.0, [PathPoint(p_map=p, hold=2.0 * (p[0] == 0.0)) for p in points], LIMITS
    )
    for point, passed_s in zip(points, path.passed_s, strict=True):
        distances = np.linalg.norm(path.p_map - point, axis=1)
        there = np.linalg.norm(path.at(passed_s).p_map - point)
        assert there == pytest.approx(distances.min(), abs=0.1)
