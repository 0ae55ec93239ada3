# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Avoidance: half-spaces against sampled motion, the nearest velocity against a solver."""

import numpy as np
import pytest
from scipy.optimize import minimize

from aerotwin_formation import ReceivedReports, SeparationParameters, VehicleReport
from aerotwin_formation.avoidance import half_space, nearest_in_half_spaces, safe_velocities

DISTANCE, HORIZON, CONTACT = 0.9, 1.5, 0.3
ROUNDING = 1e-9
SAMPLED = 1e-4
"""Least distance of a straight motion of some metres over 20,000 instants."""
ITERATIONS = 2e-3
"""Left by two hundred iterations over eight half-spaces of velocities of metres per second."""
SOLVER = 1e-5


def least_distance(r, w):
    """Return how close a vehicle with relative velocity w comes to one at r, within the horizon."""
    times = np.linspace(0.0, HORIZON, 20_001)
    return np.linalg.norm(r - times[:, None] * w, axis=1).min()


def changed(r, w):
    *normal, change = half_space(tuple(r), tuple(w), DISTANCE, HORIZON, CONTACT)
    return w + change * np.array(normal), np.array(normal), change


def random_pair(rng):
    """Return a place and a velocity that leads there, or past it."""
    r = rng.normal(size=3)
    r *= rng.uniform(1.0, 4.0) / np.linalg.norm(r)
    return r, rng.uniform(0.2, 1.5) * r + 0.6 * rng.normal(size=3)


def test_the_smallest_change_of_velocity_just_avoids_the_other():
    rng = np.random.default_rng(1)
    n_on_course = 0
    for _ in range(200):
        r, w = random_pair(rng)
        safe, normal, change = changed(r, w)
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=ROUNDING)
        is_on_course = least_distance(r, w) < DISTANCE
        assert (change > 0.0) == is_on_course
        assert least_distance(r, safe) == pytest.approx(DISTANCE, abs=SAMPLED)
        n_on_course += is_on_course
        for _ in range(10):  # no shorter change leads across the border
            other = rng.normal(size=3)
            near = w + 0.99 * abs(change) * other / np.linalg.norm(other)
            assert (least_distance(r, near) < DISTANCE + SAMPLED) == is_on_course or (
                abs(least_distance(r, near) - DISTANCE) < SAMPLED
            )
    assert 20 < n_on_course < 180


def test_a_vehicle_straight_ahead_is_met_by_braking():
    # 3 m ahead at 4 m/s: within 1.5 s only (3 - 0.9) / 1.5 m/s may remain
    safe, normal, _ = changed(np.array([3.0, 0.0, 0.0]), np.array([1.99, 0.0, 0.0]))
    assert safe == pytest.approx([1.4, 0.0, 0.0], abs=ROUNDING)
    assert normal == pytest.approx([-1.0, 0.0, 0.0], abs=ROUNDING)


def test_two_that_are_too_close_move_apart_in_the_time_of_contact():
    safe, _, _ = changed(np.array([0.0, 0.6, 0.0]), np.zeros(3))
    assert safe == pytest.approx([0.0, -(0.9 - 0.6) / CONTACT, 0.0], abs=ROUNDING)
    at_one_place, normal, change = changed(np.zeros(3), np.zeros(3))
    assert np.isfinite(at_one_place).all() and np.isfinite(normal).all() and change > 0.0


def test_the_velocity_found_is_the_nearest_one_in_all_half_spaces():
    rng = np.random.default_rng(4)
    for _ in range(30):
        normals = rng.normal(size=(8, 3))
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        inside, desired = rng.normal(size=(2, 3))
        bounds = normals @ inside - rng.uniform(0.2, 2.0, 8)
        planes = np.column_stack([normals, bounds])
        found = np.array(nearest_in_half_spaces(tuple(desired), planes, 8))
        solved = minimize(
            lambda x, wish=desired: np.sum((x - wish) ** 2),
            inside,
            jac=lambda x, wish=desired: 2.0 * (x - wish),
            constraints={
                "type": "ineq",
                "fun": lambda x, n=normals, b=bounds: n @ x - b,
                "jac": lambda x, n=normals: n,
            },
            method="SLSQP",
            options={"ftol": 1e-12},
        ).x
        assert found == pytest.approx(solved, abs=ITERATIONS + SOLVER)


SEPARATION = SeparationParameters(unknown_m_s=0.0)


def inbox(number, motions, stamp_ns=0):
    """Return what a vehicle knows of others: their numbers with positions and velocities."""
    received = ReceivedReports(6, [number])
    for sender, (position, velocity) in motions.items():
        motion = np.array([position, velocity, [0.0, 0.0, 0.0]])
        report = VehicleReport(
            sender=sender,
            stamp_ns=stamp_ns,
            motion=motion,
            leader_stamp_ns=-1,
            leader_motion=np.zeros((3, 3)),
            plan_number=-1,
        )
        received.receive(report)
    return received


