# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flights that are kept, so that a campaign that was stopped goes on where it ended.

A flight that failed is kept like any other: flying it again until it succeeds would be choosing.
Only one that was interrupted, or left no report, is flown again.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aerotwin_core.stop_request import raise_if_stopped

FLOWN = "the mission is flown"
_PARTIAL = "This report is partial"  # how the warning of an interrupted run begins


def flown(name: str, arguments: Mapping[str, str], runs: Path) -> Path | None:
    """Return the folder of a flight with the given launch arguments, flying it if it is missing.

    Parameters
    ----------
    name : str
        Second part of the run folder's name.
    arguments : mapping
        Of sitl_flight.launch.yaml; `world` is among them.
    runs : path
        Where run folders are made.

    Returns
    -------
    path or None
        Of the flight, whether it failed or not (`has_succeeded`); None when it left no report.
    """
    from aerotwin_core.cli import say
    from aerotwin_launch.launch_command import launch_scenario

    found = saved_flight(runs, name, arguments["world"])
    if found is None:
        say(f"flying {name}")
        code = launch_scenario(
            "aerotwin_bringup",
            "sitl_flight.launch.yaml",
            {**arguments, "name": name, "runs_dir": str(runs)},
        )
        raise_if_stopped(code)
        found = saved_flight(runs, name, arguments["world"])
        if found is None:
            say(f"{name} left no report (exit code {code}); the next call flies it again")
    return found


def saved_flight(runs: Path, name: str, world: str) -> Path | None:
    """Return the first run of this name in this world that came to its own end, good or bad."""
    for path in sorted(runs.glob(f"*-{name}/metrics.json")):
        metrics = read_metrics(path.parent)
        is_partial = any(text.startswith(_PARTIAL) for text in metrics.get("warnings", ()))
        was_there = metrics["configuration"]["parameters"]["world"] == world
        if was_there and not is_partial:
            return path.parent
    return None


def has_succeeded(folder: Path | None) -> bool:
    """Tell whether a flight flew its mission to the end and its SLAM was judged."""
    if folder is None:
        return False
    sections = read_metrics(folder)["sections"]
    return sections.get("flight", {}).get("outcome") == FLOWN and "trajectory" in sections


def read_metrics(folder: Path) -> dict[str, Any]:
    """Return the numbers of a run."""
    return dict(json.loads((folder / "metrics.json").read_text(encoding="utf-8")))
