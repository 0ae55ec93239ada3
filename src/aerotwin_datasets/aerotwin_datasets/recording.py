# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a bag holds for a SLAM: cameras, IMU and truth, with their calibration."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.bag.metadata import nested
from aerotwin_core.bag.storage import RawMessage
from aerotwin_core.camera import CameraModel
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed
from aerotwin_core.messages import stamp_ns

COMPRESSED, COMPRESSED_SUFFIX = "sensor_msgs/msg/CompressedImage", "/compressed"
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
    def raw_topic(self) -> str:
        """The topic of the images without the suffix of compressed ones."""
        return self.topic.removesuffix(COMPRESSED_SUFFIX)

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
    `bias_topic` the true biases of the IMU; None without. `clouds` are topics of scans with
    the field of their points' times or "", `T_base_lidar` where the first lidar is, None if nothing
    says so. `problems` names what is left out. `span_ns` is the first and last stamp of the part
    that is taken, on the clock of the recorder; None = all of it.
    """

    bag: BagReader
    base_frame: str = BASE
    cameras: tuple[CameraStream, ...] = ()
    imu: ImuStream | None = None
    truth_topic: str | None = None
    bias_topic: str | None = None
    gravity_m_s2: float = GRAVITY_M_S2
    clouds: dict[str, str] = field(default_factory=dict)
    T_base_lidar: np.ndarray | None = None
    problems: tuple[str, ...] = ()
    span_ns: tuple[int, int] | None = None

    def raw(self, topics: Collection[str]) -> Iterator[RawMessage]:
        """Yield the serialised messages of the part; static transforms however old they are."""
        for entry in self.bag.raw(topics):
            if self._is_inside(entry[0], entry[1]):
                yield entry

    def messages(self, topics: Collection[str]) -> Iterator[tuple[str, int, Any]]:
        """Yield the messages of the part: topic, recorder's stamp [ns], message."""
        for entry in self.bag.messages(topics):
            if self._is_inside(entry[0], entry[1]):
                yield entry

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Messages of the part by topic."""
        if self.span_ns is None:
            return self.bag.counts
        return Counter(topic for topic, _, _ in self.raw(list(self.bag.topics)))

    @property
    def duration_s(self) -> float:
        """Length of the part."""
        first, last = self.span_ns or (self.bag.start_ns, self.bag.end_ns)
        return (min(last, self.bag.end_ns) - first) * 1e-9

    def rate_hz(self, topic: str) -> float:
        """Return messages per second, to a hundredth."""
        n, duration_s = self.counts[topic], self.duration_s
        return round((n - 1) / duration_s, 2) if duration_s > 0.0 else 0.0

    def _is_inside(self, topic: str, stamp: int) -> bool:
        if self.span_ns is None or topic.endswith("static"):
            return True
        return self.span_ns[0] <= stamp <= self.span_ns[1]

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


class InOrder:
    """Messages of topics by stamp of their header; those that do not follow the last are left out.

    Iterate once over (topic, stamp_ns, message); `n_left_out` counts by topic, `stamps` has the
    stamps of the others.
    """

    def __init__(self, recording: Recording, topics: Sequence[str]) -> None:
        self._recording, self._topics = recording, topics
        self.n_left_out = dict.fromkeys(topics, 0)
        self.stamps: dict[str, list[int]] = {topic: [] for topic in topics}

    def __iter__(self) -> Iterator[tuple[str, int, Any]]:
        for topic, _, message in self._recording.messages(self._topics):
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
