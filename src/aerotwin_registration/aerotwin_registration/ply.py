# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Points and triangles of PLY files."""

from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.limits import check_is_file
from aerotwin_core.ply import (
    MAX_HEADER_BYTES,
    PlyColumn,
    PlyHeader,
    PlyList,
    ply_columns,
    ply_header,
)

_INDEX_NAMES = ("vertex_indices", "vertex_index")


def read_ply(path: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the vertex columns by name and the triangles (m, 3) of a PLY file.

    Polygons are split into fans; a file without faces gives (0, 3).

    Raises UserError if the file is not a PLY file, is cut off, or counts more than it holds.
    """
    check_is_file(path)
    data = Path(path).read_bytes()
    header = _header(data, path)
    try:
        columns, n_left = ply_columns(data, header, are_kinds_checked=False)
    except (ValueError, MemoryError) as error:
        raise UserError(f"{path}: the file is damaged: {error}") from error
    if n_left:
        raise UserError(
            f"{path}: {n_left} bytes follow its last element: the counts in its header are "
            "wrong, or it is damaged"
        )
    vertices = {k: v for k, v in columns.get("vertex", {}).items() if isinstance(v, np.ndarray)}
    if not {"x", "y", "z"} <= vertices.keys():
        raise UserError(f"{path}: a PLY cloud needs vertex properties x, y and z; they are missing")
    triangles = _fan(_corners(columns.get("face", {})))
    n = len(vertices["x"])
    if len(triangles) and (triangles.min() < 0 or triangles.max() >= n):
        wrong = triangles[(triangles < 0) | (triangles >= n)][0]
        raise UserError(f"{path}: a face names vertex {wrong}, the file has {n}")
    return vertices, triangles


def count_faces(path: Path) -> int:
    """Return how many faces the header of a PLY file names; UserError if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            start = file.read(MAX_HEADER_BYTES)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error
    return sum(element.count for element in _header(start, path).elements if element.name == "face")


def _header(data: bytes, path: Path) -> PlyHeader:
    try:
        return ply_header(data)
    except ValueError as error:
        raise UserError(f"{path}: not a PLY file: {error}") from None


def _corners(columns: dict[str, PlyColumn]) -> PlyList | None:
    """Return the list of vertex indices of faces; texture coordinates are lists as well."""
    lists = {name: column for name, column in columns.items() if isinstance(column, PlyList)}
    return next((lists[name] for name in _INDEX_NAMES if name in lists), None)


def _fan(lists: PlyList | None) -> np.ndarray:
    if lists is None:
        return np.empty((0, 3), dtype=np.int64)
    lengths, flat = lists.lengths, lists.values.astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    corners = np.maximum(lengths - 2, 0)
    first = np.repeat(starts, corners)
    step = np.arange(corners.sum()) - np.repeat(np.cumsum(corners) - corners, corners)
    return np.stack([flat[first], flat[first + step + 1], flat[first + step + 2]], axis=1)
