# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the node: those of the odometry, and its outputs."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter
from aerotwin_stereo_odometry.parameters import StereoOdometryParameters


@dataclass(frozen=True, kw_only=True)
class StereoOdometryNodeParameters(StereoOdometryParameters):
    """The odometry's parameters and the node's."""

    odom_frame: str = parameter("odom", text="Frame of poses and map.")
    base_frame: str = parameter("base_link", text="Body frame, parent of the cameras.")
    images_are_rectified: bool = parameter(
        False,
        text="Images are those of P already (image_rect remapped onto image_raw): D is not used.",
    )
    publish_tf: bool = parameter(True, text="Publish odom -> base_link on /tf.")
    map_every_keyframes: int = parameter(
        20, text="Keyframes between two maps; when images pause, the map follows.", minimum=1
    )
