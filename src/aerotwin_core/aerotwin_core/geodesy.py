# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""WGS84 and the local tangent plane: the one projection that truth, GNSS, voxels and maps share.

It also has the azimuthal equidistant projection of a sphere, which autopilots use.
"""

from dataclasses import dataclass, field
from math import atan2, cos, degrees, hypot, radians, sin, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.angles import wrap_deg
from aerotwin_core.frames import FloatArray

WGS84_SEMI_MAJOR_AXIS_M = 6378137.0
WGS84_FLATTENING = 1.0 / 298.257223563
"""NIMA TR8350.2, table 3.1."""
HIGHEST_ALTITUDE_M = 1e8
"""Beyond every satellite of a GNSS (3.6e7); nothing that is meant for a position is above."""
_E2 = WGS84_FLATTENING * (2.0 - WGS84_FLATTENING)
PX4_EARTH_RADIUS_M = 6371000.0
"""CONSTANTS_RADIUS_OF_EARTH of PX4-Autopilot, src/lib/geo/geo.h."""
_LATITUDE_ITERATIONS = 5  # error below 1e-12 rad after 4 within 10 km of the ellipsoid


@dataclass(frozen=True, kw_only=True)
class GeodeticPoint:
    """A point on or above the WGS84 ellipsoid.

    Latitude is in [-90, 90], longitude in [-180, 180] degrees, `altitude_m` is the height above
    the ellipsoid [m].
    """

    latitude_deg: float
    longitude_deg: float
    altitude_m: float = 0.0

    def __post_init__(self) -> None:
        if not -90.0 <= self.latitude_deg <= 90.0:
            raise ValueError(f"latitude_deg must be in [-90, 90], got {self.latitude_deg}")
        if not -180.0 <= self.longitude_deg <= 180.0:
            raise ValueError(f"longitude_deg must be in [-180, 180], got {self.longitude_deg}")
        if not -WGS84_SEMI_MAJOR_AXIS_M < self.altitude_m <= HIGHEST_ALTITUDE_M:
            raise ValueError(
                f"altitude_m must lie above the Earth's centre and up to {HIGHEST_ALTITUDE_M:g}, "
                f"got {self.altitude_m}"
            )


def is_geodetic(latitude_deg: float, longitude_deg: float, altitude_m: float) -> bool:
    """Tell whether untrusted numbers can be a `GeodeticPoint`; False for NaN."""
    try:
        GeodeticPoint(latitude_deg=latitude_deg, longitude_deg=longitude_deg, altitude_m=altitude_m)
    except ValueError:
        return False
    return True


def ecef_from_geodetic(latitude_deg: float, longitude_deg: float, altitude_m: float) -> FloatArray:
    """Return Earth-centred Earth-fixed coordinates (3,) [m] of a geodetic position."""
    latitude, longitude = radians(latitude_deg), radians(longitude_deg)
    normal = WGS84_SEMI_MAJOR_AXIS_M / sqrt(1.0 - _E2 * sin(latitude) ** 2)
    across = (normal + altitude_m) * cos(latitude)
    return np.array(
        [
            across * cos(longitude),
            across * sin(longitude),
            (normal * (1.0 - _E2) + altitude_m) * sin(latitude),
        ]
    )


def geodetic_from_ecef(p_ecef: ArrayLike) -> tuple[float, float, float]:
    """Return latitude [deg], longitude [deg] and altitude [m] of an ECEF position (3,) [m]."""
    return geodetic_from_xyz(*np.asarray(p_ecef, dtype=np.float64).tolist())


def geodetic_from_xyz(x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return latitude [deg], longitude [deg] and altitude [m] of ECEF coordinates [m].

    Fixed-point iteration on the latitude (Hofmann-Wellenhof et al., GNSS, 2008, sec. 8.2); exact
    to 1e-8 m within 10 km of the ellipsoid. Compiled code may compile it.
    """
    across = hypot(x, y)
    latitude = atan2(z, across * (1.0 - _E2))
    normal = WGS84_SEMI_MAJOR_AXIS_M
    for _ in range(_LATITUDE_ITERATIONS):
        normal = WGS84_SEMI_MAJOR_AXIS_M / sqrt(1.0 - _E2 * sin(latitude) ** 2)
        latitude = atan2(z + _E2 * normal * sin(latitude), across)
    if abs(latitude) < radians(45.0):
        altitude = across / cos(latitude) - normal
    else:
        altitude = z / sin(latitude) - normal * (1.0 - _E2)
    return degrees(latitude), degrees(atan2(y, x)), altitude


class MapProjection(Protocol):
    """Converts between geodetic positions and a map with x east, y north and z up at its origin."""

    @property
    def origin(self) -> GeodeticPoint:
        """Return the geodetic position of (0, 0, 0) of the map."""
        ...

    def to_geodetic(self, p_map: ArrayLike) -> tuple[float, float, float]:
        """Return latitude [deg], longitude [deg], altitude [m] of a position (3,) in map [m]."""
        ...

    def from_geodetic(
        self, latitude_deg: float, longitude_deg: float, altitude_m: float
    ) -> FloatArray:
        """Return the position (3,) in map [m] of a geodetic position."""
        ...


