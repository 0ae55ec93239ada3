# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Point clouds: files, voxel down-sampling, and rigid alignment that says when it failed.

Points are (n, 3) arrays in metres in a frame that the name states (`points_map`). An alignment
returns a `Registration` with `T_target_source`, x_target = T_target_source @ x_source, and never
passes a failure off as an answer: `converged` is False then, with a reason in words.
"""

from aerotwin_registration.clouds import Cloud, read_cloud, write_cloud
from aerotwin_registration.icp import (
    ICP_PRESETS,
    IcpProtocol,
    MovingRegistration,
    Registration,
    Surface,
    align,
    align_moving,
)
from aerotwin_registration.voxels import voxel_downsample

__all__ = [
    "ICP_PRESETS",
    "Cloud",
    "IcpProtocol",
    "MovingRegistration",
    "Registration",
    "Surface",
    "align",
    "align_moving",
    "read_cloud",
    "voxel_downsample",
    "write_cloud",
]
