# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rasters of heights as grids of triangles: averaged to a limit, holes filled, a start position."""

import math
from dataclasses import dataclass

import cv2
import numpy as np

from aerotwin_meshes.mesh import TexturedMesh, grid_triangles
from aerotwin_worlds.georaster import Raster
from aerotwin_worlds.holes import enclosed_holes, fill_holes

MAX_TRIANGLES = 8_000_000
MAX_TEXTURE_PX = 8192
"""Longest side of a texture."""
FLAT_WINDOW_M, FLAT_RANGE_M = 4.0, 0.4
FREE_WINDOW_M, FREE_HEIGHT_M = 16.0, 4.0
_WHOLLY = 0.999  # share of a cell that must be known; below 1 for the rounding of averages


@dataclass(frozen=True, kw_only=True)
class HeightGrid:
    """Heights at the middles of cells, rows from north to south.

    ``x`` (w,) and ``y`` (h,) are grid coordinates in the unit of the raster; ``is_inside`` tells
    where the heights count. Of the raster's no-data pixels, ``n_filled`` were filled from their
    surroundings and ``n_outside`` left out.
    """

    x: np.ndarray
    y: np.ndarray
    height_m: np.ndarray
    is_inside: np.ndarray
    n_filled: int
    n_outside: int


def height_grid(raster: Raster, *, max_triangles: int) -> HeightGrid:
    """Fill enclosed holes and average the heights to cells, to at most ``max_triangles``.

    Holes that touch the border are outside of the survey and are left out. A raster within the
    limit is not averaged.
    """
    enclosed = enclosed_holes(raster.is_known)
    is_inside = raster.is_known | enclosed
    h, w = is_inside.shape
    ratio = max(math.sqrt(2.0 * int(is_inside.sum()) / max_triangles), 1.0)
    nx, ny = max(int(w / ratio), 2), max(int(h / ratio), 2)
    heights = fill_holes(raster.values, raster.is_known)
    share = is_inside.astype(np.float32)
    if (nx, ny) != (w, h):
        heights, share = (
            cv2.resize(values, (nx, ny), interpolation=cv2.INTER_AREA)
            for values in (heights, share)
        )
    return HeightGrid(
        x=raster.west + (np.arange(nx) + 0.5) * (w * raster.pixel[0] / nx),
        y=raster.north - (np.arange(ny) + 0.5) * (h * raster.pixel[1] / ny),
        height_m=heights.astype(np.float64),
        is_inside=share > _WHOLLY,
        n_filled=int(enclosed.sum()),
        n_outside=int((~is_inside).sum()),
    )


def grid_mesh(
    grid: HeightGrid, p_map: np.ndarray, texture: Raster, *, name: str = ""
) -> TexturedMesh:
    """Return a grid as a mesh that shows a picture, without holes, on the same grid coordinates.

    ``p_map`` (h, w, 3) are the positions of its heights in the map [m]. Raises `ValueError` if
    nowhere four neighbouring heights are known.
    """
    h, w = texture.values.shape[:2]
    u = (grid.x - texture.west) / (w * texture.pixel[0])
    v = (texture.north - grid.y) / (h * texture.pixel[1])
    triangles = grid_triangles(*grid.is_inside.shape)[:, ::-1]  # rows run south
    triangles = triangles[grid.is_inside.ravel()[triangles].all(axis=1)]
    if not len(triangles):
        raise ValueError("no four neighbouring heights are known")
    used, index = np.unique(triangles, return_inverse=True)
    uv = np.stack(np.meshgrid(u, v), axis=-1)
    return TexturedMesh(
        vertices_map=np.ascontiguousarray(p_map.reshape(-1, 3)[used]),
        triangles=index.reshape(-1, 3).astype(np.int32),
        uv=uv.reshape(-1, 2)[used].astype(np.float32),
        texture=np.ascontiguousarray(texture.values),
        name=name,
    )


def covered_pixels(grid: HeightGrid, texture: Raster) -> np.ndarray:
    """Return which pixels of a picture lie over the inside of a grid, (h, w) bool."""
    h, w = texture.values.shape[:2]
    x = texture.west + (np.arange(w) + 0.5) * texture.pixel[0]
    y = texture.north - (np.arange(h) + 0.5) * texture.pixel[1]
    column = np.interp(x, grid.x, np.arange(len(grid.x)), -1, -1)
    row = np.interp(-y, -grid.y, np.arange(len(grid.y)), -1, -1)
    covered = grid.is_inside[np.rint(row).astype(int)][:, np.rint(column).astype(int)]
    return covered & (column >= 0)[None] & (row >= 0)[:, None]


def flat_place(grid: HeightGrid, p_map: np.ndarray) -> tuple[float, float]:
    """Return x, y [m] of the flat and free position nearest to the middle of the surface."""
    z = p_map[..., 2].astype(np.float32)
    steps = (np.diff(p_map, axis=0), np.diff(p_map, axis=1))
    step_m = float(np.mean([np.median(np.linalg.norm(step, axis=-1)) for step in steps]))

    def window(metres: float) -> np.ndarray:
        n = 2 * math.ceil(metres / 2.0 / step_m) + 1
        return np.ones((n, n), np.uint8)

    flat, free = window(FLAT_WINDOW_M), window(FREE_WINDOW_M)
    height_range = cv2.dilate(z, flat) - cv2.erode(z, flat)
    above = cv2.dilate(z, free) - z
    inside = cv2.erode(grid.is_inside.astype(np.uint8), free, borderValue=0) > 0
    suits = inside & (height_range < FLAT_RANGE_M) & (above < FREE_HEIGHT_M)
    if not suits.any():
        suits = inside if inside.any() else grid.is_inside
    middle = p_map[grid.is_inside][:, :2].mean(axis=0)
    distance = np.where(suits, np.hypot(*(p_map[..., :2] - middle).transpose(2, 0, 1)), np.inf)
    x, y, _ = p_map[np.unravel_index(np.argmin(distance), distance.shape)]
    return round(float(x), 2), round(float(y), 2)


def fitting_texture(colours: np.ndarray) -> np.ndarray:
    """Return a picture, shrunk if larger than `MAX_TEXTURE_PX` a side."""
    h, w = colours.shape[:2]
    factor = MAX_TEXTURE_PX / max(h, w)
    if factor >= 1.0:
        return colours
    size = (max(int(w * factor), 1), max(int(h * factor), 1))
    return cv2.resize(colours, size, interpolation=cv2.INTER_AREA)
