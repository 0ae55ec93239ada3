# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a bag holds for a SLAM: cameras, IMU and truth, with their calibration.

Calibration comes from CameraInfo, static transforms and the metadata record `sensors` of bags that
this workspace recorded. For other bags the noise of the IMU must be named.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.bag.transforms import TransformTree
from aerotwin_core.camera import CameraModel
from aerotwin_core.camera_messages import raw_camera_from_info
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed
from aerotwin_core.messages import stamp_ns

IMAGE, CAMERA_INFO, IMU, ODOMETRY, TRANSFORMS = (
    "sensor_msgs/msg/Image",
    "sensor_msgs/msg/CameraInfo",
    "sensor_msgs/msg/Imu",
    "nav_msgs/msg/Odometry",
    "tf2_msgs/msg/TFMessage",
)
BASE, MAP = "base_link", "map"
IMU_RAW, TRUTH, TRUE_BIAS, STATIC = "/imu/data_raw", "/truth/odom", "/truth/imu_bias", "/tf_static"
SENSORS = "sensors"
"""Metadata record of bags of this workspace."""
CLOUD = "sensor_msgs/msg/PointCloud2"
_TIMES = {"time", "t", "timestamp", "offset_time"}
DEPTH_ENCODINGS = ("32FC1", "16UC1")
GRAVITY_M_S2 = 9.81
"""Of the simulator and of EuRoC's hall, where a bag states none."""


@dataclass(frozen=True, kw_only=True)
class ImuNoise:
    """Continuous-time noise of an IMU as Kalibr and the settings of VIO systems define it.

    Densities of the readings [rad/s/sqrt(Hz), m/s^2/sqrt(Hz)] and random walks of the biases
    [rad/s^2/sqrt(Hz), m/s^3/sqrt(Hz)].
    """

    gyroscope_noise_density: float
    gyroscope_random_walk: float
    accelerometer_noise_density: float
    accelerometer_random_walk: float


NOISE_KEYS = {
    "gyroscope_noise_density": ("gyroscope", "noise_density_rad_s_sqrt_hz"),
    "gyroscope_random_walk": ("gyroscope", "bias_random_walk_rad_s2_sqrt_hz"),
    "accelerometer_noise_density": ("accelerometer", "noise_density_m_s2_sqrt_hz"),
    "accelerometer_random_walk": ("accelerometer", "bias_random_walk_m_s3_sqrt_hz"),
}
"""Where the record `sensors` has the fields of `ImuNoise`, below `imu`."""


@dataclass(frozen=True, kw_only=True)
class CameraStream:
    """The images of one camera, with its lens and mounting T_base_optical (4, 4).

    `readout_s` is the time from the first to the last row of a rolling shutter.
    """

    name: str
    topic: str
    info_topic: str
    frame_id: str
    encoding: str
    camera: CameraModel
    T_base_optical: np.ndarray
    readout_s: float = 0.0

    @property
    def is_depth(self) -> bool:
        """Whether the images are distances along the optical axis."""
        return self.encoding in DEPTH_ENCODINGS


