# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Point clouds: files, voxel down-sampling, and rigid alignment that says when it failed.

Points are (n, 3) arrays in metres in a frame that the name states (`points_map`). An alignment
returns a `Registration` with `T_target_source`, x_target = T_target_source @ x_source, and never
passes a failure off as an answer: `converged` is False then, with a reason in words.
"""

from aerotwin_registration.alignment import IcpProtocol, Registration, align_point_to_point
from aerotwin_registration.clouds import Cloud, read_cloud, write_cloud
from aerotwin_registration.voxels import voxel_downsample

__all__ = [
    "Cloud",
    "IcpProtocol",
    "Registration",
    "align_point_to_point",
    "read_cloud",
    "voxel_downsample",
    "write_cloud",
]
