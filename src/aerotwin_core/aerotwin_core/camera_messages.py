# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images and calibrations as standard messages and back, without ROS; see `messages`."""

from typing import Any

import numpy as np

from aerotwin_core.camera import BrownCamera, CameraModel, FisheyeCamera, PinholeCamera
from aerotwin_core.errors import UserError
from aerotwin_core.luma import grey_of
from aerotwin_core.messages import TYPESTORE, header
from aerotwin_core.picture_size import check_encoded_picture

_T = TYPESTORE.types
_ENCODINGS = {
    ("uint8", ()): "mono8",
    ("uint8", (3,)): "rgb8",
    ("float32", ()): "32FC1",
    ("int32", ()): "32SC1",
}
_GREY_16 = ("mono16", "16UC1")
_PICTURES = {
    **dict.fromkeys(("mono8", "8UC1"), ("u1", 1)),
    **dict.fromkeys(_GREY_16, ("u2", 1)),
    **dict.fromkeys(("rgb8", "bgr8", "8UC3"), ("u1", 3)),
    **dict.fromkeys(("rgba8", "bgra8"), ("u1", 4)),
    **dict.fromkeys(("bayer_rggb8", "bayer_bggr8", "bayer_gbrg8", "bayer_grbg8"), ("u1", 1)),
    **dict.fromkeys(("yuv422", "uyvy", "yuyv", "yuv422_yuy2"), ("u1", 2)),
}
"""Kind and number of the values of a pixel, by encoding."""
_DECODED = {
    ("uint8", ()): "mono8",
    ("uint16", ()): "mono16",
    ("uint8", (3,)): "bgr8",
    ("uint8", (4,)): "bgra8",
}
"""What OpenCV makes of a compressed picture."""
# OpenCV names a Bayer pattern by its second row and column, ROS by the first.
_CONVERSIONS = {
    "rgba8": "COLOR_RGBA2RGB",
    "bgra8": "COLOR_BGRA2RGB",
    "bayer_rggb8": "COLOR_BayerBG2RGB",
    "bayer_bggr8": "COLOR_BayerRG2RGB",
    "bayer_gbrg8": "COLOR_BayerGR2RGB",
    "bayer_grbg8": "COLOR_BayerGB2RGB",
    "yuv422": "COLOR_YUV2RGB_UYVY",
    "uyvy": "COLOR_YUV2RGB_UYVY",
    "yuyv": "COLOR_YUV2RGB_YUY2",
    "yuv422_yuy2": "COLOR_YUV2RGB_YUY2",
}


def image_message(
    stamp_ns: int, frame_id: str, image: np.ndarray, *, is_blue_first: bool = False
) -> Any:
    """Return sensor_msgs/Image of a picture, a depth image [m] or a map of ids.

    uint8 (h, w) is mono8, uint8 (h, w, 3) red, green, blue, float32 (h, w) 32FC1 and int32 (h, w)
    32SC1. Colours become rgb8, or with `is_blue_first` bgr8.
    """
    encoding = _ENCODINGS.get((image.dtype.name, image.shape[2:])) if image.ndim >= 2 else None
    if encoding is None:
        raise ValueError(
            "image must be uint8 (h, w) or (h, w, 3), float32 (h, w) or int32 (h, w), got "
            f"{image.dtype} {image.shape}"
        )
    if is_blue_first and encoding == "rgb8":
        encoding, image = "bgr8", image[:, :, ::-1]
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
    """Return an image as grey values (h, w) uint8, or as red, green, blue (h, w, 3) uint8.

    mono8, mono16 (scaled to 8 bits) and their unnamed kinds 8UC1 and 16UC1 are grey; rgb8, bgr8,
    8UC3 (blue first), rgba8, bgra8, the four bayer_*8 and yuv422 (also as uyvy, yuyv and
    yuv422_yuy2) are colours.

    Raises `ValueError` if the encoding is another or the data is too short.
    """
    values = _values(message)
    name = message.encoding
    if name in _GREY_16:
        return (values * (255.0 / 65535.0) + 0.5).astype(np.uint8)
    if name in _CONVERSIONS:
        import cv2

        return cv2.cvtColor(np.ascontiguousarray(values), getattr(cv2, _CONVERSIONS[name]))
    return values[:, :, ::-1] if name in ("bgr8", "8UC3") else values


def _values(message: Any) -> np.ndarray:
    """Return the numbers of an image, (h, w) or (h, w, channels)."""
    if message.encoding not in _PICTURES:
        raise ValueError(
            f"image encoding must be one of {', '.join(_PICTURES)}, got '{message.encoding}'"
        )
    kind, channels = _PICTURES[message.encoding]
    number = np.dtype((">" if message.is_bigendian else "<") + kind)
    height, width, step = message.height, message.width, message.step
    row = width * channels * number.itemsize
    if step < row or len(message.data) < step * height:
        raise ValueError(
            f"image of {width}x{height} {message.encoding} needs {row * height} bytes,"
            f" got {len(message.data)} with step {step}"
        )
    data = np.frombuffer(message.data, dtype=np.uint8)[: step * height].reshape(height, step)
    data = data[:, :row]
    if number.itemsize > 1:
        data = np.ascontiguousarray(data).view(number)
    return data if channels == 1 else data.reshape(height, width, channels)


def picture_from_compressed(message: Any) -> tuple[np.ndarray, str]:
    """Return the pixels of a jpeg or png CompressedImage, and their encoding: mono or bgr(a).

    Raises `ValueError` if it is no such picture, or would take more memory than a file may.
    """
    import cv2

    data = np.frombuffer(message.data, dtype=np.uint8)
    try:
        check_encoded_picture(data.tobytes(), f"compressed image of format '{message.format}'")
    except UserError as error:
        raise ValueError(str(error)) from error
    pixels = cv2.imdecode(data, cv2.IMREAD_UNCHANGED | cv2.IMREAD_IGNORE_ORIENTATION)
    if pixels is None or (pixels.dtype.name, pixels.shape[2:]) not in _DECODED:
        raise ValueError(f"compressed image of format '{message.format}' cannot be decoded")
    return pixels, _DECODED[pixels.dtype.name, pixels.shape[2:]]


def array_from_image(message: Any) -> np.ndarray:
    """Return the grey values (h, w) uint8 of an image; those of colours by ITU-R BT.601.

    Raises `ValueError` as `picture_from_image`.
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
