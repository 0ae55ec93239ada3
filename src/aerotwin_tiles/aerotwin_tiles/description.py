# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The ``tiles`` part of a world's YAML file: which part of a tileset makes a world."""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_core.angles import wrap_deg
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.parameters import parameter
from aerotwin_tiles.fetch import HttpSettings
from aerotwin_tiles.tree import DEFAULT_MAX_TILES
from aerotwin_tiles.volumes import Box, aligned_box, region_width

_SAMPLED_DEG = 10.0
UNBOUNDED_M = 2.0e7
"""Stands for no limit: more than the Earth's diameter."""


@dataclass(frozen=True, kw_only=True)
class RegionDescription:
    """A part of the map: either a box in map metres, or a rectangle in degrees."""

    center_m: tuple[float, float, float] | None = parameter(
        default=None, text="Middle of a box in the map frame.", unit="m"
    )
    size_m: tuple[float, float, float] | None = parameter(
        default=None,
        text="Its extent along x, y, z; 0 along z: any height.",
        unit="m",
        minimum=0.0,
    )
    west_deg: float | None = parameter(
        default=None, text="Western edge (WGS84).", unit="deg", minimum=-180, maximum=180
    )
    south_deg: float | None = parameter(
        default=None, text="Southern edge.", unit="deg", minimum=-90, maximum=90
    )
    east_deg: float | None = parameter(
        default=None,
        text="Eastern edge; less than the western one across the date line.",
        unit="deg",
        minimum=-180,
        maximum=180,
    )
    north_deg: float | None = parameter(
        default=None, text="Northern edge.", unit="deg", minimum=-90, maximum=90
    )

    def __post_init__(self) -> None:
        edges = [value is not None for value in self._edges]
        box = [self.center_m is not None, self.size_m is not None]
        if any(box) == any(edges) or not (all(box) or all(edges)):
            raise ValueError(
                "region must be either center_m and size_m, or west_deg, south_deg, east_deg and "
                "north_deg; give all of one kind"
            )
        if self.size_m is not None and min(self.size_m[:2]) <= 0.0:
            raise ValueError(f"region: size_m must be positive along x and y, got {self.size_m}")
        if self.edges_deg is not None and self.edges_deg[1] >= self.edges_deg[3]:
            raise ValueError(
                f"region: south_deg must be below north_deg, got {self.south_deg} and "
                f"{self.north_deg}; exchange them"
            )
        if self.edges_deg is not None and self.edges_deg[0] == self.edges_deg[2]:
            raise ValueError(
                f"region: west_deg and east_deg must differ, got {self.west_deg} for both"
            )

    @property
    def _edges(self) -> tuple[float | None, ...]:
        return self.west_deg, self.south_deg, self.east_deg, self.north_deg

    @property
    def edges_deg(self) -> tuple[float, ...] | None:
        """West, south, east and north; None for a box."""
        edges = tuple(edge for edge in self._edges if edge is not None)
        return edges if len(edges) == len(self._edges) else None

    @property
    def middle_deg(self) -> tuple[float, float] | None:
        """Latitude and longitude of the middle of a rectangle in degrees; None for a box."""
        if self.edges_deg is None:
            return None
        west, south, east, north = self.edges_deg
        longitude = west + 0.5 * _width_deg(west, east)
        return 0.5 * (south + north), wrap_deg(longitude)

    def box_map(self, origin: GeodeticPoint | None) -> Box:
        """Return the region as a box along the axes of the map.

        A rectangle in degrees becomes its smallest bounding box: meridians are not parallel to the
        map's y axis; 1 km east of the origin, at 60 degrees north, they lean 0.3 m per km.

        Raises
        ------
        ValueError
            If a region in degrees is used with a map that has no geodetic origin.
        """
        if self.center_m is not None and self.size_m is not None:
            half = 0.5 * np.array(self.size_m)
            half[2] = half[2] or UNBOUNDED_M
            return aligned_box(np.array(self.center_m) - half, np.array(self.center_m) + half)
        if origin is None or self.edges_deg is None:
            raise ValueError("a region in degrees needs a tileset on Earth; give center_m, size_m")
        west, south, east, north = self.edges_deg
        plane = LocalTangentPlane(origin)
        width = _width_deg(west, east)
        longitudes = west + width * np.linspace(0.0, 1.0, 3 + 2 * int(width / _SAMPLED_DEG))
        corners = np.array(
            [
                plane.from_geodetic(latitude, longitude, origin.altitude_m)
                for latitude in np.linspace(
                    south, north, 3 + 2 * int((north - south) / _SAMPLED_DEG)
                )
                for longitude in longitudes
            ]
        )
        corners[:, 2] = 0.0
        up = np.array([0.0, 0.0, UNBOUNDED_M])
        return aligned_box(corners.min(axis=0) - up, corners.max(axis=0) + up)


def _width_deg(west: float, east: float) -> float:
    return math.degrees(region_width(math.radians(west), math.radians(east)))


@dataclass(frozen=True, kw_only=True)
class TilesDescription:
    """Which part of which tileset makes a world, and how accurate."""

    tileset: str = parameter(
        text="File or folder relative to the world's folder, or an http(s) URL, of a tileset.json."
    )
    region: RegionDescription | None = parameter(
        default=None, text="Part of the map to load; everything if left out."
    )
    max_error_m: float = parameter(
        default=1.0,
        text="Largest geometric error of what is loaded, everywhere in the region at once; 0: all "
        "detail there is.",
        unit="m",
        minimum=0.0,
    )
    crop: bool = parameter(
        default=False, text="Cut triangles at the region's faces; else whole tiles are loaded."
    )
    up_axis: str = parameter(
        default="auto",
        text="Axis of a local tileset's frame that is up; auto: z, or y where its tiles show it.",
        choices=("auto", "y", "z"),
    )
    point_size_m: float = parameter(
        default=0.1,
        text="Width of the octahedron that stands for a point of a point cloud.",
        unit="m",
        minimum=0.001,
        maximum=100.0,
    )
    stream: bool = parameter(
        default=False,
        text="Keep only what matters around the sensor: for areas larger than the memory.",
    )
    error_growth: float = parameter(
        default=0.01,
        text="When streaming, the error allowed at a distance d is max_error_m + error_growth d.",
        unit="m/m",
        minimum=0.0,
        maximum=1.0,
    )
    stream_step_m: float = parameter(
        default=2.0,
        text="When streaming, tiles are chosen anew after this way of the sensor.",
        unit="m",
        minimum=0.0,
    )
    memory_limit_mb: float = parameter(
        default=4000.0,
        text="Largest memory of the tiles: meshes, textures, and what renderer and ray caster make "
        "of them.",
        unit="MB",
        minimum=1.0,
    )
    max_tiles: int = parameter(
        default=DEFAULT_MAX_TILES, text="Most tiles to look at.", minimum=1, maximum=100_000_000
    )
    n_parallel: int = parameter(
        default=8, text="Downloads at the same time (from a URL).", minimum=1, maximum=64
    )
    key_env: str = parameter(
        default="", text="Name of the environment variable that holds the provider's key."
    )
    cache_dir: str = parameter(
        default="", text="Folder for downloads that the provider allows to store; default: user's."
    )
    http: HttpSettings | None = parameter(default=None, text="Retries and time limits of a server.")