@dataclass(frozen=True, kw_only=True)
class ImuStream:
    """The readings of an IMU, its mounting T_base_imu (4, 4), and its noise, None if unknown."""

    topic: str
    frame_id: str
    T_base_imu: np.ndarray
    noise: ImuNoise | None


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A bag as the input of a SLAM: what it holds, without the messages.

    `cameras` are in the order of their topics. `truth_topic` has the true odometry of `base_frame`,
    `bias_topic` the true biases of the IMU; None without. `clouds` tells of topics whether
    their points have times. `problems` names what is left out.
    """

    bag: BagReader
    base_frame: str = BASE
    cameras: tuple[CameraStream, ...] = ()
    imu: ImuStream | None = None
    truth_topic: str | None = None
    bias_topic: str | None = None
    gravity_m_s2: float = GRAVITY_M_S2
    clouds: dict[str, bool] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def select(self, names: Sequence[str], *, needs_images: bool = True) -> list[CameraStream]:
        """Return cameras by name and in this order; without names all that show brightness.

        Raises `UserError` if the bag has none, or none of a name.
        """
        by_name = {camera.name: camera for camera in self.cameras}
        known = listed(by_name) or "none"
        for name in names:
            if name not in by_name:
                raise UserError(f"{self.bag.path}: no camera '{name}'; it has {known}")
        found = [by_name[name] for name in names] or [c for c in self.cameras if not c.is_depth]
        if needs_images and not found:
            reasons = "".join(f"; {line}" for line in self.problems)
            raise UserError(f"{self.bag.path}: no images with a CameraInfo{reasons}; record both")
        return found

    def require_imu(self) -> tuple[ImuStream, ImuNoise]:
        """Return the IMU and its noise.

        Raises `UserError` if the bag holds no readings, or nothing states their noise.
        """
        if self.imu is None:
            raise UserError(f"{self.bag.path}: no topic of {IMU}, which this format needs")
        if self.imu.noise is None:
            raise UserError(
                f"{self.bag.path}: the noise of {self.imu.topic} is not recorded in it; state it "
                "with --imu-noise GYRO_DENSITY GYRO_WALK ACCEL_DENSITY ACCEL_WALK"
            )
        return self.imu, self.imu.noise


def read_recording(
    path: Path | str, *, vehicle: str = "", imu_noise: ImuNoise | None = None, imu_topic: str = ""
) -> Recording:
    """Return what a bag holds.

    `vehicle` is the name of one of a fleet, whose topics begin with it. `imu_noise` replaces what
    the bag states; `imu_topic` chooses the IMU where it has several.

    Raises `UserError` if it is no bag, or a mounting is missing.
    """
    bag = BagReader(path)
    space = f"/{vehicle.strip('/')}" if vehicle else ""
    static = [t for t, kind in bag.topics.items() if kind == TRANSFORMS and t.endswith("static")]
    tree = TransformTree(bag.messages(static))
    setup = nested(bag.metadata(f"{vehicle}/{SENSORS}" if vehicle else SENSORS))
    base = f"{vehicle}/{BASE}" if vehicle else BASE
    finder = _Finder(bag, tree, setup, space)
    imu_topic, imu_frame = finder.imu_topic(imu_topic)
    finder.base = base if base in tree.frames or not imu_frame else imu_frame
    cameras = tuple(finder.cameras())
    if finder.base not in tree.frames and not imu_frame and cameras:
        finder.base = cameras[0].frame_id
    truth, bias = space + TRUTH, space + TRUE_BIAS
    return Recording(
        bag=bag,
        base_frame=finder.base,
        cameras=cameras,
        imu=finder.imu(imu_topic, imu_frame, imu_noise) if imu_topic else None,
        truth_topic=truth if bag.topics.get(truth) == ODOMETRY else None,
        bias_topic=bias if bag.topics.get(bias) == IMU else None,
        gravity_m_s2=_gravity(setup),
        clouds=finder.clouds(),
        problems=tuple(finder.problems),
    )


class _Finder:
    """Looks into one bag; `base` is the frame that mountings are relative to."""

    def __init__(
        self, bag: BagReader, tree: TransformTree, setup: dict[str, Any], space: str
    ) -> None:
        self._bag, self._tree, self._setup, self._space = bag, tree, setup, space
        self.base = BASE
        self.problems: list[str] = []

    def cameras(self) -> Iterator[CameraStream]:
        """Yield the cameras of which images and CameraInfo are in the bag."""
        infos = {topic.rpartition("/")[0]: topic for topic in self._topics(CAMERA_INFO)}
        names: set[str] = set()
        for topic in self._topics(IMAGE):
            namespace, _, last = topic.rpartition("/")
            if namespace not in infos:
                self.problems.append(f"{topic} has no CameraInfo beside it")
                continue
            image, info = self._first(topic), self._first(infos[namespace])
            frame = str(image.header.frame_id).lstrip("/")
            name = namespace.removeprefix(self._space).strip("/").replace("/", "_")
            if image.encoding == "32SC1":
                self.problems.append(f"{topic} holds no brightness ({image.encoding})")
                continue
            if name in names:
                name = f"{name}_{last}"
            names.add(name)
            recorded = [
                entry
                for entry in self._setup.get("cameras", {}).values()
                if isinstance(entry, dict) and entry.get("frame_id") == frame
            ]
            yield CameraStream(
                name=name,
                topic=topic,
                info_topic=infos[namespace],
                frame_id=frame,
                encoding=str(image.encoding),
                camera=self._lens(infos[namespace], info),
                T_base_optical=self._mounting(frame, topic),
                readout_s=float(recorded[0].get("readout_s", 0.0)) if recorded else 0.0,
            )

    def clouds(self) -> dict[str, bool]:
        """Return the topics of scans, and whether their points have times."""
        fields = {
            topic: {field.name for field in self._first(topic).fields}
            for topic in self._topics(CLOUD)
            if "/slam/" not in topic
        }
        return {topic: bool(names & _TIMES) for topic, names in fields.items()}

    def imu_topic(self, requested: str) -> tuple[str, str]:
        """Return topic and frame of the only IMU that is not truth, or of the requested one."""
        topics = [t for t in self._topics(IMU) if not t.startswith(f"{self._space}/truth/")]
        if requested and requested not in topics:
            raise UserError(
                f"{self._bag.path}: no topic {requested} of {IMU}; there are "
                f"{listed(topics) or 'none'}"
            )
        recorded = self._setup.get("imu", {}).get("topic", "")
        chosen = [topic for topic in (requested, recorded) if topic in topics] or topics
        if len(chosen) > 1 and not (requested or recorded in topics):
            raise UserError(
                f"{self._bag.path}: IMUs on {listed(topics)}; choose with --imu-topic, or in a "
                "fleet with --vehicle"
            )
        if not chosen:
            return "", ""
        return chosen[0], str(self._first(chosen[0]).header.frame_id).lstrip("/")

    def imu(self, topic: str, frame: str, noise: ImuNoise | None) -> ImuStream:
        """Return the IMU of a topic."""
        recorded = self._setup.get("imu", {})
        if noise is None and recorded.get("topic") == topic:
            noise = noise_of(self._setup)
        return ImuStream(
            topic=topic, frame_id=frame, T_base_imu=self._mounting(frame, topic), noise=noise
        )

    def _topics(self, kind: str) -> list[str]:
        return [
            topic
            for topic, of_topic in sorted(self._bag.topics.items())
            if of_topic == kind
            and self._bag.counts.get(topic)
            and topic.startswith(f"{self._space}/")
        ]

    def _lens(self, topic: str, info: Any) -> CameraModel:
        try:
            return raw_camera_from_info(info)
        except ValueError as error:
            raise UserError(f"{self._bag.path}: topic {topic}: {error}") from None

    def _first(self, topic: str) -> Any:
        for _, _, message in self._bag.messages([topic]):
            return message
        raise UserError(f"{self._bag.path}: topic {topic}: no message of it can be read")

    def _mounting(self, frame: str, topic: str) -> np.ndarray:
        """Return T_base_frame; a frame nothing is said of is refused."""
        if frame == self.base:
            return np.eye(4)
        T_base_frame = self._tree.fixed_transform(self.base, frame)
        if T_base_frame is None:
            raise UserError(
                f"{self._bag.path}: no static transforms connect {frame} of {topic} to "
                f"{self.base}; record {STATIC}"
            )
        return T_base_frame


def nested(flat: dict[str, str]) -> dict[str, Any]:
    """Return the levels of a record whose names join them by dots; JSON texts become values.

    >>> nested({"imu.rate_hz": "250.0", "imu.frame_id": "imu_link"})
    {'imu': {'rate_hz': 250.0, 'frame_id': 'imu_link'}}
    """
    found: dict[str, Any] = {}
    for name, text in flat.items():
        *levels, last = name.split(".")
        at = found
        for level in levels:
            below = at.setdefault(level, {})
            if not isinstance(below, dict):
                break
            at = below
        try:
            at[last] = json.loads(text)
        except ValueError:
            at[last] = text
    return found


def noise_of(setup: dict[str, Any]) -> ImuNoise | None:
    """Return the noise in a record `sensors`, None if it is not stated in full."""
    imu = setup.get("imu", {})
    try:
        return ImuNoise(**{f: float(imu[t][key]) for f, (t, key) in NOISE_KEYS.items()})
    except (KeyError, TypeError, ValueError):
        return None


def with_noise(
    texts: dict[str, str], topic: str, frame_id: str, noise: ImuNoise | None, gravity_m_s2: float
) -> dict[str, str]:
    """Return a record `sensors` that states the noise of an IMU; one that does is not changed."""
    setup = nested(texts)
    if noise is None or (noise_of(setup) == noise and setup["imu"].get("topic") == topic):
        return texts
    stated = {
        f"imu.{triad}.{key}": json.dumps(getattr(noise, name))
        for name, (triad, key) in NOISE_KEYS.items()
    }
    gravity = {"gravity_map_m_s2": json.dumps([0.0, 0.0, -gravity_m_s2])}
    return gravity | texts | {"imu.topic": topic, "imu.frame_id": frame_id} | stated


def _gravity(setup: dict[str, Any]) -> float:
    try:
        found = float(np.linalg.norm(np.asarray(setup["gravity_map_m_s2"], dtype=np.float64)))
    except (KeyError, TypeError, ValueError):
        return GRAVITY_M_S2
    return found if np.isfinite(found) and found > 0.0 else GRAVITY_M_S2


class InOrder:
    """Messages of topics by stamp of their header; those that do not follow the last are left out.

    Iterate once over (topic, stamp_ns, message); `n_left_out` counts by topic, `stamps` has the
    stamps of the others.
    """

    def __init__(self, bag: BagReader, topics: Sequence[str]) -> None:
        self._bag, self._topics = bag, topics
        self.n_left_out = dict.fromkeys(topics, 0)
        self.stamps: dict[str, list[int]] = {topic: [] for topic in topics}

    def __iter__(self) -> Iterator[tuple[str, int, Any]]:
        for topic, _, message in self._bag.messages(self._topics):
            stamp, before = stamp_ns(message), self.stamps[topic]
            if before and stamp <= before[-1]:
                self.n_left_out[topic] += 1
                continue
            before.append(stamp)
            yield topic, stamp, message

    @property
    def problems(self) -> list[str]:
        """One line for each topic of which messages were left out."""
        return [
            f"{topic}: {n} messages do not follow the one before them in time; left out"
            for topic, n in self.n_left_out.items()
            if n
        ]

    def rate_hz(self, topic: str) -> float:
        """Return messages per second from the median of their distances, to 0.01 Hz; 0 of one."""
        stamps = self.stamps[topic]
        return round(1e9 / float(np.median(np.diff(stamps))), 2) if len(stamps) > 1 else 0.0
