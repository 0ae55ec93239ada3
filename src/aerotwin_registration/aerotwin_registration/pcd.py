# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""PCD files, version 0.7 (Point Cloud Library): ascii, binary and binary_compressed."""

import io
from pathlib import Path
from typing import BinaryIO

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.limits import check_memory

_MAX_HEADER_BYTES = 65536
_MAX_POINTS = 500_000_000
_MAX_COUNT = 65_536
# LZF packs at most 264 bytes into three.
_MAX_RATIO = 90
_COPIES = 5  # as it is unpacked, and as float64 in columns and in one table


def read_pcd(path: Path) -> dict[str, np.ndarray]:
    """Return the columns of a PCD file by name; UserError if it is none, cut off or miscounted."""
    data = Path(path).read_bytes()
    head, start = _header(data, path)
    try:
        kind = _row_type(head)
        n = int(head["POINTS"][0])
        mode = head["DATA"][0]
        _check_size(head, n)
        if mode == "ascii":
            return _ascii(data[start:], kind, n)
        if mode == "binary":
            if start + n * kind.itemsize > len(data):
                raise ValueError(f"{n} points need {n * kind.itemsize} bytes, fewer are there")
            rows = np.frombuffer(data, kind, n, start)
            return {name: rows[name] for name in kind.names or () if rows[name].ndim == 1}
        if mode == "binary_compressed":
            check_memory(
                _COPIES * n * kind.itemsize,
                file_bytes=len(data),
                where=path,
                what=f"its {n} points",
            )
            return _compressed(data, start, kind, n)
        raise ValueError(f"DATA {mode} is unknown")
    except KeyError as error:
        raise UserError(f"{path}: damaged PCD file: its header lacks {error}") from error
    except (IndexError, ValueError, OverflowError, TypeError, MemoryError) as error:
        raise UserError(f"{path}: damaged PCD file: {error}") from error


def write_pcd(columns: dict[str, np.ndarray], file: BinaryIO) -> None:
    """Write equally long columns as a binary PCD."""
    kinds = {name: np.dtype(column.dtype).str[1:] for name, column in columns.items()}
    n = len(next(iter(columns.values())))
    lines = [
        "# .PCD v0.7 - Point Cloud Data file format",
        "VERSION 0.7",
        "FIELDS " + " ".join(kinds),
        "SIZE " + " ".join(kind[1:] for kind in kinds.values()),
        "TYPE " + " ".join(kind[0].upper() for kind in kinds.values()),
        "COUNT " + " ".join("1" for _ in kinds),
        f"WIDTH {n}",
        "HEIGHT 1",
        "VIEWPOINT 0 0 0 1 0 0 0",
        f"POINTS {n}",
        "DATA binary",
    ]
    file.write(("\n".join(lines) + "\n").encode("ascii"))
    rows = np.empty(n, dtype=[(name, "<" + kind) for name, kind in kinds.items()])
    for name, column in columns.items():
        rows[name] = column
    file.write(rows.tobytes())


def _header(data: bytes, path: Path) -> tuple[dict[str, list[str]], int]:
    head: dict[str, list[str]] = {}
    at = 0
    while at < min(len(data), _MAX_HEADER_BYTES):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        tokens = data[at:end].decode("ascii", "replace").split()
        at = end + 1
        if tokens and not tokens[0].startswith("#"):
            head[tokens[0].upper()] = tokens[1:]
            if tokens[0].upper() == "DATA":
                return head, at
    raise UserError(f"{path}: not a PCD file (no DATA line in its header)")


def _row_type(head: dict[str, list[str]]) -> np.dtype:
    counts = head.get("COUNT", ["1"] * len(head["FIELDS"]))
    fields: list[tuple[str, str, tuple[int, ...]]] = []
    for i, (name, size, letter, count) in enumerate(
        zip(head["FIELDS"], head["SIZE"], head["TYPE"], counts, strict=True)
    ):
        if letter.upper() not in ("F", "I", "U") or int(size) not in (1, 2, 4, 8):
            raise ValueError(f"field {name} is of unknown type {letter} and size {size}")
        if not 1 <= int(count) <= _MAX_COUNT:
            raise ValueError(f"field {name} has COUNT {count}, expected 1 to {_MAX_COUNT}")
        unique = name if name != "_" and name not in [f[0] for f in fields] else f"_{i}"
        shape = () if int(count) == 1 else (int(count),)
        fields.append((unique, f"<{letter.lower()}{int(size)}", shape))
    return np.dtype(fields)


def _check_size(head: dict[str, list[str]], n: int) -> None:
    if not 0 <= n <= _MAX_POINTS:
        raise ValueError(f"POINTS {n} is out of range")
    if "WIDTH" in head and "HEIGHT" in head:
        width, height = int(head["WIDTH"][0]), int(head["HEIGHT"][0])
        if width * height != n:
            raise ValueError(f"WIDTH {width} times HEIGHT {height} is not POINTS {n}")


def _ascii(data: bytes, kind: np.dtype, n: int) -> dict[str, np.ndarray]:
    lines = data.decode("ascii", "replace").split("\n")
    lines = [line for line in lines if line.strip()]
    if len(lines) != n:
        raise ValueError(f"{n} points expected, {len(lines)} lines are there")
    widths = {name: int(np.prod(kind[name].shape)) for name in kind.names or ()}
    starts = dict(zip(widths, np.cumsum([0, *widths.values()]), strict=False))
    if n == 0:
        return {name: np.empty(0) for name in widths}
    table = np.loadtxt(io.StringIO("\n".join(lines)), ndmin=2, comments=None)
    if table.shape[1] != sum(widths.values()):
        raise ValueError(f"{sum(widths.values())} columns expected, {table.shape[1]} are there")
    return {name: table[:, starts[name]] for name, width in widths.items() if width == 1}


def _compressed(data: bytes, start: int, kind: np.dtype, n: int) -> dict[str, np.ndarray]:
    packed_size, size = np.frombuffer(data, "<u4", 2, start)
    if int(size) != n * kind.itemsize or start + 8 + int(packed_size) > len(data):
        raise ValueError("the sizes of the compressed block do not fit the header")
    if int(size) > _MAX_RATIO * int(packed_size):
        raise ValueError(f"{packed_size} bytes cannot hold the {size} that they claim")
    raw = _lzf_decompress(data[start + 8 : start + 8 + int(packed_size)], int(size))
    columns, at = {}, 0
    for name in kind.names or ():
        width = kind[name].itemsize * n
        if not kind[name].shape:
            columns[name] = np.frombuffer(raw, kind[name], n, at)
        at += width
    return columns


def _lzf_decompress(packed: bytes, size: int) -> bytes:
    """Undo LZF: a control byte below 32 copies literals, else it points back into the output."""
    import imagecodecs

    if size == 0:
        return b""
    try:
        out = bytes(imagecodecs.lzf_decode(packed, out=size))
    except imagecodecs.LzfError as error:
        raise ValueError(str(error)) from error
    if len(out) != size:
        raise ValueError(f"decompressed to {len(out)} bytes, {size} expected")
    return out
