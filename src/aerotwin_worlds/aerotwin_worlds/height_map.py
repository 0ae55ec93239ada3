# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Height maps as worlds: GeoTIFF with or without georeference, PNG of 8 or 16 bit."""

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.file_inside import file_inside
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.parameters import parameter
from aerotwin_meshes.geometry import Geometry
from aerotwin_worlds.georaster import (
    DEFAULT_MAX_PIXELS,
    MAX_PIXELS,
    Raster,
    read_geotiff,
    read_grey_png,
    read_picture,
)
from aerotwin_worlds.georeference import is_read, place_on_earth, what_is_read
from aerotwin_worlds.height_grid import (
    MAX_TRIANGLES,
    HeightGrid,
    fitting_texture,
    flat_place,
    grid_mesh,
    height_grid,
)

FARTHEST_HEIGHT_M = 1e5
GRASS, DRY, ROCK = (
    np.array(rgb, np.float32) for rgb in ([92, 108, 62], [158, 138, 100], [124, 118, 110])
)
ROCK_FROM, ROCK_TO = math.cos(math.radians(25.0)), math.cos(math.radians(45.0))
"""Upward parts of the normal between which rock takes over."""
_SPECKLE = 26.0
_LONGEST_PX, _FINEST = 4096, 4
_SEED = 20260101


@dataclass(frozen=True, kw_only=True)
class HeightMapDescription:
    """A raster of heights."""

    file: str = parameter(text="GeoTIFF (.tif) or grey PNG, in the folder of this file.")
    size_m: tuple[float, float] | None = parameter(
        default=None,
        text="Extent east and north, from the outer edges of the pixels; the middle is the map's "
        "origin. Needed unless the file says where on Earth it lies, in a system that is read.",
        unit="m",
        minimum=0.001,
        maximum=1e6,
    )
    height_range_m: tuple[float, float] | None = parameter(
        default=None, text="Heights of black and white; for PNG only.", unit="m"
    )
    no_data: float | None = parameter(
        default=None,
        text="Value (m in a TIFF, 0 to 255 or 65535 in a PNG) that stands for no height, beside "
        "the one that a TIFF names.",
    )
    image: str = parameter(
        default="",
        text="Picture (JPEG, PNG) that covers the raster edge to edge; left out: colours made from "
        "slope and height.",
    )
    max_triangles: int = parameter(
        default=1_000_000,
        text="Heights are averaged to a grid of at most so many.",
        minimum=2,
        maximum=MAX_TRIANGLES,
    )
    max_pixels: int = parameter(
        default=DEFAULT_MAX_PIXELS,
        text="Larger rasters and pictures are refused; reading takes some 30 bytes a pixel.",
        minimum=4,
        maximum=MAX_PIXELS,
    )


def read_height_map(
    description: HeightMapDescription, folder: Path, origin: GeodeticPoint | None, *, where: str
) -> Geometry:
    """Return a height map as one mesh in the map.

    ``origin`` of the map is the middle of a georeferenced raster if None; ``where`` is the world
    file, for messages. Raises `UserError` naming file, key, what was expected and what was found.
    """
    path = file_inside(folder, description.file, where=f"{where}: height_map: file", kinds="*.*")
    raster = _read(description, path, where)
    grid = height_grid(raster, max_triangles=description.max_triangles)
    try:
        p_map, origin = _in_map(grid, raster, origin)
        texture, notes = _texture(description, folder, raster, grid, p_map, where)
        mesh = grid_mesh(grid, p_map, texture, name=path.name)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    return Geometry(
        meshes=(mesh,),
        origin=origin,
        start_m=flat_place(grid, p_map),
        notes=(*_notes(grid, path), *notes),
    )


def _read(description: HeightMapDescription, path: Path, where: str) -> Raster:
    """Return the raster on a grid in degrees or metres."""
    is_png = path.suffix.lower() == ".png"
    if is_png != (description.height_range_m is not None):
        raise UserError(
            f"{where}: height_map: height_range_m must be given for a PNG and for nothing else, "
            f"'{path.name}' is {'one' if is_png else 'none'}; "
            f"{'add' if is_png else 'remove'} it"
        )
    raster = _read_png(description, path) if is_png else _read_tiff(description, path)
    if not raster.is_known.any():
        raise UserError(f"{path}: holds no heights, only no-data; correct no_data")
    if not np.abs(raster.values[raster.is_known]).max() < FARTHEST_HEIGHT_M:
        raise UserError(
            f"{path}: heights must be less than {FARTHEST_HEIGHT_M:.0f} m, found "
            f"{np.abs(raster.values[raster.is_known]).max():g} m; give its no_data value"
        )
    if description.size_m is None:
        _refuse_without_size(raster, path, where)
        return raster
    if raster.epsg is not None and is_read(raster.epsg):
        raise UserError(
            f"{where}: height_map: size_m must not be given for a file that says where it lies, "
            f"'{path.name}' states EPSG:{raster.epsg}; remove it"
        )
    h, w = raster.values.shape
    (x, y) = description.size_m
    return dataclasses.replace(raster, west=-x / 2, north=y / 2, pixel=(x / w, y / h), epsg=None)


