# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Many vehicles in one call are each the single vehicle, bit for bit."""

import dataclasses

import numpy as np
import pytest

from aerotwin_multirotor_dynamics import Multirotor, MultirotorBatch, layout, load_airframe
from aerotwin_multirotor_dynamics.kernel import step_batch

N = 37
DT = 0.004


def test_a_batch_is_every_single_vehicle_bit_for_bit_in_the_air_and_on_the_ground():
    rng = np.random.default_rng(11)
    airframe = load_airframe("iris")
    places = np.c_[rng.uniform(-5, 5, (N, 2)), rng.uniform(0.06, 1.5, N)]
    batch = MultirotorBatch(airframe, p_map_body=places, rotor_speed_rad_s=500.0)
    singles = [Multirotor(airframe, p_map_body=p, rotor_speed_rad_s=500.0) for p in places]
    winds = rng.uniform(-3, 3, (N, 3))
    batch.inputs[:, layout.WIND : layout.WIND + 3] = winds
    touched = 0
    for _ in range(100):
        commands = rng.uniform(0.3, 0.9, (N, 4))
        batch.step(commands, DT)
        for single, command, wind in zip(singles, commands, winds, strict=True):
            single.step(command, DT, wind_map=wind)
        touched += sum(single.is_on_ground for single in singles)
    assert touched > 50
    np.testing.assert_array_equal(batch.states, [single.state_vector for single in singles])


def test_each_vehicle_of_a_batch_may_have_its_own_constants():
    light = load_airframe("iris")
    heavy = dataclasses.replace(light, mass_kg=2.0)
    vehicles = [Multirotor(a, p_map_body=(0, 0, 50), rotor_speed_rad_s=800) for a in (light, heavy)]
    states, inputs, constants = (
        np.array([getattr(v, name) for v in vehicles])
        for name in ("state_vector", "inputs", "constants")
    )
    inputs[:, layout.IS_ARMED] = layout.ARMED_BY_SPEED
    inputs[:, layout.COMMAND :] = 810.0
    assert step_batch(states, inputs, constants, DT) == 2
    for vehicle in vehicles:
        vehicle.step(None, DT, rotor_speed_setpoint_rad_s=np.full(4, 810.0))
    np.testing.assert_array_equal(states, [v.state_vector for v in vehicles])
    assert states[0, 9] != states[1, 9]


def test_disarmed_the_whole_batch_stops():
    batch = MultirotorBatch(load_airframe("iris"), p_map_body=[(0, 0, 50)], rotor_speed_rad_s=800.0)
    for _ in range(500):
        batch.step(0.7, DT, is_armed=False)
    np.testing.assert_allclose(batch.states[:, layout.rotor_speeds(4)], 0.0, atol=1e-9)


def test_what_is_not_finite_is_counted_and_a_wrong_step_refused():
    batch = MultirotorBatch(load_airframe("iris"), p_map_body=np.full((3, 3), 50.0))
    batch.inputs[1, layout.WIND] = np.nan
    with pytest.raises(FloatingPointError, match="states of 1 multirotors"):
        batch.step(0.7, DT)
    with pytest.raises(ValueError, match="dt must be positive"):
        batch.step(0.7, 0.0)
