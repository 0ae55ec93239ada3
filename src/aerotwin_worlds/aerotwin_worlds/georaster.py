# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rasters: heights in GeoTIFF and PNG files, pictures from above.

References: OGC 19-008r4 (GeoTIFF 1.1), W3C PNG third edition, GDAL's no-data tag 42113.
"""

import dataclasses
import logging
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from aerotwin_core.documents import read_json
from aerotwin_core.errors import UserError

MAX_PIXELS = 4 * 10**8
"""Of any raster, whatever its reader allows."""
DEFAULT_MAX_PIXELS = 25_000_000
"""Of a world's raster and picture: reading takes 30 to 40 bytes a pixel, 1 GB then."""
MOST_UNPACKED = 1100
"""Deflate packs 1032 : 1 at best; a header that promises more is no true one."""
_SMALL_BYTES = 2**20
BLACK = 30
"""Orthophoto pixels whose brightest channel is darker hold no colour."""
BLACK_RIM, RIM_PX = 90, 5
"""JPEG smears holes into their rims: there, within half of RIM_PX, a pixel must be brighter."""
_PIXEL_SCALE, _TIEPOINT, _TRANSFORM, _GEO_KEYS, _NO_DATA = 33550, 33922, 34264, 34735, 42113
_RASTER_TYPE, _GEOGRAPHIC_CRS, _PROJECTED_CRS, _LINEAR_UNIT = 1025, 2048, 3072, 3076
_PNG_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
"""By PNG's colour type: grey, colour, grey and alpha, colour and alpha."""
_PIXEL_IS_POINT, _METRE, _USER_DEFINED = 2, 9001, 32767


@dataclass(frozen=True, kw_only=True)
class Raster:
    """A raster on a grid, rows from north to south; ``is_known`` (h, w) tells where it has values.

    ``west`` and ``north`` are the grid coordinates of the upper left corner (of the pixel, not its
    centre), ``pixel`` its size eastwards and southwards, all in metres or degrees, or in pixels
    where the file has no georeference. ``epsg`` is None where the file names no system that has a
    code.
    """

    values: np.ndarray
    is_known: np.ndarray
    west: float
    north: float
    pixel: tuple[float, float]
    epsg: int | None = None

    def with_picture(self, colours: np.ndarray) -> "Raster":
        """Return a picture (rows, columns, 3) over the same extent, known everywhere."""
        (h, w), (rows, columns) = self.values.shape[:2], colours.shape[:2]
        pixel = (w * self.pixel[0] / columns, h * self.pixel[1] / rows)
        is_known = np.ones((rows, columns), bool)
        return dataclasses.replace(self, values=colours, is_known=is_known, pixel=pixel)


def read_geotiff(path: Path, *, max_pixels: int = MAX_PIXELS) -> Raster:
    """Read a (Geo)TIFF of heights [m], 32-bit floating point or integer.

    A file of more than ``max_pixels`` is refused before its pixels are read. Raises `UserError` if
    it is no TIFF of one band, is too large, is rotated, or holds no heights.
    """
    values, tags = _read_tiff(path, max_pixels)
    keys = _geo_keys(tags.get(_GEO_KEYS, ()))
    if keys.get(_LINEAR_UNIT, _METRE) != _METRE:
        raise UserError(f"{path}: its unit must be the metre; reproject it")
    west, north, pixel = _corner(tags, keys.get(_RASTER_TYPE) == _PIXEL_IS_POINT, path)
    epsg = keys.get(_PROJECTED_CRS, keys.get(_GEOGRAPHIC_CRS, _USER_DEFINED))
    is_known = np.isfinite(values)
    if _NO_DATA in tags:
        is_known &= values != _number(tags[_NO_DATA], path)
    if not is_known.any():
        raise UserError(f"{path}: holds no heights, only no-data; choose another file")
    return Raster(
        values=values,
        is_known=is_known,
        west=west,
        north=north,
        pixel=pixel,
        epsg=None if epsg == _USER_DEFINED else epsg,
    )


def _read_tiff(path: Path, max_pixels: int) -> tuple[np.ndarray, dict[int, Any]]:
    import tifffile

    tifffile.logger().setLevel(logging.CRITICAL)  # it complains of no-data that rounds to float32
    try:
        with tifffile.TiffFile(path) as file:
            page = file.pages[0]
            if page.ndim != 2:
                raise UserError(f"{path}: expected one band of heights, found shape {page.shape}")
            _check_pixels(path, page.shape[1], page.shape[0], max_pixels)
            if page.nbytes > MOST_UNPACKED * path.stat().st_size + _SMALL_BYTES:
                raise UserError(f"{path}: a file of that size cannot hold {page.shape} pixels")
            tags = {tag.code: tag.value for tag in page.tags.values()}
            values = page.asarray()
    except UserError:
        raise
    except Exception as error:  # the library raises anything on damaged files
        raise UserError(f"{path}: not a readable GeoTIFF ({error}); export it again") from None
    if values.dtype.kind not in "iuf" or min(values.shape) < 2:
        raise UserError(
            f"{path}: expected at least 2 x 2 numbers, found {values.shape} of {values.dtype}"
        )
    return values.astype(np.float32), tags


def _geo_keys(directory: tuple[int, ...]) -> dict[int, int]:
    """Return the keys whose values are in the directory itself."""
    entries = [directory[i : i + 4] for i in range(4, len(directory) - 3, 4)]
    return {int(key): int(value) for key, location, _, value in entries if location == 0}


