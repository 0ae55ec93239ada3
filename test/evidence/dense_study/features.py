# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Features on the images of a scan, against the mapping key-frames and against virtual ones."""

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_dense_localization.localization import (
    ImageLocalization,
    LocalizationParameters,
    Status,
    virtual_poses,
)
from aerotwin_dense_localization.mapping import DenseMap
from aerotwin_dense_localization.splats import SplatRasteriser
from aerotwin_scenarios.dense_localization.mapping import MadeMap
from aerotwin_scenarios.dense_localization.scanning import CAMERA, parameters_at
from evidence.dense_study.baselines import FeatureMap, FeaturePose, Reference

_DETECTORS = ("orb", "sift")


class FeatureBaselines:
    """Localises the images of a scan by features, in four ways.

    `orb_mapping` and `sift_mapping` know the key-frames of the mapping flight with their depth, as
    a feature SLAM that localises in its map; `orb_virtual` and `sift_virtual` the virtual
    key-frames of direct alignment, rendered from the dense map.

    Parameters
    ----------
    made : MadeMap
    path : (n, 4, 4) array
        T_map_optical, planned.
    standoff_m : float
        Planned distance from the wall [m].
    parameters : LocalizationParameters, optional
        Of the virtual key-frames.
    """

    def __init__(
        self,
        made: MadeMap,
        path: FloatArray,
        standoff_m: float,
        parameters: LocalizationParameters | None = None,
    ) -> None:
        p = parameters_at(standoff_m) if parameters is None else parameters
        poses = virtual_poses(
            path, CAMERA, distance_m=standoff_m, overlap=p.overlap, setback_m=p.setback_m
        )
        references = {
            "mapping": [
                Reference(
                    grey=keyframe.grey.round().astype(np.uint8),
                    depth=keyframe.depth,
                    camera=keyframe.camera,
                    T_map_optical=keyframe.T_map_optical,
                )
                for keyframe in made.keyframes
            ],
            "virtual": _rendered(made.dense_map, poses, p),
        }
        self._maps = {
            detector: {kind: FeatureMap(known, detector) for kind, known in references.items()}
            for detector in _DETECTORS
        }

    def localize(
        self, grey: np.ndarray, T_map_expected: FloatArray
    ) -> dict[str, ImageLocalization]:
        """Return where each method places an image (h, w) uint8, by its name.

        Each image is localised by itself; features are told where it is expected, and choose by it
        what to search.

        Parameters
        ----------
        grey : (h, w) uint8 array
            Of `CAMERA`.
        T_map_expected : (4, 4) array
            In the map.
        """
        found = {}
        for detector, maps in self._maps.items():
            features = maps["mapping"].features(grey)
            for kind, known in maps.items():
                pose = known.localize(features, CAMERA, T_map_expected)
                found[f"{detector}_{kind}"] = _localization(pose)
        return found


def _rendered(
    dense_map: DenseMap, poses: FloatArray, parameters: LocalizationParameters
) -> list[Reference]:
    """Return views of a map; where it has a hole, its mean stands and no depth."""
    rasteriser, references = SplatRasteriser(CAMERA, parameters.splats), []
    for T in poses:
        seen = rasteriser.render(dense_map.visible(CAMERA, T), T)
        is_known = np.isfinite(seen.grey)
        mean = float(seen.grey[is_known].mean()) if is_known.any() else 0.0
        grey = np.clip(np.where(is_known, seen.grey, mean), 0.0, 255.0).round().astype(np.uint8)
        references.append(Reference(grey=grey, depth=seen.depth, camera=CAMERA, T_map_optical=T))
    return references


def _localization(pose: FeaturePose) -> ImageLocalization:
    is_lost = pose.T_map_cam is None
    return ImageLocalization(
        status=Status.LOST if is_lost else Status.TRACKED,
        T_map_cam=pose.T_map_cam,
        covariance=None,
        correlation=0.0,
        overlap=0.0,
        reason=f"{pose.n_inliers} of {pose.n_matches} matches agree" if is_lost else "",
    )
