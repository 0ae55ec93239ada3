# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flights of seeds never used for tuning, judged like any flight."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evidence.verification.saved_flights import flown, has_succeeded, read_metrics

THRESHOLDS = {
    "cross_track_rms_m": ("at most", 0.6),
    "drift_median_percent": ("at most", 3.0),
    "tracked_share": ("at least", 0.9),
    "path_m": ("at least", 100.0),
}


def fly_seeds(
    seeds: Sequence[int], world: str, runs: Path, *, is_quiet: bool
) -> list[dict[str, Any]]:
    """Fly what is missing in the folder of runs; return a row per seed, printed unless quiet.

    `{seed}` in the name of the world is the seed.
    """
    from aerotwin_core.cli import say

    rows = [_row(seed, world, runs) for seed in seeds]
    if not is_quiet:
        say(f"{'seed':>6}" + "".join(f"{name:>24}" for name in THRESHOLDS) + "  verdict")
        for row in rows:
            cells = "".join(f"{_text(row[name]):>24}" for name in THRESHOLDS)
            say(f"{row['seed']:>6}{cells}  {'met' if row['met'] else 'MISSED'}")
    return rows


def _row(seed: int, world: str, runs: Path) -> dict[str, Any]:
    folder = flown(f"seed-{seed}", {"world": world.format(seed=seed), "seed": str(seed)}, runs)
    sections = {} if folder is None else read_metrics(folder)["sections"]
    flight, trajectory = sections.get("flight", {}), sections.get("trajectory", {})
    values = {
        "cross_track_rms_m": flight.get("cross_track_m", {}).get("rms"),
        "control_error_rms_m": flight.get("control_error_m", {}).get("rms"),
        "estimation_error_rms_m": flight.get("estimation_error_m", {}).get("rms"),
        "path_m": flight.get("path_m"),
        "drift_median_percent": trajectory.get("segments", {}).get("median_percent"),
        "tracked_share": trajectory.get("coverage"),
        "ape_unaligned_rmse_m": trajectory.get("ape_unaligned", {}).get("trans_m", {}).get("rmse"),
    }
    met = has_succeeded(folder) and all(
        _is_met(values[name], *threshold) for name, threshold in THRESHOLDS.items()
    )
    return {"seed": seed, **values, "met": met}


def _is_met(value: float | None, sense: str, threshold: float) -> bool:
    if value is None:
        return False
    return value <= threshold if sense == "at most" else value >= threshold


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
