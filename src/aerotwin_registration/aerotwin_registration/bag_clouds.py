# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clouds from bags: the last PointCloud2 of a topic, or all of them merged by poses."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from aerotwin_core.bag import BagReader, PoseTopic
from aerotwin_core.errors import UserError
from aerotwin_core.frames import transform_from_pose, transform_points
from aerotwin_core.messages import stamp_ns
from aerotwin_core.point_clouds import point_cloud_arrays
from aerotwin_core.trajectory import Trajectory
from aerotwin_registration.clouds import Cloud, without_invalid

CLOUD_TYPE = "sensor_msgs/msg/PointCloud2"
MAX_POINTS = 200_000_000  # largest number of merged points: 4.8 GB
MAX_POSE_GAP_S = 0.5  # longest gap between poses to interpolate: five periods of a 10 Hz lidar


def cloud_topics(bag: BagReader) -> tuple[str, ...]:
    """Return the topics of a bag that carry clouds."""
    return tuple(sorted(name for name, kind in bag.topics.items() if kind == CLOUD_TYPE))


def read_bag_cloud(
    bag: BagReader,
    topic: str = "",
    *,
    poses: str = "",
    max_gap_s: float = MAX_POSE_GAP_S,
    drop_invalid: bool = False,
) -> Cloud:
    """Return the last cloud of a topic, or all of its clouds moved by poses into one frame.

    Parameters
    ----------
    topic : str
        The bag's only cloud topic by default.
    poses : str
        Argument of `BagReader.poses`: an Odometry, PoseStamped or Path topic whose child frame is
        that of the clouds, or `/tf:map.lidar`. Each cloud is moved by the pose at its stamp,
        linearly and spherically interpolated, and by the mounting of its own frame; clouds
        outside of the trajectory, or in a gap of it, are dropped and counted. If empty, the last
        message is the map.
    max_gap_s : float
        Poses farther apart than this are a gap [s].
    drop_invalid : bool
        Drop non-finite points also in messages with `is_dense` true; where it is false they mean
        "no echo" and are always dropped. All are counted.

    Raises
    ------
    UserError
        If there is no such topic, no message can be read, or no point is left.
    """
    topic = _topic(bag, topic)
    where = f"{bag.path}: {topic}"
    if poses:
        mover = bag.poses(poses)
        gap_ns = round(1e9 * max_gap_s)
        return _together(bag, topic, mover, where, gap_ns=gap_ns, drop_invalid=drop_invalid)
    last = None
    for _, _, message in bag.messages([topic]):
        last = message
    if last is None:
        raise UserError(f"{where}: no message of it can be read{_problems(bag)}")
    points, intensity, note = _points(last, where, drop_invalid=drop_invalid)
    if len(points) == 0:
        raise UserError(f"{where}: its last cloud is empty")
    notes = (f"the last of {bag.counts[topic]} messages", *([note] if note else []))
    frame = str(last.header.frame_id)
    return Cloud(points=points, intensity=intensity, frame=frame, notes=(*notes, *bag.problems))


def _topic(bag: BagReader, topic: str) -> str:
    known = cloud_topics(bag)
    if not topic and len(known) == 1:
        return known[0]
    if topic not in known:
        listed = ", ".join(known) or "none"
        raise UserError(
            f"{bag.path}: name one of its clouds with BAG:TOPIC, got '{topic}'; it has: {listed}"
        )
    return topic


