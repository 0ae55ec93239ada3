# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Indices of each number in the flat float64 arrays of the compiled sensors.

A sensor lives in a *block*: head, constants, memory, truth, reading, and its normal numbers drawn
ahead. A block may start at any index of any array, so that one array (an *arena*) can hold a whole
vehicle: the state of its dynamics, its sensors, and their readings. All indices are relative to the
start of their block, but for those of the truth in an inertial block, which are of the arena.
"""

# Head of every block.
NEXT = 0
"""Index of the next unused normal number among the stored ones."""
WIDTH = 1
"""Normal numbers per sample: only nonzero noise draws any."""
END = 2
"""Number of stored normal numbers."""
NORMALS = 3
"""Start of the stored normal numbers."""
N_HEAD = 4
ROWS = 256
"""Samples per batch of stored normal numbers."""

# Three axes with bias, noise, a matrix of scale and misalignment, limit and steps.
DECAY = 0
GAIN = 1
SIGMA = 2
LIMIT = 3
RESOLUTION = 4
BIAS = 5
"""Three numbers: the Gauss-Markov bias now."""
OFFSET = 8
"""Three numbers: the constant bias (turn-on bias, hard iron)."""
MATRIX = 11
"""Nine numbers, row by row: scale and misalignment, or soft iron; of the truth in sensor axes."""
N_TRIAD = 20

# IMU
IMU_TRUTH = N_HEAD
"""Body axes: specific force [m/s^2] at the centre of mass, angular velocity, its rate [rad/s^2]."""
IMU_ARM = IMU_TRUTH + 9
"""p_body_imu [m]."""
IMU_ROTATION = IMU_ARM + 3
"""R_body_imu, row by row."""
IMU_ACCELEROMETER = IMU_ROTATION + 9
IMU_GYROSCOPE = IMU_ACCELEROMETER + N_TRIAD
IMU_READING = IMU_GYROSCOPE + N_TRIAD
"""Specific force [m/s^2], then angular velocity [rad/s], IMU axes."""
N_IMU = IMU_READING + 6

# Magnetometer
MAGNETOMETER_TRUTH = N_HEAD
"""R_map_body row by row, then the field in map axes [T]."""
MAGNETOMETER_TRIAD = MAGNETOMETER_TRUTH + 12
MAGNETOMETER_DISTURBANCE = MAGNETOMETER_TRIAD + N_TRIAD
"""Three numbers: the field of motors and cables now [T], then its decay and gain per sample."""
MAGNETOMETER_READING = MAGNETOMETER_DISTURBANCE + 5
"""Field in body axes [T]."""
N_MAGNETOMETER = MAGNETOMETER_READING + 3

# Barometer; DECAY, GAIN, SIGMA and RESOLUTION as above, from BAROMETER_ERRORS on.
BAROMETER_TRUTH = N_HEAD
"""Altitude above mean sea level [m]."""
BAROMETER_ERRORS = BAROMETER_TRUTH + 1
BAROMETER_DRIFT = BAROMETER_ERRORS + 5
"""Gauss-Markov drift now [Pa]."""
BAROMETER_AIRFLOW = BAROMETER_DRIFT + 1
"""Error by the air about the vehicle now [Pa]."""
BAROMETER_TREND = BAROMETER_AIRFLOW + 1
"""Turn-on bias and steady drift now [Pa]."""
BAROMETER_TREND_STEP = BAROMETER_TREND + 1
"""Increment of the steady drift per sample [Pa]."""
BAROMETER_AIRFLOW_DECAY = BAROMETER_TREND_STEP + 1
BAROMETER_AIRFLOW_GAIN = BAROMETER_AIRFLOW_DECAY + 1
BAROMETER_READING = BAROMETER_AIRFLOW_GAIN + 1
"""Pressure [Pa], then temperature [K]."""
N_BAROMETER = BAROMETER_READING + 2

# Inertial block: the three sensors above behind one call.
IMU_BLOCK = 0
"""Start of the block of the IMU; those of the others follow it."""
MAGNETOMETER_BLOCK = 1
BAROMETER_BLOCK = 2
FORCE_PLACE = 3
"""Index in the arena of the specific force at the centre of mass, body axes [m/s^2]."""
OMEGA_PLACE = 4
"""Index in the arena of the angular velocity, body axes [rad/s]."""
ALPHA_PLACE = 5
"""Index in the arena of the rate of the angular velocity, body axes [rad/s^2]."""
ROTATION_PLACE = 6
"""Index in the arena of R_map_body, row by row."""
HEIGHT_PLACE = 7
"""Index in the arena of the height in map [m]."""
FIELD = 8
"""Three numbers: the Earth's magnetic field in map axes [T]."""
ORIGIN_ALTITUDE = 11
"""Altitude of the origin of map above mean sea level [m]."""
READINGS = 12
"""Readings: force (3), angular velocity (3), field (3), pressure, temperature."""
N_READINGS = 11
N_INERTIAL = READINGS + N_READINGS

# Which sensors a call samples, and which of them it found to need new normal numbers afterwards.
IMU = 1
MAGNETOMETER = 2
BAROMETER = 4
ALL = IMU | MAGNETOMETER | BAROMETER
OUTSIDE_ATMOSPHERE = 8
"""Added to what a call returns when the altitude is beyond the law of the barometer."""
