# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""KITTI odometry sequences as bags: stereo images, calibration, ground truth.

References
----------
Geiger, Lenz, Urtasun, "Are we ready for autonomous driving?", CVPR 2012; development kit of the
odometry benchmark: poses are T_world_camera of the left camera (x right, y down, z forward).
"""

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from aerotwin_core import camera_messages, messages
from aerotwin_core.bag import BagWriter
from aerotwin_core.camera import PinholeCamera, StereoRig
from aerotwin_core.cli import progress
from aerotwin_core.errors import UserError
from aerotwin_core.frames import R_CAM_OPTICAL, make_transform, pose_from_transform
from aerotwin_core.messages import serialize
from aerotwin_core.picture_size import check_picture
from aerotwin_core.text_lines import text_lines

LEFT, RIGHT = "image_l", "image_r"
FOLDERS = ((LEFT, RIGHT), ("image_0", "image_1"))
"""Left and right pictures: under the names of some copies, and of the benchmark."""
_FRAMES = ("stereo_left_optical", "stereo_right_optical")


@dataclass(frozen=True, kw_only=True)
class KittiSequence:
    """A stereo sequence on disk.

    `left` and `right` are image files, pair by pair; `T_world_optical` (n, 4, 4) is the ground
    truth of the left camera, None without.
    """

    left: tuple[Path, ...]
    right: tuple[Path, ...]
    stamps_ns: np.ndarray
    rig: StereoRig
    T_world_optical: np.ndarray | None


def read_sequence(folder: Path) -> KittiSequence:
    """Return the sequence in a folder, with images in image_l/image_r or image_0/image_1.

    Raises `UserError`, naming the file that is missing or inconsistent.
    """
    pairs = [(folder / left, folder / right) for left, right in FOLDERS]
    found = next((pair for pair in pairs if pair[0].is_dir() and pair[1].is_dir()), None)
    if found is None:
        raise UserError(
            f"{folder}: no image folders (image_l and image_r, or image_0 and image_1); "
            "give the folder of one KITTI odometry sequence"
        )
    left, right = (tuple(sorted(f.glob("*.png"))) for f in found)
    n = len(left)
    if n == 0 or [f.name for f in left] != [f.name for f in right]:
        raise UserError(f"{folder}: expected equal, numbered PNG pairs, found {n} and {len(right)}")
    times = _numbers(folder / "times.txt", 1)[:, 0]
    if len(times) < n:
        raise UserError(f"{folder / 'times.txt'}: expected {n} stamps at least, found {len(times)}")
    poses_path = folder / "poses.txt"
    T_world_optical = None
    if poses_path.is_file():
        rows = _numbers(poses_path, 12)
        if len(rows) < n:
            raise UserError(f"{poses_path}: expected {n} poses at least, found {len(rows)}")
        T_world_optical = np.tile(np.eye(4), (n, 1, 1))
        T_world_optical[:, :3] = rows[:n].reshape(n, 3, 4)
    return KittiSequence(
        left=left,
        right=right,
        stamps_ns=np.round(times[:n] * 1e9).astype(np.int64),
        rig=_rig(folder / "calib.txt", left[0]),
        T_world_optical=T_world_optical,
    )


def write_bag(sequence: KittiSequence, path: Path) -> None:
    """Write the sequence as a bag with its stamps and the topics of this workspace.

    `map` is the left camera's first pose turned upright (x forward, z up); `base_link` is the left
    camera turned upright.
    """
    camera, baseline_m = sequence.rig.camera, sequence.rig.baseline_m
    T_base_optical = make_transform(R_CAM_OPTICAL, [0.0, 0.0, 0.0])
    with BagWriter(path) as bag:
        for name, kind, latched in _TOPICS:
            bag.add_topic(name, kind, latched=latched)
        first_ns = int(sequence.stamps_ns[0])
        fixed = messages.transform_message(_mounting(first_ns, T_base_optical, baseline_m))
        bag.write("/tf_static", first_ns, serialize(fixed))
        bar = progress(len(sequence.left), "writing the bag", unit="frame")
        for k, stamp_ns in enumerate(sequence.stamps_ns.tolist()):
            for side, file, offset_m in (
                (0, sequence.left[k], 0.0),
                (1, sequence.right[k], baseline_m),
            ):
                name = ("left", "right")[side]
                info = camera_messages.camera_info_message(
                    stamp_ns, _FRAMES[side], camera, offset_m
                )
                image = camera_messages.image_message(
                    stamp_ns, _FRAMES[side], read_image(file, camera)
                )
                bag.write(f"/stereo/{name}/camera_info", stamp_ns, serialize(info))
                bag.write(f"/stereo/{name}/image_raw", stamp_ns, serialize(image))
            if sequence.T_world_optical is not None:
                T_map_base = (
                    T_base_optical @ sequence.T_world_optical[k] @ np.linalg.inv(T_base_optical)
                )
                truth = messages.odometry_message(
                    stamp_ns,
                    "map",
                    "base_link_truth",
                    *pose_from_transform(T_map_base),
                    np.zeros(3),
                    np.zeros(3),
                    twist_variances=(1e6,) * 6,
                )
                bag.write("/truth/odom", stamp_ns, serialize(truth))
            bar.update(1)
        bar.close()


_TOPICS = (
    ("/tf_static", "tf2_msgs/msg/TFMessage", True),
    ("/stereo/left/camera_info", "sensor_msgs/msg/CameraInfo", False),
    ("/stereo/right/camera_info", "sensor_msgs/msg/CameraInfo", False),
    ("/stereo/left/image_raw", "sensor_msgs/msg/Image", False),
    ("/stereo/right/image_raw", "sensor_msgs/msg/Image", False),
    ("/truth/odom", "nav_msgs/msg/Odometry", False),
)


def _mounting(stamp_ns: int, T_base_optical: np.ndarray, baseline_m: float) -> list[object]:
    offset = make_transform(np.eye(3), [baseline_m, 0.0, 0.0])
    return [
        messages.transform_stamped(stamp_ns, "base_link", frame, *pose_from_transform(T))
        for frame, T in zip(_FRAMES, (T_base_optical, T_base_optical @ offset), strict=True)
    ]


def _numbers(path: Path, n_columns: int) -> np.ndarray:
    try:
        table = np.loadtxt(text_lines(path), ndmin=2)
    except OSError:
        raise UserError(f"{path}: is missing; a KITTI sequence needs it") from None
    except ValueError as error:
        raise UserError(f"{path}: not a table of numbers ({error})") from None
    if table.shape[1] != n_columns or not np.isfinite(table).all():
        raise UserError(f"{path}: expected {n_columns} finite numbers in each line")
    return table


def _rig(path: Path, first_image: Path) -> StereoRig:
    try:
        lines = [line.split(":")[-1].split() for line in text_lines(path) if line]
        projections = [np.array([float(x) for x in line]).reshape(3, 4) for line in lines[:2]]
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: expected P0 and P1, 12 numbers each ({error})") from None
    if len(projections) < 2:
        raise UserError(f"{path}: expected P0 and P1, found {len(projections)} lines")
    height, width = _decode(first_image).shape
    P0, P1 = projections
    camera = PinholeCamera(
        width=width, height=height, fx=P0[0, 0], fy=P0[1, 1], cx=P0[0, 2], cy=P0[1, 2]
    )
    return StereoRig(camera=camera, baseline_m=float((P0[0, 3] - P1[0, 3]) / P0[0, 0]))


def read_image(path: Path, camera: PinholeCamera) -> np.ndarray:
    """Return an image (h, w) uint8 of a sequence.

    Raises `UserError` if it is no image, or not of the camera's size.
    """
    image = _decode(path)
    if image.shape != (camera.height, camera.width):
        raise UserError(
            f"{path}: expected {camera.width}x{camera.height} pixels, found "
            f"{image.shape[1]}x{image.shape[0]}"
        )
    return image


def _decode(path: Path) -> np.ndarray:
    check_picture(path)
    image = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
    if image is None:
        raise UserError(f"{path}: not a readable image")
    return image
