# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""R and P of CameraInfo for two cameras, which let a stereo matcher rectify their images."""

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np

from aerotwin_core.frames import invert_transform
from aerotwin_datasets.calibration import CalibratedCamera

_WIDEST_TURN_DEG = 45.0


def rectification(sheets: Sequence[dict[str, Any]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return R (3, 3) and P (3, 4) of the left and the right camera.

    Sheets have `K`, `D`, `model`, `width`, `height`, `T_body_optical`. Cameras that look in
    directions more than 45 degrees apart, or that stand above each other, are no such pair: their R
    is the identity and P the camera alone.
    """
    left, right = sheets
    T_right_left = invert_transform(right["T_body_optical"]) @ left["T_body_optical"]
    R, t = T_right_left[:3, :3].copy(), T_right_left[:3, 3].copy()
    alone = [(np.eye(3), np.column_stack([sheet["K"], np.zeros(3)])) for sheet in sheets]
    turn = np.degrees(np.arccos(np.clip((np.trace(R) - 1.0) / 2.0, -1.0, 1.0)))
    is_same = (left["width"], left["height"], left["model"]) == (
        right["width"], right["height"], right["model"],
    )  # fmt: skip
    if turn > _WIDEST_TURN_DEG or -t[0] <= np.abs(t[1:]).max() or not is_same:
        return alone
    if np.allclose(R, np.eye(3), atol=1e-12) and np.array_equal(left["K"], right["K"]):
        R1 = R2 = np.eye(3)
        P1, P2 = alone[0][1], np.column_stack([left["K"], [left["K"][0, 0] * t[0], 0.0, 0.0]])
        return [(R1, P1), (R2, P2)]
    size = (left["width"], left["height"])
    arrays = [np.array(left["D"]), np.array(right["D"])]
    if left["model"] == "equidistant":
        R1, R2, P1, P2, _ = cv2.fisheye.stereoRectify(
            left["K"],
            arrays[0],
            right["K"],
            arrays[1],
            size,
            R,
            t[:, None],
            cv2.CALIB_ZERO_DISPARITY,
        )
    else:
        R1, R2, P1, P2, *_ = cv2.stereoRectify(
            left["K"], arrays[0], right["K"], arrays[1], size, R, t[:, None],
            flags=cv2.CALIB_ZERO_DISPARITY, alpha=0,
        )  # fmt: skip
    return [(R1, P1), (R2, P2)]


def rectified_pair(
    left: CalibratedCamera, right: CalibratedCamera
) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Return R and P of two cameras of a data set, None if they are no pair."""
    sheets = [
        {
            "width": camera.lens.width,
            "height": camera.lens.height,
            "model": camera.lens.distortion_model,
            "K": camera.lens.matrix,
            "D": list(camera.lens.distortion),
            "T_body_optical": camera.T_body_optical,
        }
        for camera in (left, right)
    ]
    pair = rectification(sheets)
    return pair if pair[1][1][0, 3] else None
