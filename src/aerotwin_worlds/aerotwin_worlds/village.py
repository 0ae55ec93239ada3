# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Villages: a UAV photogrammetry folder (OpenDroneMap) turned into a world folder.

The surface model becomes a grid of triangles, the orthophoto its texture. What a height map cannot
hold is not there: walls are slopes one grid step wide that stretch the roof's edge colours, and
nothing lies under roofs or tree tops.
"""

import math
import os
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import yaml

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_worlds.georaster import Raster, read_orthophoto, read_surface_model
from aerotwin_worlds.gltf import write_glb
from aerotwin_worlds.holes import enclosed_holes, fill_holes
from aerotwin_worlds.mesh import TexturedMesh, grid_triangles
from aerotwin_worlds.transverse_mercator import TransverseMercator, utm

SURFACE_FILES = ("dsm.tif", "odm_dem/dsm.tif")
ORTHO_FILES = ("ortho_from_cloud_0p2m.jpg",)
SUMMARY_FILE = "odm_georeferenced_model.summary.json"
FLAT_WINDOW_M, FLAT_RANGE_M = 4.0, 0.4
FREE_WINDOW_M, FREE_HEIGHT_M = 16.0, 4.0


@dataclass(frozen=True, kw_only=True)
class VillageSummary:
    """What the conversion found, made up and left out."""

    n_triangles: int
    grid_step_m: float
    n_surface_pixels: int
    n_surface_filled: int
    n_surface_outside: int
    n_ortho_pixels: int
    n_ortho_filled: int
    georeferencing_residual_m: float
    start_m: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """Heights at the corners of square cells, rows from north to south."""

    easting_m: np.ndarray
    northing_m: np.ndarray
    height_m: np.ndarray
    is_inside: np.ndarray
    step_m: float


def build_village(
    source: Path, out: Path, *, name: str, attribution: str, licence: str, max_triangles: int
) -> VillageSummary:
    """Write ``world.yaml`` and ``mesh.glb`` into ``out``.

    Parameters
    ----------
    source : Path
        Folder with ``dsm.tif`` (GeoTIFF, WGS84 / UTM), the orthophoto and the PDAL summary whose
        bounds the orthophoto spans.
    max_triangles : int
        The surface model is averaged to a grid of at most so many triangles.

    Raises
    ------
    UserError
        If a file is missing or unusable.
    """
    surface, epsg = read_surface_model(_locate(source, SURFACE_FILES))
    ortho = read_orthophoto(_locate(source, ORTHO_FILES), _locate(source, (SUMMARY_FILE,)))
    try:
        projection = utm(epsg)
    except ValueError as error:
        raise UserError(f"{source}: {error}; reproject it") from None
    enclosed = enclosed_holes(surface.is_known)
    grid = _resample(surface, surface.is_known | enclosed, max_triangles)
    to_map, origin, residual = _map_frame(grid, projection)
    vertices = to_map(grid.easting_m, grid.northing_m, grid.height_m)
    mesh, n_filled, n_ortho = _mesh(grid, vertices, ortho)
    start = _flat_place(grid, vertices)
    out.mkdir(parents=True, exist_ok=True)
    write_glb(out / "mesh.glb", (mesh,), copyright_text=f"{attribution} ({licence})")
    _write_description(out, name, origin, start, attribution, licence)
    return VillageSummary(
        n_triangles=len(mesh.triangles),
        grid_step_m=grid.step_m,
        n_surface_pixels=surface.is_known.size,
        n_surface_filled=int(enclosed.sum()),
        n_surface_outside=int((~surface.is_known & ~enclosed).sum()),
        n_ortho_pixels=n_ortho,
        n_ortho_filled=n_filled,
        georeferencing_residual_m=residual,
        start_m=start,
    )


def _locate(source: Path, names: tuple[str, ...]) -> Path:
    for candidate in names:
        if (source / candidate).is_file():
            return source / candidate
    if not source.is_dir():
        raise UserError(f"{source}: no such folder; give the photogrammetry folder")
    present = ", ".join(sorted(p.name for p in source.iterdir())[:12]) or "nothing"
    raise UserError(f"{source}: expected {' or '.join(names)}, found {present}")


def _resample(surface: Raster, is_inside: np.ndarray, max_triangles: int) -> _Grid:
    """Fill the holes and average the heights to square cells of a size that keeps the limit."""
    h, w = surface.values.shape
    width, height = w * surface.pixel_m[0], h * surface.pixel_m[1]
    area = is_inside.mean() * width * height
    step = max(math.sqrt(2.0 * area / max_triangles), *surface.pixel_m)
    nx, ny = max(int(width / step), 2), max(int(height / step), 2)
    filled = fill_holes(surface.values, surface.is_known)
    heights = cv2.resize(filled, (nx, ny), interpolation=cv2.INTER_AREA)
    inside = cv2.resize(is_inside.astype(np.float32), (nx, ny), interpolation=cv2.INTER_AREA)
    easting = surface.west_m + (np.arange(nx) + 0.5) * width / nx
    northing = surface.north_m - (np.arange(ny) + 0.5) * height / ny
    eastings, northings = np.meshgrid(easting, northing)
    return _Grid(
        easting_m=eastings,
        northing_m=northings,
        height_m=heights.astype(np.float64),
        is_inside=inside > 0.999,
        step_m=step,
    )


def _map_frame(grid: _Grid, projection: TransverseMercator):
    """Return the function from grid coordinates to the map, the map's origin, and its error.

    The map is the tangent plane at the grid's middle, so grid convergence, scale and the Earth's
    curvature enter. A quadratic in the grid coordinates, fitted to 5 x 5 x 2 exact points, has
    them all; its largest residual at these points is returned [m].
    """
    e0, n0 = float(np.round(grid.easting_m.mean())), float(np.round(grid.northing_m.mean()))
    latitude, longitude = projection.to_geodetic(e0, n0)
    origin = GeodeticPoint(latitude_deg=float(latitude), longitude_deg=float(longitude))
    plane = LocalTangentPlane(origin)
    e, n, h = (
        a.ravel()
        for a in np.meshgrid(
            np.linspace(grid.easting_m.min(), grid.easting_m.max(), 5),
            np.linspace(grid.northing_m.min(), grid.northing_m.max(), 5),
            np.array([grid.height_m.min(), grid.height_m.max() + 1.0]),
        )
    )
    exact = np.array(
        [
            plane.from_geodetic(lat, lon, height)
            for lat, lon, height in zip(*projection.to_geodetic(e, n), h, strict=True)
        ]
    )

    def terms(easting, northing, height):
        x, y = (easting - e0) / 1000.0, (northing - n0) / 1000.0
        z = height / 1000.0
        one = np.ones_like(x)
        return np.stack([one, x, y, z, x * x, x * y, y * y, x * z, y * z], axis=-1)

    coefficients = np.linalg.lstsq(terms(e, n, h), exact, rcond=None)[0]
    residual = float(np.abs(terms(e, n, h) @ coefficients - exact).max())
    return lambda *coordinates: terms(*coordinates) @ coefficients, origin, residual


def _mesh(grid: _Grid, vertices: np.ndarray, ortho: Raster) -> tuple[TexturedMesh, int, int]:
    """Return the mesh, and how many of the orthophoto's pixels over it were holes, of how many."""
    h, w = ortho.is_known.shape
    u = (grid.easting_m - ortho.west_m) / (w * ortho.pixel_m[0])
    v = (ortho.north_m - grid.northing_m) / (h * ortho.pixel_m[1])
    triangles = grid_triangles(*grid.is_inside.shape)
    triangles = triangles[grid.is_inside.ravel()[triangles].all(axis=1)]
    used, index = np.unique(triangles, return_inverse=True)
    # Pixels over the mesh: the grid's inside, looked up at every pixel's centre.
    column = np.interp((np.arange(w) + 0.5) / w, u[0], np.arange(u.shape[1]), -1, -1)
    row = np.interp((np.arange(h) + 0.5) / h, v[:, 0], np.arange(v.shape[0]), -1, -1)
    covered = grid.is_inside[np.rint(row).astype(int)][:, np.rint(column).astype(int)]
    covered &= (column >= 0)[None] & (row >= 0)[:, None]
    colours = fill_holes(ortho.values, ortho.is_known)
    mesh = TexturedMesh(
        vertices_map=np.ascontiguousarray(vertices.reshape(-1, 3)[used]),
        triangles=index.reshape(-1, 3).astype(np.int32),
        uv=np.stack([u, v], axis=-1).reshape(-1, 2)[used].astype(np.float32),
        texture=np.rint(colours).clip(0, 255).astype(np.uint8),
    )
    return mesh, int((covered & ~ortho.is_known).sum()), int(covered.sum())


