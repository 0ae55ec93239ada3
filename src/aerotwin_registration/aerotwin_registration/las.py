# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""LAS and LAZ files (through laspy and lazrs), with the coordinate system that they name.

References: ASPRS, LAS Specification 1.4 R15: public header, scale and offset, GeoKeyDirectory
(34735) and OGC WKT (2112) records. OGC 19-008r4 (GeoTIFF): keys 2048, 3072, 3076.
"""

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.limits import check_memory

_CHUNK_POINTS = 1_000_000
_GEOGRAPHIC_KEY, _PROJECTED_KEY, _LINEAR_UNITS_KEY = 2048, 3072, 3076
_GEO_KEYS_RECORD, _WKT_RECORD = 34735, 2112
_METRES_OF_UNIT = {9001: 1.0, 9002: 0.3048, 9003: 1200.0 / 3937.0}
"""EPSG units of length: metre, foot, US survey foot."""
# A code with its brackets, a quoted text, or a bracket.
_WKT_MARK = re.compile(r'\b(?:AUTHORITY|ID)\s*\[\s*"EPSG"\s*,\s*"?(\d+)"?[^\]]*\]|"[^"]*"|[\[\]]')
# Public header of LAS 1.0 and of 1.4; heads of the records behind it and at the end of the file.
_SHORTEST_HEADER_BYTES, _HEADER_BYTES = 227, 375
_RECORD_BYTES, _EXTENDED_RECORD_BYTES = 54, 60
# A coordinate beyond the Earth's circumference in any unit of length in use (millimetres).
_MAX_COORDINATE = 1e11


@dataclass(frozen=True, kw_only=True)
class CoordinateSystem:
    """Coordinate system stated by a file."""

    name: str = ""  # `EPSG:32633`, or the name in the WKT; "" if unknown
    metres_per_unit: float | None = None  # of x and y; None if the file does not say
    is_geographic: bool = False  # whether x and y are in degrees


@dataclass(frozen=True, kw_only=True)
class LasContent:
    """Content of a file: `columns` x, y, z in double precision and intensity, each (n,).

    `doubt` is a warning about points outside of the bounding box in the header; "" if none.
    """

    columns: dict[str, np.ndarray]
    system: CoordinateSystem
    doubt: str = ""


_BYTES_PER_POINT = 100
"""Integers of the file, coordinates as float64, and both once more while they are joined."""
_LAZ_RATIO = 4  # LAZ packs points by so much, and not points of nothing alone


def read_las_here(path: Path) -> LasContent:
    """Return the content of a LAS file, read in this process.

    LAZ belongs to a child process (`las_process.read_las`).

    Raises UserError if the file is damaged, cut off or counts more points than it holds, or is in
    degrees.
    """
    import laspy

    try:
        _check_records(path)
        with laspy.open(path) as reader:
            header = reader.header
            _check(header, path.stat().st_size)
            check_memory(
                _BYTES_PER_POINT * int(header.point_count),
                file_bytes=_LAZ_RATIO * path.stat().st_size,
                where=path,
                what=f"its {header.point_count} points",
            )
            system = _coordinate_system(header)
            raw: list[tuple[np.ndarray, ...]] = [
                (np.array(chunk.X), np.array(chunk.Y), np.array(chunk.Z), np.array(chunk.intensity))
                for chunk in reader.chunk_iterator(_CHUNK_POINTS)
            ]
    except UserError:
        raise
    except Exception as error:  # laspy and lazrs list no errors of theirs
        raise UserError(f"{path}: damaged LAS file: {error or type(error).__name__}") from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # lazrs gave up on damaged data
            raise
        raise UserError(f"{path}: damaged LAZ file: {error}") from None
    if system.is_geographic:
        raise UserError(
            f"{path}: its coordinates are degrees ({system.name or 'geographic'}); project them "
            "first, to UTM for example: a map is in metres"
        )
    columns = _columns(raw, header, path)
    return LasContent(columns=columns, system=system, doubt=_doubt(columns, header))


def _check_records(path: Path) -> None:
    """Raise ValueError if a file names more records than it can hold: laspy reads them all."""
    with path.open("rb") as file:
        head = file.read(_HEADER_BYTES)
        n_bytes = file.seek(0, 2)
    if len(head) < _SHORTEST_HEADER_BYTES or not head.startswith(b"LASF"):
        raise ValueError("it does not begin as one")
    size, points_start, n_records = struct.unpack_from("<HII", head, 94)
    if n_records * _RECORD_BYTES > max(min(points_start, n_bytes) - size, 0):
        raise ValueError(f"its header names {n_records} records, more than fit before the points")
    if head[24:26] >= b"\x01\x04" and len(head) == _HEADER_BYTES:
        start, n_records = struct.unpack_from("<QI", head, 235)
        if n_records * _EXTENDED_RECORD_BYTES > max(n_bytes - start, 0):
            raise ValueError(f"its header names {n_records} extended records, more than fit")


def _check(header: Any, n_bytes: int) -> None:
    """Raise ValueError if a header cannot be that of the file."""
    n, size = int(header.point_count), int(header.point_format.size)
    left = n_bytes - int(header.offset_to_point_data)
    if left < 0:
        raise ValueError(f"its points begin behind its end, at byte {header.offset_to_point_data}")
    if not header.are_points_compressed and n * size > left:
        raise ValueError(f"{n} points need {n * size} bytes, {left} are there")
    if n > 8 * n_bytes:
        raise ValueError(f"{n} points do not fit into {n_bytes} bytes, however packed")
    for name, values in (("scale", header.scales), ("offset", header.offsets)):
        if not np.isfinite(values).all():
            raise ValueError(f"its {name} is not a number: {np.asarray(values).tolist()}")
    if not (np.asarray(header.scales) > 0.0).all():
        raise ValueError(f"its scale must be positive, got {np.asarray(header.scales).tolist()}")


def _columns(raw: list[tuple[np.ndarray, ...]], header: Any, path: Path) -> dict[str, np.ndarray]:
    n_read, n_claimed = sum(len(part[0]) for part in raw), int(header.point_count)
    if n_read != n_claimed:
        raise UserError(
            f"{path}: damaged LAS file: its header counts {n_claimed} points, {n_read} are there"
        )
    integers = [np.concatenate([part[k] for part in raw]) if raw else np.empty(0) for k in range(4)]
    columns = {
        axis: integers[k] * float(header.scales[k]) + float(header.offsets[k])
        for k, axis in enumerate("xyz")
    }
    for axis, values in columns.items():
        if len(values) and not np.abs(values).max() < _MAX_COORDINATE:
            raise UserError(f"{path}: damaged LAS file: {axis} reaches {np.abs(values).max():g}")
    return {**columns, "intensity": integers[3]}


def _doubt(columns: dict[str, np.ndarray], header: Any) -> str:
    """Return a warning if points lie outside of the bounding box in the header, else ""."""
    lowest, highest = np.asarray(header.mins), np.asarray(header.maxs)
    slack = 2.0 * np.asarray(header.scales)  # writers round the box
    if not (lowest.any() or highest.any()) or len(columns["x"]) == 0:
        return ""
    for k, axis in enumerate("xyz"):
        low, high = columns[axis].min(), columns[axis].max()
        if not (low >= lowest[k] - slack[k] and high <= highest[k] + slack[k]):
            return (
                f"{axis} spans {low:.3f} to {high:.3f}, its header says {lowest[k]:.3f} to "
                f"{highest[k]:.3f}: either is damaged"
            )
    return ""


def _coordinate_system(header: Any) -> CoordinateSystem:
    """Return the coordinate system stated by the header's records; unstated fields stay empty."""
    records = [*header.vlrs, *(getattr(header, "evlrs", None) or ())]
    found = CoordinateSystem()
    for record in records:
        data = record.record_data_bytes() if hasattr(record, "record_data_bytes") else b""
        if record.record_id == _WKT_RECORD:
            return _of_wkt(data.rstrip(b"\x00").decode("utf-8", "replace"))
        if record.record_id == _GEO_KEYS_RECORD:
            found = _of_geo_keys(data)
    return found


