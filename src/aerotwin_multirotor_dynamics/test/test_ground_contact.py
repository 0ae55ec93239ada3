# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Standing, sliding, taking off, landing, crashing."""

import dataclasses
import math

import numpy as np
import pytest

from aerotwin_multirotor_dynamics import (
    GRAVITY,
    BatteryParameters,
    Multirotor,
    hover_command,
    layout,
    load_airframe,
    standing_pose,
)

DT = 0.004
REST = 1e-9  # m, m/s: nothing moves but the last digits
LEVEL = np.array([0.0, 0.0, 1.0])
DISARMED = np.zeros(4)


@pytest.fixture
def iris():
    return load_airframe("iris")


def slope(degrees):
    return np.array([math.sin(math.radians(degrees)), 0.0, math.cos(math.radians(degrees))])


def stand(airframe, normal=LEVEL, **keywords):
    point = np.array([3.0, -2.0, 7.0])
    p, q = standing_pose(airframe, ground_point=point, ground_normal=normal, **keywords)
    vehicle = Multirotor(airframe, p_map_body=p, q_map_body=q)
    vehicle.step(DISARMED, DT, ground_point=point, ground_normal=normal, is_armed=False)
    return vehicle


def run(vehicle, seconds, command=DISARMED, *, is_armed=False):
    for _ in range(round(seconds / DT)):
        vehicle.step(command, DT, is_armed=is_armed)
    return vehicle.state


def test_it_stands_on_level_ground_and_feels_its_weight(iris):
    vehicle = stand(iris, yaw_rad=0.7)
    before = run(vehicle, 2.0)
    after = run(vehicle, 10.0)
    np.testing.assert_allclose(after.p_map_body, before.p_map_body, atol=REST)
    np.testing.assert_allclose(after.q_map_body, before.q_map_body, atol=REST)
    np.testing.assert_allclose(after.specific_force_in_body, GRAVITY * LEVEL, atol=REST)
    assert (after.n_contacts, after.is_crashed) == (4, False)
    # the springs give way by m g / (4 k)
    sink = 1.55 * GRAVITY / (4 * 2000.0)
    assert after.p_map_body[2] == pytest.approx(7.0 + 0.055 - sink, abs=REST)


@pytest.mark.parametrize("is_armed", [False, True])
def test_it_stands_on_a_slope_without_creeping(iris, is_armed):
    normal = slope(25.0)  # tan 25 deg = 0.47 is below the friction of 0.8
    vehicle = stand(iris, normal, yaw_rad=1.1)
    before = run(vehicle, 3.0, is_armed=is_armed)
    after = run(vehicle, 20.0, is_armed=is_armed)
    np.testing.assert_allclose(after.p_map_body, before.p_map_body, atol=REST)
    np.testing.assert_allclose(after.v_map_body, 0.0, atol=REST)
    np.testing.assert_allclose(after.omega_map_body_in_body, 0.0, atol=REST)
    start = np.array([3.0, -2.0, 7.0]) + 0.055 * normal
    assert np.linalg.norm(after.p_map_body - start) < 0.004  # springs give way, then hold
    if not is_armed:
        felt = after.R_map_body @ after.specific_force_in_body
        np.testing.assert_allclose(felt, GRAVITY * LEVEL, atol=REST)


def test_it_slides_down_a_steep_slope_as_coulomb_says(iris):
    contact = dataclasses.replace(iris.contact, friction=0.3, hull_m=())
    vehicle = stand(dataclasses.replace(iris, contact=contact), slope(30.0))
    before = run(vehicle, 1.0).v_map_body
    after = run(vehicle, 1.0).v_map_body
    gained = (after - before) @ [math.cos(math.radians(30)), 0.0, -math.sin(math.radians(30))]
    angle = math.radians(30.0)
    expected = GRAVITY * (math.sin(angle) - 0.3 * math.cos(angle))
    assert gained == pytest.approx(expected, rel=1e-3)  # the springs settle meanwhile


def test_a_push_slides_it_and_friction_stops_it_where_it_must(iris):
    contact = dataclasses.replace(iris.contact, friction=0.5, hull_m=())
    flat = dataclasses.replace(iris, contact=contact)
    p, q = standing_pose(flat, ground_point=(0, 0, 0))
    vehicle = Multirotor(flat, p_map_body=p, q_map_body=q, v_map_body=(1.0, 0.0, 0.0))
    state = run(vehicle, 2.0)
    expected = 1.0 / (2 * 0.5 * GRAVITY)
    # the anchors stretch over mu m g / (4 k) = 1 mm before they slip, and it rocks a little
    assert state.p_map_body[0] == pytest.approx(expected, rel=0.05)
    np.testing.assert_allclose(state.v_map_body, 0.0, atol=1e-6)


def test_it_takes_off_and_lands_again(iris):
    vehicle = stand(iris)
    height = vehicle.state.p_map_body[2]
    up = np.full(4, hover_command(iris) + 0.05)
    state = run(vehicle, 1.0, up, is_armed=True)
    assert state.p_map_body[2] > height + 0.3
    assert not vehicle.is_on_ground
    state = run(vehicle, 3.0, np.full(4, hover_command(iris) - 0.04), is_armed=True)
    state = run(vehicle, 2.0)
    assert vehicle.is_on_ground
    assert not vehicle.is_crashed
    assert 0.1 < state.impact_speed_m_s < 3.0
    assert state.p_map_body[2] == pytest.approx(height, abs=1e-6)


