# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A sparse occupancy grid: only the non-empty bricks of 8 x 8 x 8 cells are stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_voxel_cloud.frame import GridFrame

MAX_DENSE_CELLS = 1_000_000_000
# 64 bytes each: 2.1 GB of bricks at most.
MAX_BRICKS = 2**25
_N_BITS = np.array([bin(value).count("1") for value in range(65536)], dtype=np.uint8)


@dataclass(frozen=True, kw_only=True)
class OccupancyGrid:
    """The occupied cells of a frame.

    A slab is a layer of bricks of the same x. Cells are stored, and listed by every method, by
    brick (x, then y, then z) and within a brick by x, z, y; so neighbours stay together.

    Attributes
    ----------
    slab_starts : (n_bricks_x + 1,) int64 array
        Offset of each slab's bricks.
    brick_ids : (m,) int64 array
        brick_y * n_bricks_z + brick_z, ascending within a slab.
    words : (m, 8) uint64 array
        One word for each x within the brick; bit 8 z + y is set where the cell is occupied.
    """

    frame: GridFrame
    slab_starts: np.ndarray
    brick_ids: np.ndarray
    words: np.ndarray

    def __post_init__(self) -> None:
        m, n_slabs = len(self.brick_ids), self.frame.n_bricks[0]
        if self.words.shape != (m, 8) or self.slab_starts.shape != (n_slabs + 1,):
            raise ValueError(
                f"a grid needs words (m, 8) and slab_starts ({n_slabs + 1},), got "
                f"{self.words.shape} and {self.slab_starts.shape}"
            )

    @classmethod
    def from_slabs(
        cls, frame: GridFrame, slabs: Sequence[tuple[np.ndarray, np.ndarray]]
    ) -> "OccupancyGrid":
        """Return the grid of (brick_ids, words) of every slab."""
        starts = np.cumsum([0, *(len(ids) for ids, _ in slabs)], dtype=np.int64)
        return cls(
            frame=frame,
            slab_starts=starts,
            brick_ids=np.concatenate([ids for ids, _ in slabs]),
            words=np.concatenate([words for _, words in slabs]),
        )

    @classmethod
    def from_cells(cls, frame: GridFrame, cells: np.ndarray) -> "OccupancyGrid":
        """Return the grid in which the cells (n, 3) are occupied; those outside are dropped."""
        return _from_codes(frame, np.unique(codes_of(frame, cells[frame.contains(cells)])))

    @property
    def origin_m(self) -> np.ndarray:
        """Lower corner (3,) of cell (0, 0, 0) in map [m]."""
        return self.frame.origin_m

    @property
    def resolution_m(self) -> float:
        """Edge length of a cell [m]."""
        return self.frame.resolution_m

    @property
    def dims(self) -> tuple[int, int, int]:
        """Number of cells along x (east), y (north), z (up)."""
        return self.frame.dims

    @cached_property
    def n_occupied(self) -> int:
        """Number of occupied cells."""
        return int(self.n_occupied_in_blocks().sum(dtype=np.int64))

    def n_occupied_in_blocks(self) -> np.ndarray:
        """Return the number of occupied cells (m, 8) of every word."""
        quarters = self.words.view(np.uint16).reshape(-1, 8, 4)
        return _N_BITS[quarters].sum(axis=2, dtype=np.uint8)

    def layer_counts(self) -> np.ndarray:
        """Return the number of occupied cells (nz,) at every height."""
        n_layers = self.frame.n_bricks[2]
        of_rows = _N_BITS[self.words.view(np.uint8)].reshape(-1, 8, 8).sum(axis=1, dtype=np.int64)
        counts = np.zeros((n_layers, 8), dtype=np.int64)
        np.add.at(counts, self.brick_ids % n_layers, of_rows)
        return counts.reshape(-1)[: self.dims[2]]

    def cells(self) -> np.ndarray:
        """Return the occupied cells (n, 3), int32, in the order of the grid."""
        from aerotwin_voxel_cloud.mesh_kernels import list_cells

        n_occupied = np.diff(self.slab_starts)
        slabs = np.repeat(np.arange(len(n_occupied), dtype=np.int64), n_occupied)
        cells = np.empty((self.n_occupied, 3), dtype=np.int32)
        list_cells(slabs, self.brick_ids, self.words, self.frame.n_bricks[2], cells)
        return cells

    def centres(self) -> np.ndarray:
        """Return the centres (n, 3) of the occupied cells in map [m].

        Beam et al. 2024, eq. (1), defines them in a unit cube of d cells along each edge:
        ``(i + 0.5) / d``. With the edge ``s = d * resolution_m`` and the lower corner t of that
        cube they are, in metres, ``t + s (i + 0.5) / d = origin_m + (i + 0.5) resolution_m``,
        which needs no cube.
        """
        return self.frame.centres_of(self.cells())

    def dense(self) -> np.ndarray:
        """Return the occupied cells as a bool array (nx, ny, nz).

        Raises UserError if it would hold more than 1e9 cells.
        """
        if self.frame.n_cells > MAX_DENSE_CELLS:
            raise UserError(
                f"{self.frame.n_cells:.3g} cells do not fit a dense array (at most "
                f"{MAX_DENSE_CELLS:.3g}); use cells() or a smaller box"
            )
        occupied = np.zeros(self.dims, dtype=np.bool_)
        occupied[tuple(self.cells().T)] = True
        return occupied

    def within(self, frame: GridFrame) -> "OccupancyGrid":
        """Return the cells of another frame that hold the centre of an occupied cell."""
        return OccupancyGrid.from_cells(frame, frame.cells_of(self.centres()))