def _of_wkt(text: str) -> CoordinateSystem:
    name = re.match(r'\s*\w+\s*\[\s*"([^"]*)"', text)
    horizontal = text.split("VERT_CS")[0].split("VERTCRS")[0]
    code = _own_code(text)
    units = re.findall(r'(?:\bUNIT|LENGTHUNIT)\s*\[\s*"([^"]*)"\s*,\s*([0-9.eE+-]+)', horizontal)
    lengths = [float(value) for unit, value in units if not unit.lower().startswith(("deg", "rad"))]
    is_projected = "PROJCS" in text or "PROJCRS" in text
    return CoordinateSystem(
        name=f"EPSG:{code}" if code else name[1] if name else "",
        metres_per_unit=lengths[-1] if is_projected and lengths else None,
        is_geographic=not is_projected and ("GEOGCS" in text or "GEOGCRS" in text),
    )


def _own_code(text: str) -> str:
    """Return the EPSG code of the horizontal system itself in a WKT; "" if it has none.

    Its parts have codes as well: ellipsoid, meridian, unit (9001 is the metre, 9002 the foot).
    """
    start = re.search(r"\bPROJC(?:S|RS)\s*\[", text) or re.search(
        r"\b(?:GEOGCS|GEOGCRS|GEODCRS)\s*\[", text
    )
    depth = 0
    for mark in _WKT_MARK.finditer(text, start.start() if start else 0):
        if mark[1]:
            if depth == 1:
                return mark[1]
        elif mark[0] in "[]":
            depth += 1 if mark[0] == "[" else -1
            if depth == 0:
                break
    return ""


def _of_geo_keys(data: bytes) -> CoordinateSystem:
    keys = {}
    for at in range(8, len(data) - 7, 8):
        key, location, _, value = struct.unpack_from("<4H", data, at)
        if location == 0:
            keys[key] = value
    code = keys.get(_PROJECTED_KEY) or keys.get(_GEOGRAPHIC_KEY)
    return CoordinateSystem(
        name=f"EPSG:{code}" if code and code != 32767 else "",
        metres_per_unit=_METRES_OF_UNIT.get(keys.get(_LINEAR_UNITS_KEY, 0)),
        is_geographic=_PROJECTED_KEY not in keys and _GEOGRAPHIC_KEY in keys,
    )
