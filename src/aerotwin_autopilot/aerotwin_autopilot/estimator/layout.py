# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Indices of each quantity in the arrays of the compiled filter."""

from typing import NamedTuple

import numpy as np
from numba import from_dtype

GRAVITY = 9.80665
"""Standard gravity [m/s^2]; the difference to local gravity ends in the accelerometer bias."""

# Nominal state: p_local_body, v_local_body, q_local_body (xyzw), gyro bias, accel bias (body),
# GNSS position bias (local), barometric height bias; then the frame of external vision: where the
# local origin lies in it and by how much local axes are turned in it.
X_POSITION, X_VELOCITY, X_ATTITUDE, X_GYRO, X_ACCEL, X_GNSS, X_BARO, X_DATUM, X_TURN, N_STATE = (
    0, 3, 6, 10, 13, 16, 19, 20, 23, 24,
)  # fmt: skip

# Error state: as above, attitude as a rotation vector in local axes (true = exp(error) * nominal).
E_POSITION, E_VELOCITY, E_ATTITUDE, E_GYRO, E_ACCEL, E_GNSS, E_BARO, E_DATUM, E_TURN, N_ERROR = (
    0, 3, 6, 9, 12, 15, 18, 19, 22, 23,
)  # fmt: skip
N_CORE = E_DATUM
"""Errors without the vision frame: a covariance has this many rows until vision has come."""

# One sample in the ring of samples not yet fused.
S_TIME, S_DT, S_ACCEL, S_GYRO, S_HAS_MAG, S_MAG, S_HAS_BARO, S_BARO, S_STILL, N_SAMPLE = (
    0, 1, 2, 5, 8, 9, 12, 13, 14, 15,
)  # fmt: skip
RING_LENGTH = 128

# One GNSS fix waiting for its time: time, position, velocity, factor on the expected noise.
F_TIME, F_POSITION, F_VELOCITY, F_SCALE, N_FIX = 0, 1, 4, 7, 9
FIX_LENGTH = 8

# One pose of external vision waiting for its time: NaN where a value is not given.
V_TIME, V_POSITION, V_YAW, V_VELOCITY, V_VARIANCE_P, V_VARIANCE_YAW, V_VARIANCE_V, N_VISION = (
    0, 1, 4, 5, 8, 9, 10, 11,
)  # fmt: skip
VISION_LENGTH = 64

# Cursors of the three rings, and how many errors are alive.
(
    C_SAMPLE_HEAD, C_SAMPLE_COUNT, C_FIX_HEAD, C_FIX_COUNT, C_VISION_HEAD, C_VISION_COUNT,
    C_ALIVE, N_CURSOR,
) = range(8)  # fmt: skip

# What watchers read: normalised innovation squared per group (low-pass), streaks, counters.
(
    M_VELOCITY, M_HORIZONTAL, M_VERTICAL, M_HEADING, M_BARO, M_VISION, M_VISION_YAW,
    M_STREAK, M_VISION_STREAK, M_REFUSED, M_FUSED, N_MONITOR,
) = range(12)  # fmt: skip

# The estimate at the present instant.
O_POSITION, O_VELOCITY, O_ATTITUDE, O_RATE, O_ACCELERATION, N_OUTPUT = 0, 3, 6, 10, 13, 16


class Noise(NamedTuple):
    """Variances and densities that the compiled filter needs, all squared where they can be."""

    accel_density2: float
    gyro_density2: float
    accel_walk2: float
    gyro_walk2: float
    gnss_variance_h: float
    gnss_variance_v: float
    gnss_bias_variance_h: float
    gnss_bias_variance_v: float
    gnss_bias_time: float
    gnss_velocity_variance_h: float
    gnss_velocity_variance_v: float
    baro_variance: float
    baro_walk2: float
    heading_variance: float
    gate2: float
    delay: float
    field_angle: float
    field_slope: float


NOISE = np.dtype([(name, "f8") for name in Noise._fields], align=True)
CONTEXT = np.dtype([("is_still", "f8"), ("height_datum_m", "f8"), ("uses_field", "f8")], align=True)
"""Inputs from Python to the compiled step between steps."""
NOISE_TYPE, CONTEXT_TYPE = from_dtype(NOISE), from_dtype(CONTEXT)
