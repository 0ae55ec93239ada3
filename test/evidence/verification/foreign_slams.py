# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""SLAMs made by others on the same recorded flights, each as its description in config/slams says.

A flight is recorded once for each place and seed; every SLAM whose program this machine has reads
it. Programs are named by the environment variables of the descriptions.

References
----------
Xiao et al. 2020, XTDrone, section IV: five runs each, RPE per half a metre, APE, CPU and memory.
Beam et al. 2024: the map of DSO in a stadium against voxels of the true surface.
Geiger, Lenz, Urtasun 2012, CVPR: KITTI, of whose sequence 06 the first 51 frames are read as well.
"""

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aerotwin_core.cli import main, say
from aerotwin_core.errors import UserError
from evidence.verification.saved_flights import FLOWN, flown, read_metrics

PLACES: Mapping[str, Mapping[str, str]] = {
    "cliff": {"world": "cliff@{seed}", "mission": "missions/cliff.yaml"},
    "stadium": {"world": "stadium@{seed}", "mission": "missions/stadium.yaml"},
}
"""Launch arguments by name; the mission is below config/."""
SLAMS = ("basalt", "dso", "openvins", "orb_slam2", "orb_slam3", "stella_vslam")
START_S: Mapping[str, float] = {"dso": 8.0}
"""A monocular SLAM cannot begin at rest on the ground."""
PROTOCOL = "xtdrone2020"
DRIVE = Path("image_sequences", "kitti_seq_1")
KNOWN_M, FACTOR = 0.31, 2.0
"""APE of a plain stereo odometry on that drive, first poses joined (features tracked by Lucas and
Kanade, depth by block matching, PnP): the README of the data states it. A SLAM is of that order."""


def study_foreign_slams(
    seeds: Sequence[int], runs: Path, *, camera_preset: str, is_quiet: bool
) -> list[dict[str, Any]]:
    """Fly and run what is missing, write one study per place; return a row per place and SLAM.

    A row is met when the SLAM ran and was judged with all seeds: how good it is is no bar. Without
    any program there is one row, skipped.
    """
    found = available_slams(os.environ)
    if not found:
        say("foreign: no program of " + ", ".join(SLAMS) + " is named; see config/slams")
        return [{"name": "foreign", "met": None}]
    rows = []
    for place in PLACES:
        folders: dict[str, list[Path | None]] = {name: [] for name in found}
        for seed in seeds:  # seed by seed: a campaign that is cut short compares like with like
            flight = _flight(place, seed, runs, camera_preset)
            for name in found:
                run = runs / f"{place}-{seed}-{name}"
                found_run = None
                if flight is not None:
                    found_run = _run(name, flight, run, start_s=START_S.get(name, 0.0))
                folders[name].append(found_run)
        judged = [path for paths in folders.values() for path in paths if path is not None]
        overall = _study(place, judged, runs, is_quiet=is_quiet)
        rows += [
            {"place": place, "slam": name, "met": all(map(_is_judged, paths)),
             **overall.get(_name_of(paths), {})}
            for name, paths in folders.items()
        ]  # fmt: skip
    return rows


def judge_on_a_drive(data: Path, runs: Path) -> list[dict[str, Any]]:
    """Let the SLAMs read real images; return a row for each that can follow them.

    Without the data there is one row, skipped. What needs an IMU, or loses a car at 10 Hz, has no
    bar.
    """
    if not (data / DRIVE).is_dir():
        say(f"foreign: real data not present: {DRIVE} (looked in {data}; --data names it)")
        return [{"name": "kitti 06", "met": None}]
    drive = runs / "kitti_06"
    if not (drive / "bag" / "metadata.yaml").is_file():
        drive.mkdir(parents=True, exist_ok=True)
        main(["import", "kitti", str(data / DRIVE), "-o", str(drive / "bag"), "--json", os.devnull])
    rows = []
    for name in available_slams(os.environ):
        folder = _run(name, drive, runs / f"kitti_06-{name}", start_s=0.0)
        row: dict[str, Any] = {"place": "kitti 06", "slam": name, "met": None}
        if folder is not None and _is_judged(folder):
            found = read_metrics(folder)["sections"]["trajectory"]
            row["ape_first_poses_joined_m"] = found["ape_unaligned"]["trans_m"]["rmse"]
            row["ape_m"] = found["ape"]["trans_m"]["rmse"]
            row["met"] = row["ape_first_poses_joined_m"] <= FACTOR * KNOWN_M
        rows.append(row)
    return rows


def available_slams(environment: Mapping[str, str]) -> list[str]:
    """Return the SLAMs of which every path is known."""
    from aerotwin_run_evaluation.bag.slam_launch import find_description
    from aerotwin_slam_runs.description import find_paths, load_description

    found = []
    for name in SLAMS:
        file = find_description(name)
        if file is not None:
            with contextlib.suppress(UserError):
                find_paths(load_description(file), {}, environment)
                found.append(name)
    return found


def _flight(place: str, seed: int, runs: Path, camera_preset: str) -> Path | None:
    """Return the folder of a recorded flight that reached its end, flying it if it is missing."""
    from ament_index_python.packages import get_package_share_directory

    config = Path(get_package_share_directory("aerotwin_bringup")) / "config"
    arguments = {
        "world": PLACES[place]["world"].format(seed=seed),
        "mission": str(config / PLACES[place]["mission"]),
        "seed": str(seed),
        "slam": "none",
        "camera_preset": camera_preset,
        "record": "all",
    }
    folder = flown(f"{place}-{seed}", arguments, runs)
    if folder is None or read_metrics(folder)["sections"]["flight"]["outcome"] != FLOWN:
        return None
    return folder


def _run(name: str, flight: Path, folder: Path, *, start_s: float) -> Path | None:
    """Return the folder of a SLAM's run, running it if it is missing; None without a report."""
    if not (folder / "metrics.json").is_file():
        say(f"running {name} on {flight.name}")
        tokens = ["evaluate", "bag", str(flight / "bag"), "--slam", name, "-o", str(folder)]
        tokens += ["--start-s", repr(start_s)]
        main([*tokens, "--json", os.devnull])
        shutil.rmtree(folder / "dataset", ignore_errors=True)  # some 100 MB
    return folder if (folder / "metrics.json").is_file() else None


def _is_judged(folder: Path | None) -> bool:
    return folder is not None and "trajectory" in read_metrics(folder)["sections"]


def _name_of(paths: Sequence[Path | None]) -> str:
    for path in paths:
        if path is not None:
            return str(read_metrics(path)["configuration"]["parameters"]["slam_name"])
    return ""


def _study(place: str, folders: Sequence[Path], runs: Path, *, is_quiet: bool) -> dict[str, Any]:
    """Write the study of the runs in a place; return its numbers by SLAM."""
    result = runs / f"{place}.json"
    tokens = ["evaluate", "study", "--protocol", PROTOCOL, "-o", str(runs / f"{place}-study")]
    tokens += ["--json", str(result), "--runs", *map(str, folders)]
    with contextlib.redirect_stdout(sys.stderr if is_quiet else sys.stdout):
        if main(tokens) != 0:
            raise UserError(f"the study of {place} in {runs} failed; see above")
    return dict(json.loads(result.read_text(encoding="utf-8"))["overall"])
