# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Marks painted on the ground of a world, in its textures, so that every camera sees them.

A mark is drawn around an exact position in the map: each texel is weighted by the share of it that
the shape covers, with any texture coordinates of the triangles.
"""

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.parameters import parameter
from aerotwin_meshes.mesh import TexturedMesh
from aerotwin_rendering.queries import WorldQueries
from aerotwin_worlds.world import World

SHAPES = ("quarters", "cross", "disc")
_GROUND = "ground"
_SUB = 4  # samples along each side of a texel
_WHITE, _BLACK = 235, 18
_ARM_SHARE = 0.22  # width of a cross' arm, of the mark's size
_LEVEL = 0.5  # upward part of the normal of what counts as ground: 60 degrees
_STEP_M = 0.5  # what is farther above or below the mark's middle is another surface
_FEWEST_TEXELS = 6


@dataclass(frozen=True, kw_only=True)
class MarkStyle:
    """Appearance of marks; sides along east and north."""

    shape: str = parameter(
        "quarters",
        text="quarters: a disc of black and white quarters, whose middle is seen best; cross: "
        "white on a black disc; disc: white on a black square.",
        choices=SHAPES,
    )
    size_m: float = parameter(0.5, text="Diameter or side.", unit="m", minimum=0.02, maximum=10.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class MarkedWorld:
    """A world with painted textures; ``points_map`` (n, 3): exact middles of the marks [m]."""

    world: World
    points_map: np.ndarray


def paint_marks(world: World, xy_map: np.ndarray, style: MarkStyle | None = None) -> MarkedWorld:
    """Return a world with marks painted on its ground at ``xy_map`` (n, 2), east and north [m].

    Ground are the meshes whose names begin with "ground"; where there are none (scans, surveys) the
    highest surface is painted. Paint is as bright in the shade as in the sun. The input world is
    not changed, and must not be streamed. Raises `UserError` if a mark lies beside the ground, or
    the texture there repeats or is too coarse for it.
    """
    style = style or MarkStyle()
    places = np.asarray(xy_map, np.float64)
    if places.ndim != 2 or places.shape[1] != 2 or not np.isfinite(places).all():
        raise ValueError(f"xy_map must be finite with shape (n, 2), got {places.shape}")
    if world.stream is not None:
        raise UserError(f"world {world.name}: marks cannot be painted on streamed tiles; bake them")
    which = [k for k, mesh in enumerate(world.meshes) if mesh.name.startswith(_GROUND)]
    which = which or list(range(len(world.meshes)))
    ground = WorldQueries(dataclasses.replace(world, meshes=tuple(world.meshes[k] for k in which)))
    points = np.column_stack([places, np.atleast_1d(ground.height(*places.T))])
    _refuse_beside(world, points)
    meshes = list(world.meshes)
    is_painted = np.zeros(len(points), bool)
    for k in which:
        meshes[k], found = _painted(meshes[k], points, style)
        is_painted |= found
    if not is_painted.all():
        x, y = points[np.argmin(is_painted), :2]
        raise UserError(f"mark at ({x:.2f}, {y:.2f}) m: the ground is too steep; choose a place")
    return MarkedWorld(world=dataclasses.replace(world, meshes=tuple(meshes)), points_map=points)


def _refuse_beside(world: World, points: np.ndarray) -> None:
    beside = ~np.isfinite(points[:, 2])
    if beside.any():
        x, y = points[np.argmax(beside), :2]
        raise UserError(
            f"mark at ({x:.2f}, {y:.2f}) m: there is no ground of world {world.name}; choose "
            "another place"
        )


def _painted(
    mesh: TexturedMesh, points: np.ndarray, style: MarkStyle
) -> tuple[TexturedMesh, np.ndarray]:
    """Return a mesh with the marks that overlap it, and their indices."""
    corners = mesh.vertices_map[mesh.triangles]
    low, high = corners.min(axis=1), corners.max(axis=1)
    reach = np.array([style.size_m, style.size_m, 2.0 * _STEP_M]) / 2.0
    near = (points[:, None] + reach >= low.min(axis=0)) & (
        points[:, None] - reach <= high.max(axis=0)
    )
    texture, is_painted = None, np.zeros(len(points), bool)
    for k in np.flatnonzero(near.all(axis=(1, 2))):
        over = ((low <= points[k] + reach) & (high >= points[k] - reach)).all(axis=1)
        triangles = [int(t) for t in np.flatnonzero(over) if _is_level(corners[t])]
        if not triangles:
            continue
        _refuse_texture(mesh, triangles, points[k], style)
        texture = mesh.texture.copy() if texture is None else texture
        is_painted[k] = _paint(texture, mesh, triangles, points[k], style)
    if texture is None:
        return mesh, is_painted
    return dataclasses.replace(mesh, texture=texture), is_painted


def _is_level(corners: np.ndarray) -> bool:
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    return bool(abs(normal[2]) > _LEVEL * np.linalg.norm(normal))


def _refuse_texture(
    mesh: TexturedMesh, triangles: Sequence[int], point: np.ndarray, style: MarkStyle
) -> None:
    where = f"mark at ({point[0]:.2f}, {point[1]:.2f}) m"
    if mesh.repeats:
        raise UserError(
            f"{where}: the texture of '{mesh.name}' repeats, the mark would stand elsewhere too; "
            "choose a place on another surface"
        )
    texel = max(_texel_m(mesh, t) for t in triangles)
    if texel * _FEWEST_TEXELS > style.size_m:
        raise UserError(
            f"{where}: a texel of '{mesh.name}' is {texel:.3f} m wide and {_FEWEST_TEXELS} of them "
            f"are needed across a mark of {style.size_m:g} m; make it "
            f"{texel * _FEWEST_TEXELS:.2f} m, or the world's texels smaller"
        )


def _texel_m(mesh: TexturedMesh, triangle: int) -> float:
    """Return the side of a texel on a triangle, seen from above [m]."""
    place, pixel = _corners(mesh, triangle)
    (a, b), (c, d) = place[1:] - place[0], pixel[1:] - pixel[0]
    texels = abs(c[0] * d[1] - c[1] * d[0])
    return float(np.sqrt(abs(a[0] * b[1] - a[1] * b[0]) / max(texels, 1e-12)))


def _corners(mesh: TexturedMesh, triangle: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a triangle, east and north [m] and right and down [px]."""
    index = mesh.triangles[triangle]
    height, width = mesh.texture.shape[:2]
    return mesh.vertices_map[index, :2], mesh.uv[index].astype(np.float64) * [width, height]


