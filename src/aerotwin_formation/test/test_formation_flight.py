# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Formations in flight: lag, shape, separation, lost messages, and that nobody knows more."""

import copy
import math

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters, replaced
from aerotwin_core.time import from_seconds
from aerotwin_formation import (
    FollowerController,
    FormationFlight,
    FormationFlightParameters,
    FormationPattern,
    FormationPlan,
    FormationRecord,
    LeaderRoute,
    PatternChange,
    closest_distance,
    constant_route,
    fly_formation,
    shipped_pattern,
    shortest_duration_s,
    xtdrone_topology,
)
from aerotwin_formation.controllers import LeaderController
from aerotwin_formation.follower import tracking_velocity
from aerotwin_formation.link import LOST, arrivals
from aerotwin_formation.point_mass import at_rest, point_mass_step

ROUNDING = 1e-9
"""Sums of float64 in another order over some hundred steps."""
SETTLED = 5e-3
"""What is left of a step of metres after the time given, and of a mean over unequal ages."""
LARGEST_LAG_M, LARGEST_FORMATION_ERROR_M = 0.1, 0.15
"""Acceptance limits at 1 m/s."""
BASE = FormationFlightParameters()
TWO_R = 2.0 * BASE.separation.radius_m
HARD = {
    "link.loss_ratio": 0.2,
    "link.delay_s": 0.15,
    "wind.east_m_s": 5.0,
    "wind.gust_m_s": 1.5,
}
"""A fifth of all messages lost, 150 to 170 ms late, in wind with light turbulence."""
CLEAN = {"link.loss_ratio": 0.0, "link.delay_s": 0.0, "link.jitter_s": 0.0}
UP = np.array([0.0, 0.0, 20.0])
FROM_REST = LeaderRoute(times_s=np.array([0.0, 2.0]), velocities=np.array([[0, 0, 0], [1, 0, 0]]))


def flight(changes, names, n, *, route=FROM_REST, period_s=10.0, seed=1):
    patterns = [shipped_pattern(name, n) for name in names]
    plan = [PatternChange(time_s=period_s * k, pattern=one) for k, one in enumerate(patterns)]
    return FormationFlight(replaced(BASE, changes), patterns[0].offsets + UP, route, plan, seed)


def lags(record):
    """Return how far each follower is behind its place at the end, along x."""
    return -record.errors[-100:, 1:, 0].mean(axis=0)


def test_xtdrones_law_lags_by_v_over_kp_and_the_age_of_what_it_heard():
    changes = CLEAN | {"follower.law": "xtdrone", "follower.position_gain_1_s": 1.0}
    found = lags(flight(changes, ["origin"], 9).run_until(25.0))
    # sent every 80 ms, used 40 and 80 ms later, until which the leader goes on
    assert found == pytest.approx(np.full(8, 1.0 + 0.06), abs=SETTLED)


def test_the_lag_that_others_measured_for_xtdrone_is_that_of_a_quarter_of_a_second():
    changes = HARD | {"follower.law": "xtdrone", "follower.position_gain_1_s": 1.0}
    record = flight(changes, ["origin"], 9).run_until(25.0)
    assert 1.2 < record.formation_errors(10.0).lag_m < 1.35  # 1.28 m at 1 m/s


def test_the_consensus_of_xtdrone_adds_the_lags_of_a_chain():
    changes = CLEAN | {"follower.law": "xtdrone_consensus", "follower.position_gain_1_s": 1.0}
    record = flight(changes, ["cube"], 9).run_until(60.0)
    follows = xtdrone_topology(shipped_pattern("cube", 9).offsets)[1:]
    weights = follows / follows.sum(axis=1, keepdims=True)
    # lag = 1 / K_p + age + mean of the lags of those followed
    expected = np.linalg.solve(np.eye(8) - weights[:, 1:], np.full(8, 1.06))
    assert np.sort(lags(record)) == pytest.approx(np.sort(expected), abs=4.0 * SETTLED)


@pytest.mark.parametrize("law_changes", [{}, {"vehicle.order": 2}])
def test_with_feed_forward_there_is_no_lag(law_changes):
    found = lags(flight(CLEAN | law_changes, ["cube"], 9).run_until(25.0))
    assert found == pytest.approx(np.zeros(8), abs=SETTLED)


def test_a_delay_alone_makes_no_lag():
    changes = CLEAN | {"link.delay_s": 0.3}
    found = lags(flight(changes, ["cube"], 9).run_until(25.0))
    assert found == pytest.approx(np.zeros(8), abs=SETTLED)


