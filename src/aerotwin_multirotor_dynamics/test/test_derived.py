# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What follows from an airframe: hover, strength, allocation; and the examples in docstrings."""

import doctest
import importlib

import numpy as np
import pytest

from aerotwin_multirotor_dynamics import (
    Multirotor,
    airframe_names,
    allocation_matrix,
    derived_quantities,
    hover_command,
    hover_speed_rad_s,
    load_airframe,
    thrust_to_weight,
)

ROUNDING = 1e-12
HIGH = (0.0, 0.0, 1000.0)


@pytest.mark.parametrize(
    ("name", "hover", "command", "ratio"),
    [
        ("iris", 806.8, 0.707, 1.86),  # published with the model
        ("x500", 769.6, 0.729, 1.69),  # published with the model
        ("hummingbird", 469.2, 0.313, 10.22),  # sqrt(0.5 * 9.81 / (4 * 5.57e-6)), from rotorpy's
        ("firefly", 541.0, 0.646, 2.40),  # sqrt(1.53 * 9.81 / (6 * 8.54858e-6)), from RotorS'
    ],
)
def test_hover_speed_and_thrust_to_weight_are_the_known_ones(name, hover, command, ratio):
    airframe = load_airframe(name)
    assert round(hover_speed_rad_s(airframe), 1) == hover
    assert round(hover_command(airframe), 3) == command
    assert round(thrust_to_weight(airframe), 2) == ratio


@pytest.mark.parametrize("name", airframe_names())
def test_every_airframe_hovers_as_derived_and_lifts_what_is_derived(name):
    airframe = load_airframe(name)
    derived = derived_quantities(airframe)
    hovering = Multirotor(airframe, p_map_body=HIGH, rotor_speed_rad_s=derived.hover_speed_rad_s)
    n = len(airframe.rotors)
    for _ in range(250):
        hovering.step(np.full(n, derived.hover_command), 0.004)
    np.testing.assert_allclose(hovering.state.p_map_body, HIGH, atol=1e-9)
    np.testing.assert_allclose(hovering.state.alpha_in_body, 0.0, atol=1e-9)
    full = Multirotor(airframe, p_map_body=HIGH)
    full.step(np.ones(n), 1e-9)
    full.reset(p_map_body=HIGH, rotor_speed_rad_s=full.rotor_setpoint_rad_s.copy())
    lift = airframe.mass_kg * full.state.specific_force_in_body[2]
    assert lift == pytest.approx(derived.maximum_thrust_n, rel=ROUNDING)
    assert derived.thrust_to_weight == pytest.approx(lift / derived.weight_n, rel=ROUNDING)


@pytest.mark.parametrize("name", airframe_names())
def test_the_allocation_matrix_is_what_every_rotor_does_to_the_body(name):
    airframe = load_airframe(name)
    allocation = allocation_matrix(airframe)
    for i in range(len(airframe.rotors)):
        speed = np.zeros(len(airframe.rotors))
        speed[i] = 700.0
        state = Multirotor(airframe, p_map_body=HIGH, rotor_speed_rad_s=speed).state
        thrust = airframe.propeller.thrust_coefficient_n_s2 * 700.0**2
        force = airframe.mass_kg * state.specific_force_in_body[2]
        moment = np.array(airframe.inertia_kg_m2) * state.alpha_in_body
        np.testing.assert_allclose(thrust * allocation[:, i], [force, *moment], atol=ROUNDING)


def test_the_allocation_of_the_iris_in_numbers():
    expected = [
        [1.0, 1.0, 1.0, 1.0],
        [-0.22, 0.20, 0.22, -0.20],
        [-0.13, 0.13, -0.13, 0.13],
        [-0.06, -0.06, 0.06, 0.06],  # counter-clockwise rotors turn the nose right
    ]
    np.testing.assert_allclose(allocation_matrix(load_airframe("iris")), expected)


def test_hover_power_is_torque_times_speed():
    # 4 rotors, each 0.06 m * 15.2055 N / 4 = 0.228 N m at 806.8 rad/s
    power = derived_quantities(load_airframe("iris")).hover_shaft_power_w
    assert power == pytest.approx(4 * 0.228083 * 806.796, rel=1e-5)


@pytest.mark.parametrize("module", ["airframe", "derived", "propeller", "wind"])
def test_the_examples_in_the_docstrings_hold(module):
    found = importlib.import_module(f"aerotwin_multirotor_dynamics.{module}")
    result = doctest.testmod(found)
    assert result.failed == 0
