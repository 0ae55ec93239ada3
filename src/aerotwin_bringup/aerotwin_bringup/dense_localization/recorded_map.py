# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A map of a recording: pairs pass by one after the other, key-frames stay."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aerotwin_bringup.dense_localization.given_poses import (
    OwnOdometry,
    PosedPair,
    fixes_of,
    geodetic_point,
    posed,
)
from aerotwin_bringup.dense_localization.keyframe_selection import (
    KeyframeSelection,
    MappedKeyframes,
    MappingParameters,
    map_of,
)
from aerotwin_bringup.dense_localization.map_folder import replaced_folder, write_map
from aerotwin_bringup.dense_localization.recording import Reading, Recording
from aerotwin_bringup.dense_localization.sources import stereo_recording
from aerotwin_core.cli import progress
from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.parameters import to_mapping
from aerotwin_dense_localization.mapping import Keyframe
from aerotwin_simulator.run_folder import software_versions

ODOMETRY, NO_GNSS, GNSS = "odometry", "none", "/gnss/fix"
_FIX = "sensor_msgs/msg/NavSatFix"


def map_recording(
    source: Path,
    folder: Path,
    reading: Reading,
    parameters: MappingParameters,
    *,
    poses: str | None,
    are_poses_kept: bool,
    gnss: str | None,
    origin: GeodeticPoint | None,
) -> dict[str, Any]:
    """Write the map of a recording and return its numbers.

    Parameters
    ----------
    source, folder : Path
        Of the recording, and of the map.
    reading : Reading
    parameters : MappingParameters
    poses : str or None
        A topic, a file, `truth` or `odometry`; None: the usual ones.
    are_poses_kept : bool
        Whether they stand as they are; true ones always do.
    gnss : str or None
        Topic of the fixes that our own odometry is laid over, `none`, or None: gnss/fix if it is
        there.
    origin : GeodeticPoint or None
        Of the map under GNSS; None: the first fix.

    Raises
    ------
    UserError
        If there are no usable pairs or poses, or nothing to map.
    """
    start = time.perf_counter()
    recording = stereo_recording(source, reading)
    if poses == ODOMETRY:
        keyframes, told = _by_odometry(recording, parameters, gnss, origin)
    elif (gnss, origin) == (None, None):
        keyframes, told = _by_given_poses(recording, parameters, poses)
    else:
        raise UserError("--gnss and --origin: are of --poses odometry alone; leave them out")
    are_poses_kept |= told["poses"]["is_truth"]
    with progress(2 * len(keyframes), "map", unit="step") as bar:
        mapped = map_of(
            keyframes, parameters, are_poses_kept=are_poses_kept, on_keyframe=lambda: bar.update(1)
        )
    numbers = mapped.numbers() | told | {"seconds": time.perf_counter() - start}
    _write(folder, mapped, recording, parameters, numbers)
    return numbers


def _by_given_poses(
    recording: Recording, parameters: MappingParameters, word: str | None
) -> tuple[list[Keyframe], dict[str, Any]]:
    """Return key-frames at poses that somebody tells, and what is to be told of them."""
    given = recording.poses(word)
    selection = _selected(posed(recording.pictures(), given), recording, parameters)
    told = {"source": given.source, "is_truth": given.is_truth}
    return selection.keyframes, _told(selection, told)


def _by_odometry(
    recording: Recording,
    parameters: MappingParameters,
    gnss: str | None,
    origin: GeodeticPoint | None,
) -> tuple[list[Keyframe], dict[str, Any]]:
    """Return key-frames at poses by our own odometry, laid over GNSS where there is some."""
    topic = _gnss_topic(recording, gnss)
    own = OwnOdometry(recording.rig, recording.T_base_cam)
    selection = _selected(own.follow(recording.pictures()), recording, parameters)
    told = {"source": "own stereo odometry", "is_truth": False, "n_lost": own.n_lost}
    keyframes = selection.keyframes
    if topic is not None and recording.bag is not None:
        stamps, fixes = fixes_of(message for _, _, message in recording.bag.messages([topic]))
        if not len(fixes):
            raise UserError(f"--gnss {topic}: holds no fix; leave GNSS out with --gnss none")
        found = own.align_to(stamps, fixes, origin or geodetic_point(fixes[0]))
        told |= {"gnss": found.reason, "is_on_gnss": found.converged}
        if found.converged:
            T_map_odom = found.T_reference_estimate
            keyframes = [keyframe.at(T_map_odom @ keyframe.T_map_optical) for keyframe in keyframes]
    return keyframes, _told(selection, told)


def _selected(
    pairs: Iterator[PosedPair], recording: Recording, parameters: MappingParameters
) -> KeyframeSelection:
    """Return the key-frames of pairs that pass by.

    Raises
    ------
    UserError
        If there is none.
    """
    selection = KeyframeSelection(recording.rig, parameters)
    with progress(recording.n_pictures, "pairs", unit="pair") as bar:
        for pair in pairs:
            selection.add(pair)
            bar.update(1)
            bar.set_postfix_str(f"{len(selection.keyframes)} key-frames", refresh=False)
    if not selection.keyframes:
        raise UserError(
            f"{recording.name}: no key-frame of {selection.n_pairs} pairs: "
            f"{selection.n_without_pose} without a pose (their stamps must lie within those of the "
            f"poses), {selection.n_without_depth} without enough depth (see --nearest-m and "
            "--farthest-m)"
        )
    return selection


def _told(selection: KeyframeSelection, poses: dict[str, Any]) -> dict[str, Any]:
    found = {
        "without a pose": selection.n_without_pose,
        "new, but without enough depth": selection.n_without_depth,
    }
    notes = [f"{n} of {selection.n_pairs} pairs were {why}" for why, n in found.items() if n]
    if poses.get("n_lost"):
        notes.append(f"the odometry lost its way at {poses['n_lost']} pairs; the map may be bent")
    if "gnss" in poses:
        notes.append(f"GNSS: {poses['gnss']}")
    return {"n_frames": selection.n_pairs, "poses": poses, "notes": notes}


def _gnss_topic(recording: Recording, asked: str | None) -> str | None:
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
    mapped: MappedKeyframes,
    recording: Recording,
    parameters: MappingParameters,
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
        write_map(fresh, mapped, about)