def test_a_leader_that_accelerates_leaves_nobody_behind():
    route = LeaderRoute(
        times_s=np.array([0.0, 8.0, 18.0]), velocities=np.array([[0, 0, 0], [0, 0, 0], [4, 2, 0]])
    )
    record = flight(CLEAN, ["cube"], 9, route=route).run_until(18.0)
    accelerating = record.formation_errors(10.0)
    # 0.45 m/s^2 over the 0.3 s of the vehicle's response would be 0.1 m
    assert accelerating.place_m < 4.0 * SETTLED


@pytest.mark.parametrize(
    ("names", "n"),
    [
        (("origin", "t", "diamond", "triangle"), 6),
        (("origin", "cube", "pyramid", "triangle"), 9),
        (("origin", "cuboid", "sphere", "diamond"), 18),
    ],
)
def test_xtdrones_demonstration_holds_the_limits_with_losses_delay_and_wind(names, n):
    one = flight(HARD, names, n, period_s=15.0)
    record = one.run_until(60.0)
    errors = record.formation_errors(5.0)
    assert errors.lag_m < LARGEST_LAG_M
    assert errors.formation_m < LARGEST_FORMATION_ERROR_M
    assert record.closest_m.min() > TWO_R
    assert record.n_lost / record.n_sent == pytest.approx(0.2, abs=0.02)
    assert (one.received.plan_numbers == 3).all()
    assert one.received.plan_of(0).pattern == names[-1]


def test_random_changes_of_a_hundred_vehicles_in_wind_never_bring_two_below_2r(spaced_points):
    parameters = replaced(BASE, HARD)
    spacing = math.sqrt(2.0) * parameters.separation.required_m
    rng = np.random.default_rng(3)
    drawn = [spaced_points(rng, 100, spacing, side_m=11.0, height_ratio=2.0) for _ in range(3)]
    changes = [
        PatternChange(time_s=0.0, pattern=FormationPattern(name=f"p{k}", offsets=offsets))
        for k, offsets in enumerate(drawn[1:])
    ]
    record = fly_formation(parameters, drawn[0] + UP, FROM_REST, changes, seed=3, duration_s=18.0)
    assert record.in_transition.sum() > 200 and not record.in_transition[-1]
    assert record.closest_m.min() > TWO_R
    assert record.formation_errors(in_transition=True).formation_m < LARGEST_FORMATION_ERROR_M


def crossing(spaced_points, seed, changes):
    """Fly 12 vehicles through each other: goals are drawn, not assigned."""
    rng = np.random.default_rng(seed)
    parameters = replaced(BASE, HARD | changes)
    spacing = math.sqrt(2.0) * parameters.separation.required_m
    starts, goals = (
        spaced_points(rng, 12, spacing, side_m=6.0, height_ratio=2.0) for _ in range(2)
    )
    duration = shortest_duration_s(
        float(np.linalg.norm(goals - starts, axis=1).max()),
        maximum_speed_m_s=2.0,
        maximum_acceleration_m_s2=1.0,
    )
    plan = FormationPlan(
        number=0,
        pattern="crossing",
        start_ns=from_seconds(1.5),
        duration_ns=from_seconds(duration),
        starts=starts,
        goals=goals,
    )
    one = FormationFlight(parameters, starts + UP, constant_route([0, 0, 0]), [], seed)
    one.received.set_own_plan(plan)
    return one.run_until(1.5 + duration + 8.0)


def test_vehicles_on_colliding_ways_in_wind_avoid_each_other_and_arrive(spaced_points):
    for seed in range(6):
        record = crossing(spaced_points, seed, {})
        assert record.closest_m.min() > TWO_R, seed
        assert np.linalg.norm(record.errors[-1], axis=1).max() < 1.0, seed
    blind = [crossing(spaced_points, seed, {"avoids": False}) for seed in range(3)]
    assert max(record.closest_m.min() for record in blind) < TWO_R


def test_without_messages_the_formation_stops_and_goes_on_when_it_hears_again():
    one = flight(CLEAN, ["cube"], 9)
    one.run_until(12.0)
    before = one.state.position[1:].copy()
    hearing, one.parameters = one.parameters, replaced(one.parameters, {"link.loss_ratio": 1.0})
    one.run_until(16.0)
    # the leader's last report is continued for a second, at 1 m/s
    assert (one.state.position[1:] - before)[:, 0] == pytest.approx(np.ones(8), abs=0.1)
    assert np.abs(one.state.velocity[1:]).max() < 0.02
    one.parameters = hearing
    record = one.run_until(30.0)
    assert lags(record) == pytest.approx(np.zeros(8), abs=SETTLED)


