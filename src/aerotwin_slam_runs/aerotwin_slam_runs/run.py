# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One run of a SLAM on one recording: data set, program, trajectory and map."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.trajectory import Trajectory
from aerotwin_datasets import export_bag, export_settings
from aerotwin_datasets.calibration import calibrated
from aerotwin_datasets.recording import CameraStream, Recording
from aerotwin_datasets.settings import FOLDER as SETTINGS_FOLDER
from aerotwin_datasets.stereo_rectification import rectified_pair
from aerotwin_slam_runs.description import (
    DATASET,
    OUTPUT,
    SETTINGS,
    SlamDescription,
    filled,
    find_paths,
)
from aerotwin_slam_runs.program import ProgramEnd, last_lines, run_program
from aerotwin_trajectory_evaluation.files import load_trajectory

LOG = "slam.log"
DATASET_FOLDER, OUTPUT_FOLDER = "dataset", "slam"


@dataclass(frozen=True, kw_only=True, eq=False)
class SlamRun:
    """What a SLAM made of a recording.

    `trajectory` has the poses that it wrote, in its own frame, of the body that T_base_body (4, 4)
    places; None where it wrote none. `map_file` is the file of its map. `problems` says what went
    wrong, `end` how its program ended.
    """

    description: SlamDescription
    command: tuple[str, ...]
    end: ProgramEnd
    trajectory: Trajectory | None
    T_base_body: np.ndarray
    map_file: Path | None
    problems: tuple[str, ...] = field(default=())


@dataclass(frozen=True, kw_only=True)
class PreparedSlam:
    """What is started: a command with its environment variables in the empty folder `output`."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    output: Path
    values: Mapping[str, str]

    def filled(self, text: str) -> str:
        """Return a text of the description with its names in braces replaced."""
        return filled(text, self.values)


def prepare_slam(
    description: SlamDescription,
    recording: Recording,
    folder: Path,
    *,
    paths: Mapping[str, str],
    on_step: Callable[[str], None] = lambda text: None,
) -> PreparedSlam:
    """Write what a SLAM reads below a folder: the data set, or of one that hears topics settings.

    Raises `UserError` if a path is missing, or the recording lacks what the SLAM needs.
    """
    d = description
    values = find_paths(d, paths, os.environ)
    dataset, output = folder / DATASET_FOLDER, folder / OUTPUT_FOLDER
    on_step(f"exporting {d.dataset if d.inputs == DATASET else SETTINGS}")
    problems: tuple[str, ...] = ()
    if d.inputs == DATASET:
        problems = export_bag(
            d.dataset, recording, dataset, cameras=d.cameras, is_lean=True, overwrite=True
        ).problems
    elif d.settings:
        problems = export_settings(recording, dataset, cameras=d.cameras)
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    values |= {
        DATASET: str(dataset.resolve()),
        SETTINGS: str((dataset / SETTINGS_FOLDER / d.settings).resolve()),
        OUTPUT: str(output.resolve()),
    }
    if d.settings and not Path(values[SETTINGS]).is_dir():
        raise UserError("; ".join([f"{d.name}: no settings for this recording", *problems]))
    variables = dict(entry.split("=", 1) for entry in d.environment)
    return PreparedSlam(
        command=tuple(filled(token, values) for token in d.command),
        environment={name: filled(value, values) for name, value in variables.items()},
        output=output.resolve(),
        values=values,
    )


def body_frame(description: SlamDescription, recording: Recording) -> str:
    """Return the frame that the poses are of; "" for that of the truth.

    Raises `UserError` if the recording has no such sensor.
    """
    kind, frame = description.trajectory.poses_of, recording.base_frame
    if kind == "imu":
        frame = recording.require_imu()[0].frame_id
    elif kind != "base":
        frame = recording.select(description.cameras)[0].frame_id
    return "" if frame == recording.base_frame else frame


def run_slam(
    description: SlamDescription,
    recording: Recording,
    folder: Path,
    *,
    paths: Mapping[str, str],
    span_ns: tuple[int, int] | None = None,
    on_step: Callable[[str], None] = lambda text: None,
) -> SlamRun:
    """Run a SLAM on a recording, with all its files below a folder.

    `paths` are by the names of the description. `span_ns` is the first and last stamp of the
    recording by its headers; a trajectory with no pose in between is a problem. `on_step` is
    called with what happens.

    Raises `UserError` if a path is missing, or the recording lacks what the SLAM needs; whatever
    the program does is in the result.
    """
    d = description
    T_base_body = _body_pose(d, recording)
    ready = prepare_slam(d, recording, folder, paths=paths, on_step=on_step)
    output = ready.output
    end = run_program(
        ready.command,
        output,
        folder / LOG,
        environment=ready.environment,
        timeout_s=d.timeout_s,
        largest_output_bytes=d.output_limit_gb * 1e9,
        on_wait=lambda wall_s: on_step(f"{d.name} {wall_s:.0f} s"),
    )
    problems = []
    if end.problem:
        tail = last_lines(end.log)
        text = f"{d.name}: {end.problem}; its log is {end.log}"
        problems.append(f"{text}\n{tail}" if tail else f"{text}, which is empty")
    file = output / ready.filled(d.trajectory.file)
    trajectory = _trajectory(d, file, span_ns, problems)
    map_file = output / ready.filled(d.map.file) if d.map.file else None
    if map_file is not None and not map_file.is_file():
        if not d.map.is_optional:
            problems.append(f"{d.name}: wrote no map {map_file.name}")
        map_file = None
    return SlamRun(
        description=d,
        command=ready.command,
        end=end,
        trajectory=trajectory,
        T_base_body=T_base_body,
        map_file=map_file,
        problems=tuple(problems),
    )


def has_output(folder: Path) -> bool:
    """Return whether the program that ran below a folder printed or wrote anything."""
    log, output = folder / LOG, folder / OUTPUT_FOLDER
    is_logged = log.is_file() and log.stat().st_size > 0
    return is_logged or (output.is_dir() and any(output.iterdir()))


def _body_pose(description: SlamDescription, recording: Recording) -> np.ndarray:
    """Return T_base_body of what the poses are of."""
    kind = description.trajectory.poses_of
    if kind == "imu":
        return recording.require_imu()[0].T_base_imu
    if kind == "base":
        return np.eye(4)
    if kind == "lidar":
        if recording.T_base_lidar is None:
            raise UserError(
                f"{recording.bag.path}: no scans of a lidar whose frame static transforms connect "
                f"to {recording.base_frame}; record both"
            )
        return recording.T_base_lidar
    cameras = recording.select(description.cameras)
    T_base_optical = cameras[0].T_base_optical.copy()
    if kind == "rectified_camera":
        pair = _rectified(cameras[:2])
        if pair is None:
            raise UserError(
                f"{recording.bag.path}: rectified_camera needs two cameras side by side, found "
                f"{', '.join(camera.name for camera in cameras)}"
            )
        T_base_optical[:3, :3] @= pair[0][0].T
    return T_base_optical


def _rectified(cameras: Sequence[CameraStream]) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Return R and P of two cameras, None if they are no pair."""
    if len(cameras) < 2:
        return None
    left, right = (calibrated(camera, camera.name, np.eye(4), 0.0) for camera in cameras)
    return rectified_pair(left, right)


