# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Motion of wheeled robots on terrain: unicycle and bicycle with lags, slip and command delay.

A `GroundVehicle` is stepped under a `VelocityCommand`, a speed and a rate of turn of `base_link`,
which is on the ground between the wheels, x ahead, z up. Its pose in `map` follows a terrain, a
function of x and y; its wheel odometry ignores slip. The package uses no ROS, world or sensor.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_ground_dynamics.models import (
        BicycleParameters,
        BicycleState,
        UnicycleParameters,
        UnicycleState,
        bicycle_step,
        unicycle_step,
    )
    from aerotwin_ground_dynamics.motion import CommandDelay, Twist, VelocityCommand, arc, lag_step

    # Deprecated name, to be removed in the next version.
    from aerotwin_ground_dynamics.motion import VelocityCommand as Command
    from aerotwin_ground_dynamics.slip import NO_SLIP, Slip, SlipParameters
    from aerotwin_ground_dynamics.terrain import (
        Ground,
        NoGroundError,
        WheelParameters,
        pose_on_ground,
    )
    from aerotwin_ground_dynamics.vehicle import GroundVehicle, WheelOdometry
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
