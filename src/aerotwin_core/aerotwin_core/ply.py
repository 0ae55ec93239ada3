# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""PLY files, ASCII and binary: the header, and one column for each property of each element.

Input is not trusted: the data that a header counts must be in the file before memory is allocated
for it. What the elements mean (points, polygons, textures) is up to the caller.

Reference: Turk (1994), The PLY Polygon File Format.
"""

import itertools
import struct
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from aerotwin_core.foreign_text import whole_number

MAX_HEADER_BYTES = 1 << 16
_CHUNK_BYTES = 1 << 16
_FORMATS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_KINDS = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2",
    "ushort": "u2", "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4",
    "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip
_STRUCT_CODES = {
    "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "f4": "f", "f8": "d",
}  # fmt: skip
_WRITTEN = {"f4": "float", "f8": "double", "u1": "uchar", "i4": "int"}


@dataclass(frozen=True)
class PlyProperty:
    """Name and NumPy type of a property; `length_kind` is "" unless it is a list."""

    name: str
    kind: str
    length_kind: str = ""


@dataclass(frozen=True)
class PlyElement:
    """One element of a header; `count` is its number of rows."""

    name: str
    count: int
    properties: tuple[PlyProperty, ...] = ()

    @property
    def has_lists(self) -> bool:
        """Whether its rows may differ in length."""
        return any(p.length_kind for p in self.properties)


@dataclass(frozen=True)
class PlyList:
    """A list property: the length of each row's list, and all values one after the other."""

    lengths: np.ndarray
    values: np.ndarray

    def rows(self, rows: np.ndarray, length: int) -> np.ndarray:
        """Return the lists of the selected rows, all of this length, (m, length)."""
        starts = np.concatenate([[0], np.cumsum(self.lengths)])[rows]
        return self.values[starts[:, None] + np.arange(length)]


PlyColumn = np.ndarray | PlyList


@dataclass(frozen=True, kw_only=True)
class PlyHeader:
    """The header of a PLY file.

    `order` is the byte order, "<" or ">", or "" for ASCII; `n_bytes` the offset of the first
    element.
    """

    order: str
    elements: tuple[PlyElement, ...]
    comments: tuple[str, ...]
    n_bytes: int


def ply_header(data: bytes) -> PlyHeader:
    """Return the header of a PLY file, of which the first `MAX_HEADER_BYTES` suffice.

    Raises `ValueError` if it is no header, or names an unknown format, type or count.
    """
    end = data.find(b"end_header", 0, MAX_HEADER_BYTES)
    if not data.startswith(b"ply") or end < 0:
        raise ValueError("it has no PLY header ('ply … end_header')")
    order = None
    elements: list[PlyElement] = []
    comments = []
    for line in data[:end].decode("utf-8", "replace").splitlines()[1:]:
        tokens = line.split()
        if tokens[:1] == ["format"] and len(tokens) > 1:
            if tokens[1] not in _FORMATS:
                raise ValueError(f"format {tokens[1]} is not known")
            order = _FORMATS[tokens[1]]
        elif tokens[:1] == ["comment"]:
            comments.append(line.strip().removeprefix("comment").strip())
        elif tokens[:1] == ["element"]:
            count = whole_number(tokens[2]) if len(tokens) == 3 else None
            if count is None:
                raise ValueError(f"'{line[:60]}' must be an element, its name and its count")
            elements.append(PlyElement(tokens[1], count))
        elif tokens[:1] == ["property"]:
            if not elements:
                raise ValueError("a property belongs to no element")
            last = elements[-1]
            elements[-1] = PlyElement(last.name, last.count, (*last.properties, _property(tokens)))
    if order is None:
        raise ValueError("its header names no format")
    newline = data.find(b"\n", end)
    n_bytes = newline + 1 if newline >= 0 else len(data)
    return PlyHeader(
        order=order, elements=tuple(elements), comments=tuple(comments), n_bytes=n_bytes
    )


