# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which topics of a bag are played to a SLAM, under which names, and which are withheld and why."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rosbags.rosbag2 import Reader
from rosbags.rosbag2.errors import ReaderError

from aerotwin_core.errors import UserError
from aerotwin_run_evaluation.bag.roles import BagRoles, parse_renames
from aerotwin_run_evaluation.bag.vehicles import namespace, vehicles_of

_LATCHED = "TRANSIENT_LOCAL"
LARGEST_DEPTH = 10_000
STEREO_ODOMETRY, KISS_ICP, EXTERNAL = "stereo_odometry", "kiss_icp", "external"
SLAMS = (STEREO_ODOMETRY, KISS_ICP, EXTERNAL)
TF_STATIC, TF = "/tf_static", "/tf"
_ALWAYS_LATCHED = (TF_STATIC, "/robot_description", "/map")
_RECORDERS_OWN = {
    "/clock": "made from the stamps",
    TF: "holds poses that were known only after",
    "/rosout": "of the recording",
    "/parameter_events": "of the recording",
    "/diagnostics": "of the recording",
    "/events/write_split": "of the recording",
}


def first_sensor(slam: str, roles: BagRoles, renames: Iterable[str]) -> str | None:
    """Return the topic of the bag that a SLAM that ships sees first; `renames` are NAME:=TOPIC."""
    topics = parse_renames(renames)
    if slam == KISS_ICP:
        return topics.get("/lidar/points", roles.lidar)
    return topics.get("/stereo/left/image_raw", roles.left)


@dataclass(frozen=True, kw_only=True)
class RecordedQos:
    """Recorded QoS that the replay uses: transient local, and depth (0 = not recorded).

    Reliability is not used: a reliable publisher matches best-effort and reliable subscribers, and
    loses nothing.
    """

    is_latched: bool = False
    depth: int = 0


def read_recorded_qos(path: Path) -> dict[str, RecordedQos]:
    """Return the recorded QoS by topic; topics without any, and bags without index, are left out.

    For several publishers of one topic, the strongest offer counts.
    """
    found: dict[str, RecordedQos] = {}
    try:
        with Reader(path) as reader:
            for connection in reader.connections:
                profiles = list(getattr(connection.ext, "offered_qos_profiles", None) or ())
                if not profiles:
                    continue
                known = found.get(connection.topic, RecordedQos())
                found[connection.topic] = RecordedQos(
                    is_latched=known.is_latched
                    or any(profile.durability.name == _LATCHED for profile in profiles),
                    depth=min(LARGEST_DEPTH, max(known.depth, *(int(p.depth) for p in profiles))),
                )
    except (ReaderError, OSError, KeyError, ValueError, AssertionError):
        return {}  # a damaged bag: its readable messages are played with the usual QoS
    return found


@dataclass(frozen=True, kw_only=True)
class PlayedTopic:
    """A topic of the bag that is published.

    `source` is its name in the bag, `name` the published one, `qos` that of the recorded publisher.
    """

    source: str
    name: str
    msgtype: str
    qos: RecordedQos


@dataclass(frozen=True, kw_only=True)
class PlayPlan:
    """What is played."""

    topics: tuple[PlayedTopic, ...]  # in the order of their names
    frames: str | None  # topic of the bag whose messages are the frames (coverage, pictures)
    # topic of the bag whose message completes a frame, which the SLAM then answers
    gate: str | None
    held_back: Mapping[str, str] = field(default_factory=dict)  # reasons by topic of the bag

    def lines(self) -> list[str]:
        """Return the played and withheld topics, one per line."""
        played = [
            f"plays     {topic.source}"
            + (f" as {topic.name}" if topic.name != topic.source else "")
            for topic in self.topics
        ]
        return played + [f"holds     {name} ({why})" for name, why in self.held_back.items()]


