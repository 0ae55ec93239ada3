# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""PLY files as meshes: with textures, with colours of vertices or faces, or plain grey."""

from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_meshes.gltf.budget import LARGEST_BYTES, MemoryBudget
from aerotwin_meshes.mesh import TexturedMesh
from aerotwin_meshes.mesh_files.limits import check_counts
from aerotwin_meshes.mesh_files.ply import PlyContent, PlyFaces, read_ply
from aerotwin_meshes.mesh_files.polygons import triangulated
from aerotwin_meshes.mesh_files.textures import GREY, coloured, plain, read_texture, textured


def read_ply_mesh(path: Path) -> tuple[tuple[TexturedMesh, ...], tuple[str, ...]]:
    """Read a PLY file of polygons, in the file's axes and unit; one mesh for each texture.

    Raises `UserError` if it is not a usable PLY file of polygons.

    Returns
    -------
    meshes : tuple of TexturedMesh
    missing : tuple of str
        Textures that could not be loaded; colours of vertices or faces, or grey, replace them.
    """
    content = read_ply(path)
    n_triangles = sum(len(f.corners) * (k - 2) for k, f in content.polygons.items())
    check_counts(path, len(content.vertices), n_triangles)
    triangles = _triangles(content)
    budget, missing = MemoryBudget(largest_bytes=LARGEST_BYTES), []
    meshes = []
    has_uv = triangles.uv is not None
    for number in np.unique(triangles.texture) if has_uv and content.textures else [0]:
        chosen = triangles.texture == number if has_uv and content.textures else slice(None)
        part = PlyFaces(
            corners=triangles.corners[chosen],
            uv=None if triangles.uv is None else triangles.uv[chosen],
            texture=triangles.texture[chosen],
            colours=None if triangles.colours is None else triangles.colours[chosen],
        )
        texture = None
        if has_uv and content.textures:
            texture = _texture(path, content, int(number), budget, missing)
        try:
            meshes.append(_mesh(path, content, part, texture, budget))
        except ValueError as error:
            raise UserError(f"{path}: {error}; simplify it") from None
    return tuple(meshes), tuple(missing)


def _triangles(content: PlyContent) -> PlyFaces:
    """Return all faces cut into triangles; texture coordinates of corners, v up."""
    found = []
    for faces in content.polygons.values():
        corners, polygon = triangulated(faces.corners, content.vertices)
        rows = polygon[:, None]
        index = faces.corners[rows, corners]
        uv = None if faces.uv is None else faces.uv[rows, corners]
        if uv is None and content.uv is not None:
            uv = content.uv[index]
        colours = None if faces.colours is None else faces.colours[polygon]
        found.append((index, uv, faces.texture[polygon], colours))
    index, uv, texture, colours = zip(*found, strict=True)
    return PlyFaces(
        corners=np.concatenate(index),
        uv=None if any(part is None for part in uv) else np.concatenate(uv),
        texture=np.concatenate(texture),
        colours=None if any(part is None for part in colours) else np.concatenate(colours),
    )


def _texture(
    path: Path, content: PlyContent, number: int, budget: MemoryBudget, missing: list[str]
) -> np.ndarray | None:
    if not 0 <= number < len(content.textures):
        missing.append(f"{path}: texnumber {number} of {len(content.textures)} TextureFiles")
        return None
    try:
        name = content.textures[number]
        return read_texture(path.parent, name, where=f"{path}: TextureFile", budget=budget)
    except UserError as error:
        missing.append(str(error))
        return None


def _mesh(
    path: Path,
    content: PlyContent,
    faces: PlyFaces,
    texture: np.ndarray | None,
    budget: MemoryBudget,
) -> TexturedMesh:
    """Return triangles with the first available of texture, vertex or face colours, or grey."""
    vertices, name = content.vertices, path.stem
    if texture is not None and faces.uv is not None:
        uv = np.stack([faces.uv[..., 0], 1.0 - faces.uv[..., 1]], axis=-1)
        repeats = bool((uv < 0.0).any() or (uv > 1.0).any())
        return textured(vertices, faces.corners, uv, texture, repeats=repeats, name=name)
    if content.colours is not None:
        return coloured(vertices, faces.corners, content.colours, name=name, budget=budget)
    if faces.colours is not None:
        corners = np.arange(faces.corners.size).reshape(-1, 3)
        colours = np.repeat(faces.colours, 3, axis=0)
        return coloured(vertices[faces.corners.ravel()], corners, colours, name=name, budget=budget)
    uv = np.zeros((*faces.corners.shape, 2))
    return textured(vertices, faces.corners, uv, plain(GREY), repeats=False, name=name)
