# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The true surface: nearest points, what cameras see of it, and alignment to it."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import transform_points
from aerotwin_registration.voxels import voxel_keys

_MAX_ALIGNED_POINTS = 8_000
_MAX_VIEWS = 80
_RAYS_ACROSS = 80
# Ten times below a millimetre and a thousandth of a degree: finer than any map [m, rad].
SMALLEST_STEP = 1e-5


class SurfaceReference:
    """A triangle surface with a ray and distance structure (Embree, through Open3D).

    Parameters
    ----------
    vertices : (n, 3) array
        In map [m].
    triangles : (m, 3) integer array
        Vertices of each triangle.
    """

    def __init__(self, vertices: np.ndarray, triangles: np.ndarray) -> None:
        import open3d as o3d

        self.vertices = np.asarray(vertices, dtype=np.float64)
        self.triangles = np.asarray(triangles, dtype=np.int64)
        # Embree computes in float32: coordinates are taken from the middle of the surface.
        self._centre = (self.vertices.min(axis=0) + self.vertices.max(axis=0)) / 2.0
        self._tensor = o3d.core.Tensor
        self._scene = o3d.t.geometry.RaycastingScene()
        self._scene.add_triangles(
            self._tensor(np.ascontiguousarray(self.vertices - self._centre, dtype=np.float32)),
            self._tensor(np.ascontiguousarray(self.triangles, dtype=np.uint32)),
        )

    @classmethod
    def from_meshes(cls, meshes: Iterable[Any]) -> "SurfaceReference":
        """Return the surface of meshes with `vertices_map` and `triangles` (a world's) as one."""
        vertices, triangles, n = [], [], 0
        for mesh in meshes:
            vertices.append(np.asarray(mesh.vertices_map, dtype=np.float64))
            triangles.append(np.asarray(mesh.triangles, dtype=np.int64) + n)
            n += len(mesh.vertices_map)
        return cls(np.concatenate(vertices), np.concatenate(triangles))

    def nearest(self, points_map: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest surface points (n, 3) and the distances (n,) [m]."""
        local = np.ascontiguousarray(points_map - self._centre, dtype=np.float32)
        found = self._scene.compute_closest_points(self._tensor(local))["points"].numpy()
        nearest = found.astype(np.float64) + self._centre
        return nearest, np.linalg.norm(points_map - nearest, axis=1)

    def seen_from(
        self, T_map_optical: np.ndarray, camera: PinholeCamera, *, max_range_m: float = 60.0
    ) -> np.ndarray:
        """Return the surface points (n, 3) that a camera saw from true poses.

        Parameters
        ----------
        T_map_optical : (k, 4, 4) array
            True poses of the camera, optical axes; at most 80, evenly spread, are used.
        camera : PinholeCamera
            One ray in every few pixels is cast.
        max_range_m : float
            Surface farther than this does not count as seen [m].
        """
        pick = np.linspace(0, len(T_map_optical) - 1, min(len(T_map_optical), _MAX_VIEWS))
        poses = np.asarray(T_map_optical)[np.unique(pick.round().astype(np.int64))]
        step = max(1, camera.width // _RAYS_ACROSS)
        u, v = np.meshgrid(np.arange(0, camera.width, step), np.arange(0, camera.height, step))
        rays = np.stack(
            [(u - camera.cx) / camera.fx, (v - camera.cy) / camera.fy, np.ones(u.shape)], axis=-1
        ).reshape(-1, 3)
        rays /= np.linalg.norm(rays, axis=1, keepdims=True)
        seen = []
        for T in poses:
            directions = rays @ T[:3, :3].T
            origin = np.broadcast_to(T[:3, 3] - self._centre, directions.shape)
            query = np.hstack([origin, directions]).astype(np.float32)
            reach = self._scene.cast_rays(self._tensor(query))["t_hit"].numpy().astype(np.float64)
            hit = reach < max_range_m
            seen.append(T[:3, 3] + directions[hit] * reach[hit, None])
        return np.concatenate(seen) if seen else np.empty((0, 3))


def one_per_voxel(points: np.ndarray, voxel_m: float) -> np.ndarray:
    """Return one of the points, not their mean, per voxel: it still lies on the surface."""
    if len(points) == 0:
        return points
    return points[np.sort(np.unique(voxel_keys(points, voxel_m), return_index=True)[1])]


def align_to_surface(
    points_map: np.ndarray, surface: SurfaceReference, *, radius_m: float, n_iterations: int = 20
) -> np.ndarray:
    """Return T_map_points (4, 4) that moves points onto the surface, point to plane.

    Parameters
    ----------
    points_map : (n, 3) array
        Near the surface already [m].
    radius_m : float
        Points farther than this from the surface take no part [m].
    n_iterations : int
        Gauss-Newton steps at most; ends earlier when the steps get small.

    Notes
    -----
    A direction that the surface does not oppose is left where it is (minimum-norm step).
    """
    step = max(1, len(points_map) // _MAX_ALIGNED_POINTS)
    points = points_map[::step]
    T = np.eye(4)
    for _ in range(n_iterations):
        moved = transform_points(T, points)
        nearest, distance = surface.nearest(moved)
        used = (distance < radius_m) & (distance > 1e-9)
        if np.count_nonzero(used) < 6:
            break
        normals = (moved[used] - nearest[used]) / distance[used, None]
        centre = moved[used].mean(axis=0)
        arms = moved[used] - centre
        J = np.hstack([normals, np.cross(arms, normals)])
        update = np.linalg.lstsq(J, -distance[used], rcond=1e-3)[0]
        T = _exponential(update, centre) @ T
        if np.abs(update).max() < SMALLEST_STEP:
            break
    return T


def _exponential(update: np.ndarray, centre: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(update[3:]).as_matrix()
    T[:3, 3] = centre + update[:3] - T[:3, :3] @ centre
    return T
