# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Convert a tile's contents to textured meshes in the map, cut them, and compute their memory."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import transform_points
from aerotwin_meshes.gltf.primitives import PointSet
from aerotwin_meshes.mesh import TexturedMesh
from aerotwin_tiles.fetch import Source
from aerotwin_tiles.shared_contents import SharedContents
from aerotwin_tiles.tile import Tile, TileContentReference, TileError, short_name
from aerotwin_tiles.tile_content import TilePart, UpAxis, read_content
from aerotwin_tiles.volumes import Box

MAX_CONTENT_BYTES = 2**28
"""Largest file of one content; tiles are made to be a few megabytes."""
_PYRAMID_SHARE = 4.0 / 3.0 + 4.0 / 9.0
"""Of a texture's bytes: its colour pyramid (1 + 1/4 + ... = 4/3) and its grey one, a third."""
_VERTEX_BYTES = 120
"""Of the renderer's copies (float64 x y z, float32 u v and light: 36; copied once per cluster it
is in, 1.4 times on regular meshes, and once more when clusters are joined) and Embree's (16)."""
_TRIANGLE_BYTES = 100
"""Indices of renderer (two times 6) and Embree (12), its bounding volume hierarchy (about 70)."""
_MAX_POINTS = 8192**2  # one texel each in one texture
_OCTAHEDRON = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
_FACES = np.array(
    [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]
)


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadedTile:
    """The content of a tile: meshes, empty without content in the region, and copyrights.

    ``n_bytes`` is the memory of the meshes, including the renderer's and ray caster's copies.
    """

    meshes: tuple[TexturedMesh, ...]
    n_bytes: int
    copyrights: tuple[str, ...]


NOTHING = LoadedTile(meshes=(), n_bytes=0, copyrights=())


@dataclass(frozen=True, kw_only=True)
class TileReader:
    """Reads the contents of tiles; thread-safe.

    Contents whose own volume lies outside ``region``, in the frame of the tileset, are not read.
    Triangles are cut at the corners ``crop_m`` (2, 3) of a box in the map [m]; ``point_size_m`` is
    the width of a point's octahedron. Tiles that share a content share its arrays.
    """

    source: Source
    T_map_tileset: np.ndarray
    region: Box | None
    crop_m: np.ndarray | None
    point_size_m: float
    shared: SharedContents = field(default_factory=SharedContents)

    def read(self, tile: Tile) -> LoadedTile | TileError:
        """Return the content of a tile, or what cannot be loaded or used of it."""
        if tile.flaw:
            return TileError(f"{tile.name}: {tile.flaw}")
        try:
            return self._read(tile)
        except TileError as error:
            return error

    def _read(self, tile: Tile) -> LoadedTile:
        parts = [part for content in tile.contents for part in self._parts(tile, content)]
        T_map_tile = self.T_map_tileset @ tile.T_tileset_tile
        try:
            meshes = [self._mesh(part, T_map_tile) for part in parts]
        except ValueError as error:
            raise TileError(f"{tile.name}: {error}") from None
        shown = tuple(mesh for mesh in meshes if mesh is not None)
        return LoadedTile(
            meshes=shown,
            n_bytes=memory_bytes(shown),
            copyrights=tuple(dict.fromkeys(part.copyright for part in parts if part.copyright)),
        )

    def _parts(self, tile: Tile, content: TileContentReference) -> Sequence[TilePart]:
        region, volume = self.region, content.volume
        if region is not None and volume is not None and not volume.overlaps(region):
            return ()
        key = content.uri, tile.up_axis
        try:
            return self.shared.get(key, lambda: self._read_parts(*key))
        except UserError as error:
            raise TileError(str(error)) from None

    def _read_parts(self, uri: str, up_axis: UpAxis) -> list[TilePart]:
        read = self.source.read
        return read_content(
            read(uri, max_bytes=MAX_CONTENT_BYTES),
            uri=short_name(uri),
            resolve=lambda reference: read(
                self.source.resolve(uri, reference), max_bytes=MAX_CONTENT_BYTES
            ),
            up_axis=up_axis,
        )

    def _mesh(self, part: TilePart, T_map_tile: np.ndarray) -> TexturedMesh | None:
        shape = part.shape
        if isinstance(shape, PointSet):
            mesh = points_mesh(shape, T_map_tile, self.point_size_m, part.name)
        else:
            mesh = TexturedMesh(
                vertices_map=transform_points(T_map_tile, shape.positions),
                triangles=shape.triangles,
                uv=shape.uv,
                texture=shape.texture,
                light=shape.light,
                repeats=shape.repeats,
                is_colour_assumed=shape.is_colour_assumed,
                name=part.name,
            )
        if mesh is None or self.crop_m is None:
            return mesh
        return cropped(mesh, *self.crop_m)


