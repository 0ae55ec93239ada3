# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Reflectivity of each triangle, from its texture: the intensity that a lidar measures."""

import numpy as np

from aerotwin_meshes.mesh import TexturedMesh

DARKEST = 0.1
"""No surface is darker: the dark target of lidar data sheets, a choice of this project. Few
surfaces out of doors are darker in the near infrared, and shadows in a texture are not."""
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
"""Of linear red, green and blue (Rec. ITU-R BT.709)."""
_SAMPLES = np.array([[4, 1, 1], [1, 4, 1], [1, 1, 4], [2, 2, 2]]) / 6.0
"""Barycentric places that are looked at: the middle, and half-way from there to each corner."""
_CHUNK = 1 << 18


def triangle_reflectivity(mesh: TexturedMesh) -> np.ndarray:
    """Return the reflectivity of every triangle, (m,) uint8 in units of 1/255.

    The mean of the linear luminance at four points of the triangle. Visible light is used for the
    laser's near infrared, where leaves are four times as bright. A triangle has one value, so that
    a hit costs one byte of memory traffic: patterns on a large triangle are lost.
    """
    linear = _linear_of_srgb()
    out = np.empty(len(mesh.triangles), np.uint8)
    for start in range(0, len(out), _CHUNK):
        part = slice(start, start + _CHUNK)
        uv = mesh.uv[mesh.triangles[part]]
        total = np.zeros(len(uv))
        for weights in _SAMPLES:
            texel = _texels(mesh, np.einsum("k,nkc->nc", weights, uv))
            total += linear[texel] @ _LUMINANCE
        share = np.clip(total / len(_SAMPLES), DARKEST, 1.0)
        out[part] = np.rint(255.0 * share)
    return out


def _texels(mesh: TexturedMesh, uv: np.ndarray) -> np.ndarray:
    height, width = mesh.texture.shape[:2]
    place = np.floor(uv * (width, height)).astype(np.int64)
    if mesh.repeats:
        place %= (width, height)
    np.clip(place, 0, (width - 1, height - 1), out=place)
    return mesh.texture[place[:, 1], place[:, 0]]


def _linear_of_srgb() -> np.ndarray:
    """Return the linear value of each sRGB level (IEC 61966-2-1)."""
    level = np.arange(256) / 255.0
    return np.where(level <= 0.04045, level / 12.92, ((level + 0.055) / 1.055) ** 2.4)
