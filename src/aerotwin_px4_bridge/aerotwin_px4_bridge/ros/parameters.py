# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the node `bridge`, flat as ROS parameters are."""

from dataclasses import dataclass

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class BridgeParameters:
    """The autopilot, its vehicle and files, and the timeouts of both sides."""

    autopilot: str = parameter(
        "embedded",
        text="flight controller; external = started by another program, it connects to this node",
        choices=("embedded", "px4", "external"),
    )
    instance: int = parameter(0, text="vehicle number; shifts every port", minimum=0, maximum=200)
    px4_dir: str = parameter(
        "",
        text="PX4 of autopilot px4: source tree, build or prefix; empty = PX4_DIR or a usual place",
    )
    px4_model: str = parameter("none_iris", text="PX4_SIM_MODEL, PX4's own airframe")
    px4_parameters: str = parameter(
        "", text="YAML file of PX4 parameters by name, set at its start; empty = none"
    )
    gnss_delay_s: float = parameter(
        0.11, text="age of a GNSS reading on arrival, set in PX4, too", unit="s", minimum=0.0
    )
    mission: str = parameter(
        "none", text="path of a mission file; none = wait for an outside client on UDP 14540 + i"
    )
    duration_s: float = parameter(
        0.0, text="end after this much simulated time; 0 = at landing", unit="s", minimum=0.0
    )
    origin_latitude_deg: float = parameter(
        47.397742, text="origin of map on WGS84", unit="deg", minimum=-90.0, maximum=90.0
    )
    origin_longitude_deg: float = parameter(
        8.545594, text="origin of map on WGS84", unit="deg", minimum=-180.0, maximum=180.0
    )
    origin_altitude_m: float = parameter(
        488.0, text="origin of map above the ellipsoid", unit="m", minimum=-500.0, maximum=9000.0
    )
    n_rotors: int = parameter(4, text="motor outputs in use", minimum=1, maximum=16)
    armed_speed_rad_s: float = parameter(
        100.0, text="rotor speed at command 0 while armed", unit="rad/s", minimum=0.0
    )
    speed_per_command_rad_s: float = parameter(
        1000.0, text="rotor speed added by a command of 1", unit="rad/s", minimum=0.0
    )
    publish_tf: bool = parameter(
        True,
        text="publish map -> odom -> base_link of the autopilot's estimate on /tf, unless another "
        "node does",
    )
    run_folder: str = parameter("runs/bridge", text="folder of the autopilot's log and files")
    autopilot_wait_s: float = parameter(
        120.0, text="longest wait for the autopilot to connect", unit="s wall", minimum=0.1
    )
    wait_for: str = parameter(
        "",
        text="names of nodes, separated by spaces, that read truth/odom before the flight begins",
    )
    wait_for_s: float = parameter(120.0, text="longest wait for them", unit="s wall", minimum=0.1)
    ask_again_s: float = parameter(
        0.5,
        text="send the last rotor command again when no imu/data_raw came for this long",
        unit="s wall",
        minimum=0.01,
    )
    input_timeout_s: float = parameter(
        20.0,
        text="longest wait for imu/data_raw before the node ends; 0 waits for ever",
        unit="s wall",
        minimum=0.0,
    )

    @property
    def origin(self) -> GeodeticPoint:
        """Origin of map."""
        return GeodeticPoint(
            latitude_deg=self.origin_latitude_deg,
            longitude_deg=self.origin_longitude_deg,
            altitude_m=self.origin_altitude_m,
        )
