# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Grey mip-map pyramids of textures, packed in one flat array for the compiled kernels."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

LUMA_REC601 = np.array([0.299, 0.587, 0.114], np.float32)


@dataclass(frozen=True, kw_only=True)
class MipPyramids:
    """All levels of all textures in one array.

    Texel (row, column) of level l of texture t is
    ``texels[offset[t, l] + row * width[t, l] + column]``.
    """

    texels: np.ndarray
    offset: np.ndarray
    width: np.ndarray
    height: np.ndarray
    n_levels: np.ndarray


def build_pyramids(textures: Sequence[np.ndarray], weights: np.ndarray) -> MipPyramids:
    """Build the pyramids of one grey channel of sRGB textures.

    Averages are taken over the sRGB-encoded values, the values that the image will hold, so that
    a small image equals a large one scaled down. (Light adds up in linear values instead; on the
    contrasts of rock and ground the difference stays below two grey levels.)

    Parameters
    ----------
    textures : sequence of (h, w, 3) uint8 arrays
    weights : (3,) array
        Share of red, green and blue in the channel, as `LUMA_REC601`.
    """
    levels_per_texture = [_levels(texture, weights) for texture in textures]
    n_levels = np.array([len(levels) for levels in levels_per_texture], np.int32)
    shape = (len(textures), int(n_levels.max()))
    offset, width, height = (np.zeros(shape, np.int64) for _ in range(3))
    position = 0
    for t, levels in enumerate(levels_per_texture):
        for i, level in enumerate(levels):
            offset[t, i], (height[t, i], width[t, i]) = position, level.shape
            position += level.size
    texels = np.concatenate([level.ravel() for levels in levels_per_texture for level in levels])
    return MipPyramids(texels=texels, offset=offset, width=width, height=height, n_levels=n_levels)


def _levels(texture: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
    """Halve by exact area averages down to one texel; rounded to bytes only for storage."""
    grey = cv2.transform(texture, np.asarray(weights, np.float32).reshape(1, 3))
    levels = [np.ascontiguousarray(grey.reshape(texture.shape[:2]))]
    level = levels[0].astype(np.float32)
    while level.shape != (1, 1):
        h, w = level.shape
        level = cv2.resize(level, (max(w // 2, 1), max(h // 2, 1)), interpolation=cv2.INTER_AREA)
        levels.append(np.rint(level).astype(np.uint8))
    return levels
