# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the node `lidar`, flat as ROS parameters are."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter
from aerotwin_simulator.parameters import MAX_INSTANCE, SimulatorParameters


@dataclass(frozen=True, kw_only=True)
class LidarNodeParameters:
    """The lidar, its mounting, and its world."""

    world: str = parameter("cliff", text="name in worlds/, or path of a world file or folder")
    lidar: str = parameter("spinning_16", text="lidar preset, or path of a file like one")
    x_m: float = parameter(0.0, text="lidar ahead of base_link", unit="m")
    y_m: float = parameter(0.0, text="lidar to the left of base_link", unit="m")
    z_m: float = parameter(0.1, text="lidar above base_link", unit="m")
    roll_deg: float = parameter(
        0.0, text="lidar turned about x", unit="deg", minimum=-180.0, maximum=180.0
    )
    pitch_deg: float = parameter(
        0.0, text="then about y: positive looks down ahead", unit="deg", minimum=-90.0, maximum=90.0
    )
    yaw_deg: float = parameter(
        0.0, text="then about z, to the left", unit="deg", minimum=-180.0, maximum=180.0
    )
    seed: int = parameter(0, text="seed of every random number", minimum=0)
    vehicle: int = parameter(
        0,
        text="number of the vehicle; each has its own noise",
        minimum=0,
        maximum=MAX_INSTANCE,
    )
    input_timeout_s: float = parameter(
        0.0,
        text="longest gap between two truths before the node ends; 0 waits for ever",
        unit="s wall",
        minimum=0.0,
    )

    @property
    def flight(self) -> SimulatorParameters:
        """The same lidar as parameters of the composed simulator."""
        return SimulatorParameters(
            lidar=self.lidar,
            lidar_x_m=self.x_m,
            lidar_y_m=self.y_m,
            lidar_z_m=self.z_m,
            lidar_roll_deg=self.roll_deg,
            lidar_pitch_deg=self.pitch_deg,
            lidar_yaw_deg=self.yaw_deg,
            seed=self.seed,
            instance=self.vehicle,
        )