@dataclass(frozen=True)
class LocalTangentPlane:
    """The `map` frame: East-North-Up axes, tangent to WGS84 at the origin (IOGP 373-7-2, 4.1.2).

    The transformation is exact (no sphere, no small-angle step): at 1 km it differs from a sphere
    of 6371 km by up to 3 m.
    """

    origin: GeodeticPoint
    _p_ecef: FloatArray = field(init=False, repr=False, compare=False)
    _R_ecef_map: FloatArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        origin = self.origin
        latitude, longitude = radians(origin.latitude_deg), radians(origin.longitude_deg)
        east = [-sin(longitude), cos(longitude), 0.0]
        up = [cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude)]
        axes = np.column_stack([east, np.cross(up, east), up])
        position = ecef_from_geodetic(origin.latitude_deg, origin.longitude_deg, origin.altitude_m)
        object.__setattr__(self, "_R_ecef_map", axes)
        object.__setattr__(self, "_p_ecef", position)

    @property
    def R_ecef_map(self) -> FloatArray:
        """Return the axes of the map, east north up as columns, in Earth-centred axes (3, 3)."""
        return self._R_ecef_map.copy()

    def to_geodetic(self, p_map: ArrayLike) -> tuple[float, float, float]:
        """Return latitude [deg], longitude [deg], altitude [m] of a position (3,) in map [m]."""
        return geodetic_from_ecef(self._p_ecef + self._R_ecef_map @ np.asarray(p_map))

    def from_geodetic(
        self, latitude_deg: float, longitude_deg: float, altitude_m: float
    ) -> FloatArray:
        """Return the position (3,) in map [m] of a geodetic position."""
        p_ecef = ecef_from_geodetic(latitude_deg, longitude_deg, altitude_m)
        return self._R_ecef_map.T @ (p_ecef - self._p_ecef)


@dataclass(frozen=True)
class AzimuthalEquidistant:
    """The azimuthal equidistant projection of a sphere, about an origin.

    PX4 (MapProjection, src/lib/geo/geo.cpp) and Pegasus (eq. 14-16, with the division by the
    radius and the quadrants that the paper leaves out) use it for the map. Distances and
    directions from the origin are those of the sphere; the altitude is the height above the
    origin's.

    The Earth is no sphere: against WGS84 a distance is off by (R - M) / M along the meridian and by
    (R - N) / N across, M and N being the radii of curvature: at 47 degrees +0.02 % and -0.29 %,
    2.9 m per km east-west; at the equator +0.56 % and -0.11 %; never more than 0.56 %.

    Source: Snyder, Map Projections: A Working Manual, USGS Professional Paper 1395, 1987,
    p. 195-196, eq. 5-3, 20-14, 20-15, 21-2, 25-2.
    """

    origin: GeodeticPoint
    radius_m: float = PX4_EARTH_RADIUS_M

    def to_geodetic(self, p_map: ArrayLike) -> tuple[float, float, float]:
        """Return latitude [deg], longitude [deg], altitude [m] of a position (3,) in map [m]."""
        x, y, z = (float(value) for value in np.asarray(p_map))
        latitude_0, longitude_0 = self._origin_radians
        distance = hypot(x, y)
        c = distance / self.radius_m
        scale = sin(c) / distance if distance > 0.0 else 0.0
        east, north, up = scale * x, scale * y, cos(c)  # on the unit sphere, axes of the origin
        outwards = up * cos(latitude_0) - north * sin(latitude_0)
        along_axis = up * sin(latitude_0) + north * cos(latitude_0)
        # atan2 and not asin, which loses half the digits near the poles
        latitude = degrees(atan2(along_axis, hypot(east, outwards)))
        longitude = degrees(longitude_0 + atan2(east, outwards))
        altitude = self.origin.altitude_m + z
        return latitude, wrap_deg(longitude), altitude

    def from_geodetic(
        self, latitude_deg: float, longitude_deg: float, altitude_m: float
    ) -> FloatArray:
        """Return the position (3,) in map [m] of a geodetic position."""
        latitude, turn = radians(latitude_deg), radians(longitude_deg) - self._origin_radians[1]
        latitude_0, _ = self._origin_radians
        east = cos(latitude) * sin(turn)
        north = cos(latitude_0) * sin(latitude) - sin(latitude_0) * cos(latitude) * cos(turn)
        up = sin(latitude_0) * sin(latitude) + cos(latitude_0) * cos(latitude) * cos(turn)
        across = hypot(east, north)
        # atan2 and not acos(up), which loses half the digits near the origin
        scale = self.radius_m * atan2(across, up) / across if across > 0.0 else 0.0
        return np.array([scale * east, scale * north, altitude_m - self.origin.altitude_m])

    @property
    def _origin_radians(self) -> tuple[float, float]:
        return radians(self.origin.latitude_deg), radians(self.origin.longitude_deg)
