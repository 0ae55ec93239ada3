# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Colours for height maps without a picture: grass, dry ground, and rock where steep."""

import math

import cv2
import numpy as np

GRASS, DRY, ROCK = (
    np.array(rgb, np.float32) for rgb in ([92, 108, 62], [158, 138, 100], [124, 118, 110])
)
ROCK_FROM, ROCK_TO = math.cos(math.radians(25.0)), math.cos(math.radians(45.0))
"""Upward parts of the normal between which rock takes over."""
_SPECKLE = 26.0
_LONGEST_PX, _FINEST = 4096, 4
_SEED = 20260101


def painted(p_map: np.ndarray, is_inside: np.ndarray) -> np.ndarray:
    """Return a picture that covers a grid of heights, (h, w, 3) uint8, up to 4 texels a cell.

    Low and flat is green, high is dry, steep is grey; speckles of four sizes, the same for every
    map, give texture. The colours are unrelated to the real site. ``p_map`` (rows, columns, 3) are
    points of the surface [m]; only those in ``is_inside`` count for the range of heights.
    """
    rows, columns = is_inside.shape
    factor = max(min(_LONGEST_PX // max(rows, columns), _FINEST), 1)
    upward, share = _upward(p_map), _relative_height(p_map[..., 2], is_inside)
    size = (columns * factor, rows * factor)
    upward, share = (
        cv2.resize(values.astype(np.float32), size, interpolation=cv2.INTER_LINEAR)[..., None]
        for values in (upward, share)
    )
    rock = np.clip((ROCK_FROM - upward) / (ROCK_FROM - ROCK_TO), 0.0, 1.0)
    colours = (GRASS * (1.0 - share) + DRY * share) * (1.0 - rock) + ROCK * rock
    colours += _speckles(size)[..., None]
    return np.rint(colours).clip(0, 255).astype(np.uint8)


def _upward(p_map: np.ndarray) -> np.ndarray:
    """Upward part of the unit normal, from central differences along rows and columns."""
    normal = np.cross(np.gradient(p_map, axis=1), -np.gradient(p_map, axis=0))
    return np.abs(normal[..., 2]) / np.maximum(np.linalg.norm(normal, axis=-1), 1e-12)


def _relative_height(z: np.ndarray, is_inside: np.ndarray) -> np.ndarray:
    low, high = z[is_inside].min(), z[is_inside].max()
    return np.clip((z - low) / max(high - low, 1e-6), 0.0, 1.0)


def _speckles(size: tuple[int, int]) -> np.ndarray:
    rng = np.random.default_rng(_SEED)
    total = np.zeros((size[1], size[0]), np.float32)
    for cell in (1, 3, 9, 27):
        shape = (-(-size[1] // cell), -(-size[0] // cell))
        noise = rng.random(shape, np.float32) - 0.5
        total += cv2.resize(noise, size, interpolation=cv2.INTER_CUBIC)
    return _SPECKLE * total
