# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""glTF inside tiles: its scene, rotated to z up and moved, in double precision."""

import numpy as np

from aerotwin_meshes.gltf.budget import BYTES_PER_PART
from aerotwin_meshes.gltf.primitives import GltfTriangles, PointSet
from aerotwin_meshes.gltf.reader import GltfScene, ScenePart, read_scene, transformed
from aerotwin_tiles.tile_content.parts import ContentContext, TileMesh, TilePart, TilePoints


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
    shape = part.shape
    n = len(T_tile_scene) * len(part.T_scene_mesh)
    # In the tile's frame, and then in the map's.
    context.budget.reserve_bytes(n * (2 * shape.positions.nbytes + BYTES_PER_PART), "its instances")
    T_tile_mesh = (T_tile_scene[:, None] @ part.T_scene_mesh[None]).reshape(n, 4, 4)
    name = f"{context.uri}#{part.name}" if part.name else context.uri
    names = [name] if n == 1 else [f"{name}[{i}]" for i in range(n)]
    return [_moved(shape, T, name, scene.copyright) for T, name in zip(T_tile_mesh, names)]


def _moved(
    shape: GltfTriangles | PointSet, T: np.ndarray, name: str, copyright_text: str
) -> TilePart:
    if isinstance(shape, PointSet):
        points, _ = transformed(shape.positions, np.zeros((0, 3), np.int32), T)
        return TilePoints(points=points, colours=shape.colours, name=name, copyright=copyright_text)
    vertices, triangles = transformed(shape.positions, shape.triangles, T)
    return TileMesh(
        vertices=vertices,
        triangles=triangles,
        uv=shape.uv,
        texture=shape.texture,
        repeats=shape.repeats,
        light=shape.light,
        name=name,
        copyright=copyright_text,
    )
