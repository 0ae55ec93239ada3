# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The parts of a ground vehicle against closed forms: lag, delay, arc, slip, wheels on planes."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.stats import kstest

from aerotwin_core.parameters import load_parameters, to_mapping
from aerotwin_ground_dynamics import (
    NO_SLIP,
    BicycleParameters,
    BicycleState,
    CommandDelay,
    NoGroundError,
    Slip,
    SlipParameters,
    Twist,
    UnicycleParameters,
    UnicycleState,
    VelocityCommand,
    WheelParameters,
    arc,
    bicycle_step,
    lag_step,
    pose_on_ground,
    unicycle_step,
)

ROUNDING = 1e-12
"""Sums of some hundred float64 of size one."""
SOLVER = 1e-8
"""Tolerance that the differential equations are solved to."""


def test_a_lag_gets_63_per_cent_of_a_step_in_its_time_constant():
    value, mean = lag_step(0.0, 2.0, time_constant_s=0.3, limit_per_s=1e9, dt=0.3)
    assert value == pytest.approx(2.0 * (1.0 - math.exp(-1.0)), abs=ROUNDING)
    assert mean == pytest.approx(2.0 * math.exp(-1.0), abs=ROUNDING)


def test_a_lag_does_not_depend_on_the_steps_it_is_cut_into():
    whole, mean = lag_step(0.4, -1.0, time_constant_s=0.27, limit_per_s=1e9, dt=0.5)
    value, ways = 0.4, []
    for _ in range(50):
        value, part = lag_step(value, -1.0, time_constant_s=0.27, limit_per_s=1e9, dt=0.01)
        ways.append(part)
    assert value == pytest.approx(whole, abs=ROUNDING)
    assert np.mean(ways) == pytest.approx(mean, abs=ROUNDING)


def test_a_lag_without_time_constant_is_there_at_once():
    assert lag_step(1.0, 3.0, time_constant_s=0.0, limit_per_s=1e9, dt=0.1) == (3.0, 3.0)


@pytest.mark.parametrize("target", [5.0, -5.0])
def test_a_limited_lag_is_a_ramp(target):
    value, mean = lag_step(0.0, target, time_constant_s=0.01, limit_per_s=1.5, dt=0.1)
    assert value == pytest.approx(math.copysign(0.15, target), abs=ROUNDING)
    assert mean == pytest.approx(0.5 * value, abs=ROUNDING)


@pytest.mark.parametrize("turn", [0.0, 1e-5, 9.9e-5, 3e-4, 0.7, -2.0, 7.0])
def test_an_arc_ends_where_the_integral_of_its_heading_does(turn):
    way = 1.7
    share = np.polynomial.legendre.leggauss(40)
    s, weight = 0.5 * (share[0] + 1.0), 0.5 * share[1]
    expected = way * (weight @ np.cos(turn * s)), way * (weight @ np.sin(turn * s))
    assert arc(way, turn) == pytest.approx(expected, abs=ROUNDING)


def test_a_quarter_of_a_circle_to_the_left_ends_at_its_radius_ahead_and_to_the_left():
    assert arc(0.5 * math.pi * 3.0, 0.5 * math.pi) == pytest.approx((3.0, 3.0), abs=ROUNDING)


def test_a_command_acts_after_its_delay_and_not_before():
    delay = CommandDelay(50)
    delay.set_command(0, VelocityCommand(1.0, 0.0))
    delay.set_command(10, VelocityCommand(2.0, 0.0))
    assert [delay.acting(t).v_m_s for t in (49, 50, 59, 60, 1000)] == [0.0, 1.0, 1.0, 2.0, 2.0]
    with pytest.raises(ValueError, match="negative"):
        CommandDelay(-1)


def test_a_unicycle_obeys_its_limits():
    p = UnicycleParameters(v_lag_s=0.0, omega_lag_s=0.0)
    state = UnicycleState()
    speeds = []
    for _ in range(300):
        state, _ = unicycle_step(p, state, VelocityCommand(9.0, -9.0), 0.01)
        speeds.append(state.v_m_s)
    assert state.twist(p) == Twist(p.maximum_v_m_s, -p.maximum_omega_rad_s)
    assert np.diff(speeds).max() == pytest.approx(0.01 * p.maximum_acceleration_m_s2, abs=ROUNDING)
    for _ in range(600):
        state, _ = unicycle_step(p, state, VelocityCommand(-9.0, 9.0), 0.01)
    assert state.twist(p) == Twist(p.minimum_v_m_s, p.maximum_omega_rad_s)


