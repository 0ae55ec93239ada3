# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Assignment, minimum-jerk curves and plans: nobody comes closer than 2R."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import pdist

from aerotwin_core.time import from_seconds
from aerotwin_formation import (
    FormationPattern,
    FormationPlan,
    PlanParameters,
    SeparationParameters,
    assign_goals,
    closest_distance,
    closest_on_lines,
    plan_transition,
    share_of_way,
    shipped_pattern,
    shortest_duration_s,
    xtdrone_topology,
)

ROUNDING = 1e-9
"""Sums of some hundred float64 of size ten."""
DIFFERENCE = 1e-6
"""Error of a central difference of step 1e-4 of a curve whose third derivative is 60."""
PEAK_SEARCH = 1e-6
"""To which a peak is found by a search for it."""
N_CASES = 300


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_no_other_assignment_has_a_smaller_sum(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        starts, goals = rng.normal(size=(2, n, 3))
        chosen = assign_goals(starts, goals)
        sums = [
            np.sum((starts - goals[list(order)]) ** 2) for order in itertools.permutations(range(n))
        ]
        assert np.sum((starts - goals[chosen]) ** 2) == pytest.approx(min(sums), abs=ROUNDING)


def test_a_shift_of_all_goals_does_not_change_the_assignment():
    rng = np.random.default_rng(3)
    starts, goals = rng.normal(size=(2, 30, 3))
    shift = np.array([5.0, -7.0, 2.0])
    assert (assign_goals(starts, goals) == assign_goals(starts, goals + shift)).all()


@pytest.mark.parametrize(
    ("starts", "goals", "message"),
    [
        (np.zeros((2, 3)), np.zeros((3, 3)), "as many points"),
        (np.zeros((2, 3)), np.full((2, 3), np.nan), "finite"),
    ],
)
def test_what_cannot_be_assigned_is_refused(starts, goals, message):
    with pytest.raises(ValueError, match=message):
        assign_goals(starts, goals)


def test_the_curve_and_its_derivatives_agree_and_rest_at_both_ends():
    h = 1e-4
    for tau in np.linspace(0.05, 0.95, 19):
        values = [share_of_way(tau + k * h) for k in (-1, 0, 1)]
        rate = (values[2][0] - values[0][0]) / (2.0 * h)
        change = (values[2][1] - values[0][1]) / (2.0 * h)
        assert values[1][1] == pytest.approx(rate, abs=DIFFERENCE)
        assert values[1][2] == pytest.approx(change, abs=DIFFERENCE)
    assert share_of_way(0.0) == share_of_way(-1.0) == (0.0, 0.0, 0.0)
    assert share_of_way(1.0) == share_of_way(7.0) == (1.0, 0.0, 0.0)
    assert share_of_way(0.5)[0] == pytest.approx(0.5, abs=ROUNDING)


def test_peaks_are_those_of_the_closed_forms():
    fastest = -minimize_scalar(
        lambda tau: -share_of_way(tau)[1], bounds=(0, 1), method="bounded"
    ).fun
    hardest = -minimize_scalar(
        lambda tau: -share_of_way(tau)[2], bounds=(0, 0.5), method="bounded"
    ).fun
    assert fastest == pytest.approx(15.0 / 8.0, abs=PEAK_SEARCH)
    assert hardest == pytest.approx(10.0 / math.sqrt(3.0), abs=PEAK_SEARCH)


@pytest.mark.parametrize(("way", "speed", "acceleration"), [(10.0, 2.0, 9.0), (1.0, 9.0, 0.5)])
def test_the_shortest_duration_reaches_one_limit_and_passes_none(way, speed, acceleration):
    duration = shortest_duration_s(
        way, maximum_speed_m_s=speed, maximum_acceleration_m_s2=acceleration
    )
    tau = np.linspace(0.0, 1.0, 10_001)
    _, rates, changes = np.array([share_of_way(t) for t in tau]).T
    shares = (
        way / duration * np.abs(rates).max() / speed,
        way / duration**2 * np.abs(changes).max() / acceleration,
    )
    assert max(shares) == pytest.approx(1.0, abs=PEAK_SEARCH)


def test_closest_distances_are_those_of_all_pairs_and_instants():
    rng = np.random.default_rng(5)
    for _ in range(20):
        starts, ends = rng.normal(size=(2, 12, 3))
        sampled = min(
            pdist((1.0 - s) * starts + s * ends).min() for s in np.linspace(0.0, 1.0, 2001)
        )
        found = closest_on_lines(starts, ends)
        # between samples a pair moves by at most its way / 2000, nearest by half of that
        assert sampled - 0.5 * 12.0 / 2000.0 <= found <= sampled + ROUNDING
        assert closest_distance(starts) == pytest.approx(pdist(starts).min(), abs=ROUNDING)
    many = rng.normal(size=(1200, 3))
    assert closest_distance(many) == pytest.approx(pdist(many).min(), abs=ROUNDING)
    assert closest_distance(many[:1]) == closest_on_lines(many[:1], many[:1]) == math.inf


def test_with_a_spacing_above_2_sqrt_2_r_no_two_come_closer_than_2r(spaced_points):
    """Over random cases of 2 to 40 vehicles, crowded: the bound is nearly met in some."""
    rng = np.random.default_rng(7)
    radius = 0.4
    spacing = 2.0 * math.sqrt(2.0) * radius
    closest = []
    for _ in range(N_CASES):
        n = int(rng.integers(2, 40))
        side = spacing * 1.5 * n ** (1.0 / 3.0)
        starts = spaced_points(rng, n, spacing, side_m=side)
        goals = spaced_points(rng, n, spacing, side_m=side)
        ends = goals[assign_goals(starts, goals)]
        closest.append(closest_on_lines(starts, ends))
    assert min(closest) > 2.0 * radius
    assert min(closest) < 2.2 * radius  # else the cases would be too easy to say anything


def test_the_bound_is_met_by_two_that_exchange_along_a_corner():
    # s_1 - s_2 is east, g_1 - g_2 is north, both of length D: halfway D / sqrt(2) remains
    starts = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    ends = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    assert assign_goals(starts, ends).tolist() in ([0, 1], [1, 0])  # both sums are 2
    assert closest_on_lines(starts, ends) == pytest.approx(1.0 / math.sqrt(2.0), abs=ROUNDING)


def test_an_assignment_that_is_not_the_best_one_lets_vehicles_meet(spaced_points):
    starts = np.array([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0]])
    goals = np.array([[1.0, 0.0, 0.0], [4.0, 0.0, 0.0]])
    assert closest_on_lines(starts, goals[[1, 0]]) == 0.0
    assert closest_on_lines(starts, goals[assign_goals(starts, goals)]) > 2.9
    rng = np.random.default_rng(9)
    starts, goals = (spaced_points(rng, 30, 1.2, side_m=6.0) for _ in range(2))
    assert closest_on_lines(starts, goals[rng.permutation(30)]) < 0.4


