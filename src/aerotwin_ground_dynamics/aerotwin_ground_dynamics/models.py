# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Models of wheeled vehicles: unicycle and kinematic bicycle, with lags and limits."""

import math
from dataclasses import dataclass

from aerotwin_core.parameters import parameter
from aerotwin_ground_dynamics.motion import Twist, VelocityCommand, lag_step
from aerotwin_ground_dynamics.slip import SlipParameters
from aerotwin_ground_dynamics.terrain import WheelParameters

STANDING_M_S = 0.01
"""Below this speed a command says nothing about the steering angle: it is held."""


@dataclass(frozen=True, kw_only=True)
class DriveParameters:
    """The drive of a vehicle, without its steering, which depends on the kind."""

    maximum_v_m_s: float = parameter(
        1.5, unit="m/s", minimum=0.0, maximum=40.0, text="largest speed ahead"
    )
    minimum_v_m_s: float = parameter(
        -1.5, unit="m/s", minimum=-40.0, maximum=0.0, text="largest speed backwards, negative"
    )
    maximum_acceleration_m_s2: float = parameter(
        1.0, unit="m/s^2", minimum=0.01, maximum=20.0, text="of the speed, driving and braking"
    )
    v_lag_s: float = parameter(
        0.2, unit="s", minimum=0.0, maximum=5.0, text="time constant of the speed"
    )
    command_delay_s: float = parameter(
        0.05, unit="s", minimum=0.0, maximum=2.0, text="from a command to the motors"
    )
    slip: SlipParameters = parameter(SlipParameters(), text="between wheels and ground")
    wheels: WheelParameters = parameter(WheelParameters(), text="where it touches the ground")


def speed_step(
    parameters: DriveParameters, v_m_s: float, desired_m_s: float, dt: float
) -> tuple[float, float]:
    """Return the speed after dt [s] under a desired speed, and its mean over dt [m/s]."""
    p = parameters
    return lag_step(
        v_m_s,
        min(max(desired_m_s, p.minimum_v_m_s), p.maximum_v_m_s),
        time_constant_s=p.v_lag_s,
        limit_per_s=p.maximum_acceleration_m_s2,
        dt=dt,
    )


@dataclass(frozen=True, kw_only=True)
class UnicycleParameters(DriveParameters):
    """A skid-steered or differential robot.

    Limits are those of VTR3's controller for a Warthog (config/ouster_warthog_default.yaml). Its
    predictive controller models the turn as a lag of 0.4 a step of 0.25 s: exp(-0.25 / 0.27) = 0.4.
    """

    maximum_omega_rad_s: float = parameter(
        0.5, unit="rad/s", minimum=0.0, maximum=10.0, text="largest rate of turn to either side"
    )
    maximum_angular_acceleration_rad_s2: float = parameter(
        5.0, unit="rad/s^2", minimum=0.01, maximum=100.0, text="of the rate of turn"
    )
    omega_lag_s: float = parameter(
        0.27, unit="s", minimum=0.0, maximum=5.0, text="time constant of the rate of turn"
    )


@dataclass(frozen=True, kw_only=True)
class UnicycleState:
    """Speed [m/s] and rate of turn [rad/s] of the wheels."""

    v_m_s: float = 0.0
    omega_rad_s: float = 0.0

    def twist(self, parameters: UnicycleParameters) -> Twist:
        """Return the twist of the vehicle without slip."""
        return Twist(self.v_m_s, self.omega_rad_s)


def unicycle_step(
    parameters: UnicycleParameters, state: UnicycleState, command: VelocityCommand, dt: float
) -> tuple[UnicycleState, Twist]:
    """Return the state after dt [s], and the mean twist of the wheels over it.

    `command` is the one in effect during the step; it is clipped to the limits.
    """
    p = parameters
    v, v_mean = speed_step(p, state.v_m_s, command.v_m_s, dt)
    omega, omega_mean = lag_step(
        state.omega_rad_s,
        min(max(command.omega_rad_s, -p.maximum_omega_rad_s), p.maximum_omega_rad_s),
        time_constant_s=p.omega_lag_s,
        limit_per_s=p.maximum_angular_acceleration_rad_s2,
        dt=dt,
    )
    return UnicycleState(v_m_s=v, omega_rad_s=omega), Twist(v_mean, omega_mean)


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

    The desired angle of the front wheels is atan(wheelbase omega / v). The mean turn is that of the
    mean angle and speed: within a step of 10 ms their product hardly differs.
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
