# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""World: textured meshes with a position on Earth."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.foreign_text import listed
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes.geometry import Geometry, MeshStream
from aerotwin_meshes.mesh import TexturedMesh, bounds_of
from aerotwin_worlds.description import WorldDescription


@dataclass(frozen=True, kw_only=True)
class World:
    """An environment to fly in.

    Parameters
    ----------
    meshes, source : tuple of TexturedMesh, str
        Everything visible, in the map frame (east, north, up); one of `description.SOURCES`.
    origin : GeodeticPoint
        Geodetic position of the map frame's origin.
    attribution, licence : str
        To be shown wherever the world is shown.
    start_p_map, start_yaw : (3,) array, float
        Start position of a vehicle, on the surface [m], and heading [rad].
    missing : tuple of str
        One line for each thing that could not be loaded; to be reported with all results.
    notes : tuple of str
        One line for each thing that was assumed, filled in or changed.
    stream : MeshStream or None
        Where the meshes follow a sensor; ``meshes`` are then those of the start.
    """

    name: str
    meshes: tuple[TexturedMesh, ...]
    origin: GeodeticPoint
    attribution: str
    licence: str
    start_p_map: np.ndarray
    start_yaw: float
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stream: MeshStream | None = None
    source: str = ""

    @property
    def bounds_m(self) -> np.ndarray:
        """Lowest and highest corner of all meshes, (2, 3) [m]."""
        return bounds_of(self.meshes)

    @property
    def n_triangles(self) -> int:
        """Number of triangles of all meshes."""
        return sum(len(mesh.triangles) for mesh in self.meshes)

    @property
    def credits(self) -> dict[str, str]:
        """Name, attribution and licence, for reports and viewers."""
        return {"name": self.name, "attribution": self.attribution, "licence": self.licence}

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each missing part, which makes results partial."""
        return tuple(f"Missing in the world {self.name}: {text}" for text in self.missing)

    def surface(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all meshes as one: vertices (n, 3) float64 [m] and triangles (m, 3) int32."""
        starts = np.cumsum([0] + [len(mesh.vertices_map) for mesh in self.meshes])
        triangles = [m.triangles + n for m, n in zip(self.meshes, starts[:-1], strict=True)]
        return (
            np.concatenate([mesh.vertices_map for mesh in self.meshes]),
            np.concatenate(triangles).astype(np.int32),
        )


_MOST_NAMES = 5
"""Of meshes in a note."""
_LEVEL = 0.98
"""Upward part of the normal of ground that counts as level: 11 degrees."""


def world_record(world: World) -> dict[str, Any]:
    """Return the properties of a world, as plain JSON types."""
    low, high = world.bounds_m.round(3).tolist()
    textures = {id(mesh.texture): mesh.texture.shape for mesh in world.meshes}  # some share one
    return {
        "name": world.name,
        "source": world.source,
        "bounds_low_m": low,
        "bounds_high_m": high,
        "n_meshes": len(world.meshes),
        "n_triangles": world.n_triangles,
        "n_texture_pixels": sum(h * w for h, w, _ in textures.values()),
        "largest_texture_px": max(max(h, w) for h, w, _ in textures.values()),
        "is_lit": any(mesh.light is not None for mesh in world.meshes),
        "is_streamed": world.stream is not None,
        "origin": dataclasses.asdict(world.origin),
        "start_m": world.start_p_map.round(3).tolist(),
        "start_yaw_deg": math.degrees(world.start_yaw),
        "attribution": world.attribution,
        "licence": world.licence,
        "missing": list(world.missing),
        "notes": list(world.notes),
    }


def world_from_description(description: WorldDescription, geometry: Geometry) -> World:
    """Join description and geometry; the start height is that of the highest surface there.

    Raises `ValueError` if neither states the world's geodetic origin, or there is no surface at the
    start point.
    """
    origin = geometry.origin or stated_origin(description)
    if origin is None:
        raise ValueError(
            "'origin' is missing, and its source does not say where on Earth it lies; add origin "
            "with latitude_deg, longitude_deg, altitude_m"
        )
    x, y = _start(description, geometry)
    z = max(highest_surface(mesh, x, y) for mesh in geometry.meshes)
    if not math.isfinite(z):
        raise ValueError(
            f"start ({x:.10g}, {y:.10g}) m must lie above the world's surface; choose another start"
        )
    attributions = (description.attribution, *geometry.attributions)
    return World(
        name=description.name,
        meshes=geometry.meshes,
        origin=origin,
        attribution="; ".join(dict.fromkeys(attributions)),
        licence=description.licence,
        start_p_map=np.array([x, y, z]),
        start_yaw=math.radians(description.start.yaw_deg if description.start else 0.0),
        missing=geometry.missing,
        notes=(*geometry.notes, *_assumed_colours(geometry.meshes)),
        stream=geometry.stream,
        source=description.source,
    )


def _assumed_colours(meshes: tuple[TexturedMesh, ...]) -> tuple[str, ...]:
    """Return a line for each plain colour of meshes that have none of their own."""
    found: dict[tuple[int, ...], list[str]] = {}
    for mesh in meshes:
        if mesh.is_colour_assumed:
            found.setdefault(tuple(mesh.texture[0, 0].tolist()), []).append(mesh.name)
    return tuple(
        f"colours assumed, not measured: {len(names)} of {len(meshes)} meshes have none and are "
        f"RGB {' '.join(map(str, colour))}: {listed(dict.fromkeys(names), _MOST_NAMES)}"
        for colour, names in found.items()
    )


def stated_origin(description: WorldDescription) -> GeodeticPoint | None:
    """Return the origin that a world file states."""
    if description.origin is None:
        return None
    return GeodeticPoint(**dataclasses.asdict(description.origin))


def _start(description: WorldDescription, geometry: Geometry) -> tuple[float, float]:
    """Return the start x, y: as described, as the source found, or near the middle.

    Near the middle means the middle of the triangle that faces up best, preferring triangles near
    the middle of the bounds.
    """
    if description.start is not None:
        return description.start.x_m, description.start.y_m
    if geometry.start_m is not None:
        return geometry.start_m
    corners = np.concatenate([mesh.vertices_map[mesh.triangles] for mesh in geometry.meshes])
    middle = corners.mean(axis=1)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.maximum(np.linalg.norm(normal, axis=1), 1e-12)
    is_level = np.abs(normal[:, 2]) > _LEVEL * length
    if not is_level.any():
        is_level = np.abs(normal[:, 2]) > 0.0
    away = np.hypot(
        *(middle[:, :2] - 0.5 * (corners.min(axis=(0, 1)) + corners.max(axis=(0, 1)))[:2]).T
    )
    x, y, _ = middle[np.argmin(np.where(is_level, away, np.inf))]
    return float(x), float(y)


def highest_surface(mesh: TexturedMesh, x: float, y: float) -> float:
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
