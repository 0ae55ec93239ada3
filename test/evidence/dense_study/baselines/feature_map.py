# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Localisation by features of images with depth, matched, and a pose from n points.

Against the key-frames of the mapping flight this is what the localisation mode of a feature SLAM
does; against virtual key-frames it has the same views as direct alignment. Where in doubt, features
are favoured: they are told where the image is expected, and search only what is seen from there; 12
of them make a pose, where ORB-SLAM3 asks for 30 while it tracks and for 50 when it was lost.

References
----------
Campos et al.: ORB-SLAM3. T-RO 37(6), 2021, and its `Tracking::TrackLocalMap`, `Relocalization`.
Lowe: Distinctive image features from scale-invariant keypoints. IJCV 60(2), 2004 (ratio test).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import FloatArray, invert_transform, transform_points
from evidence.dense_study.baselines.camera_pose import camera_pose
from evidence.dense_study.baselines.features import BaselineFeatures, Detector

N_FEATURES, N_OF_REFERENCE = 3000, 6000
"""Of an image, and of a key-frame, which shows more; ORB-SLAM3 takes 1200 of 752 x 480 pixels."""
RATIO, MIN_INLIERS = 0.8, 12
N_REFERENCES = 3
REACH_M = 1.0
"""What lies so far beside the expected view is searched as well."""
_EDGE = 1.05
"""A place between pixels whose depths differ by more is on an edge, and left out."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """An image with depth at a known pose.

    Attributes
    ----------
    grey : (h, w) uint8 array
    depth : (h, w) array
        [m]; NaN where unknown.
    camera : PinholeCamera
    T_map_optical : (4, 4) array
    """

    grey: np.ndarray
    depth: np.ndarray
    camera: PinholeCamera
    T_map_optical: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class FeaturePose:
    """What features say of an image.

    Attributes
    ----------
    T_map_cam : (4, 4) array or None
        None where too few agree.
    n_matches, n_inliers : int
        Features of the image that were matched, and those that agree.
    """

    T_map_cam: FloatArray | None
    n_matches: int
    n_inliers: int


@dataclass(frozen=True, kw_only=True, eq=False)
class _Known:
    """Features of a reference with their places in the map, and how well those are known."""

    features: BaselineFeatures
    points_map: FloatArray
    sigmas_m: FloatArray


class FeatureMap:
    """Features with places.

    Parameters
    ----------
    references : sequence of Reference
    detector : str
        "orb" or "sift".
    """

    def __init__(self, references: Sequence[Reference], detector: str) -> None:
        self._of_image = Detector(detector, N_FEATURES)
        self._of_reference = Detector(detector, N_OF_REFERENCE)
        self._known = [self._known_of(reference) for reference in references]

    def features(self, grey: np.ndarray) -> BaselineFeatures:
        """Return the features of an image (h, w) uint8; they serve every map of its detector."""
        return self._of_image.find(grey)

    def localize(
        self, image: BaselineFeatures, camera: PinholeCamera, T_map_expected: FloatArray
    ) -> FeaturePose:
        """Return where an image was taken.

        Parameters
        ----------
        image : BaselineFeatures
            Of the image.
        camera : PinholeCamera
        T_map_expected : (4, 4) array
            The references that show most of what is seen from there are used, and of these what
            lies in the view or 1 m beside it.
        """
        T_cam_map = invert_transform(T_map_expected)
        views = [transform_points(T_cam_map, known.points_map) for known in self._known]
        n_shown = [int(camera.shows(points).sum()) for points in views]
        mine, places, sigmas = [], [], []
        for k in np.argsort(-np.array(n_shown), kind="stable")[:N_REFERENCES]:
            known, near = self._known[k], _near(camera, views[k])
            query, train = self._of_image.matches(image, known.features.select(near), RATIO)
            theirs = near[train]
            mine.append(query)
            places.append(known.points_map[theirs])
            depth = np.maximum(views[k][theirs, 2], 1e-3)
            sigmas.append(np.hypot(image.scales[query] / camera.fx, known.sigmas_m[theirs] / depth))
        chosen = np.concatenate(mine) if mine else np.empty(0, int)
        n_matches = len(np.unique(chosen))
        if n_matches < MIN_INLIERS:
            return FeaturePose(T_map_cam=None, n_matches=n_matches, n_inliers=0)
        rays = camera.rays_at(image.pixels[chosen])
        T_map_cam, agrees = camera_pose(
            np.concatenate(places), rays, np.concatenate(sigmas), MIN_INLIERS
        )
        n_inliers = len(np.unique(chosen[agrees]))  # a feature may be matched in several references
        if n_inliers < MIN_INLIERS:
            T_map_cam = None
        return FeaturePose(T_map_cam=T_map_cam, n_matches=n_matches, n_inliers=n_inliers)

    def _known_of(self, reference: Reference) -> _Known:
        """Return the features of a reference whose depth is known."""
        is_known = np.isfinite(reference.depth) & (reference.depth > 0.0)
        features = self._of_reference.find(reference.grey, is_known)
        depth = _between(reference.depth, features.pixels)
        features, depth = features.select(np.isfinite(depth)), depth[np.isfinite(depth)]
        points = reference.camera.unproject(features.pixels, depth)
        return _Known(
            features=features,
            points_map=transform_points(reference.T_map_optical, points),
            sigmas_m=features.scales * depth / reference.camera.fx,
        )


def _near(camera: PinholeCamera, points_cam: FloatArray) -> np.ndarray:
    """Return the indices of points in a camera's frame (n, 3) in its view or a reach beside it."""
    pulled = points_cam.copy()
    pulled[:, :2] -= np.clip(pulled[:, :2], -REACH_M, REACH_M)
    return np.flatnonzero(camera.shows(pulled))


def _between(depth: np.ndarray, pixels: FloatArray) -> FloatArray:
    """Return the depth at places (n, 2), of their four pixels; NaN outside and on edges."""
    rows, columns = depth.shape
    corner = np.floor(pixels).astype(int)
    is_inside = ((corner >= 0) & (corner < [columns - 1, rows - 1])).all(axis=1)
    u, v = np.clip(corner, 0, [columns - 2, rows - 2]).T
    a, b = (pixels - corner).T
    four = np.stack([depth[v, u], depth[v, u + 1], depth[v + 1, u], depth[v + 1, u + 1]])
    is_even = four.max(axis=0) <= _EDGE * four.min(axis=0)  # not where one is NaN
    weights = np.stack([(1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b])
    return np.where(is_inside & is_even, (weights * four).sum(axis=0), np.nan)
