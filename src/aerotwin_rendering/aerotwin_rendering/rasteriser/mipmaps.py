# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Mip-map pyramids of textures, and their memory addresses for the compiled kernels."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from aerotwin_core.luma import LUMA_REC601
from aerotwin_rendering.rasteriser.texel_kernels import PADDING, Textures

CHANNELS = {"mono8": 1, "rgb8": 3}


@dataclass(frozen=True, kw_only=True)
class Pyramid:
    """All levels of one texture, from full size to one texel, in one array.

    Texel (row, column) of level l begins at
    ``texels[offset[l] + (row * width[l] + column) * n_channels]``.
    """

    texels: np.ndarray
    offset: np.ndarray
    width: np.ndarray
    height: np.ndarray
    n_channels: int

    def level(self, index: int) -> np.ndarray:
        """Return one level, (h, w, n_channels)."""
        h, w = int(self.height[index]), int(self.width[index])
        first = int(self.offset[index])
        return self.texels[first : first + h * w * self.n_channels].reshape(h, w, -1)


def build_pyramid(texture: np.ndarray, encoding: str) -> Pyramid:
    """Build the levels of a texture, grey ("mono8") or in colour ("rgb8").

    Averages are over the sRGB-encoded values, the values of the image, so that a small image equals
    a large one scaled down. (Light adds up in linear values instead; on the contrasts of rock and
    ground the difference stays below two grey levels.) Levels are halved by exact area averages and
    rounded to bytes only for storage.
    """
    if encoding == "mono8":
        texture = cv2.transform(texture, LUMA_REC601.astype(np.float32).reshape(1, 3))
    levels = [texture.reshape(-1)]
    sizes = [texture.shape[:2]]
    level = texture.astype(np.float32)
    while sizes[-1] != (1, 1):
        h, w = (max(n // 2, 1) for n in sizes[-1])
        level = cv2.resize(level, (w, h), interpolation=cv2.INTER_AREA)
        levels.append(np.rint(level).astype(np.uint8).reshape(-1))
        sizes.append((h, w))
    offset = np.cumsum([0] + [part.size for part in levels])[:-1]
    height, width = np.array(sizes, np.int32).T
    texels = np.concatenate([*levels, np.zeros(PADDING, np.uint8)])
    return Pyramid(
        texels=texels, offset=offset, width=width, height=height, n_channels=CHANNELS[encoding]
    )


def texture_table(
    pyramids: Sequence[Pyramid], of_mesh: np.ndarray, repeats: np.ndarray
) -> Textures:
    """Return the table of these pyramids, which own its memory; nothing is copied."""
    n_levels = np.array([len(p.offset) for p in pyramids], np.int32)
    shape = (len(pyramids), int(n_levels.max()))
    address = np.zeros(shape, np.int64)
    width, height = (np.ones(shape, np.int32) for _ in range(2))
    for t, pyramid in enumerate(pyramids):
        n = n_levels[t]
        address[t, :n] = pyramid.texels.ctypes.data + pyramid.offset
        width[t, :n], height[t, :n] = pyramid.width, pyramid.height
    return Textures(
        address=address,
        width=width,
        height=height,
        n_levels=n_levels,
        half_log2_size=(0.5 * np.log2(width[:, 0].astype(float) * height[:, 0])).astype(np.float32),
        of_mesh=of_mesh,
        repeats=repeats.astype(np.int32),
    )
