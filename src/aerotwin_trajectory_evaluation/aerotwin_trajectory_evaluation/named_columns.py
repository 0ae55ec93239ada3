# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories in CSV files with named columns: `time_s, x_m, y_m, z_m, qx, …, qw`."""

import difflib
import re

import numpy as np

from aerotwin_trajectory_evaluation.rows import Rows, stamps_of

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
    Position: x y z with their units; without unit metres are assumed, and a note says so.
    Attitude: qx qy qz qw, or roll, pitch and yaw with their units (rotations about the fixed axes
    x, y, z in this order, as in REP-103).

    Raises
    ------
    ValueError
        If a column or its unit is missing.
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
