# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Features of an image: ORB or SIFT, with their places and how far these can be trusted.

Thresholds are low and the best of many features kept, which favours low texture.

References
----------
Rublee et al.: ORB: an efficient alternative to SIFT or SURF. ICCV 2011.
Lowe: Distinctive image features from scale-invariant keypoints. IJCV 60(2), 2004.
Campos et al.: ORB-SLAM3. T-RO 37(6), 2021: eight levels of 1.2, FAST threshold 20, or 7 where that
finds too little.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from aerotwin_core.frames import FloatArray

DETECTORS = ("orb", "sift")
_ORB_SCALE, _ORB_PATCH_PX, _ORB_FAST = 1.2, 31, 7
_ORB_LEVELS = 12
"""Up to 7.4 times coarser: a key-frame of 13 m has pixels 6.5 times those of a camera at 1 m."""
_SIFT_CONTRAST = 0.01
"""A quarter of OpenCV's."""
_SIFT_SIZE_PX = 3.2
"""Of a feature of the first level: twice Lowe's sigma of 1.6 px."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BaselineFeatures:
    """Features of an image.

    Attributes
    ----------
    pixels : (n, 2) array
        [px].
    scales : (n,) array
        Pixels of the image in one of the level that each was found in: its place is as uncertain.
    descriptors : (n, k) uint8 array
        Bits of ORB, histograms of SIFT, which are whole numbers as well.
    """

    pixels: FloatArray
    scales: FloatArray
    descriptors: np.ndarray

    def __len__(self) -> int:
        return len(self.pixels)

    def select(self, which: np.ndarray) -> "BaselineFeatures":
        """Return those of a mask or of indices."""
        return BaselineFeatures(
            pixels=self.pixels[which],
            scales=self.scales[which],
            descriptors=self.descriptors[which],
        )


class Detector:
    """Finds features.

    Parameters
    ----------
    name : str
        "orb" or "sift".
    n_features : int
        The best are kept.

    Raises
    ------
    ValueError
        If it is none of them.
    """

    def __init__(self, name: str, n_features: int) -> None:
        if name not in DETECTORS:
            raise ValueError(f"detector must be one of {', '.join(DETECTORS)}, got '{name}'")
        self._is_orb = name == "orb"
        self._detector = (
            cv2.ORB_create(
                n_features,
                _ORB_SCALE,
                _ORB_LEVELS,
                patchSize=_ORB_PATCH_PX,
                fastThreshold=_ORB_FAST,
            )
            if self._is_orb
            else cv2.SIFT_create(
                n_features, contrastThreshold=_SIFT_CONTRAST, enable_precise_upscale=True
            )
        )

    def find(self, grey: np.ndarray, is_wanted: np.ndarray | None = None) -> BaselineFeatures:
        """Return the features of an image (h, w) uint8, where it is wanted (h, w) bool."""
        # Coarse levels of the mask are kept where it is 255, not where it is 1.
        mask = None if is_wanted is None else is_wanted.astype(np.uint8) * 255
        keypoints, descriptors = self._detector.detectAndCompute(grey, mask)
        if descriptors is None:
            return BaselineFeatures(
                pixels=np.empty((0, 2)), scales=np.empty(0), descriptors=np.empty((0, 1), np.uint8)
            )
        pixels = np.array([keypoint.pt for keypoint in keypoints])
        sizes = np.array([keypoint.size for keypoint in keypoints])
        scales = sizes / (_ORB_PATCH_PX if self._is_orb else _SIFT_SIZE_PX)
        if self._is_orb:
            # OpenCV multiplies by the scale, as if a coarse pixel's middle lay at its corner.
            pixels = pixels + 0.5 * (scales[:, None] - 1.0)
        return BaselineFeatures(
            pixels=pixels, scales=scales, descriptors=descriptors.astype(np.uint8)
        )

    def matches(
        self, image: BaselineFeatures, known: BaselineFeatures, ratio: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of pairs whose distance is below a share of the second best's."""
        if len(image) == 0 or len(known) < 2:
            return np.empty(0, int), np.empty(0, int)
        matcher = cv2.BFMatcher(cv2.NORM_HAMMING if self._is_orb else cv2.NORM_L2)
        kind = np.uint8 if self._is_orb else np.float32  # much slower of whole numbers
        found = matcher.knnMatch(
            image.descriptors.astype(kind), known.descriptors.astype(kind), k=2
        )
        pairs = [(a.queryIdx, a.trainIdx) for a, b in found if a.distance < ratio * b.distance]
        query, train = np.array(pairs, int).reshape(-1, 2).T
        return query, train