def codes_of(frame: GridFrame, cells: np.ndarray) -> np.ndarray:
    """Return the sort key (n,) of each cell (n, 3) in the order of the grid."""
    _, n_bricks_y, n_bricks_z = frame.n_bricks
    x, y, z = np.asarray(cells, dtype=np.int64).T
    brick = ((x >> 3) * n_bricks_y + (y >> 3)) * n_bricks_z + (z >> 3)
    return (((brick << 3 | (x & 7)) << 3 | (z & 7)) << 3) | (y & 7)


def _from_codes(frame: GridFrame, codes: np.ndarray) -> OccupancyGrid:
    n_bricks_x, n_bricks_y, n_bricks_z = frame.n_bricks
    bricks, of_brick = np.unique(codes >> 9, return_inverse=True)
    words = np.zeros((len(bricks), 8), dtype=np.uint64)
    starts = np.flatnonzero(np.diff(codes >> 6, prepend=-1))
    bits = np.uint64(1) << (codes & 63).astype(np.uint64)
    if len(codes):
        words[of_brick[starts], codes[starts] >> 6 & 7] = np.bitwise_or.reduceat(bits, starts)
    n_of_slab = n_bricks_y * n_bricks_z
    edges = np.arange(n_bricks_x + 1, dtype=np.int64) * n_of_slab
    return OccupancyGrid(
        frame=frame,
        slab_starts=np.searchsorted(bricks, edges),
        brick_ids=bricks % n_of_slab,
        words=words,
    )


def grid_of_points(points_map: np.ndarray, frame: GridFrame) -> OccupancyGrid:
    """Return the grid of the cells that hold at least one of the points (n, 3) [m]."""
    return OccupancyGrid.from_cells(frame, frame.cells_of(points_map))


def point_means(points_map: np.ndarray, grid: OccupancyGrid) -> np.ndarray:
    """Return the mean (n, 3) [m] of the points in each cell, in the order of the grid."""
    cells = grid.frame.cells_of(points_map)
    inside = grid.frame.contains(cells)
    _, of_cell, counts = np.unique(
        codes_of(grid.frame, cells[inside]), return_inverse=True, return_counts=True
    )
    middle = grid.origin_m  # sums of coordinates from here keep their digits
    from_middle = points_map[inside] - middle
    sums = [np.bincount(of_cell, weights=from_middle[:, axis]) for axis in range(3)]
    return middle + np.stack(sums, axis=1) / counts[:, None]
