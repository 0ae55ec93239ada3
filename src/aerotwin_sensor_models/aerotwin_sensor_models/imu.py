# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Inertial measurement unit: angular velocity and specific force with their errors."""

import dataclasses
import math
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.parameters import parameter
from aerotwin_sensor_models import layout as at
from aerotwin_sensor_models.block import SensorBlock
from aerotwin_sensor_models.kernels import sample_imu
from aerotwin_sensor_models.noise import gauss_markov, reading_std, require_step

GRAVITY = 9.81
"""Acceleration of free fall [m/s^2], the same as in the vehicle dynamics."""

Vector = tuple[float, float, float]
Pairs = tuple[float, float, float, float, float, float]

_TRIADS = ("accelerometer", "gyroscope")


@dataclasses.dataclass(frozen=True, kw_only=True)
class TriadParameters:
    """Errors of three orthogonal axes; the unit U is rad/s for gyroscopes, m/s^2 else.

    One class serves both, so names carry no unit; the fields that hold the triads state it.
    """

    noise_density: float = parameter(
        0.0, unit="U/√Hz", minimum=0.0, text="white noise; per sample sigma = density / sqrt(dt)"
    )
    random_walk: float = parameter(
        0.0, unit="U/s/√Hz", minimum=0.0, text="drive of the bias; its sigma = drive sqrt(tau / 2)"
    )
    correlation_time_s: float = parameter(
        1000.0, unit="s", minimum=1e-3, text="tau of the Gauss-Markov bias"
    )
    turn_on_bias_sigma: float = parameter(
        0.0, unit="U", minimum=0.0, text="constant bias, drawn once per axis"
    )
    scale: Vector = parameter(
        (0.0, 0.0, 0.0), text="scale error of each axis: 0.01 reads one percent too much"
    )
    misalignment_rad: Pairs = parameter(
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        unit="rad",
        text="what axis x sees of y, of z, axis y of x, of z, axis z of x, of y",
    )
    scale_sigma: float = parameter(
        0.0, minimum=0.0, text="further scale error, drawn once per axis"
    )
    misalignment_sigma_rad: float = parameter(
        0.0, unit="rad", minimum=0.0, text="further misalignment, drawn once per pair of axes"
    )
    saturation: float = parameter(
        0.0, unit="U", minimum=0.0, text="readings end at ± this; 0 is no limit"
    )
    resolution: float = parameter(
        0.0, unit="U", minimum=0.0, text="quantisation step; 0 is continuous"
    )

    @property
    def bias_sigma(self) -> float:
        """Standard deviation of the Gauss-Markov bias [U]."""
        return self.random_walk * math.sqrt(self.correlation_time_s / 2.0)

    def reading_std(self, rate_hz: float) -> float:
        """Return the standard deviation of a reading about the truth, over many power cycles [U].

        White noise, both biases and rounding; not scale and misalignment, which follow the truth.
        """
        white = self.noise_density * math.sqrt(rate_hz)
        parts = white, self.bias_sigma, self.turn_on_bias_sigma
        return reading_std(*parts, resolution=self.resolution)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ImuParameters:
    """An inertial measurement unit; without a mounting, its axes are those of the body."""

    rate_hz: float = parameter(250.0, unit="Hz", minimum=0.1, text="samples per second")
    lever_arm_m: Vector = parameter(
        (0.0, 0.0, 0.0), unit="m", text="place in body axes, from the centre of mass"
    )
    mounting_rpy_deg: Vector = parameter(
        (0.0, 0.0, 0.0),
        unit="deg",
        text="attitude of the IMU in the body: turns about the fixed x, y and z of the body",
    )
    gyroscope: TriadParameters = parameter(text="errors of the angular velocity [rad/s]")
    accelerometer: TriadParameters = parameter(text="errors of the specific force [m/s^2]")

    @property
    def R_body_imu(self) -> np.ndarray:
        """Mounting, (3, 3): x_body = R_body_imu @ x_imu."""
        return Rotation.from_euler("xyz", self.mounting_rpy_deg, degrees=True).as_matrix()


class ImuSample(NamedTuple):
    """One reading in the axes of the IMU: specific force [m/s^2], angular velocity [rad/s].

    A named tuple, because making a frozen dataclass takes as long as the reading itself.
    """

    specific_force: np.ndarray
    angular_velocity: np.ndarray


def specific_force(
    R_map_body: np.ndarray, a_map_body: np.ndarray, *, gravity: float = GRAVITY
) -> np.ndarray:
    """Return the reading of a perfect accelerometer at the body origin, (3,) in body axes [m/s^2].

    An accelerometer feels every force but gravity: f = R^T (a + g e_z) (Pegasus eq. 12 lacks the
    gravity). At rest and level it reads +g upwards, in free fall nothing. map is ENU; the
    acceleration is that of the body origin [m/s^2].

    Examples
    --------
    >>> specific_force(np.eye(3), np.zeros(3)).tolist()
    [0.0, 0.0, 9.81]
    """
    R, a = np.asarray(R_map_body, float), np.asarray(a_map_body, float)
    if R.shape != (3, 3) or a.shape != (3,):
        raise ValueError(f"R_map_body must be (3, 3), a_map_body (3,); got {R.shape}, {a.shape}")
    return R.T @ (a + np.array([0.0, 0.0, gravity]))


