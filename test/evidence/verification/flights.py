# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flights of seeds never used for tuning, judged like any flight."""

from collections.abc import Mapping
from typing import Any

from aerotwin_campaign import RunContext
from evidence.verification.launched_flight import FLOWN, launched_flight, outcome_of, read_metrics

THRESHOLDS = {
    "cross_track_rms_m": ("at most", 0.6),
    "drift_median_percent": ("at most", 3.0),
    "tracked_share": ("at least", 0.9),
    "path_m": ("at least", 100.0),
}


def fly_seed(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Fly the mission in the world of the seed of a run."""
    world = document["world"].format(seed=context.seed)
    folder = launched_flight({"world": world, "seed": context.seed}, context.folder)
    metrics, outcome = metrics_of(read_metrics(folder)["sections"]), outcome_of(folder)
    missed = missed_thresholds(metrics)
    return {
        "metrics": metrics,
        "is_success": outcome == FLOWN and not missed,
        "outcome": "; ".join([outcome, *missed]),
    }


def metrics_of(sections: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the figures of a flight from the chapters of its report; None where one has none."""
    flight, trajectory = sections.get("flight", {}), sections.get("trajectory", {})
    return {
        "cross_track_rms_m": flight.get("cross_track_m", {}).get("rms"),
        "control_error_rms_m": flight.get("control_error_m", {}).get("rms"),
        "estimation_error_rms_m": flight.get("estimation_error_m", {}).get("rms"),
        "path_m": flight.get("path_m"),
        "drift_median_percent": trajectory.get("segments", {}).get("median_percent"),
        "tracked_share": trajectory.get("coverage"),
        "ape_unaligned_rmse_m": trajectory.get("ape_unaligned", {}).get("trans_m", {}).get("rmse"),
    }


def missed_thresholds(metrics: Mapping[str, float | None]) -> list[str]:
    """Return what figures do not keep; one that is not known is not kept."""
    found = []
    for name, (sense, threshold) in THRESHOLDS.items():
        value = metrics[name]
        if value is None:
            found.append(f"{name} is not known")
        elif value > threshold if sense == "at most" else value < threshold:
            found.append(f"{name} {value:.3f}, {sense} {threshold:g}")
    return found
