# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""binvox files, read and written slab by slab: Patrick Min's format, and AirSim's dialect."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.errors import UserError
from aerotwin_core.limits import check_is_file, check_memory
from aerotwin_voxel_cloud.binvox_header import (
    MAX_HEADER_BYTES,
    BinvoxHeader,
    header_of,
    header_text,
    parse_header,
)
from aerotwin_voxel_cloud.frame import GridFrame
from aerotwin_voxel_cloud.grid import OccupancyGrid
from aerotwin_voxel_cloud.parallel import OnDone, run_slabs
from aerotwin_voxel_cloud.voxelisation import bricks_in_use, grid_of_slabs

MAX_FILE_BYTES = 2_000_000_000
_BYTES_PER_BRICK = 192  # of 512 cells as bits in a slab, among those in use, and in the grid
# The runs of so many slabs are buffered before they are written.
_SLABS_AT_ONCE = 32
_RUNS_AT_ONCE = 1_000_000


def read_binvox(
    path: str | Path,
    *,
    dialect: str = "auto",
    resolution_m: float | None = None,
    origin_m: np.ndarray | None = None,
    on_done: OnDone | None = None,
) -> tuple[OccupancyGrid, BinvoxHeader]:
    """Return the grid of a binvox file in ENU, and its header.

    Parameters
    ----------
    dialect : {"auto", "binvox", "airsim"}
        `auto` reads a file as AirSim's when its scale is 1/(-2 translate_x): all that AirSim
        writes, and otherwise only grids of 1 m around the origin, which count as binvox.
    resolution_m, origin_m : optional
        Edge of a cell [m] and lower corner (3,) in map [m] in place of the header's.
    on_done : callable, optional
        Called with 1 for each slab, from the threads.

    Raises
    ------
    UserError
        If the file is missing, not binvox, or its runs do not fill the grid exactly. This is
        checked before memory for cells is allocated.
    """
    from aerotwin_voxel_cloud.run_lengths import find_slabs

    path = Path(path)
    header, pairs = _load(path, dialect)
    try:
        frame = header.frame(resolution_m=resolution_m, origin_m=origin_m)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    _, ny, nz = frame.dims
    starts = np.zeros((frame.n_bricks[0], 2), dtype=np.int64)
    n_found, n_occupied = find_slabs(pairs, 8 * ny * nz, starts)
    if n_found != frame.n_cells:
        raise UserError(
            f"{path}: the data fill {n_found} cells, dim says {frame.n_cells}; the file is "
            f"{'cut off' if n_found < frame.n_cells else 'too long'} or its header is not its own"
        )
    check_memory(
        _BYTES_PER_BRICK * min(n_occupied, int(np.prod(frame.n_bricks))),
        file_bytes=len(pairs),
        where=path,
        what=f"its {n_occupied} occupied cells",
    )
    tasks = [(pairs, frame, slab, starts[slab]) for slab in range(len(starts))]
    return grid_of_slabs(frame, _decoded_bricks, tasks, on_done), header


def read_binvox_header(path: str | Path, *, dialect: str = "auto") -> BinvoxHeader:
    """Return the header of a binvox file only."""
    path = Path(path)
    check_is_file(path)
    try:
        with path.open("rb") as file:
            start = file.read(MAX_HEADER_BYTES)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}; check the path") from None
    return parse_header(start, dialect=dialect, where=str(path))[0]


def write_binvox(
    path: str | Path,
    grid: OccupancyGrid,
    *,
    dialect: str = "binvox",
    on_done: OnDone | None = None,
) -> None:
    """Write a grid as binvox, atomically.

    `dialect` is "binvox", the original format, or "airsim", that of AirSim's `simCreateVoxelGrid`.
    The position of a grid whose centre is not the origin is read back correctly only if its dialect
    is named. `on_done` is called with 1 for each slab, from the threads.
    """
    if dialect not in ("binvox", "airsim"):
        raise ValueError(f"dialect must be binvox or airsim, got {dialect!r}")
    with atomic_file(Path(path)) as out:
        out.write(header_text(header_of(grid.frame, dialect)))
        for block in _runs(grid, on_done):
            out.write(block)


def _load(path: Path, dialect: str) -> tuple[BinvoxHeader, np.ndarray]:
    """Return the header and the raw pairs of bytes."""
    check_is_file(path)
    try:
        with path.open("rb") as file:
            header, at = parse_header(file.read(MAX_HEADER_BYTES), dialect=dialect, where=str(path))
            n_bytes = file.seek(0, 2) - at
            if n_bytes > MAX_FILE_BYTES:
                raise UserError(f"{path}: {n_bytes} bytes of data are more than {MAX_FILE_BYTES}")
            file.seek(at)
            pairs = np.fromfile(file, np.uint8)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}; check the path") from None
    if len(pairs) % 2:
        raise UserError(f"{path}: the data end within a pair; the file is cut off")
    return header, pairs


def _decoded_bricks(
    pairs: np.ndarray, frame: GridFrame, slab: int, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    from aerotwin_voxel_cloud.run_lengths import decode_slab

    nx, ny, nz = frame.dims
    _, n_bricks_y, n_bricks_z = frame.n_bricks
    words = np.zeros((n_bricks_y * n_bricks_z, 8), dtype=np.uint64)
    n_cells = min(8, nx - 8 * slab) * ny * nz
    decode_slab(pairs, start[0], start[1], n_cells, ny, nz, words)
    return bricks_in_use(words)


def _encoded_slab(grid: OccupancyGrid, slab: int) -> tuple[np.ndarray, np.ndarray]:
    from aerotwin_voxel_cloud.run_lengths import encode_slab

    nx, ny, nz = grid.dims
    bricks = slice(*grid.slab_starts[slab : slab + 2])
    n_layers = min(8, nx - 8 * slab)
    return encode_slab(grid.brick_ids[bricks], grid.words[bricks], n_layers, ny, nz)


def _runs(grid: OccupancyGrid, on_done: OnDone | None) -> Iterator[bytes]:
    """Yield the runs of a grid; those that cross from slab to slab are joined."""
    open_run = _OpenRun()
    slabs = range(grid.frame.n_bricks[0])
    for first in slabs[::_SLABS_AT_ONCE]:
        tasks = [(grid, slab) for slab in slabs[first : first + _SLABS_AT_ONCE]]
        for pairs, ends in run_slabs(_encoded_slab, tasks, on_done):
            n_before, n_first, n_last, n_after = (int(n) for n in ends)
            yield from open_run.extend(0, n_before)
            yield from open_run.extend(1, n_first)
            if n_last:
                yield from open_run.close()
                yield pairs.tobytes()
                yield from open_run.extend(1, n_last)
            yield from open_run.extend(0, n_after)
    yield from open_run.close()


class _OpenRun:
    """The last run, not yet written, which the next slab may lengthen."""

    def __init__(self) -> None:
        self._value, self._length = 0, 0

    def extend(self, value: int, length: int) -> Iterator[bytes]:
        """Lengthen the run by cells of a value, or close it and start another."""
        if length and value != self._value:
            yield from self.close()
            self._value = value
        self._length += length

    def close(self) -> Iterator[bytes]:
        """Yield the run."""
        n_full, rest = divmod(self._length, 255)
        while n_full > 0:
            yield bytes((self._value, 255)) * min(n_full, _RUNS_AT_ONCE)
            n_full -= _RUNS_AT_ONCE
        if rest:
            yield bytes((self._value, rest))
        self._length = 0
