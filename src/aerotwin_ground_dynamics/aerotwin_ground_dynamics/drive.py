# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Common to all wheeled vehicles: a speed with lag and limits, a delay, slip, wheels."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter
from aerotwin_ground_dynamics.lag import lag_step
from aerotwin_ground_dynamics.slip import SlipParameters
from aerotwin_ground_dynamics.terrain import WheelParameters


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
