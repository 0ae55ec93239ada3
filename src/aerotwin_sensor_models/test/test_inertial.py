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
    TruthPlaces,
    layout,
    load_preset,
    sample_inertial,
    seed_sequence,
)

DT = 0.004
FIELD = np.array([1.4e-6, 21.5e-6, -43.3e-6])
ORIGIN_ALTITUDE = 488.0
PLACES = TruthPlaces(
    specific_force=19, angular_velocity=10, angular_acceleration=16, rotation=22, height=2
)
"""Those of the state of a multirotor, as an example."""
N_TRUTH = 31
N_SAMPLES = 3 * layout.ROWS + 7  # normal numbers are drawn anew on the way


def sensors(is_ideal=False, seed=3):
    names = ("ideal",) * 3 if is_ideal else ("adis16448", "default", "default")
    kinds = ((Imu, "imu"), (Magnetometer, "magnetometer"), (Barometer, "barometer"))
    return [
        kind(load_preset(sensor, name), seed_sequence(seed, 0, sensor))
        for (kind, sensor), name in zip(kinds, names)
    ]


def unit_of(parts, n_before=N_TRUTH, n_after=5):
    unit = InertialUnit(*parts, field_map_tesla=FIELD, origin_altitude_m=ORIGIN_ALTITUDE)
    arena = np.zeros(n_before + unit.length + n_after)
    unit.move(arena, n_before, PLACES)
    unit.tune(imu_dt=DT, magnetometer_dt=DT, barometer_dt=DT)
    return unit, arena


def truth(i):
    rng = np.random.default_rng(i)
    force, omega, alpha = rng.normal(size=(3, 3)) * [[9.0], [2.0], [5.0]]
    return force, omega, alpha, Rotation.random(random_state=i).as_matrix(), 100.0 * rng.random()


def write_truth(arena, values):
    arena[19:22], arena[10:13], arena[16:19] = values[:3]
    arena[22:31], arena[2] = values[3].ravel(), values[4]


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
    unit, arena = unit_of(sensors(is_ideal))
    parts = sensors(is_ideal)
    for i in range(N_SAMPLES):
        values = truth(i)
        write_truth(arena, values)
        status = sample_inertial(arena, unit.start, layout.ALL)
        if status:
            unit.attend(status)
        expected = np.array(read_by_classes(parts, values))
        assert unit.readings.tobytes() == expected.tobytes()


def test_calls_and_samples_of_the_sensors_themselves_may_alternate():
    unit, arena = unit_of(sensors())
    parts = sensors()
    for i in range(layout.ROWS + 3):
        values = truth(i)
        expected = read_by_classes(parts, values)
        if i % 3 == 1:
            assert (
                read_by_classes((unit.imu, unit.magnetometer, unit.barometer), values) == expected
            )
            continue
        write_truth(arena, values)
        due = (layout.IMU, layout.MAGNETOMETER | layout.BAROMETER)
        for some in due if i % 3 else (layout.ALL,):
            status = sample_inertial(arena, unit.start, some)
            unit.attend(status)
        assert unit.readings.tolist() == expected


def test_a_sensor_that_is_not_due_keeps_its_reading_and_its_random_numbers():
    unit, arena = unit_of(sensors())
    other, _ = unit_of(sensors())
    for i in range(4):
        write_truth(arena, truth(i))
        sample_inertial(arena, unit.start, layout.IMU | layout.BAROMETER)
    assert np.isnan(unit.readings[6:9]).all()
    _, _, _, R, _ = truth(9)
    np.testing.assert_array_equal(
        unit.magnetometer.sample(DT, R, FIELD), other.magnetometer.sample(DT, R, FIELD)
    )


def test_another_package_calls_it_from_its_own_kernel():
    @njit
    def two_steps(arena, unit):
        status = 0
        for height in (10.0, 20.0):
            arena[2] = height
            status |= sample_inertial(arena, unit, 4)
        return status

    unit, arena = unit_of(sensors(is_ideal=True))
    assert two_steps(arena, unit.start) == 0
    pressure = unit.readings[9]
    assert pressure == Barometer.sample(sensors(is_ideal=True)[2], DT, 508.0).pressure_pa


def test_who_forgets_to_draw_reads_nothing_rather_than_old_noise():
    unit, arena = unit_of(sensors())
    write_truth(arena, truth(0))
    statuses = [sample_inertial(arena, unit.start, layout.ALL) for _ in range(layout.ROWS)]
    assert statuses == [0] * (layout.ROWS - 1) + [layout.ALL]
    assert np.isfinite(unit.readings).all()
    before = arena[unit.start + unit.length :].copy()
    assert sample_inertial(arena, unit.start, layout.ALL) & layout.ALL == layout.ALL
    assert np.isnan(unit.readings).all()
    np.testing.assert_array_equal(arena[unit.start + unit.length :], before)


def test_above_the_atmosphere_the_caller_is_reported():
    unit, arena = unit_of(sensors())
    arena[2] = 12000.0
    status = sample_inertial(arena, unit.start, layout.ALL)
    assert status == layout.OUTSIDE_ATMOSPHERE
    assert math.isnan(unit.readings[9])
    with pytest.raises(ValueError, match=r"-5 to 11 km above mean sea level, got 12488\.0 m"):
        unit.attend(status)


def test_the_true_biases_follow_the_sensors_into_the_arena():
    unit, arena = unit_of(sensors())
    before = unit.imu.accelerometer_bias
    np.testing.assert_array_equal(before, sensors()[0].accelerometer_bias)
    sample_inertial(arena, unit.start, layout.IMU)
    assert (unit.imu.accelerometer_bias != before).all()


def test_an_arena_that_does_not_fit_is_refused():
    unit = InertialUnit(*sensors(), field_map_tesla=FIELD, origin_altitude_m=0.0)
    with pytest.raises(ValueError, match="arena must hold"):
        unit.move(np.zeros(unit.length), 1, PLACES)
    with pytest.raises(ValueError, match="contiguous float64"):
        unit.move(np.zeros(2 * unit.length)[::2], 0, PLACES)
