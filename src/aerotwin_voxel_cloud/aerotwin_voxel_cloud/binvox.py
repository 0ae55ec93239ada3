# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""binvox files, read and written slab by slab: Patrick Min's format, and AirSim's dialect.

Patrick Min's format (https://www.patrickmin.com/binvox/binvox.html): `dim` names the cells along
x, z, y; `scale` is the edge of the whole grid, `translate` its lower corner. Raw cells run along
y, then z, then x.

AirSim's `simCreateVoxelGrid` (WorldSimApi.cpp, createVoxelGrid) has x north, y east and the third
axis up, and differs in four points: `dim` names north, up, east; raw cells run along north, then
up, then east; `scale` is 1/length along north; `translate` is minus half the size, whatever the
centre. It tests the box of cell i around (i - n/2) times the resolution, n/2 rounded down, so that
for an even n the grid lies half a cell below `translate`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.errors import UserError
from aerotwin_core.limits import check_is_file, check_memory
from aerotwin_voxel_cloud.frame import GridFrame
from aerotwin_voxel_cloud.grid import OccupancyGrid
from aerotwin_voxel_cloud.voxelisation import OnDone, bricks_in_use, grid_of_slabs, run_slabs

DIALECTS = ("auto", "binvox", "airsim")
MAX_HEADER_BYTES = 4096
# Relative difference below which AirSim's 1/scale counts as its -2 translate_x (six digits).
_SAME_LENGTH = 1e-3
_LARGEST_DIM = 2**24
_LARGEST_NUMBER = 1e12
MAX_FILE_BYTES = 2_000_000_000
_BYTES_PER_BRICK = 192  # of 512 cells as bits in a slab, among those in use, and in the grid
# The runs of so many slabs are buffered before they are written.
_SLABS_AT_ONCE = 32
_RUNS_AT_ONCE = 1_000_000


@dataclass(frozen=True, kw_only=True)
class BinvoxHeader:
    """The header as written, its dialect, "binvox" or "airsim", and the reason for that as text."""

    dims: tuple[int, int, int]
    translate: tuple[float, float, float]
    scale: float
    dialect: str
    reason: str

    def frame(
        self, *, resolution_m: float | None = None, origin_m: np.ndarray | None = None
    ) -> GridFrame:
        """Return the grid's frame in ENU; an edge [m] or lower corner (3,) [m] may be replaced."""
        first, up, last = self.dims
        is_airsim = self.dialect == "airsim"
        dims = (last, first, up) if is_airsim else (first, last, up)
        length = 1.0 / self.scale if is_airsim else self.scale
        if resolution_m is None:
            resolution_m = length / (first if is_airsim else max(self.dims))
        if origin_m is None:
            origin_m = np.array(self.translate)
            if is_airsim:
                origin_m = origin_m[[1, 0, 2]] + _airsim_shift(dims) * resolution_m
        return GridFrame(
            origin_m=np.asarray(origin_m, np.float64), resolution_m=resolution_m, dims=dims
        )


def header_of(frame: GridFrame, dialect: str = "binvox") -> BinvoxHeader:
    """Return the header of a grid; AirSim's `translate` carries its centre here as well."""
    (nx, ny, nz), resolution = frame.dims, frame.resolution_m
    if dialect == "airsim":
        low = frame.origin_m - _airsim_shift(frame.dims) * resolution
        dims, scale = (ny, nz, nx), 1.0 / (resolution * ny)
        low = low[[1, 0, 2]]
    else:
        dims, scale, low = (nx, nz, ny), resolution * max(frame.dims), frame.origin_m
    tx, ty, tz = (float(v) for v in low)
    return BinvoxHeader(
        dims=dims, translate=(tx, ty, tz), scale=float(scale), dialect=dialect, reason="as asked"
    )


def header_text(header: BinvoxHeader) -> bytes:
    """Return the header as bytes of the file; repr retains every bit of the numbers."""
    dims = " ".join(map(str, header.dims))
    translate = " ".join(map(repr, header.translate))
    text = f"#binvox 1\ndim {dims}\ntranslate {translate}\nscale {header.scale!r}\ndata\n"
    return text.encode("ascii")


def parse_header(start: bytes, *, dialect: str, where: str) -> tuple[BinvoxHeader, int]:
    """Return the header of a file and the offset of its data.

    `start` is the first `MAX_HEADER_BYTES` of the file, or all of it; `dialect` is "auto", "binvox"
    or "airsim"; `where` is the file's name, for messages.

    Raises UserError if it is not a binvox header or its numbers are no valid grid.
    """
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {DIALECTS}, got {dialect!r}")
    if not start.startswith(b"#binvox"):
        raise UserError(f"{where}: not a binvox file (no '#binvox' at its start)")
    fields: dict[str, list[str]] = {}
    at = 0
    while (end := start.find(b"\n", at)) >= 0:
        blocks = start[at:end].decode("ascii", "replace").partition("#")[0].split()
        at = end + 1
        if blocks[:1] == ["data"]:
            return _parsed(fields, dialect, where), at
        if blocks:
            fields[blocks[0]] = blocks[1:]
    raise UserError(f"{where}: the header has no 'data' line in its first {len(start)} bytes")


def _parsed(fields: dict[str, list[str]], dialect: str, where: str) -> BinvoxHeader:
    try:
        dims = tuple(_whole(block) for block in fields["dim"])
        tx, ty, tz = (float(block) for block in fields.get("translate", ["0", "0", "0"]))
        (scale,) = (float(block) for block in fields.get("scale", ["1"]))
        first, second, third = dims
    except KeyError:
        raise UserError(f"{where}: the header has no 'dim' line; the file is damaged") from None
    except (ValueError, OverflowError) as error:
        raise UserError(f"{where}: the header is damaged: {error}") from None
    if min(dims) < 1 or max(dims) > _LARGEST_DIM:
        raise UserError(f"{where}: dim {dims} is out of range (1 to {_LARGEST_DIM} each)")
    if not (np.abs([tx, ty, tz]) <= _LARGEST_NUMBER).all() or not (
        1.0 / _LARGEST_NUMBER <= scale <= _LARGEST_NUMBER
    ):
        raise UserError(
            f"{where}: translate and scale must be finite and scale positive, got "
            f"{tx:g} {ty:g} {tz:g} and {scale:g}"
        )
    reason = "as asked"
    if dialect == "auto":
        dialect, reason = _recognised(tx, scale)
    return BinvoxHeader(
        dims=(first, second, third),
        translate=(tx, ty, tz),
        scale=scale,
        dialect=dialect,
        reason=reason,
    )


def _recognised(translate_x: float, scale: float) -> tuple[str, str]:
    """Detect AirSim's files: their scale is 1/(-2 translate_x), which 1 m long grids share."""
    is_reciprocal = abs(scale * -2.0 * translate_x - 1.0) < _SAME_LENGTH
    if is_reciprocal and abs(scale - 1.0) > _SAME_LENGTH:
        return "airsim", "scale is 1/(-2 translate_x), as simCreateVoxelGrid writes it"
    return "binvox", "scale is not 1/(-2 translate_x): the format's own meaning"


def _airsim_shift(dims: tuple[int, int, int]) -> np.ndarray:
    """Return lower corner minus `translate` in cells: half a cell down where n is even."""
    return np.array([n / 2.0 - n // 2 - 0.5 for n in dims])


def _whole(block: str) -> int:
    number = float(block)
    if not number.is_integer():
        raise ValueError(f"dim must be whole numbers, got {block}")
    return int(number)


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
