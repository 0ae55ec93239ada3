# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""SLAMs made by others on the same recorded flights, each as its description in config/slams says.

A run records a flight in a place; every SLAM whose program this machine has reads it. Programs are
named by the environment variables of the descriptions.

References
----------
Xiao et al. 2020, XTDrone, section IV: five runs each, RPE per half a metre, APE, CPU and memory.
Beam et al. 2024: the map of DSO in a stadium against voxels of the true surface.
Geiger, Lenz, Urtasun 2012, CVPR: KITTI, of whose sequence 06 the first 51 frames are read as well.
"""

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory

from aerotwin_campaign import FinishedRun, OverallFigures, RunContext
from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from evidence.data_folder import data_folder
from evidence.verification.launched_flight import (
    FLOWN,
    is_judged,
    launched_flight,
    outcome_of,
    read_metrics,
    study_of,
)

PLACES: Mapping[str, Mapping[str, str]] = {
    "cliff": {"world": "cliff@{seed}", "mission": "missions/cliff.yaml"},
    "stadium": {"world": "stadium@{seed}", "mission": "missions/stadium.yaml"},
}
"""Launch arguments by name; the mission is below config/."""
SLAMS = ("basalt", "dso", "openvins", "orb_slam2", "orb_slam3", "stella_vslam")
START_S: Mapping[str, float] = {"dso": 8.0}
"""A monocular SLAM cannot begin at rest on the ground."""
KNOWN_M, FACTOR = 0.31, 2.0
"""APE of a plain stereo odometry on that drive, first poses joined (features tracked by Lucas and
Kanade, depth by block matching, PnP): the README of the data states it. A SLAM is of that order."""


def run_on_flight(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Record a flight in a place with the seed of a run; every SLAM of this machine reads it."""
    config = Path(get_package_share_directory("aerotwin_bringup")) / "config"
    place = PLACES[document["place"]]
    arguments = {
        "world": place["world"].format(seed=context.seed),
        "mission": config / place["mission"],
        "seed": context.seed,
        "slam": "none",
        "camera_preset": document["camera_preset"],
        "record": "all",
    }
    flight = launched_flight(arguments, context.folder)
    if (outcome := outcome_of(flight)) != FLOWN:
        return {"metrics": {}, "is_success": False, "outcome": outcome}
    found = _run_all(document, flight, context.folder, START_S)
    shutil.rmtree(flight / "bag")  # some GB
    return found


def run_on_drive(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Let every SLAM of this machine read the real images.

    What needs an IMU, or loses a car at 10 Hz, is not judged and has no bar.
    """
    drive = context.folder / "drive"
    drive.mkdir()
    folder = data_folder(document)
    main(["import", "kitti", str(folder), "-o", str(drive / "bag"), "--json", os.devnull])
    found = _run_all(document, drive, context.folder, {})
    worse = [
        f"{name} is {value:.2f} m off"
        for name in available_slams(document["slams"])
        if (value := found["metrics"].get(f"{name}_ape_first_poses_joined_m")) is not None
        and value > FACTOR * KNOWN_M
    ]
    outcome = "; ".join(worse) or f"all within {FACTOR * KNOWN_M:g} m"
    return {"metrics": found["metrics"], "is_success": not worse, "outcome": outcome}


def figures(runs: Sequence[FinishedRun]) -> OverallFigures:
    """Return the study of each place."""
    values, sections = {}, []
    for place in PLACES:
        folders = [
            file.parent
            for run in runs
            if run.axes["place"] == place
            for name in SLAMS
            if (file := run.file(name) / "metrics.json").is_file()
        ]
        if folders:
            values[place], section = study_of(place, folders)
            sections.append(replace(section, name=place, title=f"SLAMs over the {place}"))
    return OverallFigures(values=values, sections=sections)


def available_slams(names: Sequence[str]) -> list[str]:
    """Return those of some SLAMs of which the environment names every path."""
    from aerotwin_run_evaluation.bag.slam_launch import find_description
    from aerotwin_slam_runs.description import find_paths, load_description

    found = []
    for name in names:
        file = find_description(name)
        if file is not None:
            with contextlib.suppress(UserError):
                find_paths(load_description(file), {}, os.environ)
                found.append(name)
    return found


def _run_all(
    document: Mapping[str, Any], flight: Path, folder: Path, starts_s: Mapping[str, float]
) -> dict[str, Any]:
    """Run the SLAMs on the bag of a flight; all must be judged."""
    names = available_slams(document["slams"])
    if not names:
        raise UserError(f"no program of {', '.join(document['slams'])} is named; see config/slams")
    metrics: dict[str, Any] = {}
    failed = []
    for name in names:
        run = folder / name
        tokens = ["evaluate", "bag", str(flight / "bag"), "--slam", name, "-o", str(run)]
        main([*tokens, "--start-s", repr(starts_s.get(name, 0.0)), "--json", os.devnull])
        shutil.rmtree(run / "dataset", ignore_errors=True)  # some 100 MB
        if not (run / "metrics.json").is_file() or not is_judged(run):
            failed.append(name)
            continue
        found = read_metrics(run)["sections"]["trajectory"]
        metrics[f"{name}_ape_first_poses_joined_m"] = found["ape_unaligned"]["trans_m"]["rmse"]
        metrics[f"{name}_ape_m"] = found["ape"]["trans_m"]["rmse"]
        metrics[f"{name}_coverage"] = found["coverage"]
    outcome = f"not judged: {', '.join(failed)}" if failed else "all are judged"
    return {"metrics": metrics, "is_success": not failed, "outcome": outcome}
