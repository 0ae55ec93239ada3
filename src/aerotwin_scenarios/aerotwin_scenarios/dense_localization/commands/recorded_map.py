# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The map of a recording: pairs are streamed, key-frames are kept in memory."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_core.cli import StageBars, progress
from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.parameters import to_mapping
from aerotwin_core.run_folder import software_versions
from aerotwin_dense_localization.mapping.recorder import (
    MapRecorder,
    RecordedMap,
    RecorderParameters,
)
from aerotwin_scenarios.dense_localization.commands.map_folder import (
    numbers_of_map,
    replaced_folder,
    write_map,
)
from aerotwin_scenarios.dense_localization.recordings.recording import (
    CameraRecording,
    OwnOdometry,
    PosedPair,
    Reading,
    fixes_of,
    place_of,
    posed,
)
from aerotwin_scenarios.dense_localization.recordings.sources import stereo_recording

ODOMETRY, NO_GNSS, GNSS = "odometry", "none", "/gnss/fix"
_FIX = "sensor_msgs/msg/NavSatFix"


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordedMapRequest:
    """Which recording is mapped into which folder, and with which poses."""

    source: Path
    folder: Path
    reading: Reading
    parameters: RecorderParameters
    poses: str | None  # a topic, a file, `truth` or `odometry`; None: the default ones
    are_poses_saved: bool  # whether they are used as they are; true ones always are
    # topic of the fixes to which our own odometry is aligned, `none`, or None: gnss/fix if present
    gnss: str | None
    origin: GeodeticPoint | None  # of the map under GNSS; None: the first fix


def map_recording(request: RecordedMapRequest) -> dict[str, Any]:
    """Write the map of a recording and return its numbers.

    Raises `UserError` if there are no usable pairs or poses, or nothing to map.
    """
    start = time.perf_counter()
    recording, parameters = stereo_recording(request.source, request.reading), request.parameters
    if request.poses == ODOMETRY:
        recorder, reported = _by_odometry(recording, parameters, request.gnss, request.origin)
    elif (request.gnss, request.origin) == (None, None):
        recorder, reported = _by_external_poses(recording, parameters, request.poses)
    else:
        raise UserError("--gnss and --origin: are of --poses odometry alone; leave them out")
    are_poses_saved = request.are_poses_saved or reported["poses"]["is_truth"]
    made = _finished(recorder, are_poses_saved=are_poses_saved)
    numbers = numbers_of_map(made) | reported | {"seconds": time.perf_counter() - start}
    _write(request.folder, made, recording, parameters, numbers)
    return numbers


def _by_external_poses(
    recording: CameraRecording, parameters: RecorderParameters, token: str | None
) -> tuple[MapRecorder, dict[str, Any]]:
    """Return key-frames at external poses, and the entries for the report."""
    provided = recording.poses(token)
    pairs = posed(recording.pictures(), provided)
    reported = {"source": provided.source, "is_truth": provided.is_truth, "frame": provided.frame}
    return _recorded(pairs, recording, parameters, reported)


def _by_odometry(
    recording: CameraRecording,
    parameters: RecorderParameters,
    gnss: str | None,
    origin: GeodeticPoint | None,
) -> tuple[MapRecorder, dict[str, Any]]:
    """Return key-frames at poses by our own odometry, aligned to GNSS if available."""
    topic = _gnss_topic(recording, gnss)
    own = OwnOdometry(recording.rig, recording.T_base_cam)
    reported: dict[str, Any] = {
        "source": "own stereo odometry", "is_truth": False, "frame": "odom",
    }  # fmt: skip
    recorder, numbers = _recorded(own.follow(recording.pictures()), recording, parameters, reported)
    if own.n_lost:
        reported["n_lost"] = own.n_lost
        numbers["notes"].append(
            f"the odometry lost its way at {own.n_lost} pairs; the map may be bent there"
        )
    if topic is None or recording.bag is None:
        return recorder, numbers
    stamps, fixes = fixes_of(message for _, _, message in recording.bag.messages([topic]))
    if not len(fixes):
        raise UserError(f"--gnss {topic}: holds no fix; leave GNSS out with --gnss none")
    found = own.align_to(stamps, fixes, origin or place_of(fixes[0]))
    reported["is_on_gnss"] = found.converged
    numbers["notes"].append(f"{topic}: {found.reason}")
    if found.converged:
        reported["frame"] = "map"
        recorder.move(found.T_reference_estimate)
    return recorder, numbers