def _flat_place(grid: _Grid, vertices: np.ndarray) -> tuple[float, float]:
    """Return x, y of the flat and free place that is nearest to the middle of the surface."""
    z = grid.height_m.astype(np.float32)

    def window(metres: float) -> np.ndarray:
        n = 2 * math.ceil(metres / 2.0 / grid.step_m) + 1
        return np.ones((n, n), np.uint8)

    flat, free = window(FLAT_WINDOW_M), window(FREE_WINDOW_M)
    height_range = cv2.dilate(z, flat) - cv2.erode(z, flat)
    above = cv2.dilate(z, free) - z
    inside = cv2.erode(grid.is_inside.astype(np.uint8), free, borderValue=0) > 0
    suits = inside & (height_range < FLAT_RANGE_M) & (above < FREE_HEIGHT_M)
    if not suits.any():
        suits = inside if inside.any() else grid.is_inside
    middle = vertices[grid.is_inside][:, :2].mean(axis=0)
    distance = np.where(suits, np.hypot(*(vertices[..., :2] - middle).transpose(2, 0, 1)), np.inf)
    x, y, _ = vertices[np.unravel_index(np.argmin(distance), distance.shape)]
    return round(float(x), 2), round(float(y), 2)


def _write_description(
    out: Path,
    name: str,
    origin: GeodeticPoint,
    start: tuple[float, float],
    attribution: str,
    licence: str,
) -> None:
    description = {
        "name": name,
        "mesh": "mesh.glb",
        "origin": {
            "latitude_deg": origin.latitude_deg,
            "longitude_deg": origin.longitude_deg,
            "altitude_m": origin.altitude_m,
        },
        "start": {"x_m": start[0], "y_m": start[1], "yaw_deg": 0.0},
        "attribution": attribution,
        "licence": licence,
    }
    temporary = out / f".world.yaml.{os.getpid()}"
    temporary.write_text(yaml.safe_dump(description, sort_keys=False), encoding="utf-8")
    os.replace(temporary, out / "world.yaml")
