# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Any input as a grid and as points: world, mesh file, cloud file or binvox file."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_format import refuse_foreign_format
from aerotwin_registration.clouds import CLOUD_SUFFIXES
from aerotwin_registration.ply import count_faces
from aerotwin_voxel_cloud.binvox import read_binvox
from aerotwin_voxel_cloud.frame import GridFrame, frame_of_bounds, frame_of_box
from aerotwin_voxel_cloud.grid import OccupancyGrid, grid_of_points, point_means
from aerotwin_voxel_cloud.map_input import ACCEPTED, SURFACE_ENDINGS, load_map
from aerotwin_voxel_cloud.surface import TriangleSurface, load_surface
from aerotwin_voxel_cloud.voxelisation import OnDone, surface_points, voxelise

POINT_KINDS = ("centres", "surface")
# Relative difference below which two resolutions are equal.
_SAME_RESOLUTION = 1e-6
# Triangles; or points; or already occupied cells.
Content = TriangleSurface | np.ndarray | OccupancyGrid


def load_content(source: str | Path, *, dialect: str = "auto") -> Content:
    """Return the surface of a source with triangles, else its points (n, 3), or its grid.

    `source` is a world name, folder or YAML; mesh file; cloud file; or `.binvox` with its `dialect`
    ("auto", "binvox" or "airsim").

    Raises UserError if there is no such source, or it is damaged or empty.
    """
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix == ".binvox":
        return read_binvox(path, dialect=dialect)[0]
    if suffix == ".ply" and path.is_file() and count_faces(path):
        return load_surface(path)
    if suffix in CLOUD_SUFFIXES:
        return load_map(path).points
    refuse_foreign_format(path, ACCEPTED, SURFACE_ENDINGS)
    return load_surface(source)


def frame_of(
    content: Content,
    resolution_m: float,
    *,
    centre_m: Sequence[float] | None = None,
    size_m: Sequence[float] | None = None,
) -> GridFrame:
    """Return the frame of a box, else of the content; UserError if finer than a binvox file."""
    if isinstance(content, OccupancyGrid):
        _check_not_finer(content, resolution_m)
    if centre_m is not None and size_m is not None:
        return frame_of_box(centre_m, size_m, resolution_m)
    if isinstance(content, TriangleSurface):
        return frame_of_bounds(content.bounds_m, resolution_m)
    if isinstance(content, OccupancyGrid):
        if abs(resolution_m / content.resolution_m - 1.0) < _SAME_RESOLUTION:
            return content.frame
        return frame_of_bounds(np.array([content.origin_m, content.frame.upper_m]), resolution_m)
    return frame_of_bounds(np.array([content.min(axis=0), content.max(axis=0)]), resolution_m)


def _check_not_finer(grid: OccupancyGrid, resolution_m: float) -> None:
    if resolution_m < grid.resolution_m * (1.0 - _SAME_RESOLUTION):
        raise UserError(
            f"the resolution must be at least that of the binvox file, {grid.resolution_m:g} m, "
            f"got {resolution_m:g}; voxelise its world or mesh instead"
        )


def voxelise_content(
    content: Content, frame: GridFrame, *, on_done: OnDone | None = None
) -> OccupancyGrid:
    """Return the cells that a surface meets, or that hold a point or the centre of a cell."""
    if isinstance(content, TriangleSurface):
        vertices, triangles = content.vertices, content.triangles
        return voxelise(vertices, triangles, frame.resolution_m, frame=frame, on_done=on_done)
    if isinstance(content, OccupancyGrid):
        return content if content.frame is frame else content.within(frame)
    return grid_of_points(content, frame)


def points_of(
    content: Content, grid: OccupancyGrid, kind: str, *, on_done: OnDone | None = None
) -> np.ndarray:
    """Return one point (n, 3) [m] for each occupied cell, in the order of the grid.

    `kind` is "centres", of the cells, or "surface", the mean of the surface or of the points inside
    each cell. `content` is the source of the grid.

    Raises UserError if the surface of a binvox file is requested: it is not in the file.
    """
    if kind not in POINT_KINDS:
        raise ValueError(f"points must be one of {POINT_KINDS}, got {kind!r}")
    if kind == "centres":
        return grid.centres()
    if isinstance(content, OccupancyGrid):
        raise UserError("a binvox file holds no surface; use --points centres, or its mesh")
    if isinstance(content, TriangleSurface):
        return surface_points(content.vertices, content.triangles, grid, on_done=on_done)
    return point_means(content, grid)


def voxel_points(source: str | Path, resolution_m: float, kind: str) -> np.ndarray:
    """Return the points (n, 3) [m] of a source's voxels, `centres` or `surface`."""
    content = load_content(source)
    grid = voxelise_content(content, frame_of(content, resolution_m))
    return points_of(content, grid, kind)
