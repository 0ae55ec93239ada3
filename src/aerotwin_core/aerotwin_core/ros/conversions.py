# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""rclpy messages <-> arrays; pure functions, both directions."""

import sys
from array import array
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, Quaternion, Transform, Vector3
from sensor_msgs.msg import CompressedImage, Image, PointCloud2, PointField

from aerotwin_core.camera_messages import array_from_image as array_from_image
from aerotwin_core.camera_messages import camera_from_info as camera_from_info
from aerotwin_core.camera_messages import picture_from_compressed
from aerotwin_core.camera_messages import raw_camera_from_info as raw_camera_from_info
from aerotwin_core.frames import FloatArray, pose_from_transform, transform_from_pose
from aerotwin_core.time import NANOSECONDS_PER_SECOND


def stamp_from_ns(stamp_ns: int) -> Time:
    """Return builtin_interfaces/Time of nanoseconds."""
    sec, nanosec = divmod(int(stamp_ns), NANOSECONDS_PER_SECOND)
    return Time(sec=sec, nanosec=nanosec)


def ns_from_stamp(time: Time) -> int:
    """Return nanoseconds of builtin_interfaces/Time; `ValueError` for a second or more of them."""
    if time.nanosec >= NANOSECONDS_PER_SECOND:
        raise ValueError(f"stamp: nanosec must be below 1000000000, got {time.nanosec}")
    return int(time.sec) * NANOSECONDS_PER_SECOND + int(time.nanosec)


def fill(data: np.ndarray) -> array:
    """Return the bytes of a contiguous array as the fast setter of a uint8[] field requires them.

    Assigning an ndarray itself would cost 120 ms for a megabyte.
    """
    buffer = array("B")
    if data.size:
        buffer.frombytes(np.ascontiguousarray(data).data.cast("B"))
    return buffer


def image_from_array(image: np.ndarray, stamp_ns: int, frame_id: str) -> Image:
    """Return a mono8 image message of (h, w) uint8."""
    height, width = image.shape
    message = Image(height=height, width=width, encoding="mono8", step=width, data=fill(image))
    message.header.stamp = stamp_from_ns(stamp_ns)
    message.header.frame_id = frame_id
    return message


def image_from_compressed(message: CompressedImage) -> Image:
    """Return a jpeg or png picture as an image message, with the same header.

    Raises `ValueError` if it cannot be decoded.
    """
    pixels, encoding = picture_from_compressed(message)
    height, width = pixels.shape[:2]
    step = pixels.size // height * pixels.itemsize
    return Image(
        header=message.header, height=height, width=width, encoding=encoding, step=step,
        is_bigendian=int(sys.byteorder == "big"), data=fill(pixels),
    )  # fmt: skip


def transform_from_message(transform: Transform) -> FloatArray:
    """Return the 4x4 matrix of geometry_msgs/Transform."""
    p, q = transform.translation, transform.rotation
    return transform_from_pose([p.x, p.y, p.z], [q.x, q.y, q.z, q.w])


def message_from_transform(T_a_b: FloatArray) -> Transform:
    """Return geometry_msgs/Transform of a 4x4 matrix."""
    p, q = (values.tolist() for values in pose_from_transform(T_a_b))
    return Transform(
        translation=Vector3(x=p[0], y=p[1], z=p[2]),
        rotation=Quaternion(x=q[0], y=q[1], z=q[2], w=q[3]),
    )


def pose_message(T_a_b: FloatArray) -> Pose:
    """Return geometry_msgs/Pose of a 4x4 matrix."""
    p, q = (values.tolist() for values in pose_from_transform(T_a_b))
    return Pose(
        position=Point(x=p[0], y=p[1], z=p[2]),
        orientation=Quaternion(x=q[0], y=q[1], z=q[2], w=q[3]),
    )


def transform_from_pose_message(pose: Pose) -> FloatArray:
    """Return the 4x4 matrix of geometry_msgs/Pose."""
    p, q = pose.position, pose.orientation
    return transform_from_pose([p.x, p.y, p.z], [q.x, q.y, q.z, q.w])


def cloud_from_points(
    points: np.ndarray, stamp_ns: int, frame_id: str, intensity: np.ndarray | None = None
) -> PointCloud2:
    """Return a PointCloud2 with float32 x y z [m] (and intensity)."""
    columns: list[Any] = [np.asarray(points, dtype=np.float32).reshape(-1, 3)]
    names = ["x", "y", "z"]
    if intensity is not None:
        columns.append(np.asarray(intensity, dtype=np.float32)[:, None])
        names.append("intensity")
    data = np.hstack(columns)
    step = 4 * len(names)
    message = PointCloud2(
        height=1,
        width=len(data),
        point_step=step,
        row_step=step * len(data),
        is_dense=True,
        data=fill(data),
        fields=[
            PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
            for i, name in enumerate(names)
        ],
    )
    message.header.stamp = stamp_from_ns(stamp_ns)
    message.header.frame_id = frame_id
    return message
