# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Bounding volumes of tiles: boxes and spheres, and regions of the WGS84 ellipsoid as boxes.

All are in the tileset's rigid frame. Tests are conservative: a touching volume counts as
overlapping, so that no part of a requested area is missed.
"""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_core.angles import wrap_deg
from aerotwin_core.frames import make_transform
from aerotwin_core.geodesy import (
    WGS84_SEMI_MAJOR_AXIS_M,
    GeodeticPoint,
    LocalTangentPlane,
    ecef_from_geodetic,
)
from aerotwin_meshes.gltf.json_element import JsonElement

_WIDEST_TANGENT = math.radians(30.0)
"""Half width up to which a region's extremes lie on its corners and middles (see `region_box`)."""
_ROUNDING_M = 1e-6  # of ECEF coordinates through a rotation and back; 1000 times what is found
_LATITUDE_SLACK = 1e-6  # radians; files round pi/2


@dataclass(frozen=True, kw_only=True, eq=False)
class Box:
    """A parallelepiped, rectangular in nearly all files.

    ``centre`` (3,) [m]; ``half_axes`` (3, 3), one half axis per row [m], which may be zero.
    """

    centre: np.ndarray
    half_axes: np.ndarray

    @property
    def reach_m(self) -> float:
        """Radius of the bounding sphere about the centre [m]."""
        return float(np.linalg.norm(self.half_axes, axis=1).sum())

    @property
    def bounds_m(self) -> np.ndarray:
        """Lowest and highest corner, (2, 3) [m]."""
        half = np.abs(self.half_axes).sum(axis=0)
        return np.stack([self.centre - half, self.centre + half])

    def moved(self, T: np.ndarray) -> "Box":
        """Return the box after an affine transformation (4, 4)."""
        rotation = T[:3, :3]
        centre = rotation @ self.centre + T[:3, 3]
        return Box(centre=centre, half_axes=self.half_axes @ rotation.T)

    def overlaps(self, other: "Box") -> bool:
        """Tell whether the two boxes have a point in common.

        Separating axes of two parallelepipeds: six face normals, nine products of edges (Gottschalk
        et al., OBBTree, SIGGRAPH 1996, sec. 5). An axis that vanishes separates nothing.
        """
        offset = other.centre - self.centre
        if offset @ offset > (self.reach_m + other.reach_m) ** 2:
            return False
        a, b = self.half_axes, other.half_axes
        edges = _cross(np.repeat(a, 3, axis=0), np.tile(b, (3, 1)))
        axes = np.concatenate([_normals(a), _normals(b), edges])
        reach = np.abs(axes @ a.T).sum(axis=1) + np.abs(axes @ b.T).sum(axis=1)
        return not bool((np.abs(axes @ offset) > reach).any())

    def distance_m(self, p: np.ndarray) -> float:
        """Return the distance of a point (3,) from the box, 0 inside; exact if rectangular [m]."""
        lengths = np.linalg.norm(self.half_axes, axis=1)
        directions = self.half_axes / np.where(lengths > 0.0, lengths, 1.0)[:, None]
        offset = p - self.centre
        along = np.clip(directions @ offset, -lengths, lengths)
        return float(np.linalg.norm(offset - along @ directions))


@dataclass(frozen=True, kw_only=True, eq=False)
class Sphere:
    """A ball; centre (3,) and radius [m]."""

    centre: np.ndarray
    radius_m: float

    @property
    def reach_m(self) -> float:
        """Radius [m]."""
        return self.radius_m

    @property
    def bounds_m(self) -> np.ndarray:
        """Lowest and highest corner of its bounding box, (2, 3) [m]."""
        return np.stack([self.centre - self.radius_m, self.centre + self.radius_m])

    def moved(self, T: np.ndarray) -> "Sphere":
        """Return the sphere after an affine transformation, grown by its largest scale."""
        centre = T[:3, :3] @ self.centre + T[:3, 3]
        return Sphere(centre=centre, radius_m=self.radius_m * largest_scale(T))

    def overlaps(self, other: Box) -> bool:
        """Tell whether sphere and box have a point in common."""
        return other.distance_m(self.centre) <= self.radius_m

    def distance_m(self, p: np.ndarray) -> float:
        """Return the distance of a point (3,) from the ball, 0 inside [m]."""
        return max(0.0, float(np.linalg.norm(p - self.centre)) - self.radius_m)


Volume = Box | Sphere
LARGEST_M = 1e12
"""Numbers beyond it are taken to be wrong (the Sun is 1.5e11 m away); products stay in float64."""


def largest_scale(T: np.ndarray) -> float:
    """Return the largest factor by which an affine transformation lengthens (spectral norm)."""
    return float(np.linalg.norm(T[:3, :3], 2))


def aligned_box(low: np.ndarray, high: np.ndarray) -> Box:
    """Return the axis-aligned box between two corners (3,) [m]."""
    half = 0.5 * (np.asarray(high, float) - low)
    return Box(centre=low + half, half_axes=np.diag(half))


