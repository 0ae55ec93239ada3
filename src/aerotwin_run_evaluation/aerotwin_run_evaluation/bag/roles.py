# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Topics of a bag that are evaluated; in an arbitrary bag their roles are guessed.

Message types decide first, then tokens of the names; the result is printed, so that the user can
correct a wrong guess with an option.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_core.bag import POSE_TYPES, BagReader
from aerotwin_core.errors import UserError
from aerotwin_core.parameters import read_yaml
from aerotwin_run_evaluation.bag.vehicles import TRUTH, namespace

IMAGE, CLOUD = "sensor_msgs/msg/Image", "sensor_msgs/msg/PointCloud2"
CAMERA_INFO, TF_MESSAGE = "sensor_msgs/msg/CameraInfo", "tf2_msgs/msg/TFMessage"
SLAM_ODOM, SLAM_MAP = "/slam/odom", "/slam/map"
LEFT_IMAGE, LIDAR_POINTS = "/stereo/left/image_raw", "/lidar/points"
_PREFERRED = (TRUTH, SLAM_ODOM, SLAM_MAP, LEFT_IMAGE, LIDAR_POINTS)
_TRUTH_TOKENS = ("truth", "gt", "groundtruth", "vicon", "mocap", "optitrack", "vrpn", "leica")
_ESTIMATE_TOKENS = ("slam", "odom", "odometry", "vio", "vo", "lio", "estimate", "estimated", "pose")
_NO_ESTIMATE = ("command", "cmd", "setpoint", "goal", "target", "desired", "autopilot", "external")
_NO_SIGHT = ("depth", "disparity", "mask", "label", "semantic", "confidence")
_MAP_TOKENS = ("map", "dense", "global")
_NO_SCAN = (*_MAP_TOKENS, "cloud_registered", "filtered", "keypoints", "features")
_SIDES = (
    ("left", "right"),
    ("infra1", "infra2"),
    ("cam0", "cam1"),
    ("cam_0", "cam_1"),
    ("camera0", "camera1"),
    ("image_00", "image_01"),
    ("image_0", "image_1"),
)


@dataclass(frozen=True, kw_only=True)
class BagRoles:
    """Roles of the topics of a bag; None where it has none.

    `left`, `right`, `left_info`, `right_info`: images of a pair and their camera_info; a single
    camera is `left` alone. `lidar`, `truth`, `map`: scans, poses of the truth, and map of the SLAM.
    `estimates`: poses that look like an estimate, the likeliest first. `vehicle`: of a fleet, whose
    topics alone have a role; "" for all topics.
    """

    left: str | None = None
    right: str | None = None
    left_info: str | None = None
    right_info: str | None = None
    lidar: str | None = None
    truth: str | None = None
    estimates: tuple[str, ...] = ()
    map: str | None = None
    vehicle: str = ""

    @property
    def is_stereo(self) -> bool:
        """Whether there is a pair of cameras."""
        return self.right is not None

    @property
    def frames(self) -> str | None:
        """Topic whose messages are the frames: the left camera, else the lidar."""
        return self.left or self.lidar

    def lines(self) -> list[str]:
        """Return one line for each role that was found."""
        named = {
            "vehicle": self.vehicle,
            "cameras": " and ".join(filter(None, (self.left, self.right))),
            "lidar": self.lidar,
            "truth": self.truth,
            "estimate": ", ".join(self.estimates),
            "map": self.map,
        }
        return [f"{role:9} {name}" for role, name in named.items() if name]


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
    vehicle: str = ""  # of a fleet, whose name precedes topics and frames
    # whether the report has chapters of other vehicles, too: then each begins with its name
    is_among_others: bool = False

    def section_name(self, kind: str) -> str:
        """Return the name of a section of a kind with figures, which are told apart by it."""
        return f"{kind}_{self.vehicle}" if self.is_among_others else kind


