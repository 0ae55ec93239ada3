# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The battery: sag, drain, what a low voltage does to the motors, and the end."""

import dataclasses
import math

import numpy as np
import pytest

from aerotwin_multirotor_dynamics import (
    BatteryParameters,
    Multirotor,
    derived_quantities,
    hover_command,
    load_airframe,
)

DT = 0.004
HIGH = (0.0, 0.0, 1000.0)
HOVER_W = 736.0645  # 4 * 0.06 m * 5.84e-6 N/(rad/s)^2 * (806.796 rad/s)^3


def iris_with(**battery):
    return dataclasses.replace(load_airframe("iris"), battery=BatteryParameters(**battery))


def hovering(airframe):
    speed = derived_quantities(airframe).hover_speed_rad_s
    return Multirotor(airframe, p_map_body=HIGH, rotor_speed_rad_s=speed)


def fly(vehicle, command, seconds):
    for _ in range(round(seconds / DT)):
        vehicle.step(np.full(4, command), DT)
    return vehicle.state


def test_without_a_battery_it_is_full_for_ever_and_gives_no_current():
    state = fly(hovering(iris_with(initial_charge=0.3)), 1.0, 1.0)
    assert state.battery_charge == 1.0
    assert state.battery_voltage_v == pytest.approx(16.8)
    assert state.battery_current_a == 0.0


def test_hover_draws_shaft_power_over_efficiency_and_what_idles():
    airframe = iris_with(capacity_ah=1000.0, motor_efficiency=0.8, idle_power_w=10.0)
    state = fly(hovering(airframe), hover_command(airframe), DT)
    power = HOVER_W / 0.8 + 10.0
    assert state.battery_current_a == pytest.approx(power / 16.8, rel=1e-4)
    assert state.battery_voltage_v == pytest.approx(16.8)  # no resistance, no sag


def test_the_terminals_sag_so_that_voltage_times_current_is_the_power():
    airframe = iris_with(capacity_ah=1000.0, resistance_ohm=0.03, motor_efficiency=1.0)
    state = fly(hovering(airframe), hover_command(airframe), 1.0)
    v, i = state.battery_voltage_v, state.battery_current_a
    assert v == pytest.approx(16.8 - 0.03 * i, abs=1e-4)  # a little charge is gone
    assert v < 15.4
    shaft = 0.06 * 5.84e-6 * (state.rotor_speed_rad_s**3).sum()
    assert v * i == pytest.approx(shaft, rel=1e-9)


def test_a_battery_that_cannot_give_the_power_gives_the_most_it_can():
    airframe = iris_with(capacity_ah=1000.0, resistance_ohm=0.2, motor_efficiency=0.8)
    vehicle = hovering(airframe)
    vehicle.step(np.full(4, hover_command(airframe)), 1e-6)
    state = vehicle.state  # 920 W are asked for, 16.8^2 / (4 * 0.2) = 353 W are there
    assert state.battery_voltage_v == pytest.approx(8.4)
    assert state.battery_current_a == pytest.approx(42.0)


def test_the_charge_follows_the_energy_taken_at_a_falling_voltage():
    """Without resistance V(c) = a + b c and c' = -P / (V Q): a c + b c^2 / 2 falls linearly."""
    airframe = iris_with(capacity_ah=0.5, motor_efficiency=1.0)
    vehicle = hovering(airframe)
    state = fly(vehicle, hover_command(airframe), 8.0)
    empty, span, seconds = 4 * 3.4, 4 * 0.8, 8.0
    left = empty + span / 2.0 - HOVER_W * seconds / (0.5 * 3600.0)  # a c + b c^2 / 2 at the end
    charge = (-empty + math.sqrt(empty**2 + 2.0 * span * left)) / span
    # current of each step's end for the whole step of 4 ms
    assert state.battery_charge == pytest.approx(charge, abs=1e-5)


def test_a_low_voltage_limits_the_speed():
    airframe = iris_with(capacity_ah=1000.0, initial_charge=0.25)
    limit = 1100.0 * 3.6 / 4.2  # the charge of half a second is 1e-5 of it
    state = fly(hovering(airframe), 1.0, 0.5)
    assert state.rotor_speed_rad_s == pytest.approx(limit, rel=1e-5)
    by_speed = Multirotor(airframe, p_map_body=HIGH)
    for _ in range(125):
        by_speed.step(None, DT, rotor_speed_setpoint_rad_s=np.full(4, 1100.0))
    assert by_speed.rotor_speed_rad_s == pytest.approx(limit, rel=1e-5)


def test_an_empty_battery_stops_the_motors_and_a_reset_fills_it():
    airframe = iris_with(capacity_ah=0.05, motor_efficiency=1.0)
    vehicle = hovering(airframe)
    expected = 0.05 * 3600.0 * (4 * 3.8) / HOVER_W  # at the mean voltage
    seconds = 0.0
    while vehicle.state.battery_charge > 0.0:
        vehicle.step(np.full(4, hover_command(airframe)), DT)
        seconds += DT
    assert seconds == pytest.approx(expected, rel=0.01)  # it sinks a little at the end
    state = fly(vehicle, 1.0, 1.0)
    assert (state.battery_charge, state.battery_current_a) == (0.0, 0.0)
    assert state.battery_voltage_v == pytest.approx(13.6)
    np.testing.assert_allclose(state.rotor_speed_rad_s, 0.0, atol=1e-9)
    vehicle.reset(p_map_body=HIGH)
    assert vehicle.state.battery_charge == 1.0


def test_a_cell_that_is_fuller_when_empty_is_refused():
    with pytest.raises(ValueError, match="empty_cell_v must be at most full_cell_v"):
        BatteryParameters(full_cell_v=3.0, empty_cell_v=3.5)
