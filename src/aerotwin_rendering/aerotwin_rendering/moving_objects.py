# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Objects that move rigidly through a world, such as a person or a car.

Their meshes and ray tracing scenes stay in frames of their own, into which rays and points are
transformed: moving an object rebuilds nothing.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_meshes.mesh import TexturedMesh
from aerotwin_rendering.ray_scene import RayScene, SurfaceHits

OBJECT_ID = 1_000_000
"""Id of object 0 in images and hits; those below are of the meshes of the world."""
_RIGID, _IDENTITY = 1e-6, np.eye(3)
_POSE, _CENTRE = slice(0, 12), slice(12, 15)
_MARGIN = 1.0 + 1e-6


class MovingObject:
    """Meshes that move as one body; their vertices are in its own frame, `object` [m].

    Images and hits show it as mesh ``mesh_id``, `OBJECT_ID` + ``number``. Raises ValueError if
    there is no mesh, or the number is negative.
    """

    def __init__(self, name: str, meshes: Sequence[TexturedMesh], *, number: int = 0) -> None:
        if not meshes or number < 0:
            raise ValueError(
                f"an object must have a mesh and a number of 0 or more, got {len(meshes)} meshes "
                f"and {number}"
            )
        self.name, self.meshes, self.mesh_id = name, tuple(meshes), OBJECT_ID + number
        bounds = np.stack([mesh.bounds_m for mesh in self.meshes])
        low, high = bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)
        self.centre = 0.5 * (low + high)
        vertices = np.concatenate([mesh.vertices_map for mesh in self.meshes])
        self.radius_m = float(np.linalg.norm(vertices - self.centre, axis=1).max()) * _MARGIN
        self.rays = RayScene(self.meshes)


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedObject:
    """An object at an instant.

    Parameters
    ----------
    object : MovingObject
    T_map_object : (4, 4) array
        Its pose.
    speed_m_s : float
        No point of it is faster: how soon it can reach something.

    Raises
    ------
    ValueError
        If the pose is not a rotation and a translation.
    """

    object: MovingObject
    T_map_object: np.ndarray
    speed_m_s: float = 0.0

    def __post_init__(self) -> None:
        T = np.asarray(self.T_map_object, np.float64)
        is_pose = T.shape == (4, 4) and bool(np.isfinite(T).all())
        if is_pose:
            off = T[:3, :3].T @ T[:3, :3] - _IDENTITY
            is_pose = float(np.vdot(off, off)) <= _RIGID * _RIGID
        if not is_pose:
            raise ValueError(f"T_map_object must be a rotation and a translation (4, 4), got {T}")
        object.__setattr__(self, "T_map_object", T)

    @property
    def centre_map(self) -> np.ndarray:
        """Centre of its bounding sphere (3,) [m]."""
        T = self.T_map_object
        return T[:3, :3] @ self.object.centre + T[:3, 3]

    def distance(self, points: np.ndarray) -> np.ndarray:
        """Return the distance of points (n, 3) in map to its surface, (n,) [m]."""
        return self.object.rays.distance(self._in_object(points))

    def nearest(self, points: np.ndarray) -> tuple[np.ndarray, SurfaceHits]:
        """Return its surface points nearest to points (n, 3), in map; as `RayScene.nearest`."""
        T = self.T_map_object
        places, hits = self.object.rays.nearest(self._in_object(points))
        hits = dataclasses.replace(
            hits,
            normal_map=hits.normal_map @ T[:3, :3].T,
            mesh=np.full(len(points), self.object.mesh_id),
        )
        return places @ T[:3, :3].T + T[:3, 3], hits

    def _in_object(self, points: np.ndarray) -> np.ndarray:
        T = self.T_map_object
        return ((points - T[:3, 3]) @ T[:3, :3]).astype(np.float32)


ObjectsAt = Callable[[int], Sequence[PlacedObject]]
"""The objects that are in the world at a simulated time [ns]."""


def no_objects(stamp_ns: int) -> tuple[PlacedObject, ...]:
    """Return no object, for a world in which nothing moves."""
    return ()


