# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""IMU strapdown integration between samples, and the propagation of its errors.

Reference: Sola 2017, Quaternion kinematics for the error-state Kalman filter, arXiv:1711.02508: the
discrete kinematics of section 5.4 with the global angular errors of section 7.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import FloatArray, invert_transform
from aerotwin_core.rigid_motion import cross_matrix, nearest_rotation

GRAVITY_MAP = np.array([0.0, 0.0, -9.80665])
"""Standard gravity [m/s^2]; local deviations end in the accelerometer bias."""
P, V, TURN, GYRO, ACCEL = (slice(k, k + 3) for k in range(0, 15, 3))
"""Indices of position, velocity, rotation and biases in the error state."""
N_ERRORS = 15


@dataclass(frozen=True, kw_only=True, eq=False)
class InertialState:
    """Motion of an IMU in a level map, and its biases."""

    # p and v: position [m] and velocity [m/s] in map axes
    p: FloatArray  # (3,)
    v: FloatArray  # (3,)
    R: FloatArray  # (3, 3) R_map_imu
    # gyro_bias and accel_bias: in IMU axes [rad/s], [m/s^2]
    gyro_bias: FloatArray  # (3,)
    accel_bias: FloatArray  # (3,)

    def corrected(self, error: FloatArray) -> "InertialState":
        """Return the state corrected by an error (15,) (section 6.2); rotations: about map axes."""
        return InertialState(
            p=self.p + error[P],
            v=self.v + error[V],
            R=nearest_rotation(Rotation.from_rotvec(error[TURN]).as_matrix() @ self.R),
            gyro_bias=self.gyro_bias + error[GYRO],
            accel_bias=self.accel_bias + error[ACCEL],
        )


def stepped(state: InertialState, reading: FloatArray, dt: float) -> InertialState:
    """Return the state after dt [s] of a reading (6,): angular velocity, specific force.

    The force acts in the attitude at mid-step: errors are of third order in dt.
    """
    half = Rotation.from_rotvec(0.5 * dt * (reading[:3] - state.gyro_bias)).as_matrix()
    R_middle = state.R @ half
    a = R_middle @ (reading[3:] - state.accel_bias) + GRAVITY_MAP
    return InertialState(
        p=state.p + dt * (state.v + 0.5 * dt * a),
        v=state.v + dt * a,
        R=R_middle @ half,
        gyro_bias=state.gyro_bias,
        accel_bias=state.accel_bias,
    )


def transition(state: InertialState, reading: FloatArray, dt: float) -> FloatArray:
    """Return the Jacobian (15, 15) of a step with respect to the errors, to first order in dt."""
    F = np.eye(N_ERRORS)
    F[P, V] = dt * np.eye(3)
    F[V, TURN] = -dt * cross_matrix(state.R @ (reading[3:] - state.accel_bias))
    F[V, ACCEL] = F[TURN, GYRO] = -dt * state.R
    return F


def body_twist(
    state: InertialState, omega_imu: FloatArray, T_base_imu: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the twist of the body that carries the IMU, and its Jacobian.

    `omega_imu` (3,) is the measured angular velocity [rad/s].

    Returns (6,): velocity v_map_base_in_base [m/s], then omega_map_base_in_base [rad/s]. (6, 15):
    its Jacobian by the errors; that by a measurement error is its part `GYRO`.
    """
    arm = invert_transform(T_base_imu)[:3, 3]
    omega = omega_imu - state.gyro_bias
    velocity = state.R.T @ state.v + np.cross(omega, arm)
    J = np.zeros((6, N_ERRORS))
    J[:3, V], J[:3, TURN] = state.R.T, state.R.T @ cross_matrix(state.v)
    J[:3, GYRO], J[3:, GYRO] = cross_matrix(arm), -np.eye(3)
    axes = np.kron(np.eye(2), T_base_imu[:3, :3])
    return axes @ np.concatenate([velocity, omega]), axes @ J
