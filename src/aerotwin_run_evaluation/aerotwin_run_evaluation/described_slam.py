# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A bag through a SLAM that a description file names: run, read, judged, reported."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import yaml

from aerotwin_core.bag import BagReader
from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_core.parameters import to_mapping
from aerotwin_core.run_folder import software_versions
from aerotwin_datasets import read_recording
from aerotwin_run_evaluation.bag.poses import on_header_clock
from aerotwin_run_evaluation.bag.roles import BagRoles, RunTopics, flight_parameters
from aerotwin_run_evaluation.bag.slam_launch import write_program_launch
from aerotwin_run_evaluation.report.run_report import write_run_report
from aerotwin_run_evaluation.run_judgement import RunEvaluation, RunRecord, judge_run
from aerotwin_slam_runs import SlamRun, load_description, run_slam
from aerotwin_slam_runs.description import filled, find_paths
from aerotwin_slam_runs.run import LOG, body_frame, prepare_slam
from aerotwin_slam_runs.slam_bag import MAP, ODOMETRY, write_slam_bag
from aerotwin_trajectory_evaluation.slam_poses import Placement, read_poses
from aerotwin_trajectory_evaluation.summary import OF_PROTOCOL, USUAL_KEYFRAME_GAP_S

if TYPE_CHECKING:
    from aerotwin_worlds import World

BAG = "bag"
OF_DESCRIPTION = replace(
    OF_PROTOCOL,
    keyframe_gap=f"trajectory.keyframe_gap_s: {USUAL_KEYFRAME_GAP_S:g} in its description",
    poses_of="trajectory.poses_of in its description names the right one",
    scale="trajectory.is_metric: false in its description",
)
"""What a reader can do about a caution: most of it stands in the description."""


@dataclass(frozen=True, kw_only=True)
class DescribedResult:
    """The page of the report, the results, and how the program failed; "" where it did not."""

    page: Path
    evaluation: RunEvaluation
    failure: str


@dataclass(frozen=True, kw_only=True)
class DescribedRun:
    """What is run and judged: a bag or a part of it, a SLAM, the paths that its description names.

    `truth` is a source of `read_poses`; empty = the truth of the bag.
    """

    bag: BagReader
    roles: BagRoles
    description: Path
    paths: Mapping[str, str]
    truth: str = ""
    protocol: str | None = None
    world: "World | None" = None
    start_s: float = 0.0
    duration_s: float = 0.0


def check_startable(description: Path, paths: Mapping[str, str]) -> None:
    """Check that the program of a description can be found, before anything is written.

    Raises `UserError`, naming what is missing and the way out.
    """
    d = load_description(description)
    program = filled(d.command[0], find_paths(d, paths, os.environ))
    has_own_path = any(entry.startswith("PATH=") for entry in d.environment)
    is_elsewhere = "{" in program or (os.sep in program and not Path(program).is_absolute())
    if is_elsewhere or has_own_path or shutil.which(program):
        return
    raise UserError(
        f"{d.name}: {program} is no program that can be started: expected an executable file or a "
        "name on PATH; make it executable (chmod +x), or begin the command with its interpreter"
    )


def evaluate_described(
    run: DescribedRun, folder: Path, on_step: Callable[[str], None]
) -> DescribedResult:
    """Run the SLAM, judge what it wrote, and write the report.

    The folder becomes one of a run, with `bag` and `config.yaml`, of the flight that was recorded.

    Raises `UserError` if something is missing before the SLAM is started.
    """
    description = load_description(run.description)
    recording = read_recording(
        run.bag.path, vehicle=run.roles.vehicle, start_s=run.start_s, duration_s=run.duration_s
    )
    source = run.truth or run.roles.truth or ""
    truth = read_poses(run.bag, source).trajectory if source else None
    if (folder / BAG).exists() and not (folder / LOG).exists():
        raise UserError(f"{folder}: holds another run; name a new folder with -o")
    frames = (run.roles.frames,) if run.roles.frames else ()
    clocks = [(run.bag, each) for each in (source, *frames)]
    found = run_slam(
        description,
        recording,
        folder,
        paths=run.paths,
        span_ns=on_header_clock(recording.span_ns or (run.bag.start_ns, run.bag.end_ns), clocks),
        on_step=on_step,
    )
    on_step("reading what it wrote")
    warnings, path = [*found.problems], folder / BAG
    is_placed, remark = write_slam_bag(
        found,
        path,
        truth=truth,
        map_points=_map_points(found, warnings),
        recording=recording,
        overwrite=True,
    )
    if remark and not is_placed:
        warnings.append(remark)
    record = RunRecord(
        truth_bag=run.bag,
        slam_bag=BagReader(path),
        world=run.world,
        usage=found.end.usage,
        duration_s=recording.duration_s,
        topics=RunTopics(
            truth=source,
            estimates=(ODOMETRY,),
            map=MAP,
            is_map_expected=bool(description.map.file) and not description.map.is_optional,
            frames=frames,
            vehicle=run.roles.vehicle,
        ),
        placement=(
            Placement(T_reference_estimate=np.eye(4), text=remark, is_fitted=True)
            if is_placed
            else None
        ),
        protocol=run.protocol,
        keyframe_gap_s=description.trajectory.keyframe_gap_s or None,
        span_ns=recording.span_ns and on_header_clock(recording.span_ns, clocks),
        warnings=tuple(warnings),
        remedies=OF_DESCRIPTION,
    )
    evaluation = judge_run(record, on_step)
    on_step("report")
    configuration = {
        "bag": str(run.bag.path),
        "vehicle": run.roles.vehicle,
        "start_s": run.start_s,
        "duration_s": run.duration_s,
        "slam": to_mapping(description),
        "command": list(found.command),
        "exit_code": found.end.code,
        "wall_s": found.end.wall_s,
        "truth": source,
        "parameters": flight_parameters(run.bag.path)
        | {"slam": run.description.stem, "slam_name": description.name},
        "versions": software_versions(),
    }
    text = yaml.safe_dump(configuration, sort_keys=False, allow_unicode=True)
    write_text_atomically(folder / "config.yaml", text)
    title = f"{description.name} on {run.bag.path.resolve().parent.name}"
    page = write_run_report(folder, evaluation, title=title, configuration=configuration)
    failure = f"{description.name}: {found.end.problem}" if found.end.has_failed else ""
    return DescribedResult(page=page, evaluation=evaluation, failure=failure)


def words_of_replay(
    description: Path, bag: Path, folder: Path, paths: Mapping[str, str], vehicle: str = ""
) -> dict[str, str]:
    """Return the arguments of launch/evaluate_bag.launch.yaml for a SLAM that hears topics.

    Its settings and launch file are written below the folder; `vehicle` is one of a fleet. Raises
    `UserError` if a path is missing, or the recording lacks what it needs.
    """
    d, recording = load_description(description), read_recording(bag, vehicle=vehicle)
    ready = prepare_slam(d, recording, folder, paths=paths)
    launch = write_program_launch(
        folder, ready.command, ready.environment, working_folder=ready.output
    )
    return {
        "slam_file": str(launch.file),
        "slam_process": launch.process,
        "estimate": d.trajectory.topic,
        "poses_of": body_frame(d, recording),
        "map": d.map.topic,
        "topics": " ".join(d.topics),
    }


def _map_points(found: SlamRun, warnings: list[str]) -> np.ndarray | None:
    """Return the points (n, 3) of the map file, None without one that can be read."""
    if found.map_file is None:
        return None
    from aerotwin_registration import read_cloud

    try:
        return read_cloud(found.map_file).points
    except UserError as error:
        warnings.append(f"{found.description.name}: {error}")
        return None
