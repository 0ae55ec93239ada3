# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clusters: the triangles of a mesh in small boxes, so that a view reads only what it sees."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_meshes.mesh import TexturedMesh
from aerotwin_rendering.rasteriser.memory import with_spare

CLUSTER_TRIANGLES = 256
CLUSTER_VERTICES = 3 * CLUSTER_TRIANGLES


class Clusters(NamedTuple):
    """Triangles grouped by position; each group has its own consecutive copy of its vertices.

    A tuple, not a dataclass, because compiled kernels take it as one argument.

    Attributes
    ----------
    xyz_map : (3 n,) float64 array
        Cluster ``c`` of ``m`` vertices stores m times x, m times y, m times z from
        ``3 vertex_start[c]`` on: the compiler transforms several vertices at a time.
    uv, light : (n, 2) and (n,) float32 arrays
    corners : (3 t,) uint16 array
        Vertex indices, counted from the first vertex of the cluster: for a cluster of ``m``
        triangles m times the first corner, m times the second, m times the third, from
        ``3 triangle_start[c]`` on. Kernels read up to `SPARE` elements behind them.
    vertex_start, triangle_start : (c + 1,) int64 arrays
        Cluster ``c`` owns the vertices and triangles from start ``c`` to start ``c + 1``.
    box_low, box_high : (c, 3) float64 arrays
    mesh : (c,) int32 array
        Index of the mesh.
    """

    xyz_map: np.ndarray
    uv: np.ndarray
    light: np.ndarray
    corners: np.ndarray
    vertex_start: np.ndarray
    triangle_start: np.ndarray
    box_low: np.ndarray
    box_high: np.ndarray
    mesh: np.ndarray


def build_clusters(mesh: TexturedMesh) -> Clusters:
    """Sort the triangles of a mesh along a Morton curve and cut it into clusters."""
    order = np.argsort(_morton_codes(mesh), kind="stable")
    source, local, vertex_start = _localise(mesh.triangles[order], len(mesh.vertices_map))
    triangle_start = np.append(np.arange(0, len(local), CLUSTER_TRIANGLES), len(local))
    vertices = mesh.vertices_map[source]
    return Clusters(
        xyz_map=_by_component(vertices, vertex_start),
        uv=mesh.uv[source],
        light=np.ones(len(source), np.float32) if mesh.light is None else mesh.light[source],
        corners=_by_component(local, triangle_start),
        vertex_start=vertex_start,
        triangle_start=triangle_start,
        box_low=np.minimum.reduceat(vertices, vertex_start[:-1], axis=0),
        box_high=np.maximum.reduceat(vertices, vertex_start[:-1], axis=0),
        mesh=np.zeros(len(vertex_start) - 1, np.int32),
    )


def join_clusters(parts: Sequence[Clusters]) -> Clusters:
    """Return the clusters of several meshes as one; mesh ``i`` is that of part ``i``."""
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("xyz_map", "uv", "light", "corners", "box_low", "box_high")
    }
    for name in ("vertex_start", "triangle_start"):
        starts = [getattr(part, name) for part in parts]
        first = np.cumsum([0] + [start[-1] for start in starts])
        moved = [start[:-1] + n for start, n in zip(starts, first[:-1], strict=True)]
        joined[name] = np.append(np.concatenate(moved), first[-1])
    joined["corners"] = with_spare(joined["corners"])
    mesh = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part.mesh) for part in parts])
    return Clusters(**joined, mesh=mesh)


def vertices_of(clusters: Clusters) -> np.ndarray:
    """Return the vertices (n, 3) in the order of ``uv``."""
    return _by_row(clusters.xyz_map, clusters.vertex_start)


def triangles_of(clusters: Clusters) -> np.ndarray:
    """Return the triangles (t, 3); indices count from the first of all vertices."""
    first = np.repeat(clusters.vertex_start[:-1], np.diff(clusters.triangle_start))
    return _by_row(clusters.corners, clusters.triangle_start) + first[:, None]


def _by_row(blocks: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return the rows of three numbers that the clusters store component by component."""
    n = np.diff(start)
    first, count = np.repeat(start[:-1], n), np.repeat(n, n)
    x = 2 * first + np.arange(len(first))
    return blocks[np.stack([x, x + count, x + 2 * count], axis=1)]


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
    """Insert two zero bits between the lowest ten bits of each number."""
    for shift, mask in ((16, 0x30000FF), (8, 0x300F00F), (4, 0x30C30C3), (2, 0x9249249)):
        x = (x | (x << np.uint64(shift))) & np.uint64(mask)
    return x


@njit(nogil=True, cache=True)
def _localise(triangles, n_vertices):
    """Give each cluster a copy of its vertices: source vertex per copy, local indices, starts."""
    n = len(triangles)
    n_clusters = (n + CLUSTER_TRIANGLES - 1) // CLUSTER_TRIANGLES
    owner = np.full(n_vertices, -1, np.int32)
    local_of = np.zeros(n_vertices, np.uint16)
    source = np.empty(3 * n, np.int32)
    local = np.empty((n, 3), np.uint16)
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


@njit(nogil=True, cache=True)
def _by_component(rows, start):
    """Store each cluster's first numbers of its rows of three, then the second, then the third."""
    out = np.empty(3 * len(rows), rows.dtype)
    for c in range(len(start) - 1):
        first, n = start[c], start[c + 1] - start[c]
        for i in range(n):
            for k in range(3):
                out[3 * first + k * n + i] = rows[first + i, k]
    return out
