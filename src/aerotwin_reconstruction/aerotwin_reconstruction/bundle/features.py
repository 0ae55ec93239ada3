# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Features of pictures: SIFT (Lowe 2004) with the square root of its histograms, and matching."""

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from scipy.spatial import cKDTree

from aerotwin_core.errors import UserError
from aerotwin_core.picture_size import check_picture

_CONFIDENCE = 0.9999


@dataclass(frozen=True, kw_only=True)
class PhotoFeatures:
    """Features of one picture: `pixels` (n, 2) of the whole picture, `descriptors` (n, 128).

    (0, 0) is the centre of the upper left pixel [px]. Descriptors have unit length; their Euclidean
    distance is Hellinger's of the histograms (Arandjelovic and Zisserman, CVPR 2012).
    """

    pixels: np.ndarray
    descriptors: np.ndarray


def read_picture(path: Path, *, grey: bool = False) -> np.ndarray:
    """Return a picture (h, w, 3) RGB or (h, w) grey, uint8, in the orientation of the file.

    Raises
    ------
    UserError
        If it cannot be read, or is too large.
    """
    check_picture(path)
    how = cv2.IMREAD_GRAYSCALE if grey else cv2.IMREAD_COLOR
    image = cv2.imread(str(path), how | cv2.IMREAD_IGNORE_ORIENTATION)
    if image is None:
        raise UserError(f"{path}: cannot be read as a picture; remove it")
    return image if grey else np.ascontiguousarray(image[..., ::-1])


def find_features(image: np.ndarray, *, scale: float, n_most: int) -> PhotoFeatures:
    """Return the strongest features of each part of a grey picture (h, w) uint8.

    The picture is scaled first. `n_most` is distributed over an 8 x 8 grid, so that no tree gets
    all of them.
    """
    h, w = image.shape
    small = cv2.resize(image, (round(w * scale), round(h * scale)), interpolation=cv2.INTER_AREA)
    # Without precise upscaling OpenCV's pixels are a quarter of a pixel to the lower right.
    sift = cv2.SIFT_create(4 * n_most, contrastThreshold=0.02, enable_precise_upscale=True)
    keypoints, descriptors = sift.detectAndCompute(small, None)
    if descriptors is None:
        keypoints, descriptors = (), np.empty((0, 128), np.float32)
    pixels = np.array([point.pt for point in keypoints], np.float32).reshape(-1, 2)
    retained = _spread(pixels, np.array([p.response for p in keypoints]), small.shape, n_most)
    factor = np.array([w / small.shape[1], h / small.shape[0]], np.float32)
    histograms = descriptors[retained] / np.maximum(
        descriptors[retained].sum(axis=1, keepdims=True), 1e-9
    )
    return PhotoFeatures(
        pixels=(pixels[retained] + 0.5) * factor - 0.5,
        descriptors=np.ascontiguousarray(np.sqrt(histograms), np.float32),
    )


def _spread(pixels: np.ndarray, response: np.ndarray, shape: tuple[int, int], n_most: int):
    """Return the indices of the strongest features of each cell, n_most in all."""
    cells = np.minimum((pixels / (shape[1] / 8.0, shape[0] / 8.0)).astype(int), 7)
    cell = cells[:, 1] * 8 + cells[:, 0]
    order = np.lexsort((-response, cell))
    _, starts, counts = np.unique(cell[order], return_index=True, return_counts=True)
    rank = np.arange(len(order)) - np.repeat(starts, counts)
    return order[np.argsort(rank, kind="stable")[:n_most]]


def nearby_pairs(
    positions: np.ndarray,
    axes: np.ndarray,
    *,
    distance_m: float,
    n_neighbours: int,
    largest_angle_deg: float,
) -> np.ndarray:
    """Return pairs (n, 2) of pictures that look at about the same point, i < j, sorted.

    Parameters
    ----------
    positions, axes : (k, 3) arrays
        Positions and optical axes of the pictures.
    distance_m : float
        Distance of the surface along the axis; 0 if unknown: pairs are then by position [m].
    n_neighbours : int
        Per picture, those with the nearest viewed points.
    largest_angle_deg : float
        Between the axes.
    """
    places = positions + distance_m * axes
    k = min(4 * n_neighbours, len(places) - 1)
    _, found = cKDTree(places).query(places, k=k + 1)
    cosine = np.cos(np.radians(largest_angle_deg))
    pairs = set()
    for i, row in enumerate(np.atleast_2d(found)):
        others = [j for j in row if j != i and axes[i] @ axes[j] > cosine]
        pairs |= {(min(i, j), max(i, j)) for j in others[:n_neighbours]}
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


def match(
    first: PhotoFeatures, second: PhotoFeatures, K: np.ndarray, *, ratio: float, epipolar_px: float
) -> np.ndarray:
    """Return indices (n, 2) of features that match: mutually best, distinct, on epipolar lines.

    Parameters
    ----------
    K : (3, 3) array
        Intrinsic matrix of both.
    ratio : float
        Distance of the best over the second best.
    epipolar_px : float
        Threshold of the essential matrix (five points, Nister 2004; MAGSAC, Barath et al. 2019).
    """
    if len(first.pixels) < 2 or len(second.pixels) < 2:
        return np.empty((0, 2), np.int64)
    cosine = first.descriptors @ second.descriptors.T
    forth, back = cosine.argmax(axis=1), cosine.argmax(axis=0)
    rows = np.arange(len(forth))
    best = cosine[rows, forth]
    cosine[rows, forth] = -1.0
    second_best = cosine.max(axis=1)
    # Of unit vectors, the squared distance is 2 - 2 cos.
    distinct = (1.0 - best) < ratio**2 * (1.0 - second_best)
    retained = np.flatnonzero(distinct & (back[forth] == rows))
    pairs = np.column_stack([retained, forth[retained]])
    if len(pairs) < 8:
        return np.empty((0, 2), np.int64)
    a = first.pixels[pairs[:, 0]].astype(np.float64)
    b = second.pixels[pairs[:, 1]].astype(np.float64)
    _, is_good = cv2.findEssentialMat(a, b, K, cv2.USAC_MAGSAC, _CONFIDENCE, epipolar_px)
    if is_good is None:
        return np.empty((0, 2), np.int64)
    return pairs[is_good.ravel() > 0]
