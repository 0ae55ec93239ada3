# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""glTF 2.0: the mesh files of worlds and the content of 3-D tiles, with strict checks of input.

Supported are triangles (lists, strips, fans) and points with their base colour (texture, factor,
vertex colours), compressed or not. glTF has y up; the map has z up: x_map = x, y_map = -z,
z_map = y.
"""

from aerotwin_meshes.gltf.budget import MemoryBudget
from aerotwin_meshes.gltf.reader import GltfScene, ScenePart, read_gltf, read_scene
from aerotwin_meshes.gltf.writer import write_glb

__all__ = ["GltfScene", "MemoryBudget", "ScenePart", "read_gltf", "read_scene", "write_glb"]
