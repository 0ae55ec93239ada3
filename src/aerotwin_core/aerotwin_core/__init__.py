# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What every package stands on: frames, geodesy, time, parameters, cameras, bags, messages.

World frames are East-North-Up (`map`), bodies Forward-Left-Up (`base_link`), cameras
`*_optical` look along z (REP-103, REP-105). Quaternions are scalar-last (xyzw), units SI,
stamps integer nanoseconds. Nothing here imports ROS except the `ros` folder.
"""

from aerotwin_core.camera import PinholeCamera, StereoRig
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.trajectory import Trajectory

__all__ = [
    "GeodeticPoint",
    "LocalTangentPlane",
    "ParameterError",
    "PinholeCamera",
    "StereoRig",
    "Trajectory",
    "UserError",
]