def volume_from_json(element: JsonElement, T_tileset_tile: np.ndarray) -> Volume:
    """Return a tile's ``boundingVolume`` in the frame of the tileset.

    Box, region and sphere, in this order if there are several; a region is not moved by the tile's
    transform (3D Tiles 1.1, clause 6.7.1.4). Raises `ValueError` if none is present, or one is
    invalid.
    """
    if "box" in element.values:
        numbers = sane_numbers(element, "box", 12)
        box = Box(centre=numbers[:3], half_axes=numbers[3:].reshape(3, 3))
        return box.moved(T_tileset_tile)
    if "region" in element.values:
        return region_box(sane_numbers(element, "region", 6), where=element.where)
    if "sphere" in element.values:
        *centre, radius = sane_numbers(element, "sphere", 4)
        if radius < 0.0:
            raise element.wrong("sphere", "a centre and a radius of 0 or more")
        return Sphere(centre=np.array(centre), radius_m=float(radius)).moved(T_tileset_tile)
    found = ", ".join(map(str, element.values)) or "nothing"
    raise ValueError(f"{element.where} must be a box, region or sphere, got {found}")


def sane_numbers(element: JsonElement, key: str, n: int) -> np.ndarray:
    """Return n finite numbers, none beyond `LARGEST_M`."""
    numbers = element.numbers(key, n)
    if np.abs(numbers).max() > LARGEST_M:
        raise element.wrong(key, f"{n} numbers of at most {LARGEST_M:g}")
    return numbers


def region_box(region: np.ndarray, *, where: str = "region") -> Box:
    """Return a box around a part of the WGS84 ellipsoid, in ECEF.

    ``region`` (6,): west, south, east, north [rad], lowest and highest height [m]; west may exceed
    east, across the antimeridian. Raises `ValueError` if a latitude or an order is impossible.

    Notes
    -----
    The box's axes are east, north and up of the region's middle. Up to 60 degrees wide and high,
    the extremes along them lie on corners, middles of edges, the middle itself and the equator:
    east grows with the parallel's radius, north and up are monotonic along either half of a
    meridian's or a parallel's arc. A larger region gets a box around the whole Earth.
    """
    west, south, east, north, low, high = map(float, region)
    if not (abs(south) <= math.pi / 2 + _LATITUDE_SLACK and south <= north and low <= high):
        raise ValueError(f"{where} must be west, south, east, north, low, high, got {region}")
    if north > math.pi / 2 + _LATITUDE_SLACK or max(abs(west), abs(east)) > 3.0 * math.pi:
        raise ValueError(f"{where} must be in radians, got {region}")
    width = region_width(west, east)
    if max(width, north - south) > 2.0 * _WIDEST_TANGENT:
        half = WGS84_SEMI_MAJOR_AXIS_M + max(high, 0.0)
        return Box(centre=np.zeros(3), half_axes=np.diag([half] * 3))
    middle = (0.5 * (south + north), west + 0.5 * width)
    latitudes = [south, middle[0], north] + ([0.0] if south < 0.0 < north else [])
    longitudes = [west, middle[1], west + width]
    plane = LocalTangentPlane(
        GeodeticPoint(
            latitude_deg=_degrees(middle[0]), longitude_deg=wrap_deg(math.degrees(middle[1]))
        )
    )
    points = [
        plane.from_geodetic(_degrees(latitude), math.degrees(longitude), height)
        for latitude in latitudes
        for longitude in longitudes
        for height in (low, high)
    ]
    box = aligned_box(np.min(points, axis=0) - _ROUNDING_M, np.max(points, axis=0) + _ROUNDING_M)
    return box.moved(T_ecef_enu(plane.origin))


def region_width(west: float, east: float) -> float:
    """Return the longitude difference from west to east, 0 … 2 pi [rad]."""
    width = (east - west) % (2.0 * math.pi)
    return 2.0 * math.pi if width == 0.0 and east != west else width


def T_ecef_enu(origin: GeodeticPoint) -> np.ndarray:
    """Return the pose (4, 4) of the east-north-up frame of a geodetic position, in ECEF."""
    p_ecef = ecef_from_geodetic(origin.latitude_deg, origin.longitude_deg, origin.altitude_m)
    return make_transform(LocalTangentPlane(origin).R_ecef_map, p_ecef)


def _degrees(latitude: float) -> float:
    return math.degrees(min(max(latitude, -math.pi / 2), math.pi / 2))


def _normals(half_axes: np.ndarray) -> np.ndarray:
    """Normals of the three pairs of faces, (3, 3), not of unit length."""
    return np.stack([_cross(half_axes[i - 2], half_axes[i - 1]) for i in range(3)])


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """numpy.cross of rows; a fifth of its time for so few."""
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]