def ply_columns(
    data: bytes, header: PlyHeader, *, are_kinds_checked: bool
) -> tuple[dict[str, dict[str, PlyColumn]], int]:
    """Return the columns of all elements, and how many bytes follow them (blanks count as one).

    `data` is the whole file. With `are_kinds_checked` numbers in text are converted to the types
    that the header declares, which must hold them. Otherwise they stay float64: text may have more
    digits than its type. Binary columns have their types in either case.

    Raises `ValueError` if an element is incomplete; names it.
    """
    body = _BinaryBody(data, header) if header.order else _AsciiBody(data, header)
    columns = {}
    for element in header.elements:
        try:
            found = body.columns(element)
            if header.order or are_kinds_checked:
                found = {p.name: _of_kind(found[p.name], p) for p in element.properties}
        except (ValueError, OverflowError, StopIteration, struct.error) as error:
            what = "its text ends too early" if isinstance(error, StopIteration) else error
            raise ValueError(f"element '{element.name}': {what}") from None
        columns[element.name] = found
    return columns, body.n_left()


def write_ply(columns: Mapping[str, np.ndarray], file: BinaryIO) -> None:
    """Write equally long columns as the vertices of a binary little-endian PLY."""
    kinds = {name: np.dtype(column.dtype).str[1:] for name, column in columns.items()}
    n = len(next(iter(columns.values())))
    lines = ["ply", "format binary_little_endian 1.0", f"element vertex {n}"]
    lines += [f"property {_WRITTEN[kind]} {name}" for name, kind in kinds.items()]
    file.write(("\n".join([*lines, "end_header"]) + "\n").encode("ascii"))
    rows = np.empty(n, dtype=[(name, "<" + kind) for name, kind in kinds.items()])
    for name, column in columns.items():
        rows[name] = column
    file.write(rows.tobytes())


def _property(tokens: list[str]) -> PlyProperty:
    is_list = tokens[1:2] == ["list"]
    if len(tokens) != (5 if is_list else 3):
        raise ValueError(f"unknown property '{' '.join(tokens)[:60]}'")
    *kinds, name = tokens[2:] if is_list else tokens[1:]
    for kind in kinds:
        if kind not in _KINDS:
            raise ValueError(f"type '{kind[:60]}' is not known")
    length_kind = _KINDS[kinds[0]] if is_list else ""
    if length_kind.startswith("f"):
        raise ValueError(f"the length of a list '{name[:60]}' is no integer")
    return PlyProperty(name, _KINDS[kinds[-1]], length_kind)


class _BinaryBody:
    """Reads one element after the other from bytes.

    Lists of equal length throughout an element, such as those of a triangle mesh, are read at
    once; others row by row.
    """

    def __init__(self, data: bytes, header: PlyHeader) -> None:
        self._data, self._at, self._order = data, header.n_bytes, header.order

    def n_left(self) -> int:
        return len(self._data[self._at :].rstrip(b"\r\n \t\x00"))

    def columns(self, element: PlyElement) -> dict[str, PlyColumn]:
        if element.count == 0 or not element.properties:
            return {p.name: _column(p, array("q"), np.zeros(0)) for p in element.properties}
        lengths = self._first_lengths(element)
        rows = self._rows(element, lengths)
        if rows is None:
            return _row_by_row(element, self._values)
        self._at += rows.nbytes
        return {
            p.name: _column(p, np.full(len(rows), n), rows[f"v{i}"].reshape(-1))
            for i, (p, n) in enumerate(zip(element.properties, lengths, strict=True))
        }

    def _first_lengths(self, element: PlyElement) -> list[int]:
        """Return how many values each property of the first row has."""
        start = self._at
        lengths = [len(self._values(p)) for p in element.properties]
        self._at = start
        return lengths

    def _rows(self, element: PlyElement, lengths: list[int]) -> np.ndarray | None:
        """Return all rows if their lists are as long as the first row's, None otherwise."""
        fields: list[tuple] = []
        for i, (p, n) in enumerate(zip(element.properties, lengths, strict=True)):
            if p.length_kind:
                fields.append((f"n{i}", self._order + p.length_kind))
            fields.append((f"v{i}", self._order + p.kind, (n,) if p.length_kind else ()))
        kind = np.dtype(fields)
        if element.count * kind.itemsize > len(self._data) - self._at:
            if element.has_lists:
                return None
            raise ValueError(
                f"needs {element.count * kind.itemsize} bytes, "
                f"{len(self._data) - self._at} are left"
            )
        rows = np.frombuffer(self._data, kind, element.count, self._at)
        names = [(f"n{i}", n) for i, n in enumerate(lengths) if element.properties[i].length_kind]
        return rows if all((rows[name] == n).all() for name, n in names) else None

    def _values(self, p: PlyProperty) -> tuple:
        n = self._unpacked(p.length_kind, 1, p)[0] if p.length_kind else 1
        return self._unpacked(p.kind, n, p)

    def _unpacked(self, kind: str, n: int, p: PlyProperty) -> tuple:
        size, left = n * np.dtype(kind).itemsize, len(self._data) - self._at
        if not 0 <= size <= left:
            what = f"a list '{p.name}'" if p.length_kind else f"a '{p.name}'"
            raise ValueError(f"{what} of {n} values, {left} bytes are left")
        found = struct.unpack_from(f"{self._order}{n}{_STRUCT_CODES[kind]}", self._data, self._at)
        self._at += size
        return found


