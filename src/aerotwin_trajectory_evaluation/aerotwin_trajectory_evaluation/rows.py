# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Text files of numbers, one row per line, with line numbers for messages."""

import difflib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_format import foreign_format
from aerotwin_core.text_lines import text_lines
from aerotwin_core.time import stamp_of_text
from aerotwin_trajectory_evaluation.ulog_recording import ULOG_MAGIC

MAX_BYTES = 4 * 2**30
_SECONDS_DIGITS = {"s": 9, "ms": 6, "us": 3, "ns": 0}


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """The rows of a text file that are neither empty nor comments.

    `header` are the names in the first line, which may be a comment; line numbers count from 1.
    """

    path: Path
    header: list[str] | None
    lines: list[str]
    numbers_of_lines: list[int]
    is_comma_separated: bool

    def __len__(self) -> int:
        return len(self.lines)

    def line(self, row: int) -> int:
        """Return the line number of a row."""
        return self.numbers_of_lines[row]

    def cells(self, row: int) -> list[str]:
        """Return the cells of a row."""
        if self.is_comma_separated:
            return [cell.strip() for cell in self.lines[row].split(",")]
        return self.lines[row].split()

    @cached_property
    def table(self) -> np.ndarray:
        """All cells as numbers (n, k); the first row sets k.

        Raises ValueError naming the line that is too short, or not numeric.
        """
        try:
            values = np.loadtxt(
                self.lines, delimiter="," if self.is_comma_separated else None, ndmin=2
            )
        except ValueError:
            self._raise_for_bad_line()
            raise
        if not np.isfinite(values).all():
            at = np.argwhere(~np.isfinite(values))
            rows = len(np.unique(at[:, 0]))
            raise ValueError(
                f"line {self.line(int(at[0, 0]))}: column {at[0, 1] + 1} is not finite "
                f"({rows} such rows); remove what the SLAM could not answer"
            )
        return values

    def numbers(self, n_columns: int, *, exactly: bool = False) -> np.ndarray:
        """Return the first columns (n, n_columns) of the table."""
        width = len(self.cells(0))
        if width < n_columns or (exactly and width != n_columns):
            raise ValueError(f"line {self.line(0)} has {width} columns, {n_columns} are needed")
        return self.table[:, :n_columns]

    def _raise_for_bad_line(self) -> None:
        width = len(self.cells(0))
        for row in range(len(self)):
            cells = self.cells(row)
            if len(cells) != width:
                raise ValueError(
                    f"line {self.line(row)} has {len(cells)} columns, the first row has {width}"
                ) from None
            for number, cell in enumerate(cells, 1):
                if not _is_number(cell):
                    raise ValueError(
                        f"line {self.line(row)}: column {number} is no number: {cell[:40]!r}"
                    ) from None


def read_rows(path: Path) -> Rows:
    """Return the rows of a text file.

    Raises UserError if the file cannot be read, is not text, is too large, or has no rows.
    """

    def check_head(head: bytes) -> None:
        if b"\0" in head:
            raise UserError(_what_it_is(path, head))

    try:
        lines = enumerate(text_lines(path, max_bytes=MAX_BYTES, check_head=check_head), 1)
        numbered = [(n, line) for n, line in lines if line and not line.isspace()]
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    rows = [(n, line) for n, line in numbered if line.lstrip()[0] not in "#%"]
    header = None
    if numbered and numbered[0][0] != (rows[0][0] if rows else 0):
        header = _names(numbered[0][1].lstrip().lstrip("#%"))
    elif rows and not _is_number(_split(rows[0][1])[0]):
        header = _names(rows[0][1])
        rows = rows[1:]
    if not rows:
        raise UserError(f"{path}: holds no pose")
    return Rows(
        path=path,
        header=header,
        lines=[line for _, line in rows],
        numbers_of_lines=[n for n, _ in rows],
        is_comma_separated="," in rows[0][1],
    )


def _what_it_is(path: Path, head: bytes) -> str:
    """Return the type of a binary file, and what to do instead."""
    text = "TUM, KITTI, EuRoC and CSV are text"
    if head.startswith(ULOG_MAGIC):
        return (
            f"{path}: a PX4 log (ULog), {text}; write its vehicle_local_position and "
            "vehicle_attitude as TUM (stamp x y z qx qy qz qw), or fly it again and compare: "
            f"aerotwin launch launch/recorded_flight.launch.yaml recording:={path}"
        )
    found = foreign_format(path.name, head)
    return f"{path}: {'a binary file' if found is None else found.name}; {text}"


def stamps_of(rows: Rows, column: int, unit: str) -> np.ndarray:
    """Return a column of times as nanoseconds (n,), exact to the last written digit."""
    digits = _SECONDS_DIGITS[unit]
    split = rows.is_comma_separated
    cells = [line.split("," if split else None, column + 1)[column].strip() for line in rows.lines]
    stamps = [_stamp(cell, digits, rows, row) for row, cell in enumerate(cells)]
    return np.array(stamps, dtype=np.int64)


def _stamp(cell: str, digits: int, rows: Rows, row: int) -> int:
    try:
        return stamp_of_text(cell, digits)
    except ValueError as error:
        raise ValueError(f"line {rows.line(row)}: {error}") from None


def _names(line: str) -> list[str]:
    return [name.strip().strip("\"'") for name in _split(line)]


