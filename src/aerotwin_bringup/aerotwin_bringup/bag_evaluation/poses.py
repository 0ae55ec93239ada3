# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses of a run, named by one word: a topic, two frames of /tf, or a file.

``/slam/odom``, ``/tf:map.base_link`` (evo's way of writing it) or ``truth.txt``.
"""

from pathlib import Path
from typing import Any

from aerotwin_core.bag import BagReader, PoseTopic
from aerotwin_core.bag.poses import poses_of_messages
from aerotwin_core.errors import UserError
from aerotwin_trajectory_evaluation import read_trajectory

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
    if topic in bag.topics:
        if bag.topics[topic] not in _WITH_COVARIANCE:
            return bag.poses(source)
        tracked = (item for item in bag.messages([topic]) if _is_tracked(item[2]))
        return poses_of_messages(tracked, topic)
    require_poses(bag, source)
    return PoseTopic(trajectory=read_trajectory(source))


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


def _is_tracked(message: Any) -> bool:
    return bool(message.pose.covariance[0] <= LOST_VARIANCE_M2)  # False for not-a-number
