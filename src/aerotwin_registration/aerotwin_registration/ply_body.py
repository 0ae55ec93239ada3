# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The elements of a PLY file behind its header: numbers and lists in any mixture."""

import io
from dataclasses import dataclass

import numpy as np

Column = np.ndarray | tuple[np.ndarray, np.ndarray]
"""Numbers (n,), or of a list property the lengths (n,) and all values one after the other."""
_MAX_LINE = 1 << 20
"""Characters of a line with lists."""


@dataclass(frozen=True, kw_only=True)
class PlyElement:
    """One element of the header: its count and properties (name, type, type of length or None)."""

    name: str
    count: int
    properties: tuple[tuple[str, str, str | None], ...]

    @property
    def has_lists(self) -> bool:
        """Whether its rows may differ in length."""
        return any(length for _, _, length in self.properties)


class BinaryPlyBody:
    """Reads one element after the other from bytes."""

    def __init__(self, data: bytes, start: int, order: str) -> None:
        self._data, self._at, self._order = data, start, order

    @property
    def n_left(self) -> int:
        """Bytes that no element has taken, but for blanks at the end."""
        return len(self._data[self._at :].rstrip(b"\r\n \t\x00"))

    def read(self, element: PlyElement) -> dict[str, Column]:
        """Return the columns of the next element; ValueError if it is not whole."""
        if element.count == 0:
            return _nothing(element)
        lengths = self._first_lengths(element) if element.has_lists else {}
        kind = self._row_type(element, lengths)
        size = element.count * kind.itemsize
        if self._at + size <= len(self._data):
            rows = np.frombuffer(self._data, kind, element.count, self._at)
            if all((rows[f"n {name}"] == n).all() for name, n in lengths.items()):
                self._at += size
                return self._of_rows(element, rows, lengths)
        if not element.has_lists:
            raise ValueError(f"{size} bytes expected, {len(self._data) - self._at} left")
        return self._walk(element)

    def _row_type(self, element: PlyElement, lengths: dict[str, int]) -> np.dtype:
        fields: list[tuple] = []
        for name, kind, length in element.properties:
            if length:
                fields.append((f"n {name}", self._order + length))
                fields.append((name, self._order + kind, (lengths[name],)))
            else:
                fields.append((name, self._order + kind))
        return np.dtype(fields)

    @staticmethod
    def _of_rows(
        element: PlyElement, rows: np.ndarray, lengths: dict[str, int]
    ) -> dict[str, Column]:
        return {
            name: (np.full(len(rows), lengths[name]), rows[name].reshape(-1))
            if length
            else rows[name]
            for name, _, length in element.properties
        }

    def _first_lengths(self, element: PlyElement) -> dict[str, int]:
        """Return how long the lists of the first row are, which the others mostly share."""
        at = self._at
        row = dict(self._row(element))
        self._at = at
        return {name: len(row[name]) for name, _, length in element.properties if length}

    def _row(self, element: PlyElement) -> list[tuple[str, np.ndarray]]:
        row = []
        for name, kind, length in element.properties:
            n = int(self._read_values(length, 1)[0]) if length else 1
            row.append((name, self._read_values(kind, n)))
        return row

    def _walk(self, element: PlyElement) -> dict[str, Column]:
        """Read rows of different lengths one by one."""
        parts: dict[str, list[np.ndarray]] = {name: [] for name, _, _ in element.properties}
        for _ in range(element.count):
            for name, values in self._row(element):
                parts[name].append(values)
        return {
            name: (np.array([len(v) for v in parts[name]]), np.concatenate(parts[name]))
            if length
            else np.concatenate(parts[name])
            for name, _, length in element.properties
        }

    def _read_values(self, kind: str, n: int) -> np.ndarray:
        dtype = np.dtype(self._order + kind)
        if n < 0 or self._at + n * dtype.itemsize > len(self._data):
            raise ValueError(f"{n} values expected, {len(self._data) - self._at} bytes left")
        values = np.frombuffer(self._data, dtype, n, self._at)
        self._at += n * dtype.itemsize
        return values


class AsciiPlyBody:
    """Reads one element after the other from lines of text."""

    def __init__(self, data: bytes) -> None:
        lines = data.decode("ascii", "replace").splitlines()
        self._lines = [line for line in lines if line.strip()]
        self._at = 0

    @property
    def n_left(self) -> int:
        """Bytes of the lines that no element has taken."""
        return sum(len(line) for line in self._lines[self._at :])

    def read(self, element: PlyElement) -> dict[str, Column]:
        """Return the columns of the next element; ValueError if it is not whole."""
        lines = self._lines[self._at : self._at + element.count]
        if len(lines) < element.count:
            raise ValueError(f"{element.count} lines expected, {len(lines)} left")
        self._at += element.count
        if element.count == 0:
            return _nothing(element)
        if element.has_lists:
            return self._walk(element, lines)
        table = np.loadtxt(io.StringIO("\n".join(lines)), ndmin=2, comments=None)
        if table.shape[1] != len(element.properties):
            raise ValueError(
                f"{len(element.properties)} numbers a line expected, {table.shape[1]} are there"
            )
        return {p[0]: table[:, i] for i, p in enumerate(element.properties)}

    @staticmethod
    def _walk(element: PlyElement, lines: list[str]) -> dict[str, Column]:
        values: dict[str, list[float]] = {name: [] for name, _, _ in element.properties}
        lengths: dict[str, list[int]] = {name: [] for name, _, _ in element.properties}
        for line in lines:
            if len(line) > _MAX_LINE:
                raise ValueError(f"a line has more than {_MAX_LINE} characters")
            tokens, at = line.split(), 0
            for name, _, length in element.properties:
                n = int(tokens[at]) if length else 1
                at += bool(length)
                if n < 0 or at + n > len(tokens):
                    raise ValueError("a list is shorter than its length says")
                values[name] += map(float, tokens[at : at + n])
                lengths[name].append(n)
                at += n
            if at != len(tokens):
                raise ValueError(f"{at} words expected in a line, {len(tokens)} are there")
        return {
            name: (np.array(lengths[name], dtype=np.int64), np.array(values[name]))
            if length
            else np.array(values[name])
            for name, _, length in element.properties
        }


def _nothing(element: PlyElement) -> dict[str, Column]:
    empty = np.empty(0)
    return {
        name: (np.empty(0, dtype=np.int64), empty) if length else empty
        for name, _, length in element.properties
    }
