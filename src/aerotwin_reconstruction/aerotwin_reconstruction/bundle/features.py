# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Features of pictures: SIFT (Lowe 2004) with the square root of its histograms."""

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.picture_size import check_picture


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
