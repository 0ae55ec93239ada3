# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags of data sets: streams of stamped messages, merged by time."""

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.cli import progress
from aerotwin_core.errors import UserError
from aerotwin_core.frames import invert_transform, pose_from_transform, transform_from_pose
from aerotwin_core.messages import (
    TYPESTORE,
    header,
    odometry_message,
    serialize,
    transform_message,
    transform_stamped,
)
from aerotwin_datasets.images import image_cdr, read_pictures
from aerotwin_datasets.recording import (
    BASE,
    CAMERA_INFO,
    IMAGE,
    IMU,
    MAP,
    ODOMETRY,
    SENSORS,
    STATIC,
    TRANSFORMS,
    TRUE_BIAS,
    TRUTH,
    ImuNoise,
    with_noise,
)

Stream = Iterator[tuple[int, str, bytes]]
"""(stamp_ns, topic, CDR bytes)."""
Readings = Callable[[], Iterable[tuple[int, int, list[float]]]]
"""Yields line number, stamp [ns] and the numbers of a table."""
_UNKNOWN = -1.0
"""As a variance: not stated."""
_NOT_MEASURED = [-1.0, *[0.0] * 8]
_T = TYPESTORE.types


@dataclass(frozen=True, kw_only=True)
class DatasetCamera:
    """Images of a data set, and what their messages state.

    `pictures` are (stamp_ns, file); `K`, `D`, `R`, `P` those of CameraInfo; an empty
    `encoding` is that of the files. Of depth images, `per_metre` is how many steps a metre has.
    """

    topic: str
    info_topic: str
    frame_id: str
    encoding: str
    pictures: list[tuple[int, Path]]
    width: int
    height: int
    model: str
    D: list[float]
    K: np.ndarray
    R: np.ndarray
    P: np.ndarray
    per_metre: float = 0.0


@dataclass(frozen=True, kw_only=True)
class DatasetImu:
    """Readings of a data set: angular velocity, specific force; covariances of the messages."""

    topic: str
    frame_id: str
    readings: Readings
    noise: ImuNoise | None
    orientation_covariance: list[float] = field(default_factory=lambda: list(_NOT_MEASURED))
    angular_velocity_covariance: list[float] = field(default_factory=lambda: [0.0] * 9)
    linear_acceleration_covariance: list[float] = field(default_factory=lambda: [0.0] * 9)


@dataclass(frozen=True, kw_only=True)
class DatasetTruth:
    """True states: position, quaternion w x y z, and if there are 16 columns velocity and biases.

    `T_base_sensor` is the mounting of what the poses are of. At a distance from the base, its
    velocity says nothing of the base's.
    """

    states: Readings
    T_base_sensor: np.ndarray = field(default_factory=lambda: np.eye(4))


@dataclass(kw_only=True)
class Dataset:
    """A data set, opened.

    `mountings` are (frame, T_base_frame). `others` holds all other topics of an exported
    recording: then mountings, calibration and truth come from there.
    """

    cameras: list[DatasetCamera] = field(default_factory=list)
    imu: DatasetImu | None = None
    truth: DatasetTruth | None = None
    mountings: list[tuple[str, np.ndarray]] = field(default_factory=list)
    gravity_m_s2: float = 9.81
    others: BagReader | None = None
    problems: list[str] = field(default_factory=list)


def make_bag(dataset: Dataset, bag: BagWriter) -> dict[str, int]:
    """Write the messages of a data set; return their counts by topic.

    Raises `UserError` at a table or an image that is invalid.
    """
    streams: list[Stream] = [_images(camera, bag) for camera in dataset.cameras]
    if dataset.imu is not None:
        bag.add_topic(dataset.imu.topic, IMU)
        streams.append(_imu(dataset.imu))
    texts = _sensors(dataset)
    if texts:
        bag.add_metadata(SENSORS, texts)
    if dataset.others is not None:
        streams.append(_others(dataset.others, bag))
    else:
        streams += _made(dataset, bag)
    counts: dict[str, int] = {}
    total = sum(len(camera.pictures) for camera in dataset.cameras)
    image_topics = {camera.topic for camera in dataset.cameras}
    with progress(total, "writing the bag", unit="image") as bar:
        for stamp, topic, cdr in heapq.merge(*streams, key=lambda entry: entry[0]):
            bag.write(topic, stamp, cdr)
            counts[topic] = counts.get(topic, 0) + 1
            if topic in image_topics:
                bar.update(1)
    return counts


