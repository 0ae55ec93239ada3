# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Minimum-snap trajectories against a closed form, the quadratic programme and their limits."""

from math import factorial

import numpy as np
import pytest

from aerotwin_flight_control import FlatState, MinimumSnap, MotionLimits, plan_minimum_snap

ROUNDING = 1e-9
PROGRAMME_ERROR = 1e-6  # condition of the KKT matrix in plain powers
POINTS = np.array([[0.0, 0.0, 1.0], [2.0, 1.0, 2.0], [3.0, -1.0, 1.5], [5.0, 0.0, 1.0]])
TIMES = np.array([0.0, 1.2, 2.0, 3.5])
LIMITS = MotionLimits(speed=2.5, acceleration=4.0)


def _moving(v, a, jerk):
    rows = np.zeros((5, 3))
    rows[1:4] = v, a, jerk
    return FlatState(p_derivatives_map=rows, yaw_derivatives=np.zeros(3))


START = _moving((1.0, 0.5, 0.0), (0.2, 0.0, 0.3), (0.0, -0.4, 0.1))


def _derivative_row(order, t):
    """Return what takes coefficients (8,), lowest first, to a derivative at t."""
    row = np.zeros(8)
    for k in range(order, 8):
        row[k] = factorial(k) / factorial(k - order) * t ** (k - order)
    return row


def _programme(points, times, start):
    """Solve the quadratic programme of one axis by its KKT system: the slow, obvious way."""
    n, lengths = len(times) - 1, np.diff(times)
    hessian, rows, values = np.zeros((8 * n, 8 * n)), [], []

    def demand(parts, value):
        row = np.zeros(8 * n)
        for segment, part in parts:
            row[8 * segment : 8 * segment + 8] += part
        rows.append(row)
        values.append(value)

    for i, length in enumerate(lengths):
        for j in range(4, 8):
            for k in range(4, 8):
                factor = factorial(j) / factorial(j - 4) * factorial(k) / factorial(k - 4)
                power = j + k - 7
                hessian[8 * i + j, 8 * i + k] = 2.0 * factor * length**power / power
        demand([(i, _derivative_row(0, 0.0))], points[i])
        demand([(i, _derivative_row(0, length))], points[i + 1])
        if i > 0:
            for order in (1, 2, 3, 4):
                before = _derivative_row(order, lengths[i - 1])
                demand([(i - 1, before), (i, -_derivative_row(order, 0.0))], 0.0)
    for order in (1, 2, 3):
        demand([(0, _derivative_row(order, 0.0))], start[order])
        demand([(n - 1, _derivative_row(order, lengths[-1]))], 0.0)
    A = np.array(rows)
    kkt = np.block([[hessian, A.T], [A, np.zeros((len(A), len(A)))]])
    solution = np.linalg.solve(kkt, np.concatenate([np.zeros(8 * n), values]))
    coefficients = solution[: 8 * n]
    return coefficients.reshape(n, 8), 0.5 * coefficients @ hessian @ coefficients


def test_one_segment_from_rest_to_rest_is_the_known_polynomial():
    """p = 35 u^4 - 84 u^5 + 70 u^6 - 20 u^7 of the distance."""
    trajectory = MinimumSnap([[0, 0, 0], [2, -1, 4]], [0.0, 2.0], [0.0, 0.0])
    for u in (0.0, 0.2, 0.5, 0.9, 1.0):
        share = 35 * u**4 - 84 * u**5 + 70 * u**6 - 20 * u**7
        assert trajectory.at(2.0 * u).p_map == pytest.approx(share * np.array([2, -1, 4]))
    assert trajectory.at(1.0).p_derivatives_map[1, 0] == pytest.approx(35 / 16)  # v = 35/16 d/T


def test_it_is_the_solution_of_the_quadratic_programme():
    trajectory = MinimumSnap(POINTS, TIMES, np.zeros(4), start=START)
    total = 0.0
    for axis in range(3):
        start = START.p_derivatives_map[:, axis]
        coefficients, cost = _programme(POINTS[:, axis], TIMES, start)
        ours = trajectory.coefficients[:, :, axis].T
        assert ours == pytest.approx(coefficients, rel=PROGRAMME_ERROR, abs=PROGRAMME_ERROR)
        total += cost
    assert trajectory.cost() == pytest.approx(total, rel=PROGRAMME_ERROR)


def test_its_cost_is_the_integral_of_the_squared_snap():
    trajectory = MinimumSnap(POINTS, TIMES, np.zeros(4))
    t = np.linspace(0.0, TIMES[-1], 20001)
    snap = np.array([trajectory.at(x).p_derivatives_map[4] for x in t])
    assert trajectory.cost() == pytest.approx(np.trapezoid((snap**2).sum(axis=1), t), rel=1e-4)


