# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clouds as drivers publish them: fields of a PointCloud2, its points, and the time of each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.time import NANOSECONDS_PER_SECOND

_KINDS = dict(enumerate(("i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"), start=1))
"""Kind of the number of each sensor_msgs/PointField datatype."""
TIME_FIELDS = ("t", "time", "timestamp", "offset_time")
"""Names by which drivers publish the time of a point: `t` Ouster, `time` Velodyne, `timestamp`
Hesai and Robosense, `offset_time` Livox. All count from the stamp, but `ABSOLUTE_FIELD`."""
ABSOLUTE_FIELD = "timestamp"
_ABSOLUTE = ((1e17, 1e-9, "ns"), (1e14, 1e-6, "us"), (1e11, 1e-3, "ms"), (1e8, 1.0, "s"))
"""From a value on: the unit of a clock that counts from 1970."""
_RELATIVE = ((1e7, 1e-9, "ns"), (1e4, 1e-6, "us"), (1e1, 1e-3, "ms"), (0.0, 1.0, "s"))
"""From the length of a scan on: its unit, for scans of 10 ms to 10 s."""
_LARGEST_CLOCK_GAP_S = 1.0
"""Between stamp and points of one clock; a lidar synchronised by PTP may be years from its host."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScanPoints:
    """The usable points of a cloud, as measured.

    `points` (n, 3) are in the frame of the message [m], `times_s` (n,) since its stamp, negative
    where the stamp is the end of the scan. `n_invalid` points were not finite, or at the origin, by
    which some drivers mean "no echo". `timing` says in words from where the times are.
    """

    points: np.ndarray
    times_s: np.ndarray
    n_invalid: int
    timing: str


def point_cloud_arrays(message: Any) -> dict[str, np.ndarray]:
    """Return the float fields of a PointCloud2 by name, each (n,); points with NaN are retained.

    Raises `ValueError` if the sizes in the message disagree or x, y, z are not float32 or float64.
    """
    columns = _columns(message, lambda _, kind: kind.startswith("f"))
    missing = {"x", "y", "z"} - set(columns)
    if missing:
        raise ValueError(f"point cloud lacks the float fields {sorted(missing)}")
    return columns


def finite_points(message: Any) -> tuple[np.ndarray, int]:
    """Return the finite points (n, 3) float64 of a PointCloud2 [m], and how many others it has.

    Raises `ValueError` as `point_cloud_arrays`.
    """
    columns = point_cloud_arrays(message)
    points = np.column_stack([columns[axis] for axis in "xyz"]).astype(np.float64)
    is_finite = np.isfinite(points).all(axis=1)
    return points[is_finite], int(np.count_nonzero(~is_finite))


def scan_points(message: Any) -> ScanPoints:
    """Return the usable points of a PointCloud2, and when each was measured.

    Raises `ValueError` as `point_cloud_arrays`.
    """
    columns = point_cloud_arrays(message)
    points = np.column_stack([columns[axis] for axis in "xyz"])
    is_usable = np.isfinite(points).all(axis=1) & points.any(axis=1)
    times, timing = _point_times(message, is_usable)
    is_usable &= np.isfinite(times)
    return ScanPoints(
        points=points[is_usable],
        times_s=times[is_usable],
        n_invalid=int(np.count_nonzero(~is_usable)),
        timing=timing,
    )


def _columns(message: Any, is_requested: Callable[[str, str], bool]) -> dict[str, np.ndarray]:
    """Return the requested fields by name, each (n,); fields of several numbers by their first."""
    order = ">" if message.is_bigendian else "<"
    table = _point_rows(message)
    n, step = table.shape
    columns = {}
    for field in message.fields:
        kind = _KINDS.get(field.datatype)
        if kind is None or not is_requested(field.name, kind):
            continue
        cell = np.dtype(order + kind)
        if field.offset + cell.itemsize > step:
            raise ValueError(f"field '{field.name}' reaches beyond the point's {step} bytes")
        data = np.ascontiguousarray(table[:, field.offset : field.offset + cell.itemsize])
        columns[field.name] = data.view(cell).reshape(n).astype(cell.newbyteorder("="), copy=False)
    return columns


def _point_rows(message: Any) -> np.ndarray:
    """Return the bytes of a PointCloud2, one row per point; rows of the cloud may be padded."""
    width, height = int(message.width), int(message.height)
    step, row_step = int(message.point_step), int(message.row_step)
    data = np.frombuffer(message.data, dtype=np.uint8)
    is_padded = height > 1 and row_step > width * step
    n_bytes = row_step * height if is_padded else step * width * height
    if step <= 0 or len(data) < n_bytes:
        raise ValueError(
            f"point cloud has {len(data)} bytes, expected {width} x {height} points of {step} bytes"
        )
    if is_padded:
        data = data[:n_bytes].reshape(height, row_step)[:, : width * step]
    return data[:n_bytes].reshape(-1)[: width * height * step].reshape(-1, step)


def _point_times(message: Any, is_usable: np.ndarray) -> tuple[np.ndarray, str]:
    """Return the times (n,) since the stamp [s], and in words from where they are."""
    columns = _columns(message, lambda name, _: name in TIME_FIELDS)
    name = next((name for name in TIME_FIELDS if name in columns), None)
    if name is None:
        names = ", ".join(field.name for field in message.fields)
        return np.zeros(len(is_usable)), (
            f"no point times ({' / '.join(TIME_FIELDS)} is not among {names}): a scan counts as "
            "measured at its stamp, motion within it is not compensated"
        )
    column = columns[name]
    found = column[is_usable & np.isfinite(column)].astype(np.float64)
    field = f"point times from '{name}' ({column.dtype.name}"
    if len(found) == 0:
        return np.zeros(len(is_usable)), f"{field}): no usable point"
    stamp_s = message.header.stamp.sec + message.header.stamp.nanosec / NANOSECONDS_PER_SECOND
    scale, unit, zero_s, remark = _clock(found, name, stamp_s, is_integer=column.dtype.kind in "iu")
    times = column.astype(np.float64) * scale - zero_s
    first, last = found.min() * scale - zero_s, found.max() * scale - zero_s
    if first == last:
        remark += "; all are equal: motion within a scan is not compensated"
    return times, f"{field}, {unit}): {first:.4f} to {last:.4f} s after the stamp{remark}"


def _clock(
    found: np.ndarray, name: str, stamp_s: float, *, is_integer: bool
) -> tuple[float, str, float, str]:
    """Return the unit [s], its name, the time [s] that counts as 0, and a remark."""
    middle, longest = abs(float(np.median(found))), float(np.abs(found).max())
    if not is_integer and middle >= _ABSOLUTE[-1][0]:
        scale, unit = next((s, u) for least, s, u in _ABSOLUTE if middle >= least)
    elif name == ABSOLUTE_FIELD:
        scale, unit = (1e-9, "ns") if is_integer else (1.0, "s")  # of a simulated clock
    elif is_integer:
        return 1e-9, "ns", 0.0, ""
    else:
        scale, unit = next((s, u) for least, s, u in _RELATIVE if longest >= least)
        return scale, unit, 0.0, ""
    gap_s = float(np.median(found)) * scale - stamp_s
    if abs(gap_s) <= _LARGEST_CLOCK_GAP_S:
        return scale, unit, stamp_s, ""
    remark = f"; its clock is {gap_s:.6g} s from that of the stamp: counted from the first point"
    return scale, unit, float(found.min()) * scale, remark
