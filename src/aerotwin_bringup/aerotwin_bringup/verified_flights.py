# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flights of seeds never used for tuning, judged like any flight."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

STOPPED = (130, 143)
"""Exit codes after Ctrl-C and SIGTERM."""
BARS = {
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
        say(f"{'seed':>6}" + "".join(f"{name:>24}" for name in BARS) + "  verdict")
        for row in rows:
            cells = "".join(f"{_text(row[name]):>24}" for name in BARS)
            say(f"{row['seed']:>6}{cells}  {'met' if row['met'] else 'MISSED'}")
    return rows


def _row(seed: int, world: str, runs: Path) -> dict[str, Any]:
    sections = _sections(seed, world, runs)
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
    met = all(_is_met(values[name], *bar) for name, bar in BARS.items())
    return {"seed": seed, **values, "met": met}


def _sections(seed: int, world: str, runs: Path) -> dict[str, Any]:
    """Return the metrics of a seed's run, flying it first if it is not there."""
    from aerotwin_bringup.launch_command import launch_scenario
    from aerotwin_core.cli import say

    name = f"seed-{seed}"
    world_of_seed = world.format(seed=seed)
    found = _finished(runs, name, world_of_seed)
    if found is None:
        say(f"flying seed {seed}")
        code = launch_scenario(
            "sitl_flight.launch.yaml",
            {
                "world": world_of_seed,
                "seed": str(seed),
                "name": name,
                "runs_dir": str(runs),
            },
        )
        if code in STOPPED:
            raise KeyboardInterrupt
        found = _finished(runs, name, world_of_seed)
    return {} if found is None else found["sections"]


def _finished(runs: Path, name: str, world: str) -> dict[str, Any] | None:
    """Return the metrics of a kept run of this name in this world, None if there is none."""
    for path in sorted(runs.glob(f"*-{name}/metrics.json")):
        metrics = json.loads(path.read_text(encoding="utf-8"))
        flown = metrics["sections"].get("flight", {}).get("outcome") == "the mission is flown"
        was_there = metrics["configuration"]["parameters"]["world"] == world
        if flown and was_there and "trajectory" in metrics["sections"]:
            return dict(metrics)
    return None


def _is_met(value: float | None, sense: str, bar: float) -> bool:
    if value is None:
        return False
    return value <= bar if sense == "at most" else value >= bar


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
