# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The poses that topics of a bag carry, with their frames and covariances."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.messages import stamp_ns
from aerotwin_core.time import NANOSECONDS_PER_SECOND
from aerotwin_core.trajectory import Trajectory

POSE_TYPES = (
    "nav_msgs/msg/Odometry",
    "geometry_msgs/msg/PoseStamped",
    "geometry_msgs/msg/PoseWithCovarianceStamped",
    "geometry_msgs/msg/TransformStamped",
    "nav_msgs/msg/Path",
)
"""Types of topics that are trajectories by themselves; `tf2_msgs/msg/TFMessage` needs frames."""
PATH_TYPE, TF_TYPE = "nav_msgs/msg/Path", "tf2_msgs/msg/TFMessage"
# Shorter quaternions have no direction; messages that were never filled in carry zeros.
_MIN_QUATERNION_NORM = 1e-6


@dataclass(frozen=True, kw_only=True)
class PoseTopic:
    """The poses of one topic by header stamp.

    Attributes
    ----------
    trajectory : Trajectory
        Poses of `child_frame` in `frame`.
    covariances : (n, 6, 6) array or None
        Of each pose: x y z [m], then rotations about the fixed axes x y z of `frame` [rad]
        (geometry_msgs/PoseWithCovariance). None where the type has none, or none was filled in.
    frame, child_frame : str
        As the first message says; "" where it does not.
    problems : tuple of str
        What was left out, or not as it should be, in words.
    """

    trajectory: Trajectory
    covariances: np.ndarray | None = None
    frame: str = ""
    child_frame: str = ""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    stamp_ns: int
    pose: tuple[float, ...]  # x y z, qx qy qz qw
    covariance: np.ndarray | None


def poses_of_messages(messages: Iterable[tuple[str, int, Any]], topic: str) -> PoseTopic:
    """Return the poses of the (topic, recording stamp [ns], message) of one topic.

    Poses that are not numbers, or whose quaternion is zero, are left out and counted; so are those
    that repeat a stamp: the first stays. If no message has a stamp, the times of recording count.
    A Path is taken from its last message.
    """
    rows, recorded_ns, first = [], [], None
    for _, recorded, message in messages:
        if hasattr(message, "poses"):
            rows, recorded_ns = [], []
        first = message if first is None else first
        for item in message.poses if hasattr(message, "poses") else (message,):
            rows.append(_row(item))
            recorded_ns.append(recorded)
    problems: list[str] = []
    if len(rows) > 1 and not any(row.stamp_ns for row in rows):
        problems.append(f"topic {topic}: no stamps in the headers; the times of recording are used")
        rows = [_Row(t, row.pose, row.covariance) for t, row in zip(recorded_ns, rows)]
    kept = _usable(rows, topic, problems)
    return PoseTopic(
        trajectory=_trajectory([(row.stamp_ns, *row.pose) for row in kept]),
        covariances=_covariances(kept, topic, problems),
        frame=first.header.frame_id.lstrip("/") if first is not None else "",
        child_frame=str(getattr(first, "child_frame_id", "")).lstrip("/"),
        problems=tuple(problems),
    )


def pose_of_transform(message: Any) -> tuple[float, ...]:
    """Return x y z qx qy qz qw of a geometry_msgs/Transform."""
    p, q = message.translation, message.rotation
    return (p.x, p.y, p.z, q.x, q.y, q.z, q.w)


def is_pose(values: tuple[float, ...]) -> bool:
    """Tell whether x y z qx qy qz qw are numbers and the quaternion has a direction."""
    finite = bool(np.isfinite(values).all())
    return finite and float(np.linalg.norm(values[3:])) > _MIN_QUATERNION_NORM


def _row(message: Any) -> _Row:
    if hasattr(message, "transform"):
        return _Row(stamp_ns(message), pose_of_transform(message.transform), None)
    pose, covariance = message.pose, None
    if hasattr(pose, "pose"):
        covariance, pose = pose.covariance, pose.pose
    p, q = pose.position, pose.orientation
    return _Row(stamp_ns(message), (p.x, p.y, p.z, q.x, q.y, q.z, q.w), covariance)


def _usable(rows: list[_Row], topic: str, problems: list[str]) -> list[_Row]:
    """Return the rows with a pose, by stamp, each stamp once."""
    good = [row for row in rows if is_pose(row.pose)]
    if len(good) < len(rows):
        problems.append(
            f"topic {topic}: {len(rows) - len(good)} of {len(rows)} poses are not numbers or have "
            "no direction; they are left out"
        )
    by_stamp: dict[int, _Row] = {}
    for row in good:
        by_stamp.setdefault(row.stamp_ns, row)
    if len(by_stamp) < len(good):
        problems.append(
            f"topic {topic}: {len(good) - len(by_stamp)} of {len(good)} poses repeat a stamp; the "
            "first of each stays"
        )
    return [by_stamp[stamp] for stamp in sorted(by_stamp)]


def _covariances(rows: list[_Row], topic: str, problems: list[str]) -> np.ndarray | None:
    if not rows or any(row.covariance is None for row in rows):
        return None
    table = np.array([row.covariance for row in rows], dtype=np.float64).reshape(-1, 6, 6)
    if not table.any():
        return None
    if not np.isfinite(table).all() or (np.diagonal(table, axis1=1, axis2=2) < 0.0).any():
        problems.append(f"topic {topic}: its covariances are not usable (negative or no numbers)")
        return None
    return table


def _trajectory(rows: list[tuple[float, ...]]) -> Trajectory:
    table = np.array([row[1:] for row in rows], dtype=np.float64).reshape(-1, 7)
    stamps = np.array([row[0] for row in rows], dtype=np.int64)
    return Trajectory(stamps, table[:, :3], table[:, 3:])


def seconds(stamp: int) -> float:
    """Return a stamp [ns] in seconds, for messages to people."""
    return stamp / NANOSECONDS_PER_SECOND
