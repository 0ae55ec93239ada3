# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Site: a rectangle of ground with its heights, its painted strokes, and the meshes of both."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import cv2
import numpy as np

from aerotwin_core.threads import fill_bands
from aerotwin_generated_worlds import surfaces
from aerotwin_generated_worlds.sunlight import AMBIENT, DIRECT, SUN_MAP, Shade, bilinear
from aerotwin_meshes.mesh import TexturedMesh, grid_triangles

LAYER_CELL_M = 0.25
_SHIFT = 4
"""OpenCV draws to 1/16 of a texel."""


@dataclass(frozen=True, kw_only=True)
class Stroke:
    """An area, line or text of a material of `surfaces`, painted on the ground.

    ``points_m`` (n, 2) are the corners of an area or the points of a line, ``width_m`` wide; 0
    fills the area. ``text`` is drawn in place of a line: from the first point, letters ``width_m``
    high.
    """

    material: int
    points_m: np.ndarray
    width_m: float = 0.0
    text: str = ""

    @cached_property
    def bounds_m(self) -> np.ndarray:
        """Lowest and highest corner of the painted area, (2, 2) [m]."""
        margin = self.width_m * max(len(self.text), 1) + 0.1
        return np.stack([self.points_m.min(axis=0) - margin, self.points_m.max(axis=0) + margin])


@dataclass(frozen=True, kw_only=True)
class Site:
    """Ground of a generated world: a regular grid of vertices; y rises.

    ``z_m`` (rows, columns) are their heights; ``strokes`` are painted in the order of materials.
    """

    x_m: np.ndarray
    y_m: np.ndarray
    z_m: np.ndarray
    seed: int
    strokes: list[Stroke] = field(default_factory=list)

    def height(self, x, y) -> np.ndarray:
        """Height of the ground at x, y [m], bilinear."""
        column = (np.asarray(x, float) - self.x_m[0]) / (self.x_m[1] - self.x_m[0])
        row = (np.asarray(y, float) - self.y_m[0]) / (self.y_m[1] - self.y_m[0])
        return bilinear(self.z_m, row, column)

    @property
    def low_m(self) -> np.ndarray:
        """South-western corner [m]."""
        return np.array([self.x_m[0], self.y_m[0]])

    @property
    def high_m(self) -> np.ndarray:
        """North-eastern corner [m]."""
        return np.array([self.x_m[-1], self.y_m[-1]])


def grid_line(low: float, high: float, spacing: float, n_chunks: int) -> np.ndarray:
    """Return evenly spaced points from low to high whose cells divide into equal chunks."""
    cells = max(round((high - low) / spacing / n_chunks), 1) * n_chunks
    return np.linspace(low, high, cells + 1)


def land(x_m, y_m, *, wave_m, rise_m, bumps_m, seed) -> np.ndarray:
    """Return heights (rows, columns) of rolling land [m]; see `surfaces.rolling_land`."""
    z = np.empty((len(y_m), len(x_m)))
    fill_bands(surfaces.rolling_land, len(y_m), x_m, y_m, wave_m, rise_m, bumps_m, seed, z)
    return z


def ground_meshes(
    site: Site, shade: Shade, *, chunks: tuple[int, int], texel_m
) -> tuple[TexturedMesh, ...]:
    """Return the ground as meshes, one per chunk, west to east and then south to north.

    ``texel_m`` is one size for all chunks, or a function of a chunk's corners (low, high).
    """
    columns = np.linspace(0, len(site.x_m) - 1, chunks[0] + 1).astype(int)
    rows = np.linspace(0, len(site.y_m) - 1, chunks[1] + 1).astype(int)
    meshes = []
    for r, (row0, row1) in enumerate(pairwise(rows)):
        for c, (column0, column1) in enumerate(pairwise(columns)):
            x, y = site.x_m[column0 : column1 + 1], site.y_m[row0 : row1 + 1]
            texel = texel_m((x[0], y[0]), (x[-1], y[-1])) if callable(texel_m) else texel_m
            texture = _paint(site, shade, x, y, texel)
            z = site.z_m[row0 : row1 + 1, column0 : column1 + 1]
            meshes.append(_sheet(x, y, z, texture, f"ground {r}-{c}"))
    return tuple(meshes)


def _sheet(x, y, z, texture, name) -> TexturedMesh:
    u, v = np.meshgrid((x - x[0]) / (x[-1] - x[0]), 1.0 - (y - y[0]) / (y[-1] - y[0]))
    return TexturedMesh(
        vertices_map=np.stack([*np.meshgrid(x, y), z], axis=-1).reshape(-1, 3),
        triangles=grid_triangles(*z.shape),
        uv=np.stack([u, v], axis=-1).reshape(-1, 2).astype(np.float32),
        texture=texture,
        name=name,
    )


