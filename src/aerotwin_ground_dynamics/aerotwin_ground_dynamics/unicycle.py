# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The unicycle: a speed and a rate of turn that follow their commands with lags and limits."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter
from aerotwin_ground_dynamics.drive import DriveParameters, speed_step
from aerotwin_ground_dynamics.lag import lag_step
from aerotwin_ground_dynamics.motion import Twist, VelocityCommand


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