def topics_of_vehicle(vehicle: str, *, is_map_expected: bool) -> RunTopics:
    """Return the topics of a vehicle that this workspace flew, "" for the only one."""
    below = namespace(vehicle)
    return RunTopics(
        truth=f"{below}{TRUTH}",
        estimates=(f"{below}{SLAM_ODOM}",),
        map=f"{below}{SLAM_MAP}",
        is_map_expected=is_map_expected,
        frames=(f"{below}{LEFT_IMAGE}", f"{below}{LIDAR_POINTS}"),
        vehicle=vehicle,
        is_among_others=bool(vehicle),
    )


def flight_parameters(bag: Path) -> dict[str, Any]:
    """Return the parameters of the flight that recorded a bag; none of another bag."""
    path = bag.resolve().parent / "config.yaml"
    content = read_yaml(path) if path.is_file() else None
    parameters = content.get("parameters") if isinstance(content, dict) else None
    return parameters if isinstance(parameters, dict) else {}


def find_roles(topics: Mapping[str, str], counts: Mapping[str, int], vehicle: str = "") -> BagRoles:
    """Return the roles of the topics of a bag, from message type and message count by topic.

    A topic without messages has no role. Of a `vehicle` of a fleet those below its name have one,
    as they would without that name.
    """
    space = namespace(vehicle)
    held = {
        name.removeprefix(space): kind
        for name, kind in topics.items()
        if counts.get(name, 0) > 0 and name.startswith(f"{space}/")
    }
    return _in_namespace(_roles(held), vehicle)


def _in_namespace(roles: BagRoles, vehicle: str) -> BagRoles:
    """Return the roles with the names that the topics of a vehicle have in the bag."""
    space = namespace(vehicle)
    full: dict[str, Any] = {
        name: f"{space}{topic}"
        for name, topic in dataclasses.asdict(roles).items()
        if isinstance(topic, str)
    }
    full |= {"estimates": tuple(f"{space}{topic}" for topic in roles.estimates)}
    return dataclasses.replace(roles, **full | {"vehicle": vehicle})


def _roles(held: Mapping[str, str]) -> BagRoles:
    left, right = _cameras(held)
    clouds = _of_type(held, (CLOUD,))
    poses = _of_type(held, POSE_TYPES)
    truths = [name for name in poses if _has_token(name, _TRUTH_TOKENS)]
    others = [name for name in poses if name not in truths and not _has_token(name, _NO_ESTIMATE)]
    return BagRoles(
        left=left,
        right=right,
        left_info=_info(held, left),
        right_info=_info(held, right),
        lidar=_first(name for name in clouds if not _has_token(name, _NO_SCAN)),
        truth=_first(truths),
        estimates=tuple(name for name in others if _has_token(name, _ESTIMATE_TOKENS)),
        map=_first(name for name in clouds if _has_token(name, _MAP_TOKENS)),
    )


def are_of_one_source(topics: Iterable[str], poses: str, cloud: str, space: str = "") -> bool:
    """Tell whether poses and a map may be of one SLAM: topics of a bag in one first namespace.

    Poses of a file, or of transforms, are of an unknown source. `space` precedes both names: that
    of their vehicle.

    Examples
    --------
    >>> are_of_one_source(["/slam/odom", "/vio/odom"], "/slam/odom", "/slam/map")
    True
    >>> are_of_one_source(["/slam/odom", "/vio/odom"], "/vio/odom", "/slam/map")
    False
    >>> are_of_one_source(["/slam/odom"], "other_slam.tum", "/slam/map")
    False
    """
    first, second = (_first_namespace(name.removeprefix(space)) for name in (poses, cloud))
    return poses in set(topics) and first == second


