# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Several SLAMs on one mission with four large turns, by the protocol of XTDrone.

References
----------
Xiao et al. 2020, XTDrone, section IV: five runs each, RPE per half a metre, APE, CPU and memory.
"""

import contextlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from evidence.verification.saved_flights import flown, has_succeeded

WORLD, MISSION = "stadium@1000", "missions/yaw_turns.yaml"
METHODS: Mapping[str, Mapping[str, str]] = {
    "stereo_odometry": {},
    "stereo_odometry_without_bundle": {
        "slam_parameters": "sitl_flight/stereo_odometry_without_bundle.yaml"
    },
    "kiss_icp": {"slam": "kiss_icp", "camera": "false", "lidar": "spinning_16"},
}
"""Launch arguments by name; files are below config/."""
PROTOCOL = "xtdrone2020"
_FILES = ("slam_parameters",)


def study_slams(
    seeds: Sequence[int], runs: Path, *, camera_preset: str, is_quiet: bool
) -> list[dict[str, Any]]:
    """Fly what is missing, write the study into `runs`/study, and return a row per method.

    A row is met when all of its runs were flown and judged: which SLAM is better is no bar.
    """
    from ament_index_python.packages import get_package_share_directory

    config = Path(get_package_share_directory("aerotwin_bringup")) / "config"
    found: dict[str, list[Path | None]] = {}
    for seed in seeds:  # seed by seed: a campaign that is cut short still compares like with like
        for method, own in METHODS.items():
            files = {key: str(config / value) for key, value in own.items() if key in _FILES}
            arguments = {"world": WORLD, "mission": str(config / MISSION), "seed": str(seed)}
            arguments |= {"camera_preset": camera_preset, "slam_name": method, **own, **files}
            found.setdefault(method, []).append(flown(f"{method}-{seed}", arguments, runs))
    folders = [path for paths in found.values() for path in paths]
    overall = _study(folders, runs, is_quiet)["overall"]
    return [
        {"method": method, "met": all(map(has_succeeded, paths)), **overall.get(method, {})}
        for method, paths in found.items()
    ]


def _study(folders: Sequence[Path | None], runs: Path, is_quiet: bool) -> dict[str, Any]:
    """Write the study of the flights, where failed ones count as failed; return its numbers."""
    result = runs / "study.json"
    tokens = ["evaluate", "study", "--protocol", PROTOCOL, "-o", str(runs / "study")]
    tokens += ["--json", str(result), "--runs", *(str(p) for p in folders if p is not None)]
    with contextlib.redirect_stdout(sys.stderr if is_quiet else sys.stdout):
        if main(tokens) != 0:
            raise UserError(f"the study of the runs in {runs} failed; see above")
    return dict(json.loads(result.read_text(encoding="utf-8")))