def _images(camera: DatasetCamera, bag: BagWriter) -> Stream:
    bag.add_topic(camera.topic, IMAGE)
    return _pictures(camera)


def _pictures(camera: DatasetCamera) -> Stream:
    first: tuple[str, Path] | None = None
    for stamp, path, pixels in read_pictures(camera.pictures, (camera.width, camera.height)):
        kind = f"{1 if pixels.ndim == 2 else pixels.shape[2]} x {pixels.dtype} per pixel"
        first = first or (kind, path)
        if kind != first[0]:
            raise UserError(
                f"{path}: expected {first[0]} as in {first[1].name}, found {kind}; all images of a "
                "camera must be of one kind: convert those that differ"
            )
        if camera.per_metre:
            if pixels.dtype != np.uint16 or pixels.ndim != 2:
                n_channels = pixels.size // (camera.width * camera.height)
                raise UserError(
                    f"{path}: expected depth as a PNG of one channel of 16 bits, found "
                    f"{n_channels} x {pixels.dtype} per pixel"
                )
            pixels = depth_of_steps(pixels, camera.per_metre, camera.encoding)
        try:
            cdr = image_cdr(stamp, camera.frame_id, pixels, camera.encoding)
        except ValueError as error:
            raise UserError(f"{path}: {error}") from None
        yield stamp, camera.topic, cdr


