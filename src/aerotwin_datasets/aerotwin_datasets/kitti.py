# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""KITTI odometry sequences from recordings, and as recordings."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import UserError
from aerotwin_core.frames import R_CAM_OPTICAL, invert_transform, make_transform
from aerotwin_datasets.bag_maker import Dataset, DatasetCamera, DatasetTruth
from aerotwin_datasets.calibration import DatasetCalibration, body_of, calibrated
from aerotwin_datasets.image_pass import stamps_of, truth_at, write_images
from aerotwin_datasets.kitti_sequence import PAIRS, KittiSequence, read_sequence
from aerotwin_datasets.manifest import DatasetManifest, write_manifest
from aerotwin_datasets.recording import CameraStream, Recording
from aerotwin_datasets.settings import write_settings
from aerotwin_datasets.stereo_rectification import rectified_pair
from aerotwin_datasets.tum_rgbd import entry_camera

FORM = "kitti"


def write_kitti(
    recording: Recording, folder: Path, cameras: Sequence[CameraStream]
) -> tuple[list[str], list[str]]:
    """Write a stereo pair of a bag; return the topics that are held, and what was left out.

    Raises `UserError` if the first two cameras are no pair without distortion, row by row.
    """
    T_body_base = invert_transform(body_of(recording))
    pair = list(cameras[:2])
    both = [calibrated(camera, f"cam{k}", T_body_base, 0.0) for k, camera in enumerate(pair)]
    rectified = rectified_pair(*both) if len(pair) == 2 else None
    is_plain = all(camera.is_pinhole for camera in both)
    if rectified is None or not is_plain or any((np.eye(3) != R).any() for R, _ in rectified):
        raise UserError(
            f"{recording.bag.path}: KITTI holds rectified stereo pairs; the first two cameras "
            f"({', '.join(c.name for c in pair) or 'none'}) are no pair without distortion, row by "
            "row; choose them with --cameras LEFT,RIGHT"
        )
    stamps = [stamps_of(recording, camera) for camera in pair]
    shared = sorted(set(stamps[0]) & set(stamps[1]))
    index = {stamp: k for k, stamp in enumerate(shared)}
    names = PAIRS[1] if both[0].is_colour else PAIRS[0]
    folders = {camera.topic: folder / name for camera, name in zip(pair, names, strict=True)}
    for each in folders.values():
        each.mkdir()

    def place(camera: CameraStream, stamp: int) -> Path | None:
        k = index.get(stamp)
        return None if k is None else folders[camera.topic] / f"{k:06d}.png"

    in_order = write_images(recording, pair, place)
    problems = in_order.problems
    n_alone = len(stamps[0]) + len(stamps[1]) - 2 * len(shared)
    if n_alone:
        problems.append(f"{n_alone} images of one camera have none of the other; left out")
    lines = [f"{at // 10**9}.{at % 10**9:09d}" for at in shared]
    _write(folder / "times.txt", lines)
    P = [_row(projection) for _, projection in rectified]
    _write(folder / "calib.txt", [f"P{k}: {P[k % 2]}" for k in range(4)])
    truth = truth_at(recording, pair[0], shared)
    if truth is None:
        problems.append("no poses.txt: the bag's truth does not cover the images")
    else:
        T = truth.transforms()
        first = invert_transform(T[0])
        _write(folder / "poses.txt", [_row((first @ pose)[:3]) for pose in T])
    rate_hz = in_order.rate_hz(pair[0].topic)
    found = DatasetCalibration(
        cameras=tuple(
            calibrated(camera, f"cam{k}", T_body_base, rate_hz) for k, camera in enumerate(pair)
        ),
        imu_rate_hz=0.0,
        noise=None,
        gravity_m_s2=recording.gravity_m_s2,
        clouds=recording.clouds,
    )
    problems += write_settings(folder, found, names[0], shared)
    write_manifest(folder, FORM, recording, dict(zip(names, pair, strict=True)))
    return [camera.topic for camera in pair] if not n_alone else [], problems


def open_kitti(folder: Path, manifest: DatasetManifest | None) -> Dataset:
    """Return a sequence; without a manifest `base_link` is the left camera turned upright.

    Raises `UserError`, naming file and line, if it is none.
    """
    sequence = read_sequence(folder)
    baseline_m = sequence.baseline_m
    T_base_optical = make_transform(R_CAM_OPTICAL, [0.0, 0.0, 0.0])
    dataset = Dataset()
    pairs = zip((sequence.left, sequence.right), sequence.projections, strict=True)
    for k, (files, P) in enumerate(pairs):
        T = T_base_optical @ make_transform(np.eye(3), [k * baseline_m, 0.0, 0.0])
        side = ("left", "right")[k]
        own = P.copy()
        own[0, 3] = -P[0, 0] * baseline_m * k
        camera = DatasetCamera(
            topic=f"/stereo/{side}/image_raw",
            info_topic=f"/stereo/{side}/camera_info",
            frame_id=f"stereo_{side}_optical",
            encoding="",
            pictures=list(zip(sequence.stamps_ns.tolist(), files, strict=True)),
            width=sequence.width,
            height=sequence.height,
            model="plumb_bob",
            D=[0.0] * 5,
            K=P[:, :3].copy(),
            R=np.eye(3),
            P=own,
        )
        camera, T = entry_camera(camera, T, manifest, files[0].parent.name)
        dataset.cameras.append(camera)
        dataset.mountings.append((camera.frame_id, T))
    if sequence.T_world_optical is not None:
        dataset.truth = DatasetTruth(
            states=partial(_states, sequence), T_base_sensor=dataset.mountings[0][1]
        )
    return dataset


def _states(sequence: KittiSequence) -> Iterator[tuple[int, int, list[float]]]:
    """Yield the poses with the world turned upright: position, quaternion w x y z."""
    assert sequence.T_world_optical is not None
    stamps = sequence.stamps_ns.tolist()
    for k, (stamp, T) in enumerate(zip(stamps, sequence.T_world_optical, strict=True), start=1):
        x, y, z, w = Rotation.from_matrix(R_CAM_OPTICAL @ T[:3, :3]).as_quat().tolist()
        yield k, stamp, [*(R_CAM_OPTICAL @ T[:3, 3]).tolist(), w, x, y, z]


def _row(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values.ravel())


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
