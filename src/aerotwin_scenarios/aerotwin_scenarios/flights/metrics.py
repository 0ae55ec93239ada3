# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The numbers of a scenario's flight, from the record of its signals."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from aerotwin_core.metric import Metric, MetricSet, mapping_schema
from aerotwin_core.rms import rms
from aerotwin_simulator.signals import SEPARATION
from aerotwin_temporal_logic import Signal, Trace


def _metric(path: str, meaning: str, unit: str, better: str = "lower") -> Metric:
    return Metric(path, meaning, meaning, unit=unit, better=better, title=meaning)


FLIGHT_METRICS = MetricSet(
    title="Scenario flights",
    metrics=(
        _metric("duration_s", "simulated time to the end of the flight", "s", ""),
        _metric("airborne_s", "time in the air", "s", ""),
        _metric("path_m", "length of the way in the air", "m", ""),
        _metric("max_height_m", "largest height above the ground", "m", ""),
        _metric("max_speed_m_s", "largest speed", "m/s", ""),
        _metric("max_tilt_deg", "largest tilt", "deg"),
        _metric("min_distance_to_world_m", "least distance to a surface, once 1.5 m up", "m",
                "higher"),
        _metric("min_obstacle_distance_m", "least distance to an obstacle, if there was one", "m",
                "higher"),
        _metric("min_separation_m", "least distance between two vehicles", "m", "higher"),
        _metric("max_position_error_m", "largest error of the estimated position in the air", "m"),
        _metric("rms_position_error_m", "RMS error of the estimated position in the air", "m"),
        _metric("max_setpoint_error_m", "largest distance from the mission's set-point", "m"),
        _metric("landing_offset_m", "horizontal distance from the start at the end", "m"),
        _metric("battery_used_percent", "charge used", "%"),
        _metric("slam_ape_m", "RMS error of the SLAM's positions, shift and rotation fitted", "m"),
        _metric("slam_rpe_m", "RMS error of its motion over 1 m of path", "m"),
        _metric("slam_coverage", "share of the camera's frames that have a pose", "", "higher"),
        _metric("slam_time_offset_s", "size of the offset of its stamps from truth", "s"),
        _metric("has_landed", "1 if it has landed, else 0", "", "higher"),
        _metric("has_crashed", "1 if it has crashed, else 0", ""),
    ),
    structure=mapping_schema(),
)  # fmt: skip
"""Names, units and meanings of what is known after a flight."""
OF_SLAM = ("slam_ape_m", "slam_rpe_m", "slam_coverage", "slam_time_offset_s")
"""Those that are known with a SLAM."""
METRIC_SIGNALS: Mapping[str, Signal] = {
    metric.path: Signal(
        name=metric.path, kind="number", unit=metric.unit, meaning=metric.meaning, is_constant=True
    )
    for metric in FLIGHT_METRICS.metrics
}
"""The metrics as signals that do not change, for expectations."""
FREE_HEIGHT_M = 1.5
"""Below it the ground is the nearest surface, which says nothing."""


def flight_metrics(trace: Trace) -> dict[str, float | None]:
    """Return the numbers of a flight, of a fleet those of its first vehicle; None if not known.

    `trace` has the signals of `aerotwin_simulator.signals`.
    """
    v: Mapping[str, Any] = trace.values
    times, is_up = trace.times_s, v["flying"]
    p_map = np.column_stack([v["east_m"], v["north_m"], v["up_m"]])
    steps_m = np.linalg.norm(np.diff(p_map, axis=0), axis=1)
    is_free = is_up & (v["height_m"] > FREE_HEIGHT_M)
    error_m = v["position_error_m"][is_up]
    error_m = error_m[~np.isnan(error_m)]
    battery = v["battery_percent"]
    return {
        "duration_s": float(times[-1]),
        "airborne_s": float(np.diff(times)[is_up[1:]].sum()),
        "path_m": float(steps_m[is_up[1:]].sum()),
        "max_height_m": _largest(v["height_m"]),
        "max_speed_m_s": _largest(v["speed_m_s"]),
        "max_tilt_deg": _largest(v["tilt_deg"]),
        "min_distance_to_world_m": _negative(_largest(-v["distance_to_world_m"][is_free])),
        "min_obstacle_distance_m": _negative(_largest(-v["obstacle_distance_m"])),
        "min_separation_m": _negative(_largest(-v[SEPARATION])) if SEPARATION in v else None,
        "max_position_error_m": _largest(error_m),
        "rms_position_error_m": float(rms(error_m)) if len(error_m) else None,
        "max_setpoint_error_m": _largest(v["setpoint_error_m"]),
        "landing_offset_m": float(v["home_distance_m"][-1]),
        "battery_used_percent": float(battery[0] - battery[-1]),
        "has_landed": float(v["landed"][-1]),
        "has_crashed": float(v["crashed"][-1]),
    }


def with_metrics(trace: Trace, metrics: Mapping[str, float | None]) -> Trace:
    """Return a record in which the metrics are signals; NaN for what is not known."""
    n = len(trace.times_s)
    constant = {
        name: np.full(n, np.nan if value is None else value) for name, value in metrics.items()
    }
    return replace(trace, values={**trace.values, **constant})


def _largest(values: np.ndarray) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.max()) if len(known) else None


def _negative(value: float | None) -> float | None:
    return None if value is None else -value
