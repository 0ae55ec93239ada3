# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Trackers in closed loop with the tests' own vehicle, and against closed forms."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from aerotwin_teach_repeat.tracking import (
    ModelPredictiveTracker,
    PurePursuitTracker,
    RoutePath,
    RouteProgress,
    TrackerParameters,
)
from aerotwin_teach_repeat.tracking.horizon_program import HorizonProgram

from .vehicle import TestVehicle, driven, poses, rounded_loop

PERIOD_S = 0.1
LIMITS = TrackerParameters()
ROUNDING = 1e-9
TRACKERS = pytest.mark.parametrize("make", [ModelPredictiveTracker, PurePursuitTracker])
SLIPPING = {"speed_gain": 0.97, "turn_gain": 0.88, "turn_bias": 0.01}


def close_loop(route, make, vehicle, parameters=LIMITS, *, age_s=0.1, s=0.0, seconds=400.0, seed=0):
    """Drive a route; return rows of s, lateral error, speed, and the commands, until the end."""
    tracker, progress, truth = make(route, parameters), RouteProgress(route, s), None
    truth = RouteProgress(route, s)
    rng, rows, commands = np.random.default_rng(seed), [], []
    for k in range(round(seconds / PERIOD_S)):
        now = k * PERIOD_S
        at = truth.update(vehicle.T_map_base)
        rows.append((at.s_m, at.lateral_m, vehicle.v))
        noisy = vehicle.T_map_base
        noisy[:2, 3] += rng.normal(0.0, 0.005, 2)
        twist = rng.normal((vehicle.v, vehicle.omega), (0.03, 0.02))
        progress.update(noisy)
        if progress.left_m <= 0.0:
            break
        command = tracker.command(noisy, twist, progress.s_m, time_s=now + age_s, age_s=age_s)
        commands.append(command)
        vehicle.command(now + age_s, command.v_m_s, command.omega_rad_s)
        vehicle.drive(now + PERIOD_S)
    return np.array(rows), commands, progress


@TRACKERS
def test_a_straight_line_is_driven_at_the_reference_speed_to_its_end(make):
    route = RoutePath(driven([(15.0, 0.0)]))
    rows, _, progress = close_loop(route, make, TestVehicle())
    assert progress.left_m == 0.0
    assert rows[:, 2].max() == pytest.approx(1.0, abs=0.05)  # noise of the twist: 0.03
    assert abs(rows[:, 1]).max() < 0.02  # noise of the poses: 0.5 cm
    assert rows[-1, 0] == pytest.approx(15.0, abs=0.1)


# What feedback at 10 Hz through 0.1 s of age, 0.1 s of delay and 0.27 s of lag leaves: corners
# enter with a jump of curvature of 0.33/m, which a vehicle with a lag cuts by centimetres.
RMSE_M = {ModelPredictiveTracker: 0.01, PurePursuitTracker: 0.02}
WORST_M = {ModelPredictiveTracker: 0.05, PurePursuitTracker: 0.08}


@TRACKERS
def test_a_loop_with_slip_lag_and_delay_stays_within_centimetres_and_within_all_limits(make):
    route = RoutePath(rounded_loop()[:300])
    rows, commands, progress = close_loop(route, make, TestVehicle(**SLIPPING))
    assert progress.left_m == 0.0
    assert np.sqrt(np.mean(rows[:, 1] ** 2)) < RMSE_M[make]
    assert abs(rows[:, 1]).max() < WORST_M[make]
    v = np.array([0.0] + [c.v_m_s for c in commands])
    omega = np.array([0.0] + [c.omega_rad_s for c in commands])
    assert abs(v).max() <= LIMITS.max_speed_m_s + ROUNDING
    assert abs(omega).max() <= LIMITS.max_turn_rate_rad_s + ROUNDING
    assert abs(np.diff(v)).max() <= LIMITS.max_acceleration_m_s2 * PERIOD_S + ROUNDING
    assert abs(np.diff(omega)).max() <= LIMITS.max_turn_acceleration_rad_s2 * PERIOD_S + ROUNDING
    assert not any(c.is_fallback for c in commands)