def add_hits(hits: SurfaceHits, rays: np.ndarray, objects: Sequence[PlacedObject]) -> SurfaceHits:
    """Return the first hits of rays (n, 6) float32 on the world, which are ``hits``, and objects.

    Distances are in lengths of the direction.
    """
    distance, normal = hits.distance_m.copy(), hits.normal_map.copy()
    mesh, triangle = hits.mesh.copy(), hits.triangle.copy()
    for placed in objects:
        poses = _poses(placed.object, [placed])
        index, local = _rays_to(placed.object, rays, poses, distance)
        if not len(index):
            continue
        found = placed.object.rays.cast(local)
        is_first = found.distance_m < distance[index]
        first = index[is_first]
        distance[first] = found.distance_m[is_first]
        normal[first] = found.normal_map[is_first] @ placed.T_map_object[:3, :3].T
        mesh[first], triangle[first] = placed.object.mesh_id, found.triangle[is_first]
    return SurfaceHits(distance_m=distance, normal_map=normal, mesh=mesh, triangle=triangle)


def add_beams(
    beams: tuple[np.ndarray, np.ndarray, np.ndarray],
    rays: np.ndarray,
    moments: Sequence[Sequence[PlacedObject]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the beams of rays (n, 6) float32 on the world, and on objects at moments.

    Each of the moments holds for an equal part of the rays, one part after the other.
    """
    distance, normal, share = (array.copy() for array in beams)
    for moving in dict.fromkeys(placed.object for moment in moments for placed in moment):
        here = [next((p for p in moment if p.object is moving), None) for moment in moments]
        poses = _poses(moving, here)
        index, local = _rays_to(moving, rays, poses, distance)
        if not len(index):
            continue
        found, normal_object, found_share = moving.rays.beams(local)
        is_first = found < distance[index]
        first = index[is_first]
        R_map_object = poses[first * len(poses) // len(rays), :9].reshape(-1, 3, 3)
        distance[first], share[first] = found[is_first], found_share[is_first]
        normal[first] = np.einsum("nij,nj->ni", R_map_object, normal_object[is_first])
    return distance, normal, share


def _poses(moving: MovingObject, placed: Sequence[PlacedObject | None]) -> np.ndarray:
    """Return rotation, position and centre (k, 15) at moments; NaN where it is not there."""
    poses = np.full((len(placed), 15), np.nan)
    for row, one in zip(poses, placed, strict=True):
        if one is not None:
            T = one.T_map_object
            row[_POSE] = np.concatenate([T[:3, :3].ravel(), T[:3, 3]])
            row[_CENTRE] = one.centre_map
    return poses


def _rays_to(
    moving: MovingObject, rays: np.ndarray, poses: np.ndarray, distance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return which rays may hit an object before a distance: indices, and rays in its frame."""
    index, local = np.empty(len(rays), np.int64), np.empty((len(rays), 6), np.float32)
    n = transform_rays_near(rays, poses, moving.radius_m, distance, index, local)
    return index[:n], local[:n]


@njit(cache=True, nogil=True, error_model="numpy")
def transform_rays_near(rays, poses, radius, distance, index, local):
    """Write the rays that pass a sphere within a distance, in the frame at its centre's pose.

    ``poses`` (k, 15): rotation, position, centre of the sphere, each for an equal part of the rays.
    Returns their number. Comparisons with NaN are false: without a pose there is no sphere.
    """
    n, k, count, r2 = len(rays), len(poses), 0, radius * radius
    for i in range(n):
        q = poses[i * k // n]
        ox, oy, oz = float(rays[i, 0]), float(rays[i, 1]), float(rays[i, 2])
        dx, dy, dz = float(rays[i, 3]), float(rays[i, 4]), float(rays[i, 5])
        cx, cy, cz = ox - q[12], oy - q[13], oz - q[14]
        dd, od = dx * dx + dy * dy + dz * dz, cx * dx + cy * dy + cz * dz
        oo = cx * cx + cy * cy + cz * cz
        passes = (oo * dd - od * od <= r2 * dd) & ((od <= 0.0) | (oo <= r2))
        if not passes or -od - radius * np.sqrt(dd) > distance[i] * dd:
            continue
        px, py, pz = ox - q[9], oy - q[10], oz - q[11]
        index[count] = i
        local[count, 0] = q[0] * px + q[3] * py + q[6] * pz
        local[count, 1] = q[1] * px + q[4] * py + q[7] * pz
        local[count, 2] = q[2] * px + q[5] * py + q[8] * pz
        local[count, 3] = q[0] * dx + q[3] * dy + q[6] * dz
        local[count, 4] = q[1] * dx + q[4] * dy + q[7] * dz
        local[count, 5] = q[2] * dx + q[5] * dy + q[8] * dz
        count += 1
    return count
