# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Inertial measurement unit: angular velocity and specific force with what spoils them."""

import dataclasses
import math

import numpy as np
from numba import float64, njit, void

from aerotwin_core.parameters import parameter
from aerotwin_sensor_models.noise import NormalRows, gauss_markov, require_step

GRAVITY = 9.81
"""Acceleration of free fall [m/s^2], the same as in the vehicle dynamics."""

Vector = tuple[float, float, float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TriadParameters:
    """Errors of three orthogonal axes; the unit U is rad/s for gyroscopes, m/s^2 else.

    One class serves both, so its names carry no unit; the fields that hold it do say which.
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
    saturation: float = parameter(
        0.0, unit="U", minimum=0.0, text="readings end at ± this; 0 is no limit"
    )
    resolution: float = parameter(
        0.0, unit="U", minimum=0.0, text="quantisation step; 0 is continuous"
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ImuParameters:
    """An inertial measurement unit, its axes those of the body."""

    rate_hz: float = parameter(250.0, unit="Hz", minimum=0.1, text="samples per second")
    lever_arm_m: Vector = parameter(
        (0.0, 0.0, 0.0), unit="m", text="place in body axes, from the centre of mass"
    )
    gyroscope: TriadParameters = parameter(text="errors of the angular velocity [rad/s]")
    accelerometer: TriadParameters = parameter(text="errors of the specific force [m/s^2]")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ImuSample:
    """One reading, body axes: specific force [m/s^2] and angular velocity [rad/s]."""

    specific_force: np.ndarray
    angular_velocity: np.ndarray


def specific_force(
    R_map_body: np.ndarray, a_map_body: np.ndarray, *, gravity: float = GRAVITY
) -> np.ndarray:
    """Return what a perfect accelerometer at the body origin measures.

    An accelerometer feels every force but gravity: f = R^T (a + g e_z) (Pegasus eq. 12 lacks the
    gravity). At rest and level it reads +g upwards, in free fall nothing.

    Parameters
    ----------
    R_map_body : (3, 3) array
        Attitude of the body; map is ENU.
    a_map_body : (3,) array
        Acceleration of the body origin in map axes [m/s^2].

    Returns
    -------
    (3,) array
        Specific force in body axes [m/s^2].

    Examples
    --------
    >>> specific_force(np.eye(3), np.zeros(3)).tolist()
    [0.0, 0.0, 9.81]
    """
    R, a = np.asarray(R_map_body, float), np.asarray(a_map_body, float)
    if R.shape != (3, 3) or a.shape != (3,):
        raise ValueError(f"R_map_body must be (3, 3), a_map_body (3,); got {R.shape}, {a.shape}")
    return R.T @ (a + np.array([0.0, 0.0, gravity]))


@njit(void(float64[::1], float64[::1], float64[::1], float64[::1], float64[::1]), cache=True)
def _corrupt(truth, normals, memory, k, out):
    """Write six readings; k holds eight numbers per triad, memory the biases and turn-on biases."""
    for i in range(6):
        j = 8 * (i // 3)
        memory[i] = k[j] * memory[i] + k[j + 1] * normals[i]
        value = truth[i] + memory[6 + i] + memory[i] + k[j + 2] * normals[6 + i]
        limit, resolution = k[j + 3], k[j + 4]
        if resolution > 0.0:
            value = resolution * math.floor(value / resolution + 0.5)
        out[i] = min(limit, max(-limit, value))


@njit(void(float64[::1], float64[::1], float64[::1]), cache=True)
def _truth_at(body, arm, out):
    """Write angular velocity and specific force at a lever arm: f + alpha x r + w x (w x r).

    body holds specific force, angular velocity and its rate at the body origin.
    """
    p, q, r = body[3], body[4], body[5]
    x, y, z = arm[0], arm[1], arm[2]
    wx, wy, wz = q * z - r * y, r * x - p * z, p * y - q * x
    out[0], out[1], out[2] = p, q, r
    out[3] = body[0] + body[7] * z - body[8] * y + q * wz - r * wy
    out[4] = body[1] + body[8] * x - body[6] * z + r * wx - p * wz
    out[5] = body[2] + body[6] * y - body[7] * x + p * wy - q * wx


class Imu:
    """An inertial measurement unit that lives through time (its biases wander).

    Parameters
    ----------
    parameters : ImuParameters
        Its errors; see `load_preset`.
    rng : numpy.random.Generator
        Its own source of randomness, see `seed_sequence`.
    """

    def __init__(self, parameters: ImuParameters, rng: np.random.Generator) -> None:
        self.parameters = parameters
        self._triads = (parameters.gyroscope, parameters.accelerometer)
        first = rng.standard_normal((2, 6))
        walk = [t.random_walk * math.sqrt(t.correlation_time_s / 2.0) for t in self._triads]
        self._bias_sigma = np.repeat(walk, 3)
        turn_on = np.repeat([t.turn_on_bias_sigma for t in self._triads], 3)
        self._memory = np.concatenate([self._bias_sigma * first[0], turn_on * first[1]])
        self._arm = np.array(parameters.lever_arm_m, float)
        self._has_arm = bool(self._arm.any())
        self._normals = NormalRows(rng, 12)
        self._body, self._truth = np.zeros(9), np.empty(6)
        self._dt, self._k = -1.0, np.zeros(16)

    def sample(
        self,
        dt: float,
        specific_force_body: np.ndarray,
        omega_body: np.ndarray,
        *,
        alpha_body: np.ndarray | None = None,
    ) -> ImuSample:
        """Return the reading dt after the last one.

        Parameters
        ----------
        dt : float
            Time since the last sample [s].
        specific_force_body, omega_body, alpha_body : (3,) array
            Truth at the body origin, body axes: specific force [m/s^2], angular velocity [rad/s]
            and its rate [rad/s^2]. The rate is needed only with a lever arm.
        """
        if dt != self._dt:
            self._tune(dt)
        if alpha_body is None:
            if self._has_arm:
                raise ValueError("alpha_body must be given for an IMU with a lever arm")
        else:
            self._body[6:9] = alpha_body
        self._body[0:3] = specific_force_body
        self._body[3:6] = omega_body
        out = np.empty(6)
        _truth_at(self._body, self._arm, self._truth)
        _corrupt(self._truth, self._normals.take(), self._memory, self._k, out)
        return ImuSample(specific_force=out[3:], angular_velocity=out[:3])

    @property
    def gyroscope_bias(self) -> np.ndarray:
        """Return the true bias of the angular velocity now [rad/s], for the evaluation."""
        return self._memory[0:3] + self._memory[6:9]

    @property
    def accelerometer_bias(self) -> np.ndarray:
        """Return the true bias of the specific force now [m/s^2], for the evaluation."""
        return self._memory[3:6] + self._memory[9:12]

    def _tune(self, dt: float) -> None:
        require_step(dt)
        for j, triad in enumerate(self._triads):
            decay, gain = gauss_markov(dt, triad.correlation_time_s)
            limit = triad.saturation if triad.saturation > 0.0 else math.inf
            values = [decay, gain * self._bias_sigma[3 * j], triad.noise_density / math.sqrt(dt)]
            self._k[8 * j : 8 * j + 5] = [*values, limit, triad.resolution]
        self._dt = dt
