# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Textured triangle meshes: the common form of all worlds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class TexturedMesh:
    """A triangle mesh with one texture image; the unit that tiles and instances are counted in.

    Parameters
    ----------
    vertices_map : (n, 3) float64 array
        Vertices in the map frame [m].
    triangles : (m, 3) int32 array
        Vertex indices; both sides of a triangle are visible.
    uv : (n, 2) float32 array
        Texture coordinates in [0, 1]; u runs right, v runs *down* the image, and (0, 0) is the
        outer corner of the upper left texel, as in glTF.
    texture : (h, w, 3) uint8 array
        sRGB-encoded colours.
    light : (n,) float32 array, optional
        Factor of the colours at each vertex, 0 or more; everywhere 1 if left out.
    repeats : bool
        Whether the texture repeats beyond [0, 1]; it is clamped if not.
    is_colour_assumed : bool
        Whether its source states no colour, so that the texture is a plain one by default.
    name : str
        For messages and masks, such as the path of its tile.

    Raises
    ------
    ValueError
        If a shape, an index or a value is not as above.
    """

    vertices_map: np.ndarray
    triangles: np.ndarray
    uv: np.ndarray
    texture: np.ndarray
    light: np.ndarray | None = None
    repeats: bool = False
    is_colour_assumed: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        n_vertices = len(self.vertices_map)
        _check_array("vertices_map", self.vertices_map, np.float64, (n_vertices, 3))
        _check_array("triangles", self.triangles, np.int32, (len(self.triangles), 3))
        _check_array("uv", self.uv, np.float32, (n_vertices, 2))
        _check_array("texture", self.texture, np.uint8, (*self.texture.shape[:2], 3))
        if n_vertices == 0 or len(self.triangles) == 0 or self.texture.size == 0:
            raise ValueError("a mesh must have vertices, triangles and a texture, got an empty one")
        if self.triangles.min() < 0 or self.triangles.max() >= n_vertices:
            raise ValueError(f"triangles must index the {n_vertices} vertices, got others")
        if not (np.isfinite(self.vertices_map).all() and np.isfinite(self.uv).all()):
            raise ValueError("vertices_map and uv must be finite, got NaN or infinity")
        if self.light is not None:
            _check_array("light", self.light, np.float32, (n_vertices,))
            if not (np.isfinite(self.light).all() and self.light.min() >= 0.0):
                raise ValueError("light must be finite and not negative, got others")

    @property
    def bounds_m(self) -> np.ndarray:
        """Lowest and highest corner of the vertices, (2, 3) [m]."""
        columns = self.vertices_map.T  # NumPy takes ten times as long for both axes at once
        return np.array([[x.min() for x in columns], [x.max() for x in columns]])


def bounds_of(meshes: Sequence[TexturedMesh]) -> np.ndarray:
    """Return lowest and highest corner of the vertices of all meshes, (2, 3) [m]."""
    bounds = np.stack([mesh.bounds_m for mesh in meshes])
    return np.stack([bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)])


def _check_array(name: str, array: np.ndarray, dtype: type, shape: tuple[int, ...]) -> None:
    if array.dtype != dtype or array.shape != shape:
        raise ValueError(
            f"{name} must be {np.dtype(dtype).name} of shape {shape}, "
            f"got {array.dtype} of shape {array.shape}"
        )


def grid_triangles(n_rows: int, n_columns: int) -> np.ndarray:
    """Return the triangles of a regular grid of vertices stored row by row.

    ``n_rows`` and ``n_columns`` count vertices. The result is a (2 (n_rows - 1) (n_columns - 1), 3)
    int32 array, two triangles per cell, counter-clockwise when columns run right and rows run up.
    """
    corner = np.arange(n_rows * n_columns, dtype=np.int32).reshape(n_rows, n_columns)
    a, b = corner[:-1, :-1], corner[:-1, 1:]
    c, d = corner[1:, 1:], corner[1:, :-1]
    return np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