def recorded_topics(
    bag: BagReader,
    roles: BagRoles,
    *,
    truth: str,
    estimates: Iterable[str],
    slam_map: str,
    frames: str,
) -> RunTopics:
    """Return the topics of a recorded bag to evaluate: the named ones, else those of `roles`.

    A map is evaluated with the trajectory of its own SLAM. A map of another source is evaluated if
    it is named, and the report states both sources.
    """
    own_odom = f"{namespace(roles.vehicle)}{SLAM_ODOM}"
    sources = tuple(dict.fromkeys(estimates)) or roles.estimates[:1] or (own_odom,)
    found_map, map_poses, note = _map_beside(sources[0], slam_map, bag, roles)
    return RunTopics(
        truth=truth or roles.truth or "",
        estimates=sources,
        map=found_map,
        map_poses=map_poses,
        map_note=note,
        is_map_expected=bool(slam_map),
        frames=(frames,) if frames else tuple(filter(None, (roles.left, roles.lidar))),
        vehicle=roles.vehicle,
    )


def _map_beside(estimate: str, asked: str, bag: BagReader, roles: BagRoles) -> tuple[str, str, str]:
    """Return the map's topic (empty: none), the poses that place it, and a note."""
    space = namespace(roles.vehicle)
    topic = asked or roles.map or f"{space}{SLAM_MAP}"
    if bag.counts.get(topic, 0) == 0 or are_of_one_source(bag.topics, estimate, topic, space):
        return topic, "", ""
    if not asked:
        note = (
            f"The map on {topic} is not judged: it is of another source than {estimate}. "
            f"--map {topic} judges it all the same."
        )
        return "", "", note
    own = [each for each in roles.estimates if are_of_one_source(bag.topics, each, topic, space)]
    poses = own[0] if own else estimate
    note = (
        f"Two sources: the trajectory is {estimate}, the map on {topic} is of another SLAM; it "
        f"lies where the first pose of {poses} puts it."
    )
    return topic, poses, note


def _first_namespace(topic: str) -> str:
    first, _, rest = topic.strip("/").partition("/")
    return first if rest else ""


def parse_renames(tokens: Iterable[str]) -> dict[str, str]:
    """Return topic of the bag by its published name, from NAME:=TOPIC tokens.

    Raises `UserError` if a token has another form.
    """
    renames: dict[str, str] = {}
    for token in tokens:
        name, separator, source = token.partition(":=")
        if not separator or not name or not source:
            raise UserError(f"--topic: expected NAME:=TOPIC_OF_THE_BAG, found '{token}'")
        renames[_absolute(name)] = source
    return renames


def _absolute(name: str) -> str:
    return name if name.startswith("/") else f"/{name}"


def _tokens(name: str) -> list[str]:
    return [token for token in re.split(r"[/_\-.]+", name.lower()) if token]


def _has_token(name: str, tokens: Iterable[str]) -> bool:
    """Return whether a name contains one of the tokens; trailing digits are ignored (lidar0)."""
    held = {token.rstrip("0123456789") for token in _tokens(name)} | set(_tokens(name))
    return any(token in held or ("_" in token and token in name.lower()) for token in tokens)


def _of_type(held: Mapping[str, str], kinds: tuple[str, ...]) -> list[str]:
    """Return the topics of some types: this workspace's own names first, then by type, by name."""
    names = [name for name, kind in held.items() if kind in kinds]
    return sorted(names, key=lambda name: (name not in _PREFERRED, kinds.index(held[name]), name))


def _first(names: Iterable[str]) -> str | None:
    return next(iter(names), None)


def _cameras(held: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return the left and right image topics; those with a camera_info are preferred."""
    images = [name for name in _of_type(held, (IMAGE,)) if not _has_token(name, _NO_SIGHT)]
    images.sort(key=lambda name: (name not in _PREFERRED, _info(held, name) is None))
    for left in images:
        for one, other in _SIDES:
            right = left.replace(one, other)
            if one in left and right in images:
                return left, right
    return _first(images), None


def _info(held: Mapping[str, str], image: str | None) -> str | None:
    """Return the camera_info beside an image topic (image_transport's convention)."""
    if image is None:
        return None
    name = f"{image.rpartition('/')[0]}/camera_info"
    return name if held.get(name) == CAMERA_INFO else None