def _together(
    bag: BagReader, topic: str, poses: PoseTopic, where: str, *, gap_ns: int, drop_invalid: bool
) -> Cloud:
    mountings: dict[str, np.ndarray] = {}
    notes: list[str] = []
    parts: list[np.ndarray] = []
    n_outside = n_gap = n_clouds = n_invalid = n_points = 0
    for message, stamp in _stamped(bag, topic):
        n_clouds += 1
        gap = _gap_at(poses.trajectory, stamp)
        if gap is None or gap > gap_ns:
            n_outside += gap is None
            n_gap += gap is not None
            continue
        points, _, note = _points(message, where, drop_invalid=drop_invalid)
        n_invalid += bool(note)
        frame = str(message.header.frame_id)
        if frame not in mountings:
            mountings[frame] = _mounting(bag, poses, frame, notes)
        T = _pose_at(poses.trajectory, stamp) @ mountings[frame]
        parts.append(transform_points(T, points))
        n_points += len(points)
        if n_points > MAX_POINTS:
            raise UserError(f"{where}: more than {MAX_POINTS} points; cut the bag, or thin it")
    if n_points == 0:
        raise UserError(
            f"{where}: no point of {n_clouds} clouds lies within the time of the poses, or all of "
            f"them lie between poses more than {1e-9 * gap_ns:g} s apart{_problems(bag)}"
        )
    mover = poses.child_frame or "a frame without name"
    notes.append(f"{len(parts)} of {n_clouds} clouds, moved by the poses of {mover}")
    if n_outside:
        notes.append(f"{n_outside} clouds lie outside of the time of the poses; they are left out")
    if n_gap:
        notes.append(
            f"{n_gap} clouds lie between poses more than {1e-9 * gap_ns:g} s apart; "
            "they are left out"
        )
    if n_invalid:
        notes.append(f"points that are no numbers were left out of {n_invalid} clouds")
    return Cloud(points=np.concatenate(parts), frame=poses.frame, notes=(*notes, *bag.problems))


def _stamped(bag: BagReader, topic: str) -> Iterator[tuple[Any, int]]:
    for _, recorded, message in bag.messages([topic]):
        yield message, stamp_ns(message) or recorded


def _mounting(bag: BagReader, poses: PoseTopic, frame: str, notes: list[str]) -> np.ndarray:
    """Return the pose of the clouds' frame in that of the poses; identity, noted, if unknown."""
    child, frame = poses.child_frame, frame.lstrip("/")
    if child in ("", frame) or not frame:
        return np.eye(4)
    found = bag.fixed_transform(child, frame)
    if found is None:
        notes.append(f"the clouds are of frame {frame}, the poses of {child}: they count as one")
        return np.eye(4)
    notes.append(f"the clouds are of frame {frame}, moved to {child} by static transforms")
    return found


def _gap_at(trajectory: Trajectory, stamp: int) -> int | None:
    """Return the gap between the poses around a stamp [ns], 0 at a pose; None outside."""
    stamps = trajectory.stamps_ns
    if not stamps[0] <= stamp <= stamps[-1]:
        return None
    at = np.searchsorted(stamps, stamp)
    return 0 if stamps[at] == stamp else int(stamps[at] - stamps[at - 1])


def _pose_at(trajectory: Trajectory, stamp: int) -> np.ndarray:
    at = np.searchsorted(trajectory.stamps_ns, stamp)
    if trajectory.stamps_ns[at] == stamp:
        return transform_from_pose(trajectory.p_ref_body[at], trajectory.q_ref_body[at])
    return trajectory.interpolate(np.array([stamp])).transforms()[0]


def _points(
    message: Any, where: str, *, drop_invalid: bool
) -> tuple[np.ndarray, np.ndarray | None, str]:
    """Return points (n, 3), intensity and notes on dropped points."""
    try:
        arrays = point_cloud_arrays(message)
    except ValueError as error:
        raise UserError(f"{where}: not a usable cloud: {error}") from error
    points = np.column_stack([arrays[axis].astype(np.float64) for axis in "xyz"])
    intensity = arrays.get("intensity")
    if not message.is_dense and not np.isfinite(points).all(axis=1).any():
        return np.empty((0, 3)), None, f"{len(points)} points without echo are left out"
    return without_invalid(points, intensity, where, drop=drop_invalid or not message.is_dense)


def _problems(bag: BagReader) -> str:
    return f" ({'; '.join(bag.problems)})" if bag.problems else ""
