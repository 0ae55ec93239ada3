# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables and sheets of data sets made by others: errors name file and line, sizes are limited."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.documents import MAX_BYTES, DocumentError, parse_yaml
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import shown
from aerotwin_core.limits import check_is_file
from aerotwin_core.text_lines import text_lines
from aerotwin_core.time import stamp_of_text

LAST_STAMP_NS = 2**31 * 10**9 - 1
"""builtin_interfaces/Time counts seconds in an int32."""
_ORTHONORMAL = 1e-3
"""Hand-written calibrations have four digits."""


def rows(path: Path, separator: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of each line that is neither empty nor a comment (#).

    Raises `UserError` if the file cannot be read.
    """
    try:
        for number, line in enumerate(text_lines(path), start=1):
            if line.strip() and not line.lstrip().startswith("#"):
                yield number, [cell.strip() for cell in line.split(separator)]
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def stamp_of(path: Path, number: int, text: str, digits: int) -> int:
    """Return a stamp [ns]; `digits` as in `stamp_of_text`.

    Raises `UserError` if it is no time that a message can have.
    """
    try:
        stamp = stamp_of_text(text, digits)
    except ValueError as error:
        raise UserError(f"{path}:{number}: expected a stamp first ({error})") from None
    if not 0 <= stamp <= LAST_STAMP_NS:
        raise UserError(f"{path}:{number}: expected 0 to {LAST_STAMP_NS} ns, got {stamp}")
    return stamp


def numbers(
    path: Path, columns: int, *, separator: str | None = ",", digits: int = 0, may_be_nan: int = 0
) -> Iterator[tuple[int, int, list[float]]]:
    """Yield line number, stamp [ns] and the other columns; stamps increase.

    A line has `columns` numbers after its stamp, or more, which are ignored. The last `may_be_nan`
    of them need not be known (NaN).

    Raises `UserError` at a line that is not so.
    """
    before = -1
    for number, cells in rows(path, separator):
        stamp = stamp_of(path, number, cells[0], digits)
        try:
            values = [float(cell) for cell in cells[1 : columns + 1]]
        except ValueError as error:
            raise UserError(f"{path}:{number}: expected numbers ({error})") from None
        if len(values) < columns:
            raise UserError(
                f"{path}:{number}: expected a stamp and {columns} numbers, found {len(values)}"
            )
        if not all(math.isfinite(value) for value in values[: columns - may_be_nan]):
            raise UserError(f"{path}:{number}: expected finite numbers, found {shown(cells)}")
        if stamp <= before:
            raise UserError(f"{path}:{number}: stamps must increase, {stamp} follows {before} ns")
        before = stamp
        yield number, stamp, values


def once(names: set[str], name: str, path: Path, number: int) -> None:
    """Note the name of a file that a table lists.

    Raises `UserError` if it was listed before: a small table would become a huge recording.
    """
    if name in names:
        raise UserError(f"{path}:{number}: {shown(name)} is listed twice; remove this line")
    names.add(name)


def read_sheet(path: Path) -> dict[str, Any]:
    """Return the mapping in a YAML file; OpenCV's first line `%YAML:1.0` is accepted.

    Raises `UserError` if it is none.
    """
    check_is_file(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if data.startswith(b"%YAML:"):
            data = data[data.index(b"\n") + 1 :] if b"\n" in data else b""
        found = parse_yaml(data)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except DocumentError as error:
        raise UserError(f"{path}: no YAML ({error})") from None
    if not isinstance(found, dict):
        raise UserError(f"{path}: expected names with values, found {shown(found)}")
    return found


def vector(sheet: dict[str, Any], key: str, where: object, *lengths: int) -> list[float]:
    """Return a list of finite numbers of one of the lengths.

    Raises `UserError` if the sheet has none below the key.
    """
    found = sheet.get(key)
    values = found if isinstance(found, list) and len(found) in lengths else []
    if values and all(isinstance(v, int | float) and math.isfinite(v) for v in values):
        return [float(value) for value in values]
    counts = " or ".join(map(str, lengths))
    raise UserError(f"{where}: {key}: expected {counts} finite numbers, found {shown(found)}")


def transform(found: Any, where: object) -> np.ndarray:
    """Return the rigid transform (4, 4) of a mapping with `data` or of nested rows.

    Raises `UserError` if it is none.
    """
    data = found.get("data") if isinstance(found, dict) else found
    try:
        T = np.array(data, dtype=np.float64).reshape(4, 4)
    except (TypeError, ValueError):
        raise UserError(f"{where}: expected 4 x 4 numbers, found {shown(data)}") from None
    R = T[:3, :3]
    is_rigid = np.isfinite(T).all() and np.array_equal(T[3], [0.0, 0.0, 0.0, 1.0])
    if not is_rigid or np.abs(R @ R.T - np.eye(3)).max() > _ORTHONORMAL or np.linalg.det(R) < 0:
        raise UserError(f"{where}: expected a rigid transform, found {shown(T.tolist())}")
    return T
