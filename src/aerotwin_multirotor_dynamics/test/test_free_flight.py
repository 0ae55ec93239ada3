# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Free flight against closed forms."""

import dataclasses
import math

import numpy as np
import pytest

from aerotwin_multirotor_dynamics import (
    GRAVITY,
    BatteryParameters,
    Multirotor,
    hover_command,
    hover_speed_rad_s,
    load_airframe,
    thrust_to_weight,
)

ROUNDING = 1e-9  # relative, some thousand steps of double arithmetic
DT = 0.004
STOPPED = np.full(4, np.nan)
HIGH = (0.0, 0.0, 1000.0)


@pytest.fixture
def iris():
    return dataclasses.replace(load_airframe("iris"), battery=BatteryParameters())


def without_air(airframe, **changes):
    """The airframe with every force of the air switched off but thrust."""
    propeller = dataclasses.replace(
        airframe.propeller,
        drag_coefficient_n_s2_per_m=0.0,
        rolling_coefficient_n_s2=0.0,
        zero_thrust_axial_speed_m_s=0.0,
    )
    return dataclasses.replace(airframe, propeller=propeller, **changes)


def fly(vehicle, command, seconds, **keywords):
    for _ in range(round(seconds / DT)):
        vehicle.step(command, DT, **keywords)
    return vehicle.state


def test_the_iris_hovers_at_the_known_speed_and_has_the_known_thrust(iris):
    assert round(hover_speed_rad_s(iris), 1) == 806.8
    assert round(hover_command(iris), 3) == 0.707
    assert round(thrust_to_weight(iris), 2) == 1.86
    assert iris.mass_kg == 1.55


def test_hover_is_an_equilibrium(iris):
    vehicle = Multirotor(iris, p_map_body=HIGH, rotor_speed_rad_s=hover_speed_rad_s(iris))
    state = fly(vehicle, np.full(4, hover_command(iris)), 5.0)
    np.testing.assert_allclose(state.p_map_body, HIGH, atol=ROUNDING)
    np.testing.assert_allclose(state.q_map_body, (0, 0, 0, 1), atol=ROUNDING)
    np.testing.assert_allclose(state.specific_force_in_body, (0, 0, GRAVITY), rtol=ROUNDING)


def test_free_fall_is_the_parabola_and_feels_nothing(iris):
    vehicle = Multirotor(without_air(iris), p_map_body=HIGH, v_map_body=(3.0, -2.0, 5.0))
    state = fly(vehicle, STOPPED, 2.0)
    expected = np.array(HIGH) + 2.0 * np.array([3.0, -2.0, 5.0]) - [0, 0, 0.5 * GRAVITY * 4.0]
    np.testing.assert_allclose(state.p_map_body, expected, rtol=ROUNDING)
    np.testing.assert_allclose(state.a_map_body, (0, 0, -GRAVITY), rtol=ROUNDING)
    np.testing.assert_allclose(state.specific_force_in_body, 0.0, atol=ROUNDING)


def test_linear_drag_leads_to_the_terminal_velocity_along_the_exponential(iris):
    drag = 0.5
    airframe = without_air(iris, linear_drag_n_s_per_m=(drag, drag, drag))
    vehicle = Multirotor(airframe, p_map_body=HIGH)
    tau, terminal = iris.mass_kg / drag, iris.mass_kg * GRAVITY / drag
    for seconds in (1.0, 4.0):
        state = fly(vehicle, STOPPED, seconds)
    expected = -terminal * (1.0 - math.exp(-5.0 / tau))
    assert state.v_map_body[2] == pytest.approx(expected, rel=ROUNDING)


def test_a_body_with_drag_drifts_with_the_wind_in_the_end(iris):
    airframe = without_air(iris, linear_drag_n_s_per_m=(2.0, 2.0, 2.0))
    vehicle = Multirotor(airframe, p_map_body=HIGH, rotor_speed_rad_s=hover_speed_rad_s(iris))
    wind = np.array([4.0, -3.0, 0.0])
    state = fly(vehicle, np.full(4, hover_command(iris)), 20.0, wind_map=wind)
    lag = math.exp(-20.0 * 2.0 / iris.mass_kg)
    np.testing.assert_allclose(state.v_map_body, wind, atol=5.0 * lag + 1e-9)