def _trajectory(
    description: SlamDescription,
    file: Path,
    span_ns: tuple[int, int] | None,
    problems: list[str],
) -> Trajectory | None:
    form = description.trajectory.form
    if not file.is_file():
        problems.append(f"{description.name}: wrote no trajectory {file.name}")
        return None
    try:
        found = load_trajectory(file, file_format=form, duplicates="first")
    except UserError as error:
        problems.append(f"{description.name}: {error}{_other_form(file, form, span_ns)}")
        return None
    problems += found.notes
    stamps = found.trajectory.stamps_ns
    if span_ns is not None and len(stamps) and not _are_inside(stamps, span_ns).any():
        lie, are = (f"{first * 1e-9:.3f} s to {last * 1e-9:.3f} s" for first, last in
                    ((int(stamps[0]), int(stamps[-1])), span_ns))  # fmt: skip
        problems.append(
            f"{description.name}: {file.name}: no pose lies within the recording: its stamps are "
            f"{lie} (form {form}), those of the recording {are}; write the stamps of the headers, "
            "in seconds (form: tum) or nanoseconds (form: tum-ns)"
            + (_other_form(file, form, span_ns) if found.has_stamps else "; kitti has no stamps")
        )
        return None
    if len(found.trajectory) == 0:
        problems.append(f"{description.name}: {file.name} holds no poses")
        return None
    return found.trajectory


def _are_inside(stamps_ns: np.ndarray, span_ns: tuple[int, int]) -> np.ndarray:
    return (stamps_ns >= span_ns[0]) & (stamps_ns <= span_ns[1])


def _other_form(file: Path, form: str, span_ns: tuple[int, int] | None) -> str:
    """Return the form by which the stamps of a file lie within the recording, as a hint."""
    for other in ("tum", "tum-ns", "euroc"):
        with suppress(UserError):
            stamps = load_trajectory(file, file_format=other, duplicates="first").trajectory
            is_it = span_ns is not None and _are_inside(stamps.stamps_ns, span_ns).all()
            if is_it and other != form:
                return f"; as trajectory.form: {other} they fit"
    return ""
