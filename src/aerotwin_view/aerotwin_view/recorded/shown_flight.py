# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A bag as what a page shows: robots that move, the paths of their estimates, and their world."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import trimesh
import yaml
from scipy.spatial.transform import Rotation

from aerotwin_core.bag import BagReader
from aerotwin_core.documents import DocumentError, parse_yaml
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray, invert_transform, transform_points
from aerotwin_core.trajectory import Trajectory
from aerotwin_view.robot_topics import (
    DESCRIPTION,
    ODOMETRY_TYPE,
    TRUTH,
    described_model,
    kind_of,
    robot_of,
)

MAP = "map"


@dataclass(frozen=True, kw_only=True)
class ShownPath:
    """The path of an estimate."""

    topic: str
    kind: str  # its topic without the name of the robot
    trajectory: Trajectory  # in map
    is_placed: bool  # it has a frame of its own and was placed at its first pose


@dataclass(frozen=True, kw_only=True)
class ShownRobot:
    """A robot that moves."""

    name: str  # its namespace, "" for a single one
    topic: str  # of its motion
    trajectory: Trajectory
    model: trimesh.Trimesh | None

    def transform_at(self, stamp_ns: int) -> FloatArray:
        """Return T_map_body (4, 4) at a time [ns] of its motion; before and after it, at an end."""
        stamps = self.trajectory.stamps_ns
        at_ns = min(max(stamp_ns, int(stamps[0])), int(stamps[-1]))
        return self.trajectory.interpolate(np.array([at_ns])).transforms()[0]


@dataclass(frozen=True, kw_only=True)
class ShownFlight:
    """What a bag holds that can be shown."""

    name: str
    robots: tuple[ShownRobot, ...]
    paths: tuple[ShownPath, ...]
    start_ns: int
    end_ns: int
    world: str | None  # as its run folder names it
    problems: tuple[str, ...]


def bag_folder(path: Path) -> Path | None:
    """Return the bag that a path names: itself, or that of a run folder; None if it is neither."""
    if path.is_dir() and (path / "bag").is_dir():
        return path / "bag"
    if path.suffix in (".mcap", ".db3") or (path / "metadata.yaml").is_file():
        return path
    return path if path.is_dir() and any(path.glob("*.mcap")) else None


def read_flight(path: Path) -> ShownFlight:
    """Return what a bag holds.

    Raises
    ------
    UserError
        If it is no bag, or holds no motion.
    """
    bag = BagReader(path)
    poses = [topic for topic in bag.trajectory_topics() if ":" not in topic and bag.counts[topic]]
    truths = [topic for topic in poses if topic.endswith(TRUTH)]
    moving = truths or [topic for topic in poses if bag.topics[topic] == ODOMETRY_TYPE][:1]
    if not moving:
        raise UserError(f"{path}: expected a topic with poses, as nav_msgs/Odometry, found none")
    found = bag.trajectories(moving)
    models = _models(bag)
    robots = tuple(
        ShownRobot(
            name=robot_of(topic),
            topic=topic,
            trajectory=trajectory,
            model=models.get(robot_of(topic)),
        )
        for topic, trajectory in found.items()
        if len(trajectory) > 1
    )
    if not robots:
        raise UserError(f"{path}: expected two poses at least on {', '.join(moving)}")
    by_name = {robot.name: robot for robot in robots}
    paths = [
        shown
        for topic in poses
        if topic not in found and (shown := _path(bag, topic, by_name)) is not None
    ]
    return ShownFlight(
        name=path.parent.name if path.name == "bag" else path.stem,
        robots=robots,
        paths=tuple(paths),
        start_ns=min(int(robot.trajectory.stamps_ns[0]) for robot in robots),
        end_ns=max(int(robot.trajectory.stamps_ns[-1]) for robot in robots),
        world=_world(path.parent / "config.yaml"),
        problems=bag.problems,
    )


def _path(bag: BagReader, topic: str, robots: dict[str, ShownRobot]) -> ShownPath | None:
    """Return the path of a topic in map; None if it has fewer than two poses."""
    try:
        poses = bag.poses(topic)
    except UserError:  # it is listed with the problems of the bag
        return None
    trajectory = poses.trajectory
    if len(trajectory) < 2:
        return None
    robot = robots.get(robot_of(topic))
    is_placed = poses.frame.strip("/") != MAP and robot is not None
    if is_placed and robot is not None:
        trajectory = _placed(trajectory, robot)
    return ShownPath(topic=topic, kind=kind_of(topic), trajectory=trajectory, is_placed=is_placed)


def _placed(own: Trajectory, robot: ShownRobot) -> Trajectory:
    """Return a trajectory moved so that its first pose is that of the robot at that time."""
    T_map_body = robot.transform_at(int(own.stamps_ns[0]))
    T_map_own = T_map_body @ invert_transform(own.transforms()[0])
    turn = Rotation.from_matrix(T_map_own[:3, :3])
    q_map_body = (turn * Rotation.from_quat(own.q_ref_body)).as_quat()
    return Trajectory(own.stamps_ns, transform_points(T_map_own, own.p_ref_body), q_map_body)


def _models(bag: BagReader) -> dict[str, trimesh.Trimesh | None]:
    """Return the shape of each robot by name."""
    topics = [topic for topic in bag.topics if topic.rpartition("/")[2] == DESCRIPTION]
    known: dict[str, trimesh.Trimesh | None] = {}
    return {
        name: described_model(name, message.data, known)
        for topic, _, message in (bag.messages(topics) if topics else ())
        for name in (robot_of(topic),)
    }


def _world(configuration: Path) -> str | None:
    """Return the world of a run, None if it does not say."""
    try:
        found = parse_yaml(configuration.read_bytes())["parameters"]["world"]
    except (DocumentError, KeyError, OSError, TypeError, yaml.YAMLError):
        return None
    return found if isinstance(found, str) else None
