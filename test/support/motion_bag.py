# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags of robots that move as told, for the view."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from aerotwin_core.bag import BagWriter
from aerotwin_core.messages import odometry_message, serialize, string_message

SECOND = 1_000_000_000
LEVEL, ZERO = (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
Poses = Sequence[tuple[Sequence[float], Sequence[float]]]


def write_motion(
    folder: Path,
    paths: Mapping[str, Poses],
    *,
    slam_frame: str = "map",
    descriptions: Sequence[tuple[str, str]] = (),
    step_ns: int = SECOND,
) -> Path:
    """Write odometry by topic, a pose a step, and robot descriptions; return the bag.

    What is of a SLAM is in a frame of that name.
    """
    with BagWriter(folder / "bag") as bag:
        for topic, text in descriptions:
            bag.add_topic(topic, "std_msgs/msg/String")
            bag.write(topic, 0, serialize(string_message(text)))
        for topic, poses in paths.items():
            bag.add_topic(topic, "nav_msgs/msg/Odometry")
            frame = slam_frame if "slam" in topic else "map"
            for k, (p, q) in enumerate(poses):
                message = odometry_message(k * step_ns, frame, "base_link", p, q, ZERO, ZERO)
                bag.write(topic, k * step_ns, serialize(message))
    return folder / "bag"
