# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""PLY files (Turk 1994): ASCII and binary, points and faces. Input is not trusted."""

from pathlib import Path
from typing import BinaryIO

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import whole_number
from aerotwin_core.limits import check_is_file
from aerotwin_registration.ply_body import AsciiPlyBody, BinaryPlyBody, Column, PlyElement

_TYPES = {
    "char": "i1",
    "int8": "i1",
    "uchar": "u1",
    "uint8": "u1",
    "short": "i2",
    "int16": "i2",
    "ushort": "u2",
    "uint16": "u2",
    "int": "i4",
    "int32": "i4",
    "uint": "u4",
    "uint32": "u4",
    "float": "f4",
    "float32": "f4",
    "double": "f8",
    "float64": "f8",
}
_ORDER = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_MAX_HEADER_BYTES = 65536
_INDEX_NAMES = ("vertex_indices", "vertex_index")


def read_ply(path: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the vertex columns by name and the triangles (m, 3) of a PLY file.

    Polygons are cut into fans; a file without faces gives (0, 3).

    Raises
    ------
    UserError
        If the file is not a PLY file, is cut off, or counts more than it holds.
    """
    check_is_file(path)
    data = Path(path).read_bytes()
    order, elements, start = _header(data, path)
    vertices: dict[str, np.ndarray] = {}
    triangles = np.empty((0, 3), dtype=np.int64)
    body = AsciiPlyBody(data[start:]) if order == "" else BinaryPlyBody(data, start, order)
    for element in elements:
        try:
            columns = body.read(element)
        except (ValueError, IndexError, OverflowError, MemoryError) as error:
            raise UserError(f"{path}: element '{element.name}' is damaged: {error}") from error
        if element.name == "vertex":
            vertices = {k: v for k, v in columns.items() if isinstance(v, np.ndarray)}
        elif element.name == "face":
            triangles = _fan(_corners(columns))
    if body.n_left:
        raise UserError(
            f"{path}: {body.n_left} bytes follow its last element: the counts in its header are "
            "wrong, or it is damaged"
        )
    if not {"x", "y", "z"} <= vertices.keys():
        raise UserError(f"{path}: a PLY cloud needs vertex properties x, y and z; they are missing")
    n = len(vertices["x"])
    if len(triangles) and (triangles.min() < 0 or triangles.max() >= n):
        wrong = triangles[(triangles < 0) | (triangles >= n)][0]
        raise UserError(f"{path}: a face names vertex {wrong}, the file has {n}")
    return vertices, triangles


def count_faces(path: Path) -> int:
    """Return how many faces the header of a PLY file names.

    Raises
    ------
    UserError
        If the file cannot be read or is not a PLY file.
    """
    try:
        with Path(path).open("rb") as file:
            start = file.read(_MAX_HEADER_BYTES)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error
    return sum(element.count for element in _header(start, path)[1] if element.name == "face")


def write_ply(path: Path, columns: dict[str, np.ndarray], file: BinaryIO) -> None:
    """Write equally long columns as the vertices of a binary little-endian PLY."""
    names = {"f4": "float", "f8": "double", "u1": "uchar", "i4": "int"}
    kinds = {name: np.dtype(column.dtype).str[1:] for name, column in columns.items()}
    n = len(next(iter(columns.values())))
    lines = ["ply", "format binary_little_endian 1.0", f"element vertex {n}"]
    lines += [f"property {names[kind]} {name}" for name, kind in kinds.items()]
    file.write(("\n".join([*lines, "end_header"]) + "\n").encode("ascii"))
    rows = np.empty(n, dtype=[(name, "<" + kind) for name, kind in kinds.items()])
    for name, column in columns.items():
        rows[name] = column
    file.write(rows.tobytes())


def _header(data: bytes, path: Path) -> tuple[str, list[PlyElement], int]:
    end = data.find(b"end_header", 0, _MAX_HEADER_BYTES)
    if not data.startswith(b"ply") or end < 0:
        raise UserError(f"{path}: not a PLY file (no 'ply … end_header' at its start)")
    newline = data.find(b"\n", end)
    order, elements = None, []
    for line in data[:end].decode("ascii", "replace").splitlines():
        tokens = line.split()
        if tokens[:1] == ["format"] and len(tokens) == 3:
            order = _ORDER.get(tokens[1])
        elif tokens[:1] == ["element"]:
            count = whole_number(tokens[2]) if len(tokens) == 3 else None
            if count is None:
                raise UserError(f"{path}: '{line[:60]}' must be an element, its name and its count")
            elements.append(PlyElement(name=tokens[1], count=count, properties=()))
        elif tokens[:1] == ["property"] and elements:
            elements[-1] = _with_property(elements[-1], tokens, path)
    if order is None:
        raise UserError(f"{path}: the PLY header names no known format; use ascii or binary")
    return order, elements, newline + 1 if newline >= 0 else len(data)


def _with_property(element: PlyElement, tokens: list[str], path: Path) -> PlyElement:
    if len(tokens) == 5 and tokens[1] == "list":
        length, kind, name = _TYPES.get(tokens[2]), _TYPES.get(tokens[3]), tokens[4]
    elif len(tokens) == 3:
        length, kind, name = None, _TYPES.get(tokens[1]), tokens[2]
    else:
        length, kind, name = None, None, ""
    if kind is None or (tokens[1] == "list" and (length is None or length[0] == "f")):
        raise UserError(f"{path}: unknown PLY property '{' '.join(tokens)}'")
    properties = (*element.properties, (name, kind, length))
    return PlyElement(name=element.name, count=element.count, properties=properties)


def _corners(columns: dict[str, Column]) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the list of vertex indices of faces; texture coordinates are lists too."""
    lists = {name: column for name, column in columns.items() if isinstance(column, tuple)}
    return next((lists[name] for name in _INDEX_NAMES if name in lists), None)


def _fan(lists: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
    if lists is None:
        return np.empty((0, 3), dtype=np.int64)
    lengths, flat = lists[0].astype(np.int64), lists[1].astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    corners = np.maximum(lengths - 2, 0)
    first = np.repeat(starts, corners)
    step = np.arange(corners.sum()) - np.repeat(np.cumsum(corners) - corners, corners)
    return np.stack([flat[first], flat[first + step + 1], flat[first + step + 2]], axis=1)
