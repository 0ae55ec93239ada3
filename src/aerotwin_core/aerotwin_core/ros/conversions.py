# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""rclpy messages <-> arrays; pure functions, both directions."""

from array import array
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, Quaternion, Transform, Vector3
from sensor_msgs.msg import CameraInfo, Image, PointCloud2, PointField

from aerotwin_core.camera import BrownCamera, CameraModel, FisheyeCamera, PinholeCamera
from aerotwin_core.frames import FloatArray, pose_from_transform, transform_from_pose
from aerotwin_core.luma import LUMA_REC601
from aerotwin_core.messages import point_cloud_arrays
from aerotwin_core.time import NANOSECONDS_PER_SECOND


def stamp_from_ns(stamp_ns: int) -> Time:
    """Return builtin_interfaces/Time of nanoseconds."""
    sec, nanosec = divmod(int(stamp_ns), NANOSECONDS_PER_SECOND)
    return Time(sec=sec, nanosec=nanosec)


def ns_from_stamp(time: Time) -> int:
    """Return nanoseconds of builtin_interfaces/Time."""
    return int(time.sec) * NANOSECONDS_PER_SECOND + int(time.nanosec)


def fill(data: np.ndarray) -> array:
    """Return the bytes of a contiguous array as the fast setter of a uint8[] field wants them.

    Assigning an ndarray itself would cost 120 ms for a megabyte.
    """
    buffer = array("B")
    if data.size:
        buffer.frombytes(np.ascontiguousarray(data).data.cast("B"))
    return buffer


def array_from_image(message: Image) -> np.ndarray:
    """Return (h, w) uint8 of a mono8 image, or the grey values of rgb8 and bgr8 (BT.601).

    Raises
    ------
    ValueError
        If the encoding is another or the data is too short.
    """
    channels = {"mono8": 1, "8UC1": 1, "rgb8": 3, "bgr8": 3}.get(message.encoding)
    if channels is None:
        raise ValueError(f"image encoding must be mono8, rgb8 or bgr8, got '{message.encoding}'")
    height, width, step = message.height, message.width, message.step
    if step < width * channels or len(message.data) < step * height:
        raise ValueError(
            f"image of {width}x{height} {message.encoding} needs {width * channels * height} bytes,"
            f" got {len(message.data)} with step {step}"
        )
    data = np.frombuffer(message.data, dtype=np.uint8)[: step * height].reshape(height, step)
    data = data[:, : width * channels]
    if channels == 1:
        return data
    weights = LUMA_REC601[::-1] if message.encoding == "bgr8" else LUMA_REC601
    return (data.reshape(height, width, 3) @ weights + 0.5).astype(np.uint8)


def image_from_array(image: np.ndarray, stamp_ns: int, frame_id: str) -> Image:
    """Return a mono8 image message of (h, w) uint8."""
    height, width = image.shape
    message = Image(height=height, width=width, encoding="mono8", step=width, data=fill(image))
    message.header.stamp = stamp_from_ns(stamp_ns)
    message.header.frame_id = frame_id
    return message


def camera_from_info(message: CameraInfo) -> tuple[PinholeCamera, float]:
    """Return the camera of the rectified images and its baseline [m] to the left camera.

    The baseline is 0 for the left one. `raw_camera_from_info` returns what took the raw images.

    Raises
    ------
    ValueError
        If the projection matrix is empty (an uncalibrated camera).
    """
    p = [float(value) for value in message.p]
    if p[0] <= 0.0 or p[5] <= 0.0:
        raise ValueError("camera_info has no projection matrix; calibrate the camera")
    camera = PinholeCamera(
        width=int(message.width), height=int(message.height), fx=p[0], fy=p[5], cx=p[2], cy=p[6]
    )
    return camera, -p[3] / p[0]


def raw_camera_from_info(message: CameraInfo) -> CameraModel:
    """Return the camera that took a picture as it is: K and D, with skew and distortion.

    Raises
    ------
    ValueError
        If K is empty (an uncalibrated camera), or the model is not plumb_bob or equidistant.
    """
    k, d = [float(value) for value in message.k], [float(value) for value in message.d]
    if k[0] <= 0.0 or k[4] <= 0.0:
        raise ValueError("camera_info has no camera matrix; calibrate the camera")
    width, height = int(message.width), int(message.height)
    frame = {"fx": k[0], "fy": k[4], "cx": k[2], "cy": k[5], "skew": k[1]}
    model = message.distortion_model
    if model == "equidistant" and len(d) == 4:
        lens = dict(zip(("k1", "k2", "k3", "k4"), d))
        return FisheyeCamera(width=width, height=height, **frame, **lens)
    if model in ("plumb_bob", "") and not any(d):
        return PinholeCamera(width=width, height=height, **frame)
    if model == "plumb_bob" and len(d) in (4, 5):
        lens = dict(zip(("k1", "k2", "p1", "p2", "k3"), d))
        return BrownCamera(width=width, height=height, **frame, **lens)
    raise ValueError(
        "camera_info must be plumb_bob with 4 or 5 coefficients or equidistant with 4, got "
        f"'{model}' with {len(d)}; rectify the images before"
    )


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


def arrays_from_cloud(message: PointCloud2) -> dict[str, np.ndarray]:
    """Return the float fields of a cloud by name; see `messages.point_cloud_arrays`."""
    return point_cloud_arrays(message)


def points_from_cloud(message: PointCloud2) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the finite points (n, 3) of a cloud, their times and how many were left out.

    Times are those of the field `time` since the stamp (n,) [s], zeros without it.

    Raises
    ------
    ValueError
        As `messages.point_cloud_arrays`.
    """
    columns = arrays_from_cloud(message)
    points = np.column_stack([columns[axis] for axis in "xyz"])
    times = np.asarray(columns.get("time", np.zeros(len(points))), dtype=np.float64)
    is_finite = np.isfinite(points).all(axis=1) & np.isfinite(times)
    return points[is_finite], times[is_finite], int(np.count_nonzero(~is_finite))


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
