# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sequences of the TUM RGB-D benchmark: colour and depth images, truth of the colour camera.

Images are named by their stamp in seconds. A depth image has 5000 values per metre in 16 bits, 0
where it knows none: steps of 0.2 mm up to 13.1 m, so that depth in metres is rounded; pixel by
pixel it is that of the colour image. The truth is that of the optical frame of the colour camera.

References
----------
Sturm et al., "A benchmark for the evaluation of RGB-D SLAM systems", IROS 2012.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.file_inside import file_inside
from aerotwin_core.frames import R_CAM_OPTICAL, invert_transform, make_transform
from aerotwin_datasets.bag_maker import Dataset, DatasetCamera, DatasetTruth
from aerotwin_datasets.calibration import (
    DEPTH_PER_METRE,
    DatasetCalibration,
    body_of,
    calibrated,
)
from aerotwin_datasets.image_pass import write_images
from aerotwin_datasets.images import read_picture
from aerotwin_datasets.manifest import NAME, DatasetManifest, pose_of_entry, write_manifest
from aerotwin_datasets.recording import CameraStream, InOrder, Recording
from aerotwin_datasets.settings import write_settings
from aerotwin_datasets.tables import numbers, once, rows, stamp_of, vector
from aerotwin_datasets.truth import truth_of

FORM = "tum-rgbd"
_PER_MILLIMETRE = 5
_LARGEST = 65535
_NEAR_NS = 20_000_000
"""Two images of at most this distance are associated, as by the benchmark's script."""
_COLOUR, _DEPTH = "rgb", "depth"
_SAME_VIEW = 1e-3
"""Of mountings [m, rad], and of a focal length [share]: some half a pixel."""


def write_tum_rgbd(
    recording: Recording, folder: Path, cameras: Sequence[CameraStream]
) -> tuple[list[str], list[str]]:
    """Write a camera and one of depth, if there is one; return topics held, and what was left out.

    The depth chosen is the first of `cameras`, else the first of the recording that shows what the
    camera shows, pixel by pixel.

    Raises `UserError` if `cameras` have no brightness, or depth of another view.
    """
    colour = next((camera for camera in cameras if not camera.is_depth), None)
    if colour is None:
        raise UserError(f"{recording.bag.path}: no camera that shows brightness was chosen")
    depth, left_out = _depth_of(recording, colour, cameras)
    chosen = [colour] if depth is None else [colour, depth]
    names = {camera.topic: name for camera, name in zip(chosen, (_COLOUR, _DEPTH), strict=False)}
    for name in names.values():
        (folder / name).mkdir()
    in_order = write_images(
        recording, chosen, lambda c, at: folder / names[c.topic] / f"{seconds(at)}.png", _in_steps
    )
    stamps = {name: in_order.stamps[topic] for topic, name in names.items()}
    for name, found in stamps.items():
        lines = [f"{seconds(at)} {name}/{seconds(at)}.png" for at in found]
        _write(folder / f"{name}.txt", ["# timestamp filename", *lines])
    if _DEPTH in stamps:
        _write(folder / "associations.txt", _associated(stamps[_COLOUR], stamps[_DEPTH]))
    problems = left_out + in_order.problems + _write_motion(recording, folder, colour)
    T_body_base = invert_transform(body_of(recording))
    rate_hz = in_order.rate_hz(colour.topic)
    calibration = DatasetCalibration(
        cameras=(calibrated(colour, _COLOUR, T_body_base, rate_hz),),
        imu_rate_hz=0.0,
        noise=None,
        gravity_m_s2=recording.gravity_m_s2,
        has_depth=depth is not None,
        clouds=recording.clouds,
    )
    problems += write_settings(folder, calibration, _COLOUR, stamps[_COLOUR])
    write_manifest(folder, FORM, recording, {names[c.topic]: c for c in chosen})
    return [colour.topic], problems