class _AsciiBody:
    """Reads one element after the other from numbers between blanks; line breaks are blanks."""

    def __init__(self, data: bytes, header: PlyHeader) -> None:
        self._tokens = itertools.chain.from_iterable(_tokens(data, header.n_bytes))

    def n_left(self) -> int:
        return max(sum(len(token) + 1 for token in self._tokens) - 1, 0)

    def columns(self, element: PlyElement) -> dict[str, PlyColumn]:
        if element.has_lists:
            return _row_by_row(element, self._values)
        n = element.count * len(element.properties)
        table = np.array(self._numbers(n)).reshape(element.count, len(element.properties))
        return {p.name: table[:, i] for i, p in enumerate(element.properties)}

    def _values(self, p: PlyProperty) -> array:
        n = int(next(self._tokens)) if p.length_kind else 1
        if n < 0:
            raise ValueError(f"a list '{p.name}' of {n} values")
        return self._numbers(n)

    def _numbers(self, n: int) -> array:
        values = array("d", map(float, itertools.islice(self._tokens, n)))
        if len(values) < n:
            raise ValueError("its text ends too early")
        return values


def _tokens(data: bytes, start: int) -> Iterator[list[bytes]]:
    """Yield what stands between blanks, in parts: a line may be as long as the file."""
    rest = b""
    for at in range(start, len(data), _CHUNK_BYTES):
        chunk = rest + data[at : at + _CHUNK_BYTES]
        tokens = chunk.split()
        rest = tokens.pop() if tokens and not chunk[-1:].isspace() else b""
        if len(rest) > _CHUNK_BYTES:
            raise ValueError(f"a number of more than {_CHUNK_BYTES} characters")
        yield tokens
    yield rest.split()


def _row_by_row(
    element: PlyElement, read: Callable[[PlyProperty], tuple | array]
) -> dict[str, PlyColumn]:
    lengths = [array("q") for _ in element.properties]
    values = [array("d") for _ in element.properties]  # which holds every PLY type exactly
    for _ in range(element.count):
        for i, p in enumerate(element.properties):
            found = read(p)
            lengths[i].append(len(found))
            values[i].extend(found)
    return {
        p.name: _column(p, lengths[i], np.array(values[i]))
        for i, p in enumerate(element.properties)
    }


def _column(p: PlyProperty, lengths: np.ndarray | array, values: np.ndarray) -> PlyColumn:
    return PlyList(np.array(lengths, np.int64), values) if p.length_kind else values


def _of_kind(column: PlyColumn, p: PlyProperty) -> PlyColumn:
    """Return a column in the type of its property, which must hold its values."""
    if isinstance(column, PlyList):
        return PlyList(column.lengths, _cast(column.values, p))
    return _cast(column, p)


def _cast(column: np.ndarray, p: PlyProperty) -> np.ndarray:
    kind = np.dtype(p.kind)
    if kind.kind in "iu" and column.dtype.kind == "f" and len(column):
        limits = np.iinfo(kind)
        if not (
            np.isfinite(column).all() and column.min() >= limits.min and column.max() <= limits.max
        ):
            raise ValueError(f"a value of property '{p.name}' is beyond its type")
        if (column != np.rint(column)).any():
            raise ValueError(f"a value of property '{p.name}' is not an integer")
    return column.astype(kind)
