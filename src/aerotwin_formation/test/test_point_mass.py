# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Point masses against closed forms and a differential equation solver; gusts by statistics."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from aerotwin_formation import (
    EstimateErrorParameters,
    FleetNoise,
    FleetWindParameters,
    PointMassParameters,
    PointMassState,
    at_rest,
    point_mass_step,
)
from aerotwin_formation.fleet_noise import estimate_errors, gusts
from aerotwin_formation.limits import limited

ROUNDING = 1e-10
"""Some hundred steps of float64 of size one, through a matrix exponential."""
SOLVER = 1e-7
"""Of positions of metres, with the solver at 1e-10."""
SIGMAS = 5.0

FREE = {"maximum_acceleration_m_s2": 100.0, "maximum_speed_m_s": 100.0}
U = np.array([[1.0, -0.5, 0.25], [0.0, 2.0, -1.0]])
V0 = np.array([[0.3, 0.2, -0.1], [1.0, 0.0, 0.5]])
WIND = np.array([[3.0, -2.0, 0.5], [0.0, 1.0, 0.0]])


def moving(velocity, acceleration=0.0):
    zero = np.zeros_like(velocity)
    return PointMassState(
        position=zero, velocity=velocity, acceleration=zero + acceleration, learned_wind=zero
    )


def flown(parameters, state, command, dt, n, wind=0.0):
    for _ in range(n):
        state = point_mass_step(parameters, state, command, dt, wind=wind)
    return state


def test_the_first_order_is_an_exponential():
    p = PointMassParameters(time_constant_s=0.4, **FREE)
    state = flown(p, moving(V0), U, 0.5, 1)
    decay = math.exp(-0.5 / 0.4)
    assert state.velocity == pytest.approx(U + (V0 - U) * decay, abs=ROUNDING)
    assert state.position == pytest.approx(U * 0.5 + 0.4 * (V0 - U) * (1.0 - decay), abs=ROUNDING)
    assert state.acceleration == pytest.approx((U - state.velocity) / 0.4, abs=ROUNDING)


def test_after_its_time_constant_a_step_is_reached_to_63_per_cent():
    state = flown(PointMassParameters(time_constant_s=0.3), at_rest(np.zeros((1, 3))),
                  np.array([[1.0, 0.0, 0.0]]), 0.3, 1)  # fmt: skip
    assert state.velocity[0].tolist() == pytest.approx([0.6321205588, 0.0, 0.0], abs=ROUNDING)


@pytest.mark.parametrize("order", [1, 2])
def test_a_flight_does_not_depend_on_the_steps_it_is_cut_into(order):
    p = PointMassParameters(order=order, **FREE)
    whole = flown(p, moving(V0), U, 0.8, 1, WIND)
    cut = flown(p, moving(V0), U, 0.01, 80, WIND)
    for name in ("position", "velocity", "acceleration", "learned_wind"):
        assert getattr(cut, name) == pytest.approx(getattr(whole, name), abs=ROUNDING), name


@pytest.mark.parametrize("order", [1, 2])
def test_the_motion_in_wind_is_that_of_the_differential_equation(order):
    p = PointMassParameters(order=order, damping=0.6, natural_frequency_rad_s=4.0, **FREE)

    def rates(_, x):
        v, a, b = x[3:6], x[6:9], x[9:12]
        push = p.wind_response_1_s * (WIND[0] - b)
        if order == 1:
            a_rate, a = np.zeros(3), (U[0] - v) / p.time_constant_s
        else:
            a_rate = 16.0 * (U[0] - v) - 2.0 * 0.6 * 4.0 * a
        return np.concatenate([v, a + push, a_rate, (WIND[0] - b) / p.wind_rejection_s])

    start = np.concatenate([np.zeros(3), V0[0], np.zeros(6)])
    end = solve_ivp(rates, (0.0, 1.3), start, rtol=1e-10, atol=1e-12).y[:, -1]
    state = flown(p, moving(V0), U, 0.01, 130, WIND)
    assert state.position[0] == pytest.approx(end[:3], abs=SOLVER)
    assert state.velocity[0] == pytest.approx(end[3:6], abs=SOLVER)
    assert state.learned_wind[0] == pytest.approx(end[9:12], abs=SOLVER)


def test_a_steady_wind_that_was_learned_moves_nobody():
    wind = np.array([5.0, 0.0, 0.0])
    state = flown(PointMassParameters(), at_rest(U, wind=wind), 0.0 * U, 0.01, 100, wind)
    assert state.position == pytest.approx(U, abs=ROUNDING)


