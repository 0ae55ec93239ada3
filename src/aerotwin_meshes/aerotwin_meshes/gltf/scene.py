# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The scene of a document: its nodes and the poses of its meshes (glTF 2.0, 3.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import rotation_from_quaternion
from aerotwin_meshes.gltf.accessors import read_floats
from aerotwin_meshes.gltf.budget import BYTES_PER_NODE
from aerotwin_meshes.gltf.document import GltfDocument
from aerotwin_meshes.gltf.json_element import JsonElement

MAX_DEPTH = 64
_BYTES_PER_INSTANCE = 4 * 128
_INSTANCE_ATTRIBUTES = {
    "TRANSLATION": ("translations", 3),
    "ROTATION": ("quaternions", 4),
    "SCALE": ("scales", 3),
}


@dataclass(frozen=True, kw_only=True)
class PlacedMesh:
    """A mesh of the document at one or more poses; ``name`` of the node may be empty.

    ``mesh`` is its index; ``T_scene_mesh`` (k, 4, 4) float64 transforms it into the scene, for
    every instance.
    """

    mesh: int
    T_scene_mesh: np.ndarray
    name: str


def placed_meshes(document: GltfDocument) -> Iterator[PlacedMesh]:
    """Yield every mesh of the default scene with its transforms, in the order of the nodes.

    Skins, morphs and animations are not applied: everything is in its rest pose. Raises
    `ValueError` if a node is reached twice (a cycle, or two parents) or lies more than `MAX_DEPTH`
    deep.
    """
    todo = [(node, np.eye(4), 0) for node in reversed(_roots(document))]
    seen: set[int] = set()
    while todo:
        index, T_scene_parent, depth = todo.pop()
        node = document.entry("nodes", index, "the scene")
        if index in seen:
            raise ValueError(f"{node.where} is reached twice; nodes must form a tree")
        if depth > MAX_DEPTH:
            raise ValueError(f"{node.where} is nested more than {MAX_DEPTH} deep")
        seen.add(index)
        document.budget.reserve_bytes(BYTES_PER_NODE, node.where)
        T_scene_node = T_scene_parent @ _node_transform(node)
        children = node.integers("children")
        todo += [(child, T_scene_node, depth + 1) for child in reversed(children)]
        if "mesh" in node.values:
            yield PlacedMesh(
                mesh=node.integer("mesh"),
                T_scene_mesh=T_scene_node @ _instances(document, node),
                name=node.text("name", ""),
            )


def _roots(document: GltfDocument) -> list[int]:
    """Return the root nodes of the default scene; without scenes, all nodes without parent."""
    scenes = document.root.elements("scenes")
    if scenes:
        scene = document.entry("scenes", document.root.integer("scene", 0), "gltf.scene")
        return scene.integers("nodes")
    nodes = document.root.elements("nodes")
    children = {child for node in nodes for child in node.integers("children")}
    return [i for i in range(len(nodes)) if i not in children]


def _node_transform(node: JsonElement) -> np.ndarray:
    """Return a node's transform: a column-major matrix, or translation x rotation x scale."""
    if "matrix" in node.values:
        return node.numbers("matrix", 16).reshape(4, 4).T
    T = np.eye(4)
    quaternion = node.numbers("rotation", 4, [0.0, 0.0, 0.0, 1.0])
    if not np.linalg.norm(quaternion) > 0.0:
        raise node.wrong("rotation", "a unit quaternion")
    rotation = rotation_from_quaternion(quaternion)
    T[:3, :3] = rotation * node.numbers("scale", 3, [1.0, 1.0, 1.0])
    T[:3, 3] = node.numbers("translation", 3, [0.0, 0.0, 0.0])
    return T


def _instances(document: GltfDocument, node: JsonElement) -> np.ndarray:
    """Return the transforms of EXT_mesh_gpu_instancing; one identity without it."""
    extension = node.extension("EXT_mesh_gpu_instancing")
    accessors = None if extension is None else extension.element("attributes")
    if accessors is None:
        return np.eye(4)[None]
    parts = {
        key: read_floats(document, accessors.integer(name), (width,))
        for name, (key, width) in _INSTANCE_ATTRIBUTES.items()
        if name in accessors.values
    }
    counts = {len(part) for part in parts.values()}
    if len(counts) != 1 or not all(np.isfinite(part).all() for part in parts.values()):
        raise ValueError(f"{accessors.where}: transforms must be finite and as many of each")
    n = counts.pop()
    document.budget.reserve_bytes(n * _BYTES_PER_INSTANCE, accessors.where)
    parts = {key: part.astype(np.float64) for key, part in parts.items()}
    quaternions = parts.get("quaternions", np.array([[0.0, 0.0, 0.0, 1.0]]))
    if not (np.linalg.norm(quaternions, axis=1) > 0.0).all():
        raise ValueError(f"{accessors.where}: a rotation is not a unit quaternion")
    rotations = np.broadcast_to(Rotation.from_quat(quaternions).as_matrix(), (n, 3, 3))
    return instance_transforms(
        parts.get("translations", np.zeros((n, 3))), rotations, parts.get("scales", np.ones((n, 3)))
    )


def instance_transforms(
    translations: np.ndarray, rotations: np.ndarray, scales: np.ndarray
) -> np.ndarray:
    """Return (k, 4, 4) transforms that scale (k, 3), rotate (k, 3, 3), then move (k, 3)."""
    T = np.zeros((len(translations), 4, 4))
    T[:, :3, :3] = rotations * scales[:, None, :]
    T[:, :3, 3] = translations
    T[:, 3, 3] = 1.0
    return T