def test_a_bicycle_turns_about_the_point_that_its_axles_point_to():
    p = BicycleParameters()
    state = BicycleState(v_m_s=1.0, steering_rad=0.3)
    # The front axle's line meets that of the rear axle at wheelbase / tan(steering).
    assert 1.0 / state.twist(p).omega_rad_s == pytest.approx(0.9 / math.tan(0.3), abs=ROUNDING)
    assert BicycleState(v_m_s=1.0, steering_rad=0.3).twist(p).omega_rad_s > 0.0


def test_a_bicycle_is_steered_to_the_curvature_that_it_is_asked_for():
    p, state = BicycleParameters(), BicycleState()
    for _ in range(1000):
        state, _ = bicycle_step(p, state, VelocityCommand(-0.8, 0.2), 0.01)
    assert state.twist(p) == pytest.approx((-0.8, 0.2), abs=1e-6)
    held, _ = bicycle_step(p, state, VelocityCommand(0.0, 0.3), 0.01)
    assert held.steering_rad == state.steering_rad


def test_a_bicycle_cannot_turn_on_the_spot_or_tighter_than_its_steering():
    p, state = BicycleParameters(), BicycleState()
    for _ in range(1000):
        state, _ = bicycle_step(p, state, VelocityCommand(0.5, 3.0), 0.01)
    assert state.steering_rad == pytest.approx(p.maximum_steering_rad, abs=ROUNDING)


def test_the_mean_of_a_bicycle_is_that_of_its_differential_equation():
    p = dataclasses.replace(BicycleParameters(), maximum_acceleration_m_s2=20.0)
    p = dataclasses.replace(p, maximum_steering_rate_rad_s=50.0)
    command, steps = VelocityCommand(1.0, 0.4), 200
    desired = math.atan(0.9 * 0.4)

    def rates(_, y):
        return [
            (1.0 - y[0]) / p.v_lag_s,
            (desired - y[1]) / p.steering_lag_s,
            y[0] * math.tan(y[1]) / 0.9,
        ]

    truth = solve_ivp(rates, (0.0, 2.0), [0.0, 0.0, 0.0], rtol=SOLVER, atol=SOLVER).y[:, -1]
    state, turn = BicycleState(), 0.0
    for _ in range(steps):
        state, mean = bicycle_step(p, state, command, 0.01)
        turn += 0.01 * mean.omega_rad_s
    assert (state.v_m_s, state.steering_rad) == pytest.approx(truth[:2], abs=1e-6)
    # The product of two means over 10 ms is off by the product of their changes / 12.
    assert turn == pytest.approx(truth[2], abs=1e-4)


def test_slip_lies_in_its_ranges_and_fills_them():
    p = SlipParameters()
    drawn = [Slip(p, np.random.default_rng(seed)) for seed in range(400)]
    v = np.array([slip.v_factor for slip in drawn])
    omega = np.array([slip.omega_factor for slip in drawn])
    assert kstest((v - 0.95) / 0.05, "uniform").pvalue > 1e-3
    assert kstest((omega - 0.85) / 0.15, "uniform").pvalue > 1e-3


def test_the_curvature_walks_with_the_way_and_not_with_the_steps():
    p = dataclasses.replace(SlipParameters(), curvature_limit_1_per_m=0.5)
    ends = {n: [] for n in (1, 16)}
    for n, found in ends.items():
        for seed in range(2000):
            slip = Slip(p, np.random.default_rng([n, seed]))
            for _ in range(n):
                slip.advance(16.0 / n)
            found.append(slip.curvature_1_per_m)
    expected = p.curvature_walk_1_per_m_sqrt_m * math.sqrt(16.0)
    sample_error = 5.0 / math.sqrt(2.0 * 2000)  # five sigma of a standard deviation
    for found in ends.values():
        assert np.std(found) == pytest.approx(expected, rel=sample_error)


def test_the_curvature_stays_within_its_limit():
    p = dataclasses.replace(SlipParameters(), curvature_limit_1_per_m=0.001)
    slip = Slip(p, np.random.default_rng(1))
    values = []
    for _ in range(500):
        slip.advance(2.0)
        values.append(slip.curvature_1_per_m)
    assert 0.0008 < np.abs(values).max() <= 0.001


