# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Readings of cameras, lidar, radar and extra sensors as arrays, for a controller."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.messages import stamp_ns
from aerotwin_core.point_clouds import point_cloud_arrays

_PIXELS: dict[str, tuple[type, tuple[int, ...]]] = {
    "mono8": (np.uint8, ()),
    "rgb8": (np.uint8, (3,)),
    "bgr8": (np.uint8, (3,)),
    "32FC1": (np.float32, ()),
    "32SC1": (np.int32, ()),
}
"""Type and channels of the encodings that `image_message` writes."""


@dataclass(frozen=True, slots=True, eq=False)
class CameraReading:
    """An image of a camera.

    `image` is (h, w) of grey, of depth along the axis [m] or of ids, or (h, w, 3) of colours in the
    order of `encoding`; its lens is that of sensor_msgs/CameraInfo.
    """

    topic: str  # relative to the vehicle
    stamp_ns: int  # middle of the exposure
    camera: str  # name
    encoding: str  # mono8, rgb8, bgr8, 32FC1 or 32SC1
    image: np.ndarray
    camera_matrix: np.ndarray  # K (3, 3) [px]
    distortion_model: str
    distortion: np.ndarray  # D
    T_body_optical: np.ndarray  # (4, 4)


@dataclass(frozen=True, slots=True, eq=False)
class CloudReading:
    """A turn of a lidar, or the targets of a radar."""

    topic: str
    stamp_ns: int  # begin of the turn
    points_sensor: np.ndarray  # (n, 3) in the sensor's frame, without beams that met nothing [m]
    fields: Mapping[str, np.ndarray]  # the others of the cloud: intensity, time, ..., each (n,)
    T_body_sensor: np.ndarray  # (4, 4)


@dataclass(frozen=True, slots=True, eq=False)
class FieldsReading:
    """A sample of an extra sensor: the fields of its message."""

    topic: str
    stamp_ns: int
    fields: Mapping[str, Any]


SensorReading = CameraReading | CloudReading | FieldsReading


def camera_reading(
    topic: str, message: Any, info: Any, camera: str, T_body_optical: np.ndarray
) -> CameraReading:
    """Return the reading of an image of `image_message`, with the CameraInfo of its camera."""
    kind, channels = _PIXELS[message.encoding]
    pixels = np.array(message.data).view(kind)  # a copy: aligned
    return CameraReading(
        topic=topic,
        stamp_ns=stamp_ns(message),
        camera=camera,
        encoding=message.encoding,
        image=_fixed(pixels.reshape(message.height, message.width, *channels)),
        camera_matrix=_fixed(np.array(info.k).reshape(3, 3)),
        distortion_model=info.distortion_model,
        distortion=_fixed(np.array(info.d)),
        T_body_optical=T_body_optical,
    )


def cloud_reading(topic: str, message: Any, T_body_sensor: np.ndarray) -> CloudReading:
    """Return the reading of a PointCloud2 of `cloud_message`, its float fields by name."""
    columns = point_cloud_arrays(message)
    points = np.column_stack([columns.pop(axis) for axis in "xyz"]).astype(np.float64)
    is_hit = np.isfinite(points).all(axis=1)
    return CloudReading(
        topic=topic,
        stamp_ns=stamp_ns(message),
        points_sensor=_fixed(points[is_hit]),
        fields={name: _fixed(values[is_hit]) for name, values in columns.items()},
        T_body_sensor=T_body_sensor,
    )


def _fixed(values: np.ndarray) -> np.ndarray:
    """Return an array that cannot be written to."""
    values.setflags(write=False)
    return values