def test_torque_free_spin_keeps_energy_and_angular_momentum(iris):
    airframe = without_air(iris, inertia_kg_m2=(0.02, 0.03, 0.045))
    omega = np.array([0.3, 9.0, 0.2])  # about the middle axis: it tumbles
    vehicle = Multirotor(airframe, p_map_body=HIGH, omega_map_body_in_body=omega)
    inertia = np.array(airframe.inertia_kg_m2)
    momentum, energy = inertia * omega, 0.5 * omega @ (inertia * omega)
    turned = 0.0
    for _ in range(1000):
        vehicle.step(STOPPED, DT)
        state = vehicle.state
        rate = state.omega_map_body_in_body
        turned = max(turned, abs(rate[0]))
        step_error = 1e-7  # RK4 at 1 ms over 4 s and 9 rad/s
        assert 0.5 * rate @ (inertia * rate) == pytest.approx(energy, rel=step_error)
        carried = state.R_map_body @ (inertia * rate)
        np.testing.assert_allclose(carried, momentum, atol=step_error * np.linalg.norm(momentum))
    assert turned > 5.0  # it did tumble


def test_a_constant_spin_turns_by_rate_times_time(iris):
    vehicle = Multirotor(without_air(iris), p_map_body=HIGH, omega_map_body_in_body=(0, 0, 1.5))
    state = fly(vehicle, STOPPED, 1.0)
    half = 0.75
    np.testing.assert_allclose(state.q_map_body, (0, 0, math.sin(half), math.cos(half)), rtol=1e-9)
    # counter-clockwise seen from above: the nose has gone from x towards y
    assert state.R_map_body[1, 0] > 0.9


def test_the_step_converges_with_fourth_order(iris):
    airframe = dataclasses.replace(iris, linear_drag_n_s_per_m=(0.5, 0.3, 0.2))
    command = np.array([0.70, 0.71, 0.72, 0.705])

    def end(dt):
        vehicle = Multirotor(
            airframe, p_map_body=HIGH, omega_map_body_in_body=(6, -7, 5), v_map_body=(3, 2, 1)
        )
        for _ in range(round(0.08 / dt)):
            vehicle.step(command, dt)
        return vehicle.state_vector[:13].copy()

    # three sizes at or below the largest sub-step
    errors = [np.abs(end(dt) - end(1.25e-4)).max() for dt in (1e-3, 5e-4)]
    assert 10.0 < errors[0] / errors[1] < 22.0  # 2^4, less what the reference itself is off


def test_a_motor_follows_its_lag_exactly_up_and_down(iris):
    vehicle = Multirotor(iris, p_map_body=HIGH, rotor_speed_rad_s=500.0)
    state = fly(vehicle, (1.0, 0.0, 1.0, 0.0), 0.02)
    up, down = math.exp(-0.02 / 0.0125), math.exp(-0.02 / 0.025)
    expected = [1100.0 - 600.0 * up, 100.0 + 400.0 * down] * 2
    np.testing.assert_allclose(state.rotor_speed_rad_s, expected, rtol=ROUNDING)


def test_a_motor_without_lag_has_its_speed_from_the_start_of_the_step_on(iris):
    motor = dataclasses.replace(iris.motor, time_constant_up_s=0.0, time_constant_down_s=0.0)
    quick = dataclasses.replace(iris, motor=motor)
    for speed in (0.0, 1000.0):
        vehicle = Multirotor(quick, p_map_body=HIGH, rotor_speed_rad_s=speed)
        state = fly(vehicle, np.full(4, hover_command(iris)), 0.1)
        np.testing.assert_allclose(state.p_map_body, HIGH, atol=ROUNDING)
        np.testing.assert_allclose(state.v_map_body, 0.0, atol=ROUNDING)


def test_rotor_speeds_given_are_followed_within_the_limits_of_the_motor(iris):
    vehicle = Multirotor(iris, p_map_body=HIGH)
    for _ in range(250):
        vehicle.step(None, DT, rotor_speed_setpoint_rad_s=(700.0, -50.0, 5000.0, np.nan))
    np.testing.assert_allclose(vehicle.rotor_setpoint_rad_s, (700.0, 0.0, 1100.0, 0.0))
    np.testing.assert_allclose(vehicle.rotor_speed_rad_s, (700.0, 0.0, 1100.0, 0.0), atol=1e-6)
    for _ in range(250):
        vehicle.step(None, DT, rotor_speed_setpoint_rad_s=np.full(4, 700.0), is_armed=False)
    np.testing.assert_allclose(vehicle.rotor_speed_rad_s, 0.0, atol=1e-6)


@pytest.mark.parametrize("wrong", [{}, {"command": np.zeros(4), "speeds": np.zeros(4)}])
def test_a_step_takes_either_a_command_or_rotor_speeds(iris, wrong):
    with pytest.raises(ValueError, match="command must"):
        Multirotor(iris, p_map_body=HIGH).step(
            wrong.get("command"), DT, rotor_speed_setpoint_rad_s=wrong.get("speeds")
        )


