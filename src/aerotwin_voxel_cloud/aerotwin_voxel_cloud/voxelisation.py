# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Exact voxelisation of a triangle mesh, and the mean of its surface inside each cell."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.threads import default_thread_count, run_tasks, split_range
from aerotwin_voxel_cloud.frame import FARTHEST_CELL, STEPS_PER_CELL, GridFrame, frame_of_bounds
from aerotwin_voxel_cloud.grid import MAX_BRICKS, OccupancyGrid

OnDone = Callable[[int], object]
_NOTHING = np.empty((0, 4))
_NO_RANKS = np.empty((0, 8), dtype=np.int64)
_NO_IDS = np.empty(0, dtype=np.int64)
_NO_BLOCKS = np.empty((0, 8), dtype=np.uint64)


def run_slabs(
    kernel: Callable[..., Any], tasks: Sequence[tuple], on_done: OnDone | None = None
) -> list[Any]:
    """Call ``kernel(*task)`` for every task over threads; return the results in order.

    The kernel releases the interpreter lock and shares no output with other tasks. `on_done` is
    called with 1 after each task, from its thread.
    """
    is_stopped = False

    def run(*task: Any) -> Any:
        if is_stopped:
            return None
        result = kernel(*task)
        if on_done is not None:
            on_done(1)
        return result

    try:
        return run_tasks(run, tasks, default_thread_count())
    except BaseException:  # the waiting tasks of the pool would still run after Ctrl-C
        is_stopped = True
        raise


@dataclass(frozen=True, kw_only=True)
class SlabbedMesh:
    """A mesh in a grid's cells, its triangles listed by slab: eight layers of cells along x."""

    frame: GridFrame
    points: np.ndarray  # (n, 3) vertices in cells from the grid's origin, to the nearest 2^-28
    triangles: np.ndarray  # (m, 3) int32
    # starts and listed: triangles that reach into slab s: `listed[starts[s]:starts[s + 1]]`,
    # ascending
    starts: np.ndarray  # (n_slabs + 1,) int64
    listed: np.ndarray

    def slab_triangles(self, slab: int) -> np.ndarray:
        """Return the indices of the triangles that reach into a slab."""
        return self.listed[self.starts[slab] : self.starts[slab + 1]]


def voxelise(
    vertices: np.ndarray,
    triangles: np.ndarray,
    resolution_m: float,
    *,
    frame: GridFrame | None = None,
    on_done: OnDone | None = None,
) -> OccupancyGrid:
    """Return which cells the surface of a mesh intersects; triangles outside are clipped.

    Parameters
    ----------
    vertices, triangles : (n, 3) array, (m, 3) integer array
        Vertices in map [m], and vertex indices; orientation does not matter, the mesh need not be
        closed.
    resolution_m : float
        Edge length of a cell [m].
    frame : GridFrame, optional
        The grid; by default it covers the mesh, on multiples of the resolution.
    on_done : callable, optional
        Called with 1 for each of the slabs (`frame.n_bricks[0]`), from the threads.

    Raises
    ------
    UserError
        If the grid is too large.

    Notes
    -----
    Vertices are rounded to the nearest 2^-28 of a cell (4 nm at 1 m); from there every decision is
    that of exact arithmetic. Cells are half open: a plane on a grid plane fills the layer above
    it, not two. The result does not depend on the number of threads.
    """
    if frame is None:
        frame = frame_of_bounds(bounds_of(vertices, triangles), resolution_m)
    return mark(slabbed(vertices, triangles, frame), on_done)


def surface_points(
    vertices: np.ndarray,
    triangles: np.ndarray,
    grid: OccupancyGrid,
    *,
    on_done: OnDone | None = None,
) -> np.ndarray:
    """Return the mean of the surface (n, 3) [m] inside each cell, in the order of the grid.

    It is the centroid by area of all triangles clipped to the cell; where they only touch it, the
    mean of the touching corners. `grid` is that of `voxelise` for the same mesh; `on_done` is
    called with 1 for each slab, from the threads.
    """
    mesh = slabbed(vertices, triangles, grid.frame)
    tasks = [(mesh, grid, slab) for slab in range(grid.frame.n_bricks[0])]
    means = np.concatenate(run_slabs(_slab_means, tasks, on_done))
    return grid.origin_m + means * grid.resolution_m


