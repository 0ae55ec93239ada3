# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Position, resolution and size of a grid in map."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_core.errors import UserError

# The bits of 1e11 cells are 12.5 GB; a grid holds only the bricks in use. One slab of eight
# layers is processed densely, one byte for eight cells.
MAX_CELLS = 100_000_000_000
MAX_CELLS_OF_A_LAYER = 250_000_000
# Coordinates are rounded to the nearest 2^-28 of a cell (4 nm at 1 m): differences are then exact
# in float64, and points that close to a grid plane lie on it.
STEPS_PER_CELL = 2.0**28
# Beyond this many cells from the origin such a step is below the spacing of float64.
FARTHEST_CELL = 2.0**24


@dataclass(frozen=True, kw_only=True)
class GridFrame:
    """A block of equal cubes, half open: a cube holds its lower faces, not its upper ones.

    Attributes
    ----------
    origin_m : (3,) array
        Lower corner of cell (0, 0, 0) in map [m].
    resolution_m : float
        Edge length of a cell [m].
    dims : tuple of int
        Number of cells along x (east), y (north), z (up).

    Raises
    ------
    UserError
        If the resolution is not positive or the grid is too large to process.
    """

    origin_m: np.ndarray
    resolution_m: float
    dims: tuple[int, int, int]

    def __post_init__(self) -> None:
        if np.shape(self.origin_m) != (3,) or len(self.dims) != 3 or min(self.dims) < 1:
            raise ValueError(
                "a grid needs origin_m (3,) and three positive dims, got "
                f"{np.shape(self.origin_m)} and {self.dims}"
            )
        _check_resolution(self.resolution_m)
        nx, ny, nz = (int(n) for n in self.dims)
        if not np.isfinite(self.origin_m).all():
            raise UserError(f"origin must be finite [m], got {self.origin_m}")
        if nx * ny * nz > MAX_CELLS or ny * nz > MAX_CELLS_OF_A_LAYER or nx > FARTHEST_CELL:
            raise UserError(
                f"a grid of {nx} x {ny} x {nz} cells at {self.resolution_m:g} m does not fit (at "
                f"most {MAX_CELLS:.3g} cells, {MAX_CELLS_OF_A_LAYER:.3g} in a plane of y and z); "
                "use a coarser resolution or a smaller --size"
            )

    @property
    def n_cells(self) -> int:
        """Number of cells, occupied or not."""
        nx, ny, nz = self.dims
        return nx * ny * nz

    @property
    def n_bricks(self) -> tuple[int, int, int]:
        """Number of bricks of 8 x 8 x 8 cells along x, y, z."""
        nx, ny, nz = self.dims
        return -(-nx // 8), -(-ny // 8), -(-nz // 8)

    @property
    def upper_m(self) -> np.ndarray:
        """Upper corner (3,) of the last cell in map [m]."""
        return self.origin_m + np.array(self.dims) * self.resolution_m

    def centres_of(self, cells: np.ndarray) -> np.ndarray:
        """Return the centres (n, 3) in map [m] of cells (n, 3)."""
        return self.origin_m + (cells + 0.5) * self.resolution_m

    def cells_of(self, points_map: np.ndarray) -> np.ndarray:
        """Return the cells (n, 3), int64, that hold points (n, 3) [m]; some may lie outside."""
        return np.floor(to_cells(points_map, self.origin_m, self.resolution_m)).astype(np.int64)

    def contains(self, cells: np.ndarray) -> np.ndarray:
        """Return for each cell (n, 3) whether it belongs to the grid."""
        is_inside = np.logical_and(cells >= 0, cells < self.dims)
        return np.asarray(is_inside.all(axis=1))


def to_cells(points_map: np.ndarray, origin_m: np.ndarray, resolution_m: float) -> np.ndarray:
    """Return coordinates in cells from an origin, to the nearest step of the lattice."""
    return np.rint((points_map - origin_m) / resolution_m * STEPS_PER_CELL) / STEPS_PER_CELL


def frame_of_bounds(bounds_m: np.ndarray, resolution_m: float) -> GridFrame:
    """Return the frame that covers lowest and highest corner (2, 3) [m], on multiples of a cell.

    Raises
    ------
    UserError
        If the bounds are empty or the grid would be too large.
    """
    bounds = np.asarray(bounds_m, dtype=np.float64)
    _check_resolution(resolution_m)
    if bounds.shape != (2, 3) or not np.isfinite(bounds).all() or (bounds[1] < bounds[0]).any():
        raise UserError(f"bounds must be (lowest, highest) corners, got {bounds.tolist()}")
    low, high = np.floor(to_cells(bounds, np.zeros(3), resolution_m))
    return _frame(low * resolution_m, high - low + 1.0, resolution_m)


def frame_of_box(
    centre_m: Sequence[float], size_m: Sequence[float], resolution_m: float
) -> GridFrame:
    """Return the frame around a centre (3,) with edges (3,) [m], rounded up to whole cells."""
    centre, size = np.asarray(centre_m, np.float64), np.asarray(size_m, np.float64)
    _check_resolution(resolution_m)
    if not ((size > 0.0).all() and np.isfinite(size).all() and np.isfinite(centre).all()):
        raise UserError(
            f"the size must be positive and the centre finite [m], got size {size.tolist()} "
            f"and centre {centre.tolist()}"
        )
    dims = np.maximum(np.ceil(to_cells(size, np.zeros(3), resolution_m)), 1.0)
    return _frame(centre - dims * resolution_m / 2.0, dims, resolution_m)


def _frame(origin_m: np.ndarray, dims: np.ndarray, resolution_m: float) -> GridFrame:
    nx, ny, nz = (int(min(n, 1e15)) for n in dims)
    return GridFrame(origin_m=origin_m, resolution_m=float(resolution_m), dims=(nx, ny, nz))


def _check_resolution(resolution_m: float) -> None:
    if not (np.isfinite(resolution_m) and resolution_m > 0.0):
        raise UserError(f"the resolution must be positive [m], got {resolution_m}")