def _paint(site: Site, shade: Shade, x, y, texel_m: float) -> np.ndarray:
    width, height = round((x[-1] - x[0]) / texel_m), round((y[-1] - y[0]) / texel_m)
    x_texel = x[0] + (np.arange(width) + 0.5) * (x[-1] - x[0]) / width
    y_texel = y[-1] - (np.arange(height) + 0.5) * (y[-1] - y[0]) / height
    cell = max(LAYER_CELL_M, 2.0 * texel_m)
    coarse_x, coarse_y = (
        np.linspace(line[0], line[-1], round((line[-1] - line[0]) / cell) + 1) for line in (x, y)
    )
    layers = np.empty((len(coarse_y), len(coarse_x), surfaces.N_LAYERS), np.float32)
    fill_bands(surfaces.ground_layers, len(coarse_y), coarse_x, coarse_y, site.seed, layers)
    layers[..., surfaces.LIGHT] = _light(site, shade, coarse_x, coarse_y)
    masks = draw_masks(site.strokes, (x[0], y[-1]), (width, height), (x[-1] - x[0]) / width)
    image = np.empty((height, width, 3), np.uint8)
    column_x = np.interp(x_texel, coarse_x, np.arange(len(coarse_x)))
    row_y = np.interp(y_texel, coarse_y, np.arange(len(coarse_y)))
    grid = (x_texel, y_texel, column_x, row_y, layers, masks)
    fill_bands(surfaces.paint_ground, height, *grid, site.seed, image)
    return image


def _light(site: Site, shade: Shade, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Light of sky and sun on the ground at a grid of points."""
    grid_x, grid_y = np.meshgrid(x, y)
    z = site.height(grid_x, grid_y)
    slope_y, slope_x = np.gradient(z, y[1] - y[0], x[1] - x[0])
    normal = np.stack([-slope_x, -slope_y, np.ones_like(z)], axis=-1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    points = np.stack([grid_x, grid_y, z], axis=-1)
    # A level surface in the sun has light 1.
    sun = np.clip(normal @ SUN_MAP, 0.0, None) / SUN_MAP[2]
    direct = DIRECT / (AMBIENT + DIRECT) * sun * shade.lit(points)
    return direct + AMBIENT / (AMBIENT + DIRECT) * shade.open(points)


def draw_masks(
    strokes: Sequence[Stroke], corner_m, size_px: tuple[int, int], texel_m: float
) -> np.ndarray:
    """Return the shares (rows, columns, material) uint8 of strokes on a texture.

    ``corner_m``: position of the texture's upper left corner; rows run south.
    """
    width, height = size_px
    masks = np.zeros((height, width, surfaces.N_MATERIALS), np.uint8)
    corner = np.asarray(corner_m, float)
    low, high = (
        corner - np.array([0.0, height * texel_m]),
        corner + np.array([width * texel_m, 0.0]),
    )
    strokes = [s for s in strokes if (s.bounds_m[0] < high).all() and (s.bounds_m[1] > low).all()]
    for material in sorted({stroke.material for stroke in strokes}):
        plane = np.zeros((height, width), np.uint8)
        for stroke in strokes:
            if stroke.material == material:
                _draw(plane, stroke, corner, texel_m)
        masks[..., material] = plane
    return masks


def _draw(plane: np.ndarray, stroke: Stroke, corner: np.ndarray, texel_m: float) -> None:
    places = (stroke.points_m - corner) * [1.0, -1.0] / texel_m - 0.5
    fixed = np.round(places * 2**_SHIFT).astype(np.int32).reshape(1, -1, 2)
    if stroke.text:
        scale = stroke.width_m / texel_m / 22.0  # the font is 22 units high
        thickness = max(round(stroke.width_m / texel_m / 7.0), 1)
        place = tuple(int(v) for v in places[0])
        cv2.putText(
            plane, stroke.text, place, cv2.FONT_HERSHEY_SIMPLEX, scale, 255, thickness, cv2.LINE_AA
        )
    elif stroke.width_m > 0.0:
        # OpenCV draws a line about a pixel wider than requested.
        thickness = max(round(stroke.width_m / texel_m - 1.0), 1)
        cv2.polylines(plane, fixed, False, 255, thickness, cv2.LINE_AA, _SHIFT)
    else:
        cv2.fillPoly(plane, fixed, 255, cv2.LINE_AA, _SHIFT)
