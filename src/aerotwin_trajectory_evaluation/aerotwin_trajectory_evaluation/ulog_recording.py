# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flight of a PX4 log (ULog): the fused local position, else the fused or raw GNSS position."""

from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import R_ENU_NED
from aerotwin_core.geodesy import AzimuthalEquidistant, GeodeticPoint
from aerotwin_core.ulog import open_ulog

ULOG_MAGIC = b"ULog\x01\x12\x35"
_LOCAL, _GLOBAL = "vehicle_local_position", "vehicle_global_position"
_GNSS = ("vehicle_gps_position", "sensor_gps")
_ATTITUDE = "vehicle_attitude"
_FIX_3D = 3
_LEAST = 3

Topics = dict[str, dict[str, np.ndarray]]


def read_ulog_recording(path: Path) -> dict[str, Any]:
    """Return kind, t, position, is_geodetic, yaw and notes of a log, for `FlightRecording`.

    Raises UserError if the file is damaged, or holds no valid position; says what it holds instead.
    """
    topics = _topics(path)
    refused: list[str] = []
    for read in (_from_local, _from_global, _from_gnss):
        found = read(topics, refused)
        if found is not None:
            stamps = found.pop("stamps_us")
            keep = np.concatenate([[True], np.diff(stamps) > 0])
            found["t"] = (stamps[keep] - stamps[keep][0]) * 1e-6
            found["position"] = found["position"][keep]
            found["yaw"] = _yaw(topics, stamps[keep])
            return found
    raise UserError(
        f"{path}: the log holds no flight that could be flown again: {'; '.join(refused)}; choose "
        "a log of a flight with a position estimate"
    )


def _topics(path: Path) -> Topics:
    log = open_ulog(path, [_LOCAL, _GLOBAL, *_GNSS, _ATTITUDE])
    topics: Topics = {}
    for data in log.data_list:
        topics.setdefault(data.name, data.data)  # the first instance
    return topics


def _from_local(topics: Topics, refused: list[str]) -> dict[str, Any] | None:
    """Return the local position without resets, geodetic where its reference is known."""
    data = topics.get(_LOCAL)
    if data is None:
        refused.append(f"no {_LOCAL}")
        return None
    n = len(data["timestamp"])
    p_ned = np.column_stack([data["x"], data["y"], data["z"]]).astype(np.float64)
    is_valid = (data["xy_valid"] > 0) & (data["z_valid"] > 0) & np.isfinite(p_ned).all(axis=1)
    if is_valid.sum() < _LEAST:
        refused.append(f"{_LOCAL} is valid in {int(is_valid.sum())} of its {n} samples")
        return None
    notes = []
    jumps = _resets(data)
    jumps -= jumps[is_valid][-1]  # the last reference belongs to the frame after the last jump
    if np.any(jumps[is_valid] != 0.0):
        notes.append("The estimator reset its position in flight; the jumps were taken out.")
    p_enu = ((p_ned - jumps) @ R_ENU_NED.T)[is_valid]
    found: dict[str, Any] = {
        "kind": f"PX4 log, {_LOCAL}",
        "stamps_us": data["timestamp"][is_valid].astype(np.int64),
        "position": p_enu,
        "is_geodetic": False,
    }
    origin = _reference(data, is_valid)
    if origin is not None:
        projection = AzimuthalEquidistant(origin)
        found["position"] = np.array([projection.to_geodetic(p) for p in p_enu])
        found["is_geodetic"] = True
        notes.append("Local positions were made geodetic by PX4's own projection.")
    found["notes"] = tuple(notes)
    return found


def _resets(data: dict[str, np.ndarray]) -> np.ndarray:
    """Return the cumulative position resets of the estimate (n, 3), NED [m]."""
    jumps = np.zeros((len(data["timestamp"]), 3))
    for counter, names, axes in (
        ("xy_reset_counter", ("delta_xy[0]", "delta_xy[1]"), (0, 1)),
        ("z_reset_counter", ("delta_z",), (2,)),
    ):
        if counter not in data:
            continue
        is_reset = np.concatenate([[False], np.diff(data[counter].astype(np.int64)) != 0])
        for name, axis in zip(names, axes):
            jumps[:, axis] = np.cumsum(np.where(is_reset, data[name], 0.0))
    return jumps


def _reference(data: dict[str, np.ndarray], is_valid: np.ndarray) -> GeodeticPoint | None:
    """Return the origin of the local frame, None if it is not logged."""
    is_known = is_valid & (data.get("xy_global", np.zeros(len(is_valid))) > 0)
    if not is_known.any():
        return None
    last = int(np.flatnonzero(is_known)[-1])
    values = [float(data[name][last]) for name in ("ref_lat", "ref_lon", "ref_alt")]
    if not np.isfinite(values).all():
        return None
    return GeodeticPoint(latitude_deg=values[0], longitude_deg=values[1], altitude_m=values[2])


def _from_global(topics: Topics, refused: list[str]) -> dict[str, Any] | None:
    data = topics.get(_GLOBAL)
    if data is None:
        refused.append(f"no {_GLOBAL}")
        return None
    position = np.column_stack([data["lat"], data["lon"], data["alt"]]).astype(np.float64)
    is_valid = np.asarray(np.isfinite(position).all(axis=1))
    return _geodetic(_GLOBAL, data, position, is_valid, refused)


def _from_gnss(topics: Topics, refused: list[str]) -> dict[str, Any] | None:
    for name in _GNSS:
        data = topics.get(name)
        if data is None:
            refused.append(f"no {name}")
            continue
        if "latitude_deg" in data:  # PX4 1.15 and newer
            names = ("latitude_deg", "longitude_deg", "altitude_msl_m")
            scales = np.ones(3)
        else:
            names, scales = ("lat", "lon", "alt"), np.array([1e-7, 1e-7, 1e-3])
        position = np.column_stack([data[key] for key in names]).astype(np.float64) * scales
        found = _geodetic(name, data, position, data["fix_type"] >= _FIX_3D, refused)
        if found is not None:
            return found
    return None


def _geodetic(
    name: str,
    data: dict[str, np.ndarray],
    position: np.ndarray,
    is_valid: np.ndarray,
    refused: list[str],
) -> dict[str, Any] | None:
    if is_valid.sum() < _LEAST:
        refused.append(f"{name} is valid in {int(is_valid.sum())} of its {len(is_valid)} samples")
        return None
    return {
        "kind": f"PX4 log, {name}",
        "stamps_us": data["timestamp"][is_valid].astype(np.int64),
        "position": position[is_valid],
        "is_geodetic": True,
        "notes": (),
    }


def _yaw(topics: Topics, stamps_us: np.ndarray) -> np.ndarray | None:
    """Return the yaw from east, counter-clockwise [rad], at stamps, from the attitude."""
    data = topics.get(_ATTITUDE)
    if data is None or len(data["timestamp"]) < 2:
        return None
    w, x, y, z = (data[f"q[{k}]"].astype(np.float64) for k in range(4))
    heading = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    yaw = np.unwrap(np.pi / 2.0 - heading)
    return np.interp(stamps_us, data["timestamp"].astype(np.int64), yaw)
