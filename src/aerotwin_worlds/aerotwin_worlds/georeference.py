# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Transform grids of rasters and surveys to the map: coordinate systems and the tangent plane."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.geodesy import (
    WGS84_FLATTENING,
    WGS84_SEMI_MAJOR_AXIS_M,
    GeodeticPoint,
    ecef_from_geodetic,
)
from aerotwin_worlds.transverse_mercator import is_utm, utm

GEOGRAPHIC = {4326: "WGS84", 4269: "NAD83", 4258: "ETRS89", 4979: "WGS84 (3-D)"}
"""Geographic systems that differ from WGS84 by 2 m at most; they count as WGS84 here."""
FARTHEST_ORIGIN_M = 200e3
"""A map is flat: 200 km from its origin the ground lies 3 km below z = 0."""
_E2 = WGS84_FLATTENING * (2.0 - WGS84_FLATTENING)
_BLOCK = 1 << 16  # points at a time; the series of the projection has a dozen terms for each


def grid_of(epsg: int) -> Callable[[ArrayLike, ArrayLike], tuple[np.ndarray, ...]]:
    """Return what turns x, y of an EPSG system, y north, into latitude and longitude [deg].

    Known are geographic systems, whose x is the longitude, and UTM on WGS84. Raises `ValueError` if
    it is another one.
    """
    if epsg in GEOGRAPHIC:
        return lambda x, y: (np.asarray(y, float), np.asarray(x, float))
    try:
        return utm(epsg).to_geodetic
    except ValueError:
        raise ValueError(what_is_read(epsg)) from None


def is_read(epsg: int) -> bool:
    """Tell whether `grid_of` supports a coordinate system."""
    return epsg in GEOGRAPHIC or is_utm(epsg)


def what_is_read(epsg: int) -> str:
    """Return as text that a coordinate system is not supported, and which ones are."""
    return (
        f"EPSG:{epsg} is not read, only WGS84 / UTM (326xx, 327xx) and geographic "
        f"{', '.join(map(str, GEOGRAPHIC))}"
    )


def place_on_earth(
    x: np.ndarray, y: np.ndarray, height_m: np.ndarray, *, epsg: int, origin: GeodeticPoint | None
) -> tuple[np.ndarray, GeodeticPoint]:
    """Return a grid of heights in the map, (h, w, 3) float64 [m], and the map's origin.

    ``x`` (w,) and ``y`` (h,) are coordinates of columns and rows in the system of the code; the
    origin is the middle of the grid at height 0 if None. Exact: grid convergence, scale and the
    Earth's curvature enter. Heights count as heights above the ellipsoid. Raises `ValueError` if
    the system is not known, or the grid is not near the origin.
    """
    to_geodetic = grid_of(epsg)
    if origin is None:
        latitude, longitude = to_geodetic(*(float(np.round(values.mean(), 6)) for values in (x, y)))
        origin = GeodeticPoint(latitude_deg=float(latitude), longitude_deg=float(longitude))
    p_map = np.empty((*height_m.shape, 3))
    step = max(_BLOCK // len(x), 1)
    for i in range(0, len(y), step):
        rows = slice(i, i + step)
        easting, northing = np.meshgrid(x, y[rows])
        latitude, longitude = to_geodetic(easting, northing)
        p_map[rows] = enu_from_geodetic(origin, latitude, longitude, height_m[rows])
    distance = float(np.hypot(*p_map[len(y) // 2, len(x) // 2, :2]))
    if not distance < FARTHEST_ORIGIN_M:
        raise ValueError(
            f"the middle of the data is {distance / 1e3:.0f} km from the world's origin, expected "
            f"less than {FARTHEST_ORIGIN_M / 1e3:.0f} km; correct the origin or leave it out"
        )
    return p_map, origin


def enu_from_geodetic(
    origin: GeodeticPoint, latitude_deg: ArrayLike, longitude_deg: ArrayLike, altitude_m: ArrayLike
) -> np.ndarray:
    """Return positions (..., 3) in the tangent plane of an origin [m], for arrays of any shape.

    The same as `aerotwin_core.geodesy.LocalTangentPlane.from_geodetic`, point by point.
    """
    latitude, longitude = np.radians(latitude_deg), np.radians(longitude_deg)
    altitude = np.asarray(altitude_m, float)
    normal = WGS84_SEMI_MAJOR_AXIS_M / np.sqrt(1.0 - _E2 * np.sin(latitude) ** 2)
    across = (normal + altitude) * np.cos(latitude)
    z = (normal * (1.0 - _E2) + altitude) * np.sin(latitude)
    ecef = np.stack([across * np.cos(longitude), across * np.sin(longitude), z], axis=-1)
    ecef -= ecef_from_geodetic(origin.latitude_deg, origin.longitude_deg, origin.altitude_m)
    return ecef @ _axes(origin)


def _axes(origin: GeodeticPoint) -> np.ndarray:
    """East, north and up of an origin as columns in ECEF."""
    latitude, longitude = np.radians([origin.latitude_deg, origin.longitude_deg])
    east = np.array([-np.sin(longitude), np.cos(longitude), 0.0])
    across = np.cos(latitude)
    up = np.array([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)])
    return np.column_stack([east, np.cross(up, east), up])