def test_followers_out_of_the_leaders_range_learn_its_motion_from_others():
    one = flight(CLEAN, ["origin"], 18)
    one.run_until(6.0)
    one.parameters = replaced(one.parameters, {"link.range_m": 7.0})  # the last are 16 m away
    record = one.run_until(25.0)
    assert lags(record) == pytest.approx(np.zeros(17), abs=2.0 * SETTLED)


def test_a_plan_reaches_those_out_of_the_leaders_range():
    one = flight(CLEAN, ["origin"], 18)
    one.run_until(0.5)
    assert one.received.plan_numbers.tolist() == [0] * 18
    late = flight(CLEAN, ["origin"], 18)
    late.command_period()
    late.command_period()  # all were heard once; then the range shrinks
    late.parameters = replaced(late.parameters, {"link.range_m": 7.0})
    late.run_until(1.0)
    assert late.received.plan_numbers.tolist() == [0] * 18


def test_a_vehicle_knows_nothing_that_it_did_not_receive():
    """Another truth changes nobody's motion until its messages have arrived."""
    one = flight(CLEAN | {"link.delay_s": 0.2}, ["cube"], 9)
    one.run_until(8.0)
    other = copy.deepcopy(one)
    moved = other.state.position.copy()
    moved[3] += [1.0, 0.5, 0.0]
    object.__setattr__(other.state, "position", moved)
    for _ in range(5):  # 0.2 s
        one.command_period()
        other.command_period()
        rest = np.arange(9) != 3
        assert np.array_equal(one.state.position[rest], other.state.position[rest])
        assert not np.array_equal(one.state.position[3], other.state.position[3])
    for _ in range(10):
        one.command_period()
        other.command_period()
    assert not np.array_equal(one.state.position[5], other.state.position[5])


def test_the_same_seed_flies_the_same_flight():
    first, second, third = (
        flight(HARD, ["origin", "cube"], 9, period_s=3.0, seed=seed).run_until(8.0)
        for seed in (4, 4, 5)
    )
    assert np.array_equal(first.positions, second.positions)
    assert not np.array_equal(first.positions, third.positions)


