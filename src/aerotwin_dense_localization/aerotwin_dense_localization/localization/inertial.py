# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pose and velocity of a body in a map: poses fused with the samples of its IMU.

Reference: Sola 2017, Quaternion kinematics for the error-state Kalman filter, arXiv:1711.02508:
sections 5.4 and 6 with the global angular errors of section 7.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation
from scipy.stats import chi2

from aerotwin_core.frames import FloatArray, invert_transform, make_transform
from aerotwin_core.rigid_motion import cross_matrix, nearest_rotation
from aerotwin_core.time import to_seconds
from aerotwin_dense_localization.localization.inertial_samples import InertialSamples
from aerotwin_dense_localization.localization.parameters import InertialParameters
from aerotwin_stereo_odometry.covariance import compose_covariance

GRAVITY_MAP = np.array([0.0, 0.0, -9.80665])
"""Standard gravity [m/s^2]; local deviations end in the accelerometer bias."""
P, V, TURN, GYRO, ACCEL = (slice(k, k + 3) for k in range(0, 15, 3))
"""Indices of position, velocity, rotation and biases in the error state."""
N_ERRORS = 15
_POSE = np.r_[P, TURN]
_OF_POSE = np.ix_(_POSE, _POSE)  # indices of the errors of a pose in the error state
_LARGEST = np.repeat([200.0, 2000.0], 3)
"""Beyond the range of inertial sensors for vehicles: 4000 deg/s and 32 g, three to six times."""


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


@dataclass(frozen=True, kw_only=True, eq=False)
class BodyEstimate:
    """Pose and velocity of a body.

    Attributes
    ----------
    covariance : (6, 6) array
        Of position, then of rotations about the map's axes [m, rad].
    twist : (6,) array
        Velocity v_map_base_in_base [m/s], then omega_map_base_in_base [rad/s].
    twist_covariance : (6, 6) array
        All zero where the twist is unknown.
    """

    T_map_base: FloatArray
    covariance: FloatArray
    twist: FloatArray = field(default_factory=lambda: np.zeros(6))
    twist_covariance: FloatArray = field(default_factory=lambda: np.zeros((6, 6)))