class Imu:
    """An inertial measurement unit whose biases wander over time.

    Presets of its errors: see `load_preset`. `rng` is not shared, see `seed_sequence`.

    Attributes
    ----------
    R_body_imu : (3, 3) array
        Mounting: x_body = R_body_imu @ x_imu.
    """

    def __init__(self, parameters: ImuParameters, rng: np.random.Generator) -> None:
        self.parameters = parameters
        self._triads = (parameters.accelerometer, parameters.gyroscope)
        self.R_body_imu = parameters.R_body_imu
        self._bias_sigma = [t.bias_sigma for t in self._triads]
        first = rng.standard_normal((2, 15))
        active = [t.noise_density > 0.0 for t in self._triads]
        active += [sigma > 0.0 for sigma in self._bias_sigma]
        self.block = SensorBlock(rng, at.IMU_RECORD, 3 * sum(active))
        record = self.block.record
        record["arm_m"], record["R_body_imu"] = parameters.lever_arm_m, self.R_body_imu
        for triad, sigma, numbers, name in zip(self._triads, self._bias_sigma, first, _TRIADS):
            _switch_on(record[name], triad, sigma, numbers)
        self._has_arm = any(parameters.lever_arm_m)
        self._dt = -1.0
        self.look_up()

    def look_up(self) -> None:
        """Renew the views into the block after it moved."""
        truth, reading = self.block.record["truth"], self.block.record["reading"]
        self._force, self._omega = truth["specific_force_m_s2"], truth["angular_velocity_rad_s"]
        self._alpha = truth["angular_acceleration_rad_s2"]
        self._reading = reading["specific_force_m_s2"], reading["angular_velocity_rad_s"]

    def sample(
        self,
        dt: float,
        specific_force_body: np.ndarray,
        omega_body: np.ndarray,
        *,
        alpha_body: np.ndarray | None = None,
    ) -> ImuSample:
        """Return the reading dt [s] after the last one.

        The arguments are the truth (3,) at the centre of mass, body axes: specific force [m/s^2],
        angular velocity [rad/s] and its rate [rad/s^2], which is needed only with a lever arm.
        """
        self.tune(dt)
        if alpha_body is not None:
            self._alpha[:] = alpha_body
        elif self._has_arm:
            raise ValueError("alpha_body must be given for an IMU with a lever arm")
        self._force[:] = specific_force_body
        self._omega[:] = omega_body
        block = self.block
        if sample_imu(block.memory):
            block.draw()
        force, rate = self._reading
        return ImuSample(force.copy(), rate.copy())

    @property
    def gyroscope_bias(self) -> np.ndarray:
        """Return the current true bias of the angular velocity [rad/s], for the evaluation."""
        return self._bias("gyroscope")

    @property
    def accelerometer_bias(self) -> np.ndarray:
        """Return the current true bias of the specific force [m/s^2], for the evaluation."""
        return self._bias("accelerometer")

    @property
    def gyroscope_matrix(self) -> np.ndarray:
        """Return (3, 3) scale and misalignment of the gyroscope; the identity is perfect."""
        return self._matrix("gyroscope")

    @property
    def accelerometer_matrix(self) -> np.ndarray:
        """Return (3, 3) scale and misalignment of the accelerometer; the identity is perfect."""
        return self._matrix("accelerometer")

    def tune(self, dt: float) -> None:
        """Set the noise for samples dt [s] apart; `sample` calls it."""
        if dt == self._dt:
            return
        require_step(dt)
        for triad, sigma, name in zip(self._triads, self._bias_sigma, _TRIADS):
            decay, gain = gauss_markov(dt, triad.correlation_time_s)
            record = self.block.record[name]
            record["decay"], record["gain"] = decay, gain * sigma
            record["sigma"] = triad.noise_density / math.sqrt(dt)
        self._dt = dt

    def _bias(self, triad: str) -> np.ndarray:
        record = self.block.record[triad]
        return np.asarray(record["bias"] + record["offset"])

    def _matrix(self, triad: str) -> np.ndarray:
        return np.array(self.block.record[triad]["matrix"])


def _switch_on(
    record: np.void, triad: TriadParameters, bias_sigma: float, normals: np.ndarray
) -> None:
    """Write a triad at power-on, not yet tuned; `normals` (15,) are its random errors."""
    matrix = np.eye(3)
    matrix[~np.eye(3, dtype=bool)] = triad.misalignment_rad
    matrix[~np.eye(3, dtype=bool)] += triad.misalignment_sigma_rad * normals[9:15]
    record["matrix"] = matrix + np.diag(triad.scale + triad.scale_sigma * normals[6:9])
    record["limit"] = triad.saturation if triad.saturation > 0.0 else math.inf
    record["resolution"] = triad.resolution
    record["bias"] = bias_sigma * normals[:3]
    record["offset"] = triad.turn_on_bias_sigma * normals[3:6]
