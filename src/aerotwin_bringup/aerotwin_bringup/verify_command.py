# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Collect the long evidence: flights in worlds and with noise never used for tuning.

Each seed flies the cliff mission in the cliff of that seed, with the shipped SLAM, and is judged
like any flight. Runs are kept; a second call goes on where the first ended. All seeds are listed,
none is dropped.

  aerotwin verify --json build/verify.json
  aerotwin verify --seeds 1000 1001 --runs build/verify
"""

import argparse
import json
from pathlib import Path
from typing import Any

STOPPED = (130, 143)
"""Exit codes after Ctrl-C and SIGTERM."""
FIRST_SEED, N_SEEDS = 1000, 5
BARS = {
    "cross_track_rms_m": ("at most", 0.6),
    "drift_median_percent": ("at most", 3.0),
    "tracked_share": ("at least", 0.9),
    "path_m": ("at least", 100.0),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    default = list(range(FIRST_SEED, FIRST_SEED + N_SEEDS))
    parser.add_argument("--seeds", type=int, nargs="+", default=default, help="1000 and above")
    parser.add_argument(
        "--runs", type=Path, default=Path("build/verify"), help="where runs are kept"
    )
    parser.add_argument("--world", default="cliff@{seed}", help="world; {seed} is the seed")
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON (- = stdout)")


def run(arguments: argparse.Namespace) -> int:
    """Fly what is missing, print and write the table; 1 if a bar is missed."""
    from aerotwin_core.cli import say, write_json

    rows = [_row(seed, arguments) for seed in arguments.seeds]
    if arguments.json != "-":
        say(f"{'seed':>6}" + "".join(f"{name:>24}" for name in BARS) + "  verdict")
        for row in rows:
            cells = "".join(f"{_text(row[name]):>24}" for name in BARS)
            say(f"{row['seed']:>6}{cells}  {'met' if row['met'] else 'MISSED'}")
    write_json(arguments.json, {"bars": BARS, "flights": rows})
    return 0 if all(row["met"] for row in rows) else 1


def _row(seed: int, arguments: argparse.Namespace) -> dict[str, Any]:
    sections = _sections(seed, arguments)
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


def _sections(seed: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the metrics of a seed's run, flying it first if it is not there."""
    from aerotwin_bringup.launch_command import launch_scenario
    from aerotwin_core.cli import say

    name = f"seed-{seed}"
    found = _finished(arguments.runs, name)
    if found is None:
        say(f"flying seed {seed}")
        code = launch_scenario(
            "sitl_flight.launch.yaml",
            {
                "world": arguments.world.format(seed=seed),
                "seed": str(seed),
                "name": name,
                "runs_dir": str(arguments.runs),
            },
        )
        if code in STOPPED:
            raise KeyboardInterrupt
        found = _finished(arguments.runs, name)
    return {} if found is None else found["sections"]


def _finished(runs: Path, name: str) -> dict[str, Any] | None:
    for path in sorted(runs.glob(f"*-{name}/metrics.json")):
        metrics = json.loads(path.read_text(encoding="utf-8"))
        flown = metrics["sections"].get("flight", {}).get("outcome") == "the mission is flown"
        if flown and "trajectory" in metrics["sections"]:
            return dict(metrics)
    return None


def _is_met(value: float | None, sense: str, bar: float) -> bool:
    if value is None:
        return False
    return value <= bar if sense == "at most" else value >= bar


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
