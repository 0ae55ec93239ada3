# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded flights: ULog, TUM, EuRoC, bags, and CSV files with GNSS positions."""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed
from aerotwin_core.geodesy import HIGHEST_ALTITUDE_M
from aerotwin_core.limits import check_is_file, file_size
from aerotwin_core.text_lines import text_lines
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.files import read_trajectory
from aerotwin_trajectory_evaluation.ulog_recording import ULOG_MAGIC, read_ulog_recording

MAX_BYTES = 4_000_000_000
_ALIASES = {
    "time": ("time", "timestamp", "stamp", "t", "time_usec", "time_boot", "datetime"),
    "latitude": ("lat", "latitude"),
    "longitude": ("lon", "lng", "long", "longitude"),
    "altitude": ("alt", "altitude", "alt_msl", "altitude_msl", "height", "elevation", "ele"),
    "yaw": ("yaw_map",),
}
_UNITS = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "usec": 1e-6, "ns": 1e-9}
_DEGREES = {"1e7": 1e-7, "e7": 1e-7, "dege7": 1e-7, "deg": 1.0}
_METRES = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}
_FURTHER = (*_DEGREES, *_METRES, "amsl")
_HIGHEST_M = 20_000.0
"""An altitude without a unit above this is in millimetres: no multirotor flies there."""
_EPOCH_S = 1e9
"""A stamp below is not seconds since 1970: 2001-09-09."""
_MAX_STEP_S = 60.0
_KITTI_COLUMNS = 12


@dataclass(frozen=True, kw_only=True)
class FlightRecording:
    """A recorded flight.

    Attributes
    ----------
    kind, notes : str, tuple of str
        Description of the source, and remarks for the reader.
    t : (n,) array
        Seconds since the first sample, increasing.
    position : (n, 3) array
        Local: x, y, z, z up [m]; if `is_geodetic`: latitude, longitude [deg], altitude [m].
    yaw : (n,) array or None
        From x (east) counter-clockwise [rad], unwrapped; None if it was not recorded.
    """

    path: Path
    kind: str
    t: np.ndarray
    position: np.ndarray
    is_geodetic: bool
    yaw: np.ndarray | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.t) < 3:
            raise UserError(f"{self.path}: holds {len(self.t)} positions, a flight needs three")
        if not (np.isfinite(self.position).all() and (np.diff(self.t) > 0.0).all()):
            raise UserError(f"{self.path}: positions must be finite and their stamps increase")
        highest_m = float(np.abs(self.position[:, 2]).max())
        if self.is_geodetic and highest_m > HIGHEST_ALTITUDE_M:
            raise UserError(
                f"{self.path}: an altitude of {highest_m:.3g} m is beyond {HIGHEST_ALTITUDE_M:g}; "
                "check its unit"
            )


def read_recording(path: str | Path, *, topic: str | None = None) -> FlightRecording:
    """Return the flight of a file; its format is detected from its content.

    ULog by its first bytes, a CSV with GNSS by its column names; any other format by
    `read_trajectory` (TUM, EuRoC, bags).

    Raises
    ------
    UserError
        If the file is missing, damaged, or holds no flight; the message says what is missing.
    """
    path = Path(path)
    check_is_file(path)
    if not path.exists():
        raise UserError(f"{path}: no such file; give a ULog, TUM, EuRoC or GNSS CSV file, or a bag")
    if path.is_file():
        if file_size(path) > MAX_BYTES:
            raise UserError(f"{path}: larger than {MAX_BYTES} bytes; cut it")
        with path.open("rb") as file:
            head = file.read(4096)
        if head.startswith(ULOG_MAGIC):
            return FlightRecording(path=path, **read_ulog_recording(path))
        columns = _gnss_columns(head)
        if columns is not None:
            return _read_gnss_csv(path, columns)
        if len(head.split(b"\n", 1)[0].split()) == _KITTI_COLUMNS:
            raise UserError(
                f"{path}: KITTI poses are those of a camera that looks along z; no flight with z "
                "up; convert them to TUM (stamp x y z qx qy qz qw)"
            )
    return _from_trajectory(path, read_trajectory(path, topic=topic))


def _from_trajectory(path: Path, trajectory: Trajectory) -> FlightRecording:
    from scipy.spatial.transform import Rotation

    forward = Rotation.from_quat(trajectory.q_ref_body).as_matrix()[:, :, 0]
    return FlightRecording(
        path=path,
        kind="trajectory of poses in a local frame, taken to have z up",
        t=(trajectory.stamps_ns - trajectory.stamps_ns[0]) * 1e-9,
        position=trajectory.p_ref_body,
        is_geodetic=False,
        yaw=np.unwrap(np.arctan2(forward[:, 1], forward[:, 0])),
    )


# -- CSV with GNSS --------------------------------------------------------------------------------


def _gnss_columns(head: bytes) -> dict[str, int] | None:
    """Return the column of each quantity, None if the first line has no latitude and longitude."""
    names = _names(head.split(b"\n", 1)[0].decode("utf-8", "replace"))
    found: dict[str, int] = {}
    for kind, aliases in _ALIASES.items():
        for index, name in enumerate(names):
            if _stem(name) in aliases and kind not in found:
                found[kind] = index
    if "latitude" not in found or "longitude" not in found:
        return None
    missing = [kind for kind in ("time", "altitude") if kind not in found]
    if missing:
        raise UserError(
            f"the CSV names latitude and longitude but no {' and no '.join(missing)}; its columns "
            f"are {listed(names)}; name a column time_us (or _s, _ms, _ns) and alt"
        )
    unit = names[found["time"]].rpartition("_")[2]
    found["unit"] = list(_UNITS).index(unit) if unit in _UNITS else -1
    return found