def test_it_passes_its_points_and_is_smooth_to_the_snap_there():
    trajectory = MinimumSnap(POINTS, TIMES, np.zeros(4), start=START)
    for point, t in zip(POINTS, TIMES):
        assert trajectory.at(t).p_map == pytest.approx(point, abs=ROUNDING)
    for t in TIMES[1:-1]:
        before, after = (trajectory.at(t + d).p_derivatives_map for d in (-1e-9, 1e-9))
        assert before == pytest.approx(after, abs=1e-5)
    assert trajectory.at(0.0).p_derivatives_map[1:4] == pytest.approx(START.p_derivatives_map[1:4])
    assert trajectory.at(99.0).p_derivatives_map[1:4] == pytest.approx(np.zeros((3, 3)), abs=1e-8)


def test_every_row_is_the_derivative_of_the_one_above():
    trajectory = MinimumSnap(POINTS, TIMES, [0.0, 1.0, 0.5, -0.5])
    h = 1e-5
    for t in (0.3, 1.0, 1.7, 3.1):
        before, here, after = (trajectory.at(t + k * h) for k in (-1, 0, 1))
        slope = (after.p_derivatives_map - before.p_derivatives_map) / (2 * h)
        assert slope[:4] == pytest.approx(here.p_derivatives_map[1:], rel=1e-6, abs=1e-5)
        turn = (after.yaw_derivatives - before.yaw_derivatives) / (2 * h)
        assert turn[:2] == pytest.approx(here.yaw_derivatives[1:], abs=1e-5)


def test_yaw_passes_its_values_and_rests_at_the_ends():
    yaws = [0.0, 1.0, 0.5, -0.5]
    trajectory = MinimumSnap(POINTS, TIMES, yaws)
    assert [trajectory.at(t).yaw for t in TIMES] == pytest.approx(yaws)
    assert trajectory.at(0.0).yaw_derivatives[1] == pytest.approx(0.0, abs=ROUNDING)
    assert trajectory.at(TIMES[-1]).yaw_derivatives[1] == pytest.approx(0.0, abs=ROUNDING)


@pytest.mark.parametrize("seed", range(4))
def test_planned_times_reach_a_limit_and_break_none(seed):
    rng = np.random.default_rng(seed)
    points = np.cumsum(rng.normal(size=(5, 3)) * (4.0, 4.0, 1.0), axis=0)
    trajectory = plan_minimum_snap(points, np.zeros(5), LIMITS)
    t = np.linspace(0.0, trajectory.duration, 3000)
    states = np.array([trajectory.at(x).p_derivatives_map for x in t])
    speed = np.linalg.norm(states[:, 1], axis=1).max() / LIMITS.speed
    acceleration = np.linalg.norm(states[:, 2], axis=1).max() / LIMITS.acceleration
    assert max(speed, acceleration) == pytest.approx(1.0, abs=0.01)


def test_shares_of_the_time_are_better_than_those_by_length():
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 8, 0], [2, 8, 0]], float)
    trajectory = plan_minimum_snap(points, np.zeros(4), LIMITS)
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    by_length = np.concatenate([[0.0], np.cumsum(lengths)]) / lengths.sum() * trajectory.duration
    assert trajectory.cost() < 0.5 * MinimumSnap(points, by_length, np.zeros(4)).cost()


def test_ends_in_motion_are_met_within_the_limits():
    trajectory = plan_minimum_snap([[0, 0, 0], [6, 2, 0]], [0.0, 0.0], LIMITS, start=START)
    assert trajectory.at(0.0).v_map == pytest.approx([1.0, 0.5, 0.0])
    speed, acceleration = trajectory.peaks()
    assert speed <= 1.02 * LIMITS.speed and acceleration <= 1.02 * LIMITS.acceleration


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 0, 0]], [0.0], [0.0]), "n of 2 at least"),
        (([[0, 0, 0], [1, 0, 0]], [0.0, 0.0], [0.0, 0.0]), "increase"),
        (([[0, 0, 0], [1, 0, 0]], [1.0, 2.0], [0.0, 0.0]), "begin at 0"),
        (([[0, 0, 0], [np.nan, 0, 0]], [0.0, 1.0], [0.0, 0.0]), "finite"),
    ],
)
def test_what_is_no_path_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        MinimumSnap(*arguments)


def test_way_points_that_coincide_are_refused():
    with pytest.raises(ValueError, match="no two neighbours the same"):
        plan_minimum_snap([[0, 0, 0], [0, 0, 0]], [0.0, 1.0], LIMITS)


def test_an_end_faster_than_the_limit_is_refused():
    fast = _moving((9.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="no times keep"):
        plan_minimum_snap([[0, 0, 0], [6, 2, 0]], [0.0, 0.0], LIMITS, start=fast)