def _paint(texture, mesh, triangles, point, style: MarkStyle) -> bool:
    """Paint one mark on a texture through some triangles; return whether any texel changed."""
    cover: defaultdict[tuple[int, int], np.ndarray] = defaultdict(lambda: np.zeros(2))
    for triangle in triangles:
        rows, columns, shares = _covered(mesh, triangle, point, style)
        for row, column, share in zip(rows, columns, shares, strict=True):
            cover[row, column] += share
    for (row, column), (white, black) in cover.items():
        left = max(1.0 - white - black, 0.0)
        mixed = left * texture[row, column] + white * _WHITE + black * _BLACK
        texture[row, column] = np.clip(np.rint(mixed), 0, 255).astype(np.uint8)
    return bool(cover)


def _covered(mesh, triangle, point, style) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, columns and shares (n, 2) of white and black of the texels of a triangle."""
    place, pixel = _corners(mesh, triangle)
    height, width = mesh.texture.shape[:2]
    to_place = _affine(pixel, place)
    to_pixel = _affine(place, pixel)
    if to_place is None or to_pixel is None:
        return _nothing()
    # Only the texels under the mark: a triangle may cover a whole field.
    half = style.size_m / 2.0
    box = point[:2] + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    under = box @ to_pixel[:2] + to_pixel[2]
    low = np.floor(np.maximum(under.min(axis=0), pixel.min(axis=0))).astype(int)
    high = np.ceil(np.minimum(under.max(axis=0), pixel.max(axis=0))).astype(int)
    low, high = np.maximum(low, 0), np.minimum(high, [width, height])
    if (high <= low).any():
        return _nothing()
    sub = (np.arange(_SUB) + 0.5) / _SUB
    u = (np.arange(low[0], high[0])[:, None] + sub).ravel()
    v = (np.arange(low[1], high[1])[:, None] + sub).ravel()
    samples = np.stack(np.meshgrid(u, v), axis=-1)
    inside = _inside(pixel, samples)
    white, black = _shape(style, samples @ to_place[:2] + to_place[2] - point[:2])
    shape = (high[1] - low[1], _SUB, high[0] - low[0], _SUB)
    shares = np.stack(
        [(part & inside).reshape(shape).mean(axis=(1, 3)) for part in (white, black)], axis=-1
    )
    rows, columns = np.nonzero(shares.sum(axis=-1))
    return rows + low[1], columns + low[0], shares[rows, columns]


def _nothing() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros(0, int), np.zeros(0, int), np.zeros((0, 2))


def _affine(source: np.ndarray, target: np.ndarray) -> np.ndarray | None:
    """Return A (3, 2) with target = [source 1] A for three corners; None for a flat triangle."""
    system = np.column_stack([source, np.ones(3)])
    if abs(np.linalg.det(system)) < 1e-12:
        return None
    return np.linalg.solve(system, target)


def _inside(corners: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Return which samples lie in a triangle; those on an edge belong to one of its two sides."""
    a, b, c = corners
    if (b - a)[0] * (c - a)[1] - (b - a)[1] * (c - a)[0] < 0.0:
        b, c = c, b
    inside = np.ones(samples.shape[:-1], bool)
    for p, q in ((a, b), (b, c), (c, a)):
        edge = q - p
        side = edge[0] * (samples[..., 1] - p[1]) - edge[1] * (samples[..., 0] - p[0])
        is_first = edge[1] > 0.0 or (edge[1] == 0.0 and edge[0] < 0.0)
        inside &= (side > 0.0) | ((side == 0.0) & is_first)
    return inside


def _shape(style: MarkStyle, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which offsets (..., 2) [m] from the middle are white, and which are black."""
    x, y = offset[..., 0], offset[..., 1]
    half = style.size_m / 2.0
    in_disc = x * x + y * y <= half * half
    if style.shape == "quarters":
        return in_disc & (x * y > 0.0), in_disc & (x * y <= 0.0)
    if style.shape == "cross":
        is_arm = np.minimum(np.abs(x), np.abs(y)) <= _ARM_SHARE * half
        return in_disc & is_arm, in_disc & ~is_arm
    is_white = x * x + y * y <= (0.6 * half) ** 2
    return is_white, (np.maximum(np.abs(x), np.abs(y)) <= half) & ~is_white
