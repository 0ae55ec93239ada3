# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""An occupancy grid: where it lies, how fine it is, which cells hold something."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.errors import UserError

MAX_CELLS = 2_000_000_000
# A corner this close (in cells) to a grid plane counts as on it.
_ON_PLANE = 1e-9


@dataclass(frozen=True, kw_only=True)
class OccupancyGrid:
    """A regular grid of cubes.

    Attributes
    ----------
    origin_m : (3,) array
        Lower corner of cell (0, 0, 0) in map [m].
    resolution_m : float
        Edge length of a cell [m].
    occupied : (nx, ny, nz) bool array
        Which cells hold something; axes are x (east), y (north), z (up).
    """

    origin_m: np.ndarray
    resolution_m: float
    occupied: np.ndarray

    def __post_init__(self) -> None:
        if np.shape(self.origin_m) != (3,) or self.occupied.ndim != 3:
            raise ValueError(
                "a grid needs origin_m (3,) and occupied (nx, ny, nz), got "
                f"{np.shape(self.origin_m)} and {self.occupied.shape}"
            )
        if not self.resolution_m > 0.0:
            raise ValueError(f"resolution_m must be positive, got {self.resolution_m}")

    @property
    def n_occupied(self) -> int:
        """How many cells hold something."""
        return int(np.count_nonzero(self.occupied))

    def centres(self) -> np.ndarray:
        """Return the centres (n, 3) of the occupied cells in map [m], sorted by x, y, z."""
        return self.origin_m + (np.argwhere(self.occupied) + 0.5) * self.resolution_m


def grid_frame(bounds_m: np.ndarray, resolution_m: float) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return origin (3,) and dims of the grid that covers bounds (2, 3), on multiples of a cell.

    Raises
    ------
    UserError
        If the bounds are empty or the grid would not fit in memory.
    """
    bounds = np.asarray(bounds_m, dtype=np.float64)
    if bounds.shape != (2, 3) or not np.isfinite(bounds).all() or (bounds[1] < bounds[0]).any():
        raise UserError(f"bounds must be (lowest, highest) corners, got {bounds.tolist()}")
    if not resolution_m > 0.0:
        raise UserError(f"resolution must be positive [m], got {resolution_m}")
    low = np.floor(bounds[0] / resolution_m + _ON_PLANE)
    high = np.floor(bounds[1] / resolution_m + _ON_PLANE) + 1
    return low * resolution_m, checked_dims(high - low, resolution_m)


def checked_dims(dims: np.ndarray, resolution_m: float) -> tuple[int, ...]:
    """Return dims as integers, refused where they would not fit in memory."""
    n_cells = float(np.prod(np.asarray(dims, dtype=np.float64)))
    if n_cells > MAX_CELLS:
        raise UserError(
            f"a grid of {n_cells:.3g} cells at {resolution_m:g} m does not fit "
            f"(at most {MAX_CELLS:.3g}); use a coarser resolution or a smaller --size"
        )
    return tuple(int(d) for d in dims)


def box_frame(
    centre_m: np.ndarray, size_m: np.ndarray, resolution_m: float
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return origin (3,) and dims of a grid given by centre and size, whole cells."""
    size = np.asarray(size_m, dtype=np.float64)
    if not (size > 0).all():
        raise UserError(f"size must be positive [m], got {size.tolist()}")
    dims = np.maximum(np.ceil(size / resolution_m - _ON_PLANE), 1)
    origin = np.asarray(centre_m, dtype=np.float64) - dims * resolution_m / 2.0
    return origin, checked_dims(dims, resolution_m)


def grid_from_points(
    points: np.ndarray,
    resolution_m: float,
    *,
    origin_m: np.ndarray | None = None,
    dims: tuple[int, ...] | None = None,
) -> OccupancyGrid:
    """Return the grid of cells that hold at least one of the points (n, 3) [m]."""
    if origin_m is None or dims is None:
        origin_m, dims = grid_frame(
            np.array([points.min(axis=0), points.max(axis=0)]), resolution_m
        )
    index = np.floor((points - origin_m) / resolution_m).astype(np.int64)
    index = index[((index >= 0) & (index < dims)).all(axis=1)]
    occupied = np.zeros(dims, dtype=np.bool_)
    occupied[tuple(index.T)] = True
    return OccupancyGrid(origin_m=origin_m, resolution_m=resolution_m, occupied=occupied)
