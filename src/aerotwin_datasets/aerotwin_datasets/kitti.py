# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sequences of the KITTI odometry benchmark: rectified stereo pairs, numbered.

`poses.txt` has the poses of camera 0 (x right, y down, z ahead) in its first one; `calib.txt` the
projections P0 to P3 of points of camera 0 to rectified images: 0 and 1 are the grey pair, 2 and 3
that in colour.

References
----------
Geiger, Lenz, Urtasun, "Are we ready for autonomous driving?", CVPR 2012; development kit of the
odometry benchmark.
"""

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
from aerotwin_datasets.images import read_picture
from aerotwin_datasets.manifest import DatasetManifest, write_manifest
from aerotwin_datasets.recording import CameraStream, Recording
from aerotwin_datasets.settings import write_settings
from aerotwin_datasets.stereo_rectification import rectified_pair
from aerotwin_datasets.tables import rows, stamp_of
from aerotwin_datasets.tum_rgbd import entry_camera

FORM = "kitti"
_PAIRS = (("image_0", "image_1"), ("image_2", "image_3"), ("image_l", "image_r"))
_PROJECTIONS = {"image_0": "P0", "image_1": "P1", "image_2": "P2", "image_3": "P3",
                "image_l": "P0", "image_r": "P1"}  # fmt: skip


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
    names = _PAIRS[1] if both[0].is_colour else _PAIRS[0]
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
    names = next((n for n in _PAIRS if all((folder / each).is_dir() for each in n)), None)
    if names is None:
        raise UserError(
            f"{folder}: expected image_0 and image_1 (or 2 and 3, or image_l and image_r); give "
            "the folder of one KITTI odometry sequence"
        )
    files = [sorted((folder / name).glob("*.png")) for name in names]
    if not files[0] or [f.name for f in files[0]] != [f.name for f in files[1]]:
        raise UserError(
            f"{folder}: expected equal, numbered PNG pairs, found {len(files[0])} and "
            f"{len(files[1])}"
        )
    times = folder / "times.txt"
    stamps: list[int] = []
    for number, cells in rows(times, None):
        stamp = stamp_of(times, number, cells[0], 9)
        if stamps and stamp <= stamps[-1]:
            raise UserError(f"{times}:{number}: stamps must increase, found {stamp} ns")
        stamps.append(stamp)
    lines = _lines(files[0], times, len(stamps))
    projections = _projections(folder / "calib.txt", names)
    height, width = read_picture(files[0][0]).shape[:2]
    baseline_m = (projections[0][0, 3] - projections[1][0, 3]) / projections[0][0, 0]
    if baseline_m <= 0.0:
        first, second = (_PROJECTIONS[name] for name in names)
        raise UserError(
            f"{folder / 'calib.txt'}: expected the camera of {second} right of that of {first}, "
            f"found a baseline of {baseline_m:g} m; is the fourth number of {second} missing?"
        )
    T_base_optical = make_transform(R_CAM_OPTICAL, [0.0, 0.0, 0.0])
    dataset = Dataset()
    for k, (name, P) in enumerate(zip(names, projections, strict=True)):
        T = T_base_optical @ make_transform(np.eye(3), [k * baseline_m, 0.0, 0.0])
        side = ("left", "right")[k]
        own = P.copy()
        own[0, 3] = -P[0, 0] * baseline_m * k
        camera = DatasetCamera(
            topic=f"/stereo/{side}/image_raw",
            info_topic=f"/stereo/{side}/camera_info",
            frame_id=f"stereo_{side}_optical",
            encoding="",
            pictures=[(stamps[line], file) for line, file in zip(lines, files[k], strict=True)],
            width=width,
            height=height,
            model="plumb_bob",
            D=[0.0] * 5,
            K=P[:, :3].copy(),
            R=np.eye(3),
            P=own,
        )
        camera, T = entry_camera(camera, T, manifest, name)
        dataset.cameras.append(camera)
        dataset.mountings.append((camera.frame_id, T))
    poses = folder / "poses.txt"
    if poses.is_file():
        P = projections[0]
        T_left_cam0 = make_transform(np.eye(3), np.linalg.solve(P[:, :3], P[:, 3]))
        dataset.truth = DatasetTruth(
            states=partial(_states, poses, stamps[: lines[-1] + 1]),
            T_base_sensor=dataset.mountings[0][1] @ T_left_cam0,
        )
    return dataset


def _lines(files: list[Path], times: Path, n_stamps: int) -> list[int]:
    """Return the line of `times.txt` of each image: by its number where images are missing."""
    n = len(files)
    if n_stamps < n:
        raise UserError(f"{times}: expected {n} stamps at least, found {n_stamps}")
    if n_stamps == n:
        return list(range(n))
    numbers = [int(file.stem) if file.stem.isdecimal() else n_stamps for file in files]
    for before, number, file in zip([-1, *numbers], numbers, files, strict=False):
        if not before < number < n_stamps:
            raise UserError(
                f"{file}: expected a number of 0 to {n_stamps - 1}, the line of its stamp in "
                f"{times}, as there are more stamps than images ({n}); rename it"
            )
    return numbers


def _projections(path: Path, names: tuple[str, str]) -> list[np.ndarray]:
    """Return P (3, 4) of two cameras; lines without names are P0 and P1."""
    found: dict[str, np.ndarray] = {}
    for k, (number, cells) in enumerate(rows(path, None)):
        name = cells.pop(0).rstrip(":") if cells[0][-1] == ":" else f"P{k}"
        if name not in _PROJECTIONS.values():
            continue
        try:
            P = np.array([float(cell) for cell in cells]).reshape(3, 4)
        except ValueError:
            raise UserError(f"{path}:{number}: expected 12 numbers of {name}") from None
        if not (np.isfinite(P).all() and P[0, 0] > 0.0 and P[1, 1] > 0.0):
            raise UserError(f"{path}:{number}: expected finite numbers and focal lengths above 0")
        found[name] = P
    missing = [_PROJECTIONS[name] for name in names if _PROJECTIONS[name] not in found]
    if missing:
        raise UserError(f"{path}: {' and '.join(missing)} are missing, of {' and '.join(names)}")
    return [found[_PROJECTIONS[name]] for name in names]


def _states(path: Path, stamps: list[int]) -> Iterator[tuple[int, int, list[float]]]:
    """Yield the poses with the world turned upright: position, quaternion w x y z."""
    n = 0
    for (number, cells), stamp in zip(rows(path, None), stamps, strict=False):
        try:
            T = np.array([float(cell) for cell in cells]).reshape(3, 4)
        except ValueError:
            raise UserError(f"{path}:{number}: expected 12 numbers") from None
        if not np.isfinite(T).all() or abs(np.linalg.det(T[:, :3]) - 1.0) > 1e-2:
            raise UserError(f"{path}:{number}: expected a rotation and a position")
        x, y, z, w = Rotation.from_matrix(R_CAM_OPTICAL @ T[:, :3]).as_quat().tolist()
        n += 1
        yield number, stamp, [*(R_CAM_OPTICAL @ T[:, 3]).tolist(), w, x, y, z]
    if n < len(stamps):
        raise UserError(f"{path}: expected {len(stamps)} poses, found {n}")


def _row(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values.ravel())


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
