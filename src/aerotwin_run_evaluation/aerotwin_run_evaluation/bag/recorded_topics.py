# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Selects what of a recorded bag is evaluated: truth, estimates, and a map with its own poses."""

import argparse

from aerotwin_core.bag import BagReader
from aerotwin_run_evaluation.bag.roles import SLAM_MAP, SLAM_ODOM, BagRoles, are_of_one_source
from aerotwin_run_evaluation.bag.run_topics import RunTopics


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
