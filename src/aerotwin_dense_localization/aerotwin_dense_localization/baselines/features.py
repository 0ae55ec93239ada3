# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Localisation by features: ORB or SIFT of images with depth, matched, and a pose from n points.

Against the key-frames of the mapping flight this is what the localisation mode of a feature SLAM
does; against virtual key-frames it has the same views as direct alignment.

References
----------
Rublee et al.: ORB: an efficient alternative to SIFT or SURF. ICCV 2011.
Lowe: Distinctive image features from scale-invariant keypoints. IJCV 60(2), 2004 (ratio test).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import FloatArray, invert_transform, make_transform

DETECTORS = ("orb", "sift")
N_FEATURES, RATIO, REPROJECTION_PX, MIN_INLIERS = 2000, 0.8, 3.0, 12
RANSAC_TRIALS, CONFIDENCE = 300, 0.999


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
    """

    T_map_cam: FloatArray | None
    n_matches: int
    n_inliers: int


class FeatureMap:
    """Features with places.

    Parameters
    ----------
    references : sequence of Reference
    detector : str
        "orb" or "sift".
    """

    def __init__(self, references: Sequence[Reference], detector: str) -> None:
        if detector not in DETECTORS:
            raise ValueError(f"detector must be one of {', '.join(DETECTORS)}, got '{detector}'")
        self._detector = (
            cv2.ORB_create(N_FEATURES) if detector == "orb" else cv2.SIFT_create(N_FEATURES)
        )
        self._norm = cv2.NORM_HAMMING if detector == "orb" else cv2.NORM_L2
        self.positions = np.array([r.T_map_optical[:3, 3] for r in references])
        self._known = [self._features_of(reference) for reference in references]

    def localize(
        self, grey: np.ndarray, camera: PinholeCamera, near_map: FloatArray, n_references: int = 3
    ) -> FeaturePose:
        """Return where an image (h, w) uint8 was taken.

        Parameters
        ----------
        grey : (h, w) uint8 array
        camera : PinholeCamera
        near_map : (3,) array
            The references nearest to this place are used [m].
        n_references : int
        """
        keypoints, descriptors = self._detector.detectAndCompute(grey, None)
        if descriptors is None or len(keypoints) < MIN_INLIERS:
            return FeaturePose(T_map_cam=None, n_matches=0, n_inliers=0)
        pixels = np.array([keypoint.pt for keypoint in keypoints])
        order = np.argsort(np.linalg.norm(self.positions - near_map, axis=1), kind="stable")
        points, seen = [], []
        for k in order[:n_references]:
            places, known = self._known[k]
            for mine, theirs in self._matches(descriptors, known):
                points.append(places[theirs])
                seen.append(pixels[mine])
        return _pose(np.array(points).reshape(-1, 3), np.array(seen).reshape(-1, 2), camera)

    def _features_of(self, reference: Reference) -> tuple[FloatArray, np.ndarray | None]:
        """Return the places (n, 3) in the map of an image's features, and their descriptors."""
        mask = (np.isfinite(reference.depth) & (reference.depth > 0.0)).astype(np.uint8)
        keypoints, descriptors = self._detector.detectAndCompute(reference.grey, mask)
        if descriptors is None:
            return np.empty((0, 3)), None
        pixels = np.array([keypoint.pt for keypoint in keypoints])
        columns, rows = pixels.round().astype(int).T
        points = reference.camera.unproject(pixels, reference.depth[rows, columns])
        T = reference.T_map_optical
        return points @ T[:3, :3].T + T[:3, 3], descriptors

    def _matches(self, descriptors: np.ndarray, known: np.ndarray | None) -> list[tuple[int, int]]:
        if known is None or len(known) < 2:
            return []
        pairs = cv2.BFMatcher(self._norm).knnMatch(descriptors, known, k=2)
        return [
            (best.queryIdx, best.trainIdx)
            for best, second in pairs
            if best.distance < RATIO * second.distance
        ]


def _pose(points_map: FloatArray, pixels: FloatArray, camera: PinholeCamera) -> FeaturePose:
    n = len(points_map)
    if n < MIN_INLIERS:
        return FeaturePose(T_map_cam=None, n_matches=n, n_inliers=0)
    cv2.setRNGSeed(0)  # the same matches give the same pose
    middle = points_map.mean(axis=0)
    found, rotvec, shift, inliers = cv2.solvePnPRansac(
        points_map - middle, pixels, camera.matrix, None, iterationsCount=RANSAC_TRIALS,
        reprojectionError=REPROJECTION_PX, confidence=CONFIDENCE,
    )  # fmt: skip
    n_inliers = 0 if inliers is None else len(inliers)
    if not found or n_inliers < MIN_INLIERS:
        return FeaturePose(T_map_cam=None, n_matches=n, n_inliers=n_inliers)
    chosen = inliers.ravel()
    rotvec, shift = cv2.solvePnPRefineLM(
        points_map[chosen] - middle, pixels[chosen], camera.matrix, None, rotvec, shift
    )
    R = cv2.Rodrigues(rotvec)[0]
    T_cam_map = make_transform(R, shift.ravel() - R @ middle)
    return FeaturePose(T_map_cam=invert_transform(T_cam_map), n_matches=n, n_inliers=n_inliers)
