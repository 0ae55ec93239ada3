# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""PLY files, ASCII and binary: points and polygons, with textures or colours, or plain grey.

Texture coordinates as MeshLab and photogrammetry programs write them ("comment TextureFile", s t or
u v of vertices, a list "texcoord" and a number "texnumber" of faces).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.ply import PlyColumn, PlyElement, PlyList, ply_columns, ply_header
from aerotwin_meshes.gltf.budget import LARGEST_BYTES, MemoryBudget
from aerotwin_meshes.mesh import TexturedMesh
from aerotwin_meshes.mesh_files.limits import MAX_TRIANGLES, MAX_VERTICES, check_counts, read_file
from aerotwin_meshes.mesh_files.polygons import triangulated
from aerotwin_meshes.mesh_files.textures import GREY, coloured, plain, read_texture, textured

_COLOURS = ("red", "green", "blue")
_TEXTURE_NAMES = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"))
_INDEX_LISTS = ("vertex_indices", "vertex_index")


@dataclass(frozen=True, kw_only=True)
class PlyContent:
    """Content of a PLY file; texture coordinates have v up.

    ``colours`` (n, 3) uint8 and ``uv`` (n, 2) are those of the vertices; ``polygons`` holds the
    faces by their number of corners, ``textures`` the files named in the comments.
    """

    vertices: np.ndarray
    colours: np.ndarray | None
    uv: np.ndarray | None
    polygons: dict[int, PlyFaces]
    textures: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PlyFaces:
    """Faces with the same number k of corners.

    ``corners`` (m, k) int64 are vertices, ``uv`` (m, k, 2) their texture coordinates, v up;
    ``texture`` (m,) and ``colours`` (m, 3) uint8 are those of the faces.
    """

    corners: np.ndarray
    uv: np.ndarray | None
    texture: np.ndarray
    colours: np.ndarray | None


def read_ply(path: Path) -> PlyContent:
    """Read a PLY file of points or polygons.

    Raises `UserError` if it is not a whole PLY file; names file, element and fault.
    """
    data = read_file(path)
    try:
        return _read(data)
    except (ValueError, MemoryError) as error:
        raise UserError(f"{path}: not a usable PLY file ({error}); export it again") from None


def _read(data: bytes) -> PlyContent:
    header = ply_header(data)
    for element in header.elements:
        _check_count(element)
    columns, _ = ply_columns(data, header, are_kinds_checked=True)
    if "vertex" not in columns:
        raise ValueError("it has no element 'vertex'")
    vertex = columns["vertex"]
    if any(name not in vertex for name in "xyz"):
        raise ValueError("its vertices have no x, y, z")
    vertices = np.column_stack([vertex[name] for name in "xyz"]).astype(np.float64)
    if not np.isfinite(vertices).all():
        raise ValueError("a vertex is NaN or infinite")
    return PlyContent(
        vertices=vertices,
        colours=_colours(vertex),
        uv=_vertex_uv(vertex),
        polygons=_polygons(columns.get("face", {}), len(vertices)),
        textures=tuple(
            text.split(None, 1)[1].strip()
            for text in header.comments
            if text.split()[:1] == ["TextureFile"] and len(text.split()) > 1
        ),
    )


def _check_count(element: PlyElement) -> None:
    most = MAX_VERTICES if element.name == "vertex" else MAX_TRIANGLES
    if element.count > most:
        raise ValueError(f"{element.count} of element '{element.name}', expected 0 to {most}")


def _scalar(columns: dict[str, PlyColumn], name: str) -> np.ndarray:
    column = columns[name]
    if isinstance(column, PlyList):
        raise ValueError(f"property '{name}' is a list")
    return column


def _colours(columns: dict[str, PlyColumn]) -> np.ndarray | None:
    """Return red, green, blue as bytes; floats in [0, 1] and 16-bit values are scaled."""
    if any(name not in columns for name in _COLOURS):
        return None
    colours = np.column_stack([_scalar(columns, name) for name in _COLOURS])
    if colours.dtype == np.uint8:
        return colours
    full = 1.0 if colours.dtype.kind == "f" else float(np.iinfo(colours.dtype).max)
    if not np.isfinite(colours).all():
        raise ValueError("a colour is NaN or infinite")
    return np.rint(colours * (255.0 / full)).clip(0, 255).astype(np.uint8)


def _vertex_uv(columns: dict[str, PlyColumn]) -> np.ndarray | None:
    for names in _TEXTURE_NAMES:
        if all(name in columns for name in names):
            uv = np.column_stack([_scalar(columns, name) for name in names]).astype(np.float64)
            if not np.isfinite(uv).all():
                raise ValueError("a texture coordinate is NaN or infinite")
            return uv
    return None


def _polygons(columns: dict[str, PlyColumn], n_vertices: int) -> dict[int, PlyFaces]:
    """Return the faces by their number of corners; those with fewer than three are dropped."""
    indices = next((columns[name] for name in _INDEX_LISTS if name in columns), None)
    if indices is None:
        return {}
    if not isinstance(indices, PlyList):
        raise ValueError("a face's vertex indices must be a list")
    flat = indices.values
    if flat.dtype.kind not in "iu":
        raise ValueError("a vertex index is not an integer")
    if len(flat) and not (flat.min() >= 0 and flat.max() < n_vertices):
        raise ValueError(f"a vertex index is beyond the {n_vertices} vertices")
    texture = _scalar(columns, "texnumber") if "texnumber" in columns else None
    colours, uv = _colours(columns), columns.get("texcoord")
    found = {}
    for k in np.unique(indices.lengths[indices.lengths >= 3]):
        rows = np.flatnonzero(indices.lengths == k)
        found[int(k)] = PlyFaces(
            corners=indices.rows(rows, int(k)).astype(np.int64),
            uv=_corner_uv(uv, rows, int(k)),
            texture=np.zeros(len(rows), np.int64) if texture is None else texture[rows].astype(int),
            colours=None if colours is None else colours[rows],
        )
    return found


def _corner_uv(column: PlyColumn | None, rows: np.ndarray, k: int) -> np.ndarray | None:
    """Return the texture coordinates of faces that have them for each of their corners."""
    if not isinstance(column, PlyList) or not (column.lengths[rows] == 2 * k).all():
        return None
    uv = column.rows(rows, 2 * k).astype(np.float64).reshape(-1, k, 2)
    if not np.isfinite(uv).all():
        raise ValueError("a texture coordinate is NaN or infinite")
    return uv


def read_ply_mesh(path: Path) -> tuple[tuple[TexturedMesh, ...], tuple[str, ...]]:
    """Read a PLY file of polygons, in the file's axes and unit; one mesh for each texture.

    Also returned is a line for each texture that could not be loaded: colours of vertices or faces,
    or grey, replace it. Raises `UserError` if it is not a usable PLY file of polygons.
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
    grey = plain(GREY)
    return textured(vertices, faces.corners, uv, grey, repeats=False, name=name, is_assumed=True)
