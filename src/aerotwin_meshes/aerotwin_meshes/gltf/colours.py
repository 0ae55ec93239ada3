# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The sRGB transfer curve (IEC 61966-2-1): glTF's factors and vertex colours are linear light."""

from functools import lru_cache

import numpy as np


def linear_from_srgb(encoded: np.ndarray) -> np.ndarray:
    """Return linear light from sRGB values, both in [0, 1]."""
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def srgb_from_linear(linear: np.ndarray) -> np.ndarray:
    """Return sRGB values from linear light, both in [0, 1]."""
    root = np.power(np.maximum(linear, 0.0031308), 1.0 / 2.4)
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * root - 0.055)


def srgb_bytes(linear: np.ndarray) -> np.ndarray:
    """Return sRGB colours as uint8 from linear light, which is clipped to [0, 1]."""
    return np.rint(srgb_from_linear(np.clip(linear, 0.0, 1.0)) * 255.0).astype(np.uint8)


@lru_cache(maxsize=4096)
def plain_texture(red: int, green: int, blue: int) -> np.ndarray:
    """Return a read-only texture of one texel; equal colours share one array."""
    texture = np.array([[[red, green, blue]]], np.uint8)
    texture.setflags(write=False)
    return texture


def tinted(texture: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Return a texture whose linear light is multiplied by a factor per channel."""
    levels = linear_from_srgb(np.arange(256) / 255.0)
    channels = [srgb_bytes(levels * factor[i])[texture[..., i]] for i in range(3)]
    return np.stack(channels, axis=-1)
