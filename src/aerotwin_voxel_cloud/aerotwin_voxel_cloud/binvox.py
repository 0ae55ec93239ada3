# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""binvox files: Patrick Min's format, and the dialect that AirSim writes.

The format: a text header, then pairs of bytes (value, count). Raw axes are x, z, y, slowest
first; `scale` is the edge length of the whole grid, `translate` its lower corner.

AirSim's `simCreateVoxelGrid` differs: `scale` is the reciprocal of the length along x, the header
names the dims x, height, y, the raw axes are y, height, x, slowest first, and x points north, y
east. Its grids are returned in ENU here: x east, y north, z up.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_voxel_cloud.grid import MAX_CELLS, OccupancyGrid

DIALECTS = ("auto", "binvox", "airsim")
_MAX_HEADER_BYTES = 4096
# Relative difference below which AirSim's 1/scale counts as its -2 translate_x.
_SAME_LENGTH = 1e-3


@dataclass(frozen=True, kw_only=True)
class BinvoxHeader:
    """What the header says, as written: dims, translate, scale, and the dialect it is read as."""

    dims: tuple[int, int, int]
    translate: tuple[float, float, float]
    scale: float
    dialect: str


def read_binvox(path: str | Path, *, dialect: str = "auto") -> tuple[OccupancyGrid, BinvoxHeader]:
    """Return the grid of a binvox file and its header.

    Parameters
    ----------
    path : path
        The file.
    dialect : {"auto", "binvox", "airsim"}
        `auto` takes a file as AirSim's when its scale is 1/(-2 translate_x), which a grid around
        the origin written by AirSim has, and other grids only when their edge is 1 m.

    Raises
    ------
    UserError
        If the file is missing, not binvox, or its runs do not fill the grid exactly.
    """
    path = Path(path)
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {DIALECTS}, got {dialect!r}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    header, start = _header(data, path, dialect)
    raw = _decode(np.frombuffer(data, np.uint8, offset=start), header, path)
    if header.dialect == "airsim":
        nx, nz, ny = header.dims
        occupied = raw.reshape(ny, nz, nx).transpose(0, 2, 1)
        tx, ty, tz = header.translate
        origin, resolution = np.array([ty, tx, tz]), 1.0 / header.scale / nx
    else:
        occupied = raw.reshape(header.dims).transpose(0, 2, 1)
        origin, resolution = np.array(header.translate), header.scale / max(header.dims)
    grid = OccupancyGrid(
        origin_m=origin, resolution_m=resolution, occupied=np.ascontiguousarray(occupied)
    )
    return grid, header


def write_binvox(path: str | Path, grid: OccupancyGrid) -> None:
    """Write a grid as binvox (the format's own meaning, not AirSim's), atomically."""
    path = Path(path)
    raw = np.ascontiguousarray(grid.occupied.transpose(0, 2, 1)).reshape(-1).view(np.uint8)
    nx, ny, nz = grid.occupied.shape
    # repr keeps every bit of the numbers, so that a grid read back lies where it lay.
    translate = " ".join(repr(float(v)) for v in grid.origin_m)
    scale = repr(float(grid.resolution_m) * max(grid.occupied.shape))
    text = f"#binvox 1\ndim {nx} {nz} {ny}\ntranslate {translate}\nscale {scale}\ndata\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as out:
        out.write(text.encode("ascii"))
        out.write(_encode(raw).tobytes())
    os.chmod(out.name, 0o644)
    os.replace(out.name, path)


def _encode(raw: np.ndarray) -> np.ndarray:
    """Return the run lengths (value, count) of a flat array of 0 and 1, counts at most 255."""
    starts = np.flatnonzero(np.diff(raw, prepend=np.uint8(1 - raw[0])))
    lengths = np.diff(starts, append=len(raw))
    n_pieces = -(-lengths // 255)
    pairs = np.empty((int(n_pieces.sum()), 2), dtype=np.uint8)
    pairs[:, 0] = np.repeat(raw[starts], n_pieces)
    pairs[:, 1] = 255
    pairs[np.cumsum(n_pieces) - 1, 1] = lengths - 255 * (n_pieces - 1)
    return pairs


def _decode(pairs: np.ndarray, header: BinvoxHeader, path: Path) -> np.ndarray:
    n_cells = int(np.prod(header.dims))
    if len(pairs) % 2:
        raise UserError(f"{path}: the data end within a pair; the file is cut off")
    values, counts = pairs[0::2], pairs[1::2]
    n_found = int(counts.sum(dtype=np.int64))
    if n_found != n_cells:
        raise UserError(f"{path}: the data fill {n_found} cells, dim says {n_cells}")
    return np.repeat(values != 0, counts)


def _header(data: bytes, path: Path, dialect: str) -> tuple[BinvoxHeader, int]:
    if not data.startswith(b"#binvox"):
        raise UserError(f"{path}: not a binvox file (no '#binvox' at its start)")
    fields: dict[str, list[str]] = {}
    at = 0
    while at < min(len(data), _MAX_HEADER_BYTES):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        words = data[at:end].decode("ascii", "replace").partition("#")[0].split()
        at = end + 1
        if words[:1] == ["data"]:
            return _parsed(fields, path, dialect), at
        if words:
            fields[words[0]] = words[1:]
    raise UserError(f"{path}: the header has no 'data' line")


def _parsed(fields: dict[str, list[str]], path: Path, dialect: str) -> BinvoxHeader:
    try:
        nx, nz, ny = (int(float(word)) for word in fields["dim"])
        tx, ty, tz = (float(word) for word in fields.get("translate", ["0", "0", "0"]))
        (scale,) = (float(word) for word in fields.get("scale", ["1"]))
    except (KeyError, ValueError, OverflowError) as error:
        raise UserError(f"{path}: the header is damaged: {error}") from error
    if min(nx, nz, ny) < 1 or nx * nz * ny > MAX_CELLS:
        raise UserError(f"{path}: dim {nx} {nz} {ny} is out of range (1 to {MAX_CELLS:.3g} cells)")
    if not (np.isfinite([tx, ty, tz, scale]).all() and scale > 0.0):
        raise UserError(f"{path}: translate and scale must be finite, scale positive")
    if dialect == "auto":
        is_airsim = abs(scale * -2.0 * tx - 1.0) < _SAME_LENGTH and abs(scale - 1.0) > _SAME_LENGTH
        dialect = "airsim" if is_airsim else "binvox"
    return BinvoxHeader(dims=(nx, nz, ny), translate=(tx, ty, tz), scale=scale, dialect=dialect)
