# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The law of followers on literal cases, what they receive, the leader's route and plans."""

import numpy as np
import pytest

from aerotwin_formation import (
    FollowerController,
    FollowerParameters,
    FormationPlan,
    LeaderRoute,
    PlanParameters,
    ReceivedReports,
    SeparationParameters,
    VehicleReport,
    constant_route,
    follower_commands,
    shipped_pattern,
)
from aerotwin_formation.controllers import LeaderController
from aerotwin_formation.messages import continued

ROUNDING = 1e-9
DIFFERENCE = 1e-6
"""Of central differences of parabolas, in which only rounding is left."""
SECOND = 10**9
PLACES = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
PLAN = FormationPlan(
    number=2, pattern="corner", start_ns=0, duration_ns=0, starts=PLACES, goals=PLACES
)
LAW = FollowerParameters(
    position_gain_1_s=2.0, velocity_gain=0.5, response_time_s=0.3, neighbour_weight=0.25
)


def report(sender, stamp_ns, motion, *, plan=PLAN, leader=None, leader_stamp_ns=-1):
    own = np.array(motion, float)
    return VehicleReport(
        sender=sender,
        stamp_ns=stamp_ns,
        motion=own,
        leader_stamp_ns=stamp_ns if sender == 0 else leader_stamp_ns,
        leader_motion=own if sender == 0 else np.zeros((3, 3)) if leader is None else leader,
        plan_number=-1 if plan is None else plan.number,
        plan=plan,
    )


def inbox(*reports, number=1):
    received = ReceivedReports(3, [number])
    for one in reports:
        received.receive(one)
    return received


def commanded(law, received, position, velocity=(0.0, 0.0, 0.0), stamp_ns=0):
    found = follower_commands(
        law,
        received,
        stamp_ns=stamp_ns,
        position=np.array([position], float),
        velocity=np.array([velocity], float),
    )
    return found.velocity[0]


