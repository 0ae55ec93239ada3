# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""ArduPilot's frames: which one an airframe is, by the torques that its rotors really make."""

from dataclasses import replace

import numpy as np
import pytest

from aerotwin_ardupilot_bridge import find_frame
from aerotwin_core.errors import UserError
from aerotwin_multirotor_dynamics import Multirotor, load_airframe

AIRFRAMES = ("iris", "x500", "hummingbird", "firefly turned")
HOVER, MORE, STEP_S = 0.5, 0.1, 0.002


def airframe_of(name):
    """An airframe of aerotwin; the firefly with its rotors turning the other way."""
    airframe = load_airframe(name.partition(" ")[0])
    if "turned" not in name:
        return airframe
    return replace(airframe, rotors=tuple(replace(r, spin=-r.spin) for r in airframe.rotors))


def rotors_of(airframe):
    return [(rotor.position_m, rotor.spin) for rotor in airframe.rotors]


@pytest.mark.parametrize("name", AIRFRAMES)
def test_the_airframes_that_come_with_aerotwin_have_frames(name):
    rotors = rotors_of(airframe_of(name))
    found = find_frame(rotors)
    assert found.name == ("hexa X" if len(rotors) == 6 else "quad X")
    assert sorted(found.rotors) == list(range(len(rotors)))


def test_the_firefly_turns_its_rotors_the_other_way_and_is_refused():
    with pytest.raises(UserError, match="rotor 1 -30 degrees from the nose, counter-clockwise"):
        find_frame(rotors_of(load_airframe("firefly")))


def test_the_motors_of_an_iris_are_those_of_its_yaml_in_words():
    assert find_frame(rotors_of(load_airframe("iris"))).describe() == (
        "quad X: motor 1 front right counter-clockwise = rotor 1, motor 2 back left "
        "counter-clockwise = rotor 2, motor 3 front left clockwise = rotor 3, motor 4 back right "
        "clockwise = rotor 4"
    )


@pytest.mark.parametrize("name", AIRFRAMES)
@pytest.mark.parametrize("seed", [0, 1])
def test_rotors_in_any_order_are_found(name, seed):
    rotors = rotors_of(airframe_of(name))
    order = np.random.default_rng(seed).permutation(len(rotors))
    straight, mixed = find_frame(rotors), find_frame([rotors[k] for k in order])
    assert [int(order[k]) for k in mixed.rotors] == list(straight.rotors)
    assert straight.name == mixed.name


@pytest.mark.parametrize("name", AIRFRAMES)
def test_motors_that_turn_counter_clockwise_turn_the_nose_to_the_right(name):
    """ArduPilot yaws to the right, positive, by its motors of yaw factor CCW."""
    airframe = airframe_of(name)
    frame = find_frame(rotors_of(airframe))
    commands = np.full(len(frame.rotors), HOVER)
    words = frame.describe().removeprefix(f"{frame.name}: ").split(", ")
    for rotor, text in zip(frame.rotors, words, strict=True):
        commands[rotor] += MORE if "counter-clockwise" in text else -MORE
    body = Multirotor(airframe, p_map_body=(0.0, 0.0, 10.0), q_map_body=(0.0, 0.0, 0.0, 1.0))
    for _ in range(100):
        body.step(commands, STEP_S, is_armed=True)
    assert body.state.omega_map_body_in_body[2] < -0.05


@pytest.mark.parametrize("name", AIRFRAMES)
def test_motors_in_front_lift_the_nose(name):
    airframe = airframe_of(name)
    frame = find_frame(rotors_of(airframe))
    words = frame.describe().removeprefix(f"{frame.name}: ").split(", ")
    commands = np.full(len(frame.rotors), HOVER)
    for rotor, text in zip(frame.rotors, words, strict=True):
        commands[rotor] += MORE if "front" in text else -MORE if "back" in text else 0.0
    body = Multirotor(airframe, p_map_body=(0.0, 0.0, 10.0), q_map_body=(0.0, 0.0, 0.0, 1.0))
    for _ in range(50):
        body.step(commands, STEP_S, is_armed=True)
    assert body.state.omega_map_body_in_body[1] < -0.1  # FLU: nose up is negative


def test_a_frame_that_ardupilot_does_not_have_is_refused_in_words():
    iris = load_airframe("iris")
    turned = replace(iris, rotors=(replace(iris.rotors[0], spin=-1), *iris.rotors[1:]))
    with pytest.raises(UserError) as refused:
        find_frame(rotors_of(turned))
    assert "expected one of ArduPilot's frames (quad X, quad plus" in str(refused.value)
    assert "degrees from the nose, clockwise, rotor 2" in str(refused.value)
