# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pilots from take-off to landing, over vehicles of a simple response; and their link."""

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import replaced
from aerotwin_formation import (
    FormationMission,
    FormationPilot,
    PatternOrder,
    PilotParameters,
    VehicleLinkParameters,
    VehicleReport,
    closest_distance,
)
from aerotwin_formation.link import LOST, arrivals
from aerotwin_formation.pilot import ReceivingLink
from aerotwin_formation.plan import LANDING

STEP_S = 0.05
RESPONSE_S = 0.3
PERIOD_S = 0.1
TRACKING_M = 0.3  # of vehicles that respond so fast, at corners
MISSION = FormationMission(
    waypoints_m=((0, 0, 10), (10, 0, 10), (10, 10, 10)),
    patterns=(PatternOrder(pattern="cube"), PatternOrder(pattern="pyramid", waypoint=1)),
)

SHORT = FormationMission(waypoints_m=((0, 0, 6),), patterns=(PatternOrder(pattern="cube"),))


class Fleet:
    """Nine vehicles whose velocities follow commands; take-off and landing are vertical.

    Without commands they hover. `stalled` ones have no estimate any more, and `deaf` ones lose the
    next order.
    """

    def __init__(self, parameters=None, seed=1, mission=MISSION):
        parameters = parameters or PilotParameters()
        self.pilots = [
            FormationPilot(parameters, 9, k, mission=None if k else mission, seed=seed)
            for k in range(9)
        ]
        self.position = np.array([[3.0 * (k // 3), 3.0 * (k % 3), 0.0] for k in range(9)])
        self.velocity, self.command = np.zeros((9, 3)), np.zeros((9, 3))
        self.time_ns, self.orders, self.track, self.closest_m = 0, [], [], np.inf
        self.scale = parameters.separation.scale
        self.stalled, self.deaf = set(), set()
        self.follows = np.zeros(9, bool)

    def step(self):
        for k, pilot in enumerate(self.pilots):
            if k in self.stalled:
                self.command[k] = 0.0
                continue
            action = pilot.step(self.time_ns, self.position[k].copy(), self.velocity[k].copy())
            self.obey(k, action)
            for other in self.pilots:
                if action.report is not None and other is not pilot:
                    other.receive(action.report)
        self.move()

    def obey(self, k, action):
        if action.velocity is not None:
            self.command[k] = action.velocity
        elif self.follows[k]:
            self.command[k] = 0.0
        self.follows[k] = action.velocity is not None
        if action.order:
            self.orders.append((k, action.order))
            if k in self.deaf:
                self.deaf.remove(k)
            else:
                self.command[k] = [0, 0, 1.0 if action.order == "take_off" else -1.0]

    def move(self):
        self.velocity += (self.command - self.velocity) * STEP_S / RESPONSE_S
        self.position += self.velocity * STEP_S
        self.position[:, 2] = np.maximum(self.position[:, 2], 0.0)
        self.time_ns += round(STEP_S * 1e9)
        self.closest_m = min(self.closest_m, closest_distance(self.position * self.scale))
        self.track.append(self.position.copy())

    def fly(self, until, limit_s=150.0):
        while not until():
            assert self.time_ns < limit_s * 1e9, [pilot.phase for pilot in self.pilots]
            self.step()

    def reset(self, stamp_ns):
        """Put all back to their starts, as the simulator does; time goes on, or back."""
        self.position, self.time_ns = self.track[0].copy(), stamp_ns
        self.velocity[:], self.command[:], self.follows[:] = 0.0, 0.0, False

    def pattern(self):
        plan = self.pilots[0].plan
        return "" if plan is None or self.time_ns < plan.end_ns else plan.pattern

    def out_of_place(self):
        there = self.position - self.position[0]
        return np.linalg.norm(there - self.pilots[0].plan.goals, axis=1).max()


@pytest.mark.parametrize("loss_ratio", [0.0, 0.2])
def test_nine_vehicles_take_off_fly_their_patterns_and_land(loss_ratio):
    fleet = Fleet(
        replaced(PilotParameters(), {"link.loss_ratio": loss_ratio, "link.delay_s": 0.15})
    )
    fleet.fly(lambda: fleet.pattern() == "cube")
    assert fleet.out_of_place() < TRACKING_M
    assert np.allclose(fleet.position[0], [0, 0, 10], atol=TRACKING_M)
    fleet.fly(lambda: fleet.pattern() == "pyramid")
    assert fleet.out_of_place() < TRACKING_M
    fleet.fly(lambda: not fleet.position[:, 2].any())
    assert np.allclose(fleet.position[0, :2], [10, 10], atol=TRACKING_M)
    assert fleet.closest_m > 0.8  # 2R
    assert {order for _, order in fleet.orders} == {"take_off", "land"}
    assert {pilot.phase for pilot in fleet.pilots} == {"landing"}
    assert {k for k, order in fleet.orders if order == "land"} == set(range(9))


def test_two_flights_of_one_seed_are_the_same():
    first, second, third = (Fleet(seed=seed) for seed in (3, 3, 4))
    for fleet in (first, second, third):
        fleet.fly(lambda fleet=fleet: fleet.time_ns >= 20e9)
    np.testing.assert_array_equal(first.track, second.track)
    assert not np.array_equal(first.track, third.track)


@pytest.mark.parametrize(("until", "pause_s"), [("cube", 0.0), ("land", 1.0)])
def test_after_a_reset_the_mission_begins_anew(until, pause_s):
    fleet = Fleet(mission=SHORT)
    fleet.fly(lambda: fleet.pattern() == until)
    fleet.reset(fleet.time_ns + round(pause_s * 1e9))
    del fleet.orders[:]
    fleet.step()
    assert {pilot.phase for pilot in fleet.pilots} == {"taking off"}
    assert [pilot.plan for pilot in fleet.pilots] == [None] * 9
    assert fleet.orders == [(k, "take_off") for k in range(9)]
    fleet.fly(lambda: fleet.pattern() == "cube")
    assert fleet.out_of_place() < TRACKING_M
    assert fleet.closest_m > 0.8


def test_where_time_goes_back_the_mission_begins_anew():
    fleet = Fleet(mission=SHORT)
    fleet.fly(lambda: fleet.pilots[8].plan is not None)
    fleet.reset(0)
    fleet.step()
    assert [pilot.plan for pilot in fleet.pilots] == [None] * 9
    fleet.fly(lambda: fleet.pilots[8].plan is not None, limit_s=60.0)


def test_what_was_said_before_a_reset_is_forgotten():
    fleet = Fleet(mission=SHORT)
    fleet.fly(lambda: fleet.pilots[8].plan is not None)
    old = a_report(0, fleet.time_ns - 1, plan=fleet.pilots[0].plan)
    fleet.reset(fleet.time_ns)
    fleet.step()
    for pilot in fleet.pilots[1:]:
        pilot.receive(old)
    fleet.fly(lambda: fleet.pilots[0].phase == "hovering", limit_s=60.0)
    assert [pilot.plan for pilot in fleet.pilots] == [None] * 9


def test_an_estimate_that_jumps_or_pauses_in_the_air_is_no_reset():
    fleet = Fleet(mission=SHORT)
    fleet.fly(lambda: fleet.pilots[8].plan is not None)
    fleet.position += [0.0, 3.0, 1.0]
    fleet.step()
    fleet.time_ns += 2 * 10**9
    fleet.step()
    assert [pilot.plan.pattern for pilot in fleet.pilots] == ["cube"] * 9


def test_a_pattern_ordered_in_flight_comes_next_and_land_ends_the_flight():
    fleet = Fleet()
    fleet.fly(lambda: fleet.pattern() == "cube")
    leader = fleet.pilots[0].leader
    leader.order("triangle")
    fleet.fly(lambda: fleet.pattern() == "triangle")
    with pytest.raises(ParameterError, match="found 'heart' for 9"):
        leader.order("heart")
    leader.order(LANDING)
    fleet.fly(lambda: not fleet.position[:, 2].any())
    assert fleet.closest_m > 0.8


def test_all_land_above_their_starts_wherever_they_gathered():
    away = FormationMission(waypoints_m=((12, -5, 8),), patterns=(PatternOrder(pattern="cube"),))
    fleet = Fleet(mission=away)
    starts = fleet.position[:, :2].copy()
    fleet.fly(lambda: fleet.pattern() == LANDING and not fleet.position[:, 2].any())
    landed = fleet.position[:, :2] - fleet.position[:, :2].min(axis=0)  # the square of the starts
    np.testing.assert_allclose(np.sort(landed, 0), np.sort(starts, 0), atol=TRACKING_M)


def test_an_order_to_land_before_the_first_pattern_lands_all_where_they_are():
    fleet = Fleet()
    fleet.fly(lambda: fleet.pilots[0].phase == "hovering")
    fleet.pilots[0].leader.order(LANDING)
    starts = fleet.position[:, :2].copy()
    fleet.fly(lambda: not fleet.position[:, 2].any())
    np.testing.assert_allclose(fleet.position[:, :2], starts, atol=TRACKING_M)
    assert {pilot.phase for pilot in fleet.pilots} == {"landing"}


@pytest.mark.parametrize("is_ordered", [False, True])
def test_the_others_land_when_one_is_lost(is_ordered):
    fleet = Fleet()
    fleet.fly(lambda: fleet.pattern() == "cube")
    fleet.stalled = {4}
    if is_ordered:
        fleet.pilots[0].leader.order("triangle")  # announced, and never acknowledged by all
        fleet.fly(lambda: fleet.pattern() == "triangle")
        fleet.pilots[0].leader.order(LANDING)
    fleet.fly(lambda: not np.delete(fleet.position[:, 2], 4).any())
    assert fleet.pilots[0].plan.pattern == LANDING


def test_a_first_pattern_that_is_too_narrow_is_refused_in_words_and_all_land():
    narrow = FormationMission(
        waypoints_m=((0, 0, 10),), patterns=(PatternOrder(pattern="triangle"),), scale=0.3
    )
    fleet = Fleet(mission=narrow)
    fleet.fly(lambda: fleet.pilots[0].phase == "landing")
    assert "pattern 'triangle': vehicles must stay" in fleet.pilots[0].leader.refused
    fleet.fly(lambda: not fleet.position[:, 2].any())


def a_report(sender, stamp_ns, position=(0.0, 0.0, 0.0), plan=None):
    motion = np.array([position, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)])
    return VehicleReport(
        sender=sender, stamp_ns=stamp_ns, motion=motion, leader_stamp_ns=-1,
        leader_motion=np.zeros((3, 3)), plan=plan, plan_number=-1 if plan is None else plan.number,
    )  # fmt: skip


def test_a_receiver_gets_what_the_link_of_a_whole_fleet_delivers():
    link = VehicleLinkParameters(
        delay_s=0.1, jitter_s=0.3, loss_ratio=0.3, mean_burst=3.0, range_m=50.0
    )
    receiver, seed = 2, 7
    places = np.array([[0.0, 0, 0], [30.0, 0, 0], [45.0, 0, 0], [100.0, 0, 0]])
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    expected, inbox = [], ReceivingLink(link, seed=seed, receiver=receiver, period_s=PERIOD_S)
    rng = np.random.default_rng(1000)
    reports = []
    for number in range(100):
        stamp_ns = number * 100_000_000
        due = arrivals(link, seed, number=number, stamp_ns=stamp_ns, distances=distances)
        for sender in (0, 1, 3):
            if due[sender, receiver] != LOST:
                expected.append((int(due[sender, receiver]), stamp_ns, sender))
            reports.append(a_report(sender, stamp_ns, places[sender]))
    for k in rng.permutation(len(reports)):  # whatever order they are carried in
        inbox.send(reports[k], places[receiver])
    assert 0 < len(expected) < 200
    found = []
    for now_ns in range(0, 12_000_000_000, 50_000_000):
        for report in inbox.arrived(now_ns):
            found.append((report.stamp_ns, report.sender))
    assert found == [(stamp, sender) for _, stamp, sender in sorted(expected)]


def test_vehicles_that_sink_or_miss_the_order_are_ordered_to_land_until_they_do():
    fleet = Fleet()
    fleet.fly(lambda: fleet.pattern() == "cube")
    fleet.pilots[0].leader.order(LANDING)
    fleet.fly(lambda: fleet.pilots[0].plan.is_over(fleet.time_ns))
    fleet.velocity[:, 2] -= 0.5
    fleet.deaf = {5}
    fleet.fly(lambda: not fleet.position[:, 2].any())
    assert fleet.orders.count((5, "land")) == 2 and fleet.orders.count((4, "land")) == 1


def test_a_vehicle_without_estimate_hears_nothing_and_the_others_all():
    fleet = Fleet()
    fleet.fly(lambda: fleet.pattern() == "cube")
    fleet.stalled = {4}
    until_ns = fleet.time_ns + 5 * 10**9
    fleet.fly(lambda: fleet.time_ns > until_ns)
    assert [pilot.n_skipped > 0 for pilot in fleet.pilots] == [k == 4 for k in range(9)]
    away = np.linalg.norm(fleet.position - fleet.position[0] - fleet.pilots[0].plan.goals, axis=1)
    assert np.delete(away, 4).max() < 1.0


def test_messages_of_oneself_are_refused_and_those_of_the_future_skipped():
    pilot = FormationPilot(PilotParameters(), 3, 1, mission=None, seed=0)
    pilot.receive(a_report(2, 10**15))  # before it knows the time it hears nothing
    pilot.step(10**9, np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="sender must be another vehicle"):
        pilot.receive(a_report(1, 10**9))
    pilot.receive(a_report(2, 2 * 10**9))
    pilot.receive(a_report(2, 3 * 10**9))
    assert pilot.n_skipped == 1


def test_a_leader_needs_a_mission_and_reports_must_not_be_rare():
    with pytest.raises(ValueError, match="mission must be given"):
        FormationPilot(PilotParameters(), 3, 0, mission=None, seed=0)
    with pytest.raises(ParameterError, match=r"follower.hold_s: expected at least the 2 s"):
        PilotParameters(report_period_s=2.0)
