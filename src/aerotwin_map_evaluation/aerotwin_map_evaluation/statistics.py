# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Summaries of distances and of what an alignment removed."""

from typing import Any

import numpy as np

from aerotwin_core.frames import transform_points
from aerotwin_core.rms import rms


def describe(distances: np.ndarray, n_all: int | None = None) -> dict[str, Any]:
    """Return n, share, mean, std and RMSE of distances (n,) [m]; None if empty."""
    n_all = len(distances) if n_all is None else n_all
    has_any = len(distances) > 0
    return {
        "n": len(distances),
        "share": len(distances) / n_all if n_all else 0.0,
        "mean_m": float(np.mean(distances)) if has_any else None,
        "std_m": float(np.std(distances)) if has_any else None,
        "rmse_m": rms(distances) if has_any else None,
    }


def describe_all(distances: np.ndarray, within_m: tuple[float, ...]) -> dict[str, Any]:
    """Return those of `describe`, with median, 95 %, largest, and the share within each limit."""
    return {
        **describe(distances),
        "median_m": float(np.median(distances)),
        "p95_m": float(np.quantile(distances, 0.95)),
        "max_m": float(np.max(distances)),
        "within": shares(distances, within_m),
    }


def shares(distances: np.ndarray, within_m: tuple[float, ...]) -> dict[str, float]:
    """Return the share of distances (n,) not above each limit, keyed by the limit in metres."""
    return {f"{limit:g}": float(np.mean(distances <= limit)) for limit in within_m}


def removed_by(S_motion: np.ndarray, points_map: np.ndarray) -> dict[str, float]:
    """Return how a motion, with scale or without, changes points (n, 3).

    The offset of their centre [m] and its parts, yaw and tilt [deg], and the change of scale [%].
    """
    centre = points_map.mean(axis=0, keepdims=True)
    shift = (transform_points(S_motion, centre) - centre)[0]
    scale = float(np.cbrt(np.linalg.det(S_motion[:3, :3])))
    R = S_motion[:3, :3] / scale
    return {
        "offset_m": float(np.linalg.norm(shift)),
        "east_m": float(shift[0]),
        "north_m": float(shift[1]),
        "up_m": float(shift[2]),
        "yaw_deg": float(np.degrees(np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1]))),
        "tilt_deg": float(np.degrees(np.arccos(np.clip(R[2, 2], -1.0, 1.0)))),
        "scale_percent": 100.0 * (scale - 1.0),
    }
