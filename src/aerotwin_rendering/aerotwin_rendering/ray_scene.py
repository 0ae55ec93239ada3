# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The ray tracing scene of a world: Embree, through Open3D, with one geometry for each mesh."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import float32, int64, uint8, uint32, void

from aerotwin_core.kernel_cache import njit
from aerotwin_meshes.mesh import TexturedMesh

NOTHING = -1
"""Mesh and triangle of a ray that hits none."""
_FEW = 512
"""Rays up to which one thread is quicker than waking others."""
DARKEST = 0.1
"""No surface is darker: the dark target of lidar data sheets, a choice of this project. Few
surfaces out of doors are darker in the near infrared, and shadows in a texture are not."""
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
"""Of linear red, green and blue (Rec. ITU-R BT.709)."""
_SAMPLES = np.array([[4, 1, 1], [1, 4, 1], [1, 1, 4], [2, 2, 2]]) / 6.0
"""Barycentric places that are looked at: the middle, and half-way from there to each corner."""
_CHUNK = 1 << 18


@njit(
    void(float32[::1], uint32[::1], uint32[::1], int64[::1], uint8[::1], float32[::1]),
    cache=True,
    nogil=True,
)
def _look_up(distance, mesh, triangle, starts, reflectivity, out):
    """Write the reflectivity of the triangle that each ray hit, 0 for nothing."""
    for i in range(len(out)):
        hit = distance[i] < np.inf
        out[i] = reflectivity[starts[mesh[i]] + triangle[i]] / float32(255.0) if hit else 0.0


@dataclass(frozen=True, kw_only=True)
class SurfaceHits:
    """Hits of rays, or surface points nearest to points.

    ``distance_m`` (n,) float64 is along the ray, or to the nearest surface; infinity where nothing
    is hit. ``normal_map`` (n, 3) float64 is the triangle's unit normal on the side of the origin,
    or zero; ``mesh`` and ``triangle`` (n,) int64 are indices in the world and in the mesh, or -1.
    """

    distance_m: np.ndarray
    normal_map: np.ndarray
    mesh: np.ndarray
    triangle: np.ndarray

    def part(self, begin: int, end: int) -> "SurfaceHits":
        """Return those from one index to before another, as views."""
        k = slice(begin, end)
        return SurfaceHits(
            distance_m=self.distance_m[k],
            normal_map=self.normal_map[k],
            mesh=self.mesh[k],
            triangle=self.triangle[k],
        )


