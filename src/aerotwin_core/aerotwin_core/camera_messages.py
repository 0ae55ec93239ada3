# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images and calibrations as standard messages, without ROS; see `messages`."""

from typing import Any

import numpy as np

from aerotwin_core.camera import CameraModel
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
    """Return sensor_msgs/CameraInfo of a camera alone, or of one of a pair side by side.

    K and D describe the picture as it is. P is the camera after rectification: without skew and
    distortion, with the same focal lengths and centre; R is the identity, as the cameras of a pair
    look along parallel axes.

    Parameters
    ----------
    camera : CameraModel
        What took the picture; for an undistorted one D is zero and the picture already rectified.
    baseline_m : float
        Distance from the left camera: 0 for the left one itself, or a camera alone; it enters the
        projection matrix as Tx = -fx * baseline, as the message's definition says [m].
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
