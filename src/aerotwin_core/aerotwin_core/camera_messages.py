# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images and calibrations as standard messages and back, without ROS; see `messages`."""

from typing import Any

import numpy as np

from aerotwin_core.camera import BrownCamera, CameraModel, FisheyeCamera, PinholeCamera
from aerotwin_core.luma import grey_of
from aerotwin_core.messages import TYPESTORE, header

_T = TYPESTORE.types
_ENCODINGS = {
    ("uint8", ()): "mono8",
    ("uint8", (3,)): "rgb8",
    ("float32", ()): "32FC1",
    ("int32", ()): "32SC1",
}


def image_message(stamp_ns: int, frame_id: str, image: np.ndarray) -> Any:
    """Return sensor_msgs/Image of a picture, a depth image [m] or a map of ids.

    uint8 (h, w) is mono8, uint8 (h, w, 3) rgb8, float32 (h, w) 32FC1 and int32 (h, w) 32SC1.
    """
    encoding = _ENCODINGS.get((image.dtype.name, image.shape[2:])) if image.ndim >= 2 else None
    if encoding is None:
        raise ValueError(
            "image must be uint8 (h, w) or (h, w, 3), float32 (h, w) or int32 (h, w), got "
            f"{image.dtype} {image.shape}"
        )
    rows = np.ascontiguousarray(image).reshape(image.shape[0], -1).view(np.uint8)
    return _T["sensor_msgs/msg/Image"](
        header=header(stamp_ns, frame_id),
        height=image.shape[0],
        width=image.shape[1],
        encoding=encoding,
        is_bigendian=0,
        step=rows.shape[1],
        data=rows.reshape(-1),
    )


def camera_info_message(
    stamp_ns: int, frame_id: str, camera: CameraModel, baseline_m: float = 0.0
) -> Any:
    """Return sensor_msgs/CameraInfo of a single camera, or of one of a stereo pair.

    K and D describe the raw image. P is the camera after rectification: without skew and
    distortion, with the same focal lengths and centre; R is the identity, as the cameras of a pair
    look along parallel axes. `baseline_m` is the distance from the left camera [m], 0 for that one
    itself or a single camera; it enters P as Tx = -fx * baseline, as the message's definition says.
    """
    matrix = camera.matrix
    projection = np.column_stack([matrix, [-matrix[0, 0] * baseline_m, 0.0, 0.0]])
    projection[0, 1] = 0.0
    region = _T["sensor_msgs/msg/RegionOfInterest"](
        x_offset=0, y_offset=0, height=0, width=0, do_rectify=False
    )
    return _T["sensor_msgs/msg/CameraInfo"](
        header=header(stamp_ns, frame_id),
        height=camera.height,
        width=camera.width,
        distortion_model=camera.distortion_model,
        d=np.array(camera.distortion, dtype=np.float64),
        k=matrix.ravel(),
        r=np.eye(3).ravel(),
        p=projection.ravel(),
        binning_x=0,
        binning_y=0,
        roi=region,
    )


def picture_from_image(message: Any) -> np.ndarray:
    """Return (h, w) uint8 of a mono8 image, or red, green, blue (h, w, 3) of rgb8 and bgr8.

    Raises `ValueError` if the encoding is another or the data is too short.
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
    colours = data.reshape(height, width, 3)
    return colours[:, :, ::-1] if message.encoding == "bgr8" else colours


def array_from_image(message: Any) -> np.ndarray:
    """Return (h, w) uint8 of a mono8 image, or the grey values of rgb8 and bgr8 (BT.601).

    Raises `ValueError` if the encoding is another or the data is too short.
    """
    return grey_of(picture_from_image(message))


def camera_from_info(message: Any) -> tuple[PinholeCamera, float]:
    """Return the camera of the rectified images and its baseline [m] to the left camera.

    The baseline is 0 for the left one. `raw_camera_from_info` returns that of the raw images.

    Raises `ValueError` if the projection matrix is empty (an uncalibrated camera).
    """
    p = [float(value) for value in message.p]
    if p[0] <= 0.0 or p[5] <= 0.0:
        raise ValueError("camera_info has no projection matrix; calibrate the camera")
    camera = PinholeCamera(
        width=int(message.width), height=int(message.height), fx=p[0], fy=p[5], cx=p[2], cy=p[6]
    )
    return camera, -p[3] / p[0]


def raw_camera_from_info(message: Any) -> CameraModel:
    """Return the camera of the raw image: K and D, with skew and distortion.

    Raises `ValueError` if K is empty (an uncalibrated camera), or the model is not plumb_bob or
    equidistant.
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
