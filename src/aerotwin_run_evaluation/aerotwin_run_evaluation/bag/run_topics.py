# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Topics of a run's bags that are evaluated; of a recorded bag those of options and roles."""

import argparse
from dataclasses import dataclass

from aerotwin_core.bag import BagReader
from aerotwin_run_evaluation.bag.roles import (
    SLAM_MAP,
    SLAM_ODOM,
    TRUTH,
    BagRoles,
    are_of_one_source,
)

LEFT_IMAGE, LIDAR_POINTS = "/stereo/left/image_raw", "/lidar/points"


@dataclass(frozen=True, kw_only=True)
class RunTopics:
    """Topics of a run's bags that are evaluated."""

    # a source of `read_poses`: a topic of the truth's bag, /tf:PARENT.CHILD, or a file; empty if
    # unknown
    truth: str = TRUTH
    # sources in the SLAM's bag; map and cost are evaluated with the first
    estimates: tuple[str, ...] = (SLAM_ODOM,)
    map: str = SLAM_MAP  # PointCloud2 of the SLAM's bag
    map_poses: str = ""  # poses in whose frame the map is, if not the first estimate
    # remark on the origin of the map, or why none is evaluated; `map` is empty then
    map_note: str = ""
    # whether the SLAM is known to publish one: a missing one is then a warning, else a remark
    is_map_expected: bool = True
    # topics of the truth's bag whose messages may be the frames; stamps decide from which of them
    # an estimate was computed
    frames: tuple[str, ...] = (LEFT_IMAGE, LIDAR_POINTS)


def recorded_topics(arguments: argparse.Namespace, bag: BagReader, roles: BagRoles) -> RunTopics:
    """Return the topics to evaluate: those of the options, else those of `roles`.

    A map is evaluated with the trajectory of its own SLAM. A map of another source is evaluated if
    requested by name (`--map`), and the report states both sources. `arguments` has `truth`,
    `estimate`, `map` and `frames` of the command.
    """
    estimates = tuple(dict.fromkeys(arguments.estimate)) or roles.estimates[:1] or (SLAM_ODOM,)
    found_map, map_poses, note = _map_beside(estimates[0], arguments.map, bag, roles)
    return RunTopics(
        truth=arguments.truth or roles.truth or "",
        estimates=estimates,
        map=found_map,
        map_poses=map_poses,
        map_note=note,
        is_map_expected=bool(arguments.map),
        frames=(arguments.frames,)
        if arguments.frames
        else tuple(filter(None, (roles.left, roles.lidar))),
    )


def _map_beside(estimate: str, asked: str, bag: BagReader, roles: BagRoles) -> tuple[str, str, str]:
    """Return the map's topic (empty: none), the poses that place it, and a note."""
    topic = asked or roles.map or SLAM_MAP
    if bag.counts.get(topic, 0) == 0 or are_of_one_source(bag.topics, estimate, topic):
        return topic, "", ""
    if not asked:
        note = (
            f"The map on {topic} is not judged: it is of another source than {estimate}. "
            f"--map {topic} judges it all the same."
        )
        return "", "", note
    own = [source for source in roles.estimates if are_of_one_source(bag.topics, source, topic)]
    poses = own[0] if own else estimate
    note = (
        f"Two sources: the trajectory is {estimate}, the map on {topic} is of another SLAM; it "
        f"lies where the first pose of {poses} puts it."
    )
    return topic, poses, note