def avoided(received, position, velocity, *, stamp_ns=0, desired=None):
    own = np.array([velocity], float)
    return safe_velocities(
        SEPARATION,
        received,
        stamp_ns=stamp_ns,
        hold_s=1.0,
        position=np.array([position], float),
        velocity=own,
        desired=own if desired is None else np.array([desired], float),
    )[0]


def test_two_that_meet_pass_each_other_though_each_makes_half_of_the_change():
    here, there = np.array([0.0, 0.0, 0.0]), np.array([3.0, 0.4, 0.0])
    speed = np.array([1.5, 0.0, 0.0])
    first = avoided(inbox(1, {2: (there, -speed)}), here, speed)
    second = avoided(inbox(2, {1: (here, speed)}), there, -speed)
    assert first == pytest.approx(-second, abs=ROUNDING)
    assert least_distance(there - here, first - second) == pytest.approx(DISTANCE, abs=SAMPLED)


def test_a_follower_makes_all_of_the_change_towards_the_leader():
    there, speed = np.array([3.0, 0.4, 0.0]), np.array([1.5, 0.0, 0.0])
    alone = avoided(inbox(1, {0: (there, -speed)}), np.zeros(3), speed)
    assert least_distance(there, alone + speed) == pytest.approx(DISTANCE, abs=SAMPLED)
    leader = avoided(inbox(0, {1: (there, -speed)}), np.zeros(3), speed)
    assert leader.tolist() == speed.tolist()


def test_a_vehicle_below_is_avoided_from_twice_as_far():
    down = np.array([0.0, 0.0, -1.0])
    beside = avoided(inbox(1, {2: ([1.7, 0, 0], [0, 0, 0])}), np.zeros(3), [0.0, 0.0, 0.0])
    below = avoided(inbox(1, {2: ([0, 0, -1.7], [0, 0, 0])}), np.zeros(3), [0.0, 0.0, 0.0])
    assert not beside.any()
    # E is 0.85: half of what lacks to 0.9, in 0.3 s, heights twice as long
    assert below == pytest.approx([0.0, 0.0, 2.0 * 0.5 * 0.05 / 0.3], abs=ROUNDING)
    falling = avoided(inbox(1, {2: ([0, 0, -4.0], [0, 0, 0])}), np.zeros(3), 3.0 * down)
    assert -3.0 < falling[2] < -1.0


def test_others_are_where_their_reports_continued_to_now_say():
    moving = {2: ([3.0, 3.0, 0.0], [0.0, -3.0, 0.0])}  # crosses ahead, 3 m east, after 1 s
    late = inbox(1, moving)
    now = inbox(1, {2: ([3.0, 1.5, 0.0], [0.0, -3.0, 0.0])}, stamp_ns=500_000_000)
    speed = [4.0, 0.0, 0.0]
    expected = avoided(now, np.zeros(3), speed, stamp_ns=500_000_000)
    found = avoided(late, np.zeros(3), speed, stamp_ns=500_000_000)
    assert found == pytest.approx(expected, abs=ROUNDING)
    assert found.tolist() != speed


def test_what_was_not_heard_for_long_is_forgotten_and_what_is_far_ignored():
    ahead = {2: ([2.0, 0.0, 0.0], [0.0, 0.0, 0.0])}
    speed = [2.0, 0.0, 0.0]
    assert avoided(inbox(1, ahead), np.zeros(3), speed, stamp_ns=4 * 10**9).tolist() != speed
    assert avoided(inbox(1, ahead), np.zeros(3), speed, stamp_ns=6 * 10**9).tolist() == speed
    far = {2: ([200.0, 0.0, 0.0], [-2.0, 0.0, 0.0])}
    assert avoided(inbox(1, far), np.zeros(3), speed).tolist() == speed


def test_an_old_report_is_given_a_wider_berth():
    wide = SeparationParameters(unknown_m_s=0.5)
    received = inbox(1, {2: ([1.1, 0.0, 0.0], [0.0, 0.0, 0.0])})
    zero = np.zeros((1, 3))

    def found(stamp_ns):
        own = {"position": zero, "velocity": zero, "desired": zero}
        return safe_velocities(wide, received, stamp_ns=stamp_ns, hold_s=1.0, **own)[0, 0]

    assert found(0) == 0.0
    assert found(800_000_000) == pytest.approx(-0.5 * (0.9 + 0.4 - 1.1) / 0.3, abs=ROUNDING)
