# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A grid as a 2-D occupancy map for a ground robot, in the files of Nav2's map_server.

A column of cells is an obstacle if one of them lies in a band of heights above the ground; free if
it holds a surface, but none there; unknown if it is empty.
"""

import math
from pathlib import Path

import numpy as np

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.errors import UserError
from aerotwin_voxel_cloud.grid import OccupancyGrid

UNKNOWN, FREE, OCCUPIED = -1, 0, 100
"""Values of nav_msgs/OccupancyGrid."""
BAND_M = (0.25, 1.5)
"""Of the ground robot's `scan`."""
_PIXELS = {UNKNOWN: 128, FREE: 254, OCCUPIED: 0}
"""128 is unknown for any sensible thresholds; 205, which is usual, is free below 0.25."""
_FREE_BELOW, _OCCUPIED_ABOVE = 0.25, 0.65
_ROUNDING = 1e-6


def occupancy_map(
    grid: OccupancyGrid, band_m: tuple[float, float] = BAND_M, ground_z_m: float | None = None
) -> np.ndarray:
    """Return the values (ny, nx) int8 of the columns, the south-western one first.

    Parameters
    ----------
    grid : OccupancyGrid
        Its cells are at most half as high as the lower end of the band: a slope of 45 degrees then
        is no obstacle.
    band_m : (low, high)
        Heights of obstacles above the ground [m], from the centre of a cell to that of the ground.
    ground_z_m : float, optional
        Height of a level ground in map [m]; otherwise it is the lowest cell of each column.

    Raises
    ------
    UserError
        If the band is empty, or the cells are too coarse for it.
    """
    low_m, high_m = band_m
    if not 0.0 < low_m < high_m < math.inf:
        raise UserError(f"band_m must be 0 < LOW < HIGH, got {low_m:g} {high_m:g}; correct it")
    if grid.resolution_m > 0.5 * low_m + _ROUNDING:
        raise UserError(
            f"resolution_m must be at most half of the band's lower end ({0.5 * low_m:g} m), got "
            f"{grid.resolution_m:g}: the steps of a slope would be obstacles; use finer cells or a "
            "higher band"
        )
    nx, ny, nz = grid.dims
    x, y, z = grid.cells().T
    columns = y.astype(np.int64) * nx + x
    if ground_z_m is None:
        lowest = np.full(nx * ny, nz, dtype=np.int32)
        np.minimum.at(lowest, columns, z)
        height_m = (z - lowest[columns]) * grid.resolution_m
    else:
        height_m = grid.origin_m[2] + (z + 0.5) * grid.resolution_m - ground_z_m
    values = np.full(nx * ny, UNKNOWN, dtype=np.int8)
    values[columns] = FREE
    is_obstacle = (height_m >= low_m - _ROUNDING) & (height_m <= high_m + _ROUNDING)
    values[columns[is_obstacle]] = OCCUPIED
    return values.reshape(ny, nx)


def write_occupancy_map(path: Path, values: np.ndarray, grid: OccupancyGrid) -> None:
    """Write NAME.pgm, north up, and NAME.yaml, which names it, for map_server.

    `origin` is the south-western corner of the map; the mode is trinary.
    """
    pixels = np.select([values == value for value in _PIXELS], [*_PIXELS.values()])
    image, (ny, nx) = path.with_suffix(".pgm"), values.shape
    with atomic_file(image) as file:
        file.write(f"P5\n{nx} {ny}\n255\n".encode())
        file.write(pixels[::-1].astype(np.uint8).tobytes())
    x_m, y_m = (round(float(v), 9) for v in grid.origin_m[:2])
    text = (
        f"image: {image.name}\nmode: trinary\nresolution: {float(grid.resolution_m)!r}\n"
        f"origin: [{x_m!r}, {y_m!r}, 0.0]\nnegate: 0\n"
        f"occupied_thresh: {_OCCUPIED_ABOVE}\nfree_thresh: {_FREE_BELOW}\n"
    )
    with atomic_file(path) as file:
        file.write(text.encode())
