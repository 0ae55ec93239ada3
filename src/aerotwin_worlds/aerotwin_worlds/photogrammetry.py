# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""UAV surveys as worlds: a surface model, coloured by an orthophoto or by the point cloud.

A height map has no vertical or hidden surfaces: walls are slopes one grid step wide that stretch
the roof's edge colours, and nothing lies under roofs or tree tops.
"""

from dataclasses import dataclass
from pathlib import Path

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
    read_orthophoto,
)
from aerotwin_worlds.georeference import place_on_earth
from aerotwin_worlds.height_grid import (
    MAX_TEXTURE_PX,
    MAX_TRIANGLES,
    covered_pixels,
    fitting_texture,
    flat_place,
    grid_mesh,
    height_grid,
)
from aerotwin_worlds.holes import fill_holes


@dataclass(frozen=True, kw_only=True)
class PhotogrammetryDescription:
    """A survey: surface model, and colours from a picture or from the point cloud."""

    surface: str = parameter(
        default="dsm.tif", text="Surface model: GeoTIFF in WGS84 / UTM or degrees."
    )
    orthophoto: str = parameter(
        default="", text="Picture from above on the surface's grid coordinates (JPEG, PNG)."
    )
    orthophoto_bounds: str = parameter(
        default="", text="PDAL summary (JSON) whose summary.bounds the orthophoto spans."
    )
    cloud: str = parameter(
        default="", text="Coloured point cloud (PLY), in place of an orthophoto."
    )
    cloud_offset_m: tuple[float, float, float] = parameter(
        default=(0.0, 0.0, 0.0),
        text="What is added to the cloud's x, y, z to give easting, northing, height.",
        unit="m",
    )
    texel_m: float = parameter(
        default=0.25,
        text="Texel size of colours from the cloud; better not below its spacing.",
        unit="m",
        minimum=0.01,
        maximum=100.0,
    )
    max_triangles: int = parameter(
        default=1_000_000,
        text="The surface is averaged to a grid of at most so many.",
        minimum=1000,
        maximum=MAX_TRIANGLES,
    )
    max_pixels: int = parameter(
        default=DEFAULT_MAX_PIXELS,
        text="Larger rasters and pictures are refused; reading takes some 40 bytes a pixel.",
        minimum=4,
        maximum=MAX_PIXELS,
    )

    def __post_init__(self) -> None:
        if bool(self.orthophoto) == bool(self.cloud):
            raise ValueError("must have either 'orthophoto' or 'cloud'; delete or add one")
        if bool(self.orthophoto) != bool(self.orthophoto_bounds):
            raise ValueError("'orthophoto' and 'orthophoto_bounds' belong together; add the other")


@dataclass(frozen=True, kw_only=True)
class SurveySummary:
    """Counts of pixels read, filled and left out."""

    n_triangles: int
    grid_step_m: float
    n_surface_pixels: int
    n_surface_filled: int
    n_surface_outside: int
    n_colour_pixels: int
    n_colour_filled: int


def read_photogrammetry(
    description: PhotogrammetryDescription,
    folder: Path,
    origin: GeodeticPoint | None,
    *,
    where: str,
) -> tuple[Geometry, SurveySummary]:
    """Return a survey as one mesh in the map, and a summary of the changes to it.

    ``origin`` of the map is the middle of the surface model at height 0 if None; ``where`` is the
    world file, for messages. Raises `UserError` if a file is missing or unusable; names it, what
    was expected and what was found.
    """
    place = f"{where}: photogrammetry"
    path = file_inside(folder, description.surface, where=f"{place}: surface", kinds="*.tif")
    surface = read_geotiff(path, max_pixels=description.max_pixels)
    if surface.epsg is None:
        raise UserError(f"{path}: names no coordinate system; expected WGS84 / UTM")
    colours = _colours(description, folder, surface, place)
    grid = height_grid(surface, max_triangles=description.max_triangles)
    try:
        p_map, origin = place_on_earth(
            grid.x, grid.y, grid.height_m, epsg=surface.epsg, origin=origin
        )
        filled = fitting_texture(np.rint(fill_holes(colours.values, colours.is_known)))
        texture = colours.with_picture(filled.clip(0, 255).astype(np.uint8))
        mesh = grid_mesh(grid, p_map, texture, name=path.name)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    covered = covered_pixels(grid, colours)
    summary = SurveySummary(
        n_triangles=len(mesh.triangles),
        grid_step_m=round(float(np.linalg.norm(p_map[0, 1] - p_map[0, 0])), 4),
        n_surface_pixels=surface.is_known.size,
        n_surface_filled=grid.n_filled,
        n_surface_outside=grid.n_outside,
        n_colour_pixels=int(covered.sum()),
        n_colour_filled=int((covered & ~colours.is_known).sum()),
    )
    geometry = Geometry(
        meshes=(mesh,), origin=origin, start_m=flat_place(grid, p_map), notes=_notes(summary)
    )
    return geometry, summary


def _colours(
    description: PhotogrammetryDescription, folder: Path, surface: Raster, place: str
) -> Raster:
    def inside(key: str) -> Path:
        return file_inside(folder, getattr(description, key), where=f"{place}: {key}")

    if description.orthophoto:
        return read_orthophoto(
            inside("orthophoto"),
            inside("orthophoto_bounds"),
            max_pixels=description.max_pixels,
        )
    return _cloud_seen_from_above(description, inside("cloud"), surface)


def _cloud_seen_from_above(
    description: PhotogrammetryDescription, path: Path, surface: Raster
) -> Raster:
    """Return the colour of the highest point in every cell over the surface model."""
    from aerotwin_meshes.mesh_files.ply import read_ply

    cloud = read_ply(path)
    if cloud.colours is None:
        raise UserError(f"{path}: its points have no colours (red, green, blue); give another file")
    h, w = surface.values.shape
    extent = np.array([w * surface.pixel[0], h * surface.pixel[1]])
    texel = max(description.texel_m, float(extent.max()) / MAX_TEXTURE_PX)
    columns, rows = (int(n) for n in np.ceil(extent / texel))
    points = cloud.vertices + np.array(description.cloud_offset_m)
    column = np.floor((points[:, 0] - surface.west) / texel).astype(np.int64)
    row = np.floor((surface.north - points[:, 1]) / texel).astype(np.int64)
    inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
    if not inside.any():
        raise UserError(
            f"{path}: no point lies over the surface model; correct cloud_offset_m (points span "
            f"{points.min(axis=0).round(1).tolist()} to {points.max(axis=0).round(1).tolist()})"
        )
    cell = (row * columns + column)[inside]
    upwards = np.argsort(points[inside, 2], kind="stable")  # the last writer is the highest
    values = np.zeros((rows * columns, 3), np.uint8)
    is_known = np.zeros(rows * columns, bool)
    values[cell[upwards]] = cloud.colours[inside][upwards]
    is_known[cell] = True
    return Raster(
        values=values.reshape(rows, columns, 3),
        is_known=is_known.reshape(rows, columns),
        west=surface.west,
        north=surface.north,
        pixel=(texel, texel),
    )


def _notes(summary: SurveySummary) -> tuple[str, ...]:
    notes = []
    if summary.n_surface_filled:
        notes.append(
            f"{summary.n_surface_filled} of {summary.n_surface_pixels} heights lay in enclosed "
            "holes and were filled from their rims"
        )
    if summary.n_surface_outside:
        notes.append(f"{summary.n_surface_outside} pixels outside of the survey were left out")
    if summary.n_colour_filled:
        notes.append(
            f"{summary.n_colour_filled} of {summary.n_colour_pixels} pixels of the picture had no "
            "colour and were filled from their surroundings"
        )
    return tuple(notes)