def _recorded(
    pairs: Iterator[PosedPair],
    recording: CameraRecording,
    parameters: RecorderParameters,
    poses: dict[str, Any],
) -> tuple[MapRecorder, dict[str, Any]]:
    """Return the key-frames of streamed pairs, and the entries for the report.

    Raises `UserError` if there is none, or more than the limit.
    """
    try:
        recorder = MapRecorder(recording.rig, parameters)
    except ValueError as error:
        raise UserError(f"{error} (--nearest-m, --farthest-m)") from None
    n_pairs = n_without_pose = 0
    with progress(recording.n_pictures, "pairs", unit="pair") as bar:
        for pair, T_map_left in pairs:
            n_pairs += 1
            n_without_pose += T_map_left is None
            if T_map_left is not None:
                _refuse_full(recorder, n_pairs)
                recorder.add(*pair, T_map_left)
            bar.set_postfix_str(f"{len(recorder.keyframes)} key-frames", refresh=False)
            bar.update(1)
    left_out = {
        "without a pose": n_without_pose,
        "new, but without enough depth": recorder.n_without_depth,
    }
    notes = [f"{n} of {n_pairs} pairs were {why}" for why, n in left_out.items() if n]
    if not recorder.keyframes:
        raise UserError(
            f"{recording.name}: no key-frame of {n_pairs} pairs{''.join(f'; {n}' for n in notes)}; "
            "stamps of images must lie within those of the poses, and surfaces between --nearest-m "
            "and --farthest-m"
        )
    return recorder, {"n_frames": n_pairs, "poses": poses, "notes": notes}


def _refuse_full(recorder: MapRecorder, n_pairs: int) -> None:
    if recorder.is_full:
        raise UserError(
            f"{len(recorder.keyframes)} key-frames after {n_pairs} pairs, and no more are saved; "
            "map a part of them (--frames), or raise max_keyframes (--parameters)"
        )


def _finished(recorder: MapRecorder, *, are_poses_saved: bool) -> RecordedMap:
    with StageBars() as log:
        try:
            return recorder.finished(log, are_poses_saved=are_poses_saved)
        except ValueError as error:
            raise UserError(
                f"{error}: of {len(recorder.keyframes)} key-frames no point was seen by "
                f"{recorder.parameters.surfaces.min_views}; fly past the same wall more slowly, or "
                "set min_views to 1 (--parameters)"
            ) from None


def _gnss_topic(recording: CameraRecording, asked: str | None) -> str | None:
    """Return the topic of the fixes, None without any."""
    topics = {} if recording.bag is None else recording.bag.topics
    if asked == NO_GNSS or (asked is None and GNSS not in topics):
        return None
    topic = GNSS if asked is None else asked
    topic = topic if topic in topics else f"/{topic}"
    if topics.get(topic) != _FIX:
        held = ", ".join(sorted(name for name, kind in topics.items() if kind == _FIX)) or "none"
        raise UserError(f"--gnss {asked}: no {_FIX}; {recording.name} holds {held}")
    return topic


def _write(
    folder: Path,
    made: RecordedMap,
    recording: CameraRecording,
    parameters: RecorderParameters,
    numbers: dict[str, Any],
) -> None:
    about = {
        "source": recording.name,
        "kind": "bag" if recording.bag is not None else "kitti",
        "seed": None,
        "T_base_optical": None if recording.T_base_cam is None else recording.T_base_cam.tolist(),
        "baseline_m": recording.baseline_m,
        "parameters": to_mapping(parameters),
        "versions": software_versions(),
        **numbers,
    }
    with progress(1, "writing"), replaced_folder(folder) as fresh:
        write_map(fresh, made, about)
