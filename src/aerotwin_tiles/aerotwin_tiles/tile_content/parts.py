# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The parts of a tile's content, meshes and points in the frame of the tile; those of a glTF."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_meshes.gltf.budget import BYTES_PER_PART, MemoryBudget
from aerotwin_meshes.gltf.primitives import GltfTriangles, PointSet
from aerotwin_meshes.gltf.reader import GltfScene, ScenePart, read_scene, transformed

UpAxis = Literal["x", "y", "z"]
"""An axis of glTF content."""


class ContentError(UserError):
    """A tile's content cannot be used; the message names the tile and the fault."""


@dataclass(frozen=True, kw_only=True)
class TilePart:
    """Triangles or points of a tile.

    The positions of ``shape`` are in the frame of the tile (z up), with every transform of the
    content applied [m]; meshes of one content that show the same image share one texture. ``name``
    is the content's URI with the name within it, if any; ``copyright`` of the asset may be empty.
    """

    shape: GltfTriangles | PointSet
    name: str
    copyright: str


@dataclass(frozen=True, kw_only=True)
class ContentContext:
    """What the readers of a content share.

    ``uri`` is its name relative to the tileset; ``resolve`` returns the bytes of a file that it
    refers to; ``T_up`` (4, 4) rotates the glTF's up axis to z; ``budget`` limits the memory.
    """

    uri: str
    resolve: Callable[[str], bytes]
    T_up: np.ndarray
    budget: MemoryBudget


def gltf_parts(
    data: memoryview, context: ContentContext, T_tile_instances: np.ndarray
) -> list[TilePart]:
    """Return the scene of a .glb or .gltf file at one or more poses in the tile.

    ``T_tile_instances`` (k, 4, 4) float64: from the scene with z up into the tile, each instance.
    """
    scene = read_scene(data, resolve=context.resolve, budget=context.budget)
    T_center = np.eye(4)
    T_center[:3, 3] = scene.center
    T_tile_scene = T_tile_instances @ T_center @ context.T_up
    return [found for part in scene.parts for found in _placed(part, scene, context, T_tile_scene)]


def _placed(
    part: ScenePart, scene: GltfScene, context: ContentContext, T_tile_scene: np.ndarray
) -> list[TilePart]:
    n = len(T_tile_scene) * len(part.T_scene_mesh)
    # In the tile's frame, and then in the map's.
    n_bytes = 2 * part.shape.positions.nbytes + BYTES_PER_PART
    context.budget.reserve_bytes(n * n_bytes, "its instances")
    T_tile_mesh = (T_tile_scene[:, None] @ part.T_scene_mesh[None]).reshape(n, 4, 4)
    name = f"{context.uri}#{part.name}" if part.name else context.uri
    names = [name] if n == 1 else [f"{name}[{i}]" for i in range(n)]
    return [
        TilePart(shape=transformed(part.shape, T), name=name, copyright=scene.copyright)
        for T, name in zip(T_tile_mesh, names)
    ]
