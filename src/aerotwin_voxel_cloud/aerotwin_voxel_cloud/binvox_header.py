# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The text header of a binvox file, and the detection of its dialect.

Patrick Min's format (https://www.patrickmin.com/binvox/binvox.html): `dim` names the cells along
x, z, y; `scale` is the edge of the whole grid, `translate` its lower corner. Raw cells run along
y, then z, then x.

AirSim's `simCreateVoxelGrid` (WorldSimApi.cpp, createVoxelGrid) has x north, y east and the third
axis up, and differs in four points: `dim` names north, up, east; raw cells run along north, then
up, then east; `scale` is 1/length along north; `translate` is minus half the size, whatever the
centre. It tests the box of cell i around (i - n/2) times the resolution, n/2 rounded down, so that
for an even n the grid lies half a cell below `translate`.
"""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_voxel_cloud.frame import GridFrame

DIALECTS = ("auto", "binvox", "airsim")
MAX_HEADER_BYTES = 4096
# Relative difference below which AirSim's 1/scale counts as its -2 translate_x (six digits).
_SAME_LENGTH = 1e-3
_LARGEST_DIM = 2**24
_LARGEST_NUMBER = 1e12


@dataclass(frozen=True, kw_only=True)
class BinvoxHeader:
    """The header as written, and its dialect, "binvox" or "airsim".

    `reason` is the reason for the dialect, as text.
    """

    dims: tuple[int, int, int]
    translate: tuple[float, float, float]
    scale: float
    dialect: str
    reason: str

    def frame(
        self, *, resolution_m: float | None = None, origin_m: np.ndarray | None = None
    ) -> GridFrame:
        """Return the grid's frame in ENU.

        `resolution_m` [m] and `origin_m`, the lower corner (3,) in map [m], replace the header's.
        """
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