def test_the_impact_speed_is_that_of_the_fall_and_too_fast_a_crash(iris):
    for drop, is_crash in ((0.3, False), (0.8, True)):
        vehicle = Multirotor(iris, p_map_body=(0, 0, 0.055 + drop))
        while not vehicle.is_on_ground:
            vehicle.step(DISARMED, 0.001, is_armed=False)
        # seen at the end of the sub-step of 1 ms before the touch
        expected = pytest.approx(math.sqrt(2 * GRAVITY * drop), abs=0.011)
        assert vehicle.state.impact_speed_m_s == expected
        assert run(vehicle, 1.0).is_crashed is is_crash


def test_upside_down_on_the_ground_is_a_crash_until_reset(iris):
    vehicle = Multirotor(iris, p_map_body=(0, 0, 0.06), q_map_body=(1.0, 0.0, 0.0, 0.0))
    run(vehicle, 1.0)
    assert vehicle.is_crashed
    vehicle.reset(p_map_body=(0, 0, 2.0))
    assert not vehicle.is_crashed


@pytest.mark.parametrize(
    ("changes", "degrees", "is_crash"),
    [
        ({"crash_tilt_deg": 180.0}, 180.0, True),  # a hull point touches
        ({"hull_m": ()}, 80.0, True),  # two feet touch, tilted too far
        ({"hull_m": (), "crash_tilt_deg": 180.0}, 80.0, False),
    ],
)
def test_a_hull_point_on_the_ground_is_a_crash_and_so_is_too_much_tilt(
    iris, changes, degrees, is_crash
):
    contact = dataclasses.replace(iris.contact, **changes)
    half = math.radians(degrees) / 2
    vehicle = Multirotor(
        dataclasses.replace(iris, contact=contact),
        p_map_body=(0, 0, 0.28 if degrees < 90 else 0.06),
        q_map_body=(math.sin(half), 0.0, 0.0, math.cos(half)),
    )
    while not vehicle.is_on_ground:
        vehicle.step(DISARMED, 0.001, is_armed=False)
    assert vehicle.is_crashed is is_crash


def test_it_does_not_fall_through_the_ground_from_high_up(iris):
    vehicle = Multirotor(iris, p_map_body=(0, 0, 10.0), omega_map_body_in_body=(2, 3, 1))
    state = run(vehicle, 8.0)
    assert state.is_crashed
    assert 0.0 < state.p_map_body[2] < 0.4
    np.testing.assert_allclose(state.v_map_body, 0.0, atol=1e-6)


def test_the_ground_never_pulls(iris):
    propeller = dataclasses.replace(iris.propeller, ground_effect=0.0)
    vehicle = stand(dataclasses.replace(iris, propeller=propeller, battery=BatteryParameters()))
    full = np.full(4, 1.0)
    for _ in range(100):
        vehicle.step(full, DT)
        assert vehicle.state.specific_force_in_body[2] > 0.0
    assert not vehicle.is_on_ground
    lift = 4 * 5.84e-6 * 1100.0**2 * (1.0 - vehicle.state.v_map_body[2] / 25.0)
    assert vehicle.state.specific_force_in_body[2] == pytest.approx(lift / 1.55, rel=1e-6)


@pytest.mark.parametrize(("speed", "drop"), [(0.0, 1e-5), (0.0, 1.8), (8.0, 1.8), (30.0, 1.8)])
def test_however_fast_it_comes_the_ground_is_met_in_short_steps(iris, speed, drop):
    """Steps of 4 ms are divided before a point can touch: the fall is that of steps of 1 ms."""
    one_leg = dataclasses.replace(iris.contact, feet_m=((0.0, 0.0, -0.05),), hull_m=())
    hopper = dataclasses.replace(iris, contact=one_leg)
    start = {"p_map_body": (0, 0, 0.05 + drop), "v_map_body": (0, 0, -speed)}
    long, short = (Multirotor(hopper, **start) for _ in range(2))
    while not long.is_on_ground:
        long.step(DISARMED, DT, is_armed=False)
        for _ in range(4):
            short.step(DISARMED, DT / 4, is_armed=False)
        np.testing.assert_allclose(long.state_vector[:13], short.state_vector[:13], atol=1e-7)
    expected = math.sqrt(speed**2 + 2 * GRAVITY * drop)
    assert long.state.impact_speed_m_s == pytest.approx(expected, abs=0.011)  # a sub-step before


def test_lifted_by_hand_it_no_longer_touches(iris):
    vehicle = stand(iris)
    assert vehicle.is_on_ground
    vehicle.state_vector[layout.POSITION.start + 2] += 50.0
    vehicle.step(DISARMED, DT, is_armed=False)
    assert not vehicle.is_on_ground
    assert vehicle.state_vector[layout.rotor_setpoints(4).stop :: 4].tolist() == [0.0] * 8
