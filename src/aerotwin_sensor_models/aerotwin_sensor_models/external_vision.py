# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pose from outside the autopilot: motion capture or visual odometry, with noise and drift."""

import dataclasses
import math

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.parameters import parameter
from aerotwin_sensor_models.noise import require_step


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExternalVisionParameters:
    """A source of poses; sigmas are those of a reading, whatever the rate."""

    rate_hz: float = parameter(30.0, unit="Hz", minimum=0.1, text="poses per second")
    delay_s: float = parameter(
        0.0, unit="s", minimum=0.0, text="age of a pose when it is delivered"
    )
    position_noise_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="white noise of each axis, standard deviation"
    )
    tilt_noise_deg: float = parameter(
        0.0, unit="deg", minimum=0.0, text="white noise about x and y of map, standard deviation"
    )
    yaw_noise_deg: float = parameter(
        0.0, unit="deg", minimum=0.0, text="white noise about z of map, standard deviation"
    )
    position_drift_m: float = parameter(
        0.0, unit="m/√s", minimum=0.0, text="random walk of each axis: sigma after one second"
    )
    yaw_drift_deg: float = parameter(
        0.0, unit="deg/√s", minimum=0.0, text="random walk of the yaw: sigma after one second"
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ExternalVisionSample:
    """One pose of the body in map, and the standard deviations of its white noise.

    The drift is not included: a source of odometry does not know it.

    Attributes
    ----------
    p_map_body, q_map_body : (3,), (4,) array
        Position [m]; attitude, quaternion xyzw.
    position_std_m, attitude_std_rad : (3,) array
        Along, and about, the axes of map.
    """

    p_map_body: np.ndarray
    q_map_body: np.ndarray
    position_std_m: np.ndarray
    attitude_std_rad: np.ndarray


class ExternalVision:
    """A source of poses that drifts as odometry does.

    With drift it sums true steps, each rotated by the current yaw error: after a straight line the
    position error is the yaw error times the distance. The caller applies the delay by sampling
    the truth of `parameters.delay_s` ago.

    Presets of its errors: see `load_preset`. `rng` is not shared, see `seed_sequence`.
    """

    def __init__(self, parameters: ExternalVisionParameters, rng: np.random.Generator) -> None:
        p = self.parameters = parameters
        self._rng = rng
        self._position_std = np.full(3, p.position_noise_m)
        tilt, yaw = math.radians(p.tilt_noise_deg), math.radians(p.yaw_noise_deg)
        self._attitude_std = np.array([tilt, tilt, yaw])
        self._last_p: np.ndarray | None = None
        self._drift_m, self._drift_yaw = np.zeros(3), 0.0

    def sample(
        self, dt: float, p_map_body: np.ndarray, q_map_body: np.ndarray
    ) -> ExternalVisionSample:
        """Return the pose dt [s] after the last one, of a true position and attitude (xyzw)."""
        require_step(dt)
        truth = np.array(p_map_body, float)
        normals = self._rng.standard_normal(10)
        self._wander(dt, truth, normals[6:])
        turn = self._attitude_std * normals[3:6] + [0.0, 0.0, self._drift_yaw]
        attitude = Rotation.from_rotvec(turn) * Rotation.from_quat(q_map_body)
        return ExternalVisionSample(
            p_map_body=truth + self._drift_m + self._position_std * normals[:3],
            q_map_body=attitude.as_quat(canonical=True),
            position_std_m=self._position_std.copy(),
            attitude_std_rad=self._attitude_std.copy(),
        )

    @property
    def drift_m(self) -> np.ndarray:
        """Return the current drift of the position [m], for the evaluation."""
        return self._drift_m.copy()

    @property
    def drift_yaw_rad(self) -> float:
        """Return the current drift of the yaw [rad], for the evaluation."""
        return self._drift_yaw

    def _wander(self, dt: float, truth: np.ndarray, normals: np.ndarray) -> None:
        p, root = self.parameters, math.sqrt(dt)
        if self._last_p is not None:
            east, north, _ = truth - self._last_p
            c, s = math.cos(self._drift_yaw) - 1.0, math.sin(self._drift_yaw)
            self._drift_m += [c * east - s * north, s * east + c * north, 0.0]
            self._drift_m += p.position_drift_m * root * normals[:3]
            self._drift_yaw += math.radians(p.yaw_drift_deg) * root * float(normals[3])
        self._last_p = truth
