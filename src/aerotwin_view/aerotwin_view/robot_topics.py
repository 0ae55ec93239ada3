# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which topics are of which robot, by their names."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from types import MappingProxyType
from typing import TypeVar

import trimesh

from aerotwin_core.errors import UserError
from aerotwin_view.scene.robot_model import robot_model

T = TypeVar("T")

MOST_SHAPES = 100
"""Of robots that differ."""

TRUTH = "truth/odom"
SLAM = "slam/odom"
ESTIMATES = ("autopilot/odom", SLAM)
DESCRIPTION, SETPOINT = "robot_description", "command/pose"
ODOMETRY_TYPE = "nav_msgs/msg/Odometry"
FEW_ROBOTS = 200
"""Of so many the truth is read; of more the estimates, where there are any, at a fifth of its rate.
100 readers of the truth cost a flight of 100 vehicles less than its runs differ by."""
_IN_ORDER = (TRUTH, *ESTIMATES, "odom")


def robot_of(topic: str) -> str:
    """Return the name of the robot of a topic.

    >>> robot_of("/uav0/truth/odom"), robot_of("/truth/odom"), robot_of("/tug/odom")
    ('uav0', '', 'tug')
    """
    path = topic.strip("/")
    for known in (*_IN_ORDER, DESCRIPTION, SETPOINT):
        if path == known or path.endswith(f"/{known}"):
            return path.removesuffix(known).strip("/")
    return path.rpartition("/")[0]


def topic_of(robot: str, kind: str) -> str:
    """Return the topic of a kind of a robot.

    >>> topic_of("uav0", TRUTH), topic_of("", TRUTH)
    ('/uav0/truth/odom', '/truth/odom')
    """
    return f"/{robot}/{kind}" if robot else f"/{kind}"


def kind_of(topic: str) -> str:
    """Return what a topic is of its robot.

    >>> kind_of("/uav0/truth/odom"), kind_of("/odom")
    ('truth/odom', 'odom')
    """
    return topic.strip("/").removeprefix(robot_of(topic)).strip("/")


def owner_of(topic: str, robots: Iterable[str]) -> str | None:
    """Return the robot below whose name a topic is; None if there is none.

    >>> owner_of("/uav1/lidar/points", ["uav1", "uav10"]), owner_of("/lidar/points", [""])
    ('uav1', '')
    """
    path = topic.strip("/")
    owners = [name for name in robots if not name or path.startswith(f"{name}/")]
    return max(owners, key=len, default=None)


def motion_topics(
    odometries: Iterable[str], before: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """Return the topic that a robot is drawn by for each robot, of topics of odometry.

    A robot with a topic `before` of which only a SLAM is left keeps it: a SLAM outlives the end of
    a run, and has a frame of its own.

    >>> motion_topics(["/odom", "/slam/odom", "/truth/odom", "/obstacles/car/odom"])
    {'obstacles/car': '/obstacles/car/odom', '': '/truth/odom'}
    >>> motion_topics(["/slam/odom"]), motion_topics(["/slam/odom"], {"": "/truth/odom"})
    ({'': '/slam/odom'}, {'': '/truth/odom'})
    """
    by_robot: dict[str, dict[str, str]] = {}
    for topic in sorted(odometries):
        by_robot.setdefault(robot_of(topic), {})[kind_of(topic)] = topic
    order = _IN_ORDER if len(by_robot) <= FEW_ROBOTS else (ESTIMATES[0], *_IN_ORDER)
    return {
        name: before[name]
        if name in before and topics.keys() == {SLAM}
        else next(topics[kind] for kind in order if kind in topics)
        for name, topics in by_robot.items()
        if not topics.keys().isdisjoint(order)
    }


def described_model(
    name: str, urdf: str, known: MutableMapping[str, trimesh.Trimesh | None]
) -> trimesh.Trimesh | None:
    """Return the shape of a robot; alike ones, whatever their names, have one object.

    One that cannot be read has no shape.
    """
    return described(name, urdf, known, robot_model)


def described(
    name: str, urdf: str, known: MutableMapping[str, T | None], read: Callable[[str], T | None]
) -> T | None:
    """Return what `read` finds in the URDF of a robot, once for alike ones; None if it refuses.

    `known` holds it by a digest of the URDF, of the last `MOST_SHAPES`.
    """
    shape = re.sub(rf"""(["']){re.escape(name)}/""", r"\1", urdf) if name else urdf
    digest = hashlib.sha256(shape.encode("utf-8", "surrogatepass")).hexdigest()
    if digest not in known:
        if len(known) >= MOST_SHAPES:
            del known[next(iter(known))]
        try:
            known[digest] = read(shape)
        except UserError:
            known[digest] = None
    return known[digest]
