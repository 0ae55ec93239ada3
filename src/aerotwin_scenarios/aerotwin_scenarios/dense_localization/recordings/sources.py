# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Source of images: a bag or a KITTI folder, read image by image, or else a world."""

from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_run_evaluation.kitti_bag import FOLDERS
from aerotwin_scenarios.dense_localization.recordings.bag_recording import bag_camera, bag_pair
from aerotwin_scenarios.dense_localization.recordings.kitti_recording import (
    kitti_camera,
    kitti_pair,
)
from aerotwin_scenarios.dense_localization.recordings.recording import CameraRecording, Reading
from aerotwin_worlds import World, load_world


def is_kitti(path: Path) -> bool:
    """Return whether a folder looks like a sequence of KITTI's odometry benchmark."""
    return any((path / left).is_dir() for left, _ in FOLDERS)


def world_of(source: str) -> World:
    """Return the world named by a source that is no recording.

    Raises `UserError` if there is no such world either.
    """
    try:
        return load_world(source)
    except UserError as error:
        raise UserError(f"{error} (nor is it a bag or a KITTI folder)") from None


def stereo_recording(path: Path, reading: Reading) -> CameraRecording:
    """Return the rectified pairs of a bag or a KITTI folder.

    Raises `UserError` if there is no usable pair, with the reason.
    """
    return kitti_pair(path, reading) if is_kitti(path) else bag_pair(path, reading)


def camera_recording(path: Path, reading: Reading, side: str) -> CameraRecording:
    """Return the grey, undistorted images of one camera of a bag or a KITTI folder.

    `side` is `left` or `right` of a pair, or a bag's image topic.

    Raises `UserError` if there are no usable images, with the reason.
    """
    return (kitti_camera if is_kitti(path) else bag_camera)(path, reading, side)
