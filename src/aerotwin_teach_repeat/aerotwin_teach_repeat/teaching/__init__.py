# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Teaching a route without driving it: way-points or a driven path, placed in a cloud."""

from aerotwin_teach_repeat.teaching.detour import way_around
from aerotwin_teach_repeat.teaching.drive import DriveTeacher, DriveTeachParameters
from aerotwin_teach_repeat.teaching.driven import along_path, read_driven
from aerotwin_teach_repeat.teaching.ground import GroundGrid, GroundParameters, poses_on_ground
from aerotwin_teach_repeat.teaching.localisability import (
    Localisability,
    LocalisabilityProtocol,
    localisability,
)
from aerotwin_teach_repeat.teaching.path import PathParameters, SmoothPath, smooth_waypoints
from aerotwin_teach_repeat.teaching.route_file import (
    RouteFile,
    load_route,
    marker_stations,
    save_route,
)
from aerotwin_teach_repeat.teaching.teach import (
    TeachParameters,
    VirtualPath,
    graph_of_path,
    teach_route,
    virtual_path,
)
from aerotwin_teach_repeat.teaching.traversability import (
    Traversability,
    VehicleOutline,
    traversability,
)
from aerotwin_teach_repeat.teaching.vtr_wrapper import (
    read_relative_transforms,
    write_cloud_with_normals,
    write_relative_transforms,
)

__all__ = [
    "DriveTeachParameters",
    "DriveTeacher",
    "GroundGrid",
    "GroundParameters",
    "Localisability",
    "LocalisabilityProtocol",
    "PathParameters",
    "RouteFile",
    "SmoothPath",
    "TeachParameters",
    "Traversability",
    "VehicleOutline",
    "VirtualPath",
    "along_path",
    "graph_of_path",
    "load_route",
    "localisability",
    "marker_stations",
    "poses_on_ground",
    "read_driven",
    "read_relative_transforms",
    "save_route",
    "smooth_waypoints",
    "teach_route",
    "traversability",
    "virtual_path",
    "way_around",
    "write_cloud_with_normals",
    "write_relative_transforms",
]