def test_equation_1_with_the_leader_alone():
    leader = report(0, 0, [[10, 0, 5], [1, 0, 0], [0, 0.2, 0]])
    # after half a second the leader is at 10.5, 0.025, 5 with a velocity of 1, 0.1, 0
    place = np.array([13.5, 0.025, 5.0])
    own, speed = np.array([13.0, 1.0, 5.0]), np.array([0.4, 0.0, 0.0])
    ahead = np.array([1.0, 0.1, 0.0])
    expected = ahead + 0.3 * np.array([0, 0.2, 0]) + 2.0 * (place - own) + 0.5 * (ahead - speed)
    found = commanded(LAW, inbox(leader), own, speed, stamp_ns=SECOND // 2)
    assert found == pytest.approx(expected, abs=ROUNDING)


def test_equation_2_with_a_neighbour():
    leader = report(0, 0, [[0, 0, 0], [0, 0, 0], [0, 0, 0]])
    other = report(2, 0, [[0, 3.4, 0], [0, 0, 0], [0, 0, 0]])  # 0.4 m north of its place
    found = commanded(LAW, inbox(leader, other), PLACES[1])
    # a quarter of what the neighbour is off, by the gain of 2
    assert found == pytest.approx([0.0, 0.25 * 0.4 * 2.0, 0.0], abs=ROUNDING)


def test_the_motion_of_its_place_is_fed_forward():
    plan = FormationPlan(
        number=3, pattern="x", start_ns=0, duration_ns=4 * SECOND, starts=PLACES, goals=2 * PLACES
    )
    leader = report(0, 2 * SECOND, np.zeros((3, 3)), plan=plan)
    # halfway: at 4.5 m with 15/8 of the mean speed, 3 m in 4 s, without acceleration
    found = commanded(LAW, inbox(leader), [4.5, 0, 0], stamp_ns=2 * SECOND)
    assert found == pytest.approx([1.5 * 1.875 * 0.75, 0.0, 0.0], abs=ROUNDING)


def test_the_first_law_of_xtdrone_is_its_equation():
    law = FollowerParameters(law="xtdrone", position_gain_1_s=1.0)
    leader = report(0, 0, [[10, 0, 5], [1, 0, 0], [0, 0, 0]])
    other = report(2, 0, [[0, 9, 0], [0, 0, 0], [0, 0, 0]])
    found = commanded(law, inbox(leader, other), [12.0, 0.5, 5.0], [9, 9, 9], stamp_ns=SECOND)
    assert found == pytest.approx([1.0, -0.5, 0.0], abs=ROUNDING)


def test_the_consensus_of_xtdrone_is_the_mean_over_those_it_follows():
    law = FollowerParameters(law="xtdrone_consensus", position_gain_1_s=1.0)
    line = np.array([[x, 0.0, 0.0] for x in (0.0, 1.0, 2.0, 3.0)])
    plan = FormationPlan(
        number=0, pattern="line", start_ns=0, duration_ns=0, starts=line, goals=line
    )
    received = ReceivedReports(4, [2])
    for sender, north in ((0, 0.0), (1, 0.5), (3, 7.0)):
        motion = [line[sender] + [0.0, north, 0.0], [0, 0, 0], [0, 0, 0]]
        received.receive(report(sender, 0, motion, plan=plan))
    # 2 follows 0 and 1 in a line of four
    assert commanded(law, received, line[2]) == pytest.approx([0.0, 0.25, 0.0], abs=ROUNDING)


def test_commands_are_limited_in_length():
    leader = report(0, 0, [[100, 100, 0], [0, 0, 0], [0, 0, 0]])
    assert np.linalg.norm(commanded(LAW, inbox(leader), [0, 0, 0])) == pytest.approx(5.0)


def test_a_follower_without_plan_or_leader_hovers():
    leader = report(0, 0, [[10, 0, 5], [1, 0, 0], [0, 0, 0]], plan=None)
    other = report(2, 0, np.ones((3, 3)))  # has the plan, never heard the leader
    for received in (inbox(), inbox(leader), inbox(other)):
        assert commanded(LAW, received, [0, 0, 0]).tolist() == [0.0, 0.0, 0.0]


def test_after_the_hold_time_the_leader_counts_as_standing_where_it_would_be_then():
    received = inbox(report(0, 0, [[0, 0, 0], [2, 0, 0], [0, 0, 0]]))
    just_before = commanded(LAW, received, [5.0, 0, 0], stamp_ns=SECOND)
    assert just_before == pytest.approx([2.0 + 0.5 * 2.0, 0.0, 0.0], abs=ROUNDING)
    for late in (SECOND + 1, 9 * SECOND):
        assert commanded(LAW, received, [5.0, 0, 0], stamp_ns=late).tolist() == [0.0, 0.0, 0.0]
        assert commanded(LAW, received, [5.5, 0, 0], stamp_ns=late)[0] == pytest.approx(-1.0)


def test_motions_are_continued_by_their_accelerations():
    motion = np.array([[1.0, 0, 0], [2.0, 0, 0], [0.5, 0, 0]])
    found = continued(motion[None], np.array([2 * SECOND]), 3 * SECOND)[0]
    assert found[:, 0].tolist() == [1.0 + 4.0 + 1.0, 3.0, 0.5]
    stopped = continued(motion[None], np.array([9 * SECOND]), 2 * SECOND)[0]
    assert stopped[:, 0].tolist() == [6.0, 0.0, 0.0]


def test_of_messages_that_overtake_the_newest_counts():
    new = report(0, 5, [[2, 0, 0], [0, 0, 0], [0, 0, 0]])
    old = report(0, 3, [[1, 0, 0], [0, 0, 0], [0, 0, 0]])
    received = inbox(new, old)
    assert received.motion[0, 0, 0, 0] == received.leader_motion[0, 0, 0] == 2.0
    assert received.stamps_ns[0].tolist() == [5, -1, -1]


def test_the_leader_is_learned_from_others_who_heard_it_later():
    direct = report(0, 5, [[2, 0, 0], [0, 0, 0], [0, 0, 0]])
    relayed = np.full((3, 3), 7.0)
    newer = report(2, 8, np.zeros((3, 3)), leader=relayed, leader_stamp_ns=6)
    older = report(2, 9, np.zeros((3, 3)), leader=9.0 * relayed, leader_stamp_ns=4)
    received = inbox(direct, newer, older)
    assert received.leader_stamps_ns[0] == 6 and received.leader_motion[0].tolist() == (
        relayed.tolist()
    )
    assert received.motion[0, 0, 0, 0] == 2.0  # where it was heard itself stays


def test_a_plan_is_attached_until_all_have_said_that_they_have_it():
    received = inbox(report(0, 0, np.zeros((3, 3))), number=1)

    def attached():
        return received.report_of(received.reports(9, np.zeros((1, 3, 3))), 0).plan

    assert attached() is PLAN
    received.receive(report(2, 1, np.zeros((3, 3)), plan=None))
    assert attached() is PLAN
    received.receive(report(2, 2, np.zeros((3, 3))))
    assert attached() is None


def test_an_older_plan_does_not_replace_a_newer_one():
    older = FormationPlan(
        number=1, pattern="old", start_ns=0, duration_ns=0, starts=PLACES, goals=2.0 * PLACES
    )
    received = inbox(
        report(0, 0, np.zeros((3, 3))), report(2, 4, np.zeros((3, 3)), plan=older), number=1
    )
    assert received.plan_of(0) is PLAN


def test_rows_of_one_object_know_no_more_than_objects_of_their_own():
    rng = np.random.default_rng(6)
    together = ReceivedReports(3, [1, 2])
    alone = [ReceivedReports(3, [1]), ReceivedReports(3, [2])]
    for k in range(60):
        row, sender = int(rng.integers(2)), int(rng.integers(3))
        plan = PLAN if rng.random() < 0.2 else None
        one = report(sender, int(rng.integers(9 * SECOND)), rng.normal(size=(3, 3)), plan=plan)
        together.receive(one, row)
        alone[row].receive(one)
        own = rng.normal(size=(2, 2, 3))
        found = follower_commands(
            LAW, together, stamp_ns=9 * SECOND, position=own[0], velocity=own[1]
        )
        for i, single in enumerate(alone):
            expected = commanded(LAW, single, own[0, i], own[1, i], stamp_ns=9 * SECOND)
            assert found.velocity[i].tolist() == expected.tolist(), k


def test_a_route_is_the_integral_of_its_velocities():
    route = LeaderRoute(
        times_s=np.array([1.0, 3.0, 4.0]),
        velocities=np.array([[0.0, 0, 0], [2.0, 0, 0], [2.0, -1.0, 0.5]]),
    )
    assert route.motion(3.0)[0].tolist() == [2.0, 0.0, 0.0]
    assert route.motion(4.0)[0].tolist() == [4.0, -0.5, 0.25]
    assert route.motion(6.0).tolist() == [[8.0, -2.5, 1.25], [2.0, -1.0, 0.5], [0, 0, 0]]
    assert not route.motion(0.0).any()
    h = 1e-4
    for time_s in (0.5, 1.7, 2.9, 3.3, 5.0):
        before, now, after = (route.motion(time_s + k * h) for k in (-1, 0, 1))
        assert now[1:] == pytest.approx((after[:2] - before[:2]) / (2.0 * h), abs=DIFFERENCE)


def test_a_constant_route_goes_both_ways_in_time():
    route = constant_route([1.0, 2.0, 0.0])
    assert route.motion(3.0)[0].tolist() == [3.0, 6.0, 0.0]
    assert route.motion(-1.0)[0].tolist() == [-1.0, -2.0, 0.0]


@pytest.mark.parametrize(
    ("times", "velocities", "message"),
    [
        ([0.0, 0.0], np.zeros((2, 3)), "must increase"),
        ([0.0], np.zeros((2, 3)), "for each of its times"),
        ([0.0], np.full((1, 3), np.inf), "finite"),
        ([], np.zeros((0, 3)), "for each of its times"),
    ],
)
def test_a_wrong_route_is_refused(times, velocities, message):
    with pytest.raises(ValueError, match=message):
        LeaderRoute(times_s=np.array(times), velocities=velocities)


def test_a_leader_changes_the_pattern_when_it_has_heard_all_and_all_have_the_last_plan():
    leader = LeaderController(6, PlanParameters(), SeparationParameters())
    grid, diamond = (shipped_pattern(name, 6) for name in ("origin", "diamond"))
    places = grid.offsets + np.array([0.0, 0.0, 20.0])

    def hear(senders, plan, stamp_ns):
        for sender in senders:
            motion = np.vstack([places[[sender]], np.zeros((2, 3))])
            leader.receive(report(sender, stamp_ns, motion, plan=plan))

    hear((1, 2, 3, 4), None, 1)
    assert not leader.can_change_pattern(2)
    with pytest.raises(ValueError, match="all followers were heard"):
        leader.change_pattern(grid, 2, places[0])
    hear((5,), None, 2)
    plan = leader.change_pattern(diamond, 3, places[0])
    assert plan.starts == pytest.approx(grid.offsets, abs=ROUNDING)
    assert leader.plan is plan and leader.report(4, np.zeros((3, 3))).plan is plan
    hear((1, 2, 3, 4), plan, 5)
    assert not leader.can_change_pattern(plan.end_ns)
    hear((5,), plan, 6)
    assert not leader.can_change_pattern(plan.end_ns - 1)
    back = leader.change_pattern(grid, plan.end_ns, places[0])
    assert back.number == 1 and back.starts.tolist() == plan.goals.tolist()


def test_a_controller_is_of_a_follower():
    with pytest.raises(ValueError, match="1 to 5, got 0"):
        FollowerController(6, 0, FollowerParameters(), None)
