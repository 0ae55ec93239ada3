# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Finds what a bag holds for a SLAM.

Calibration comes from CameraInfo, static transforms and the metadata record `sensors` of bags that
this workspace recorded. For other bags the noise of the IMU must be named.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.bag.metadata import nested
from aerotwin_core.bag.transforms import TransformTree
from aerotwin_core.camera import CameraModel
from aerotwin_core.camera_messages import picture_from_compressed, raw_camera_from_info
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed
from aerotwin_core.point_clouds import TIME_FIELDS
from aerotwin_datasets.recording import (
    BASE,
    CAMERA_INFO,
    CLOUD,
    COMPRESSED,
    COMPRESSED_SUFFIX,
    GRAVITY_M_S2,
    IMAGE,
    IMU,
    ODOMETRY,
    SENSORS,
    STATIC,
    TRANSFORMS,
    TRUE_BIAS,
    TRUTH,
    CameraStream,
    ImuNoise,
    ImuStream,
    Recording,
    noise_of,
)


def read_recording(
    path: Path | str,
    *,
    vehicle: str = "",
    imu_noise: ImuNoise | None = None,
    imu_topic: str = "",
    start_s: float = 0.0,
    duration_s: float = 0.0,
) -> Recording:
    """Return what a bag holds.

    `vehicle` is the name of one of a fleet, whose topics begin with it. `imu_noise` replaces what
    the bag states; `imu_topic` chooses the IMU where it has several. What was recorded in the first
    `start_s` is left out, and after `duration_s` from there (0 = nothing).

    Raises `UserError` if it is no bag, a mounting is missing, or the part begins after its end.
    """
    bag = BagReader(path)
    span_ns = _span(bag, start_s, duration_s)
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
        T_base_lidar=finder.lidar_pose(),
        problems=tuple(finder.problems),
        span_ns=span_ns,
    )


def _span(bag: BagReader, start_s: float, duration_s: float) -> tuple[int, int] | None:
    if start_s <= 0.0 and duration_s <= 0.0:
        return None
    length_s = (bag.end_ns - bag.start_ns) * 1e-9
    if start_s >= length_s:
        raise UserError(f"{bag.path}: is {length_s:.1f} s long, and is to begin at {start_s:g} s")
    first = bag.start_ns + round(start_s * 1e9)
    return first, first + round(duration_s * 1e9) if duration_s > 0.0 else bag.end_ns


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
        for topic in self._image_topics():
            namespace, _, last = topic.removesuffix(COMPRESSED_SUFFIX).rpartition("/")
            if namespace not in infos:
                self.problems.append(f"{topic} has no CameraInfo beside it")
                continue
            image, info = self._first(topic), self._first(infos[namespace])
            frame = str(image.header.frame_id).lstrip("/")
            name = namespace.removeprefix(self._space).strip("/").replace("/", "_")
            encoding = self._encoding(topic, image)
            if encoding == "32SC1":
                self.problems.append(f"{topic} holds no brightness ({encoding})")
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
                encoding=encoding,
                camera=self._lens(infos[namespace], info),
                T_base_optical=self._mounting(frame, topic),
                readout_s=float(recorded[0].get("readout_s", 0.0)) if recorded else 0.0,
            )

    def _image_topics(self) -> list[str]:
        """Return the topics of images; of one that is also compressed the raw one."""
        raw = self._topics(IMAGE)
        return raw + [
            topic
            for topic in self._topics(COMPRESSED)
            if topic.endswith(COMPRESSED_SUFFIX)
            and topic.removesuffix(COMPRESSED_SUFFIX) not in raw
        ]

    def _encoding(self, topic: str, image: Any) -> str:
        if not hasattr(image, "format"):
            return str(image.encoding)
        try:
            return picture_from_compressed(image)[1]
        except ValueError as error:
            raise UserError(f"{self._bag.path}: topic {topic}: {error}") from None

    def clouds(self) -> dict[str, str]:
        """Return the topics of scans, and the field with the times of their points, or ""."""
        fields = {
            topic: {field.name for field in self._first(topic).fields}
            for topic in self._topics(CLOUD)
            if "/slam/" not in topic
        }
        return {
            topic: next((name for name in TIME_FIELDS if name in names), "")
            for topic, names in fields.items()
        }

    def lidar_pose(self) -> np.ndarray | None:
        """Return T_base_lidar of the first scans whose frame static transforms place."""
        frames = [str(self._first(topic).header.frame_id).lstrip("/") for topic in self.clouds()]
        poses = (self._tree.fixed_transform(self.base, frame) for frame in frames)
        return next((pose for pose in poses if pose is not None), None)

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


def _gravity(setup: dict[str, Any]) -> float:
    try:
        found = float(np.linalg.norm(np.asarray(setup["gravity_map_m_s2"], dtype=np.float64)))
    except (KeyError, TypeError, ValueError):
        return GRAVITY_M_S2
    return found if np.isfinite(found) and found > 0.0 else GRAVITY_M_S2
