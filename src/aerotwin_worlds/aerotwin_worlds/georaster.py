# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Georeferenced rasters of a photogrammetry folder: surface model and orthophoto."""

import json
import struct
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from aerotwin_core.errors import UserError

MAX_PIXELS = 4 * 10**8
BLACK = 30
"""Orthophoto pixels whose brightest channel is darker hold no colour."""
BLACK_RIM, RIM_PX = 90, 5
"""JPEG smears holes into their rims: there, within half of RIM_PX, a pixel must be brighter."""
_TAG_PIXEL_SCALE, _TAG_TIEPOINT, _TAG_GEO_KEYS, _TAG_NO_DATA = 33550, 33922, 34735, 42113
_KEY_PROJECTED_CRS = 3072


@dataclass(frozen=True, kw_only=True)
class Raster:
    """A raster on a map grid, rows from north to south.

    Parameters
    ----------
    values : (h, w) or (h, w, 3) array
    is_known : (h, w) bool array
    west_m, north_m : float
        Grid coordinates of the upper left corner (of the pixel, not its centre).
    pixel_m : (float, float)
        Pixel size eastwards and southwards.
    """

    values: np.ndarray
    is_known: np.ndarray
    west_m: float
    north_m: float
    pixel_m: tuple[float, float]


def read_surface_model(path: Path) -> tuple[Raster, int]:
    """Read a GeoTIFF of heights; return it and the EPSG code of its grid."""
    import tifffile

    try:
        with tifffile.TiffFile(path) as file:
            page = file.pages[0]
            if page.shape[0] * page.shape[1] > MAX_PIXELS:
                raise UserError(f"{path}: {page.shape} pixels are more than {MAX_PIXELS}; crop it")
            tags = {tag.code: tag.value for tag in page.tags.values()}
            values = page.asarray()
    except (tifffile.TiffFileError, OSError, IndexError, ValueError, struct.error) as error:
        raise UserError(f"{path}: not a readable GeoTIFF ({error}); export it again") from None
    if values.ndim != 2 or _TAG_PIXEL_SCALE not in tags or _TAG_TIEPOINT not in tags:
        raise UserError(f"{path}: expected one band of heights with a pixel scale and a tie point")
    scale, tie = tags[_TAG_PIXEL_SCALE], tags[_TAG_TIEPOINT]
    values = values.astype(np.float32)
    is_known = np.isfinite(values)
    if _TAG_NO_DATA in tags:
        is_known &= values != np.float32(str(tags[_TAG_NO_DATA]).strip("\0 "))
    if not is_known.any():
        raise UserError(f"{path}: holds no heights, only no-data; choose another file")
    raster = Raster(
        values=values,
        is_known=is_known,
        west_m=tie[3] - tie[0] * scale[0],
        north_m=tie[4] + tie[1] * scale[1],
        pixel_m=(float(scale[0]), float(scale[1])),
    )
    return raster, _projected_crs(tags.get(_TAG_GEO_KEYS, ()), path)


def _projected_crs(keys: tuple[int, ...], path: Path) -> int:
    for i in range(4, len(keys) - 3, 4):
        if keys[i] == _KEY_PROJECTED_CRS:
            return int(keys[i + 3])
    raise UserError(f"{path}: names no projected coordinate system; expected WGS84 / UTM")


def read_orthophoto(image: Path, summary: Path) -> Raster:
    """Read a picture seen from above that spans the bounds in a PDAL summary file exactly."""
    pixels = cv2.imread(str(image), cv2.IMREAD_COLOR)
    if pixels is None:
        raise UserError(f"{image}: not a readable image; export it again")
    try:
        bounds = json.loads(summary.read_text(encoding="utf-8"))["summary"]["bounds"]
        west, east, south, north = (float(bounds[k]) for k in ("minx", "maxx", "miny", "maxy"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{summary}: expected JSON with summary.bounds ({error!r})") from None
    h, w = pixels.shape[:2]
    pixel = ((east - west) / w, (north - south) / h)
    # One odd pixel is the rounding up of its size; a stretched picture is another file's.
    if not (pixel[0] > 0 and pixel[1] > 0 and abs(pixel[0] / pixel[1] - 1.0) < 0.02):
        raise UserError(f"{image}: {w} x {h} pixels do not fit the bounds in {summary.name}")
    return Raster(
        values=np.ascontiguousarray(pixels[..., ::-1]),
        is_known=_has_colour(pixels),
        west_m=west,
        north_m=north,
        pixel_m=pixel,
    )


def _has_colour(pixels: np.ndarray) -> np.ndarray:
    brightest = pixels.max(axis=2)
    hole = brightest < BLACK
    rim = cv2.dilate(hole.astype(np.uint8), np.ones((RIM_PX, RIM_PX), np.uint8)) > 0
    return ~(hole | (rim & (brightest < BLACK_RIM)))
