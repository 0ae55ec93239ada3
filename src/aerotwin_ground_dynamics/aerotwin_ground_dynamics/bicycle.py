# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The kinematic bicycle: a car whose steering angle has a lag, a rate limit and a limit."""

import math
from dataclasses import dataclass

from aerotwin_core.parameters import parameter
from aerotwin_ground_dynamics.drive import DriveParameters, speed_step
from aerotwin_ground_dynamics.lag import lag_step
from aerotwin_ground_dynamics.motion import Twist, VelocityCommand
from aerotwin_ground_dynamics.terrain import WheelParameters

STANDING_M_S = 0.01
"""Below this speed a command says nothing about the steering angle: it is held."""


@dataclass(frozen=True, kw_only=True)
class BicycleParameters(DriveParameters):
    """A car-like robot; `base_link` is the middle of the rear axle.

    The kinematic single-track model (Rajamani 2012, Vehicle Dynamics and Control, 2.2; Corke 2017,
    Robotics, Vision and Control, 4.1.1): the middle of the rear axle moves along the vehicle, and
    turns at `v tan(steering) / wheelbase`. Tyre slip is modelled by `slip`; forces are left out.
    """

    maximum_steering_rad: float = parameter(
        0.6, unit="rad", minimum=0.01, maximum=1.4, text="largest angle of the front wheels"
    )
    maximum_steering_rate_rad_s: float = parameter(
        1.0, unit="rad/s", minimum=0.01, maximum=50.0, text="rate of that angle"
    )
    steering_lag_s: float = parameter(
        0.2, unit="s", minimum=0.0, maximum=5.0, text="time constant of the steering angle"
    )
    wheels: WheelParameters = parameter(
        WheelParameters(base_ahead_of_rear_m=0.0), text="where it touches the ground"
    )


@dataclass(frozen=True, kw_only=True)
class BicycleState:
    """Speed of the rear wheels [m/s], angle of the front wheels [rad], positive to the left."""

    v_m_s: float = 0.0
    steering_rad: float = 0.0

    def twist(self, parameters: BicycleParameters) -> Twist:
        """Return the twist of the vehicle without slip."""
        length = parameters.wheels.wheelbase_m
        return Twist(self.v_m_s, self.v_m_s * math.tan(self.steering_rad) / length)


def bicycle_step(
    parameters: BicycleParameters, state: BicycleState, command: VelocityCommand, dt: float
) -> tuple[BicycleState, Twist]:
    """Return the state after dt [s], and the mean twist of the wheels over it.

    A command for a speed and a rate of turn is one for a curvature: the desired angle of the front
    wheels is atan(wheelbase omega / v). The mean turn is that of the mean angle and speed; within
    a step of 10 ms the two change too little for their product to matter.
    """
    p = parameters
    v, v_mean = speed_step(p, state.v_m_s, command.v_m_s, dt)
    steering, steering_mean = lag_step(
        state.steering_rad,
        _desired_steering(p, state, command),
        time_constant_s=p.steering_lag_s,
        limit_per_s=p.maximum_steering_rate_rad_s,
        dt=dt,
    )
    mean = BicycleState(v_m_s=v_mean, steering_rad=steering_mean).twist(p)
    return BicycleState(v_m_s=v, steering_rad=steering), mean


def _desired_steering(p: BicycleParameters, state: BicycleState, command: VelocityCommand) -> float:
    if abs(command.v_m_s) < STANDING_M_S:
        return state.steering_rad
    desired = math.atan(p.wheels.wheelbase_m * command.omega_rad_s / command.v_m_s)
    return min(max(desired, -p.maximum_steering_rad), p.maximum_steering_rad)