def plan_playing(
    topics: Mapping[str, str],
    counts: Mapping[str, int],
    roles: BagRoles,
    *,
    slam: str,
    qos: Mapping[str, RecordedQos],
    renames: Mapping[str, str],
    only: Collection[str] = (),
    outputs: Collection[str] = (),
    truth: str | None = None,
    frames: str | None = None,
) -> PlayPlan:
    """Select the topics of a bag to play.

    A SLAM of `SLAMS` gets the topics that it subscribes to, under its names; any other one gets
    all topics under the names of the bag, except the truth and its own outputs. Of a vehicle of a
    fleet it gets those of all and its own, which go out without the vehicle's name.

    `topics`, `counts`, `qos`: type, number of messages and recorded QoS by topic of the bag.
    `slam`: one of `SLAMS`. `renames`: topic of the bag by its published name. `only`: topics of the
    bag to play; empty = all. `outputs`: topics that the SLAM publishes. `truth`, `frames`: topics
    of the truth and of the frames; default: those of `roles`.

    Raises `UserError` if the bag lacks a topic that the SLAM needs or that is named.
    """
    held = {name: kind for name, kind in topics.items() if counts.get(name, 0) > 0}
    for name in (*renames.values(), *only, *filter(None, (frames,))):
        _require(name in held, name, held)
    requested = dict(renames)
    held_back: dict[str, str] = {}
    if slam == EXTERNAL:
        truths = {topic for topic in (roles.truth, truth) if topic in held}
        space = namespace(roles.vehicle)
        own = {name for name in held if name.removeprefix(space) in outputs}
        held_back = _reasons(held, truths, {*renames.values(), *only}, only, own, roles.vehicle)
        for name in held:
            if name not in held_back and name not in requested.values():
                requested.setdefault(name.removeprefix(space), name)
    else:
        for name, source in _needed(slam, roles).items():
            _require(name in requested or source is not None, f"topic for {name}", held)
            requested.setdefault(name, source or "")
        if TF_STATIC in held:
            requested.setdefault(TF_STATIC, TF_STATIC)
    frames = frames or _frames(slam, roles, requested)
    return PlayPlan(
        topics=tuple(
            PlayedTopic(source=source, name=name, msgtype=held[source], qos=_qos(source, qos))
            for name, source in sorted(requested.items())
        ),
        frames=frames,
        gate=_gate(frames, roles, requested),
        held_back=held_back,
    )


def _needed(slam: str, roles: BagRoles) -> dict[str, str | None]:
    """Return the topic of the bag for each topic a SLAM of `SLAMS` subscribes to."""
    if slam == KISS_ICP:
        return {"/lidar/points": roles.lidar}
    return {
        "/stereo/left/image_raw": roles.left,
        "/stereo/right/image_raw": roles.right,
        "/stereo/left/camera_info": roles.left_info,
        "/stereo/right/camera_info": roles.right_info,
    }


def _reasons(
    held: Mapping[str, str],
    truths: Collection[str],
    named: Collection[str],
    only: Collection[str],
    outputs: Collection[str],
    vehicle: str,
) -> dict[str, str]:
    """Return why topics are not played; an explicitly named one always is."""
    reasons = {name: why for name, why in _RECORDERS_OWN.items() if name in held}
    others = tuple(f"/{each}/" for each in vehicles_of(held) if vehicle and each != vehicle)
    reasons |= {name: "of another vehicle" for name in held if name.startswith(others)}
    reasons |= dict.fromkeys(outputs, "the SLAM publishes it")
    reasons |= dict.fromkeys(truths, "the truth")
    if only:
        rest = [name for name in held if name != TF_STATIC and name not in reasons]
        reasons |= dict.fromkeys(rest, "not named")
    return {name: why for name, why in sorted(reasons.items()) if name not in named}


def _frames(slam: str, roles: BagRoles, requested: Mapping[str, str]) -> str | None:
    by_name = {
        STEREO_ODOMETRY: requested.get("/stereo/left/image_raw"),
        KISS_ICP: requested.get("/lidar/points"),
    }
    found = by_name.get(slam) or roles.frames
    return found if found in requested.values() else None


def _gate(frames: str | None, roles: BagRoles, requested: Mapping[str, str]) -> str | None:
    right = requested.get("/stereo/right/image_raw") or roles.right
    is_of_pair = frames is not None and frames in (
        roles.left,
        requested.get("/stereo/left/image_raw"),
    )
    return right if is_of_pair and right in requested.values() else frames


def _qos(source: str, qos: Mapping[str, RecordedQos]) -> RecordedQos:
    recorded = qos.get(source, RecordedQos())
    if source in _ALWAYS_LATCHED and not recorded.is_latched:
        return RecordedQos(is_latched=True, depth=recorded.depth)
    return recorded


def _require(is_there: bool, what: str, held: Mapping[str, str]) -> None:
    if not is_there:
        listed = ", ".join(sorted(held)) or "nothing"
        raise UserError(
            f"the bag holds no {what}; name one with --topic NAME:=TOPIC_OF_THE_BAG; "
            f"it holds {listed}"
        )
