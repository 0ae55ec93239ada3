# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Structured dtypes of the compiled sensors: constants, memory, truth, reading, stored noise.

The array of one record of a sensor may be part of a larger array, so that one array can hold a
whole vehicle: the state of its dynamics, its sensors, and their readings.
"""

from typing import Any

import numpy as np

ROWS = 256
"""Samples per batch of stored normal numbers."""


def _sensor(fields: list[Any], width: int) -> np.dtype[Any]:
    """Return the dtype of a sensor that takes at most `width` normal numbers per sample."""
    stored = [
        ("next", "i8"),  # index of the next unused normal number
        ("width", "i8"),  # normal numbers per sample: only nonzero noise draws any
        ("end", "i8"),  # number of stored normal numbers
    ]
    return np.dtype([*stored, *fields, ("normals", "f8", ROWS * width)], align=True)


TRIAD = np.dtype(
    [
        ("decay", "f8"),
        ("gain", "f8"),
        ("sigma", "f8"),
        ("limit", "f8"),
        ("resolution", "f8"),
        ("bias", "f8", 3),  # the Gauss-Markov bias now
        ("offset", "f8", 3),  # the constant bias: turn-on bias, hard iron
        ("matrix", "f8", (3, 3)),  # scale and misalignment, or soft iron
    ],
    align=True,
)
"""Three axes with bias, noise, a matrix, limit and steps."""
MOTION = np.dtype(
    [
        ("specific_force_m_s2", "f8", 3),
        ("angular_velocity_rad_s", "f8", 3),
        ("angular_acceleration_rad_s2", "f8", 3),
    ],
    align=True,
)
"""Truth of an IMU, at the centre of mass in body axes."""
IMU_READING = np.dtype(
    [("specific_force_m_s2", "f8", 3), ("angular_velocity_rad_s", "f8", 3)], align=True
)
"""In the axes of the IMU."""
IMU_RECORD = _sensor(
    [
        ("truth", MOTION),
        ("arm_m", "f8", 3),  # p_body_imu
        ("R_body_imu", "f8", (3, 3)),
        ("accelerometer", TRIAD),
        ("gyroscope", TRIAD),
        ("reading", IMU_READING),
    ],
    12,
)
FIELD_READING = np.dtype([("field_t", "f8", 3)], align=True)
"""In body axes."""
MAGNETOMETER_RECORD = _sensor(
    [
        ("R_map_body", "f8", (3, 3)),  # truth
        ("field_map_t", "f8", 3),  # truth
        ("triad", TRIAD),
        ("disturbance_t", "f8", 3),  # the field of motors and cables now
        ("disturbance_decay", "f8"),
        ("disturbance_gain", "f8"),
        ("reading", FIELD_READING),
    ],
    9,
)
AIR_READING = np.dtype([("pressure_pa", "f8"), ("temperature_k", "f8")], align=True)
BAROMETER_RECORD = _sensor(
    [
        ("altitude_m", "f8"),  # truth, above mean sea level
        ("decay", "f8"),
        ("gain", "f8"),
        ("sigma", "f8"),
        ("resolution", "f8"),
        ("drift_pa", "f8"),  # Gauss-Markov drift now
        ("airflow_pa", "f8"),  # error by the air about the vehicle now
        ("trend_pa", "f8"),  # turn-on bias and steady drift now
        ("trend_step_pa", "f8"),  # increment of the steady drift per sample
        ("airflow_decay", "f8"),
        ("airflow_gain", "f8"),
        ("reading", AIR_READING),
    ],
    3,
)
READINGS = np.dtype(
    [("imu", IMU_READING), ("magnetometer", FIELD_READING), ("barometer", AIR_READING)], align=True
)
INERTIAL = np.dtype(
    [
        ("motion", MOTION),  # truth
        ("R_map_body", "f8", (3, 3)),  # truth
        ("height_m", "f8"),  # truth, in map
        ("field_map_t", "f8", 3),
        ("origin_altitude_m", "f8"),  # of the origin of map, above mean sea level
        ("readings", READINGS),
        ("imu", IMU_RECORD),
        ("magnetometer", MAGNETOMETER_RECORD),
        ("barometer", BAROMETER_RECORD),
    ],
    align=True,
)
"""The three sensors behind one call."""

# Which sensors a call samples, and which of them it found to need new normal numbers afterwards.
IMU = 1
MAGNETOMETER = 2
BAROMETER = 4
ALL = IMU | MAGNETOMETER | BAROMETER
OUTSIDE_ATMOSPHERE = 8
"""Added to what a call returns when the altitude is beyond the law of the barometer."""
