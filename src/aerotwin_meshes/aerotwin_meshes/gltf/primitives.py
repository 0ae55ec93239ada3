# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Mesh primitives: vertices, triangles and colours (Khronos glTF 2.0 specification, 3.7.2)."""

from dataclasses import dataclass

import numpy as np

from aerotwin_meshes.gltf.accessors import as_floats, read_floats, read_indices
from aerotwin_meshes.gltf.colours import plain_texture, srgb_bytes, srgb_from_linear
from aerotwin_meshes.gltf.document import GltfDocument
from aerotwin_meshes.gltf.draco import decode_draco
from aerotwin_meshes.gltf.json_element import JsonElement
from aerotwin_meshes.gltf.materials import WHITE, GltfMaterial, Materials
from aerotwin_meshes.gltf.vertex_colours import paint_triangles

POINTS, TRIANGLES, STRIP, FAN = 0, 4, 5, 6
_BYTES_PER_VERTEX = 80  # positions, coordinates and colours, as stored and as returned
_BYTES_PER_INDEX = 16
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # ITU-R BT.709-6, 3.2
_LARGEST_UV = 2.0**16
"""Beyond it, single precision is coarser than half a texel of a 256-texel texture."""
_OUTSIDE_UV = 1e-4
"""Rounding of 16-bit coordinates: that far outside [0, 1] is at the rim, not beyond it."""


@dataclass(frozen=True, kw_only=True)
class GltfTriangles:
    """Triangles of one primitive.

    ``positions`` (n, 3) float64 are in the frame of the mesh; ``triangles`` (m, 3) int32, ``uv``
    (n, 2) float32, ``texture`` (h, w, 3) uint8, ``repeats``, ``light`` and ``is_colour_assumed`` as
    of a `TexturedMesh`.
    """

    positions: np.ndarray
    triangles: np.ndarray
    uv: np.ndarray
    texture: np.ndarray
    repeats: bool = False
    light: np.ndarray | None = None
    is_colour_assumed: bool = False


@dataclass(frozen=True, kw_only=True)
class PointSet:
    """Points of one primitive: positions (n, 3) float64 in the mesh frame, sRGB colours uint8."""

    positions: np.ndarray
    colours: np.ndarray


def read_primitive(
    document: GltfDocument, materials: Materials, primitive: JsonElement
) -> GltfTriangles | PointSet | None:
    """Return a primitive's triangles or points; None for lines and where no triangle is left.

    Vertex colours without a texture become a texture; beside a texture, only their luminance is
    used, as light. Raises `ValueError` naming the position in the document, what was expected and
    what was found.
    """
    mode = primitive.integer("mode", TRIANGLES, maximum=FAN)
    if mode not in (POINTS, TRIANGLES, STRIP, FAN):
        return None
    material = materials.of(primitive)
    values, indices = _stored(document, primitive, material)
    positions, colours = values["POSITION"].astype(np.float64), values.get("COLOR_0")
    if mode == POINTS:
        tint = material.factor if colours is None else colours[:, :3] * material.factor
        shown = srgb_bytes(np.broadcast_to(tint, positions.shape))
        return PointSet(positions=positions, colours=shown)
    triangles = _triangles(indices, len(positions), mode, primitive.where)
    if len(triangles) == 0:
        return None
    used, triangles = _compact(triangles, len(positions))
    rest = {name: array[used] for name, array in values.items()}
    return _surface(document, primitive, material, rest, triangles)


def _stored(
    document: GltfDocument, primitive: JsonElement, material: GltfMaterial
) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
    """Return the attributes in use, as numbers by name, and the indices if there are any.

    Texture coordinates are called TEXCOORD, whichever set the material uses.
    """
    accessors = primitive.element("attributes")
    if accessors is None:
        raise primitive.wrong("attributes", "an object")
    widths: dict[str, tuple[int, ...]] = {"POSITION": (3,)}
    texture_set = f"TEXCOORD_{material.coordinates}"
    if material.texture is not None:
        widths[texture_set] = (2,)
    if "COLOR_0" in accessors.values:
        widths["COLOR_0"] = (3, 4)
    packed = primitive.extension("KHR_draco_mesh_compression")
    values, indices = {}, None
    if packed is not None:
        values, indices = _unpacked(document, packed, primitive, widths)
    for name, width in widths.items():
        if name not in values:
            values[name] = read_floats(document, accessors.integer(name), width)
    n = len(values["POSITION"])
    document.budget.reserve_bytes(n * _BYTES_PER_VERTEX, primitive.where)
    for name, array in values.items():
        if len(array) != n:
            raise ValueError(f"{primitive.where}: {name} has {len(array)} elements, POSITION {n}")
        if not np.isfinite(array).all():
            raise ValueError(f"{primitive.where}: {name} is NaN or infinite somewhere")
    if indices is None and "indices" in primitive.values:
        indices = read_indices(document, primitive.integer("indices"))
    if texture_set in values:
        values["TEXCOORD"] = values.pop(texture_set)
    return values, indices