@TRACKERS
@pytest.mark.parametrize("direction", [1, -1])
def test_forward_and_reverse_are_followed_alike(make, direction):
    pieces = [(8.0, 0.0), (4.0, 0.3), (8.0, 0.0), (4.0, -0.3), (5.0, 0.0)]
    route = RoutePath(driven(pieces, direction=direction))
    theta = 0.0 if direction > 0 else math.pi
    rows, _, progress = close_loop(route, make, TestVehicle(theta=theta, turn_gain=0.9))
    assert progress.left_m == 0.0
    assert abs(rows[:, 1]).max() < 0.08
    assert rows[:, 2].mean() * direction > 0.5


def three_point_turn():
    """Forward through a left arc, back straight, forward again along the nose."""
    ahead = driven([(5.0, 0.0), (3.0, 0.3)])
    end, step = ahead[-1], np.arange(1, 15) * 0.3
    back = end @ poses(-step, 0 * step, 0 * step)
    again = back[-1] @ poses(step, 0 * step, 0 * step)
    return np.concatenate([ahead, back, again])


@TRACKERS
def test_cusps_are_reached_turned_and_left_again(make):
    route = RoutePath(three_point_turn())
    assert [s.direction for s in route.segments] == [1, -1, 1]
    rows, _, progress = close_loop(route, make, TestVehicle())
    assert progress.left_m == 0.0
    assert abs(rows[:, 1]).max() < 0.05
    assert rows[:, 2].min() < -0.5 and rows[:, 2].max() > 0.5


@TRACKERS
@pytest.mark.parametrize(
    ("y", "theta"), [(0.5, 0.17), (-0.5, -0.17), (1.5, 1.0), (-2.0, 1.5), (0.0, 3.0)]
)
def test_a_start_beside_the_route_even_outside_the_corridor_finds_back(make, y, theta):
    route = RoutePath(driven([(20.0, 0.0)]))
    rows, commands, _ = close_loop(route, make, TestVehicle(x=5.0, y=y, theta=theta), s=5.0)
    assert abs(rows[rows[:, 0] > 15.0, 1]).max() < 0.03
    assert max(abs(c.omega_rad_s) for c in commands) <= LIMITS.max_turn_rate_rad_s + ROUNDING


def test_within_the_corridor_the_corridor_is_followed():
    route = RoutePath(rounded_loop()[:100])
    rows, _, _ = close_loop(route, ModelPredictiveTracker, TestVehicle(y=0.4, theta=-0.1))
    assert abs(rows[:, 1]).max() < LIMITS.corridor_m


@TRACKERS
def test_a_bicycle_stays_within_its_steering(make):
    limits = TrackerParameters(vehicle="bicycle", max_curvature_1_m=0.5)
    vehicle = TestVehicle(max_curvature=0.5, turn_gain=0.95)
    route = RoutePath(rounded_loop()[:190])
    rows, commands, _ = close_loop(route, make, vehicle, limits)
    assert abs(rows[:, 1]).max() < WORST_M[make]
    assert all(abs(c.omega_rad_s) <= 0.5 * abs(c.v_m_s) + ROUNDING for c in commands)


def test_unknown_slip_in_a_turn_is_learnt_where_it_would_leave_a_steady_error():
    route = RoutePath(driven([(5.0, 0.0), (35.0, 0.2)]))
    means = []
    for spread in (0.0, 0.1):
        known = TrackerParameters(gain_std=spread, turn_bias_std_rad_s=0.1 * spread)
        rows, _, _ = close_loop(route, ModelPredictiveTracker, TestVehicle(turn_gain=0.85), known)
        means.append(abs(rows[rows[:, 0] > 25.0, 1].mean()))
    assert means[0] > 0.01
    assert means[1] < 0.5 * means[0]