class RayScene:
    """Meshes prepared for rays; single precision in map, about 1e-7 of the coordinates.

    Building takes about 0.7 s and 70 MB for a million triangles, at the first query. Both sides of
    a triangle can be hit.
    """

    def __init__(self, meshes: Sequence[TexturedMesh]) -> None:
        self._meshes = tuple(meshes)

    def cast(self, rays: np.ndarray) -> SurfaceHits:
        """Return the first hits of rays (n, 6) float32; distances in lengths of the direction."""
        found = self._cast(rays)
        distance = found["t_hit"].numpy().astype(np.float64)
        normal = found["primitive_normals"].numpy().astype(np.float64)
        behind = np.einsum("ij,ij->i", normal, rays[:, 3:]) > 0.0
        normal[behind] *= -1.0
        return _hits(distance, normal, found)

    def nearest(self, points: np.ndarray) -> tuple[np.ndarray, SurfaceHits]:
        """Return the nearest surface points (n, 3) of points (n, 3) float32, and their surface."""
        found = self._scene.compute_closest_points(_tensor(points), nthreads=_n_threads(points))
        nearest = found["points"].numpy().astype(np.float64)
        away = points.astype(np.float64) - nearest
        normal = found["primitive_normals"].numpy().astype(np.float64)
        normal[np.einsum("ij,ij->i", normal, away) < 0.0] *= -1.0
        return nearest, _hits(np.linalg.norm(away, axis=1), normal, found)

    def distance(self, points: np.ndarray) -> np.ndarray:
        """Return the distance of points (n, 3) float32 to the nearest surface, (n,) [m]."""
        distances = self._scene.compute_distance(_tensor(points), nthreads=_n_threads(points))
        return distances.numpy().astype(np.float64)

    def beams(self, rays: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return distance, unit normal and reflectivity at the hits of rays (n, 6) float32.

        For lidars, as Embree returns them and without a copy: distances (n,) float32 [m] are
        infinite and normals (n, 3) float32 zero where nothing is hit, and normals point to either
        side.
        """
        found = self._cast(rays)
        distance = found["t_hit"].numpy()
        starts, levels = self._reflectivity
        share = np.empty(len(rays), np.float32)
        ids = (found["geometry_ids"].numpy(), found["primitive_ids"].numpy())
        _look_up(distance, *ids, starts, levels, share)
        return distance, found["primitive_normals"].numpy(), share

    def _cast(self, rays: np.ndarray) -> dict:
        return self._scene.cast_rays(_tensor(rays), nthreads=_n_threads(rays))

    @cached_property
    def _scene(self):
        import open3d as o3d

        scene = o3d.t.geometry.RaycastingScene()
        for mesh in self._meshes:
            scene.add_triangles(
                mesh.vertices_map.astype(np.float32), mesh.triangles.astype(np.uint32)
            )
        return scene

    @cached_property
    def _reflectivity(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the first triangle of each mesh, and the reflectivities of all triangles."""
        levels = [triangle_reflectivity(mesh) for mesh in self._meshes]
        starts = np.cumsum([0, *(len(part) for part in levels)])[:-1]
        return starts.astype(np.int64), np.concatenate(levels)


def _tensor(array: np.ndarray):
    import open3d as o3d

    return o3d.core.Tensor.from_numpy(array)


def _n_threads(rows: np.ndarray) -> int:
    return 1 if len(rows) <= _FEW else 0


def _hits(distance: np.ndarray, normal: np.ndarray, found: dict) -> SurfaceHits:
    is_hit = np.isfinite(distance)
    return SurfaceHits(
        distance_m=distance,
        normal_map=normal,
        mesh=np.where(is_hit, found["geometry_ids"].numpy().astype(np.int64), NOTHING),
        triangle=np.where(is_hit, found["primitive_ids"].numpy().astype(np.int64), NOTHING),
    )


def triangle_reflectivity(mesh: TexturedMesh) -> np.ndarray:
    """Return the reflectivity of every triangle, (m,) uint8 in units of 1/255.

    The mean of the linear luminance at four points of the triangle. Visible light is used for the
    laser's near infrared, where leaves are four times as bright. A triangle has one value, so that
    a hit costs one byte of memory traffic: patterns on a large triangle are lost.
    """
    level = np.arange(256) / 255.0
    # The linear value of each sRGB level (IEC 61966-2-1).
    linear = np.where(level <= 0.04045, level / 12.92, ((level + 0.055) / 1.055) ** 2.4)
    out = np.empty(len(mesh.triangles), np.uint8)
    for start in range(0, len(out), _CHUNK):
        part = slice(start, start + _CHUNK)
        uv = mesh.uv[mesh.triangles[part]]
        total = np.zeros(len(uv))
        for weights in _SAMPLES:
            texel = _texels(mesh, np.einsum("k,nkc->nc", weights, uv))
            total += linear[texel] @ _LUMINANCE
        share = np.clip(total / len(_SAMPLES), DARKEST, 1.0)
        out[part] = np.rint(255.0 * share)
    return out


def _texels(mesh: TexturedMesh, uv: np.ndarray) -> np.ndarray:
    height, width = mesh.texture.shape[:2]
    place = np.floor(uv * (width, height)).astype(np.int64)
    if mesh.repeats:
        place %= (width, height)
    np.clip(place, 0, (width - 1, height - 1), out=place)
    return mesh.texture[place[:, 1], place[:, 0]]