SEPARATION = SeparationParameters()


def plan_between(starts, offsets, **changes):
    pattern = FormationPattern(name="drawn", offsets=offsets)
    return plan_transition(
        PlanParameters(**changes), SEPARATION, pattern, starts, number=4, now_ns=from_seconds(10)
    )


def test_plans_keep_vehicles_apart_with_the_leader_in_its_place(spaced_points):
    """Random patterns of a spacing of sqrt(2) of what is required, in the downwash metric."""
    rng = np.random.default_rng(11)
    n_shifted = 0
    for _ in range(60):
        n = int(rng.integers(2, 30))
        spacing = math.sqrt(2.0) * SEPARATION.required_m
        side = spacing * 1.4 * n ** (1.0 / 3.0)
        drawn = [spaced_points(rng, n, spacing, side_m=side, height_ratio=2.0) for _ in range(2)]
        plan = plan_between(*drawn)
        times = np.linspace(plan.start_ns, plan.end_ns, 200).astype(np.int64)
        places = np.array([plan.offsets(int(t))[0] for t in times])
        assert not places[:, 0].any()
        nearest = min(closest_distance(place * SEPARATION.scale) for place in places)
        assert nearest > SEPARATION.required_m - ROUNDING
        # the shape is the pattern's, wherever it is relative to the leader
        shape = np.sort(pdist(plan.goals))
        assert shape == pytest.approx(np.sort(pdist(drawn[1])), abs=ROUNDING)
        n_shifted += sorted(map(tuple, plan.goals.round(6))) != sorted(
            map(tuple, drawn[1].round(6))
        )
    assert n_shifted > 2  # else the leader was never in the way