def _unpacked(
    document: GltfDocument,
    packed: JsonElement,
    primitive: JsonElement,
    widths: dict[str, tuple[int, ...]],
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the used attributes of a Draco stream, and its indices."""
    view = document.view(packed.integer("bufferView"), packed.where)
    accessors, ids = primitive.element("attributes"), packed.element("attributes")
    if accessors is None or ids is None:
        raise packed.wrong("attributes", "an object")

    def entry(index: int) -> JsonElement:
        return document.entry("accessors", index, primitive.where)

    geometry = decode_draco(
        view.data,
        packed.where,
        document.budget,
        n_points=entry(accessors.integer("POSITION")).integer("count"),
        # Some writers store the number of triangles in place of that of the indices.
        n_faces=entry(primitive.integer("indices")).integer("count"),
    )
    values = {}
    for name in widths:
        if name not in ids.values:
            continue
        array = geometry.attributes.get(ids.integer(name))
        if array is None or array.ndim != 2 or array.shape[1] not in widths[name]:
            raise ValueError(f"{ids.where}.{name} is not an attribute of the Draco stream")
        is_normalised = entry(accessors.integer(name)).flag("normalized")
        values[name] = as_floats(array, is_normalised=is_normalised)
    return values, geometry.triangles.reshape(-1).astype(np.int64)


def _triangles(indices: np.ndarray | None, n_vertices: int, mode: int, where: str) -> np.ndarray:
    """Return a primitive's triangles, without degenerate ones that only join parts of strips."""
    order = np.arange(n_vertices) if indices is None else indices
    if order.size and order.max() >= n_vertices:
        raise ValueError(f"{where}: index {order.max()} lies beyond its {n_vertices} vertices")
    if mode == TRIANGLES:
        return order[: len(order) // 3 * 3].reshape(-1, 3).astype(np.int32)
    start = np.arange(max(len(order) - 2, 0))
    odd = start % 2
    if mode == STRIP:
        triangles = order[np.stack([start, start + 1 + odd, start + 2 - odd], axis=-1)]
    else:
        triangles = order[np.stack([start + 1, start + 2, np.zeros_like(start)], axis=-1)]
    a, b, c = triangles.T
    return triangles[(a != b) & (b != c) & (c != a)].astype(np.int32)


def _compact(triangles: np.ndarray, n_vertices: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of used vertices, and the triangles over these alone.

    Primitives often share the vertices of a whole tile and each use a part of them.
    """
    is_used = np.zeros(n_vertices, bool)
    is_used[triangles] = True
    if is_used.all():
        return is_used, triangles
    place = np.cumsum(is_used, dtype=np.int32) - 1
    return is_used, place[triangles]


def _surface(
    document: GltfDocument,
    primitive: JsonElement,
    material: GltfMaterial,
    values: dict[str, np.ndarray],
    triangles: np.ndarray,
) -> GltfTriangles:
    document.budget.reserve_bytes(triangles.size * _BYTES_PER_INDEX, primitive.where)
    positions, colours = values["POSITION"].astype(np.float64), values.get("COLOR_0")
    if colours is not None:
        colours = np.clip(colours[:, :3], 0.0, 1.0)
    if material.texture is not None:
        uv, repeats = _texture_coordinates(values["TEXCOORD"], material, primitive.where)
        return GltfTriangles(
            positions=positions,
            triangles=triangles,
            uv=uv,
            texture=material.texture,
            repeats=repeats,
            light=None if colours is None else _light(colours),
        )
    uv = np.full((len(positions), 2), 0.5, np.float32)
    shown = srgb_bytes(material.factor if colours is None else colours * material.factor)
    if colours is None or (shown == shown[0]).all():
        texture = plain_texture(*shown.reshape(-1, 3)[0].tolist())
        return GltfTriangles(
            positions=positions,
            triangles=triangles,
            uv=uv,
            texture=texture,
            is_colour_assumed=colours is None and material.factor is WHITE,
        )
    corners, uv, texture = paint_triangles(triangles, shown, primitive.where, document.budget)
    split = np.arange(corners.size, dtype=np.int32).reshape(-1, 3)
    return GltfTriangles(
        positions=positions[corners.ravel()], triangles=split, uv=uv, texture=texture
    )


def _texture_coordinates(
    uv: np.ndarray, material: GltfMaterial, where: str
) -> tuple[np.ndarray, bool]:
    """Return coordinates for a material's texture, (n, 2) float32, and whether it must repeat.

    Whole periods are subtracted where the texture repeats, so that most meshes end within [0, 1]
    and need no repetition. A direction that clamps, beside one that repeats, is clamped at the
    vertices: exact but for triangles that cross the rim. ``uv`` is (n, 2) as stored; ``where``
    names the primitive in messages. Raises `ValueError` if a coordinate is not finite, or far
    beyond the texture.
    """
    T = material.T_uv
    uv = uv.astype(np.float64) @ T[:, :2].T + T[:, 2]
    if not np.isfinite(uv).all():
        raise ValueError(f"{where} has texture coordinates that are NaN or infinite")
    low, high = uv.min(axis=0), uv.max(axis=0)
    is_clamped = np.array(material.are_clamped)
    shift = np.where(is_clamped, 0.0, np.floor(low + _OUTSIDE_UV))
    low, high = low - shift, high - shift
    if max(np.abs(low).max(), np.abs(high).max()) > _LARGEST_UV:
        raise ValueError(f"{where} has texture coordinates beyond {_LARGEST_UV:.0f} repetitions")
    is_outside = (low < -_OUTSIDE_UV) | (high > 1.0 + _OUTSIDE_UV)
    repeats = bool((is_outside & ~is_clamped).any())
    uv -= shift
    if repeats and (is_outside & is_clamped).any():
        uv[:, is_clamped] = np.clip(uv[:, is_clamped], 0.0, 1.0)
    return uv.astype(np.float32), repeats


def _light(colours: np.ndarray) -> np.ndarray | None:
    """Return the luminance of linear colours as a factor of sRGB values; None if all is 1."""
    light = srgb_from_linear(colours @ _LUMINANCE).astype(np.float32)
    return None if (light > 0.999).all() else light
