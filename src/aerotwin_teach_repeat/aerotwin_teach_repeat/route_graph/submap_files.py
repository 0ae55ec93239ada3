# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of submaps, each identified by its SHA-256: compact NPZ, or PLY.

NPZ holds `points` as int16 (m, 3) in steps of `step_m` (a power of two: 1/512 m up to 64 m from the
vertex) and `normals` as int8 (m, 3), to be normalised: 9 bytes per point. That rounds points by at
most 1 mm and normals by 0.3 degrees, far below the noise of any lidar and map; a route of a
kilometre takes half a gigabyte. PLY stores float32, x y z nx ny nz: 24 bytes per point.
"""

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.errors import UserError
from aerotwin_core.limits import file_size
from aerotwin_core.numpy_files import ERRORS, NpzFile
from aerotwin_core.ply import write_ply
from aerotwin_registration.ply import read_ply
from aerotwin_teach_repeat.route_graph.types import DamagedSubmapError, Submap

FORMATS = ("npz", "ply")
SUBMAP_FOLDER = "submaps"
MAX_SUBMAP_BYTES = 1 << 30
"""A submap of more points than a robot can use: 40 million."""
FINEST_STEP_M = 1.0 / 512.0
"""2 mm: the noise of the best lidars is five times that."""
_LARGEST_INT16, _LARGEST_INT8 = 32767, 127
_NORMALS = ("nx", "ny", "nz")
_ARRAYS = ("step_m", "points", "normals")
_COPIES = 8
"""Nine bytes per point in the file, 24 as float32, and once more while normals are scaled."""
_N_DIGITS = 7  # of an id in a file name, so that names sort


@dataclass(frozen=True, kw_only=True)
class SubmapRecord:
    """Entry of one file in `submaps.csv`."""

    vertex_id: int
    n_points: int
    n_bytes: int
    sha256: str

    @classmethod
    def from_cells(cls, cells: Sequence[str]) -> "SubmapRecord":
        """Return the record of a line's cells; ValueError if they are not numbers."""
        vertex_id, n_points, n_bytes = (int(cell) for cell in cells[:3])
        if vertex_id < 0:
            raise ValueError(f"an id must not be negative, got {vertex_id}")
        return cls(vertex_id=vertex_id, n_points=n_points, n_bytes=n_bytes, sha256=cells[3])

    def cells(self) -> list[str]:
        """Return the cells of the line."""
        return [str(value) for value in vars(self).values()]


class FolderSubmaps:
    """The submaps of a folder, read one by one and verified against their checksums."""

    def __init__(
        self, folder: Path, submap_format: str, records: Mapping[int, SubmapRecord]
    ) -> None:
        self._folder, self._format, self._records = folder, submap_format, dict(records)
        self.ids = frozenset(self._records)

    @property
    def records(self) -> tuple[SubmapRecord, ...]:
        """Records of all files, in the order of writing."""
        return tuple(self._records.values())

    def load(self, vertex_id: int) -> Submap:
        """Return a submap; `DamagedSubmapError` if its file is not as written."""
        record = self._records[vertex_id]
        path = submap_path(self._folder, vertex_id, self._format)
        try:
            data = _read(path, record)
            points, normals = _unpacked(path, data, self._format)
            return Submap(vertex_id=vertex_id, points=points, normals=normals)
        except OSError as error:
            reason = f"{path}: cannot be read ({error.strerror or error})"
        except UserError as error:
            reason = str(error)
        raise DamagedSubmapError(f"submap {vertex_id} is damaged: {reason}")


def submap_path(folder: Path, vertex_id: int, submap_format: str) -> Path:
    """Return the path of a submap's file."""
    return folder / SUBMAP_FOLDER / f"{vertex_id:0{_N_DIGITS}d}.{submap_format}"


def write_submap(folder: Path, submap: Submap, submap_format: str) -> SubmapRecord:
    """Write the file of a submap atomically and return its record."""
    data = _packed(submap, submap_format)
    with atomic_file(submap_path(folder, submap.vertex_id, submap_format)) as file:
        file.write(data)
    return SubmapRecord(
        vertex_id=submap.vertex_id,
        n_points=len(submap.points),
        n_bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _packed(submap: Submap, submap_format: str) -> memoryview:
    buffer = io.BytesIO()
    if submap_format == "npz":
        step_m = _step_of(float(np.abs(submap.points).max()))
        points = np.rint(submap.points / np.float32(step_m)).astype(np.int16)
        normals = np.rint(submap.normals * _LARGEST_INT8).astype(np.int8)
        np.savez(buffer, step_m=np.float64(step_m), points=points, normals=normals)
    elif submap_format == "ply":
        columns = dict(zip("xyz", submap.points.T, strict=True))
        columns |= dict(zip(_NORMALS, submap.normals.T, strict=True))
        write_ply(columns, buffer)
    else:
        raise ValueError(f"submap_format must be one of {FORMATS}, got {submap_format!r}")
    return buffer.getbuffer()


def _step_of(farthest_m: float) -> float:
    """Return the power of two with which int16 reaches a distance [m]."""
    step_m = FINEST_STEP_M
    while step_m * _LARGEST_INT16 < farthest_m:
        step_m *= 2.0
    return step_m


def _read(path: Path, record: SubmapRecord) -> bytes:
    n_bytes = file_size(path)
    if n_bytes != record.n_bytes or n_bytes > MAX_SUBMAP_BYTES:
        raise UserError(f"{path}: {record.n_bytes} bytes were written, {n_bytes} are there")
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != record.sha256:
        raise UserError(f"{path}: its SHA-256 is not that of submaps.csv")
    return data


def _unpacked(path: Path, data: bytes, submap_format: str) -> tuple[np.ndarray, np.ndarray]:
    if submap_format == "ply":
        columns = read_ply(path)[0]
        if not set(_NORMALS) <= columns.keys():
            raise UserError(f"{path}: needs the columns nx, ny and nz")
        return tuple(np.column_stack([columns[n] for n in names]) for names in ("xyz", _NORMALS))  # type: ignore[return-value]
    try:
        arrays = NpzFile(io.BytesIO(data), path).read(_ARRAYS, copies=_COPIES)
        normals = arrays["normals"].astype(np.float32)
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return arrays["points"] * np.float32(arrays["step_m"]), normals
    except ERRORS as error:
        raise UserError(f"{path}: not an NPZ with points and normals ({error})") from error
