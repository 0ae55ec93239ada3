# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Queries of a world's surface: height, ground under a vehicle, distance, rays, collisions."""

import math
from collections.abc import Sequence
from copy import copy
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_meshes.mesh import TexturedMesh, bounds_of
from aerotwin_rendering import columns
from aerotwin_rendering.moving_objects import (
    ObjectsAt,
    PlacedObject,
    add_beams,
    add_hits,
    no_objects,
)
from aerotwin_rendering.ray_scene import NOTHING, RayScene, SurfaceHits

GROUND_MARGIN_M = 0.5
FOOT_M = 0.2
"""Half the span of an iris' landing gear."""


class HasMeshes(Protocol):
    """An object with meshes in the map frame, such as `aerotwin_worlds.World`."""

    @property
    def meshes(self) -> Sequence[TexturedMesh]:
        """Its surface, in the map frame."""


class _Surface:
    """A surface prepared for queries, and the time at which they ask for what moves over it."""

    def __init__(self, meshes: Sequence[TexturedMesh]) -> None:
        self.stamp_ns = 0
        self.replace(meshes)

    def set_time(self, stamp_ns: int) -> None:
        """Set the time [ns]."""
        self.stamp_ns = stamp_ns

    def replace(self, meshes: Sequence[TexturedMesh]) -> None:
        """Prepare other meshes. Raises ValueError if there is none."""
        if not meshes:
            raise ValueError("meshes must hold one at least, got none")
        self.meshes = tuple(meshes)
        starts = np.cumsum([0] + [len(mesh.vertices_map) for mesh in meshes])
        vertices = np.concatenate([mesh.vertices_map for mesh in meshes])
        triangles = np.concatenate(
            [mesh.triangles + np.int32(start) for mesh, start in zip(meshes, starts)]
        )
        low, high = bounds_of(meshes)
        extent = high[:2] - low[:2]
        cell = float(np.clip(math.sqrt(extent.prod() / len(triangles)) * 2.0, 0.2, 5.0))
        nx, ny = (int(n) for n in np.floor(extent / cell) + 1)
        start, index = columns.build_columns(vertices, triangles, low[0], low[1], cell, nx, ny)
        grid = np.array([low[0], low[1], cell, nx, ny])
        self.columns = (vertices, triangles, start, index, grid)
        self.scene = RayScene(self.meshes)


