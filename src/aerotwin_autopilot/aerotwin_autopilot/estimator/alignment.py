# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""First attitude and biases from a stand-still: gravity gives the tilt, the field gives the yaw."""

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_autopilot.estimator.layout import (
    E_ACCEL,
    E_ATTITUDE,
    E_BARO,
    E_GNSS,
    E_GYRO,
    E_POSITION,
    E_VELOCITY,
    GRAVITY,
    N_ERROR,
)
from aerotwin_autopilot.parameters import EstimatorParameters

STILL_RATE_RAD_S = 0.25
"""More than any turn-on bias plus noise; less than a vehicle that is carried about."""
STILL_FORCE_M_S2 = 2.0
FIRST_YAW_STD_RAD = 0.03
FIRST_TILT_STD_RAD = 2.0e-3
FIRST_POSITION_STD_M = 0.02
"""The vehicle stands at the origin of its local frame by definition; what is uncertain is where
on Earth that is, and the GNSS bias state holds it."""
FIRST_BARO_STD_M = 0.03
FIRST_VELOCITY_STD_M_S = 0.1


class StandStill:
    """Running sums of the sensors while nothing moves; starts again when something does."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.duration = 0.0
        self.n_inertial = self.n_field = self.n_height = 0
        self.accel, self.gyro, self.field_body = np.zeros(3), np.zeros(3), np.zeros(3)
        self.height = 0.0

    def add(
        self,
        dt: float,
        accel: tuple[float, float, float],
        gyro: tuple[float, float, float],
        field_body: tuple[float, float, float] | None,
        height: float | None,
    ) -> None:
        """Add one sample, or forget everything when the vehicle moves."""
        moves = (
            max(map(abs, gyro)) > STILL_RATE_RAD_S
            or abs(float(np.linalg.norm(accel)) - GRAVITY) > STILL_FORCE_M_S2
        )
        if moves:
            self.reset()
            return
        self.duration += dt
        self.n_inertial += 1
        self.accel += accel
        self.gyro += gyro
        if field_body is not None:
            self.n_field += 1
            self.field_body += field_body
        if height is not None:
            self.n_height += 1
            self.height += height

    @property
    def missing(self) -> str:
        """What has not been heard yet, in words; empty when all sensors spoke."""
        if self.n_field == 0:
            return "no magnetometer"
        if self.n_height == 0:
            return "no barometer"
        return ""


def level(accel: np.ndarray, field_body: np.ndarray, field_angle: float) -> Rotation:
    """Return the attitude in which gravity is down and the field points at field_angle.

    Parameters
    ----------
    accel : (3,) array
        Mean specific force in body axes; upwards at rest.
    field_body : (3,) array
        Mean magnetic field in body axes (any unit).
    field_angle : float
        Direction of the horizontal field in local axes, from east towards north [rad].
    """
    up = accel / np.linalg.norm(accel)
    east_like = np.cross(np.cross(up, field_body), up)
    first = east_like / np.linalg.norm(east_like)
    second = np.cross(up, first)
    R_level_body = np.vstack([first, second, up])
    return Rotation.from_rotvec([0.0, 0.0, field_angle]) * Rotation.from_matrix(R_level_body)


def first_covariance(
    R: np.ndarray, field_body: np.ndarray, parameters: EstimatorParameters
) -> np.ndarray:
    """Return the covariance after alignment.

    The accelerometer bias tilts the first attitude, and the tilt turns the first heading: these
    errors are one, not independent, and the cross terms say so (R: local <- body). The GNSS bias
    counts from the origin, which took the first fixes' own: it begins at their white noise only.
    """
    gnss_std = parameters.gnss_position_std_m
    covariance = np.zeros((N_ERROR, N_ERROR))

    def block(at: int, std: float | tuple[float, ...]) -> None:
        covariance[at : at + 3, at : at + 3] = np.diag(np.broadcast_to(std, 3) ** 2.0)

    horizontal, vertical = (std / parameters.origin_fixes**0.5 for std in gnss_std)
    block(E_POSITION, FIRST_POSITION_STD_M)
    block(E_VELOCITY, FIRST_VELOCITY_STD_M_S)
    block(E_ATTITUDE, (FIRST_TILT_STD_RAD, FIRST_TILT_STD_RAD, FIRST_YAW_STD_RAD))
    block(E_GYRO, parameters.gyro_bias_std_rad_s)
    block(E_ACCEL, parameters.accel_bias_std_m_s2)
    block(E_GNSS, (horizontal, horizontal, vertical))
    covariance[E_BARO, E_BARO] = FIRST_BARO_STD_M**2
    east, north, up = R @ field_body
    slope = up / (east**2 + north**2)
    tilt = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]) / GRAVITY @ R
    tilt[2] = slope * (east * tilt[0] + north * tilt[1])
    attitude, accel = slice(E_ATTITUDE, E_ATTITUDE + 3), slice(E_ACCEL, E_ACCEL + 3)
    variance = parameters.accel_bias_std_m_s2**2
    covariance[attitude, attitude] += variance * tilt @ tilt.T
    covariance[attitude, accel] = variance * tilt
    covariance[accel, attitude] = variance * tilt.T
    return covariance
