# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Heights over the ground, seen from above, and a mesh of them.

Each cell has one height: walls are as steep as a cell, and points under a roof or a crown are left
out. The cloud retains them.
"""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_meshes import TexturedMesh
from aerotwin_reconstruction.dense.fusion import DenseCloud
from aerotwin_worlds.georaster import Raster
from aerotwin_worlds.height_grid import flat_place, grid_mesh, height_grid

_MOST_CELLS = 1 << 26


@dataclass(frozen=True, kw_only=True)
class SurfaceParameters:
    """Parameters of the mesh and its ortho picture."""

    cell_m: float = parameter(
        0.2, text="Cells of the heights.", unit="m", minimum=0.02, maximum=10.0
    )
    texel_m: float = parameter(
        0.05, text="Texels of the ortho picture.", unit="m", minimum=0.005, maximum=10.0
    )
    max_triangles: int = parameter(
        2_000_000, text="Largest number of triangles.", minimum=1000, maximum=8_000_000
    )
    max_tilt_deg: float = parameter(
        30.0, text="Largest used tilt from straight down.", unit="deg", minimum=1.0, maximum=90.0,
        old_name="steepest_deg",
    )  # fmt: skip
    hidden_m: float = parameter(
        0.5, text="Depth behind a picture of hidden texels.", unit="m", minimum=0.05, maximum=10.0
    )


def height_raster(
    cloud: DenseCloud, parameters: SurfaceParameters
) -> tuple[Raster, tuple[float, float]]:
    """Return the highest point of each cell, rows from north to south, and a start position.

    Raises
    ------
    ValueError
        If the cloud spans more than 2^26 cells.
    """
    cell, points = parameters.cell_m, cloud.points
    low = np.floor(points[:, :2].min(axis=0) / cell).astype(np.int64)
    high = np.floor(points[:, :2].max(axis=0) / cell).astype(np.int64) + 1
    columns, rows = (int(n) for n in high - low)
    if columns * rows > _MOST_CELLS:
        raise ValueError(f"{columns} x {rows} heights are too many; choose a greater cell_m")
    index = np.floor(points[:, :2] / cell).astype(np.int64) - low
    heights = np.full((rows, columns), -np.inf)
    np.maximum.at(heights, (rows - 1 - index[:, 1], index[:, 0]), points[:, 2])
    is_known = np.isfinite(heights)
    raster = Raster(
        values=np.where(is_known, heights, 0.0).astype(np.float32),
        is_known=is_known,
        west=float(low[0]) * cell,
        north=float(high[1]) * cell,
        pixel=(cell, cell),
    )
    grid = height_grid(raster, max_triangles=parameters.max_triangles)
    return raster, flat_place(grid, _places(grid))


def surface_mesh(heights: Raster, texture: Raster, parameters: SurfaceParameters) -> TexturedMesh:
    """Return the mesh of heights (enclosed holes filled) with a picture on it."""
    grid = height_grid(heights, max_triangles=parameters.max_triangles)
    return grid_mesh(grid, _places(grid), texture, name="reconstruction")


def _places(grid) -> np.ndarray:
    x, y = np.meshgrid(grid.x, grid.y)
    return np.stack([x, y, grid.height_m], axis=-1)
