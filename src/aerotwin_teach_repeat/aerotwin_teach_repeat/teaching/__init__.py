# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Teaching a route without driving it: way-points or a driven path, placed in a cloud."""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_teach_repeat.teaching.detour import way_around
    from aerotwin_teach_repeat.teaching.drive import DriveTeacher, DriveTeachParameters
    from aerotwin_teach_repeat.teaching.driven import along_path, read_driven
    from aerotwin_teach_repeat.teaching.ground import GroundGrid, GroundParameters, poses_on_ground
    from aerotwin_teach_repeat.teaching.lidar_prediction import (
        Localisability,
        LocalisabilityProtocol,
        localisability,
    )
    from aerotwin_teach_repeat.teaching.passage import (
        Traversability,
        VehicleOutline,
        traversability,
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
    from aerotwin_teach_repeat.teaching.vtr_wrapper import (
        read_relative_transforms,
        write_cloud_with_normals,
        write_relative_transforms,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
