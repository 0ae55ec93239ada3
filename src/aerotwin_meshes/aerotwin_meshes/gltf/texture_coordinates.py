# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Texture coordinates in the form of a mesh: one flag for whether the texture repeats."""

import numpy as np

from aerotwin_meshes.gltf.materials import GltfMaterial

_LARGEST = 2.0**16
"""Beyond it, single precision is coarser than half a texel of a 256-texel texture."""
_OUTSIDE = 1e-4
"""Rounding of 16-bit coordinates: that far outside [0, 1] is at the rim, not beyond it."""


def placed(uv: np.ndarray, material: GltfMaterial, where: str) -> tuple[np.ndarray, bool]:
    """Return coordinates for a material's texture, (n, 2) float32, and whether it must repeat.

    Whole periods are subtracted where the texture repeats, so that most meshes end within [0, 1]
    and need no repetition. A direction that clamps, beside one that repeats, is clamped at the
    vertices: exact but for triangles that cross the rim. ``uv`` is (n, 2) as stored; ``where``
    names the primitive in messages. Raises `ValueError` if a coordinate is not finite, or far
    beyond the texture.
    """
    T = material.T_uv
    uv = uv.astype(np.float64) @ T[:, :2].T + T[:, 2]
    if not np.isfinite(uv).all():
        raise ValueError(f"{where} has texture coordinates that are NaN or infinite")
    low, high = uv.min(axis=0), uv.max(axis=0)
    is_clamped = np.array(material.are_clamped)
    shift = np.where(is_clamped, 0.0, np.floor(low + _OUTSIDE))
    low, high = low - shift, high - shift
    if max(np.abs(low).max(), np.abs(high).max()) > _LARGEST:
        raise ValueError(f"{where} has texture coordinates beyond {_LARGEST:.0f} repetitions")
    is_outside = (low < -_OUTSIDE) | (high > 1.0 + _OUTSIDE)
    repeats = bool((is_outside & ~is_clamped).any())
    uv -= shift
    if repeats and (is_outside & is_clamped).any():
        uv[:, is_clamped] = np.clip(uv[:, is_clamped], 0.0, 1.0)
    return uv.astype(np.float32), repeats
