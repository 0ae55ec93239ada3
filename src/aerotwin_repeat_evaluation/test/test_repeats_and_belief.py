# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_repeat_evaluation import (
    arc_length,
    gnss_positions,
    localization_errors,
    nominal_deviation,
    pseudo_gnss_errors,
    repeat_deviation,
    tracking_scores,
)
from support.deviation_cases import beside, loop, poses_of

ROUNDING = 1e-9
PATH_STEP_M = 5e-4  # the path ICP matches points each 5 cm
CHORD_M = 2e-3  # of vertices 0.5 m apart on bends of 20 m and more: 0.25 / 160


def lines(*lefts, n=200):
    x = np.linspace(0.0, 50.0, n)
    return [np.column_stack([x, np.full(n, left), np.zeros(n)]) for left in lefts]


def test_repeats_are_measured_from_the_first_and_from_each_other():
    found = repeat_deviation(lines(0.0, 0.03, -0.01))
    assert found.rmse_m == pytest.approx(np.sqrt((0.03**2 + 0.01**2) / 2.0))
    assert found.max_m == pytest.approx(0.03)
    expected = np.abs(np.subtract.outer([0.0, 0.03, -0.01], [0.0, 0.03, -0.01]))
    np.testing.assert_allclose(found.pair_rmse_m, expected, atol=ROUNDING)


def test_a_repeat_of_a_loop_may_lag_and_overrun_its_seam():
    route = poses_of(loop())
    late = beside(route, np.full(len(route), 0.05))[:, :3, 3]
    found = repeat_deviation([loop(), np.vstack([late[3:], late[1:9]])], is_closed=True)
    assert found.rmse_m == pytest.approx(0.05, abs=CHORD_M)
    assert found.max_m == pytest.approx(0.05, abs=CHORD_M)


def test_one_run_has_nothing_to_differ_from():
    with pytest.raises(ValueError, match="two at least"):
        repeat_deviation(lines(0.0))
    with pytest.raises(ValueError, match="two at least"):
        nominal_deviation(lines(0.0))


def test_the_nominal_average_needs_no_reference_and_forgives_a_lag():
    runs = lines(0.04, -0.02, 0.01)
    runs[1] = runs[1][::3]  # sampled otherwise
    found = nominal_deviation(runs)
    for errors_m, expected in zip(found.errors_m, (0.03, -0.03, 0.0), strict=True):
        np.testing.assert_allclose(errors_m, expected, atol=ROUNDING)
    assert found.mean_rmse_m == pytest.approx(np.sqrt(2.0 * 0.03**2 / 3.0))
    assert found.max_m == pytest.approx(0.03)


def test_the_three_weightings_differ_where_the_robot_dwells():
    """10 m at 1 m/s with error a, then 10 m at 0.1 m/s with error b, sampled at 10 Hz."""
    a, b = 0.02, 0.05
    speed = np.r_[np.full(100, 1.0), np.full(1000, 0.1)]
    s = np.append(0.0, np.cumsum(speed * 0.1))
    error = np.where(s <= 10.0, a, b)
    stamps = (np.arange(len(s)) * 100_000_000).astype(np.int64)
    found = tracking_scores(error, s, stamps)
    step = 1e-3  # one sample of the trapezoid at the jump
    assert found.sample_rmse_m == pytest.approx(np.sqrt((101 * a**2 + 1000 * b**2) / 1101))
    assert found.length_rmse_m == pytest.approx(np.sqrt((a**2 + b**2) / 2.0), rel=step)
    assert found.time_rmse_m == pytest.approx(
        np.sqrt((9.5 * a**2 + 100.0 * b**2) / 109.5), rel=step
    )
    assert found.max_m == b


def test_the_time_integral_leaves_the_turning_in_out():
    error = np.r_[np.full(5, 1.0), np.full(95, 0.01)]
    found = tracking_scores(error, np.arange(100.0), np.arange(100) * 10**8)
    assert found.time_rmse_m == pytest.approx(0.01)
    assert found.sample_rmse_m > 0.2
    with pytest.raises(ValueError, match="more than"):
        tracking_scores(error[:6], np.arange(6.0), np.arange(6))


def test_localisation_errors_stand_in_the_axes_of_the_true_vehicle():
    north = np.eye(4)
    north[:2, :2] = [[0.0, -1.0], [1.0, 0.0]]
    believed = north.copy()
    believed[:2, 3] = [-0.3, 0.2]  # heading north: 0.3 m to the west is left, 0.2 m is ahead
    turn = np.deg2rad(-175.0)
    turned = np.eye(4)
    turned[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    found = localization_errors(
        np.stack([believed, turned]), np.stack([north, turned @ turned @ turned])
    )
    assert found.lateral_m[0] == pytest.approx(0.3)
    assert found.longitudinal_m[0] == pytest.approx(0.2)
    assert found.yaw_rad[1] == pytest.approx(-2.0 * turn - 2.0 * np.pi)  # wrapped to half a turn


def test_gnss_noise_is_that_of_a_post_processed_receiver():
    p = np.zeros((20_000, 3))
    said = gnss_positions(p, seed=3)
    sample_error = 5.0 / np.sqrt(2.0 * len(p))
    np.testing.assert_allclose(said.std(axis=0), [0.02, 0.02, 0.04], rtol=sample_error)


def test_a_path_icp_hides_the_offset_that_marks_and_first_point_show():
    """The run is off by 0.2 m east as a whole, and ends its first metres where it began."""
    route = loop()
    run = route + np.array([0.2, 0.0, 0.0]) * np.clip(arc_length(route) / 20.0, 0.0, 1.0)[:, None]
    marks = route[::50]
    found = pseudo_gnss_errors(route, run, marks=(marks, marks), window_m=5.0)
    expected = np.abs(poses_of(route)[:, 0, 1] * 0.2)[60:]
    np.testing.assert_allclose(np.abs(found.marks_m)[60:], expected, atol=0.01)
    np.testing.assert_allclose(np.abs(found.first_point_m)[60:], expected, atol=0.01)
    hidden = np.sqrt((found.path_icp_m**2).mean()) / np.sqrt((found.marks_m**2).mean())
    assert hidden < 0.4


def test_the_receivers_frame_does_not_matter_once_marks_join_it():
    route = loop()
    run = beside(poses_of(route), np.full(len(route), 0.07))[:, :3, 3]
    turn = np.deg2rad(3.0)
    R = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    moved = run @ R.T + [500.0, -20.0, 3.0]
    marks = route[::50]
    found = pseudo_gnss_errors(route, moved, marks=(marks, marks @ R.T + [500.0, -20.0, 3.0]))
    np.testing.assert_allclose(found.marks_m, 0.07, atol=CHORD_M)


def test_noise_free_truth_has_no_error_by_any_way():
    route = loop()
    found = pseudo_gnss_errors(route, route, marks=(route[::60], route[::60]), window_m=5.0)
    for errors in (found.first_point_m, found.path_icp_m, found.marks_m):
        np.testing.assert_allclose(errors, 0.0, atol=PATH_STEP_M)
    assert pseudo_gnss_errors(route, route, window_m=5.0).marks_m is None
