# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The variance in each message is that of reading minus truth, over many switchings-on."""

import itertools
import math

import numpy as np
import pytest

from aerotwin_core import messages
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.parameters import to_mapping
from aerotwin_sensor_models import (
    Airspeed,
    ExternalVision,
    SensorTruth,
    load_preset,
    magnetic_field_enu_tesla,
    preset_names,
    seed_sequence,
    standard_atmosphere,
)
from aerotwin_sensor_models.ros import sensor_suite
from aerotwin_sensor_models.ros.parameters import SensorsParameters
from aerotwin_sensor_models.ros.sensor_suite import SensorSuite
from aerotwin_sensor_models.ros.truth import Truth

N = 400
VARIANCE_ERROR = 5.0 * math.sqrt(2.0 / N)  # 5 sigma of a variance of N numbers
TYPES = {
    sensor_suite.IMU: "sensor_msgs/msg/Imu",
    sensor_suite.FIELD: "sensor_msgs/msg/MagneticField",
    sensor_suite.PRESSURE: "sensor_msgs/msg/FluidPressure",
    sensor_suite.FIX: "sensor_msgs/msg/NavSatFix",
}
SENSORS = ("imu", "magnetometer", "barometer", "gnss")
SETS = list(itertools.zip_longest(*(preset_names(sensor) for sensor in SENSORS), fillvalue="none"))
"""The presets of the four sensors side by side: each is in one of the sets."""


def standing(stamp_ns):
    return Truth(
        stamp_ns=stamp_ns,
        p_map_body=np.zeros(3),
        v_map_body=np.zeros(3),
        q_map_body=np.array([0.0, 0.0, 0.0, 1.0]),
        a_body=np.zeros(3),
        omega_body=np.zeros(3),
        alpha_body=np.zeros(3),
    )


def read(parameters):
    """The readings of every topic one instant after switching on, when all are due."""
    suite, found = SensorSuite(parameters), {}
    for stamp_ns in (1_000_000_000, 1_004_000_000, 1_200_000_000):
        for topic, cdr in suite.sample(standing(stamp_ns)):
            if topic in TYPES and topic not in found:
                found[topic] = messages.deserialize(cdr, TYPES[topic])
    return found


def vector(v):
    return [v.x, v.y, v.z]


def errors_and_variances(found, parameters):
    """Each reading minus the truth, and the variance in its message, both (k,)."""
    rows = {}
    if imu := found.get(sensor_suite.IMU):
        force = np.array(vector(imu.linear_acceleration)) - [0.0, 0.0, 9.81]
        rows["force"] = force, imu.linear_acceleration_covariance[::4]
        rows["rate"] = vector(imu.angular_velocity), imu.angular_velocity_covariance[::4]
    if field := found.get(sensor_suite.FIELD):
        truth = magnetic_field_enu_tesla(parameters.origin, parameters.date)
        rows["field"] = vector(field.magnetic_field) - truth, field.magnetic_field_covariance[::4]
    if air := found.get(sensor_suite.PRESSURE):
        truth = standard_atmosphere(parameters.origin_altitude_m)[0]
        rows["pressure"] = [air.fluid_pressure - truth], [air.variance]
    if fix := found.get(sensor_suite.FIX):
        plane = LocalTangentPlane(parameters.origin)
        position = plane.from_geodetic(fix.latitude, fix.longitude, fix.altitude)
        rows["position"] = position, fix.position_covariance[::4]
    return rows


@pytest.mark.parametrize("names", SETS, ids=["-".join(names) for names in SETS])
def test_the_variance_of_each_message_is_that_of_reading_minus_truth(names):
    errors, variances = {}, {}
    for seed in range(N):
        parameters = SensorsParameters(**dict(zip(SENSORS, names, strict=True)), seed=seed)
        for name, (error, variance) in errors_and_variances(read(parameters), parameters).items():
            errors.setdefault(name, []).append(error)
            variances[name] = np.array(variance)
    present = sum(name != "none" for name in names) + (names[0] != "none")  # the IMU has two
    assert len(errors) == present
    for name, rows in errors.items():
        measured = (np.array(rows) ** 2).mean(axis=0)
        # an ideal sensor is off by the rounding of its numbers
        np.testing.assert_allclose(
            measured, variances[name], rtol=VARIANCE_ERROR, atol=1e-15, err_msg=name
        )


@pytest.mark.parametrize("name", preset_names("airspeed"))
def test_airspeed_publishes_the_variance_that_it_has(name):
    still = SensorTruth(
        p_map_body=np.zeros(3),
        v_map_body=np.array([5.0, 0.0, 0.0]),
        q_map_body=np.array([0.0, 0.0, 0.0, 1.0]),
        R_map_body=np.eye(3),
        omega_map_body_in_body=np.zeros(3),
        specific_force_in_body=np.zeros(3),
        wind_map=np.zeros(3),
        altitude_amsl_m=0.0,
    )
    values = to_mapping(load_preset("airspeed", name))
    readings = [
        Airspeed(values, seed_sequence(seed, 0, "airspeed")).sample(0, still) for seed in range(N)
    ]
    pressure = np.array([reading["fluid_pressure"] for reading in readings])
    variance = ((pressure - 0.5 * 1.225 * 25.0) ** 2).mean()
    # 1.225 is the density to four digits
    assert variance == pytest.approx(readings[0]["variance"], rel=VARIANCE_ERROR, abs=1e-4)


@pytest.mark.parametrize("name", preset_names("external_vision"))
def test_vision_publishes_the_standard_deviation_of_its_white_noise(name):
    """Before it has drifted."""
    parameters = load_preset("external_vision", name)
    samples = [
        ExternalVision(parameters, seed_sequence(seed, 0, "vision")).sample(
            1e-6, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
        )
        for seed in range(N)
    ]
    position = np.array([sample.p_map_body for sample in samples])
    turn = 2.0 * np.array([s.q_map_body[:3] * np.sign(s.q_map_body[3]) for s in samples])
    for errors, std in (
        (position, samples[0].position_std_m),
        (turn, samples[0].attitude_std_rad),
    ):
        measured = (errors**2).mean(axis=0)
        np.testing.assert_allclose(measured, std**2, rtol=VARIANCE_ERROR, atol=1e-12)
