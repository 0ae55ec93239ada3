# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Exact voxelisation of a triangle mesh: a cell is occupied when a triangle meets it.

Cells are half open: a plane on a grid plane fills the layer above it, not two.
"""

import numpy as np

from aerotwin_voxel_cloud.grid import OccupancyGrid, grid_frame


def voxelise(
    vertices: np.ndarray,
    triangles: np.ndarray,
    resolution_m: float,
    bounds_m: np.ndarray | None = None,
    *,
    origin_m: np.ndarray | None = None,
    dims: tuple[int, ...] | None = None,
) -> OccupancyGrid:
    """Return which cells the surface of a mesh meets.

    Parameters
    ----------
    vertices : (n, 3) array
        In map [m].
    triangles : (m, 3) integer array
        Vertices of each triangle; orientation does not matter, the mesh need not be closed.
    resolution_m : float
        Edge length of a cell [m].
    bounds_m : (2, 3) array, optional
        Lowest and highest corner; the grid covers them on multiples of the resolution. The
        mesh's own bounds by default.
    origin_m, dims : optional
        The grid itself instead of bounds.

    Returns
    -------
    OccupancyGrid
        Triangles outside are cut off.

    Notes
    -----
    Exact up to rounding. About 40 million triangle-cell tests per second on one core.
    """
    from aerotwin_voxel_cloud.kernels import mark

    vertices = np.ascontiguousarray(vertices, dtype=np.float64)
    triangles = np.ascontiguousarray(triangles, dtype=np.int64)
    _check(vertices, triangles)
    if origin_m is None or dims is None:
        if bounds_m is None:
            is_used = np.zeros(len(vertices), dtype=np.bool_)
            is_used[triangles.ravel()] = True
            used = vertices[is_used] if len(triangles) else np.zeros((1, 3))
            bounds_m = np.array([used.min(axis=0), used.max(axis=0)])
        origin_m, dims = grid_frame(bounds_m, resolution_m)
    occupied = np.zeros(dims, dtype=np.uint8)
    mark((vertices - origin_m) / resolution_m, triangles, occupied)
    return OccupancyGrid(
        origin_m=np.asarray(origin_m, dtype=np.float64),
        resolution_m=float(resolution_m),
        occupied=occupied.view(np.bool_),
    )


def _check(vertices: np.ndarray, triangles: np.ndarray) -> None:
    if vertices.ndim != 2 or vertices.shape[1] != 3 or triangles.shape != (len(triangles), 3):
        raise ValueError(
            "a mesh needs vertices (n, 3) and triangles (m, 3), got "
            f"{vertices.shape} and {triangles.shape}"
        )
    if not np.isfinite(vertices).all():
        raise ValueError("vertices must be finite, got NaN or infinity")
    if len(triangles) and (triangles.min() < 0 or triangles.max() >= len(vertices)):
        raise ValueError("triangles must name existing vertices")
