# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A ground vehicle: a unicycle or bicycle that slips and follows the terrain."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.time import from_seconds
from aerotwin_ground_dynamics.models import (
    BicycleParameters,
    BicycleState,
    UnicycleParameters,
    UnicycleState,
    bicycle_step,
    unicycle_step,
)
from aerotwin_ground_dynamics.motion import (
    CommandDelay,
    Twist,
    VelocityCommand,
    arc,
    planar_pose,
)
from aerotwin_ground_dynamics.slip import Slip
from aerotwin_ground_dynamics.terrain import Ground, pose_on_ground


@dataclass(frozen=True, kw_only=True)
class WheelOdometry:
    """Output of the wheel encoders, which ignore slip and slope.

    `T_odom_base` (4, 4) is the integrated motion in a plane; odom is the start pose of the vehicle.
    `twist` is the present speed and rate of turn.
    """

    T_odom_base: np.ndarray
    twist: Twist


class GroundVehicle:
    """A wheeled vehicle on a terrain.

    A step delays the command, moves the wheels by their lags and limits, applies the slip, moves
    `base_link` along the exact arc of the mean twist in its present plane, and places it on the
    ground there. The same seed and steps yield the same bytes. `ground` is the terrain under the
    vehicle, `slip` its true slip, which no sensor measures.

    Parameters
    ----------
    parameters : UnicycleParameters or BicycleParameters
        They select the model.
    seed : int
        Of the slip, not negative.
    T_map_base : (4, 4) array
        Initial pose, of which x, y and heading are used; the terrain determines the rest.

    Raises
    ------
    NoGroundError
        If there is no ground at the start.
    """

    def __init__(
        self,
        parameters: UnicycleParameters | BicycleParameters,
        ground: Ground,
        *,
        seed: int,
        T_map_base: ArrayLike,
    ) -> None:
        if seed < 0:
            raise ValueError(f"seed must not be negative, got {seed}")
        self.parameters = parameters
        self.ground = ground
        self.slip = Slip(parameters.slip, np.random.default_rng([seed, 0x57]))
        self._delay = CommandDelay(from_seconds(parameters.command_delay_s))
        self._odom = (0.0, 0.0, 0.0)
        self._time_ns = 0
        self.place(T_map_base)

    @property
    def T_map_base(self) -> np.ndarray:
        """True pose, (4, 4); a copy."""
        return self._T_map_base.copy()

    @property
    def twist(self) -> Twist:
        """True speed and rate of turn at the end of the last step."""
        return self.slip.on_ground(self._wheels)

    @property
    def wheel_odometry(self) -> WheelOdometry:
        """Output of the wheel encoders."""
        return WheelOdometry(T_odom_base=planar_pose(*self._odom), twist=self._wheels)

    def place(self, T_map_base: ArrayLike, *, ground: Ground | None = None) -> None:
        """Place the vehicle elsewhere, at rest, as if it were carried; odometry continues.

        Of T_map_base x, y and heading are used; `ground` replaces the terrain unless it is None.
        """
        T = np.asarray(T_map_base, np.float64)
        if T.shape != (4, 4) or not np.isfinite(T).all():
            raise ValueError(f"T_map_base must be a finite (4, 4) array, got shape {T.shape}")
        self.ground = self.ground if ground is None else ground
        self._stand(float(T[0, 3]), float(T[1, 3]), math.atan2(T[1, 0], T[0, 0]))
        self._state, self._model_step = _model(self.parameters)

    def forget_commands(self) -> None:
        """Forget the commands that are yet to act."""
        self._delay.forget()

    def step(self, dt_s: float, command: VelocityCommand) -> None:
        """Move for dt_s [s] under a command issued now.

        Raises
        ------
        NoGroundError
            If there is no ground at the new position.
        """
        if not dt_s > 0.0 or not math.isfinite(command.v_m_s + command.omega_rad_s):
            raise ValueError(
                f"a step needs a positive time and a finite command, got {dt_s} s and {command}"
            )
        self._delay.set_command(self._time_ns, command)
        acting = self._delay.acting(self._time_ns)
        self._state, mean = self._model_step(self.parameters, self._state, acting, dt_s)
        self._time_ns += from_seconds(dt_s)
        self._odom = _moved(self._odom, mean, dt_s)
        true = self.slip.on_ground(mean)
        self._move(true, dt_s)
        self.slip.advance(abs(true.v_m_s) * dt_s)

    def _move(self, mean: Twist, dt: float) -> None:
        """Follow an arc in the plane of the wheels, then place the vehicle on the ground there."""
        turn = mean.omega_rad_s * dt
        ahead, left = arc(mean.v_m_s * dt, turn)
        T = self._T_map_base
        c, s = math.cos(turn), math.sin(turn)
        x, y = (float(T[i, 3] + T[i, 0] * ahead + T[i, 1] * left) for i in (0, 1))
        heading = [float(T[i, 0] * c + T[i, 1] * s) for i in (0, 1)]
        self._stand(x, y, math.atan2(heading[1], heading[0]))

    @property
    def _wheels(self) -> Twist:
        return self._state.twist(self.parameters)

    def _stand(self, x: float, y: float, yaw: float) -> None:
        self._T_map_base = pose_on_ground(x, y, yaw, self.ground, self.parameters.wheels)


def _model(parameters: UnicycleParameters | BicycleParameters) -> tuple[Any, Callable]:
    """Return the state at rest and the step of a kind of vehicle."""
    if isinstance(parameters, BicycleParameters):
        return BicycleState(), bicycle_step
    return UnicycleState(), unicycle_step


def _moved(pose: tuple[float, float, float], mean: Twist, dt: float) -> tuple[float, float, float]:
    """Return x, y, yaw after an arc from x, y, yaw."""
    x, y, yaw = pose
    turn = mean.omega_rad_s * dt
    ahead, left = arc(mean.v_m_s * dt, turn)
    c, s = math.cos(yaw), math.sin(yaw)
    return x + c * ahead - s * left, y + s * ahead + c * left, yaw + turn