def _corner(
    tags: dict[int, Any], is_point: bool, path: Path
) -> tuple[float, float, tuple[float, float]]:
    """Return west, north and pixel size; of pixels, where the file has no georeference."""
    if _PIXEL_SCALE in tags and _TIEPOINT in tags:
        (sx, sy), tie = tags[_PIXEL_SCALE][:2], tags[_TIEPOINT]
        west, north = tie[3] - tie[0] * sx, tie[4] + tie[1] * sy
    elif _TRANSFORM in tags:
        matrix = np.array(tags[_TRANSFORM], float).reshape(4, 4)
        sx, sy, west, north = matrix[0, 0], -matrix[1, 1], matrix[0, 3], matrix[1, 3]
        if matrix[0, 1] != 0.0 or matrix[1, 0] != 0.0:
            raise UserError(f"{path}: its grid is turned against north; warp it to north up")
    else:
        return 0.0, 0.0, (1.0, 1.0)
    if not (np.isfinite([west, north, sx, sy]).all() and sx > 0.0 and sy > 0.0):
        raise UserError(
            f"{path}: expected pixels of positive size, found {sx} x {sy}; export again"
        )
    shift = 0.5 if is_point else 0.0
    return float(west - shift * sx), float(north + shift * sy), (float(sx), float(sy))


def _number(no_data: Any, path: Path) -> np.float32:
    try:
        return np.float32(str(no_data).strip("\0 "))
    except ValueError:
        raise UserError(
            f"{path}: its no-data value must be a number, got {no_data!r}; export it again"
        ) from None


def _check_pixels(path: Path, width: int, height: int, max_pixels: int) -> None:
    if width * height > min(max_pixels, MAX_PIXELS):
        way_out = "raise it, or crop or shrink the file" if max_pixels < MAX_PIXELS else "crop it"
        raise UserError(
            f"{path}: {width} x {height} pixels are more than max_pixels = "
            f"{min(max_pixels, MAX_PIXELS)}; {way_out}"
        )


def read_grey_png(path: Path, *, max_pixels: int = MAX_PIXELS) -> np.ndarray:
    """Return the values of a grey PNG, (h, w) uint8 or uint16.

    Colours count as grey where all channels are equal, as many programs export it; transparency is
    not used. Raises `UserError` if it is no grey PNG, or too large.
    """
    with path.open("rb") as file:
        head = file.read(26)
    if len(head) < 26 or head[:8] != b"\x89PNG\r\n\x1a\n" or head[12:16] != b"IHDR":
        raise UserError(f"{path}: not a PNG file; convert it")
    width, height, depth, colour_type = struct.unpack_from(">2I2B", head, 16)
    if colour_type not in _PNG_CHANNELS or depth not in (8, 16):
        raise UserError(
            f"{path}: expected grey of 8 or 16 bit, found {depth} bit of PNG colour type "
            f"{colour_type}; convert it"
        )
    if min(width, height) < 2:
        raise UserError(f"{path}: {width} x {height} pixels, expected 2 x 2 or more")
    n_channels = _PNG_CHANNELS[colour_type]
    _check_pixels(path, width, height, max_pixels // max(n_channels * depth // 32, 1))
    if width * height * n_channels > MOST_UNPACKED * path.stat().st_size + _SMALL_BYTES:
        raise UserError(f"{path}: a file of that size cannot hold {width} x {height} pixels")
    values = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if values is None or values.shape[:2] != (height, width):
        raise UserError(f"{path}: a damaged PNG file; export it again")
    if values.ndim == 2:
        return values
    grey = np.ascontiguousarray(values[..., 0])
    if (values[..., 1] != grey).any() or (values[..., 2] != grey).any():
        raise UserError(
            f"{path}: expected grey, found colours that differ; heights are not read from colours: "
            "export them as grey of 16 bit, and decode heights that are packed into colours "
            "(terrain RGB) before"
        )
    return grey


def read_picture(path: Path, *, max_pixels: int = MAX_PIXELS) -> np.ndarray:
    """Return a JPEG or PNG picture from above, (h, w, 3) uint8 RGB.

    Raises `UserError` if it is no picture, or too large.
    """
    from aerotwin_meshes.gltf.images import image_size

    try:
        width, height = image_size(memoryview(path.read_bytes()), path.name)
    except (ValueError, OSError) as error:
        raise UserError(f"{path}: not a readable image ({error}); export it again") from None
    _check_pixels(path, width, height, max_pixels)
    pixels = cv2.imread(str(path), cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION)
    if pixels is None:
        raise UserError(f"{path}: not a readable image; export it again")
    return pixels


def read_orthophoto(image: Path, summary: Path, *, max_pixels: int = MAX_PIXELS) -> Raster:
    """Read a picture from above that spans the bounds in a PDAL summary file exactly."""
    pixels = read_picture(image, max_pixels=max_pixels)
    try:
        bounds = read_json(summary)["summary"]["bounds"]
        west, east, south, north = (float(bounds[k]) for k in ("minx", "maxx", "miny", "maxy"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{summary}: expected JSON with summary.bounds ({error!r})") from None
    h, w = pixels.shape[:2]
    pixel = ((east - west) / w, (north - south) / h)
    # One odd pixel is the rounding up of its size; a stretched picture belongs to another file.
    if not (pixel[0] > 0 and pixel[1] > 0 and abs(pixel[0] / pixel[1] - 1.0) < 0.02):
        raise UserError(f"{image}: {w} x {h} pixels do not fit the bounds in {summary.name}")
    return Raster(values=pixels, is_known=_has_colour(pixels), west=west, north=north, pixel=pixel)


def _has_colour(pixels: np.ndarray) -> np.ndarray:
    brightest = pixels.max(axis=2)
    hole = brightest < BLACK
    rim = cv2.dilate(hole.astype(np.uint8), np.ones((RIM_PX, RIM_PX), np.uint8)) > 0
    return ~(hole | (rim & (brightest < BLACK_RIM)))
