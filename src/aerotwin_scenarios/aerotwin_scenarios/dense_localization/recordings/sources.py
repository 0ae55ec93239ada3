# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Source of images: a bag or a KITTI folder, read image by image, or else a world."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray, make_transform
from aerotwin_core.trajectory import Trajectory
from aerotwin_datasets.kitti_sequence import KittiSequence, is_kitti, read_image, read_sequence
from aerotwin_scenarios.dense_localization.recordings.bag_recording import bag_camera, bag_pair
from aerotwin_scenarios.dense_localization.recordings.recording import (
    LEFT,
    OPTICAL,
    RIGHT,
    TRUTH,
    CameraRecording,
    ExternalPoses,
    Reading,
    StereoPair,
    trajectory_of,
)
from aerotwin_trajectory_evaluation.files import load_trajectory
from aerotwin_worlds import World, load_world


def kitti_pair(path: Path, reading: Reading) -> CameraRecording:
    """Return the pairs of a folder."""
    sequence = read_sequence(path)

    def pairs() -> Iterator[StereoPair]:
        for k in range(*reading.part.indices(len(sequence.left))):
            images = (
                read_image(f[k], sequence.rig.camera) for f in (sequence.left, sequence.right)
            )
            yield StereoPair(int(sequence.stamps_ns[k]), *images)

    return CameraRecording(
        name=str(path), camera=sequence.rig.camera, baseline_m=sequence.rig.baseline_m,
        T_base_cam=np.eye(4), T_body_cam=np.eye(4),
        n_pictures=reading.n_of(len(sequence.left)), pictures=pairs,
        poses=lambda token: _kitti_poses(path, sequence, token, np.eye(4), np.eye(4)),
    )  # fmt: skip


def kitti_camera(path: Path, reading: Reading, side: str) -> CameraRecording:
    """Return the images of one side of a folder."""
    if side not in (LEFT, RIGHT):
        raise UserError(f"--camera: a KITTI folder has left and right, got {side}")
    sequence = read_sequence(path)
    files = sequence.left if side == LEFT else sequence.right
    offset_m = 0.0 if side == LEFT else sequence.rig.baseline_m
    T_left_cam = make_transform(np.eye(3), [offset_m, 0.0, 0.0])

    def images() -> Iterator[tuple[int, np.ndarray]]:
        for k in range(*reading.part.indices(len(files))):
            yield int(sequence.stamps_ns[k]), read_image(files[k], sequence.rig.camera)

    T_body_cam = np.eye(4) if reading.poses_of == OPTICAL else T_left_cam
    return CameraRecording(
        name=f"{path} {side}", camera=sequence.rig.camera, T_base_cam=T_left_cam,
        T_body_cam=T_body_cam, n_pictures=reading.n_of(len(files)), pictures=images,
        poses=lambda token: _kitti_poses(path, sequence, token, T_left_cam, T_body_cam),
    )  # fmt: skip


def _kitti_poses(
    path: Path,
    sequence: KittiSequence,
    token: str | None,
    T_left_cam: FloatArray,
    T_body_cam: FloatArray,
) -> ExternalPoses:
    """Return the poses that a word names; those of poses.txt are KITTI's truth, by GPS and IMU."""
    true_file = path / "poses.txt"
    if token is None:
        raise UserError(
            f"{path}: holds no estimate; take --poses odometry, name a file, or say --poses truth "
            "for its poses.txt"
        )
    if (
        token != TRUTH
        and true_file.is_file()
        and Path(token).exists()
        and Path(token).samefile(true_file)
    ):
        raise UserError(f"{token}: these are the true poses; say so by the word truth")
    trajectory = _truth(true_file, sequence) if token == TRUTH else _of_file(Path(token), sequence)
    return ExternalPoses(
        trajectory=trajectory, T_body_cam=T_left_cam if token == TRUTH else T_body_cam,
        source=str(true_file if token == TRUTH else token), is_truth=token == TRUTH,
    )  # fmt: skip


def _truth(file: Path, sequence: KittiSequence) -> Trajectory:
    if sequence.T_world_optical is None:
        raise UserError(f"{file}: is missing; the true poses of a KITTI folder are there")
    return trajectory_of(sequence.stamps_ns.tolist(), list(sequence.T_world_optical))


def _of_file(file: Path, sequence: KittiSequence) -> Trajectory:
    """Return the poses of a file; without stamps they are those of the frames, one by one."""
    found = load_trajectory(file, duplicates="first")
    if found.has_stamps:
        return found.trajectory
    n = len(sequence.stamps_ns)
    if len(found.trajectory) < n:
        raise UserError(
            f"{file}: {len(found.trajectory)} poses without stamps for {n} frames; there must be "
            "one for each, or stamps (TUM)"
        )
    return found.trajectory.select(np.arange(n), sequence.stamps_ns)


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
