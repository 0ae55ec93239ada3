# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clusters: the triangles of all meshes in small boxes, so that a view touches what it sees."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from aerotwin_worlds.mesh import TexturedMesh

CLUSTER_TRIANGLES = 256


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """Triangles grouped by place; each group has its own consecutive copy of its vertices.

    Cluster ``c`` owns the vertices ``vertex_start[c]:vertex_start[c + 1]`` and the triangles
    ``triangle_start[c]:triangle_start[c + 1]``, whose indices count from its first vertex.
    """

    vertices_map: np.ndarray
    uv: np.ndarray
    triangles: np.ndarray
    vertex_start: np.ndarray
    triangle_start: np.ndarray
    box_low: np.ndarray
    box_high: np.ndarray
    texture_index: np.ndarray

    def __len__(self) -> int:
        return len(self.texture_index)


def build_clusters(meshes: Sequence[TexturedMesh]) -> Clusters:
    """Sort the triangles of each mesh along a Morton curve and cut it into clusters."""
    parts = [_cluster_one(mesh) for mesh in meshes]
    n_vertices = np.cumsum([0] + [len(part[0]) for part in parts])
    n_triangles = np.cumsum([0] + [len(part[2]) for part in parts])
    vertex_start = np.concatenate([p[3][:-1] + n for p, n in zip(parts, n_vertices, strict=False)])
    triangle_start = np.concatenate(
        [p[4][:-1] + n for p, n in zip(parts, n_triangles, strict=False)]
    )
    vertices = np.concatenate([part[0] for part in parts])
    return Clusters(
        vertices_map=vertices,
        uv=np.concatenate([part[1] for part in parts]),
        triangles=np.concatenate([part[2] for part in parts]),
        vertex_start=np.append(vertex_start, n_vertices[-1]),
        triangle_start=np.append(triangle_start, n_triangles[-1]),
        box_low=np.minimum.reduceat(vertices, vertex_start, axis=0),
        box_high=np.maximum.reduceat(vertices, vertex_start, axis=0),
        texture_index=np.repeat(
            np.arange(len(parts), dtype=np.int32), [len(part[3]) - 1 for part in parts]
        ),
    )


def _cluster_one(mesh: TexturedMesh) -> tuple[np.ndarray, ...]:
    order = np.argsort(_morton_codes(mesh), kind="stable")
    sorted_triangles = np.ascontiguousarray(mesh.triangles[order])
    source, local, vertex_start = _localise(sorted_triangles, len(mesh.vertices_map))
    n = len(sorted_triangles)
    triangle_start = np.append(np.arange(0, n, CLUSTER_TRIANGLES), n).astype(np.int64)
    return mesh.vertices_map[source], mesh.uv[source], local, vertex_start, triangle_start


def _morton_codes(mesh: TexturedMesh) -> np.ndarray:
    """Interleave the bits of each triangle's centre on a 1024^3 grid of cubes over the mesh."""
    low, high = mesh.bounds_m
    scale = 1023.0 / max(float((high - low).max()), 1e-9)
    codes = np.zeros(len(mesh.triangles), np.uint64)
    for axis in range(3):
        coordinate = mesh.vertices_map[:, axis][mesh.triangles].mean(axis=1)
        codes |= _spread_bits(((coordinate - low[axis]) * scale).astype(np.uint64)) << np.uint64(
            axis
        )
    return codes


def _spread_bits(x: np.ndarray) -> np.ndarray:
    """Put two zero bits between the lowest ten bits of each number."""
    for shift, mask in ((16, 0x30000FF), (8, 0x300F00F), (4, 0x30C30C3), (2, 0x9249249)):
        x = (x | (x << np.uint64(shift))) & np.uint64(mask)
    return x


@njit(cache=True)
def _localise(triangles, n_vertices):
    """Give each cluster a copy of its vertices: source vertex per copy, local indices, starts."""
    n = len(triangles)
    n_clusters = (n + CLUSTER_TRIANGLES - 1) // CLUSTER_TRIANGLES
    owner = np.full(n_vertices, -1, np.int32)
    local_of = np.zeros(n_vertices, np.int32)
    source = np.empty(3 * n, np.int32)
    local = np.empty((n, 3), np.int32)
    vertex_start = np.zeros(n_clusters + 1, np.int64)
    count = 0
    for c in range(n_clusters):
        first = count
        for t in range(c * CLUSTER_TRIANGLES, min(n, (c + 1) * CLUSTER_TRIANGLES)):
            for k in range(3):
                v = triangles[t, k]
                if owner[v] != c:
                    owner[v] = c
                    local_of[v] = count - first
                    source[count] = v
                    count += 1
                local[t, k] = local_of[v]
        vertex_start[c + 1] = count
    return source[:count].copy(), local, vertex_start
