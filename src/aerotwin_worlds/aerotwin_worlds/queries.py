# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Questions about a world's surface: height, ground under a vehicle, distance, rays, collisions."""

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_worlds import columns
from aerotwin_worlds.world import World

GROUND_MARGIN_M = 0.5
FOOT_M = 0.2
"""Half the span of an iris' landing gear."""


class WorldQueries:
    """Answers about the surface of a world; all points in the map frame [m].

    Heights and the ground plane are exact on the triangles, from a grid of vertical columns
    (a few microseconds a call). Rays and distances use Embree in single precision: about 1e-6 of
    the world's size; its scene is built at the first such question.
    """

    def __init__(self, world: World) -> None:
        self._vertices, self._triangles = world.surface()
        low, high = world.bounds_m
        extent = high[:2] - low[:2]
        cell = float(np.clip(math.sqrt(extent.prod() / len(self._triangles)) * 2.0, 0.2, 5.0))
        nx, ny = (int(n) for n in np.floor(extent / cell) + 1)
        start, index = columns.build_columns(
            self._vertices, self._triangles, low[0], low[1], cell, nx, ny
        )
        grid = np.array([low[0], low[1], cell, nx, ny])
        self._columns = (self._vertices, self._triangles, start, index, grid)

    def height(self, x: ArrayLike, y: ArrayLike) -> np.ndarray | float:
        """Return the height of the highest surface at x, y [m]; minus infinity beside the world."""
        x, y = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        points = np.column_stack([x.ravel(), y.ravel()])
        z = columns.heights(points, np.inf, *self._columns).reshape(x.shape)
        return float(z) if z.ndim == 0 else z

    def ground_plane(self, p_map: Sequence[float] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return point and unit normal of the ground below a position.

        The highest surface that is at most 0.5 m above the position counts (so a vehicle that
        presses into the ground still finds it, and one under an overhang finds its floor). The
        normal spans 0.4 m. Beside the world there is no ground: height minus infinity, normal up.
        """
        x, y, z = float(p_map[0]), float(p_map[1]), float(p_map[2])
        ground, *normal = columns.plane_below(x, y, z + GROUND_MARGIN_M, FOOT_M, *self._columns)
        return np.array([x, y, ground]), np.array(normal)

    def distance(self, points: ArrayLike) -> np.ndarray:
        """Return the distance of points (n, 3) to the nearest surface, (n,) [m]."""
        points = _points("points", points)
        return self._scene.compute_distance(points.astype(np.float32)).numpy().astype(np.float64)

    def cast(self, origins: ArrayLike, directions: ArrayLike) -> np.ndarray:
        """Return the distance (n,) [m] along rays to the surface; infinity where nothing is hit.

        Parameters
        ----------
        origins, directions : (n, 3) arrays
            Directions need not have unit length, distances are metres all the same.
        """
        origins, directions = _points("origins", origins), _points("directions", directions)
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        if (lengths == 0.0).any():
            raise ValueError("directions must not be zero")
        rays = np.concatenate([np.broadcast_to(origins, directions.shape), directions / lengths], 1)
        hits = self._scene.cast_rays(rays.astype(np.float32))["t_hit"]
        return hits.numpy().astype(np.float64)

    def segment_hits(self, p0_map: ArrayLike, p1_map: ArrayLike) -> bool:
        """Return whether the straight way from one point to another meets a surface."""
        p0, p1 = np.asarray(p0_map, np.float64), np.asarray(p1_map, np.float64)
        length = float(np.linalg.norm(p1 - p0))
        return length > 0.0 and bool(self.cast(p0[None], (p1 - p0)[None])[0] <= length)

    def warm_up(self) -> None:
        """Compile the kernels and build the ray tracing scene now."""
        middle = self._vertices[0]
        self.height(middle[0], middle[1])
        self.ground_plane(middle)
        self.distance(middle[None])

    @cached_property
    def _scene(self):
        import open3d as o3d

        scene = o3d.t.geometry.RaycastingScene()
        scene.add_triangles(self._vertices.astype(np.float32), self._triangles.astype(np.uint32))
        return scene


def _points(name: str, points: ArrayLike) -> np.ndarray:
    points = np.asarray(points, np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise ValueError(f"{name} must be a finite (n, 3) array, got shape {points.shape}")
    return points
