# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Vehicles stepped in one call against each by itself: the same to the last bit."""

import numpy as np
import pytest

from aerotwin_core.seeds import seed_sequence
from aerotwin_multirotor_body import InertialBlock, InertialVehicle
from aerotwin_multirotor_dynamics import (
    Multirotor,
    hover_command,
    interpolate_vector,
    layout,
    load_airframe,
    seeded_vibration,
)
from aerotwin_sensor_models import Barometer, Imu, InertialUnit, Magnetometer, load_preset
from aerotwin_sensor_models import layout as sensed

STEP_S = 0.004
N, N_STEPS = 5, 600  # two refills of the normal numbers, which last for 256 samples
ALL = slice(0, N)
FIELD_MAP = np.array([1.0e-6, 2.1e-5, -4.3e-5])
ORIGIN_ALTITUDE_M = 488.0


def vehicles():
    """Return vehicles that hover, each with its own noise, of which the IMU reads every step."""
    airframe = load_airframe("iris")
    found = []
    for number in range(N):
        unit = InertialUnit(
            Imu(load_preset("imu", "adis16448"), seed_sequence(7, number, "imu")),
            Magnetometer(load_preset("magnetometer", "default"), seed_sequence(7, number, "m")),
            Barometer(load_preset("barometer", "default"), seed_sequence(7, number, "b")),
            field_map_tesla=FIELD_MAP,
            origin_altitude_m=ORIGIN_ALTITUDE_M,
        )
        body = Multirotor(airframe, p_map_body=(0.0, 0.0, 3.0 + number))
        vibration = seeded_vibration(airframe, 7, number, True)
        vehicle = InertialVehicle(body, unit, step_s=STEP_S, due=sensed.IMU, vibration=vibration)
        vehicle.inputs[layout.IS_ARMED] = layout.ARMED
        vehicle.inputs[layout.COMMAND :] = hover_command(airframe) + 0.01 * number
        found.append(vehicle)
    return found


def attend(block, movers):
    for row in np.flatnonzero(block.statuses):
        movers[row].attend(int(block.statuses[row]))


def test_a_step_of_all_is_that_of_each():
    alone, together = vehicles(), vehicles()
    block = InertialBlock(together)
    for _ in range(N_STEPS):
        for vehicle in alone:
            vehicle.step()
        for rows in (slice(0, 2), slice(2, N)):
            block.step(rows)
        attend(block, together)
        for row, vehicle in enumerate(alone):
            assert together[row].state.tolist() == vehicle.state.tolist()
            assert block.before[row].tolist() == vehicle.previous[: layout.N_HEAD].tolist()
            assert block.after[row].tolist() == vehicle.state[: layout.N_HEAD].tolist()
            assert np.array_equal(block.readings[row], vehicle.readings, equal_nan=True)


def test_sensors_that_read_within_a_step_are_those_of_each():
    alone, together = vehicles(), vehicles()
    block = InertialBlock(together)
    both = sensed.MAGNETOMETER | sensed.BAROMETER
    for k in range(N_STEPS):
        fraction = (0.25, 0.5, 1.0)[k % 3]
        block.step(ALL)
        attend(block, together)
        if k == 0:
            for vehicle in together:
                vehicle.unit.magnetometer.tune(STEP_S)
                vehicle.unit.barometer.tune(STEP_S)
        block.sample(ALL, fraction, STEP_S, both)
        attend(block, together)
        for row, vehicle in enumerate(alone):
            vehicle.step()
            state = interpolate_vector(vehicle.previous, vehicle.state, fraction, dt=STEP_S)
            if fraction == 1.0:
                state = vehicle.state
            rotation = state[layout.ROTATION].reshape(3, 3)
            field = vehicle.unit.magnetometer.sample(STEP_S, rotation, FIELD_MAP)
            air = vehicle.unit.barometer.sample(STEP_S, ORIGIN_ALTITUDE_M + float(state[2]))
            assert block.states[row].tolist() == state.tolist()
            expected = [*vehicle.readings[:6], *field, air.pressure_pa, air.temperature_k]
            assert block.readings[row].tolist() == expected


def test_nothing_is_sampled_for_the_truth_alone():
    together = vehicles()
    block = InertialBlock(together)
    block.step(ALL)
    read = block.readings.copy()
    block.sample(ALL, 0.5, STEP_S, 0)
    assert not block.statuses.any()
    assert np.array_equal(block.readings, read, equal_nan=True)


def test_one_whose_state_is_not_finite_is_told_from_the_others():
    together = vehicles()
    together[2].inputs[layout.WIND] = np.nan
    block = InertialBlock(together)
    block.step(ALL)
    assert np.flatnonzero(block.statuses).tolist() == [2]
    with pytest.raises(FloatingPointError, match="not finite"):
        together[2].attend(int(block.statuses[2]))


def test_vehicles_of_other_airframes_are_refused():
    airframe = load_airframe("firefly")
    other = vehicles()[0]
    body = Multirotor(airframe, p_map_body=(0.0, 0.0, 3.0))
    larger = InertialVehicle(body, other.unit, step_s=STEP_S)
    with pytest.raises(ValueError, match="of one length"):
        InertialBlock([*vehicles(), larger])
