# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Teaching a route without driving it: way-points or a driven path, laid into a cloud."""

from aerotwin_teach_repeat.teaching.driven import along_path, read_driven
from aerotwin_teach_repeat.teaching.ground import GroundGrid, GroundParameters, poses_on_ground
from aerotwin_teach_repeat.teaching.path import PathParameters, SmoothPath, smooth_waypoints
from aerotwin_teach_repeat.teaching.teach import (
    TeachParameters,
    VirtualPath,
    graph_of_path,
    teach_route,
    virtual_path,
)

__all__ = [
    "GroundGrid",
    "GroundParameters",
    "PathParameters",
    "SmoothPath",
    "TeachParameters",
    "VirtualPath",
    "along_path",
    "graph_of_path",
    "poses_on_ground",
    "read_driven",
    "smooth_waypoints",
    "teach_route",
    "virtual_path",
]
