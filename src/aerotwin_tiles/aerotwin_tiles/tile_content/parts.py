# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The parts of a tile's content: meshes and points in the frame of the tile."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_meshes.gltf.budget import MemoryBudget


class ContentError(UserError):
    """A tile's content cannot be used; the message names the tile and the fault."""


@dataclass(frozen=True, kw_only=True)
class TileMesh:
    """Triangles of a tile.

    Attributes
    ----------
    vertices : (n, 3) float64 array
        In the frame of the tile (z up), with every transform of the content applied [m].
    triangles : (m, 3) int32 array
    uv : (n, 2) float32 array
        Texture coordinates as in `aerotwin_meshes.TexturedMesh`.
    texture : (h, w, 3) uint8 array
        sRGB colours; meshes of one content that show the same image share one array.
    repeats : bool
        Whether the texture repeats beyond [0, 1].
    light : (n,) float32 array or None
        Factor of the colours at each vertex.
    name, copyright : str
        The content's URI with the name within it, if any; the asset's copyright, which may be
        empty.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    uv: np.ndarray
    texture: np.ndarray
    repeats: bool
    light: np.ndarray | None
    name: str
    copyright: str


@dataclass(frozen=True, kw_only=True)
class TilePoints:
    """Points of a tile; ``name`` and ``copyright`` as of a `TileMesh`.

    ``points`` (n, 3) float64 array: in the frame of the tile [m]. ``colours`` (n, 3) uint8 array:
    sRGB colours.
    """

    points: np.ndarray
    colours: np.ndarray
    name: str
    copyright: str


TilePart = TileMesh | TilePoints


@dataclass(frozen=True, kw_only=True)
class ContentContext:
    """What the readers of a content share.

    ``uri, resolve``: name of the content, relative to its tileset; returns the bytes of a file it
    refers to. ``T_up, budget`` (4, 4) float64 array, MemoryBudget: rotates the glTF's up axis to z;
    limits the memory of the decoded content.
    """

    uri: str
    resolve: Callable[[str], bytes]
    T_up: np.ndarray
    budget: MemoryBudget
