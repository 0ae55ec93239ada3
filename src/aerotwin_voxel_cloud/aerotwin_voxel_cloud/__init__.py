# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A world's surface as an occupancy grid, a binvox file and a point cloud.

Everything is in the map frame (ENU, metres). The cloud of voxel centres is the reference of Beam
et al. 2024 (III-B); the finer the grid, the closer it is to the surface itself.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_voxel_cloud.binvox import read_binvox, write_binvox
    from aerotwin_voxel_cloud.frame import GridFrame, frame_of_bounds, frame_of_box
    from aerotwin_voxel_cloud.grid import OccupancyGrid, grid_of_points, point_means
    from aerotwin_voxel_cloud.map_input import MapInput, load_map
    from aerotwin_voxel_cloud.nav2_map import occupancy_map, write_occupancy_map
    from aerotwin_voxel_cloud.surface import TriangleSurface, load_surface
    from aerotwin_voxel_cloud.voxelisation import surface_points, voxelise
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
