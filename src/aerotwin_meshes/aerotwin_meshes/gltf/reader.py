# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Read glTF 2.0 (.glb, .gltf) as parts of a tile, or as the meshes of a world."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import transform_points
from aerotwin_core.limits import file_size
from aerotwin_meshes.gltf.budget import BYTES_PER_PART, LARGEST_BYTES, MemoryBudget
from aerotwin_meshes.gltf.document import Resolve, open_document
from aerotwin_meshes.gltf.materials import Materials
from aerotwin_meshes.gltf.primitives import GltfTriangles, PointSet, read_primitive
from aerotwin_meshes.gltf.scene import placed_meshes
from aerotwin_meshes.mesh import TexturedMesh

MAX_FILE_BYTES = 2**31
Shape = TypeVar("Shape", bound=GltfTriangles | PointSet)
MAP_FROM_GLTF = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]], float)
"""glTF has y up, the map z (glTF 2.0, clause 3.4): x_map = x, y_map = -z, z_map = y."""


@dataclass(frozen=True, kw_only=True)
class ScenePart:
    """One primitive of a scene and its poses; ``name`` of the mesh or of its node may be empty.

    ``shape`` is in the frame of its mesh; ``T_scene_mesh`` (k, 4, 4) float64 transforms it into the
    scene, for every instance.
    """

    shape: GltfTriangles | PointSet
    T_scene_mesh: np.ndarray
    name: str


@dataclass(frozen=True, kw_only=True)
class GltfScene:
    """The default scene of a document; ``copyright`` of the asset may be empty.

    ``center`` (3,) is CESIUM_RTC: translation of the scene *after* its up axis was rotated.
    """

    parts: tuple[ScenePart, ...]
    copyright: str
    center: np.ndarray


def read_scene(
    data: bytes | memoryview, *, resolve: Resolve, budget: MemoryBudget | None = None
) -> GltfScene:
    """Return the default scene in the bytes of a .glb or .gltf file, in glTF axes (y up).

    ``resolve`` returns the bytes of a file that is referred to relative to this one; ``budget``
    limits the memory of the decoded content. Raises `ValueError` naming the position in the
    document, what was expected and what was found.
    """
    document = open_document(data, resolve=resolve, budget=budget or MemoryBudget())
    materials = Materials(document)
    shapes: dict[int, list[GltfTriangles | PointSet]] = {}
    parts = []
    for placed in placed_meshes(document):
        mesh = document.entry("meshes", placed.mesh, "a node")
        if placed.mesh not in shapes:
            found = (read_primitive(document, materials, p) for p in mesh.elements("primitives"))
            shapes[placed.mesh] = [shape for shape in found if shape is not None]
        name = placed.name or mesh.text("name", "")
        parts += [
            ScenePart(shape=shape, T_scene_mesh=placed.T_scene_mesh, name=name)
            for shape in shapes[placed.mesh]
        ]
    asset, rtc = document.root.element("asset"), document.root.extension("CESIUM_RTC")
    return GltfScene(
        parts=tuple(parts),
        copyright="" if asset is None else asset.text("copyright", ""),
        center=np.zeros(3) if rtc is None else rtc.numbers("center", 3),
    )


def transformed(shape: Shape, T: np.ndarray) -> Shape:
    """Return triangles or points under a transform (4, 4); a mirror reverses the triangles."""
    positions = transform_points(T, shape.positions)
    if not np.isfinite(positions).all():
        raise ValueError("a transform moves vertices beyond all numbers")
    shape = dataclasses.replace(shape, positions=positions)
    if isinstance(shape, GltfTriangles) and np.linalg.det(T[:3, :3]) < 0.0:
        triangles = np.ascontiguousarray(shape.triangles[:, ::-1])
        shape = dataclasses.replace(shape, triangles=triangles)
    return shape


def read_gltf(path: Path) -> tuple[TexturedMesh, ...]:
    """Read a .glb or .gltf file as meshes in the map frame, rotated from y up to z up.

    Files that it refers to must lie in its folder or below. Raises `UserError` if it is not a
    usable glTF 2.0 file of triangles; names file and fault.
    """
    try:
        if file_size(path) > MAX_FILE_BYTES:
            raise ValueError(f"more than {MAX_FILE_BYTES} bytes")
        budget = MemoryBudget(largest_bytes=LARGEST_BYTES)
        budget.note_read(path.stat().st_size)
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is refused
            scene = read_scene(path.read_bytes(), resolve=_beside(path, budget), budget=budget)
            meshes = _world_meshes(scene, path.stem, budget)
    except (ValueError, OSError) as error:
        raise UserError(f"{path}: not a usable glTF file ({error}); export it again") from None
    if not meshes:
        raise UserError(f"{path}: no triangles in its scene; export it again")
    return meshes


def _world_meshes(scene: GltfScene, stem: str, budget: MemoryBudget) -> tuple[TexturedMesh, ...]:
    meshes = []
    for part in scene.parts:
        shape = part.shape
        if isinstance(shape, PointSet):
            continue
        for T_scene_mesh in part.T_scene_mesh:
            budget.reserve_bytes(shape.positions.nbytes + BYTES_PER_PART, "an instance")
            placed = transformed(shape, MAP_FROM_GLTF @ T_scene_mesh)
            meshes.append(
                TexturedMesh(
                    vertices_map=placed.positions + scene.center,
                    triangles=placed.triangles,
                    uv=shape.uv,
                    texture=shape.texture,
                    light=shape.light,
                    repeats=shape.repeats,
                    is_colour_assumed=shape.is_colour_assumed,
                    name=part.name or stem,
                )
            )
    return tuple(meshes)


def _beside(path: Path, budget: MemoryBudget) -> Resolve:
    """Return a function that reads files in the folder of another, and none outside it."""
    folder = path.parent.resolve()

    def read(uri: str) -> bytes:
        file = (folder / unquote(uri)).resolve()
        if ":" in uri or not file.is_relative_to(folder):
            raise ValueError(f"{uri} lies outside the file's folder")
        if not file.is_file():
            raise ValueError(f"{uri} is missing in {folder}")
        if file_size(file) > MAX_FILE_BYTES:
            raise ValueError(f"{uri} has more than {MAX_FILE_BYTES} bytes")
        budget.note_read(file.stat().st_size)
        return file.read_bytes()

    return read
