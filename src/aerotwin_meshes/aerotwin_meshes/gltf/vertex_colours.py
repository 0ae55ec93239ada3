# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Vertex colours as a texture: every triangle gets its own patch of 2 x 2 texels.

With colours a, b, c in three texels and b + c - a in the fourth, bilinear filtering between the
four texel centres is the plane through a, b and c: the interpolation that glTF requires.
"""

import numpy as np

from aerotwin_meshes.gltf.budget import MemoryBudget
from aerotwin_meshes.gltf.images import MAX_TEXTURE_SIDE

_CORNERS = np.array([[0, 0], [1, 0], [0, 1]])  # texels of a, b and c: column and row
MAX_TRIANGLES = (MAX_TEXTURE_SIDE // 2) ** 2


def paint_triangles(
    triangles: np.ndarray, colours: np.ndarray, what: str, budget: MemoryBudget
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a texture that shows vertex colours, and the texture coordinates of the triangles.

    ``triangles`` (m, 3) int32 index the sRGB ``colours`` (n, 3) uint8; ``what`` names the primitive
    in messages. Returned are the triangles with their corners rotated, so that the first one is
    painted upper left; the texture coordinates of these corners, (3 m, 2) float32, triangle by
    triangle; and the texture (h, w, 3) uint8. Raises `ValueError` if the texture would be too
    large.
    """
    n = len(triangles)
    if n > MAX_TRIANGLES:
        raise ValueError(f"{what}: {n} triangles of vertex colours are more than {MAX_TRIANGLES}")
    n_columns = int(np.ceil(np.sqrt(n)))
    n_rows = -(-n // n_columns)
    budget.reserve_bytes(12 * n_rows * n_columns + 100 * n, what)
    corners, patch = _patches(triangles, colours)
    blocks = np.zeros((n_rows * n_columns, 2, 2, 3), np.uint8)
    blocks[:n] = patch
    blocks[n:] = patch[-1]
    grid = blocks.reshape(n_rows, n_columns, 2, 2, 3).swapaxes(1, 2)
    texture = np.ascontiguousarray(grid.reshape(2 * n_rows, 2 * n_columns, 3))
    place = np.stack([np.arange(n) % n_columns, np.arange(n) // n_columns], axis=-1)
    texel = 2 * place[:, None] + _CORNERS + 0.5
    uv = texel / [2 * n_columns, 2 * n_rows]
    return corners, uv.reshape(-1, 2).astype(np.float32), texture


def _patches(triangles: np.ndarray, colours: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotate the corners of each triangle so that b + c - a is a colour, or nearly so."""
    turns = np.stack([np.roll(triangles, -i, axis=1) for i in range(3)])
    seen = colours[turns].astype(np.int16)
    fourth = seen[:, :, 1] + seen[:, :, 2] - seen[:, :, 0]
    excess = np.abs(fourth - np.clip(fourth, 0, 255)).sum(axis=2)
    best, rows = excess.argmin(axis=0), np.arange(len(triangles))
    chosen, fourth = seen[best, rows], np.clip(fourth[best, rows], 0, 255)
    patch = np.stack([chosen[:, 0], chosen[:, 1], chosen[:, 2], fourth], axis=1)
    return np.ascontiguousarray(turns[best, rows]), patch.reshape(-1, 2, 2, 3).astype(np.uint8)