def _named_scale(name: str, scales: dict[str, float]) -> float | None:
    """Return the factor of the unit at the end of a column's name; None without one."""
    parts = name.split("_")[1:]
    return next((factor for unit, factor in scales.items() if unit in parts), None)


def _names(line: str) -> list[str]:
    """Return the column names in a file's first line."""
    first = line.lstrip("\ufeff#").strip()
    return [name.strip().strip('"').lower() for name in first.split(",")]


def _stem(name: str) -> str:
    """Return a column's name without its unit: time_us -> time, lat_1e7_deg -> lat."""
    parts = name.split("_")
    while len(parts) > 1 and (parts[-1] in _UNITS or parts[-1] in _FURTHER):
        parts.pop()
    return "_".join(parts)


def _read_gnss_csv(path: Path, columns: dict[str, int]) -> FlightRecording:
    rows, n_bad = _rows(path, [columns[k] for k in ("time", "latitude", "longitude", "altitude")])
    if len(rows) < 3:
        raise UserError(f"{path}: holds {len(rows)} readable rows of numbers, a flight needs three")
    table = np.array(rows)
    notes = [f"{n_bad} rows could not be read and were left out."] if n_bad else []
    stamps, unit = _seconds(table[:, 0], columns["unit"], path)
    position = table[:, 1:] * _scales(path, columns, table[:, 1:], notes)
    if np.abs(position[:, 0]).max() > 90.0 or np.abs(position[:, 1]).max() > 180.0:
        raise UserError(f"{path}: latitudes or longitudes are out of range; check their units")
    is_first = np.concatenate([[True], np.diff(stamps) > 0.0])
    is_new = is_first & (stamps >= np.maximum.accumulate(stamps))
    if not is_new.all():
        notes.append(f"{int((~is_new).sum())} rows with repeated or earlier stamps were left out.")
    notes.append(f"Stamps were taken to be in {unit}.")
    return FlightRecording(
        path=path,
        kind="CSV with GNSS positions",
        t=stamps[is_new] - stamps[is_new][0],
        position=position[is_new],
        is_geodetic=True,
        notes=tuple(notes),
    )


def _scales(
    path: Path, columns: dict[str, int], position: np.ndarray, notes: list[str]
) -> np.ndarray:
    """Return the factors (3,) to degrees and metres: by the columns' names, else by size."""
    names = _names(next(text_lines(path, max_bytes=MAX_BYTES)))
    named = [_named_scale(names[columns[k]], _DEGREES) for k in ("latitude", "longitude")]
    known = [scale for scale in named if scale is not None]
    largest = np.abs(position).max(axis=0)
    guess = known[0] if known else 1e-7 if largest[0] > 90.0 or largest[1] > 180.0 else 1.0
    latitude, longitude = (guess if scale is None else scale for scale in named)
    if 1e-7 in (latitude, longitude):
        notes.append("Latitude and longitude are in 1e-7 degrees.")
    altitude = _named_scale(names[columns["altitude"]], _METRES)
    if altitude is None:
        is_integer = latitude == 1e-7 and bool((position[:, 2] == np.round(position[:, 2])).all())
        altitude = 1e-3 if largest[2] > _HIGHEST_M or is_integer else 1.0
        if altitude != 1.0:
            notes.append("Altitude was taken to be in millimetres; name the column alt_m if not.")
    return np.array([latitude, longitude, altitude])


def _rows(path: Path, columns: list[int]) -> tuple[list[list[float]], int]:
    """Return the rows whose requested columns are finite, and the number of other rows."""
    rows, n_bad = [], 0
    reader = csv.reader(text_lines(path, max_bytes=MAX_BYTES))
    try:
        next(reader)
        for cells in filter(None, reader):
            try:
                row = [float(cells[index]) for index in columns]
            except (ValueError, IndexError):
                row = [math.nan]
            if all(map(math.isfinite, row)):
                rows.append(row)
            else:
                n_bad += 1
    except csv.Error as error:  # quotation marks that are not closed join line to line
        raise UserError(f"{path}: line {reader.line_num}: {error}; correct it") from None
    return rows, n_bad


def _seconds(stamps: np.ndarray, unit_index: int, path: Path) -> tuple[np.ndarray, str]:
    """Return stamps in seconds since the first, and their unit.

    Without a unit in the column's name: the one in which the first stamp is a time since 1970, else
    seconds if the samples are then at most a minute apart.
    """
    units = list(_UNITS)
    if unit_index >= 0:
        unit = units[unit_index]
    else:
        since_1970 = [
            u for u in ("s", "ms", "us", "ns") if 1.0 <= stamps[0] * _UNITS[u] / _EPOCH_S < 5.0
        ]
        unit = since_1970[0] if since_1970 else "s"
    seconds = (stamps - stamps[0]) * _UNITS[unit]
    if float(np.median(np.diff(seconds))) > _MAX_STEP_S:
        raise UserError(
            f"{path}: the unit of its stamps is not known (first {stamps[0]:g}, then "
            f"{stamps[1]:g}); name the column time_s, time_ms, time_us or time_ns"
        )
    return seconds, unit
