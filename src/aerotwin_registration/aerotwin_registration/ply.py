# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""PLY files (Turk 1994): ASCII and binary, points and faces. Input is not trusted."""

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError

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


@dataclass(frozen=True, kw_only=True)
class PlyElement:
    """One element of the header: its count and properties (name, type, type of length or None)."""

    name: str
    count: int
    properties: tuple[tuple[str, str, str | None], ...]

    @property
    def has_lists(self) -> bool:
        """Whether its rows differ in length."""
        return any(length for _, _, length in self.properties)


def read_ply(path: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the vertex columns by name and the triangles (m, 3) of a PLY file.

    Polygons are cut into fans; a file without faces gives (0, 3).

    Raises
    ------
    UserError
        If the file is not a PLY file, is cut off, or counts more than it holds.
    """
    data = Path(path).read_bytes()
    order, elements, start = _header(data, path)
    vertices: dict[str, np.ndarray] = {}
    triangles = np.empty((0, 3), dtype=np.int64)
    reader = _AsciiReader(data[start:], path) if order == "" else _BinaryReader(data, start, order)
    for element in elements:
        try:
            columns = reader.read(element)
        except (ValueError, IndexError, OverflowError) as error:
            raise UserError(f"{path}: element '{element.name}' is damaged: {error}") from error
        if element.name == "vertex":
            vertices = {k: v for k, v in columns.items() if isinstance(v, np.ndarray)}
        elif element.name == "face":
            triangles = _fan(next(iter(v for v in columns.values() if isinstance(v, tuple)), None))
    if not {"x", "y", "z"} <= vertices.keys():
        raise UserError(f"{path}: a PLY cloud needs vertex properties x, y and z; they are missing")
    n = len(vertices["x"])
    if len(triangles) and (triangles.min() < 0 or triangles.max() >= n):
        raise UserError(f"{path}: a face names vertex {triangles.max()}, the file has {n}")
    return vertices, triangles


def write_ply(path: Path, columns: dict[str, np.ndarray], file: io.BufferedIOBase) -> None:
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
        words = line.split()
        if words[:1] == ["format"] and len(words) == 3:
            order = _ORDER.get(words[1])
        elif words[:1] == ["element"] and len(words) == 3 and words[2].isdigit():
            elements.append(PlyElement(name=words[1], count=int(words[2]), properties=()))
        elif words[:1] == ["property"] and elements:
            elements[-1] = _with_property(elements[-1], words, path)
    if order is None:
        raise UserError(f"{path}: the PLY header names no known format; use ascii or binary")
    return order, elements, newline + 1 if newline >= 0 else len(data)


def _with_property(element: PlyElement, words: list[str], path: Path) -> PlyElement:
    if len(words) == 5 and words[1] == "list":
        length, kind, name = _TYPES.get(words[2]), _TYPES.get(words[3]), words[4]
    elif len(words) == 3:
        length, kind, name = None, _TYPES.get(words[1]), words[2]
    else:
        length, kind, name = None, None, ""
    if kind is None or (words[1] == "list" and (length is None or length[0] == "f")):
        raise UserError(f"{path}: unknown PLY property '{' '.join(words)}'")
    properties = (*element.properties, (name, kind, length))
    return PlyElement(name=element.name, count=element.count, properties=properties)


# A list column: (lengths (n,), flat values).
Column = np.ndarray | tuple[np.ndarray, np.ndarray]


class _BinaryReader:
    def __init__(self, data: bytes, start: int, order: str) -> None:
        self._data, self._at, self._order = data, start, order

    def read(self, element: PlyElement) -> dict[str, Column]:
        if element.has_lists:
            return self._read_lists(element)
        kind = np.dtype([(name, self._order + k) for name, k, _ in element.properties])
        self._need(element.count * kind.itemsize)
        rows = np.frombuffer(self._data, kind, element.count, self._at)
        self._at += element.count * kind.itemsize
        return {name: rows[name] for name in kind.names or ()}

    def _read_lists(self, element: PlyElement) -> dict[str, Column]:
        if len(element.properties) != 1:
            raise ValueError("lists mixed with other properties are not supported")
        name, kind, length = element.properties[0]
        count_type, value_type = (
            np.dtype(self._order + (length or "")),
            np.dtype(self._order + kind),
        )
        self._need(element.count * count_type.itemsize)
        triangle = np.dtype([("n", count_type), ("v", value_type, (3,))])
        size = element.count * triangle.itemsize
        if self._at + size <= len(self._data):
            rows = np.frombuffer(self._data, triangle, element.count, self._at)
            if (rows["n"] == 3).all():
                self._at += size
                return {name: (rows["n"], rows["v"].reshape(-1))}
        lengths, values = [], []
        for _ in range(element.count):
            self._need(count_type.itemsize)
            n = int(np.frombuffer(self._data, count_type, 1, self._at)[0])
            self._at += count_type.itemsize
            self._need(n * value_type.itemsize)
            values.append(np.frombuffer(self._data, value_type, n, self._at))
            self._at += n * value_type.itemsize
            lengths.append(n)
        flat = np.concatenate(values) if values else np.empty(0, value_type)
        return {name: (np.array(lengths, dtype=np.int64), flat)}

    def _need(self, n_bytes: int) -> None:
        if n_bytes < 0 or self._at + n_bytes > len(self._data):
            raise ValueError(f"{n_bytes} bytes expected, {len(self._data) - self._at} left")


class _AsciiReader:
    def __init__(self, data: bytes, path: Path) -> None:
        self._lines = data.decode("ascii", "replace").splitlines()
        self._at = 0

    def read(self, element: PlyElement) -> dict[str, Column]:
        lines = self._lines[self._at : self._at + element.count]
        if len(lines) < element.count:
            raise ValueError(f"{element.count} lines expected, {len(lines)} left")
        self._at += element.count
        if element.has_lists:
            rows = [np.array(line.split(), dtype=np.float64) for line in lines]
            lengths = np.array([row[0] for row in rows], dtype=np.int64)
            flat = [row[1 : 1 + n] for row, n in zip(rows, lengths)]
            if any(len(row) != n for row, n in zip(flat, lengths)):
                raise ValueError("a list is shorter than its length says")
            joined = np.concatenate(flat) if flat else np.empty(0)
            return {element.properties[0][0]: (lengths, joined.astype(np.int64))}
        n_columns = len(element.properties)
        table = np.array([line.split()[:n_columns] for line in lines], dtype=np.float64)
        table = table.reshape(element.count, n_columns)
        return {p[0]: table[:, i] for i, p in enumerate(element.properties)}


def _fan(lists: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
    if lists is None:
        return np.empty((0, 3), dtype=np.int64)
    lengths, flat = lists[0].astype(np.int64), lists[1].astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    corners = np.maximum(lengths - 2, 0)
    first = np.repeat(starts, corners)
    step = np.arange(corners.sum()) - np.repeat(np.cumsum(corners) - corners, corners)
    return np.stack([flat[first], flat[first + step + 1], flat[first + step + 2]], axis=1)