def test_a_follower_does_not_fly_through_the_leader():
    line = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    plan = plan_between(line, -line)
    # the leader takes the western place: the pattern is shifted east, nobody moves
    assert plan.goals.tolist() == line.tolist()


def test_heights_count_half_in_the_assignment():
    starts = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [8.0, 0.0, 4.0]])
    goals = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 6.0], [7.0, 0.0, 0.0]])
    assert assign_goals(starts, goals).tolist() == [0, 2, 1]  # 29 m^2 instead of 53
    assert plan_between(starts, goals).goals.tolist() == goals.tolist()  # 14 m^2 instead of 26


def test_a_plan_starts_after_its_notice_within_the_limits_of_speed_and_acceleration():
    grid, cube = (shipped_pattern(name, 9).offsets for name in ("origin", "cube"))
    plan = plan_between(grid, cube, notice_s=2.0, maximum_speed_m_s=1.5)
    assert plan.start_ns == from_seconds(12) and plan.number == 4
    assert plan.offsets(plan.start_ns - 5)[0].tolist() == grid.tolist()
    assert plan.offsets(plan.end_ns + 5).tolist() == [plan.goals.tolist(), *np.zeros((2, 9, 3))
                                                      .tolist()]  # fmt: skip
    times = np.linspace(plan.start_ns, plan.end_ns, 2001).astype(np.int64)
    places, speeds, accelerations = np.array([plan.offsets(int(t)) for t in times]).swapaxes(0, 1)
    assert np.linalg.norm(speeds, axis=2).max() == pytest.approx(1.5, rel=1e-5)
    assert np.linalg.norm(accelerations, axis=2).max() < 1.0
    dt = (plan.end_ns - plan.start_ns) / 2000 * 1e-9
    rates = np.gradient(places, dt, axis=0)[1:-1]
    assert rates == pytest.approx(speeds[1:-1], abs=1e-4)  # second order in a step of 3 ms


def test_a_plan_without_a_way_is_at_its_goals_at_once():
    grid = shipped_pattern("origin", 6).offsets
    plan = plan_between(grid, grid)
    assert plan.duration_ns == 0
    assert plan.offsets(plan.start_ns).tolist()[0] == grid.tolist()


@pytest.mark.parametrize(
    ("starts", "offsets", "message"),
    [
        ([[0, 0, 0], [3, 0, 0]], [[0, 0, 0], [0.5, 0, 0]], "0.90 m apart on their way, got 0.50"),
        ([[0, 0, 0], [0, 0, 1.7]], [[0, 0, 0], [3, 0, 0]], "got 0.82 m; .*1.27 m .*2 times that"),
        ([[0, 0, 0]] * 3, [[0, 0, 0], [3, 0, 0]], "for each of 3 vehicles, got 2"),
    ],
)
def test_a_plan_that_brings_vehicles_too_close_is_refused(starts, offsets, message):
    with pytest.raises(ValueError, match=message):
        plan_between(np.array(starts, float), np.array(offsets, float))


@pytest.mark.parametrize("n", [6, 9, 18])
def test_all_changes_between_the_shipped_patterns_can_be_flown(n):
    names = {6: "origin t diamond triangle", 9: "origin cube pyramid triangle",
             18: "origin cuboid sphere diamond"}[n].split()  # fmt: skip
    for before, after in itertools.permutations(names, 2):
        plan = plan_between(shipped_pattern(before, n).offsets, shipped_pattern(after, n).offsets)
        assert isinstance(plan, FormationPlan)


def test_downwash_counts_a_vehicle_below_as_half_as_far():
    scaled = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -1.5]]) * SEPARATION.scale
    assert closest_distance(scaled) == pytest.approx(0.75, abs=ROUNDING)


def test_the_topology_of_xtdrone_leads_outwards_from_the_leader():
    line = np.array([[x, 0.0, 0.0] for x in (0.0, 1.0, 2.0, 3.0)])
    assert xtdrone_topology(line).astype(int).tolist() == [
        [0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0],
    ]  # fmt: skip


@pytest.mark.parametrize("n", [2, 3, 6, 18])
def test_everyone_follows_somebody_with_a_lower_number(n):
    follows = xtdrone_topology(np.random.default_rng(n).normal(size=(n, 3)))
    assert not np.triu(follows).any()
    assert follows[1:].any(axis=1).all()