def test_a_flight_equals_controllers_that_exchange_single_messages():
    """The slow obvious version: one object per vehicle, one message at a time, its own clock."""
    patterns = [shipped_pattern(name, 6) for name in ("origin", "diamond")]
    parameters = replaced(BASE, HARD | {"wind.gust_m_s": 0.0})
    due = [PatternChange(time_s=0.5, pattern=patterns[0]),
           PatternChange(time_s=3.0, pattern=patterns[1])]  # fmt: skip
    starts = patterns[0].offsets + UP
    expected = fly_formation(parameters, starts, FROM_REST, due, seed=8, duration_s=9.0)

    leader = LeaderController(6, parameters.plan, parameters.separation)
    others = [
        FollowerController(6, k, parameters.follower, parameters.separation) for k in range(1, 6)
    ]
    everyone = [leader, *others]
    wind = np.array([5.0, 0.0, 0.0])
    state, now_ns, k, messages, found = at_rest(starts, wind=wind), 0, 0, [], []
    while now_ns < from_seconds(9.0):
        for message in [one for one in messages if one[0] <= now_ns]:
            messages.remove(message)
            everyone[message[1]].receive(message[2])
        places, speeds = state.position, state.velocity
        if due and now_ns >= from_seconds(due[0].time_s) and leader.can_change_pattern(now_ns):
            leader.change_pattern(due.pop(0).pattern, now_ns, places[0])
        way = FROM_REST.motion(now_ns * 1e-9)
        way[0] += starts[0]
        own = np.array([[places[0], speeds[0]]])
        first = tracking_velocity(parameters.follower, way[None], own, way[None, 0] - own[:, 0])
        rest = [one.command(now_ns, places[i + 1], speeds[i + 1]) for i, one in enumerate(others)]
        if k % 2 == 0:
            said = [leader.report(now_ns, np.array([places[0], speeds[0], way[2]]))]
            said += [one.report(now_ns, places[i + 1], speeds[i + 1])
                     for i, one in enumerate(others)]  # fmt: skip
            distances = np.linalg.norm(places[:, None] - places, axis=2)
            when = arrivals(parameters.link, 8, number=k // 2, stamp_ns=now_ns, distances=distances)
            messages += [(int(when[s, r]), r, said[s])
                         for s in range(6) for r in range(6) if when[s, r] != LOST]  # fmt: skip
        for _ in range(4):
            state = point_mass_step(
                parameters.vehicle, state, np.vstack([first, rest]), 0.01, wind=wind
            )
            now_ns += 10_000_000
        k += 1
        found.append(state.position)
    assert not due
    assert np.array(found) == pytest.approx(expected.positions, abs=ROUNDING)


def test_errors_of_estimates_that_all_share_do_not_change_the_shape():
    slow = CLEAN | {"estimate.time_s": 60.0}
    shared = flight(slow | {"estimate.shared_m": 1.0}, ["cube"], 9).run_until(20.0)
    own = flight(slow | {"estimate.own_m": 1.0}, ["cube"], 9).run_until(20.0)
    # what remains is the walk of the error while a report is under way, sqrt(2 0.06 s / 60 s)
    assert shared.formation_errors(8.0).formation_m < 0.045
    assert own.formation_errors(8.0).formation_m > 0.5


def made_record(errors, speed):
    """Return a record of three vehicles at two times with these errors (2, 3, 3)."""
    offsets = np.broadcast_to(np.array([[0, 0, 0], [3.0, 0, 0], [0, 3.0, 0]]), (2, 3, 3))
    velocities = np.zeros((2, 3, 3))
    velocities[:, 0] = speed
    return FormationRecord(
        times_s=np.array([1.0, 2.0]),
        positions=offsets + errors + [7.0, 8.0, 9.0],
        velocities=velocities,
        offsets=offsets,
        in_transition=np.zeros(2, dtype=bool),
        closest_m=np.ones(2),
        n_sent=0,
        n_lost=0,
    )


def test_errors_are_told_apart():
    behind = np.zeros((2, 3, 3))
    behind[:, 1:, 0] = -0.3
    found = made_record(behind, [2.0, 0.0, 0.0]).formation_errors()
    assert found.lag_m == pytest.approx(0.3) and found.place_m == pytest.approx(0.3)
    assert found.largest_place_m == pytest.approx(0.3)
    # minus the mean, -0.2, the leader is 0.2 off and the followers 0.1
    assert found.formation_m == pytest.approx(math.sqrt((0.04 + 0.01 + 0.01) / 3.0))
    aside = made_record(behind, [0.0, 2.0, 0.0]).formation_errors()
    assert aside.lag_m == pytest.approx(0.0) and aside.place_m == pytest.approx(0.3)
    assert math.isnan(made_record(behind, [0.0, 0.0, 0.0]).formation_errors().lag_m)


def test_only_the_times_asked_for_count():
    errors = np.zeros((2, 3, 3))
    errors[1, 1, 2] = 0.5
    record = made_record(errors, [1.0, 0.0, 0.0])
    assert record.formation_errors(until_s=1.5).place_m == 0.0
    assert record.formation_errors(from_s=1.5).place_m == pytest.approx(0.5 / math.sqrt(2.0))
    assert math.isnan(record.formation_errors(in_transition=True).place_m)


def test_the_recorded_distance_is_that_of_truth():
    record = flight(HARD, ["origin", "cube"], 9, period_s=4.0).run_until(10.0)
    scaled = record.positions * BASE.separation.scale
    sampled = np.array([closest_distance(places) for places in scaled])
    assert (record.closest_m <= sampled + ROUNDING).all()
    # two vehicles at 2 m/s each in the 40 ms between samples
    assert (sampled - record.closest_m).max() < 0.16


def test_a_pattern_for_another_number_is_refused():
    wrong = PatternChange(time_s=0.0, pattern=shipped_pattern("cube", 9))
    starts = shipped_pattern("origin", 6).offsets
    with pytest.raises(ValueError, match="for each of 6 vehicles, got 9"):
        fly_formation(BASE, starts, FROM_REST, [wrong], seed=1, duration_s=2.0)


def test_parameters_load_from_names_and_are_checked():
    loaded = load_parameters(
        FormationFlightParameters, {"link": {"loss_ratio": 0.5}}, where="my.yaml"
    )
    assert loaded.link.loss_ratio == 0.5 and loaded.follower == BASE.follower
    slow = {"commands_per_report": 40}
    with pytest.raises(ParameterError, match=r"hold_s: expected at least the 1.6 s"):
        load_parameters(FormationFlightParameters, slow, where="my.yaml")


def test_starts_that_are_no_points_are_refused():
    with pytest.raises(ValueError, match="finite points"):
        FormationFlight(BASE, np.full((3, 3), np.nan), FROM_REST, [], 1)