def pursuit_radius(radius, gain, reach):
    """Return the radius on which pure pursuit of a circle settles when turns come out gain times.

    The vehicle on radius rho sees the goal at the angle phi = reach / R ahead, sideways
    y = rho - R cos phi, at the distance L^2 = rho^2 - 2 rho R cos phi + R^2. It is steady where
    1 / rho = gain 2 y / L^2.
    """
    phi = reach / radius

    def unsteadiness(rho):
        square = rho**2 - 2.0 * rho * radius * math.cos(phi) + radius**2
        return 2.0 * gain * (rho - radius * math.cos(phi)) / square - 1.0 / rho

    return brentq(unsteadiness, 0.9 * radius, 1.5 * radius)


@pytest.mark.parametrize("gain", [1.0, 0.85])
def test_pure_pursuit_settles_on_the_circle_of_the_closed_form(gain):
    radius = 4.0
    known = TrackerParameters(gain_std=0.0, turn_bias_std_rad_s=0.0, command_delay_s=0.0)
    route = RoutePath(driven([(3 * 2 * math.pi * radius, 1 / radius)], spacing=0.2))
    vehicle = TestVehicle(turn_gain=gain, delay_s=0.0)
    tracker, progress = PurePursuitTracker(route, known), RouteProgress(route)
    offsets = []
    for k in range(600):
        offsets.append(progress.update(vehicle.T_map_base).lateral_m)
        twist = (vehicle.v, vehicle.omega)
        command = tracker.command(vehicle.T_map_base, twist, progress.s_m, time_s=0.1 * k)
        vehicle.command(0.1 * k, command.v_m_s, command.omega_rad_s)
        vehicle.drive(0.1 * (k + 1))
    expected = radius - pursuit_radius(radius, gain, reach=1.25)
    assert np.mean(offsets[400:]) == pytest.approx(expected, abs=2e-3)  # Akima, Euler, 10 Hz


@TRACKERS
def test_what_is_not_finite_is_refused_and_leaves_the_tracker_in_order(make):
    tracker = make(RoutePath(driven([(15.0, 0.0)])), LIMITS)
    with pytest.raises(ValueError, match="T_map_base"):
        tracker.command(np.full((4, 4), np.nan), (0.0, 0.0), 0.0)
    with pytest.raises(ValueError, match="twist"):
        tracker.command(np.eye(4), (np.nan, 0.0), 0.0)
    assert tracker.command(np.eye(4), (0.0, 0.0), 0.0).v_m_s > 0.0


def test_when_the_solver_fails_pure_pursuit_takes_over_and_says_why(monkeypatch):
    route = RoutePath(driven([(15.0, 0.0)]))
    tracker, peer = ModelPredictiveTracker(route, LIMITS), PurePursuitTracker(route, LIMITS)
    build = HorizonProgram.build

    def contradictory(self, data):
        program = build(self, data)
        program.low[:5] = 1.0
        program.high[:5] = -1.0
        return program

    T = poses(np.array([1.0]), np.array([0.2]), np.array([0.0]))[0]
    with monkeypatch.context() as broken:
        broken.setattr(HorizonProgram, "build", contradictory)
        found = tracker.command(T, (0.0, 0.0), 1.0)
    expected = peer.command(T, (0.0, 0.0), 1.0)
    assert found.is_fallback and found.reason.startswith("pure pursuit: ")
    assert (found.v_m_s, found.omega_rad_s) == (expected.v_m_s, expected.omega_rad_s)
    assert not tracker.command(T, (0.0, 0.0), 1.0).is_fallback


@TRACKERS
def test_stop_brakes_at_the_limit_and_ends_at_nothing(make):
    tracker = make(RoutePath(driven([(15.0, 0.0)])), LIMITS)
    for k in range(15):
        moving = tracker.command(np.eye(4), (0.5, 0.0), 0.0, time_s=0.1 * k).v_m_s
    speeds = [tracker.stop(1.5 + 0.1 * k).v_m_s for k in range(30)]
    step = LIMITS.max_acceleration_m_s2 * PERIOD_S
    expected = [max(moving - step * (k + 1), 0.0) for k in range(30)]
    assert speeds == pytest.approx(expected, abs=1e-9)