class InertialFilter:
    """Error-state filter that propagates a body's motion between poses with its IMU.

    The map is level: gravity is along its -z. The filter starts at the first pose, with unknown
    velocity, and restarts when it has lost the motion. `T_base_imu` is the pose of the IMU on the
    body, identity by default; `reason` says why there is no estimate now, and is empty otherwise.

    Notes
    -----
    Readings are interpolated linearly between samples, and the last one is held until an image. The
    state is that of the IMU, so that no angular acceleration is needed. The reset of section 6.3 is
    left out: it changes the covariance by half of the small rotation that a pose corrects.
    """

    def __init__(
        self, parameters: InertialParameters | None = None, T_base_imu: FloatArray | None = None
    ) -> None:
        self.parameters = p = InertialParameters() if parameters is None else parameters
        self._gate = float(chi2.ppf(p.gate_probability, len(_POSE)))
        self._pose_noise = np.diag(
            np.repeat([p.pose_sigma_m, np.radians(p.pose_sigma_deg)], 3) ** 2
        )
        self._growth = _diagonal(
            v=p.accel_noise_m_s2_sqrt_hz, turn=p.gyro_noise_rad_s_sqrt_hz,
            gyro=p.gyro_bias_walk_rad_s2_sqrt_hz, accel=p.accel_bias_walk_m_s3_sqrt_hz,
        )  # fmt: skip
        self._prior = _diagonal(
            v=p.speed_std_m_s, turn=0.0, gyro=p.gyro_bias_std_rad_s, accel=p.accel_bias_std_m_s2
        )
        self._samples = InertialSamples(p.max_gap_s)
        self.mount(np.eye(4) if T_base_imu is None else T_base_imu)

    def mount(self, T_base_imu: FloatArray) -> None:
        """Set the pose of the IMU on the body; earlier samples and the state are dropped."""
        self.T_base_imu = T_base_imu
        self._samples.clear()
        self.restart("no pose has come")

    def restart(self, reason: str) -> None:
        """Drop the state; the filter starts again at the next pose."""
        self._state: InertialState | None = None
        self._covariance = self._prior
        self._stamp_ns, self._posed_ns, self._n_refused = 0, 0, 0
        self.reason = reason

    def add(self, stamp_ns: int, omega_imu: ArrayLike, force_imu: ArrayLike) -> None:
        """Add a sample: angular velocity [rad/s] and specific force [m/s^2] in IMU axes.

        A sample that is late by up to `max_gap_s` is ignored; a larger jump back in time restarts.

        Raises ValueError if the reading is not finite or beyond the range of any IMU.
        """
        reading = np.concatenate([omega_imu, force_imu])
        if not (np.abs(reading) <= _LARGEST).all():  # so is NaN
            raise ValueError(
                f"its reading must be finite, at most {_LARGEST[0]:g} rad/s and "
                f"{_LARGEST[-1]:g} m/s^2, got {reading.tolist()}"
            )
        if not self._samples.add(stamp_ns, reading):
            self.restart("the time of the IMU went back")

    def advance(self, stamp_ns: int) -> FloatArray | None:
        """Return T_map_base (4, 4) at a time [ns], not before the last; None if lost (`reason`)."""
        if loss := self._loss(stamp_ns):
            self.restart(loss)
        state = self._state
        if state is None:
            return None
        self.reason = self._lateness(stamp_ns)
        if self.reason:
            return None
        for dt, reading in zip(*self._samples.means(self._stamp_ns, stamp_ns)):
            F = transition(state, reading, dt)
            self._covariance = F @ self._covariance @ F.T + dt * self._growth
            state = stepped(state, reading, dt)
        self._hold(stamp_ns, state)
        return self._T_map_base(state)

    def correct(self, stamp_ns: int, T_map_base: FloatArray, covariance: FloatArray) -> str:
        """Correct with a pose of the body at a time [ns], not before that of the last call.

        A pose later than the samples is ignored. Returns why the pose is refused; empty otherwise.

        `covariance` (6, 6): of its position, then of rotations about the map's axes [m, rad].
        """
        T_map_imu = T_map_base @ self.T_base_imu
        lever = T_map_imu[:3, 3] - T_map_base[:3, 3]
        noise = compose_covariance(covariance + self._pose_noise, lever, 0.0)
        is_there = self.advance(stamp_ns) is not None
        if self._state is None or (is_there and self._n_refused >= self.parameters.max_refused):
            self._begin(stamp_ns, T_map_imu, noise)
            return ""
        if not is_there:
            return ""
        turn = Rotation.from_matrix(T_map_imu[:3, :3] @ self._state.R.T).as_rotvec()
        innovation = np.concatenate([T_map_imu[:3, 3] - self._state.p, turn])
        precision = np.linalg.inv(self._covariance[_OF_POSE] + noise)
        distance2 = float(innovation @ precision @ innovation)
        if not distance2 <= self._gate:
            self._n_refused += 1
            return self._refusal(innovation, distance2)
        self._on_message(self._state, innovation, self._covariance[:, _POSE] @ precision, noise)
        return ""

    def estimate(self, stamp_ns: int) -> BodyEstimate | None:
        """Return the motion of the body at the time [ns] of the last call; None if it is lost."""
        state = self._state
        if state is None or stamp_ns != self._stamp_ns:
            return None
        omega_imu = self._samples.at(self._stamp_ns)[:3]
        twist, J = body_twist(state, omega_imu, self.T_base_imu)
        read = self.parameters.gyro_noise_rad_s_sqrt_hz**2 / self._samples.period_s
        T_map_base = self._T_map_base(state)
        lever = T_map_base[:3, 3] - state.p
        return BodyEstimate(
            T_map_base=T_map_base,
            covariance=compose_covariance(self._covariance[_OF_POSE], lever, 0.0),
            twist=twist,
            twist_covariance=J @ self._covariance @ J.T + read * J[:, GYRO] @ J[:, GYRO].T,
        )

    def _loss(self, stamp_ns: int) -> str:
        """Return why the motion is no longer known at a time; empty if it is, or never was."""
        if self._state is None:
            return ""
        if stamp_ns < self._stamp_ns:
            return "the time of the images went back"
        longest_s = self.parameters.max_dead_reckoning_s
        if to_seconds(stamp_ns - self._posed_ns) > longest_s:
            return f"no pose was taken for more than {longest_s:g} s"
        return self._gap(self._stamp_ns, stamp_ns)

    def _gap(self, begin_ns: int, end_ns: int) -> str:
        """Return the gap in the samples of an interval as text; empty if it can be bridged."""
        gap_s = self._samples.gap_s(begin_ns, end_ns)
        return (
            f"no sample of the IMU for {gap_s:.2f} s" if gap_s > self.parameters.max_gap_s else ""
        )

    def _lateness(self, stamp_ns: int) -> str:
        """Return how far samples lag a time, as text; empty if the last one may be held."""
        lag_s = self._samples.lag_s(stamp_ns)
        if lag_s <= self.parameters.max_hold_s:
            return ""
        if np.isinf(lag_s):
            return "no sample of the IMU has come"
        return f"the last sample of the IMU is {lag_s:.2f} s older than the image"

    def _begin(self, stamp_ns: int, T_map_imu: FloatArray, noise: FloatArray) -> None:
        """Start at a pose; velocity and biases get their prior."""
        self._samples.has_passed(stamp_ns)
        if lack := self._lateness(stamp_ns) or self._gap(stamp_ns, stamp_ns):
            self.restart(lack)
            return
        self.restart("")
        self._covariance = self._prior.copy()
        self._covariance[_OF_POSE] = noise
        still, R = np.zeros(3), T_map_imu[:3, :3]
        self._posed_ns = stamp_ns
        self._hold(
            stamp_ns,
            InertialState(p=T_map_imu[:3, 3], v=still, R=R, gyro_bias=still, accel_bias=still),
        )

    def _refusal(self, innovation: FloatArray, distance2: float) -> str:
        shift_m, turn_rad = np.linalg.norm(innovation.reshape(2, 3), axis=1)
        return (
            f"{shift_m:.2f} m and {np.degrees(turn_rad):.1f} degrees from where the IMU led: "
            f"{distance2:.0f} squared sigmas, more than {self._gate:.0f}"
        )

    def _on_message(
        self, state: InertialState, innovation: FloatArray, gain: FloatArray, noise: FloatArray
    ) -> None:
        """Apply an innovation, with the covariance in Joseph's form (section 6.1)."""
        remaining = np.eye(N_ERRORS)
        remaining[:, _POSE] -= gain
        self._covariance = remaining @ self._covariance @ remaining.T + gain @ noise @ gain.T
        self._state = state.corrected(gain @ innovation)
        self._posed_ns, self._n_refused = self._stamp_ns, 0

    def _hold(self, stamp_ns: int, state: InertialState) -> None:
        self._state, self._stamp_ns = state, stamp_ns
        self._samples.has_passed(stamp_ns)

    def _T_map_base(self, state: InertialState) -> FloatArray:
        return make_transform(state.R, state.p) @ invert_transform(self.T_base_imu)


def _diagonal(*, v: float, turn: float, gyro: float, accel: float) -> FloatArray:
    """Return the covariance (15, 15) of these standard deviations; that of position is zero."""
    return np.diag(np.repeat([0.0, v, turn, gyro, accel], 3) ** 2)
