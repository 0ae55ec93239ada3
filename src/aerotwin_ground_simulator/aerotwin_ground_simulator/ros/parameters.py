# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the node `ground_simulator`."""

from dataclasses import dataclass

from aerotwin_core.parameters import group, parameter
from aerotwin_ground_simulator.robot import GroundRobotParameters
from aerotwin_sensor_models import FlatScanParameters
from aerotwin_simulator.same_parameter import same_parameter
from aerotwin_worlds.moved_start import StartSettings


@dataclass(frozen=True, kw_only=True)
class GroundSimulatorParameters(GroundRobotParameters):
    """The robot, its world, start and speed."""

    world: str = parameter("campus", text="name in worlds/, or path of a world file or folder")
    start: StartSettings = group(StartSettings)
    speed: float = parameter(
        1.0, text="simulated over wall time", minimum=0.01, maximum=100.0, live=True
    )
    command_timeout_s: float = parameter(
        0.5, text="time without cmd_vel to a stop", unit="s", minimum=0.05, maximum=60.0
    )
    duration_s: float = parameter(
        0.0, text="end after this much simulated time; 0 = never", unit="s", minimum=0.0
    )
    is_stamped: bool = parameter(
        True, text="cmd_vel is TwistStamped until a publisher is found; else Twist. Both are taken"
    )
    path_file: str = parameter(
        "", text="TUM file to write the true path of base_link to; must not exist; empty = none"
    )
    publish_tf: bool = parameter(True, text="publish odom -> base_link of the wheels on /tf")
    scan: FlatScanParameters = same_parameter("ground_robot.scan")
