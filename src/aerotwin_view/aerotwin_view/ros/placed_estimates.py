# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The estimates of robots that can be drawn in map, and how sure they are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from aerotwin_core.frames import FloatArray
from aerotwin_view.robot_topics import SLAM, kind_of, robot_of
from aerotwin_view.ros.heard_robots import HeardRobots

_MAP = "map"


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedEstimate:
    """A position (3,) [m] and its covariance (3, 3) [m^2] as reported, both in map."""

    kind: str
    robot: str
    p_map: FloatArray
    covariance: FloatArray | None


def placed_estimates(
    heard: HeardRobots, placement: Callable[[str], FloatArray | None]
) -> Iterator[PlacedEstimate]:
    """Yield the estimates in map, and those of SLAMs whose frame was laid on it.

    `placement` returns T_map_odom (4, 4) of the SLAM of a robot, None where it is not known.
    """
    for topic in heard.estimates:
        pose, robot, kind = heard.poses[topic], robot_of(topic), kind_of(topic)
        if pose.stamp_ns < 0:
            continue
        p_map, covariance = pose.p, pose.position_covariance()
        if kind == SLAM:
            T_map_odom = placement(robot)
            if T_map_odom is not None:
                R = T_map_odom[:3, :3]
                p_map = R @ p_map + T_map_odom[:3, 3]
                covariance = None if covariance is None else R @ covariance @ R.T
            elif pose.frame != _MAP:
                continue
        elif pose.frame != _MAP:
            continue
        yield PlacedEstimate(kind=kind, robot=robot, p_map=p_map, covariance=covariance)
