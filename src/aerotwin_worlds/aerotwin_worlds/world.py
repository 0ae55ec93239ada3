# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""World: a place on Earth made of textured meshes, and the strict YAML file that describes it."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.parameters import parameter
from aerotwin_worlds.mesh import TexturedMesh


@dataclass(frozen=True, kw_only=True)
class OriginDescription:
    """Where the map frame's origin lies on Earth (WGS84)."""

    latitude_deg: float = parameter(text="Latitude.", unit="deg", minimum=-90, maximum=90)
    longitude_deg: float = parameter(text="Longitude.", unit="deg", minimum=-180, maximum=180)
    altitude_m: float = parameter(text="Height above the ellipsoid of map z = 0.", unit="m")


@dataclass(frozen=True, kw_only=True)
class StartDescription:
    """Where a vehicle stands at first; its height is that of the surface there."""

    x_m: float = parameter(text="Map x.", unit="m")
    y_m: float = parameter(text="Map y.", unit="m")
    yaw_deg: float = parameter(
        default=0.0,
        text="Heading, counter-clockwise from east.",
        unit="deg",
        minimum=-360,
        maximum=360,
    )


@dataclass(frozen=True, kw_only=True)
class WorldDescription:
    """Content of a world's YAML file; shapes come from either ``generator`` or ``mesh``."""

    name: str = parameter(text="Name shown to people.")
    generator: str = parameter(default="", text="Name of a generator of this package.")
    parameters: dict = parameter(default=None, text="Parameters of the generator.")
    mesh: str = parameter(default="", text="GLB file beside the YAML file.")
    origin: OriginDescription = parameter(text="Origin of the map frame on Earth.")
    start: StartDescription = parameter(text="Where a vehicle stands at first.")
    attribution: str = parameter(text="Who made the data; shown by reports and viewers.")
    licence: str = parameter(text="Licence of the data; shown by reports and viewers.")


@dataclass(frozen=True, kw_only=True)
class World:
    """A place to fly in.

    Parameters
    ----------
    name : str
    meshes : tuple of TexturedMesh
        Everything visible, in the map frame (east, north, up).
    origin : GeodeticPoint
        Where the map frame's origin lies on Earth.
    attribution, licence : str
        To be shown wherever the world is shown.
    start_p_map : (3,) array
        A point on the surface where a vehicle may stand [m].
    start_yaw : float
        Heading there [rad].
    """

    name: str
    meshes: tuple[TexturedMesh, ...]
    origin: GeodeticPoint
    attribution: str
    licence: str
    start_p_map: np.ndarray
    start_yaw: float

    @property
    def bounds_m(self) -> np.ndarray:
        """Lowest and highest corner of all meshes, (2, 3) [m]."""
        bounds = np.stack([mesh.bounds_m for mesh in self.meshes])
        return np.stack([bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)])

    @property
    def n_triangles(self) -> int:
        """Number of triangles of all meshes."""
        return sum(len(mesh.triangles) for mesh in self.meshes)

    def surface(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all meshes as one: vertices (n, 3) float64 [m] and triangles (m, 3) int32."""
        starts = np.cumsum([0] + [len(mesh.vertices_map) for mesh in self.meshes])
        triangles = [m.triangles + n for m, n in zip(self.meshes, starts[:-1], strict=True)]
        return (
            np.concatenate([mesh.vertices_map for mesh in self.meshes]),
            np.concatenate(triangles).astype(np.int32),
        )


def world_record(world: World) -> dict[str, Any]:
    """Return what people and programs want to know of a world, as plain JSON types."""
    low, high = world.bounds_m.round(3).tolist()
    origin = world.origin
    return {
        "name": world.name,
        "bounds_low_m": low,
        "bounds_high_m": high,
        "n_meshes": len(world.meshes),
        "n_triangles": world.n_triangles,
        "textures_px": [[m.texture.shape[1], m.texture.shape[0]] for m in world.meshes],
        "origin": {
            "latitude_deg": origin.latitude_deg,
            "longitude_deg": origin.longitude_deg,
            "altitude_m": origin.altitude_m,
        },
        "start_m": world.start_p_map.round(3).tolist(),
        "start_yaw_deg": math.degrees(world.start_yaw),
        "attribution": world.attribution,
        "licence": world.licence,
    }


def world_from_description(
    description: WorldDescription, meshes: tuple[TexturedMesh, ...]
) -> World:
    """Join description and meshes; the start height is that of the highest surface there.

    Raises
    ------
    ValueError
        If there is no surface at the start point.
    """
    start = description.start
    z = max(_highest_surface(mesh, start.x_m, start.y_m) for mesh in meshes)
    if not math.isfinite(z):
        raise ValueError(f"start ({start.x_m}, {start.y_m}) m must lie above the world's surface")
    origin = description.origin
    return World(
        name=description.name,
        meshes=meshes,
        origin=GeodeticPoint(
            latitude_deg=origin.latitude_deg,
            longitude_deg=origin.longitude_deg,
            altitude_m=origin.altitude_m,
        ),
        attribution=description.attribution,
        licence=description.licence,
        start_p_map=np.array([start.x_m, start.y_m, z]),
        start_yaw=math.radians(start.yaw_deg),
    )


def _highest_surface(mesh: TexturedMesh, x: float, y: float) -> float:
    """Height of the highest triangle over or under (x, y); minus infinity where there is none."""
    xy = mesh.vertices_map[:, :2] - (x, y)
    beyond = [xy[:, a] * sign > 0.0 for a in (0, 1) for sign in (1.0, -1.0)]
    near = np.ones(len(mesh.triangles), bool)
    for side in beyond:
        near &= ~side[mesh.triangles].all(axis=1)
    a, b, c = (xy[mesh.triangles[near, k]] for k in range(3))
    weights = np.stack([_cross(b, c), _cross(c, a), _cross(a, b)], axis=1)
    area = weights.sum(axis=1)
    inside = (weights * np.sign(area)[:, None] >= 0.0).all(axis=1) & (area != 0.0)
    if not inside.any():
        return -math.inf
    z = mesh.vertices_map[mesh.triangles[near][inside], 2]
    return float(((weights[inside] * z).sum(axis=1) / area[inside]).max())


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
