# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The true surface: nearest points, samples by area, occlusion, and alignment to it."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from aerotwin_core.camera import CameraModel
from aerotwin_core.frames import transform_points
from aerotwin_core.rms import rms_length
from aerotwin_core.voxels import voxel_keys
from aerotwin_map_evaluation.observed import CameraFieldOfView, visible_samples
from aerotwin_registration.icp.similarity import step_about
from aerotwin_registration.observability import OpenDirection

_MAX_ALIGNED_POINTS = 8_000
# Limit of samples; a larger surface is sampled with a wider spacing.
MAX_SAMPLES = 500_000
# Ten times below a millimetre and a thousandth of a degree: finer than any map [m, rad].
SMALLEST_STEP = 1e-5
# Singular values this much smaller than the largest are those of motions along the surface.
_OPEN = 1e-3
_CHUNK = 1 << 18
# The R2 sequence: the two-dimensional golden ratio (Roberts 2018).
_R2 = 1.0 / 1.32471795724474602596 ** np.array([1.0, 2.0])


class SurfaceReference:
    """A triangle surface with a ray and distance structure (Embree, through Open3D).

    Vertices (n, 3) are in map [m]; triangles (m, 3) are indices of them.
    """

    def __init__(self, vertices: np.ndarray, triangles: np.ndarray) -> None:
        import open3d as o3d

        self.vertices = np.asarray(vertices, dtype=np.float64)
        self.triangles = np.asarray(triangles, dtype=np.int64)
        # Embree computes in float32: coordinates are taken from the middle of the surface.
        self._centre = (self.vertices.min(axis=0) + self.vertices.max(axis=0)) / 2.0
        self._sampled: tuple[float, np.ndarray] | None = None
        self._tensor = o3d.core.Tensor
        self._scene = o3d.t.geometry.RaycastingScene()
        self._scene.add_triangles(
            self._tensor(np.ascontiguousarray(self.vertices - self._centre, dtype=np.float32)),
            self._tensor(np.ascontiguousarray(self.triangles, dtype=np.uint32)),
        )

    @classmethod
    def from_meshes(cls, meshes: Iterable[Any]) -> "SurfaceReference":
        """Return the surface of all meshes with `vertices_map` and `triangles` (a world's)."""
        vertices, triangles, n = [], [], 0
        for mesh in meshes:
            vertices.append(np.asarray(mesh.vertices_map, dtype=np.float64))
            triangles.append(np.asarray(mesh.triangles, dtype=np.int64) + n)
            n += len(mesh.vertices_map)
        return cls(np.concatenate(vertices), np.concatenate(triangles))

    def nearest(self, points_map: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest surface points (n, 3) and the distances (n,) [m]."""
        nearest = np.empty((len(points_map), 3))
        for start in range(0, len(points_map), _CHUNK):
            part = slice(start, start + _CHUNK)
            local = np.ascontiguousarray(points_map[part] - self._centre, dtype=np.float32)
            found = self._scene.compute_closest_points(self._tensor(local))["points"].numpy()
            nearest[part] = found + self._centre
        return nearest, np.linalg.norm(points_map - nearest, axis=1)

    def distances(self, points_map: np.ndarray) -> np.ndarray:
        """Return the distance (n,) [m] of points (n, 3) to the surface."""
        return self.nearest(points_map)[1]

    @cached_property
    def area_m2(self) -> float:
        """Area of all triangles, both sides counted once [m^2]."""
        return float(self._areas.sum())

    @cached_property
    def _areas(self) -> np.ndarray:
        a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
        return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2.0

    def sample_area_m2(self, spacing_m: float) -> float:
        """Return the area that one sample represents [m^2]; more than spacing^2 when capped."""
        area = self.area_m2
        return area / _sample_count(area, spacing_m)

    def samples(self, spacing_m: float) -> np.ndarray:
        """Return points (n, 3) spread evenly over the area: one per square of edge `spacing_m`.

        Every sample represents the same area, whatever the triangles. Samples follow in equal steps
        of area, and their positions in the triangles come from the R2 sequence: no random numbers,
        and less variance than those. Those of the last spacing are cached: change a copy.
        """
        if self._sampled is None or self._sampled[0] != spacing_m:
            self._sampled = spacing_m, self._spread(spacing_m)
        return self._sampled[1]

    def _spread(self, spacing_m: float) -> np.ndarray:
        ends = np.cumsum(self._areas)
        n = _sample_count(ends[-1], spacing_m)
        step = np.arange(n)
        which = np.searchsorted(ends, (step + 0.5) / n * ends[-1], side="right")
        which = np.minimum(which, len(self.triangles) - 1)
        u, v = ((step[:, None] + 1) * _R2 % 1.0).T
        outside = u + v > 1.0
        u, v = np.where(outside, 1.0 - u, u), np.where(outside, 1.0 - v, v)
        a, b, c = (self.vertices[self.triangles[which, k]] for k in range(3))
        return a + u[:, None] * (b - a) + v[:, None] * (c - a)

    def visible(
        self, points_map: np.ndarray, p_map_eye: np.ndarray, tolerance_m: float
    ) -> np.ndarray:
        """Return which points (n, 3) are not occluded from an eye (3,), up to the tolerance."""
        ways = points_map - p_map_eye
        reach = np.linalg.norm(ways, axis=1)
        directions = ways / np.maximum(reach, 1e-9)[:, None]
        origin = np.broadcast_to(p_map_eye - self._centre, directions.shape)
        query = np.hstack([origin, directions]).astype(np.float32)
        hit = self._scene.cast_rays(self._tensor(query))["t_hit"].numpy()
        return hit >= reach - tolerance_m

    def seen_from(
        self,
        T_map_optical: np.ndarray,
        camera: CameraModel,
        *,
        max_range_m: float = 60.0,
        spacing_m: float = 0.25,
    ) -> np.ndarray:
        """Return the samples (n, 3) of the surface that a camera saw from true poses.

        `T_map_optical` (k, 4, 4) are poses of the optical axes. Surface farther than max_range_m
        does not count as seen; samples are spacing_m apart [m].
        """
        return visible_samples(
            self,
            self.samples(spacing_m),
            T_map_optical,
            CameraFieldOfView(camera),
            max_range_m=max_range_m,
        )


def _sample_count(area_m2: float, spacing_m: float) -> int:
    return int(np.clip(area_m2 / spacing_m**2, 1, MAX_SAMPLES))


def one_per_voxel(points: np.ndarray, voxel_m: float) -> np.ndarray:
    """Return one of the points, not their mean, per voxel: it still lies on the surface."""
    if len(points) == 0:
        return points
    return points[np.sort(np.unique(voxel_keys(points, voxel_m), return_index=True)[1])]


def align_to_surface(
    points_map: np.ndarray,
    surface: SurfaceReference,
    *,
    radius_m: float,
    with_scale: bool = False,
    S_initial: np.ndarray | None = None,
    n_iterations: int = 20,
) -> tuple[np.ndarray, tuple[OpenDirection, ...]]:
    """Move points onto the surface, point to plane.

    `points_map` (n, 3) are near the surface already, those farther than `radius_m` from it are
    ignored [m]. `S_initial` is the start (default: identity), `n_iterations` the limit of
    Gauss-Newton steps; small steps end it earlier. Returns S_map_points (4, 4) and the directions
    that the surface does not constrain, left unchanged (minimum-norm step).
    """
    open_directions: tuple[OpenDirection, ...] = ()
    step = max(1, len(points_map) // _MAX_ALIGNED_POINTS)
    points = points_map[::step]
    S = np.eye(4) if S_initial is None else S_initial.copy()
    for iteration in range(n_iterations):
        moved = transform_points(S, points)
        nearest, distance = surface.nearest(moved)
        used = (distance < radius_m) & (distance > 1e-9)
        if np.count_nonzero(used) < 6:
            break
        normals = (moved[used] - nearest[used]) / distance[used, None]
        centre = moved[used].mean(axis=0)
        arms = moved[used] - centre
        # Turns and scale move points by their arm: in metres all unknowns compare.
        arm = max(rms_length(arms), 1e-12)
        columns = [normals, np.cross(arms, normals) / arm]
        if with_scale:
            columns.append(np.einsum("ij,ij->i", arms, normals)[:, None] / arm)
        found, left = _least_step(np.hstack(columns), -distance[used])
        if iteration == 0:  # in later iterations, directions to the surface may be due to rounding
            open_directions = left
        update = np.zeros(7)
        update[: len(found)] = found
        update[3:] /= arm
        S = step_about(centre, update) @ S
        if np.abs(update).max() < SMALLEST_STEP:
            break
    return S, open_directions


def _least_step(rows: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, tuple[OpenDirection, ...]]:
    """Return the minimum-norm least-squares solution (k,), and the directions it leaves open."""
    U, values, Vt = np.linalg.svd(rows, full_matrices=False)
    is_open = values <= _OPEN * values[0]
    inverse = np.where(is_open, 0.0, 1.0 / np.maximum(values, 1e-300))
    left = tuple(
        OpenDirection(
            translation=v[:3],
            rotation=v[3:6],
            growth=float(np.sum(v[6:])),
            information=float(value**2 / len(rows)),
        )
        for v, value in zip(Vt[is_open], values[is_open])
    )
    return Vt.T @ (inverse * (U.T @ b)), left