def points_mesh(
    shape: PointSet, T_map_tile: np.ndarray, size_m: float, name: str
) -> TexturedMesh | None:
    """Return a point cloud as small octahedra, visible and hit from all sides.

    Each has one texel; all its vertices lie on the texel's middle, so that colours do not mix at
    any distance.
    """
    points = transform_points(T_map_tile, shape.positions)
    n = len(points)
    if n == 0:
        return None
    if n > _MAX_POINTS:
        raise ValueError(f"{name}: must have at most {_MAX_POINTS} points, got {n}")
    side = math.isqrt(n - 1) + 1
    texture = np.zeros((side * side, 3), np.uint8)
    texture[:n] = shape.colours
    index = np.arange(n)
    uv = (np.column_stack([index % side, index // side]) + 0.5) / side
    return TexturedMesh(
        vertices_map=(points[:, None] + 0.5 * size_m * _OCTAHEDRON).reshape(-1, 3),
        triangles=(_FACES + 6 * index[:, None, None]).reshape(-1, 3).astype(np.int32),
        uv=np.repeat(uv, 6, axis=0).astype(np.float32),
        texture=texture.reshape(side, side, 3),
        name=name,
    )


def memory_bytes(meshes: tuple[TexturedMesh, ...]) -> int:
    """Return the memory of meshes, including the renderer's and ray caster's copies.

    A texture that several meshes share counts once, as it is stored once.
    """
    textures = {id(mesh.texture): mesh.texture.nbytes for mesh in meshes}
    arrays = sum(
        mesh.vertices_map.nbytes
        + mesh.triangles.nbytes
        + mesh.uv.nbytes
        + (0 if mesh.light is None else mesh.light.nbytes)
        + len(mesh.vertices_map) * _VERTEX_BYTES
        + len(mesh.triangles) * _TRIANGLE_BYTES
        for mesh in meshes
    )
    return arrays + int(sum(textures.values()) * (1.0 + _PYRAMID_SHARE))


def cropped(mesh: TexturedMesh, low: np.ndarray, high: np.ndarray) -> TexturedMesh | None:
    """Return the part of a mesh in a box along the map's axes, corners (3,) [m]; None if empty.

    Each face cuts every triangle that crosses it into one or two (Sutherland and Hodgman,
    Reentrant polygon clipping, CACM 17, 1974, with one plane at a time); texture coordinates and
    light are interpolated. A mesh inside the box is returned as it is.
    """
    bounds = mesh.bounds_m
    if (bounds[0] >= low).all() and (bounds[1] <= high).all():
        return mesh
    light = np.ones(len(mesh.uv)) if mesh.light is None else mesh.light
    rows = np.column_stack([mesh.vertices_map, mesh.uv, light])
    corners = rows[mesh.triangles]
    for axis in range(3):
        corners = _clipped(corners, corners[..., axis] - low[axis])
        corners = _clipped(corners, high[axis] - corners[..., axis])
    if len(corners) == 0:
        return None
    rows, index = np.unique(corners.reshape(-1, rows.shape[1]), axis=0, return_inverse=True)
    return dataclasses.replace(
        mesh,
        vertices_map=np.ascontiguousarray(rows[:, :3]),
        triangles=index.reshape(-1, 3).astype(np.int32),
        uv=rows[:, 3:5].astype(np.float32),
        light=None if mesh.light is None else rows[:, 5].astype(np.float32),
    )


def _clipped(corners: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return the parts of triangles (n, 3, k) where a linear function (n, 3) is positive.

    Each triangle is turned until its odd corner, the one alone on its side, comes first.
    """
    n_inside = (inside > 0.0).sum(axis=1)
    odd_inside, odd_outside = n_inside == 1, n_inside == 2
    retained = corners[n_inside == 3]
    tip, left, right = _edges(corners[odd_inside], inside[odd_inside], is_inside=True)
    small = np.stack([tip, left[0], right[0]], axis=1)
    _, left, right = _edges(corners[odd_outside], inside[odd_outside], is_inside=False)
    wide = [
        np.stack([left[0], left[1], right[1]], axis=1),
        np.stack([left[0], right[1], right[0]], axis=1),
    ]
    return np.concatenate([retained, small, *wide])


def _edges(
    corners: np.ndarray, inside: np.ndarray, *, is_inside: bool
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return the odd corner, and the crossing and the far end of the two edges that leave it."""
    row = np.arange(len(corners))
    first = np.argmax((inside > 0.0) == is_inside, axis=1)
    a, b, c = (corners[row, (first + k) % 3] for k in range(3))
    f, g, h = (inside[row, (first + k) % 3] for k in range(3))
    at_b = a + (f / (f - g))[:, None] * (b - a)
    at_c = a + (f / (f - h))[:, None] * (c - a)
    return a, (at_b, b), (at_c, c)
