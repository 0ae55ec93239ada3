# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A fleet of embedded vehicles that start, fly a mission side by side, and land."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from aerotwin_campaign import RunContext
from evidence.verification.launched_flight import FLOWN, launched_flight, read_metrics


def fly_seed(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Fly the fleet of a document with the seed of a run."""
    folder = launched_flight({**document, "seed": context.seed}, context.folder)
    sections = read_metrics(folder)["sections"]
    flight, vehicles = sections["flight"], sections["fleet"]["vehicles"]
    n_flown = sum(each["outcome"] == FLOWN for each in vehicles.values())
    cross_track_m = {name: _cross_track(each) for name, each in vehicles.items()}
    worst = max(cross_track_m, key=lambda name: cross_track_m[name])
    return {
        "metrics": {
            "n_flown": n_flown,
            "cross_track_mean_m": float(np.mean([*cross_track_m.values()])),
            "cross_track_worst_m": cross_track_m[worst],
            "steps_missed": sum(each["steps_missed"] for each in vehicles.values()),
            "closest_m": sections["fleet"]["separation_min_m"],
            "duration_s": flight["duration_s"],
            "real_time_factor": flight["real_time_factor"],
        },
        "is_success": n_flown == len(vehicles),
        "outcome": f"{flight['outcome']}; {n_flown} of {len(vehicles)} flew it, worst {worst}",
    }


def _cross_track(vehicle: Mapping[str, Any]) -> float:
    """Return the RMS distance from its path [m]; infinite if it never flew along it."""
    return float(vehicle.get("cross_track_m", {}).get("rms", float("inf")))
