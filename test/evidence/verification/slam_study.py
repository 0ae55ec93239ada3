# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Several SLAMs on one mission with four large turns, by the protocol of XTDrone.

References
----------
Xiao et al. 2020, XTDrone, section IV: five runs each, RPE per half a metre, APE, CPU and memory.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory

from aerotwin_campaign import FinishedRun, OverallFigures, RunContext
from evidence.verification.flights import metrics_of
from evidence.verification.launched_flight import (
    FLOWN,
    NAME,
    is_judged,
    launched_flight,
    outcome_of,
    read_metrics,
    study_of,
)

WORLD, MISSION = "stadium@1000", "missions/yaw_turns.yaml"
METHODS: Mapping[str, Mapping[str, str]] = {
    "stereo_odometry": {},
    "stereo_odometry_without_bundle": {
        "slam_parameters": "sitl_flight/stereo_odometry_without_bundle.yaml"
    },
    "kiss_icp": {"slam": "kiss_icp", "camera": "false", "lidar": "spinning_16"},
}
"""Launch arguments by name; files are below config/."""
_FILES = ("slam_parameters",)


def fly_method(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Fly the mission with a SLAM and the seed of a run."""
    config = Path(get_package_share_directory("aerotwin_bringup")) / "config"
    method = document["method"]
    own = METHODS[method]
    files = {key: str(config / value) for key, value in own.items() if key in _FILES}
    arguments = {"world": WORLD, "mission": str(config / MISSION), "seed": context.seed}
    arguments |= {"camera_preset": document["camera_preset"], "slam_name": method, **own, **files}
    folder = launched_flight(arguments, context.folder)
    outcome = outcome_of(folder)
    return {
        "metrics": metrics_of(read_metrics(folder)["sections"]),
        "is_success": outcome == FLOWN and is_judged(folder),
        "outcome": outcome,
    }


def figures(runs: Sequence[FinishedRun]) -> OverallFigures:
    """Return the study of all flights, where failed ones count as failed."""
    folders = [file.parent for run in runs for file in run.file(".").glob(f"*-{NAME}/metrics.json")]
    if not folders:
        return OverallFigures()
    overall, section = study_of("SLAMs on large turns", folders)
    return OverallFigures(values={"overall": overall}, sections=[section])
