# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images of a real drive, each searched for in a dense map without any expectation.

The same frames of KITTI 06 as `real_images`. Every second or every fourth stereo pair makes a map,
as `aerotwin map --poses truth` does; images of the pairs between, of either camera, with another
exposure, blur and noise, are searched for in it one by one, as `aerotwin localize --search` begins.
A wrong pose that is believed is worse than none: there must be none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np

from aerotwin_campaign import FinishedRun, OverallFigures, RunContext
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray, make_transform
from aerotwin_datasets.kitti_sequence import KittiSequence, read_image, read_sequence
from aerotwin_dense_localization.depth import StereoParameters
from aerotwin_dense_localization.localization import (
    ImageLocalization,
    ImageLocalizer,
    LocalizationParameters,
    VirtualViews,
)
from aerotwin_dense_localization.mapping import DenseMap, MapParameters
from aerotwin_dense_localization.mapping.recorder import MapRecorder, RecorderParameters
from aerotwin_scenarios.dense_localization.commands.scan_task import views_of_mapping
from aerotwin_scenarios.dense_localization.scanning import LOST_M
from evidence.data_folder import data_folder
from evidence.verification.pose_errors import pooled_figures
from evidence.verification.real_images import NEAR_M, STEREO, SURFACES, errors_of


@dataclass(frozen=True, kw_only=True)
class MapCase:
    """A map that images are searched for in.

    Attributes
    ----------
    name : str
        As in the campaign.
    every : int
        Every n-th pair is mapped.
    stereo, surfaces : StereoParameters, MapParameters
    """

    name: str
    every: int
    stereo: StereoParameters = field(default_factory=StereoParameters)
    surfaces: MapParameters = field(default_factory=MapParameters)


CASES = (
    MapCase(name="default_2nd", every=2),
    MapCase(name="default_4th", every=4),
    MapCase(
        name="far_2nd", every=2,
        stereo=STEREO, surfaces=SURFACES,
    ),
    MapCase(
        name="far_4th", every=4,
        stereo=STEREO, surfaces=MapParameters(reach_m=6.0),
    ),
)  # fmt: skip
"""As `aerotwin map` makes them without a word, and as suits a street: depth up to 80 m, and of the
surfaces only those next to a key-frame, which stand 2.4 m and 4.7 m apart."""
N_IMAGES = 5
"""Of each seed."""
GAIN, BLUR_PX, NOISE_DN = (0.7, 1.3), (0.2, 1.0), (1.0, 4.0)
"""Ranges of what an image differs by from the recorded one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Searched:
    """An image and where it was found.

    Attributes
    ----------
    frame : int
    T_map_cam : (4, 4) array
        Where it was truly taken.
    found : ImageLocalization
    """

    frame: int
    T_map_cam: FloatArray
    found: ImageLocalization

    @property
    def error_m(self) -> FloatArray:
        """Of the position that was found (3,) [m], in axes of the map; NaN without one."""
        if self.found.T_map_cam is None:
            return np.full(3, np.nan)
        return self.found.T_map_cam[:3, 3] - self.T_map_cam[:3, 3]

    @property
    def nees(self) -> float:
        """Squared error of the position over its covariance, mean of the 3 axes; NaN without."""
        if self.found.covariance is None:
            return float("nan")
        error_m = self.error_m
        return float(error_m @ np.linalg.solve(self.found.covariance[:3, :3], error_m)) / 3.0


def search_seed(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Search for the images of the seed of a run in a map; none may be placed wrongly.

    Raises
    ------
    aerotwin_core.errors.UserError
        If a file is missing or not what it should be.
    """
    (case,) = (case for case in CASES if case.name == document["map"])
    searched = search_images(read_sequence(data_folder(document)), case, context.seed)
    errors = errors_of(
        [one.found.T_map_cam for one in searched], np.array([one.T_map_cam for one in searched])
    )
    errors.save(context.folder)
    nees = [one.nees for one in searched if one.found.is_localized]
    metrics = errors.figures(LOST_M, NEAR_M) | {"nees": float(np.mean(nees)) if nees else None}
    lost = [f"frame {one.frame}: {one.found.reason}" for one in searched
            if not one.found.is_localized]  # fmt: skip
    outcome = "; ".join([f"{metrics['n_wrong']} placed wrongly", *lost])
    return {"metrics": metrics, "is_success": metrics["n_wrong"] == 0, "outcome": outcome}


def figures(runs: Sequence[FinishedRun]) -> OverallFigures:
    """Return the figures over all seeds, for each map."""
    return pooled_figures(
        runs, "map", "Images of a drive, searched for", lost_m=LOST_M, near_m=NEAR_M
    )


def search_images(sequence: KittiSequence, case: MapCase, seed: int) -> list[Searched]:
    """Return where images were found in a map, each without an expectation."""
    if sequence.T_world_optical is None:
        raise UserError("poses.txt: is missing; the map is made with given poses")
    T_map_left = sequence.T_world_optical
    dense_map = _made_map(sequence, T_map_left, case)
    parameters = LocalizationParameters()
    poses = views_of_mapping(dense_map, parameters)
    views = VirtualViews(dense_map, sequence.rig.camera, poses, parameters)
    rng, searched = np.random.default_rng(seed), []
    between = [k for k in range(len(sequence.stamps_ns)) if k % case.every]
    try:
        for k in rng.permutation(between)[:N_IMAGES].tolist():
            image, T_left_cam = _drawn(sequence, k, rng)
            found = ImageLocalizer(views).localize(image)
            searched.append(Searched(frame=k, T_map_cam=T_map_left[k] @ T_left_cam, found=found))
    finally:
        views.close()
    return searched


def _made_map(sequence: KittiSequence, T_map_left: FloatArray, case: MapCase) -> DenseMap:
    """Return the map of every n-th pair, each of which becomes a key-frame."""
    parameters = RecorderParameters(
        rate_hz=100.0, max_overlap=0.99, stereo=case.stereo, surfaces=case.surfaces
    )
    recorder, camera = MapRecorder(sequence.rig, parameters), sequence.rig.camera
    for k in range(0, len(sequence.stamps_ns), case.every):
        left, right = (read_image(side[k], camera) for side in (sequence.left, sequence.right))
        recorder.add(int(sequence.stamps_ns[k]), left, right, T_map_left[k])
    return recorder.finished(are_poses_saved=True).dense_map


def _drawn(
    sequence: KittiSequence, k: int, rng: np.random.Generator
) -> tuple[np.ndarray, FloatArray]:
    """Return a picture of frame k as another camera would take it, and where on the rig it sits."""
    is_left = rng.random() < 0.5
    side, right_m = (sequence.left, 0.0) if is_left else (sequence.right, sequence.rig.baseline_m)
    picture = read_image(side[k], sequence.rig.camera).astype(np.float64)
    blurred = cv2.GaussianBlur(picture, (0, 0), rng.uniform(*BLUR_PX))
    noise = rng.normal(0.0, rng.uniform(*NOISE_DN), picture.shape)
    image = np.clip(rng.uniform(*GAIN) * blurred + noise, 0.0, 255.0).astype(np.uint8)
    return image, make_transform(np.eye(3), [right_m, 0.0, 0.0])
