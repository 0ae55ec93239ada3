# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Selection of picture pairs, and matching of their features."""

import cv2
import numpy as np
from scipy.spatial import cKDTree

from aerotwin_reconstruction.bundle.features import PhotoFeatures

_CONFIDENCE = 0.9999


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