def _depth_of(
    recording: Recording, colour: CameraStream, cameras: Sequence[CameraStream]
) -> tuple[CameraStream | None, list[str]]:
    """Return the camera of depth, None without one, and what was not taken for it."""
    asked = [camera for camera in cameras if camera.is_depth][:1]
    problems = []
    for depth in asked or [camera for camera in recording.cameras if camera.is_depth]:
        if _is_same_view(colour, depth):
            return depth, []
        problem = f"the depth of {depth.name} is not that of the pixels of {colour.name}"
        if asked:
            raise UserError(
                f"{recording.bag.path}: {problem}: lens or mounting differ; leave it out of "
                "--cameras to take one that is, or record depth registered to the image"
            )
        problems.append(f"{problem}; left out")
    return None, problems


def _is_same_view(colour: CameraStream, depth: CameraStream) -> bool:
    """Tell whether a pixel of both cameras has one ray."""
    a, b = colour.camera, depth.camera
    return (
        (a.width, a.height, a.distortion_model) == (b.width, b.height, b.distortion_model)
        and np.allclose(a.matrix, b.matrix, rtol=_SAME_VIEW)
        and np.allclose(a.distortion, b.distortion, atol=_SAME_VIEW)
        and np.allclose(colour.T_base_optical, depth.T_base_optical, atol=_SAME_VIEW)
    )


def _write_motion(recording: Recording, folder: Path, colour: CameraStream) -> list[str]:
    """Write truth and specific force; return what is missing."""
    problems = []
    truth = truth_of(recording, colour.T_base_optical)
    if truth is None:
        problems.append("no groundtruth.txt: the bag has no truth")
    else:
        poses = np.hstack([truth.trajectory.p_ref_body, truth.trajectory.q_ref_body]).tolist()
        lines = [
            f"{seconds(at)} {' '.join(map(repr, pose))}"
            for at, pose in zip(truth.trajectory.stamps_ns.tolist(), poses, strict=True)
        ]
        _write(folder / "groundtruth.txt", ["# timestamp tx ty tz qx qy qz qw", *lines])
    if recording.imu is not None:
        lines = ["# timestamp ax ay az"]
        for _, at, message in InOrder(recording, [recording.imu.topic]):
            a = message.linear_acceleration
            lines.append(f"{seconds(at)} {a.x!r} {a.y!r} {a.z!r}")
        _write(folder / "accelerometer.txt", lines)
    return problems


def open_tum_rgbd(
    folder: Path,
    manifest: DatasetManifest | None,
    *,
    has_depth: bool,
    intrinsics: Sequence[float] = (),
) -> Dataset:
    """Return a sequence; without a manifest `base_link` is the colour camera turned upright.

    `has_depth` is whether depth comes from here; `intrinsics` are fx fy cx cy, then k1 k2 p1 p2 k3,
    which the format does not hold.

    Raises `UserError`, naming file and line, if it is none.
    """
    dataset = Dataset()
    for name in (_COLOUR, _DEPTH) if has_depth else (_COLOUR,):
        table = folder / f"{name}.txt"
        if name == _DEPTH and not table.is_file():
            continue
        pictures = _pictures(folder, table)
        if not pictures:
            raise UserError(f"{table}: lists no images")
        height, width = read_picture(pictures[0][1]).shape[:2]
        if not intrinsics and manifest is None:
            raise UserError(
                f"{folder}: the format does not hold the lens; state it with --intrinsics FX FY CX "
                "CY [K1 K2 P1 P2 K3]: its makers publish 525 525 319.5 239.5 for what their driver "
                "calls the default, and one for each of their cameras"
            )
        fx, fy, cx, cy, *D = [*intrinsics] or [1.0, 1.0, 0.0, 0.0]
        K = np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])
        space = "/camera" if name == _COLOUR else "/camera/depth"
        camera = DatasetCamera(
            topic=f"{space}/image_raw",
            info_topic=f"{space}/camera_info",
            frame_id="camera_optical",
            encoding="32FC1" if name == _DEPTH else "",
            pictures=pictures,
            width=width,
            height=height,
            model="plumb_bob",
            D=[*D, *[0.0] * (5 - len(D))],
            K=K,
            R=np.eye(3),
            P=np.column_stack([K, np.zeros(3)]),
            per_metre=DEPTH_PER_METRE if name == _DEPTH else 0.0,
        )
        T = make_transform(R_CAM_OPTICAL, [0.0, 0.0, 0.0])
        camera, T = entry_camera(camera, T, manifest, name)
        dataset.cameras.append(camera)
        if camera.frame_id not in dict(dataset.mountings):
            dataset.mountings.append((camera.frame_id, T))
    truth = folder / "groundtruth.txt"
    if truth.is_file():
        T = dataset.mountings[0][1]
        dataset.truth = DatasetTruth(states=partial(_states, truth), T_base_sensor=T)
    return dataset