def bounds_of(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return lowest and highest corner (2, 3) of the vertices that triangles use."""
    from aerotwin_voxel_cloud.mesh_kernels import bounds_of_used

    vertices, triangles = _arrays(vertices, triangles)
    if len(triangles) == 0:
        raise UserError("the mesh has no triangles; there is nothing to voxelise")
    parts = _parts(len(triangles))
    bounds = np.empty((len(parts), 2, 3))
    tasks = [(vertices, triangles, bounds[n], *part) for n, part in enumerate(parts)]
    if not all(run_slabs(bounds_of_used, tasks)):
        raise ValueError("triangles must name existing vertices")
    return np.array([bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)])


def slabbed(
    vertices: np.ndarray, triangles: np.ndarray, frame: GridFrame, *, is_above_meant: bool = False
) -> SlabbedMesh:
    """Return a mesh in the cells of a frame, optionally with triangles above and below it."""
    from aerotwin_voxel_cloud.mesh_kernels import list_by_slab, slab_ranges, to_lattice

    vertices, triangles = _arrays(vertices, triangles)
    if len(triangles) and (triangles.min() < 0 or triangles.max() >= len(vertices)):
        raise ValueError("triangles must name existing vertices")
    points = np.empty_like(vertices)
    scale = (frame.origin_m, frame.resolution_m, STEPS_PER_CELL, points)
    run_slabs(to_lattice, [(vertices, *scale, *part) for part in _parts(len(points))])
    # NaN and infinity fail the comparison as well.
    if len(points) and not (max(points.max(), -points.min()) <= FARTHEST_CELL):
        raise UserError(
            f"vertices must be finite and within {FARTHEST_CELL:.3g} cells of the grid, got "
            f"some beyond at {frame.resolution_m:g} m; use a coarser resolution"
        )
    slabs = np.empty((len(triangles), 2), dtype=np.int32)
    dims = np.array(frame.dims, dtype=np.int64)
    shared = (points, triangles, dims, is_above_meant, slabs)
    n_entries = sum(run_slabs(slab_ranges, [(*shared, *part) for part in _parts(len(triangles))]))
    starts = np.empty(frame.n_bricks[0] + 1, dtype=np.int64)
    listed = np.empty(n_entries, dtype=np.int32)
    list_by_slab(slabs, starts, listed)
    return SlabbedMesh(
        frame=frame, points=points, triangles=triangles, starts=starts, listed=listed
    )


def mark(mesh: SlabbedMesh, on_done: OnDone | None = None) -> OccupancyGrid:
    """Return which cells the triangles intersect."""
    tasks = [(mesh, slab) for slab in range(mesh.frame.n_bricks[0])]
    return grid_of_slabs(mesh.frame, _marked_bricks, tasks, on_done)


def grid_of_slabs(
    frame: GridFrame,
    kernel: Callable[..., tuple[np.ndarray, np.ndarray]],
    tasks: Sequence[tuple],
    on_done: OnDone | None = None,
) -> OccupancyGrid:
    """Return the grid of the (ids, words) of every slab; UserError as soon as they are too many."""
    n_bricks, lock = 0, Lock()

    def counted(*task: Any) -> tuple[np.ndarray, np.ndarray]:
        nonlocal n_bricks
        bricks = kernel(*task) if n_bricks <= MAX_BRICKS else (_NO_IDS, _NO_BLOCKS)
        with lock:
            n_bricks += len(bricks[0])
        if n_bricks > MAX_BRICKS:
            raise UserError(
                f"too many bricks of 8 x 8 x 8 cells are occupied, at most {MAX_BRICKS} fit; use "
                "a coarser resolution or a smaller --size"
            )
        return bricks

    return OccupancyGrid.from_slabs(frame, run_slabs(counted, tasks, on_done))


def bricks_in_use(slab: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ids (m,) and words (m, 8) of the bricks of a dense slab that are not empty."""
    ids = np.flatnonzero(slab.any(axis=1))
    return ids, slab[ids]


def _marked_bricks(mesh: SlabbedMesh, slab: int) -> tuple[np.ndarray, np.ndarray]:
    return bricks_in_use(marked_slab(mesh, slab))


def marked_slab(mesh: SlabbedMesh, slab: int) -> np.ndarray:
    """Return the words (n_bricks_y * n_bricks_z, 8) of a slab's cells that triangles intersect."""
    from aerotwin_voxel_cloud.kernels import visit

    _, n_bricks_y, n_bricks_z = mesh.frame.n_bricks
    words = np.zeros((n_bricks_y * n_bricks_z, 8), dtype=np.uint64)
    dims = np.array(mesh.frame.dims, dtype=np.int64)
    listed = mesh.slab_triangles(slab)
    visit(mesh.points, mesh.triangles, listed, 8 * slab, dims, words, _NO_RANKS, _NOTHING)
    return words


def _slab_means(mesh: SlabbedMesh, grid: OccupancyGrid, slab: int) -> np.ndarray:
    """Return the surface means (n, 3) of a slab's cells, in cells from the grid's origin."""
    from aerotwin_voxel_cloud.kernels import visit

    _, n_bricks_y, n_bricks_z = grid.frame.n_bricks
    bricks = slice(*grid.slab_starts[slab : slab + 2])
    ids, counts = grid.brick_ids[bricks], grid.n_occupied_in_blocks()[bricks]
    words = np.zeros((n_bricks_y * n_bricks_z, 8), dtype=np.uint64)
    ranks = np.zeros((n_bricks_y * n_bricks_z, 8), dtype=np.int64)
    ends = np.cumsum(counts, dtype=np.int64).reshape(counts.shape)
    words[ids], ranks[ids] = grid.words[bricks], ends - counts
    sums = np.zeros((int(counts.sum(dtype=np.int64)), 4))
    if len(sums):
        dims = np.array(grid.dims, dtype=np.int64)
        listed = mesh.slab_triangles(slab)
        visit(mesh.points, mesh.triangles, listed, 8 * slab, dims, words, ranks, sums)
    if not sums[:, 3].all():
        raise ValueError("the grid must be that of the mesh, got cells that it does not meet")
    return sums[:, :3] / sums[:, 3:]


def _arrays(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    vertices = np.ascontiguousarray(vertices, dtype=np.float64)
    triangles = np.ascontiguousarray(triangles, dtype=np.int32)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or triangles.shape != (len(triangles), 3):
        raise ValueError(
            "a mesh needs vertices (n, 3) and triangles (m, 3), got "
            f"{vertices.shape} and {triangles.shape}"
        )
    return vertices, triangles


def _parts(n: int) -> list[tuple[int, int]]:
    return split_range(n, 4 * default_thread_count())
