# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of what moves, if it is no multirotor."""

from dataclasses import dataclass

from aerotwin_core.parameters import group, parameter
from aerotwin_formation.fleet_noise import EstimateErrorParameters
from aerotwin_formation.point_mass import PointMassParameters
from aerotwin_sensor_models import FlatScanParameters

MULTIROTOR, POINT_MASS, GROUND_ROBOT = "multirotor", "point_mass", "ground_robot"


@dataclass(frozen=True, kw_only=True)
class PointMassSettings(PointMassParameters):
    """A vehicle of dynamics point_mass."""

    rate_hz: float = parameter(
        20.0, text="rate of truth/odom and autopilot/odom", unit="Hz", minimum=0.1, maximum=250.0
    )
    estimate: EstimateErrorParameters = group(EstimateErrorParameters)


@dataclass(frozen=True, kw_only=True)
class GroundRobotSettings:
    """A vehicle of dynamics ground_robot."""

    vehicle: str = parameter(
        "unicycle", text="unicycle or bicycle as they are, or path of a vehicle file"
    )
    latency_s: float = parameter(
        0.1, text="from a command to its effect", unit="s", minimum=0.0, maximum=2.0
    )
    command_timeout_s: float = parameter(
        0.5, text="time without cmd_vel to a stop", unit="s", minimum=0.05, maximum=60.0
    )
    scan: FlatScanParameters = group(FlatScanParameters)