class WorldQueries:
    """Queries of the surface of a world; all points in the map frame [m].

    Heights and the ground plane are exact on the triangles, from a grid of vertical columns
    (a few microseconds a call). Rays and distances use Embree in single precision: about 1e-7 of
    the coordinates; its scene, one for all of them, is built at the first such query.

    Moving objects (``objects_at``) count for rays, segments and distances, at the time
    ``stamp_ns``; a simulation sets both, the time at each step. Heights and the ground plane are
    those of the world without them: nothing can land on an object.
    """

    def __init__(self, world: HasMeshes, *, objects_at: ObjectsAt = no_objects) -> None:
        self.objects_at = objects_at
        self._shared = _Surface(world.meshes)

    def showing(self, objects_at: ObjectsAt) -> "WorldQueries":
        """Return queries of the same world and time in which other objects move.

        They share both with these, also after `replace` and when `stamp_ns` is set.
        """
        other = copy(self)
        other.objects_at = objects_at
        return other

    @property
    def stamp_ns(self) -> int:
        """Time of the moving objects [ns]."""
        return self._shared.stamp_ns

    @stamp_ns.setter
    def stamp_ns(self, stamp_ns: int) -> None:
        self._shared.set_time(stamp_ns)

    @property
    def meshes(self) -> tuple[TexturedMesh, ...]:
        """The surface, in the map frame."""
        return self._shared.meshes

    @property
    def objects(self) -> Sequence[PlacedObject]:
        """The moving objects at `stamp_ns`."""
        return self.objects_at(self.stamp_ns)

    def name_of(self, mesh: int) -> str:
        """Return the name of a mesh or moving object by its index in hits."""
        moving = (p.object.name for p in self.objects if p.object.mesh_id == mesh)
        if (name := next(moving, None)) is not None:
            return name
        return self.meshes[mesh].name or f"mesh {mesh} of the world"

    def replace(self, meshes: Sequence[TexturedMesh]) -> None:
        """Replace the meshes, as when a world streams.

        The columns are built now (0.1 s for a million triangles), the ray scene at the next query
        that needs it.

        Raises
        ------
        ValueError
            If there is no mesh.
        """
        self._shared.replace(meshes)

    # -- straight above and below -----------------------------------------------------------------

    def height(self, x: ArrayLike, y: ArrayLike) -> np.ndarray | float:
        """Return the height of the highest surface at x, y [m]; -infinity outside the world."""
        x, y = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        points = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, np.inf)])
        z = columns.heights_below(points, *self._shared.columns).reshape(x.shape)
        return float(z) if z.ndim == 0 else z

    def height_above_ground(self, points: ArrayLike) -> np.ndarray:
        """Return the height of points (n, 3) above the ground below them, (n,) [m].

        The ground is that of `ground_plane`: negative down to -0.5 m for points in it, infinity
        outside the world.
        """
        points = _points("points", points)
        raised = points + np.array([0.0, 0.0, GROUND_MARGIN_M])
        return points[:, 2] - columns.heights_below(raised, *self._shared.columns)

    def ground_plane(self, p_map: Sequence[float] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return point and unit normal of the ground below a position.

        The highest surface that is at most 0.5 m above the position counts (so a vehicle that
        presses into the ground still finds it, and one under an overhang finds its floor). The
        normal spans 0.4 m; on the rim of a roof or at the foot of a wall it is that of the
        triangle, and where that is steeper than 60 degrees it is up. Outside the world there is no
        ground: height minus infinity, normal up.
        """
        x, y, z = float(p_map[0]), float(p_map[1]), float(p_map[2])
        ground, *normal = columns.plane_below(
            x, y, z + GROUND_MARGIN_M, FOOT_M, *self._shared.columns
        )
        return np.array([x, y, ground]), np.array(normal)

    # -- in any direction -------------------------------------------------------------------------

    def distance(self, points: ArrayLike) -> np.ndarray:
        """Return the distance of points (n, 3) to the nearest surface, (n,) [m]."""
        points = _points("points", points)
        distance = self._shared.scene.distance(points.astype(np.float32))
        for placed in self.objects_at(self.stamp_ns):
            distance = np.minimum(distance, placed.distance(points))
        return distance

    def nearest(self, points: ArrayLike) -> tuple[np.ndarray, SurfaceHits]:
        """Return the surface points (n, 3) nearest to points (n, 3), and their surface.

        Distances are to these points, normals point to the side of the query point, meshes are
        indices in `meshes` or those of `MovingObject`.
        """
        points = _points("points", points)
        places, hits = self._shared.scene.nearest(points.astype(np.float32))
        for placed in self.objects_at(self.stamp_ns):
            other_places, other = placed.nearest(points)
            is_nearer = other.distance_m < hits.distance_m
            places = np.where(is_nearer[:, None], other_places, places)
            hits = SurfaceHits(
                distance_m=np.where(is_nearer, other.distance_m, hits.distance_m),
                normal_map=np.where(is_nearer[:, None], other.normal_map, hits.normal_map),
                mesh=np.where(is_nearer, other.mesh, hits.mesh),
                triangle=np.where(is_nearer, other.triangle, hits.triangle),
            )
        return places, hits

    def cast(self, origins: ArrayLike, directions: ArrayLike) -> np.ndarray:
        """Return the distance (n,) [m] along rays to the surface; see `cast_rays`."""
        return self.cast_rays(origins, directions).distance_m

    def cast_one(self, p_map: np.ndarray, direction_map: np.ndarray) -> float:
        """Return the distance [m] from a point (3,) to the surface in a direction (3,)."""
        return float(self.cast(p_map[None], direction_map[None])[0])

    def cast_rays(self, origins: ArrayLike, directions: ArrayLike) -> SurfaceHits:
        """Return the first hits of rays.

        ``origins`` and ``directions`` are (n, 3); one origin (1, 3) serves all. Directions need not
        have unit length, distances are always in metres.

        Raises
        ------
        ValueError
            If a shape is wrong, a number not finite or a direction zero.
        """
        origins, directions = _points("origins", origins), _points("directions", directions)
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        if (lengths == 0.0).any():
            raise ValueError("directions must not be zero")
        return self._first_hits(_rays(origins, directions / lengths))

    def _first_hits(self, rays: np.ndarray) -> SurfaceHits:
        hits, objects = self._shared.scene.cast(rays), self.objects_at(self.stamp_ns)
        return add_hits(hits, rays, objects) if objects else hits

    def beams(
        self, rays: np.ndarray, stamps_ns: Sequence[int] = ()
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return distance, normal and reflectivity for a lidar; see `RayScene.beams`.

        ``stamps_ns`` are the times of equal parts of the rays, one after the other, at which moving
        objects are hit; by default all rays are cast at `stamp_ns`.
        """
        beams = self._shared.scene.beams(rays)
        moments = [self.objects_at(stamp_ns) for stamp_ns in stamps_ns or (self.stamp_ns,)]
        return add_beams(beams, rays, moments) if any(moments) else beams

    def segments_hit(self, starts: ArrayLike, ends: ArrayLike) -> SurfaceHits:
        """Return the first hits of segments from starts (n, 3) to ends (n, 3).

        Distances are from the starts [m]; surfaces beyond an end are not hit, and a segment without
        length hits nothing.
        """
        starts, ends = _points("starts", starts), _points("ends", ends)
        hits = self._first_hits(_rays(starts, ends - starts))
        lengths = np.linalg.norm(ends - starts, axis=1)
        is_met = (hits.distance_m <= 1.0) & (lengths > 0.0)
        return SurfaceHits(
            distance_m=np.where(is_met, hits.distance_m, np.inf) * np.maximum(lengths, 1e-30),
            normal_map=np.where(is_met[:, None], hits.normal_map, 0.0),
            mesh=np.where(is_met, hits.mesh, NOTHING),
            triangle=np.where(is_met, hits.triangle, NOTHING),
        )

    def segment_hits(self, p0_map: ArrayLike, p1_map: ArrayLike) -> bool:
        """Return whether the segment between two points hits a surface."""
        p0, p1 = np.asarray(p0_map, np.float64), np.asarray(p1_map, np.float64)
        return bool(self.segments_hit(p0[None], p1[None]).mesh[0] != NOTHING)

    def warm_up(self) -> None:
        """Compile the kernels and build the ray tracing scene now."""
        middle = self._shared.columns[0][0]
        self.height(middle[0], middle[1])
        self.ground_plane(middle)
        self.distance(middle[None])


def _rays(origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
    rays = np.empty((len(directions), 6), np.float32)
    rays[:, :3], rays[:, 3:] = origins, directions
    return rays


def _points(name: str, points: ArrayLike) -> np.ndarray:
    points = np.asarray(points, np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise ValueError(f"{name} must be a finite (n, 3) array, got shape {points.shape}")
    return points
