# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Motion of wheeled robots on terrain: unicycle and bicycle with lags, slip and command delay.

A `GroundVehicle` is stepped under a `VelocityCommand`, a speed and a rate of turn of `base_link`,
which is on the ground between the wheels, x ahead, z up. Its pose in `map` follows a terrain, a
function of x and y; its wheel odometry ignores slip. The package uses no ROS, world or sensor.
"""

from aerotwin_ground_dynamics.models import (
    BicycleParameters,
    BicycleState,
    UnicycleParameters,
    UnicycleState,
    bicycle_step,
    unicycle_step,
)
from aerotwin_ground_dynamics.motion import CommandDelay, Twist, VelocityCommand, arc, lag_step
from aerotwin_ground_dynamics.slip import NO_SLIP, Slip, SlipParameters
from aerotwin_ground_dynamics.terrain import (
    Ground,
    NoGroundError,
    WheelParameters,
    pose_on_ground,
)
from aerotwin_ground_dynamics.vehicle import GroundVehicle, WheelOdometry

# Deprecated names, which go with the next version.
Command = VelocityCommand

__all__ = [
    "NO_SLIP",
    "BicycleParameters",
    "BicycleState",
    "Command",
    "CommandDelay",
    "Ground",
    "GroundVehicle",
    "NoGroundError",
    "Slip",
    "SlipParameters",
    "Twist",
    "UnicycleParameters",
    "UnicycleState",
    "VelocityCommand",
    "WheelOdometry",
    "WheelParameters",
    "arc",
    "bicycle_step",
    "lag_step",
    "pose_on_ground",
    "unicycle_step",
]
