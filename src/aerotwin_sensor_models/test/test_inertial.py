# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Three sensors behind one compiled call: the same bytes as one by one."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.kernel_cache import njit
from aerotwin_sensor_models import (
    Barometer,
    Imu,
    InertialUnit,
    Magnetometer,
    layout,
    load_preset,
    sample_inertial,
    seed_sequence,
)

DT = 0.004
FIELD = np.array([1.4e-6, 21.5e-6, -43.3e-6])
ORIGIN_ALTITUDE = 488.0
N_SAMPLES = 3 * layout.ROWS + 7  # normal numbers are drawn anew on the way


def sensors(is_ideal=False, seed=3):
    names = ("ideal",) * 3 if is_ideal else ("adis16448", "default", "default")
    kinds = ((Imu, "imu"), (Magnetometer, "magnetometer"), (Barometer, "barometer"))
    return [
        kind(load_preset(sensor, name), seed_sequence(seed, 0, sensor))
        for (kind, sensor), name in zip(kinds, names)
    ]


def unit_of(parts):
    """Return a unit in the middle of another array, and that array."""
    unit = InertialUnit(*parts, field_map_tesla=FIELD, origin_altitude_m=ORIGIN_ALTITUDE)
    whole = np.zeros(1, [("before", "f8", 31), ("unit", layout.INERTIAL), ("after", "f8", 5)])
    unit.move(whole["unit"])
    unit.tune(imu_dt=DT, magnetometer_dt=DT, barometer_dt=DT)
    return unit, whole


def truth(i):
    rng = np.random.default_rng(i)
    force, omega, alpha = rng.normal(size=(3, 3)) * [[9.0], [2.0], [5.0]]
    return force, omega, alpha, Rotation.random(random_state=i).as_matrix(), 100.0 * rng.random()


def write_truth(unit, values):
    unit.record["motion"] = values[:3]
    unit.record["R_map_body"], unit.record["height_m"] = values[3:]


def read_by_classes(parts, values):
    force, omega, alpha, R, height = values
    inertial = parts[0].sample(DT, force, omega, alpha_body=alpha)
    field = parts[1].sample(DT, R, FIELD)
    air = parts[2].sample(DT, ORIGIN_ALTITUDE + height)
    return [
        *inertial.specific_force,
        *inertial.angular_velocity,
        *field,
        air.pressure_pa,
        air.temperature_k,
    ]


@pytest.mark.parametrize("is_ideal", [False, True])
def test_the_one_call_reads_the_same_bytes_as_the_three_classes(is_ideal):
    unit, _ = unit_of(sensors(is_ideal))
    parts = sensors(is_ideal)
    for i in range(N_SAMPLES):
        values = truth(i)
        write_truth(unit, values)
        status = sample_inertial(unit.memory, layout.ALL)
        if status:
            unit.attend(status)
        expected = np.array(read_by_classes(parts, values))
        assert unit.readings.tobytes() == expected.tobytes()


def test_calls_and_samples_of_the_sensors_themselves_may_alternate():
    unit, _ = unit_of(sensors())
    parts = sensors()
    for i in range(layout.ROWS + 3):
        values = truth(i)
        expected = read_by_classes(parts, values)
        if i % 3 == 1:
            assert (
                read_by_classes((unit.imu, unit.magnetometer, unit.barometer), values) == expected
            )
            continue
        write_truth(unit, values)
        due = (layout.IMU, layout.MAGNETOMETER | layout.BAROMETER)
        for some in due if i % 3 else (layout.ALL,):
            status = sample_inertial(unit.memory, some)
            unit.attend(status)
        assert unit.readings.tolist() == expected


def test_a_sensor_that_is_not_due_keeps_its_reading_and_its_random_numbers():
    unit, _ = unit_of(sensors())
    other, _ = unit_of(sensors())
    for i in range(4):
        write_truth(unit, truth(i))
        sample_inertial(unit.memory, layout.IMU | layout.BAROMETER)
    assert np.isnan(unit.readings[6:9]).all()
    _, _, _, R, _ = truth(9)
    np.testing.assert_array_equal(
        unit.magnetometer.sample(DT, R, FIELD), other.magnetometer.sample(DT, R, FIELD)
    )


def test_another_package_calls_it_from_its_own_kernel():
    @njit
    def two_steps(memory):
        status = 0
        for height in (10.0, 20.0):
            memory.view(layout.INERTIAL)[0].height_m = height
            status |= sample_inertial(memory, 4)
        return status

    unit, _ = unit_of(sensors(is_ideal=True))
    assert two_steps(unit.memory) == 0
    pressure = unit.readings[9]
    assert pressure == Barometer.sample(sensors(is_ideal=True)[2], DT, 508.0).pressure_pa


def test_who_forgets_to_draw_reads_nothing_rather_than_old_noise():
    unit, whole = unit_of(sensors())
    write_truth(unit, truth(0))
    statuses = [sample_inertial(unit.memory, layout.ALL) for _ in range(layout.ROWS)]
    assert statuses == [0] * (layout.ROWS - 1) + [layout.ALL]
    assert np.isfinite(unit.readings).all()
    assert sample_inertial(unit.memory, layout.ALL) & layout.ALL == layout.ALL
    assert np.isnan(unit.readings).all()
    assert not whole["before"].any() and not whole["after"].any()


def test_above_the_atmosphere_the_caller_is_reported():
    unit, _ = unit_of(sensors())
    unit.record["height_m"] = 12000.0
    status = sample_inertial(unit.memory, layout.ALL)
    assert status == layout.OUTSIDE_ATMOSPHERE
    assert math.isnan(unit.readings[9])
    with pytest.raises(ValueError, match=r"-5 to 11 km above mean sea level, got 12488\.0 m"):
        unit.attend(status)


def test_the_true_biases_follow_the_sensors_into_the_arena():
    unit, _ = unit_of(sensors())
    before = unit.imu.accelerometer_bias
    np.testing.assert_array_equal(before, sensors()[0].accelerometer_bias)
    sample_inertial(unit.memory, layout.IMU)
    assert (unit.imu.accelerometer_bias != before).all()


def test_an_array_that_does_not_fit_is_refused():
    unit = InertialUnit(*sensors(), field_map_tesla=FIELD, origin_altitude_m=0.0)
    with pytest.raises(ValueError, match="must hold one"):
        unit.move(np.zeros(2, layout.INERTIAL))
    with pytest.raises(ValueError, match="must hold one"):
        unit.move(np.zeros(1, layout.IMU_RECORD))
