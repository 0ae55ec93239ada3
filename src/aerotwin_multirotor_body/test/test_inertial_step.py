# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The compiled step against the models one by one: the same to the last bit."""

import numpy as np
import pytest

from aerotwin_multirotor_body.inertial_step import InertialVehicle
from aerotwin_multirotor_dynamics import (
    Multirotor,
    hover_command,
    layout,
    load_airframe,
    multirotor,
)
from aerotwin_multirotor_dynamics.kernel import refresh_state, step_state
from aerotwin_sensor_models import (
    Barometer,
    Imu,
    InertialUnit,
    Magnetometer,
    load_preset,
    seed_sequence,
)
from aerotwin_sensor_models import layout as sensed

STEP_S = 0.004
N_STEPS = 600  # two refills of the normal numbers, which last for 256 samples
N_OWN_STEPS = 20
FIELD_MAP = np.array([1.0e-6, 2.1e-5, -4.3e-5])
ORIGIN_ALTITUDE_M = 488.0


def _sensors():
    return (
        Imu(load_preset("imu", "adis16448"), seed_sequence(7, 0, "imu")),
        Magnetometer(load_preset("magnetometer", "default"), seed_sequence(7, 0, "magnetometer")),
        Barometer(load_preset("barometer", "default"), seed_sequence(7, 0, "barometer")),
    )


def _vehicle(airframe, **options):
    body = Multirotor(airframe, p_map_body=(0.0, 0.0, 3.0))
    unit = InertialUnit(*_sensors(), field_map_tesla=FIELD_MAP, origin_altitude_m=ORIGIN_ALTITUDE_M)
    return InertialVehicle(body, unit, step_s=STEP_S, **options)


def _commands(airframe, k):
    return hover_command(airframe) + 0.02 * np.sin(0.05 * k + np.arange(len(airframe.rotors)))


def test_a_step_is_that_of_the_separate_models_to_the_last_bit():
    airframe = load_airframe("iris")
    fused, body = _vehicle(airframe), Multirotor(airframe, p_map_body=(0.0, 0.0, 3.0))
    imu, magnetometer, barometer = _sensors()
    fused.inputs[layout.IS_ARMED] = layout.ARMED
    for k in range(N_STEPS):
        before = body.state_vector.copy()
        fused.inputs[layout.COMMAND :] = _commands(airframe, k)
        fused.step()
        body.step(_commands(airframe, k), STEP_S)
        state = body.state_vector
        force = imu.sample(
            STEP_S,
            state[layout.SPECIFIC_FORCE],
            state[layout.ANGULAR_VELOCITY],
            alpha_body=state[layout.ANGULAR_ACCELERATION],
        )
        field = magnetometer.sample(STEP_S, body.R_map_body, FIELD_MAP)
        air = barometer.sample(STEP_S, ORIGIN_ALTITUDE_M + state[2])
        separate = [*force.specific_force, *force.angular_velocity, *field]
        separate += [air.pressure_pa, air.temperature_k]
        assert fused.readings.tolist() == separate
        assert fused.state.tolist() == state.tolist()
        assert fused.previous.tolist() == before.tolist()


def test_an_airframe_with_models_of_its_own_is_stepped_by_its_own_kernel(monkeypatch):
    airframe = load_airframe("iris")
    built_in = _vehicle(airframe)
    calls = []

    def own_step(*arguments):
        calls.append(arguments)
        return step_state(*arguments)

    monkeypatch.setattr(multirotor, "kernels", lambda _: (own_step, refresh_state))
    own = _vehicle(airframe)
    for k in range(N_OWN_STEPS):
        for vehicle in (built_in, own):
            vehicle.inputs[layout.IS_ARMED] = layout.ARMED
            vehicle.inputs[layout.COMMAND :] = _commands(airframe, k)
            vehicle.step()
    assert len(calls) == N_OWN_STEPS
    assert own.state.tolist() == built_in.state.tolist()
    assert own.previous.tolist() == built_in.previous.tolist()
    assert own.readings.tolist() == built_in.readings.tolist()


def test_only_sensors_that_are_due_are_sampled():
    vehicle = _vehicle(load_airframe("iris"), due=sensed.IMU)
    vehicle.step()
    assert np.isfinite(vehicle.readings[:6]).all()
    assert np.isnan(vehicle.readings[6:]).all()


def test_a_state_that_is_not_finite_is_reported():
    vehicle = _vehicle(load_airframe("iris"))
    vehicle.inputs[layout.WIND] = np.nan
    with pytest.raises(FloatingPointError, match="not finite"):
        vehicle.step()


def test_a_vehicle_above_the_atmosphere_is_reported():
    vehicle = _vehicle(load_airframe("iris"))
    vehicle.state[2] = 12_000.0
    with pytest.raises(ValueError, match="11 km"):
        vehicle.step()
