# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images of a real drive, each placed from a wrong start in the dense map of the frames beside it.

The first 51 frames of sequence 06 of KITTI (Geiger, Lenz, Urtasun 2012, CVPR). Every second stereo
pair makes the map; the right images of the pairs between are placed in it, each by itself, and
nothing is aligned afterwards. Where an image was truly taken is the given pose of its left camera
and the calibrated baseline. The same is done with the poses of our own stereo odometry, which
begins at the first given pose and is told nothing more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import StereoRig
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray, make_transform
from aerotwin_datasets.kitti_sequence import read_image, read_sequence
from aerotwin_dense_localization.alignment import AlignmentParameters
from aerotwin_dense_localization.depth import StereoDepth, StereoParameters
from aerotwin_dense_localization.localization import (
    ImageLocalizer,
    LocalizationParameters,
    VirtualViews,
)
from aerotwin_dense_localization.mapping import (
    DenseMap,
    MapParameters,
    SplatMapBuilder,
    StereoKeyframe,
)
from aerotwin_scenarios.dense_localization.scanning import LOST_M
from aerotwin_stereo_odometry import StereoOdometry

FOLDER = Path("image_sequences", "kitti_seq_1")
SHIFT_M, TURN_DEG = 0.5, 2.0
"""Of the starts, each in a direction of its own."""
MEDIAN_M, MEDIAN_DEG = 0.04, 0.1
NEAR_M, NEAR_SHARE = 0.10, 0.95
STEREO = StereoParameters(nearest_m=5.0, farthest_m=80.0)
"""The road comes into the picture 6.2 m ahead. What is far holds the attitude: the disparity at
80 m is 4.7 px."""
SURFACES = MapParameters(reach_m=3.0)
"""Steps of the given poses lead a quarter of a degree beside where the pictures go, and 0.7 % less
far: in one map, what is seen from ten metres apart stands twice, 8 cm from each other."""
LOCALIZATION = LocalizationParameters(
    setback_m=0.0, n_refinements=1, alignment=AlignmentParameters(n_levels=5)
)
"""The path looks where it goes: there is nothing to step back from. The starts move what is near by
60 px, four at the coarsest of five levels."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Drive:
    """What a stereo rig saw on a drive.

    Attributes
    ----------
    rig : StereoRig
    keyframes : tuple of StereoKeyframe
        The pairs 0, 2, 4 ...
    images : tuple of (h, w) uint8 arrays
        The right images of the pairs 1, 3, 5 ...
    T_map_left_given, T_map_left_own : (n, 4, 4) arrays
        Poses of the left camera at every pair: of the data set, and of our own odometry.
    """

    rig: StereoRig
    keyframes: tuple[StereoKeyframe, ...]
    images: tuple[np.ndarray, ...]
    T_map_left_external: FloatArray
    T_map_left_own: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Placed:
    """Where images were placed.

    Attributes
    ----------
    T_map_cam : (n_seeds, n_images, 4, 4) array
        Where nothing was found, the start: that is all that is known then.
    is_placed : (n_seeds, n_images) bool array
    """

    T_map_cam: FloatArray
    is_placed: np.ndarray


def read_drive(folder: Path, n_pairs: int | None = None) -> Drive:
    """Return the first pairs of a KITTI sequence, all by default.

    Raises
    ------
    aerotwin_core.errors.UserError
        If a file is missing or not what it should be.
    """
    sequence = read_sequence(folder)
    if sequence.T_world_optical is None:
        raise UserError(f"{folder / 'poses.txt'}: is missing; the map is made with given poses")
    camera, provided = sequence.rig.camera, sequence.T_world_optical[:n_pairs]
    stereo = StereoDepth(camera, sequence.rig.baseline_m, STEREO)
    odometry, own, keyframes, images = StereoOdometry(sequence.rig), [], [], []
    for k, T_source in enumerate(provided):
        stamp_ns = int(sequence.stamps_ns[k])
        left, right = (read_image(side[k], camera) for side in (sequence.left, sequence.right))
        own.append(provided[0] @ odometry.track(stamp_ns, left, right).T_odom_optical)
        if k % 2 == 1:
            images.append(right)
            continue
        found = stereo.depth(left, right)
        keyframes.append(
            StereoKeyframe(
                stamp_ns=stamp_ns,
                image=left,
                depth=found.depth,
                variance=found.variance,
                camera=camera,
                T_map_optical=T_source,
            )
        )
    return Drive(
        rig=sequence.rig,
        keyframes=tuple(keyframes),
        images=tuple(images),
        T_map_left_external=provided,
        T_map_left_own=np.array(own),
    )


def place_kitti_images(data: Path, seeds: Sequence[int], *, is_quiet: bool) -> list[dict[str, Any]]:
    """Place every image from starts of every seed; return a row per kind of poses.

    Without the data there is one row that says so; its `met` is None.
    """
    from aerotwin_core.cli import progress, say

    folder = data / FOLDER
    if not folder.is_dir():
        skipped = f"skipped, real data not present: {FOLDER} (looked in {data}; --data names it)"
        if not is_quiet:
            say(f"kitti: {skipped}")
        return [{"name": "kitti", "skipped": skipped, "met": None}]
    drive = read_drive(folder)
    bar = progress(2 * len(drive.images) * len(seeds), "kitti", unit="image")
    rows = [input_row(drive, seeds, bar.update), own_row(drive, seeds, bar.update)]
    bar.close()
    for row in rows if not is_quiet else ():
        verdict = {None: "no bar", True: "met", False: "MISSED"}[row["met"]]
        say(f"{row['name']}: {row['n_lost']} of {row['n']} lost, median {row['median_m']:.4f} m "
            f"and {row['median_deg']:.3f} deg, {row['share_near']:.1%} within {NEAR_M:g} m, worst "
            f"{row['worst_m']:.4f} m: {verdict}")  # fmt: skip
    return rows


def input_row(
    drive: Drive, seeds: Sequence[int], on_image: Callable[[], object] = lambda: None
) -> dict[str, Any]:
    """Return the figures of a map with the given poses, against their bars."""
    found = place_images(drive, drive.T_map_left_external, seeds, on_image)
    row = _figures(found, right_poses(drive.rig, drive.T_map_left_external))
    is_met = row["n_lost"] == 0 and row["share_near"] >= NEAR_SHARE
    is_met = is_met and row["median_m"] <= MEDIAN_M and row["median_deg"] <= MEDIAN_DEG
    return {"name": "kitti 06, given poses", **row, "met": is_met}


def own_row(
    drive: Drive, seeds: Sequence[int], on_image: Callable[[], object] = lambda: None
) -> dict[str, Any]:
    """Return the figures of a map with the poses of our own odometry, which have no bar.

    The images are compared with the odometry's own poses, in whose frame the map is, and, as
    `from_input`, with the given ones: then the odometry's drift is in them.
    """
    found = place_images(drive, drive.T_map_left_own, seeds, on_image)
    row = _figures(found, right_poses(drive.rig, drive.T_map_left_own))
    from_input = _figures(found, right_poses(drive.rig, drive.T_map_left_external))
    retained = ("median_m", "median_deg", "worst_m", "worst_deg")
    row["from_given"] = {name: from_input[name] for name in retained}
    return {"name": "kitti 06, poses of our own odometry", **row, "met": None}


def right_poses(rig: StereoRig, T_map_left: FloatArray) -> FloatArray:
    """Return the poses of the right camera at the pairs 1, 3, 5 ..., from those of the left."""
    return T_map_left[1::2] @ make_transform(np.eye(3), [rig.baseline_m, 0.0, 0.0])


def place_images(
    drive: Drive,
    T_map_left: FloatArray,
    seeds: Sequence[int],
    on_image: Callable[[], object] = lambda: None,
) -> Placed:
    """Place the images in the map of the key-frames at some poses, from starts of every seed."""
    camera, T_true = drive.rig.camera, right_poses(drive.rig, T_map_left)
    shape = (len(seeds), len(drive.images))
    T_map_cam, is_placed = np.empty((*shape, 4, 4)), np.zeros(shape, bool)
    views = VirtualViews(_made_map(drive, T_map_left), camera, T_map_left[::2], LOCALIZATION)
    try:
        for k, image in enumerate(drive.images):
            for j, seed in enumerate(seeds):
                start = wrong_start(T_true[k], seed, k)
                found = ImageLocalizer(views).localize(image, start).T_map_cam
                is_placed[j, k] = found is not None
                T_map_cam[j, k] = start if found is None else found
                on_image()
    finally:
        views.close()
    return Placed(T_map_cam=T_map_cam, is_placed=is_placed)


def wrong_start(T_true: FloatArray, seed: int, k: int) -> FloatArray:
    """Return a pose that is as far off as the starts are, in directions drawn for image k."""
    rng = np.random.default_rng([seed, k])
    shift, axis = (way / np.linalg.norm(way) for way in rng.normal(size=(2, 3)))
    turn = Rotation.from_rotvec(np.radians(TURN_DEG) * axis)
    return T_true @ make_transform(turn.as_matrix(), SHIFT_M * shift)


def _made_map(drive: Drive, T_map_left: FloatArray) -> DenseMap:
    builder = SplatMapBuilder(SURFACES)
    for keyframe, T in zip(drive.keyframes, T_map_left[::2], strict=True):
        builder.add(keyframe.at(T))
    return builder.finished()


def _figures(placed: Placed, T_true: FloatArray) -> dict[str, Any]:
    """Return the figures of all images, those that are lost among them."""
    E = np.linalg.inv(T_true) @ placed.T_map_cam
    shifts_m = np.linalg.norm(E[..., :3, 3], axis=-1)
    turns = Rotation.from_matrix(E[..., :3, :3].reshape(-1, 3, 3))
    turns_deg = np.degrees(turns.magnitude()).reshape(shifts_m.shape)
    is_lost = ~placed.is_placed | (shifts_m > LOST_M)
    return {
        "n": shifts_m.size,
        "n_lost": int(is_lost.sum()),
        "median_m": float(np.median(shifts_m)),
        "median_deg": float(np.median(turns_deg)),
        "share_near": float((shifts_m <= NEAR_M).mean()),
        "p95_m": float(np.quantile(shifts_m, 0.95)),
        "p95_deg": float(np.quantile(turns_deg, 0.95)),
        "worst_m": float(shifts_m.max()),
        "worst_deg": float(turns_deg.max()),
        "images": [
            {
                "frame": 2 * k + 1,
                "n_lost": int(is_lost[:, k].sum()),
                "median_m": float(np.median(shifts_m[:, k])),
                "median_deg": float(np.median(turns_deg[:, k])),
                "worst_m": float(shifts_m[:, k].max()),
            }
            for k in range(shifts_m.shape[1])
        ],
    }