def test_motors_idle_when_armed_and_stop_when_disarmed_or_commanded_nan(iris):
    vehicle = Multirotor(iris, p_map_body=HIGH)
    state = fly(vehicle, (0.0, -3.0, 7.0, np.nan), 1.0)
    np.testing.assert_allclose(state.rotor_speed_rad_s, (100, 100, 1100, 0), atol=1e-6)
    state = fly(vehicle, (1.0, 1.0, 1.0, 1.0), 1.0, is_armed=False)
    np.testing.assert_allclose(state.rotor_speed_rad_s, 0.0, atol=1e-6)


@pytest.mark.parametrize(
    ("rotor", "roll", "pitch", "yaw"),
    [
        (0, -1, -1, -1),  # front right, ccw: right side up = roll left, nose up, nose right
        (1, 1, 1, -1),  # back left, ccw
        (2, 1, -1, 1),  # front left, cw: nose left
        (3, -1, 1, 1),  # back right, cw
    ],
)
def test_one_faster_rotor_turns_the_vehicle_the_way_it_must(iris, rotor, roll, pitch, yaw):
    speed = np.full(4, hover_speed_rad_s(iris))
    speed[rotor] += 50.0
    alpha = Multirotor(iris, p_map_body=HIGH, rotor_speed_rad_s=speed).state.alpha_in_body
    assert np.sign(alpha).tolist() == [roll, pitch, yaw]


def test_the_moments_of_one_rotor_are_thrust_times_arm_and_the_reaction(iris):
    speed = np.array([1000.0, 0.0, 0.0, 0.0])
    thrust = 5.84  # N, from 5.84e-6 N/(rad/s)^2
    state = Multirotor(iris, p_map_body=HIGH, rotor_speed_rad_s=speed).state
    moment = np.array([-0.22, -0.13, -0.06]) * thrust
    expected = moment / [0.029125, 0.029125, 0.055225]
    np.testing.assert_allclose(state.alpha_in_body, expected, rtol=ROUNDING)


def test_h_force_and_rolling_moment_oppose_the_air_at_every_rotor(iris):
    omega = 800.0
    still = Multirotor(iris, p_map_body=HIGH, rotor_speed_rad_s=omega).state
    state = Multirotor(
        iris, p_map_body=HIGH, rotor_speed_rad_s=omega, v_map_body=(2.0, -1.0, 0.0)
    ).state
    h_force = -4 * omega * 1.75e-4 * np.array([2.0, -1.0, 0.0])
    np.testing.assert_allclose(state.a_map_body - still.a_map_body, h_force / 1.55, atol=1e-12)
    # the hubs lie 23 mm above the centre of mass; the rolling moment adds up over the rotors
    tilt = 0.023 * np.array([-h_force[1], h_force[0]])
    rolling = -4 * omega * 1e-6 * np.array([2.0, -1.0])
    expected = (tilt + rolling) / 0.029125
    np.testing.assert_allclose((state.alpha_in_body - still.alpha_in_body)[:2], expected, atol=1e-9)


def test_wind_and_motion_are_the_same_to_the_rotors(iris):
    moving = Multirotor(iris, p_map_body=HIGH, rotor_speed_rad_s=800.0, v_map_body=(-3, 2, 1))
    blown = Multirotor(iris, p_map_body=HIGH, rotor_speed_rad_s=800.0)
    moving.step(np.full(4, 0.7), DT)
    blown.step(np.full(4, 0.7), DT, wind_map=(3, -2, -1))
    np.testing.assert_allclose(
        moving.state.specific_force_in_body, blown.state.specific_force_in_body, rtol=ROUNDING
    )


def test_thrust_falls_linearly_in_climb_and_is_gone_at_25_m_s(iris):
    def lift(climb):
        return Multirotor(
            iris, p_map_body=HIGH, rotor_speed_rad_s=800.0, v_map_body=(0, 0, climb)
        ).state.specific_force_in_body[2]

    assert lift(5.0) == pytest.approx(0.8 * lift(0.0))
    assert lift(-5.0) == pytest.approx(1.2 * lift(0.0))
    assert lift(25.0) == lift(40.0) == 0.0


def test_a_nan_in_the_wind_is_an_error_and_not_a_flight(iris):
    vehicle = Multirotor(iris, p_map_body=HIGH)
    with pytest.raises(FloatingPointError):
        vehicle.step(np.zeros(4), DT, wind_map=(np.nan, 0, 0))


@pytest.mark.parametrize("wrong", [{"dt": 0.0}, {"dt": -1.0}, {"command": (0.5, 0.5)}])
def test_a_wrong_step_is_refused(iris, wrong):
    arguments = {"command": np.zeros(4), "dt": DT} | wrong
    with pytest.raises(ValueError):
        Multirotor(iris, p_map_body=HIGH).step(arguments["command"], arguments["dt"])