def test_a_positive_curvature_bends_the_way_to_the_left_driving_ahead():
    slip = Slip(NO_SLIP, np.random.default_rng(1))
    slip.curvature_1_per_m = 0.01
    assert slip.on_ground(Twist(2.0, 0.0)) == pytest.approx((2.0, 0.02), abs=ROUNDING)
    assert slip.on_ground(Twist(-2.0, 0.0)) == pytest.approx((-2.0, -0.02), abs=ROUNDING)


def test_a_standing_vehicle_does_not_slip():
    slip = Slip(SlipParameters(), np.random.default_rng(1))
    slip.advance(100.0)
    assert slip.on_ground(Twist()) == Twist(0.0, 0.0)


def test_ranges_of_slip_the_wrong_way_round_are_refused():
    with pytest.raises(ValueError, match="exchange them"):
        SlipParameters(v_factor_minimum=0.9, v_factor_maximum=0.8)


@pytest.mark.parametrize("yaw", [0.0, 0.9, math.pi])
@pytest.mark.parametrize("ahead", [0.0, 0.45, 0.7])
def test_on_a_plane_a_vehicle_stands_in_it(yaw, ahead):
    a, b, c = 0.2, -0.1, 3.0
    wheels = WheelParameters(base_ahead_of_rear_m=ahead)
    T = pose_on_ground(1.0, 2.0, yaw, lambda x, y: a * x + b * y + c, wheels)
    normal = np.array([-a, -b, 1.0]) / math.sqrt(1.0 + a * a + b * b)
    assert T[:3, 3] == pytest.approx([1.0, 2.0, a - 0.2 + c], abs=ROUNDING)
    assert T[:3, 2] == pytest.approx(normal, abs=ROUNDING)
    assert T[:3, :3].T @ T[:3, :3] == pytest.approx(np.eye(3), abs=ROUNDING)
    assert np.linalg.det(T[:3, :3]) == pytest.approx(1.0, abs=ROUNDING)
    assert T[:2, 0] / np.hypot(*T[:2, 0]) == pytest.approx(
        [math.cos(yaw), math.sin(yaw)], abs=ROUNDING
    )


def test_uphill_ahead_lifts_the_nose_and_uphill_to_the_left_lifts_the_left_side():
    wheels = WheelParameters()
    nose = pose_on_ground(0.0, 0.0, 0.0, lambda x, y: 0.3 * x, wheels)
    side = pose_on_ground(0.0, 0.0, 0.0, lambda x, y: 0.3 * y, wheels)
    assert nose[2, 0] > 0.2 and nose[2, 1] == pytest.approx(0.0, abs=ROUNDING)
    assert side[2, 1] > 0.2 and side[2, 0] == pytest.approx(0.0, abs=ROUNDING)


def test_on_rough_ground_the_plane_is_the_least_squares_one():
    heights = np.random.default_rng(3).normal(0.0, 0.1, 4)
    wheels = WheelParameters(base_ahead_of_rear_m=0.2)
    yaw, place = 0.6, np.array([4.0, -1.0])
    T = pose_on_ground(*place, yaw, lambda x, y: heights, wheels)
    c, s = math.cos(yaw), math.sin(yaw)
    contacts = place + wheels.contacts_base @ np.array([[c, s], [-s, c]])
    plane, *_ = np.linalg.lstsq(np.column_stack([contacts, np.ones(4)]), heights, rcond=None)
    assert T[2, 3] == pytest.approx(plane @ [*place, 1.0], abs=ROUNDING)
    assert T[:2, 2] / T[2, 2] == pytest.approx(-plane[:2], abs=ROUNDING)


def test_where_a_wheel_has_no_ground_there_is_no_pose():
    with pytest.raises(NoGroundError, match=r"\(1\.00, 2\.00\)"):
        pose_on_ground(1, 2, 0.0, lambda x, y: np.where(x > 1.0, -np.inf, 0.0), WheelParameters())


@pytest.mark.parametrize("kind", [UnicycleParameters, BicycleParameters])
def test_parameters_go_through_a_file(kind):
    parameters = kind(slip=NO_SLIP, command_delay_s=0.1)
    assert load_parameters(kind, to_mapping(parameters), where="here") == parameters
