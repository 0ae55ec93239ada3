# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of KISS-ICP, with the defaults of its release 1.3.0, and of its node."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class KissIcpParameters:
    """Settings of the algorithm."""

    max_range_m: float = parameter(
        100.0, text="farther points are not used", unit="m", minimum=1.0, maximum=1000.0
    )
    min_range_m: float = parameter(
        0.0, text="nearer points are not used", unit="m", minimum=0.0, maximum=100.0
    )
    deskew: bool = parameter(True, text="take the motion within a turn out of the points")
    voxel_m: float = parameter(
        0.0, text="edge of the map's voxels; 0 = a hundredth of max_range_m", unit="m", minimum=0.0
    )
    max_points_per_voxel: int = parameter(20, text="points that a voxel keeps", minimum=1)
    initial_threshold_m: float = parameter(
        2.0, text="first deviation from the prediction that is believed", unit="m", minimum=0.01
    )
    min_motion_m: float = parameter(
        0.1, text="smaller deviations do not adapt the threshold", unit="m", minimum=0.0
    )
    max_iterations: int = parameter(500, text="most ICP iterations", minimum=1)
    convergence: float = parameter(1e-4, text="step at which the ICP ends", minimum=0.0)
    threads: int = parameter(1, text="0 = all; with one, results repeat", minimum=0, maximum=256)


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
        0.3, text="stated error of attitudes", unit="rad", minimum=1e-6
    )
    map_every_scans: int = parameter(
        50, text="scans between two maps; when scans pause, the map follows", minimum=1
    )
