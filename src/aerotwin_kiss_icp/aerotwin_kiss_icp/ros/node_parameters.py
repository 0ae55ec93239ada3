# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the node: those of KISS-ICP, frames and output."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter
from aerotwin_kiss_icp.parameters import KissIcpParameters


@dataclass(frozen=True, kw_only=True)
class KissIcpNodeParameters(KissIcpParameters):
    """The algorithm's parameters and the node's."""

    odom_frame: str = parameter("odom", text="frame of poses and map")
    base_frame: str = parameter("base_link", text="body frame, above the lidar")
    publish_tf: bool = parameter(True, text="publish odom -> base_link on /tf")
    position_std_m: float = parameter(
        0.3, text="stated error of positions: KISS-ICP estimates none", unit="m", minimum=1e-6
    )
    attitude_std_rad: float = parameter(
        0.3, text="stated error of attitudes, likewise", unit="rad", minimum=1e-6
    )
    map_every_scans: int = parameter(
        50, text="scans between two maps; when scans pause, the map follows", minimum=1
    )