def test_a_gust_pushes_with_the_wind():
    state = flown(PointMassParameters(), at_rest(U), 0.0 * U, 0.01, 50, np.array([4.0, 0.0, 0.0]))
    assert (state.position - U)[:, 0].min() > 0.01
    assert (state.position - U)[:, 1:] == pytest.approx(np.zeros((2, 2)), abs=ROUNDING)


def test_a_command_beyond_the_limit_of_acceleration_is_a_ramp():
    p = PointMassParameters(time_constant_s=0.01, maximum_acceleration_m_s2=2.0)
    far = np.array([[5.0, 0.0, 0.0]])
    state = moving(np.zeros((1, 3)))
    speeds = []
    for _ in range(100):
        state = point_mass_step(p, state, far, 0.001)
        speeds.append(state.velocity[0, 0])
    # a ramp at the limit as the step begins, an exponential within the step: 5 % less
    assert np.diff(speeds).max() <= 0.002 + ROUNDING
    assert np.diff(speeds).min() > 0.0019
    assert np.linalg.norm(state.acceleration) == pytest.approx(2.0, abs=ROUNDING)


def test_the_second_order_stays_within_its_acceleration():
    p = PointMassParameters(order=2, maximum_acceleration_m_s2=1.5)
    state, largest = at_rest(np.zeros((1, 3))), 0.0
    for _ in range(600):
        state = point_mass_step(p, state, np.array([[4.0, 3.0, 0.0]]), 0.01)
        largest = max(largest, float(np.linalg.norm(state.acceleration)))
    assert largest == pytest.approx(1.5, abs=ROUNDING)
    assert state.velocity[0] == pytest.approx([4.0, 3.0, 0.0], abs=1e-3)  # after 6 s


@pytest.mark.parametrize("order", [1, 2])
def test_no_command_makes_a_vehicle_faster_than_its_limit(order):
    p = PointMassParameters(order=order, maximum_speed_m_s=2.0)
    state = flown(p, at_rest(np.zeros((1, 3))), np.array([[30.0, 40.0, 0.0]]), 0.01, 1000)
    assert state.velocity[0] == pytest.approx([1.2, 1.6, 0.0], abs=1e-6)  # after 10 s


def test_vehicles_do_not_change_each_other():
    p = PointMassParameters(order=2)
    both = flown(p, moving(V0), U, 0.01, 30, WIND)
    alone = flown(p, moving(V0[1:]), U[1:], 0.01, 30, WIND[1:])
    assert both.position[1:] == pytest.approx(alone.position, abs=ROUNDING)


def test_limited_vectors_keep_their_direction():
    vectors = np.random.default_rng(2).normal(size=(50, 3))
    found = limited(vectors, 1.0)
    lengths = np.linalg.norm(vectors, axis=1)
    assert found == pytest.approx(vectors / np.maximum(lengths, 1.0)[:, None], abs=ROUNDING)


def test_gusts_have_their_deviation_correlation_and_shared_part():
    """Over 20,000 vehicles at two times: one sample of the shared part, many of the rest."""
    noise = FleetNoise(20_000, shared=0.0, own=1.5, time_s=2.0, rng=np.random.default_rng(3))
    first = noise.values
    for _ in range(100):
        noise.advance(0.01)
    second = noise.values
    error = SIGMAS / math.sqrt(first.size)
    assert second.std() == pytest.approx(1.5, rel=error)
    assert np.mean(first * second) / 1.5**2 == pytest.approx(math.exp(-0.5), abs=2.0 * error)
    parts = []
    for seed in range(400):
        p = FleetWindParameters(gust_m_s=2.0, gust_shared=0.25)
        values = gusts(p, 2, np.random.default_rng(seed)).values
        parts.append(values[0] * values[1])
    # the covariance of two vehicles is the shared variance, 1; that of the products is 4^2 + 1
    assert np.mean(parts) == pytest.approx(1.0, abs=SIGMAS * math.sqrt(17.0 / 1200.0))


def test_errors_that_all_share_move_all_alike():
    p = EstimateErrorParameters(shared_m=2.0)
    values = estimate_errors(p, 5, np.random.default_rng(1)).values
    assert np.ptp(values, axis=0) == pytest.approx(np.zeros(3), abs=ROUNDING)
    assert np.abs(values).max() > 0.1
