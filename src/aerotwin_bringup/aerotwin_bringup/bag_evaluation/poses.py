# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses of a run, named by one word: a topic, two frames of /tf, or a file.

``/slam/odom``, ``/tf:map.base_link`` (evo's way of writing it) or ``truth.txt``.
"""

import dataclasses
from pathlib import Path

import numpy as np

from aerotwin_core.bag import BagReader, PoseTopic
from aerotwin_core.errors import UserError
from aerotwin_core.messages import stamp_ns
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import read_trajectory

Span = tuple[int, int]
"""First and last stamp of what is judged [ns]."""
LOST_VARIANCE_M2 = 1e3
"""A pose whose reported position variance is larger is a frame that was not tracked."""
_WITH_COVARIANCE = ("nav_msgs/msg/Odometry", "geometry_msgs/msg/PoseWithCovarianceStamped")


def read_poses(bag: BagReader, source: str) -> PoseTopic:
    """Return the poses that a word names, less those that were reported as lost.

    Lost is a position variance above 1000 m^2, or one that is no number; what else is left out is
    said in the result's `problems`.

    Raises
    ------
    UserError
        If there are no such poses; the message lists what there is.
    """
    topic = source.partition(":")[0]
    if topic not in bag.topics:
        require_poses(bag, source)
        return PoseTopic(trajectory=read_trajectory(source))
    found = bag.poses(source)
    if bag.topics[topic] in _WITH_COVARIANCE:
        return _take(found, _is_tracked(bag, topic, found))
    return found


def within(found: PoseTopic, span: Span | None) -> PoseTopic:
    """Return the poses of a span, all if it is None."""
    if span is None:
        return found
    stamps = found.trajectory.stamps_ns
    return _take(found, (stamps >= span[0]) & (stamps <= span[1]))


def truth_within(truth: Trajectory, span: Span | None) -> Trajectory:
    """Return the truth of a span, with poses interpolated at its ends: it lasts as long."""
    if span is None or len(truth) < 2:
        return truth
    first, last = np.clip(span, truth.stamps_ns[0], truth.stamps_ns[-1])
    stamps = truth.stamps_ns[(truth.stamps_ns >= first) & (truth.stamps_ns <= last)]
    return truth.interpolate(np.unique([first, *stamps, last]))


def require_poses(bag: BagReader, source: str) -> None:
    """Refuse a word that names nothing, before a replay takes its time.

    Raises
    ------
    UserError
        Listing what there is.
    """
    if source.partition(":")[0] not in bag.topics and not Path(source).exists():
        listed = ", ".join(bag.trajectory_topics()) or "none"
        raise UserError(f"{source}: neither poses of the bag nor a file; {bag.path} holds {listed}")


def _is_tracked(bag: BagReader, topic: str, found: PoseTopic) -> np.ndarray:
    """Tell of each pose whether it was tracked, (n,)."""
    if found.covariances is not None:
        return found.covariances[:, 0, 0] <= LOST_VARIANCE_M2
    if not found.problems:
        return np.ones(len(found.trajectory), dtype=bool)
    # Some covariances are no numbers, and none was given: those poses alone are lost.
    lost = [
        stamp_ns(message)
        for _, _, message in bag.messages([topic])
        if not message.pose.covariance[0] <= LOST_VARIANCE_M2
    ]
    return ~np.isin(found.trajectory.stamps_ns, lost)


def _take(found: PoseTopic, kept: np.ndarray) -> PoseTopic:
    covariances = None if found.covariances is None else found.covariances[kept]
    return dataclasses.replace(
        found, trajectory=found.trajectory.take(kept), covariances=covariances
    )
