# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""PLY files, ASCII and binary: vertices, colours, texture coordinates, polygons.

Reference: Turk (1994), The PLY Polygon File Format; texture coordinates as MeshLab and
photogrammetry programs write them ("comment TextureFile", s t or u v of vertices, a list "texcoord"
and a number "texnumber" of faces).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_meshes.mesh_files.limits import MAX_TRIANGLES, MAX_VERTICES, read_file
from aerotwin_meshes.mesh_files.ply_body import (
    AsciiPlyMesh,
    BinaryPlyMesh,
    Column,
    Element,
    ListColumn,
    Property,
    type_code,
)

_FORMATS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_MAX_HEADER_BYTES = 1 << 16
_COLOURS = ("red", "green", "blue")
_TEXTURE_NAMES = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"))
_INDEX_LISTS = ("vertex_indices", "vertex_index")


@dataclass(frozen=True, kw_only=True)
class PlyContent:
    """What a PLY file holds.

    Parameters
    ----------
    vertices : (n, 3) float64 array
    colours : (n, 3) uint8 array or None
        Of the vertices.
    uv : (n, 2) float64 array or None
        Of the vertices; v runs up.
    polygons : dict of int -> PlyFaces
        Faces by their number of corners.
    textures : tuple of str
        Files named in the comments.
    """

    vertices: np.ndarray
    colours: np.ndarray | None
    uv: np.ndarray | None
    polygons: dict[int, PlyFaces]
    textures: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PlyFaces:
    """Faces with the same number k of corners.

    Parameters
    ----------
    corners : (m, k) int64 array
    uv : (m, k, 2) float64 array or None
        Of the corners; v runs up.
    texture : (m,) int64 array
        Which texture they show.
    colours : (m, 3) uint8 array or None
    """

    corners: np.ndarray
    uv: np.ndarray | None
    texture: np.ndarray
    colours: np.ndarray | None


def read_ply(path: Path) -> PlyContent:
    """Read a PLY file of points or polygons.

    Raises
    ------
    UserError
        If it is not a whole PLY file; names file, element and fault.
    """
    data = read_file(path)
    try:
        return _read(data)
    except (ValueError, IndexError, OverflowError, struct.error) as error:
        raise UserError(f"{path}: not a usable PLY file ({error}); export it again") from None


def _read(data: bytes) -> PlyContent:
    order, elements, textures, start = _header(data)
    body = (
        AsciiPlyMesh(data[start:])
        if order == ""
        else BinaryPlyMesh(memoryview(data)[start:], order)
    )
    columns = {element.name: body.columns(element) for element in elements}
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
        textures=textures,
    )


def _header(data: bytes) -> tuple[str, list[Element], tuple[str, ...], int]:
    """Return byte order ("" for ASCII), elements, texture files, and where the body starts."""
    end = data.find(b"end_header", 0, _MAX_HEADER_BYTES)
    if not data.startswith(b"ply") or end < 0:
        raise ValueError("it has no PLY header")
    start = data.index(b"\n", end) + 1
    elements: list[Element] = []
    textures: list[str] = []
    order = None
    for line in data[:end].decode("utf-8", "replace").splitlines()[1:]:
        tokens = line.split()
        if tokens[:1] == ["format"]:
            if tokens[1] not in _FORMATS:
                raise ValueError(f"format {tokens[1]} is not known")
            order = _FORMATS[tokens[1]]
        elif tokens[:2] == ["comment", "TextureFile"]:
            textures.append(line.split(None, 2)[2].strip())
        elif tokens[:1] == ["element"]:
            elements.append(Element(tokens[1], _count(tokens[1], int(tokens[2]))))
        elif tokens[:1] == ["property"]:
            elements[-1].properties.append(_property(tokens))
    if order is None:
        raise ValueError("its header names no format")
    return order, elements, tuple(textures), start


def _count(name: str, count: int) -> int:
    most = MAX_VERTICES if name == "vertex" else MAX_TRIANGLES
    if not 0 <= count <= most:
        raise ValueError(f"{count} of element '{name}', expected 0 to {most}")
    return count


def _property(tokens: list[str]) -> Property:
    if tokens[1] == "list":
        return Property(tokens[4], type_code(tokens[3]), type_code(tokens[2]))
    return Property(tokens[2], type_code(tokens[1]))


def _scalar(columns: dict[str, Column], name: str) -> np.ndarray:
    column = columns[name]
    if isinstance(column, ListColumn):
        raise ValueError(f"property '{name}' is a list")
    return column


def _colours(columns: dict[str, Column]) -> np.ndarray | None:
    """Return red, green, blue as bytes; floats are shares, 16 bits are scaled."""
    if any(name not in columns for name in _COLOURS):
        return None
    colours = np.column_stack([_scalar(columns, name) for name in _COLOURS])
    if colours.dtype == np.uint8:
        return colours
    full = 1.0 if colours.dtype.kind == "f" else float(np.iinfo(colours.dtype).max)
    if not np.isfinite(colours).all():
        raise ValueError("a colour is NaN or infinite")
    return np.rint(colours * (255.0 / full)).clip(0, 255).astype(np.uint8)


def _vertex_uv(columns: dict[str, Column]) -> np.ndarray | None:
    for names in _TEXTURE_NAMES:
        if all(name in columns for name in names):
            uv = np.column_stack([_scalar(columns, name) for name in names]).astype(np.float64)
            if not np.isfinite(uv).all():
                raise ValueError("a texture coordinate is NaN or infinite")
            return uv
    return None


def _polygons(columns: dict[str, Column], n_vertices: int) -> dict[int, PlyFaces]:
    """Return the faces by their number of corners; those with fewer than three are none."""
    indices = next((columns[name] for name in _INDEX_LISTS if name in columns), None)
    if indices is None:
        return {}
    if not isinstance(indices, ListColumn):
        raise ValueError("a face's vertex indices must be a list")
    flat = indices.values
    if flat.dtype.kind not in "iu":
        raise ValueError("a vertex index is not an integer")
    if len(flat) and not (flat.min() >= 0 and flat.max() < n_vertices):
        raise ValueError(f"a vertex index is beyond the {n_vertices} vertices")
    texture = _scalar(columns, "texnumber") if "texnumber" in columns else None
    colours, uv = _colours(columns), columns.get("texcoord")
    found = {}
    for k in np.unique(indices.counts[indices.counts >= 3]):
        rows = np.flatnonzero(indices.counts == k)
        found[int(k)] = PlyFaces(
            corners=indices.rows(rows, int(k)).astype(np.int64),
            uv=_corner_uv(uv, rows, int(k)),
            texture=np.zeros(len(rows), np.int64) if texture is None else texture[rows].astype(int),
            colours=None if colours is None else colours[rows],
        )
    return found


def _corner_uv(column: Column | None, rows: np.ndarray, k: int) -> np.ndarray | None:
    """Return the texture coordinates of faces that have them for each of their corners."""
    if not isinstance(column, ListColumn) or not (column.counts[rows] == 2 * k).all():
        return None
    uv = column.rows(rows, 2 * k).astype(np.float64).reshape(-1, k, 2)
    if not np.isfinite(uv).all():
        raise ValueError("a texture coordinate is NaN or infinite")
    return uv