def entry_camera(
    camera: DatasetCamera, T: np.ndarray, manifest: DatasetManifest | None, name: str
) -> tuple[DatasetCamera, np.ndarray]:
    """Return a camera and T_base_optical with the names, lens and mounting of the manifest.

    Raises `UserError` if the manifest does not name it.
    """
    if manifest is None:
        return camera, T
    entry = manifest.cameras.get(name)
    if entry is None:
        raise UserError(
            f"{NAME}: cameras: {name} is missing; remove {NAME} to take the files alone"
        )
    K = np.reshape(vector(entry, "K", f"{NAME}: {name}", 9), (3, 3))
    changed = dataclasses.replace(
        camera,
        topic=str(entry["topic"]),
        info_topic=str(entry.get("info_topic", camera.info_topic)),
        frame_id=str(entry["frame_id"]),
        encoding=str(entry.get("encoding", "")),
        model=str(entry.get("distortion_model", camera.model)),
        D=vector(entry, "D", f"{NAME}: {name}", 4, 5),
        K=K,
        P=camera.P if np.allclose(camera.P[:, :3], K) else np.column_stack([K, np.zeros(3)]),
    )
    return changed, pose_of_entry(entry.get("T_base_optical"), f"{NAME}: {name}: T_base_optical")


def seconds(stamp_ns: int) -> str:
    """Return a stamp in seconds, exact to the nanosecond."""
    return f"{stamp_ns // 10**9}.{stamp_ns % 10**9:09d}"


def _in_steps(camera: CameraStream, pixels: np.ndarray) -> np.ndarray:
    """Return depth in the steps of the format, 0 where it is unknown or too far."""
    if not camera.is_depth:
        return pixels
    if camera.encoding == "16UC1":
        steps = pixels.astype(np.uint32) * _PER_MILLIMETRE
    else:
        with np.errstate(invalid="ignore"):
            steps = np.nan_to_num(
                np.rint(pixels * DEPTH_PER_METRE), nan=0.0, posinf=0.0, neginf=0.0
            )
    return np.where((steps > 0) & (steps <= _LARGEST), steps, 0).astype(np.uint16)


def _associated(colour: list[int], depth: list[int]) -> list[str]:
    """Return pairs of images that are near in time, each used once."""
    lines, after = [], 0
    known = np.array(depth)
    for at in colour:
        k = int(np.argmin(np.abs(known[after:] - at))) + after if after < len(known) else -1
        if k >= 0 and abs(int(known[k]) - at) <= _NEAR_NS:
            other = int(known[k])
            names = f"{_COLOUR}/{seconds(at)}.png", f"{_DEPTH}/{seconds(other)}.png"
            lines.append(f"{seconds(at)} {names[0]} {seconds(other)} {names[1]}")
            after = k + 1
    return lines


def _pictures(folder: Path, table: Path) -> list[tuple[int, Path]]:
    found: list[tuple[int, Path]] = []
    names: set[str] = set()
    for number, cells in rows(table, None):
        stamp = stamp_of(table, number, cells[0], 9)
        if len(cells) < 2:
            raise UserError(f"{table}:{number}: expected a stamp and the name of an image")
        if found and stamp <= found[-1][0]:
            raise UserError(f"{table}:{number}: stamps must increase, found {stamp} ns")
        once(names, cells[1], table, number)
        found.append(
            (stamp, file_inside(folder, cells[1], where=f"{table}:{number}", kinds="*.txt"))
        )
    return found


def _states(path: Path) -> Iterator[tuple[int, int, list[float]]]:
    """Yield the poses: position, quaternion w x y z."""
    for number, stamp, row in numbers(path, 7, separator=None, digits=9):
        if not 0.9 < float(np.linalg.norm(row[3:])) < 1.1:
            raise UserError(f"{path}:{number}: expected a unit quaternion x y z w, got {row[3:]}")
        yield number, stamp, [*row[:3], row[6], *row[3:6]]


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
