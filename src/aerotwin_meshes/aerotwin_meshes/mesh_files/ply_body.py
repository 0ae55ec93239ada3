# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The body of a PLY file: one column for each property of each element.

Lists that have one length throughout an element, such as those of a mesh of triangles, are read at
once; others row by row.
"""

import struct
from dataclasses import dataclass, field

import numpy as np

_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2",
    "ushort": "u2", "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4",
    "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip
_STRUCT_CODES = {
    "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "f4": "f", "f8": "d",
}  # fmt: skip
_MAX_LIST = 100_000


def type_code(name: str) -> str:
    """Return numpy's code of a PLY type."""
    if name not in _TYPES:
        raise ValueError(f"type '{name}' is not known")
    return _TYPES[name]


@dataclass(frozen=True)
class Property:
    """A property: its name, the type of its values, and that of its count if it is a list."""

    name: str
    type: str
    count_type: str = ""


@dataclass
class Element:
    """An element: its name, how many there are, and their properties."""

    name: str
    count: int
    properties: list[Property] = field(default_factory=list)


@dataclass(frozen=True)
class ListColumn:
    """A list property: the length of each row's list, and all values one after the other."""

    counts: np.ndarray
    values: np.ndarray

    def rows(self, rows: np.ndarray, count: int) -> np.ndarray:
        """Return the lists of some rows that all have this length, (m, count)."""
        starts = np.concatenate([[0], np.cumsum(self.counts)])[rows]
        return self.values[starts[:, None] + np.arange(count)]


Column = np.ndarray | ListColumn


class BinaryPlyMesh:
    """Reads elements one after the other from binary data."""

    def __init__(self, data: memoryview, order: str) -> None:
        self._data, self._order, self._at = data, order, 0

    def columns(self, element: Element) -> dict[str, Column]:
        """Return the next element's columns by name."""
        if element.count == 0 or not element.properties:
            return {p.name: _empty(p) for p in element.properties}
        counts = self._first_counts(element)
        rows = self._rows_of(element, counts)
        if rows is None:
            return self._row_by_row(element)
        self._at += rows.nbytes
        return {
            p.name: rows[f"v{i}"].copy()
            if not p.count_type
            else ListColumn(rows[f"n{i}"].astype(np.int64), rows[f"v{i}"].reshape(-1).copy())
            for i, p in enumerate(element.properties)
        }

    def _first_counts(self, element: Element) -> list[int]:
        """Return the list lengths of the first row."""
        at, counts = self._at, []
        for p in element.properties:
            n = 1
            if p.count_type:
                n = self._unpack(p.count_type, 1, at)[0]
                at += np.dtype(p.count_type).itemsize
                _check_list(p, n)
            counts.append(int(n))
            at += np.dtype(p.type).itemsize * int(n)
        return counts

    def _rows_of(self, element: Element, counts: list[int]) -> np.ndarray | None:
        """Return all rows if their lists are as long as the first row's, None otherwise."""
        fields: list[tuple] = []
        for i, (p, n) in enumerate(zip(element.properties, counts, strict=True)):
            if p.count_type:
                fields.append((f"n{i}", self._order + p.count_type))
            shape = (n,) if p.count_type else ()
            fields.append((f"v{i}", self._order + p.type, shape))
        dtype = np.dtype(fields)
        has_lists = any(p.count_type for p in element.properties)
        if element.count * dtype.itemsize > len(self._data) - self._at:
            if has_lists:
                return None
            raise ValueError(
                f"element '{element.name}' needs {element.count * dtype.itemsize} bytes, "
                f"{len(self._data) - self._at} are left"
            )
        rows = np.frombuffer(self._data, dtype, element.count, self._at)
        lists = [(f"n{i}", n) for i, n in enumerate(counts) if element.properties[i].count_type]
        return rows if all((rows[name] == n).all() for name, n in lists) else None

    def _row_by_row(self, element: Element) -> dict[str, Column]:
        lengths: list[list[int]] = [[] for _ in element.properties]
        values: list[list] = [[] for _ in element.properties]
        for _ in range(element.count):
            for i, p in enumerate(element.properties):
                n = 1
                if p.count_type:
                    n = int(self._read_values(p.count_type, 1)[0])
                    _check_list(p, n)
                    lengths[i].append(n)
                values[i] += self._read_values(p.type, n)
        return _columns(element, lengths, values)

    def _read_values(self, code: str, n: int) -> tuple:
        found = self._unpack(code, n, self._at)
        self._at += np.dtype(code).itemsize * n
        return found

    def _unpack(self, code: str, n: int, at: int) -> tuple:
        return struct.unpack_from(f"{self._order}{n}{_STRUCT_CODES[code]}", self._data, at)


class AsciiPlyMesh:
    """Reads elements one after the other from words."""

    def __init__(self, data: bytes) -> None:
        self._tokens, self._at = data.split(), 0

    def columns(self, element: Element) -> dict[str, Column]:
        """Return the next element's columns by name."""
        if not any(p.count_type for p in element.properties):
            return self._table(element)
        lengths: list[list[int]] = [[] for _ in element.properties]
        values: list[list] = [[] for _ in element.properties]
        for _ in range(element.count):
            for i, p in enumerate(element.properties):
                n = 1
                if p.count_type:
                    n = int(self._read_values(1)[0])
                    _check_list(p, n)
                    lengths[i].append(n)
                values[i] += map(float, self._read_values(n))
        return _columns(element, lengths, values)

    def _table(self, element: Element) -> dict[str, Column]:
        width = len(element.properties)
        table = np.array(self._read_values(element.count * width), np.float64).reshape(-1, width)
        return {p.name: _checked(table[:, i], p) for i, p in enumerate(element.properties)}

    def _read_values(self, n: int) -> list[bytes]:
        tokens = self._tokens[self._at : self._at + n]
        if len(tokens) < n:
            raise ValueError("its body ends too early")
        self._at += n
        return tokens


def _columns(element: Element, lengths: list[list[int]], values: list[list]) -> dict[str, Column]:
    found: dict[str, Column] = {}
    for p, length, value in zip(element.properties, lengths, values, strict=True):
        column = _checked(np.array(value, np.float64), p)
        found[p.name] = ListColumn(np.array(length, np.int64), column) if p.count_type else column
    return found


def _checked(values: np.ndarray, p: Property) -> np.ndarray:
    """Return values in the type of their property, which must hold them."""
    dtype = np.dtype(p.type)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if len(values) and not (
            np.isfinite(values).all() and values.min() >= limits.min and values.max() <= limits.max
        ):
            raise ValueError(f"a value of property '{p.name}' is beyond its type")
        if (values != np.rint(values)).any():
            raise ValueError(f"a value of property '{p.name}' is not an integer")
    return values.astype(dtype)


def _check_list(p: Property, n: int) -> None:
    if not 0 <= n <= _MAX_LIST:
        raise ValueError(f"a list '{p.name}' of {n} values, expected 0 to {_MAX_LIST}")


def _empty(p: Property) -> Column:
    values = np.zeros(0, p.type)
    return ListColumn(np.zeros(0, np.int64), values) if p.count_type else values
