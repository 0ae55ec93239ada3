# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Holes in pictures and height maps, filled smoothly from their surroundings."""

import cv2
import numpy as np


def fill_holes(values: np.ndarray, is_known: np.ndarray) -> np.ndarray:
    """Return float32 values with holes filled by push and pull: means of ever larger surroundings.

    ``values`` are (h, w) or (h, w, c); ``is_known`` (h, w), true at least once. Known values are
    unchanged; a small hole takes the colours of its rim, a large one blends.
    """
    if not is_known.any():
        raise ValueError("is_known must hold at least one True, got none")
    return _fill(np.asarray(values, np.float32), is_known)


def _fill(values: np.ndarray, is_known: np.ndarray) -> np.ndarray:
    if is_known.all():
        return values
    weight = is_known.astype(np.float32)
    mask = weight if values.ndim == 2 else weight[..., None]
    h, w = is_known.shape
    size = (max(w // 2, 1), max(h // 2, 1))
    total = cv2.resize(np.where(mask > 0, values, 0), size, interpolation=cv2.INTER_AREA)
    share = cv2.resize(weight, size, interpolation=cv2.INTER_AREA)
    divisor = np.maximum(share, 1e-6)
    coarse = _fill(total / (divisor if values.ndim == 2 else divisor[..., None]), share > 0)
    return np.where(mask > 0, values, cv2.resize(coarse, (w, h), interpolation=cv2.INTER_LINEAR))


def enclosed_holes(is_known: np.ndarray) -> np.ndarray:
    """Return which unknown pixels lie in holes that do not touch the picture's border."""
    _, label = cv2.connectedComponents((~is_known).astype(np.uint8), connectivity=8)
    border = np.concatenate([label[0], label[-1], label[:, 0], label[:, -1]])
    return (label > 0) & ~np.isin(label, np.unique(border[border > 0]))