def depth_of_steps(steps: np.ndarray, per_metre: float, encoding: str) -> np.ndarray:
    """Return depth in metres (32FC1, NaN where it is unknown) or millimetres (16UC1)."""
    if encoding == "16UC1":
        return (steps // max(round(per_metre / 1000.0), 1)).astype(np.uint16)
    return np.where(steps > 0, steps / per_metre, np.nan).astype(np.float32)


def _imu(imu: DatasetImu) -> Stream:
    vector, quaternion = _T["geometry_msgs/msg/Vector3"], _T["geometry_msgs/msg/Quaternion"]
    orientation, rate_covariance, force_covariance = (
        np.array(values, dtype=np.float64)
        for values in (
            imu.orientation_covariance,
            imu.angular_velocity_covariance,
            imu.linear_acceleration_covariance,
        )
    )
    for _, stamp, (wx, wy, wz, ax, ay, az) in imu.readings():
        message = _T["sensor_msgs/msg/Imu"](
            header=header(stamp, imu.frame_id),
            orientation=quaternion(x=0.0, y=0.0, z=0.0, w=1.0),
            orientation_covariance=orientation,
            angular_velocity=vector(x=wx, y=wy, z=wz),
            angular_velocity_covariance=rate_covariance,
            linear_acceleration=vector(x=ax, y=ay, z=az),
            linear_acceleration_covariance=force_covariance,
        )
        yield stamp, imu.topic, serialize(message)


def _others(source: BagReader, bag: BagWriter) -> Stream:
    for topic, kind in source.topics.items():
        try:
            bag.add_topic(topic, kind, latched=topic.endswith("static"))
        except KeyError:
            raise UserError(f"{source.path}: topic {topic}: {kind} is no standard type") from None
        except ValueError as error:
            raise UserError(f"{source.path}: {error}; export the recording again") from None
    return ((stamp, topic, cdr) for topic, stamp, cdr in source.raw())


def _made(dataset: Dataset, bag: BagWriter) -> list[Stream]:
    """Return the streams that a recording has beside images and readings."""
    streams: list[Stream] = []
    firsts = [camera.pictures[0][0] for camera in dataset.cameras if camera.pictures]
    if dataset.imu is not None:
        firsts += [stamp for _, stamp, _ in _first_of(dataset.imu.readings())]
    if dataset.mountings and firsts:
        first = min(firsts)
        bag.add_topic(STATIC, TRANSFORMS, latched=True)
        fixed = [
            transform_stamped(first, BASE, frame, *pose_from_transform(T))
            for frame, T in dataset.mountings
        ]
        streams.append(iter([(first, STATIC, serialize(transform_message(fixed)))]))
    for camera in dataset.cameras:
        bag.add_topic(camera.info_topic, CAMERA_INFO)
        streams.append(_infos(camera))
    if dataset.truth is not None:
        bag.add_topic(TRUTH, ODOMETRY)
        streams.append(_truth(dataset.truth))
        if any(len(row) == 16 for _, _, row in _first_of(dataset.truth.states())):
            bag.add_topic(TRUE_BIAS, IMU)
            streams.append(_biases(dataset.truth, dataset.imu.frame_id if dataset.imu else BASE))
    return streams


def _first_of(table: Iterable[Any]) -> list[Any]:
    return [row for row, _ in zip(table, range(1), strict=False)]


def _infos(camera: DatasetCamera) -> Stream:
    region = _T["sensor_msgs/msg/RegionOfInterest"](
        x_offset=0, y_offset=0, height=0, width=0, do_rectify=False
    )
    for stamp, _ in camera.pictures:
        message = _T["sensor_msgs/msg/CameraInfo"](
            header=header(stamp, camera.frame_id),
            height=camera.height,
            width=camera.width,
            distortion_model=camera.model,
            d=np.array(camera.D, dtype=np.float64),
            k=camera.K.ravel(),
            r=camera.R.ravel(),
            p=camera.P.ravel(),
            binning_x=0,
            binning_y=0,
            roi=region,
        )
        yield stamp, camera.info_topic, serialize(message)


def _truth(truth: DatasetTruth) -> Stream:
    """Yield odometry of the body; the format states no angular velocity, its variance says so."""
    T_sensor_base = invert_transform(truth.T_base_sensor)
    is_base = np.array_equal(T_sensor_base, np.eye(4))
    is_there = not T_sensor_base[:3, 3].any()
    unknown = [_UNKNOWN] * 3
    for _, stamp, row in truth.states():
        p, (w, x, y, z) = np.array(row[:3]), row[3:7]
        q = np.array([x, y, z, w])
        T_map_base = transform_from_pose(p, q / np.linalg.norm(q)) @ T_sensor_base
        if not is_base:
            p, q = pose_from_transform(T_map_base)
        has_velocity = len(row) == 16 and is_there
        v_in_base = T_map_base[:3, :3].T @ row[7:10] if has_velocity else np.zeros(3)
        variances = [0.0] * 3 if has_velocity else unknown
        message = odometry_message(
            stamp, MAP, f"{BASE}_truth", p, q, v_in_base, np.zeros(3),
            twist_variances=[*variances, *unknown],
        )  # fmt: skip
        yield stamp, TRUTH, serialize(message)


def _biases(truth: DatasetTruth, frame_id: str) -> Stream:
    vector, quaternion = _T["geometry_msgs/msg/Vector3"], _T["geometry_msgs/msg/Quaternion"]
    for _, stamp, row in truth.states():
        if len(row) < 16 or not np.isfinite(row[10:]).all():
            continue
        gx, gy, gz, ax, ay, az = row[10:]
        message = _T["sensor_msgs/msg/Imu"](
            header=header(stamp, frame_id),
            orientation=quaternion(x=0.0, y=0.0, z=0.0, w=1.0),
            orientation_covariance=np.array(_NOT_MEASURED),
            angular_velocity=vector(x=gx, y=gy, z=gz),
            angular_velocity_covariance=np.zeros(9),
            linear_acceleration=vector(x=ax, y=ay, z=az),
            linear_acceleration_covariance=np.zeros(9),
        )
        yield stamp, TRUE_BIAS, serialize(message)


def _sensors(dataset: Dataset) -> dict[str, str]:
    """Return the metadata record: that of the recording, with the noise that the sheets state."""
    texts = {} if dataset.others is None else dataset.others.metadata(SENSORS)
    imu = dataset.imu
    if imu is None:
        return texts
    return with_noise(texts, imu.topic, imu.frame_id, imu.noise, dataset.gravity_m_s2)
