# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Small route graphs that tests share."""

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import make_transform, transform_points
from aerotwin_teach_repeat.route_graph import (
    Edge,
    MemorySubmaps,
    RouteGraph,
    Submap,
    Vertex,
    relative_pose,
)

ROUNDING = 1e-12
"""Of a few products of matrices with entries up to 100."""
COMPACT_M, COMPACT_NORMAL = 0.5 / 512.0 + 1e-6, 0.006
"""Half a step of a compact submap in each axis; 1/254 in each component of a normal."""
WALL = np.array([[5.0, y, z] for y in np.arange(-5.0, 5.0, 0.5) for z in np.arange(0.0, 3.0, 0.5)])


def planar(x: float, y: float, yaw: float = 0.0) -> np.ndarray:
    return make_transform(Rotation.from_euler("z", yaw).as_matrix(), [x, y, 0.0])


def submap_of(vertex_id: int, T_map_vertex: np.ndarray, points_map: np.ndarray = WALL) -> Submap:
    points = transform_points(np.linalg.inv(T_map_vertex), points_map)
    normals = np.tile(T_map_vertex[:3, :3].T @ [1.0, 0.0, 0.0], (len(points), 1))
    return Submap(vertex_id=vertex_id, points=points, normals=normals)


def graph_of(poses, *, every: int = 3, first_id: int = 0) -> RouteGraph:
    """A path with a submap at every third vertex."""
    vertices, edges, submaps = [], [], []
    for k, T in enumerate(poses):
        holder = k - k % every
        T_submap_vertex = relative_pose(poses[holder], T)
        vertices.append(
            Vertex(
                id=first_id + k,
                stamp_ns=k * 300_000_000,
                T_map_vertex=T,
                submap_id=first_id + holder,
                T_submap_vertex=T_submap_vertex,
            )
        )
        if k == holder:
            submaps.append(submap_of(first_id + k, T))
        if k:
            T_from_to = relative_pose(poses[k - 1], T)
            edges.append(
                Edge(
                    from_id=first_id + k - 1,
                    to_id=first_id + k,
                    T_from_to=T_from_to,
                    kind="temporal",
                )
            )
    return RouteGraph(vertices, edges, MemorySubmaps(submaps))


def straight(n: int = 10, x: float = 0.0, y: float = 0.0, yaw: float = 0.0) -> list[np.ndarray]:
    c, s = np.cos(yaw), np.sin(yaw)
    return [planar(x + 0.5 * k * c, y + 0.5 * k * s, yaw) for k in range(n)]


def same(first: RouteGraph, second: RouteGraph) -> bool:
    return (
        first.ids == second.ids
        and np.allclose(first.poses_map(), second.poses_map(), rtol=0, atol=ROUNDING)
        and [(e.from_id, e.to_id, e.kind) for e in first.edges]
        == [(e.from_id, e.to_id, e.kind) for e in second.edges]
        and all(
            np.allclose(first.submap(i).points, second.submap(i).points, rtol=0, atol=COMPACT_M)
            and np.allclose(
                first.submap(i).normals, second.submap(i).normals, rtol=0, atol=COMPACT_NORMAL
            )
            for i in first.ids
        )
    )
