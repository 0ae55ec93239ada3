# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A flight as users launch it, within the run of a campaign."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aerotwin_comparison.study import evaluate_study, runs_of_folders, study_section
from aerotwin_comparison.study_command import study_protocols
from aerotwin_core.errors import UserError
from aerotwin_core.numbered_lock import claimed_number
from aerotwin_core.section import Section
from aerotwin_core.stop_request import raise_if_stopped
from aerotwin_launch.launch_command import launch_scenario

FLOWN = "the mission is flown"
NAME = "flight"
PROTOCOL = "xtdrone2020"
_WAIT_S = 0.5


def launched_flight(arguments: Mapping[str, Any], folder: Path) -> Path:
    """Fly sitl_flight.launch.yaml with some of its arguments; return the run folder in a folder.

    Whether the mission was flown is up to `has_succeeded`.

    Raises
    ------
    UserError
        If it left no report.
    """
    texts = {key: str(value) for key, value in arguments.items()}
    given = {**texts, "name": NAME, "runs_dir": str(folder)}
    with _ports():
        code = launch_scenario("aerotwin_bringup", "sitl_flight.launch.yaml", given)
    raise_if_stopped(code)
    found = sorted(folder.glob(f"*-{NAME}/metrics.json"))
    if not found:
        raise UserError(f"the flight left no report (exit code {code})")
    return found[0].parent


def read_metrics(folder: Path) -> dict[str, Any]:
    """Return the numbers of a run folder."""
    return dict(json.loads((folder / "metrics.json").read_text(encoding="utf-8")))


def outcome_of(folder: Path) -> str:
    """Return how the flight of a run folder ended."""
    return str(read_metrics(folder)["sections"].get("flight", {}).get("outcome"))


def is_judged(folder: Path) -> bool:
    """Tell whether the SLAM of a run folder was judged."""
    return "trajectory" in read_metrics(folder)["sections"]


def study_of(name: str, folders: Sequence[Path]) -> tuple[dict[str, Any], Section]:
    """Return the numbers over all runs by method, and the chapter, of a study of run folders."""
    runs = runs_of_folders(map(str, folders))
    study = evaluate_study(name, runs, **study_protocols(PROTOCOL))
    return dict(study.metrics()["overall"]), study_section(study)


@contextmanager
def _ports() -> Iterator[None]:
    """Wait for the ports of vehicle 0: with those of another, its noise would be another one."""
    while True:
        with claimed_number("instance", (0,)) as number:
            if number is not None:
                yield
                return
        time.sleep(_WAIT_S)