def _refuse_without_size(raster: Raster, path: Path, where: str) -> None:
    """Raise `UserError` unless a raster has a georeference in a supported system."""
    if raster.epsg is None:
        raise UserError(
            f"{where}: height_map: size_m must be given for a file that does not say where on "
            f"Earth it lies, '{path.name}' states no coordinate system; add it"
        )
    if not is_read(raster.epsg):
        raise UserError(
            f"{path}: {what_is_read(raster.epsg)}; reproject it (gdalwarp -t_srs EPSG:4326), or "
            f"give height_map: size_m, and the world's origin, in {where}"
        )


def _read_png(description: HeightMapDescription, path: Path) -> Raster:
    grey = read_grey_png(path, max_pixels=description.max_pixels)
    low, high = description.height_range_m or (0.0, 0.0)
    shares = grey.astype(np.float64) / np.iinfo(grey.dtype).max
    is_known = np.ones(grey.shape, bool)
    if description.no_data is not None:
        is_known = grey != description.no_data
    return Raster(
        values=(low + (high - low) * shares).astype(np.float32),
        is_known=is_known,
        west=0.0,
        north=0.0,
        pixel=(1.0, 1.0),
    )


def _read_tiff(description: HeightMapDescription, path: Path) -> Raster:
    raster = read_geotiff(path, max_pixels=description.max_pixels)
    if description.no_data is None:
        return raster
    is_known = raster.is_known & (raster.values != np.float32(description.no_data))
    return dataclasses.replace(raster, is_known=is_known)


def _in_map(
    grid: HeightGrid, raster: Raster, origin: GeodeticPoint | None
) -> tuple[np.ndarray, GeodeticPoint | None]:
    if raster.epsg is not None:
        return place_on_earth(grid.x, grid.y, grid.height_m, epsg=raster.epsg, origin=origin)
    x, y = np.meshgrid(grid.x, grid.y)
    return np.stack([x, y, grid.height_m], axis=-1), origin


def _texture(
    description: HeightMapDescription,
    folder: Path,
    raster: Raster,
    grid: HeightGrid,
    p_map: np.ndarray,
    where: str,
) -> tuple[Raster, tuple[str, ...]]:
    """Return the colours over the whole raster, and notes about them."""
    notes: tuple[str, ...] = ()
    if description.image:
        path = file_inside(folder, description.image, where=f"{where}: height_map: image")
        picture = read_picture(path, max_pixels=description.max_pixels)
        colours = fitting_texture(picture)
        if colours is not picture:
            notes = (f"{path.name}: shrunk to {colours.shape[1]} x {colours.shape[0]} pixels",)
    else:
        colours = _painted(p_map, grid.is_inside)
        notes = (
            "colours assumed, not measured: painted by height and slope; image names a picture",
        )
    return raster.with_picture(colours), notes


def _notes(grid: HeightGrid, path: Path) -> tuple[str, ...]:
    notes = []
    if grid.n_filled:
        notes.append(f"{path.name}: {grid.n_filled} heights without data filled from their rims")
    if grid.n_outside:
        notes.append(f"{path.name}: {grid.n_outside} pixels at the border without data left out")
    return tuple(notes)


def _painted(p_map: np.ndarray, is_inside: np.ndarray) -> np.ndarray:
    """Return a picture that covers a grid of heights, (h, w, 3) uint8, up to 4 texels a cell.

    Low and flat is green, high is dry, steep is grey; speckles of four sizes, the same for every
    map, give texture. The colours are unrelated to the real site. ``p_map`` (rows, columns, 3) are
    points of the surface [m]; only those in ``is_inside`` count for the range of heights.
    """
    rows, columns = is_inside.shape
    factor = max(min(_LONGEST_PX // max(rows, columns), _FINEST), 1)
    upward, share = _upward(p_map), _relative_height(p_map[..., 2], is_inside)
    size = (columns * factor, rows * factor)
    upward, share = (
        cv2.resize(values.astype(np.float32), size, interpolation=cv2.INTER_LINEAR)[..., None]
        for values in (upward, share)
    )
    rock = np.clip((ROCK_FROM - upward) / (ROCK_FROM - ROCK_TO), 0.0, 1.0)
    colours = (GRASS * (1.0 - share) + DRY * share) * (1.0 - rock) + ROCK * rock
    colours += _speckles(size)[..., None]
    return np.rint(colours).clip(0, 255).astype(np.uint8)


def _upward(p_map: np.ndarray) -> np.ndarray:
    """Upward part of the unit normal, from central differences along rows and columns."""
    normal = np.cross(np.gradient(p_map, axis=1), -np.gradient(p_map, axis=0))
    return np.abs(normal[..., 2]) / np.maximum(np.linalg.norm(normal, axis=-1), 1e-12)


def _relative_height(z: np.ndarray, is_inside: np.ndarray) -> np.ndarray:
    low, high = z[is_inside].min(), z[is_inside].max()
    return np.clip((z - low) / max(high - low, 1e-6), 0.0, 1.0)


def _speckles(size: tuple[int, int]) -> np.ndarray:
    rng = np.random.default_rng(_SEED)
    total = np.zeros((size[1], size[0]), np.float32)
    for cell in (1, 3, 9, 27):
        shape = (-(-size[1] // cell), -(-size[0] // cell))
        noise = rng.random(shape, np.float32) - 0.5
        total += cv2.resize(noise, size, interpolation=cv2.INTER_CUBIC)
    return _SPECKLE * total
