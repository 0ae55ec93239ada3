# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flights that are kept, so that a campaign that was stopped goes on where it ended."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

STOPPED = (130, 143)
"""Exit codes after Ctrl-C and SIGTERM."""


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
        None when the mission was not flown to its end, or nothing was judged.
    """
    from aerotwin_bringup.launch_command import launch_scenario
    from aerotwin_core.cli import say

    found = kept(runs, name, arguments["world"])
    if found is None:
        say(f"flying {name}")
        code = launch_scenario(
            "sitl_flight.launch.yaml", {**arguments, "name": name, "runs_dir": str(runs)}
        )
        if code in STOPPED:
            raise KeyboardInterrupt
        found = kept(runs, name, arguments["world"])
    return found


def kept(runs: Path, name: str, world: str) -> Path | None:
    """Return the first run of this name that flew its mission in this world and was judged."""
    for path in sorted(runs.glob(f"*-{name}/metrics.json")):
        metrics = read_metrics(path.parent)
        has_flown = metrics["sections"].get("flight", {}).get("outcome") == "the mission is flown"
        was_there = metrics["configuration"]["parameters"]["world"] == world
        if has_flown and was_there and "trajectory" in metrics["sections"]:
            return path.parent
    return None


def read_metrics(folder: Path) -> dict[str, Any]:
    """Return the numbers of a run."""
    return dict(json.loads((folder / "metrics.json").read_text(encoding="utf-8")))