def _split(line: str) -> list[str]:
    return line.split(",") if "," in line else line.split()


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


_TIMES = ("time", "timestamp", "stamp", "t")
_TIME_UNITS = ("s", "ms", "us", "ns")
_METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001, "km": 1000.0}
_RADIANS = {"rad": 1.0, "deg": np.pi / 180.0}
# Common column names; a unit follows as `_m`, ` [m]` or ` (m)`.
_POSITION = ("{}", "p{}", "p_{}", "t{}", "pos_{}", "position_{}", "position.{}",
             "pose.position.{}", "pose.pose.position.{}", "p_rs_r_{}")  # fmt: skip
_QUATERNION = ("q{}", "q_{}", "quat_{}", "orientation_{}", "orientation.{}",
               "pose.orientation.{}", "pose.pose.orientation.{}", "q_rs_{}")  # fmt: skip
_NAME = re.compile(r"^(?P<name>.*?)\s*(?:[\[(](?P<unit>[^\])]*)[\])])?$")

Columns = tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]


def read_named_columns(rows: Rows) -> Columns:
    """Return stamps [ns], positions (n, 3) [m], quaternions xyzw (n, 4) and notes.

    Time: one of time, timestamp, stamp, t with its unit (`time_s`, `stamp_ns`, `timestamp [ns]`).
    Position: x y z with their units; without unit metres are assumed, and a note says so. Attitude:
    qx qy qz qw, or roll, pitch and yaw with their units (rotations about the fixed axes x, y, z in
    this order, as in REP-103). Raises ValueError if a column or its unit is missing.
    """
    if rows.header is None:
        raise ValueError("the first line must name the columns (time_s, x_m, y_m, z_m, qx, …, qw)")
    names = [_parts(name) for name in rows.header]
    if len(names) != len(rows.cells(0)):
        raise ValueError(
            f"{len(names)} names stand above {len(rows.cells(0))} columns; name each column once"
        )
    table = rows.table
    time_column, time_unit = _time(names)
    position, notes = _position(names, table)
    return stamps_of(rows, time_column, time_unit), position, _attitude(names, table), notes


def _parts(name: str) -> tuple[str, str]:
    """Return a lower-case name and its unit; the suffix of a snake-case name may be the unit."""
    match = _NAME.match(name.strip().lower())
    assert match is not None
    text, unit = match["name"].strip(), (match["unit"] or "").strip()
    if match["unit"] is None:
        head, _, tail = text.rpartition("_")
        if head and tail in (*_TIME_UNITS, *_METRES, *_RADIANS):
            return head, tail
    return text, unit


def _time(names: list[tuple[str, str]]) -> tuple[int, str]:
    for column_name in _TIMES:
        for column, (name, unit) in enumerate(names):
            if name == column_name:
                if unit not in _TIME_UNITS:
                    raise ValueError(
                        f"column {name!r} has no unit of time; name it {name}_s, {name}_ms, "
                        f"{name}_us or {name}_ns"
                    )
                return column, unit
    raise ValueError(f"no column of time (time_s, stamp_ns, …) among {_listed(names)}")


def _position(names: list[tuple[str, str]], table: np.ndarray) -> tuple[np.ndarray, list[str]]:
    columns = _find(names, _POSITION, "xyz")
    if columns is None:
        raise ValueError(f"no columns of position (x_m, y_m, z_m) among {_listed(names, 'x_m')}")
    units = [names[column][1] for column in columns]
    notes = [] if all(units) else ["positions have no unit in their names: metres are assumed"]
    wrong = [unit for unit in units if unit and unit not in _METRES]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is no unit of a position; known are {', '.join(_METRES)}")
    return table[:, columns] * [_METRES[unit or "m"] for unit in units], notes


def _attitude(names: list[tuple[str, str]], table: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    columns = _find(names, _QUATERNION, "xyzw")
    if columns is not None:
        return table[:, columns]
    found = [_column(names, angle) for angle in ("roll", "pitch", "yaw")]
    if None in found:
        raise ValueError(
            f"no columns of attitude (qx, qy, qz, qw or roll_deg, pitch_deg, yaw_deg) among "
            f"{_listed(names, 'qx')}"
        )
    angles = [column for column in found if column is not None]
    units = [names[column][1] for column in angles]
    if not all(unit in _RADIANS for unit in units):
        raise ValueError("roll, pitch and yaw must say their unit: roll_deg or roll_rad")
    values = table[:, angles] * [_RADIANS[unit] for unit in units]
    return Rotation.from_euler("xyz", values).as_quat()


def _find(names: list[tuple[str, str]], patterns: tuple[str, ...], axes: str) -> list[int] | None:
    """Return the columns of all axes under the first pattern that matches them all."""
    for pattern in patterns:
        found = [_column(names, pattern.format(axis)) for axis in axes]
        if None not in found:
            return [column for column in found if column is not None]
    return None


def _column(names: list[tuple[str, str]], column_name: str) -> int | None:
    for column, (name, _) in enumerate(names):
        if name == column_name:
            return column
    return None


def _listed(names: list[tuple[str, str]], column_name: str = "") -> str:
    """Return the existing names, those similar to the requested one first."""
    plain = [name for name, _ in names]
    close = difflib.get_close_matches(column_name, plain, n=3) if column_name else []
    return ", ".join([*close, *(name for name in plain if name not in close)][:12])
