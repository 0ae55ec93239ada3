# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Damage in flight: what is left of thrust, momentum and voltage, against closed forms."""

import dataclasses

import numpy as np
import pytest

from aerotwin_multirotor_dynamics import (
    GRAVITY,
    BatteryParameters,
    Multirotor,
    RotorVibration,
    derived_quantities,
    hover_command,
    jam_rotor,
    layout,
    load_airframe,
    set_lost_cells,
    set_rotor_health,
)
from aerotwin_multirotor_dynamics.kernel import step_batch

DT = 0.004
HIGH = (0.0, 0.0, 1000.0)
ROUNDING = 1e-9
LAG_LEFT = 1e-6  # of a motor after 0.5 s, over its speed


def hovering(name="x500", **changes):
    airframe = dataclasses.replace(load_airframe(name), **changes)
    speed = derived_quantities(airframe).hover_speed_rad_s
    return Multirotor(airframe, p_map_body=HIGH, rotor_speed_rad_s=speed)


def fly(body, seconds):
    command = np.full(len(body.airframe.rotors), hover_command(body.airframe))
    for _ in range(round(seconds / DT)):
        body.step(command, DT)
    return body.state_vector


def at_once(body):
    """The state under a health that was just set: a step so short that nothing moves."""
    speeds = body.state_vector[layout.rotor_speeds(4)]
    body.step(None, 1e-9, rotor_speed_setpoint_rad_s=speeds)
    return body.state_vector


def test_a_propeller_that_lost_a_share_of_its_thrust_tips_and_sinks_by_that_share():
    body = hovering()
    rotor, share = 0, 0.6
    set_rotor_health(body, rotor, thrust_share=share)
    state = at_once(body)
    airframe, lost_n = body.airframe, (1.0 - share) * body.airframe.mass_kg * GRAVITY / 4.0
    assert state[layout.ACCELERATION][2] == pytest.approx(-lost_n / airframe.mass_kg, rel=1e-6)
    x, y, _ = airframe.rotors[rotor].position_m
    torque = lost_n * airframe.propeller.torque_per_thrust_m * airframe.rotors[rotor].spin
    moment = np.array([-y * lost_n, x * lost_n, torque])
    expected = moment / np.array(airframe.inertia_kg_m2)
    np.testing.assert_allclose(state[layout.ANGULAR_ACCELERATION], expected, rtol=1e-6)


def test_a_weak_motor_reaches_its_share_of_the_speed():
    body, sound = hovering(), hovering()
    set_rotor_health(body, 2, speed_share=0.8)
    weak, full = fly(body, 0.5), fly(sound, 0.5)
    speeds = layout.rotor_speeds(4)
    expected = full[speeds] * np.array([1.0, 1.0, 0.8, 1.0])
    np.testing.assert_allclose(weak[speeds], expected, rtol=LAG_LEFT)


def test_a_jammed_rotor_gives_its_angular_momentum_to_the_body():
    body = hovering()
    airframe, rotor = body.airframe, 2
    speed = body.state_vector[layout.rotor_speeds(4)][rotor]
    jam_rotor(body, rotor)
    inertia = airframe.propeller.rotor_inertia_kg_m2
    expected = airframe.rotors[rotor].spin * inertia * speed / airframe.inertia_kg_m2[2]
    assert expected < -0.3  # rad/s: not a detail
    assert body.state_vector[layout.ANGULAR_VELOCITY][2] == pytest.approx(expected, rel=ROUNDING)
    state = fly(body, 0.1)
    assert state[layout.rotor_speeds(4)][rotor] == 0.0


def test_a_rotor_that_is_mended_turns_again():
    body = hovering()
    jam_rotor(body, 1)
    fly(body, 0.05)
    set_rotor_health(body, 1)
    state = fly(body, 0.5)
    speeds = state[layout.rotor_speeds(4)]
    assert speeds[1] == pytest.approx(speeds[0], rel=LAG_LEFT)


def test_a_lost_cell_takes_its_share_of_the_voltage():
    battery = BatteryParameters(capacity_ah=1000.0, cells=4)
    body, sound = hovering(battery=battery), hovering(battery=battery)
    set_lost_cells(body, 1.0)
    ratio = fly(body, DT)[layout.BATTERY_VOLTAGE] / fly(sound, DT)[layout.BATTERY_VOLTAGE]
    assert ratio == pytest.approx(0.75, rel=1e-6)


def test_a_lost_cell_limits_the_fastest_speed():
    battery = BatteryParameters(capacity_ah=1000.0, cells=4)
    body = hovering(battery=battery)
    set_lost_cells(body, 1.0)
    for _ in range(250):
        body.step(np.ones(4), DT)
    fastest = body.airframe.motor.maximum_speed_rad_s
    speeds = body.state_vector[layout.rotor_speeds(4)]
    assert (speeds < 0.76 * fastest).all()
    assert (speeds > 0.70 * fastest).all()


def test_damage_of_one_vehicle_leaves_others_alone():
    bodies = [hovering(), hovering()]
    set_rotor_health(bodies[0], 0, thrust_share=0.5)
    states = np.array([body.state_vector for body in bodies])
    inputs = np.array([body.inputs for body in bodies])
    step_batch(states, inputs, np.array([body.constants for body in bodies]), DT)
    for row, body in zip(states, bodies, strict=True):
        body.step_state(body.state_vector, body.inputs, body.constants, DT)
        np.testing.assert_array_equal(row, body.state_vector)
    assert not np.array_equal(states[0], states[1])


def test_a_damaged_rotor_shakes_as_one_that_was_damaged_before():
    from_the_start = load_airframe("iris")
    vibration = dataclasses.replace(from_the_start.vibration, damage_kg_m=(0.0, 1e-5, 0.0, 0.0))
    from_the_start = dataclasses.replace(from_the_start, vibration=vibration)
    state = hovering("iris").state_vector
    one = RotorVibration(from_the_start, np.random.default_rng(1))
    other = RotorVibration(load_airframe("iris"), np.random.default_rng(1))
    other.damage_rotor(1, 1e-5)
    for _ in range(10):
        np.testing.assert_allclose(one.felt(DT, state), other.felt(DT, state), rtol=ROUNDING)
    other.damage_rotor(1, 0.0)
    assert not np.allclose(one.felt(DT, state), other.felt(DT, state), rtol=1e-3)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda body: set_rotor_health(body, 4), r"rotor must be in \[0, 3\], got 4"),
        (lambda body: jam_rotor(body, -1), r"rotor must be in \[0, 3\], got -1"),
        (lambda body: set_rotor_health(body, 0, speed_share=1.1), r"speed_share .* got 1.1"),
        (lambda body: set_rotor_health(body, 0, thrust_share=np.nan), r"thrust_share .* got nan"),
        (lambda body: set_lost_cells(body, 4.0), "n_cells must be at least 0 and below 4, got 4"),
    ],
)
def test_damage_that_cannot_be_is_refused(harm, words):
    with pytest.raises(ValueError, match=words):
        harm(hovering())
