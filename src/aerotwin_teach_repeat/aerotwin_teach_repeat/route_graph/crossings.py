# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Spatial edges: where a path meets itself or another one, by distance and by overlap."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from aerotwin_core.frames import FloatArray, transform_points
from aerotwin_core.parameters import parameter
from aerotwin_teach_repeat.route_graph.graph import RouteGraph
from aerotwin_teach_repeat.route_graph.types import Edge, relative_pose


@dataclass(frozen=True, kw_only=True)
class CrossingProtocol:
    """When two vertices of taught paths count as the same location, at any angle between them."""

    distance_m: float = parameter(
        3.0, text="Vertices farther apart are not joined.", unit="m", minimum=0.1, maximum=50.0
    )
    along_m: float = parameter(
        15.0, text="Nearer along one path is no crossing.", unit="m", minimum=1.0, maximum=1000.0
    )
    apart_m: float = parameter(
        10.0, text="Spacing of edges of parallel paths.", unit="m", minimum=0.1, maximum=1000.0
    )
    min_overlap: float = parameter(
        0.4, text="Share of the smaller submap that both show.", minimum=0.0, maximum=1.0
    )
    overlap_cell_m: float = parameter(
        1.0, text="Edge of the cells that are compared.", unit="m", minimum=0.1, maximum=10.0
    )


def find_crossings(graph: RouteGraph, protocol: CrossingProtocol | None = None) -> tuple[Edge, ...]:
    """Return the spatial edges that a graph lacks: closed loops, crossings, parallel paths.

    The nearest pairs come first. T_from_to is that of the vertices' poses: with those of a driven
    teach it carries the drift between the two passes, which aligning the submaps can remove.
    """
    protocol = CrossingProtocol() if protocol is None else protocol
    runs, along_m = _along(graph)
    ids, poses = np.array(graph.ids), graph.poses_map()
    places = {vertex_id: k for k, vertex_id in enumerate(graph.ids)}
    joined = [(places[e.from_id], places[e.to_id]) for e in graph.edges if e.kind == "spatial"]
    found = []
    for i, j in _candidates(poses[:, :3, 3], runs, along_m, protocol):
        is_known = any(
            _is_near(i, a, runs, along_m, protocol.apart_m)
            and _is_near(j, b, runs, along_m, protocol.apart_m)
            for pair in joined
            for a, b in (pair, pair[::-1])
        )
        if is_known or _overlap_of(graph, ids[i], ids[j], protocol) < protocol.min_overlap:
            continue
        joined.append((i, j))
        T_from_to = relative_pose(poses[i], poses[j])
        edge = Edge(from_id=int(ids[i]), to_id=int(ids[j]), T_from_to=T_from_to, kind="spatial")
        found.append(edge)
    return tuple(found)


def submap_overlap(
    points_a: np.ndarray, points_b: np.ndarray, T_a_b: FloatArray, cell_m: float
) -> float:
    """Return the fraction of the smaller cloud's cells that both (n, 3), (m, 3) occupy.

    Each cloud is in its own frame, `cell_m` is a cell's edge [m].
    """
    cells_a = _cells(points_a, cell_m)
    cells_b = _cells(transform_points(T_a_b, points_b), cell_m)
    return len(cells_a & cells_b) / max(min(len(cells_a), len(cells_b)), 1)


def _overlap_of(graph: RouteGraph, id_a: int, id_b: int, protocol: CrossingProtocol) -> float:
    a, b = graph.vertex(int(id_a)), graph.vertex(int(id_b))
    if a.submap_id == b.submap_id:
        return 1.0
    T_map_a = graph.vertex(a.submap_id).T_map_vertex
    T_map_b = graph.vertex(b.submap_id).T_map_vertex
    clouds = graph.submap(a.id).points, graph.submap(b.id).points
    return submap_overlap(*clouds, relative_pose(T_map_a, T_map_b), protocol.overlap_cell_m)


def _along(graph: RouteGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return the index of each vertex's run, and its distance along that run [m]."""
    places = {vertex_id: k for k, vertex_id in enumerate(graph.ids)}
    runs, along_m = np.zeros(len(graph), dtype=np.int64), np.zeros(len(graph))
    for number, run in enumerate(graph.runs):
        where = [places[vertex_id] for vertex_id in run]
        steps = np.linalg.norm(np.diff(graph.poses_map(run)[:, :3, 3], axis=0), axis=1)
        runs[where], along_m[where] = number, np.append(0.0, np.cumsum(steps))
    return runs, along_m


def _candidates(
    positions: np.ndarray, runs: np.ndarray, along_m: np.ndarray, protocol: CrossingProtocol
) -> Iterator[tuple[int, int]]:
    """Yield pairs of vertices near in space but not along one path, the nearest first."""
    pairs = cKDTree(positions).query_pairs(protocol.distance_m, output_type="ndarray")
    i, j = pairs.T
    is_apart = (runs[i] != runs[j]) | (np.abs(along_m[i] - along_m[j]) > protocol.along_m)
    i, j = i[is_apart], j[is_apart]
    gaps = np.linalg.norm(positions[i] - positions[j], axis=1)
    for k in np.lexsort((j, i, gaps)):
        yield int(i[k]), int(j[k])


def _is_near(i: int, a: int, runs: np.ndarray, along_m: np.ndarray, apart_m: float) -> bool:
    return bool(runs[i] == runs[a] and abs(along_m[i] - along_m[a]) < apart_m)


def _cells(points: np.ndarray, cell_m: float) -> set[tuple[int, ...]]:
    index = np.unique(np.floor(np.asarray(points, dtype=np.float64) / cell_m), axis=0)
    return set(map(tuple, index.astype(np.int64).tolist()))
