# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The poses that topics of a bag carry, with their frames and covariances."""

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.bag.pose_layout import PoseRow
from aerotwin_core.messages import stamp_ns
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
        (geometry_msgs/PoseWithCovariance). None if the type has none, or all are empty.
    frame, child_frame : str
        From the first message; "" if it has none.
    problems : tuple of str
        Omitted or invalid data, as text.
    n_repeated : int
        Poses that repeat the stamp of another and were left out.
    """

    trajectory: Trajectory
    covariances: np.ndarray | None = None
    frame: str = ""
    child_frame: str = ""
    problems: tuple[str, ...] = ()
    n_repeated: int = 0


def rows_of_message(message: Any) -> list[PoseRow]:
    """Return the poses of a message: one, or those of a Path."""
    if hasattr(message, "poses"):
        return [row for item in message.poses for row in rows_of_message(item)]
    frame = str(message.header.frame_id)
    child_frame = str(getattr(message, "child_frame_id", ""))
    if hasattr(message, "transform"):
        pose = pose_of_transform(message.transform)
        return [PoseRow(stamp_ns(message), pose, None, frame, child_frame)]
    pose, covariance = message.pose, None
    if hasattr(pose, "pose"):
        covariance, pose = pose.covariance, pose.pose
    p, q = pose.position, pose.orientation
    values = (p.x, p.y, p.z, q.x, q.y, q.z, q.w)
    return [PoseRow(stamp_ns(message), values, covariance, frame, child_frame)]


class PoseRows:
    """The poses of a topic as they are read, packed: a fleet's flight has millions."""

    def __init__(self, *, has_covariances: bool = True) -> None:
        self.stamps_ns, self.recorded_ns = array("q"), array("q")
        self.poses = array("d")
        self._has_covariances = has_covariances
        self.covariances: list[np.ndarray | None] = []
        self.frames: tuple[str, str] = ("", "")  # of the first message

    def add(self, row: PoseRow, recorded_ns: int) -> None:
        """Add a pose and its recording stamp."""
        if not self.stamps_ns:
            self.frames = (row.frame.lstrip("/"), row.child_frame.lstrip("/"))
        self.stamps_ns.append(row.stamp_ns)
        self.recorded_ns.append(recorded_ns)
        self.poses.extend(row.pose)
        if self._has_covariances:
            self.covariances.append(row.covariance)


def collect_poses(rows: PoseRows, topic: str) -> PoseTopic:
    """Return the poses that were read of a topic.

    Poses that are not finite, or whose quaternion is zero, are left out and counted; of poses with
    the same stamp only the first is retained. If no message has a stamp, recording stamps are used.
    """
    problems: list[str] = []
    stamps = np.array(rows.stamps_ns, dtype=np.int64)
    if len(stamps) > 1 and not stamps.any():
        problems.append(f"topic {topic}: no stamps in the headers; the times of recording are used")
        stamps = np.array(rows.recorded_ns, dtype=np.int64)
    table = np.array(rows.poses, dtype=np.float64).reshape(-1, 7)
    retained, n_repeated = _usable(stamps, table, topic, problems)
    covariances = [rows.covariances[k] for k in retained] if rows.covariances else []
    return PoseTopic(
        trajectory=Trajectory(stamps[retained], table[retained, :3], table[retained, 3:]),
        covariances=_covariances(covariances, topic, problems),
        frame=rows.frames[0],
        child_frame=rows.frames[1],
        problems=tuple(problems),
        n_repeated=n_repeated,
    )


def pose_of_transform(message: Any) -> tuple[float, ...]:
    """Return x y z qx qy qz qw of a geometry_msgs/Transform."""
    p, q = message.translation, message.rotation
    return (p.x, p.y, p.z, q.x, q.y, q.z, q.w)


def are_poses(table: np.ndarray) -> np.ndarray:
    """Tell which rows x y z qx qy qz qw (n, 7) are finite with a non-zero quaternion, (n,)."""
    is_finite = np.isfinite(table).all(axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        return is_finite & (np.linalg.norm(table[:, 3:], axis=1) > _MIN_QUATERNION_NORM)


def _usable(
    stamps: np.ndarray, table: np.ndarray, topic: str, problems: list[str]
) -> tuple[np.ndarray, int]:
    """Return the numbers of the rows with a pose, by stamp, each once, and how many repeat one."""
    good = np.flatnonzero(are_poses(table))
    if len(good) < len(table):
        problems.append(
            f"topic {topic}: {len(table) - len(good)} of {len(table)} poses are not numbers or "
            "have no direction; they are left out"
        )
    _, first = np.unique(stamps[good], return_index=True)
    n_repeated = len(good) - len(first)
    if n_repeated:
        problems.append(
            f"topic {topic}: {n_repeated} of {len(good)} poses repeat a stamp; the "
            "first of each stays"
        )
    return good[first], n_repeated


def _covariances(
    rows: list[np.ndarray | None], topic: str, problems: list[str]
) -> np.ndarray | None:
    if not rows or any(row is None for row in rows):
        return None
    table = np.array(rows, dtype=np.float64).reshape(-1, 6, 6)
    if not table.any():
        return None
    if not np.isfinite(table).all() or (np.diagonal(table, axis1=1, axis2=2) < 0.0).any():
        problems.append(f"topic {topic}: its covariances are not usable (negative or no numbers)")
        return None
    return table
