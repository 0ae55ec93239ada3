# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sequences of the KITTI odometry benchmark on disk: rectified stereo pairs, numbered.

`poses.txt` has the poses of camera 0 (x right, y down, z ahead) in its first one; `calib.txt` the
projections P0 to P3 of points of camera 0 to rectified images: 0 and 1 are the grey pair, 2 and 3
that in colour.

References
----------
Geiger, Lenz, Urtasun, "Are we ready for autonomous driving?", CVPR 2012; development kit of the
odometry benchmark.
"""

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from aerotwin_core.camera import PinholeCamera, StereoRig
from aerotwin_core.errors import UserError
from aerotwin_core.frames import make_transform
from aerotwin_core.picture_size import check_picture
from aerotwin_datasets.tables import rows, stamp_of

PAIRS = (("image_0", "image_1"), ("image_2", "image_3"), ("image_l", "image_r"))
"""Folders of left and right images: of the benchmark, and of some copies."""
_PROJECTIONS = {"image_0": "P0", "image_1": "P1", "image_2": "P2", "image_3": "P3",
                "image_l": "P0", "image_r": "P1"}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class KittiSequence:
    """A stereo sequence on disk.

    `left` and `right` are n image files of `width` x `height` pixels, pair by pair, `stamps_ns`
    (n,) their stamps, `projections` P (3, 4) of both. `T_world_optical` (n, 4, 4) are the true
    poses of the left camera in the first one of camera 0, None without.
    """

    left: tuple[Path, ...]
    right: tuple[Path, ...]
    stamps_ns: np.ndarray
    projections: tuple[np.ndarray, np.ndarray]
    width: int
    height: int
    T_world_optical: np.ndarray | None

    @property
    def baseline_m(self) -> float:
        """Distance of the cameras [m]."""
        left, right = self.projections
        return float((left[0, 3] - right[0, 3]) / left[0, 0])

    @property
    def rig(self) -> StereoRig:
        """The pair as two cameras like the left one."""
        P = self.projections[0]
        camera = PinholeCamera(
            width=self.width, height=self.height, fx=P[0, 0], fy=P[1, 1], cx=P[0, 2], cy=P[1, 2]
        )
        return StereoRig(camera=camera, baseline_m=self.baseline_m)


def is_kitti(folder: Path) -> bool:
    """Return whether a folder looks like a sequence."""
    return any((folder / left).is_dir() for left, _ in PAIRS)


def read_sequence(folder: Path) -> KittiSequence:
    """Return the sequence in a folder.

    Raises `UserError`, naming file and line, if it is none.
    """
    names = next((n for n in PAIRS if all((folder / each).is_dir() for each in n)), None)
    if names is None:
        raise UserError(
            f"{folder}: expected image_0 and image_1 (or 2 and 3, or image_l and image_r); give "
            "the folder of one KITTI odometry sequence"
        )
    left, right = (tuple(sorted((folder / name).glob("*.png"))) for name in names)
    if not left or [f.name for f in left] != [f.name for f in right]:
        raise UserError(
            f"{folder}: expected equal, numbered PNG pairs, found {len(left)} and {len(right)}"
        )
    stamps = _stamps(folder / "times.txt")
    lines = _lines(left, folder / "times.txt", len(stamps))
    poses = folder / "poses.txt"
    T_world_cam0 = _poses(poses, lines[-1] + 1)[lines] if poses.is_file() else None
    projections = _projections(folder / "calib.txt", names)
    P = projections[0]
    T_cam0_left = make_transform(np.eye(3), -np.linalg.solve(P[:, :3], P[:, 3]))
    width, height = check_picture(left[0])
    return KittiSequence(
        left=left,
        right=right,
        stamps_ns=np.array(stamps, dtype=np.int64)[lines],
        projections=projections,
        width=width,
        height=height,
        T_world_optical=None if T_world_cam0 is None else T_world_cam0 @ T_cam0_left,
    )


def read_image(path: Path, camera: PinholeCamera) -> np.ndarray:
    """Return the brightness (h, w) uint8 of an image of a sequence.

    Raises `UserError` if it is no image, or not of the camera's size.
    """
    check_picture(path)
    image = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
    if image is None:
        raise UserError(f"{path}: not an image that can be read; remove it")
    if image.shape != (camera.height, camera.width):
        raise UserError(
            f"{path}: expected {camera.width}x{camera.height} pixels, found "
            f"{image.shape[1]}x{image.shape[0]}"
        )
    return image


def _stamps(path: Path) -> list[int]:
    stamps: list[int] = []
    for number, cells in rows(path, None):
        stamp = stamp_of(path, number, cells[0], 9)
        if stamps and stamp <= stamps[-1]:
            raise UserError(f"{path}:{number}: stamps must increase, found {stamp} ns")
        stamps.append(stamp)
    return stamps


def _lines(files: tuple[Path, ...], times: Path, n_stamps: int) -> list[int]:
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


def _poses(path: Path, n: int) -> np.ndarray:
    """Return the first n poses (n, 4, 4)."""
    poses = []
    for (number, cells), _ in zip(rows(path, None), range(n), strict=False):
        T = _matrix(cells, f"{path}:{number}: expected 12 numbers")
        if not np.isfinite(T).all() or abs(np.linalg.det(T[:, :3]) - 1.0) > 1e-2:
            raise UserError(f"{path}:{number}: expected a rotation and a position")
        poses.append(np.vstack([T, [0.0, 0.0, 0.0, 1.0]]))
    if len(poses) < n:
        raise UserError(f"{path}: expected {n} poses, found {len(poses)}")
    return np.array(poses)


def _projections(path: Path, names: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Return P (3, 4) of two cameras; lines without names are P0 and P1."""
    found: dict[str, np.ndarray] = {}
    for k, (number, cells) in enumerate(rows(path, None)):
        name = cells.pop(0).rstrip(":") if cells[0][-1] == ":" else f"P{k}"
        if name not in _PROJECTIONS.values():
            continue
        P = _matrix(cells, f"{path}:{number}: expected 12 numbers of {name}")
        if not (np.isfinite(P).all() and P[0, 0] > 0.0 and P[1, 1] > 0.0):
            raise UserError(f"{path}:{number}: expected finite numbers and focal lengths above 0")
        if not np.linalg.det(P[:, :3]) > 0.0:
            raise UserError(f"{path}:{number}: expected a camera's matrix in {name}")
        found[name] = P
    first, second = (_PROJECTIONS[name] for name in names)
    missing = [name for name in (first, second) if name not in found]
    if missing:
        raise UserError(f"{path}: {' and '.join(missing)} are missing, of {' and '.join(names)}")
    left, right = found[first], found[second]
    baseline_m = (left[0, 3] - right[0, 3]) / left[0, 0]
    if baseline_m <= 0.0:
        raise UserError(
            f"{path}: expected the camera of {second} right of that of {first}, found a baseline "
            f"of {baseline_m:g} m; is the fourth number of {second} missing?"
        )
    return left, right


def _matrix(cells: list[str], message: str) -> np.ndarray:
    try:
        return np.array([float(cell) for cell in cells]).reshape(3, 4)
    except ValueError:
        raise UserError(message) from None
