# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Any input as a grid: world, mesh file, cloud file or binvox file."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aerotwin_registration import read_cloud
from aerotwin_registration.clouds import CLOUD_SUFFIXES
from aerotwin_registration.ply import read_ply
from aerotwin_voxel_cloud.binvox import read_binvox
from aerotwin_voxel_cloud.grid import OccupancyGrid, box_frame, grid_frame, grid_from_points
from aerotwin_voxel_cloud.surface import Surface, load_surface
from aerotwin_voxel_cloud.voxelise import voxelise


def voxelise_source(
    source: str | Path,
    resolution_m: float,
    *,
    centre_m: Sequence[float] | None = None,
    size_m: Sequence[float] | None = None,
) -> OccupancyGrid:
    """Return the occupancy grid of a world, mesh, cloud or binvox file.

    Parameters
    ----------
    source : str or path
        World name, folder or YAML; `.obj` or `.ply` mesh; cloud file; `.binvox`.
    resolution_m : float
        Edge length of a cell [m].
    centre_m, size_m : (3,), optional
        The box to voxelise in map [m]; everything by default.
    """
    content = load_reference(source)
    if isinstance(content, Surface):
        bounds = content.bounds_m
    else:
        bounds = np.array([content.min(axis=0), content.max(axis=0)])
    if centre_m is not None and size_m is not None:
        origin, dims = box_frame(np.array(centre_m), np.array(size_m), resolution_m)
    else:
        origin, dims = grid_frame(bounds, resolution_m)
    if isinstance(content, Surface):
        return voxelise(
            content.vertices, content.triangles, resolution_m, origin_m=origin, dims=dims
        )
    return grid_from_points(content, resolution_m, origin_m=origin, dims=dims)


def load_reference(source: str | Path) -> Surface | np.ndarray:
    """Return a surface where the source has triangles, else its points (n, 3)."""
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix == ".binvox":
        return read_binvox(path)[0].centres()
    if suffix == ".ply" and path.is_file() and len(read_ply(path)[1]):
        return load_surface(path)
    if suffix in CLOUD_SUFFIXES:
        return read_cloud(path).points
    return load_surface(source)
