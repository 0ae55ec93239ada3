# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scores of a closed-loop scan, localised by the camera alone, against the truth."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.metric import Metric, MetricSet
from aerotwin_core.rms import rms
from aerotwin_core.time import to_seconds
from aerotwin_rendering import WorldQueries
from aerotwin_scenarios.dense_localization.mission.closed_loop import LocalizedFlight
from aerotwin_scenarios.dense_localization.scanning import ScanRun

NEAR_SHARE = 0.2
"""Of the wall before the camera, so much stands nearer than its distance: as paths are led."""
WINDOW_M, _RAYS = 0.9, 13
"""Half width of the piece of wall that a distance is taken to, and rays along it."""


LOOP_METRICS = MetricSet(
    title="Scan without GNSS",
    structure={},
    metrics=(
        Metric("n_images", "pictures", "from take-off to landing", table=""),
        Metric("n_lost", "lost", "without a pose, or placed more than 0.5 m off", table=""),
        Metric("n_scan", "pictures of the scan itself", "between its first and last way-point",
               table=""),
        Metric("n_scan_lost", "lost in the scan", "of these pictures", table=""),
        Metric("requested_distance_m", "requested distance", "from the wall", unit="m", table=""),
        Metric("distance_mean_m", "distance, mean", "true, over the scan", unit="m"),
        Metric("distance_min_m", "distance, least", "true", unit="m"),
        Metric("distance_rmse_m", "from what was asked for, RMS",
               "true distance less the one asked for: relief that the path passes over, too",
               unit="m"),
        Metric("distance_max_error_m", "from what was asked for, largest", "the same", unit="m",
               table=""),
        Metric("held_rmse_m", "from the planned distance, RMS", "what flying adds", unit="m"),
        Metric("held_max_m", "from the planned distance, largest", "the worst moment", unit="m"),
        Metric("towards_rmse_m", "off the set-point, along the axis, RMS",
               "towards the wall and away from it", unit="m"),
        Metric("beside_rmse_m", "off the set-point, across, RMS",
               "with what the vehicle lags behind", unit="m"),
        Metric("ate_mean_m", "localisation, mean", "aligned", unit="m"),
        Metric("ate_max_m", "localisation, largest", "aligned", unit="m"),
        Metric("ate_unaligned_mean_m", "localisation, unaligned, mean",
               "with the place of the map itself", unit="m"),
        Metric("estimate_mean_m", "autopilot's estimate, mean", "aligned; it flies by", unit="m"),
        Metric("longest_gap_s", "longest time without a pose", "from take-off on", unit="s"),
        Metric("clearance_m", "least distance from anything", "of the camera", unit="m"),
    ),
)  # fmt: skip
"""Of the section `closed_loop`; distance, path and localisation are those of the scan only."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedFlight:
    """A closed-loop scan and the truth; arrays have one row for each image of it."""

    # from take-off to landing, and the scan itself
    flight: LocalizedFlight
    scan: LocalizedFlight
    # (n,): of localisation over the whole flight, aligned; NaN where there is no pose
    errors_m: np.ndarray
    # (m,): from the wall over the scan: true, and at the set-points
    distances_m: np.ndarray
    planned_m: np.ndarray
    # the numbers of `LOOP_METRICS`; NaN where unknown
    score: dict[str, float]

    def metrics(self) -> dict[str, object]:
        """Return the figures, None for unknown ones."""
        known = {k: None if v != v else v for k, v in self.score.items()}
        return known | {"outcome": self.flight.outcome, "is_flown": self.flight.is_success}


def wall_distances(queries: WorldQueries, T_map_optical: FloatArray, about_m: float) -> np.ndarray:
    """Return distances (n,) [m] along the optical axis to the wall in front of cameras (n, 4, 4).

    The wall is what a window of `WINDOW_M` to each side shows at about the input distance; the
    nearest fifth of it is nearer. Infinite where nothing is.
    """
    side = np.linspace(-WINDOW_M, WINDOW_M, _RAYS) / about_m
    u, v = np.meshgrid(side, side)
    rays = np.column_stack([u.ravel(), v.ravel(), np.ones(u.size)])
    lengths = np.linalg.norm(rays, axis=1)
    found = np.empty(len(T_map_optical))
    for k, T in enumerate(T_map_optical):
        met = queries.cast(T[None, :3, 3], rays @ T[:3, :3].T)
        found[k] = np.quantile(met / lengths, NEAR_SHARE, method="lower")
    return found


def judge(
    flight: LocalizedFlight,
    path: FloatArray,
    queries: WorldQueries,
    T_true_map: FloatArray,
    *,
    standoff_m: float,
) -> JudgedFlight:
    """Compare a closed-loop scan with the truth.

    `path` (n, 4, 4): T_map_optical, as planned in the map. `T_true_map` (4, 4): maps the map to its
    true place. `standoff_m`: desired distance from the wall.
    """
    scan = flight.scanning(path)
    whole = ScanRun(track=flight.track, found=flight.found, T_true_map=T_true_map)
    part = ScanRun(track=scan.track, found=scan.found, T_true_map=T_true_map)
    requested = T_true_map @ scan.T_map_optical_desired
    distances = wall_distances(queries, scan.track.T_map_optical, standoff_m)
    planned = wall_distances(queries, requested, standoff_m)
    return JudgedFlight(
        flight=flight,
        scan=scan,
        errors_m=whole.errors_m(is_aligned=True),
        distances_m=distances,
        planned_m=planned,
        score=_score(whole, part, requested, distances, planned, queries, standoff_m),
    )


def _score(
    whole: ScanRun,
    part: ScanRun,
    requested: FloatArray,
    distances: np.ndarray,
    planned: np.ndarray,
    queries: WorldQueries,
    standoff_m: float,
) -> dict[str, float]:
    everything, scan = whole.metrics(), part.metrics()
    true = part.track.T_map_optical
    believed = (part.T_true_map @ part.track.T_map_optical_reported)[:, :3, 3]
    off = np.einsum("nji,nj->ni", requested[:, :3, :3], true[:, :3, 3] - requested[:, :3, 3])
    return {
        "n_images": everything["n_frames"],
        "n_lost": everything["n_lost"],
        "longest_gap_s": _longest_gap_s(whole),
        "n_scan": scan["n_frames"],
        "n_scan_lost": scan["n_lost"],
        "ate_mean_m": scan["ate_mean_m"],
        "ate_max_m": scan["ate_max_m"],
        "ate_unaligned_mean_m": scan["ate_unaligned_mean_m"],
        "estimate_mean_m": _mean(np.linalg.norm(believed - true[:, :3, 3], axis=1)),
        "requested_distance_m": standoff_m,
        "distance_mean_m": _mean(distances),
        "distance_min_m": float(distances.min()) if len(distances) else np.nan,
        "distance_rmse_m": rms(distances - standoff_m),
        "distance_max_error_m": _largest(distances - standoff_m),
        "held_rmse_m": rms(distances - planned),
        "held_max_m": _largest(distances - planned),
        "towards_rmse_m": rms(off[:, 2]),
        "beside_rmse_m": rms(np.linalg.norm(off[:, :2], axis=1)),
        "clearance_m": float(queries.distance(true[:, :3, 3]).min()) if len(true) else np.nan,
    }


def _longest_gap_s(scan: ScanRun) -> float:
    """Return the longest time without a pose, from the first picture to the last."""
    stamps = scan.track.stamps_ns
    is_there = np.array([found.is_localized for found in scan.found], dtype=bool)
    if not len(stamps):
        return 0.0
    known = np.concatenate([stamps[:1], stamps[is_there], stamps[-1:]])
    return to_seconds(int(np.diff(known).max()))


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else np.nan


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max()) if len(values) else np.nan
