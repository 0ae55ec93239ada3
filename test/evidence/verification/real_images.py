# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images of a real drive, each placed from a wrong start in the dense map of the frames beside it.

The first 51 frames of sequence 06 of KITTI (Geiger, Lenz, Urtasun 2012, CVPR). Every second stereo
pair makes the map; the right images of the pairs between are placed in it, each by itself, and
nothing is aligned afterwards. Where an image was truly taken is the given pose of its left camera
and the calibrated baseline. The same is done with the poses of our own stereo odometry, which
begins at the first given pose and is told nothing more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_campaign import FinishedRun, OverallFigures, RunContext
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
from evidence.data_folder import data_folder
from evidence.verification.pose_errors import PoseErrors, pooled_figures

SHIFT_M, TURN_DEG = 0.5, 2.0
"""Of the starts, each in a direction of its own."""
NEAR_M = 0.10
OWN = "own"
"""Poses of our own odometry; with others, given, no image may be lost."""
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


def place_seed(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Place every image from the starts of the seed of a run.

    With the poses of our own odometry, the images are compared with these, in whose frame the map
    is, and, as `from_given_...`, with those of the data set: then the odometry's drift is in them.
    """
    drive, is_own = read_drive(data_folder(document)), document["poses"] == OWN
    T_map_left = drive.T_map_left_own if is_own else drive.T_map_left_external
    placed = place_images(drive, T_map_left, context.seed)
    errors = errors_of(placed, right_poses(drive.rig, T_map_left))
    errors.save(context.folder)
    metrics = errors.figures(LOST_M, NEAR_M)
    if is_own:
        given = errors_of(placed, right_poses(drive.rig, drive.T_map_left_external))
        found = given.figures(LOST_M, NEAR_M)
        metrics |= {f"from_given_{key}": found[key] for key in ("median_m", "worst_m")}
    n_lost = metrics["n_lost"]
    return {
        "metrics": metrics,
        "is_success": is_own or n_lost == 0,
        "outcome": f"{n_lost} of {metrics['n']} images are lost",
    }


def figures(runs: Sequence[FinishedRun]) -> OverallFigures:
    """Return the figures over all seeds, for each kind of poses."""
    return pooled_figures(
        runs, "poses", "Images of a drive in the map beside them", lost_m=LOST_M, near_m=NEAR_M
    )


def errors_of(placed: Sequence[FloatArray | None], T_true: FloatArray) -> PoseErrors:
    """Return how far images, None where nothing was found, are from their true poses."""
    is_found = np.array([T is not None for T in placed])
    E = np.array([
        np.full((4, 4), np.nan) if T is None else np.linalg.inv(truth) @ T
        for T, truth in zip(placed, T_true, strict=True)
    ])  # fmt: skip
    turns_deg = np.full(len(E), np.nan)
    turns = Rotation.from_matrix(E[is_found, :3, :3]) if is_found.any() else None
    if turns is not None:
        turns_deg[is_found] = np.degrees(turns.magnitude())
    return PoseErrors(
        shifts_m=np.linalg.norm(E[:, :3, 3], axis=1), turns_deg=turns_deg, is_found=is_found
    )


def right_poses(rig: StereoRig, T_map_left: FloatArray) -> FloatArray:
    """Return the poses of the right camera at the pairs 1, 3, 5 ..., from those of the left."""
    return T_map_left[1::2] @ make_transform(np.eye(3), [rig.baseline_m, 0.0, 0.0])


def place_images(drive: Drive, T_map_left: FloatArray, seed: int) -> list[FloatArray | None]:
    """Place the images in the map of the key-frames at some poses; None where nothing was found."""
    camera, T_true = drive.rig.camera, right_poses(drive.rig, T_map_left)
    views = VirtualViews(_made_map(drive, T_map_left), camera, T_map_left[::2], LOCALIZATION)
    try:
        return [
            ImageLocalizer(views).localize(image, wrong_start(T_true[k], seed, k)).T_map_cam
            for k, image in enumerate(drive.images)
        ]
    finally:
        views.close()


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
