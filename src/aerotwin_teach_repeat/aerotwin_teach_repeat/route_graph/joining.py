# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Joined graphs: two merged, one extended at its end, one branching off."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_teach_repeat.route_graph.crossings import CrossingProtocol, find_crossings
from aerotwin_teach_repeat.route_graph.graph import RouteGraph
from aerotwin_teach_repeat.route_graph.types import (
    Edge,
    EdgeKind,
    RouteGraphError,
    Submap,
    SubmapSource,
    relative_pose,
    rigid,
)

MAX_GAP_M = 5.0
"""Beyond this no path was driven that a robot could follow between the two."""


def with_edges(graph: RouteGraph, edges: Iterable[Edge]) -> RouteGraph:
    """Return a graph with more edges."""
    return RouteGraph(
        graph.vertices,
        (*graph.edges, *edges),
        graph.submaps,
        frame=graph.frame,
        about=graph.about,
        problems=graph.problems,
    )


def merge(
    first: RouteGraph,
    second: RouteGraph,
    *,
    T_first_second: FloatArray | None = None,
    protocol: CrossingProtocol | None = None,
) -> RouteGraph:
    """Return both graphs as one, joined by spatial edges wherever they meet.

    The second's vertices get new ids above those of the first. `T_first_second` (4, 4) is the frame
    of the second in that of the first, by default identity; `protocol` sets the criteria for
    meeting. `RouteGraphError` if they meet nowhere: no robot could go from one to the other.
    """
    both = _side_by_side(first, second, T_first_second)
    new_ids = set(both.ids[len(first) :])
    found = [
        edge
        for edge in find_crossings(both, protocol)
        if (edge.from_id in new_ids) != (edge.to_id in new_ids)
    ]
    if not found:
        gap = _nearest_gap_m(both, len(first))
        raise RouteGraphError(
            f"the two graphs meet nowhere: their nearest vertices are {gap:.3g} m apart; teach "
            "what lies between, allow more (distance_m, min_overlap), or give T_first_second if "
            "their frames differ"
        )
    return with_edges(both, found)


def extend(
    first: RouteGraph, second: RouteGraph, *, T_first_second: FloatArray | None = None
) -> RouteGraph:
    """Return the first graph, its path continued by that of the second.

    A temporal edge leads from the end of the first's last run to the start of the second's first;
    `RouteGraphError` if they are farther apart than `MAX_GAP_M`.
    """
    return _linked(first, second, first.runs[-1][-1], "temporal", T_first_second)


def branch(
    first: RouteGraph, second: RouteGraph, at_id: int, *, T_first_second: FloatArray | None = None
) -> RouteGraph:
    """Return the first graph with the second branching off at one of its vertices.

    A spatial edge leads from that vertex to the start of the second's first run;
    `RouteGraphError` if there is no such vertex, or they are farther apart than `MAX_GAP_M`.
    """
    first.vertex(at_id)
    return _linked(first, second, at_id, "spatial", T_first_second)


def _linked(
    first: RouteGraph,
    second: RouteGraph,
    at_id: int,
    kind: EdgeKind,
    T_first_second: FloatArray | None,
) -> RouteGraph:
    both = _side_by_side(first, second, T_first_second)
    shift = max(first.ids) + 1
    start_id = second.runs[0][0] + shift
    T_from_to = relative_pose(both.vertex(at_id).T_map_vertex, both.vertex(start_id).T_map_vertex)
    gap = float(np.linalg.norm(T_from_to[:3, 3]))
    if gap > MAX_GAP_M:
        raise RouteGraphError(
            f"vertex {at_id} and the start of the second graph are {gap:.3g} m apart, at most "
            f"{MAX_GAP_M:g} m can be joined; teach what lies between, or give T_first_second if "
            "their frames differ"
        )
    return with_edges(both, [Edge(from_id=at_id, to_id=start_id, T_from_to=T_from_to, kind=kind)])


def _side_by_side(
    first: RouteGraph, second: RouteGraph, T_first_second: FloatArray | None
) -> RouteGraph:
    T = np.eye(4) if T_first_second is None else rigid(T_first_second, "T_first_second")
    shift = max(first.ids) + 1
    vertices = [
        replace(
            vertex,
            id=vertex.id + shift,
            submap_id=vertex.submap_id + shift,
            T_map_vertex=T @ vertex.T_map_vertex,
        )
        for vertex in second.vertices
    ]
    edges = [
        replace(edge, from_id=edge.from_id + shift, to_id=edge.to_id + shift)
        for edge in second.edges
    ]
    same, shifted = {i: i for i in first.ids}, {i: i + shift for i in second.ids}
    submaps = RenumberedSubmaps([(first.submaps, same), (second.submaps, shifted)])
    return RouteGraph(
        (*first.vertices, *vertices),
        (*first.edges, *edges),
        submaps,
        frame=first.frame,
        about=first.about,
        problems=(*first.problems, *second.problems),
    )


def _nearest_gap_m(both: RouteGraph, n_first: int) -> float:
    p = both.poses_map()[:, :3, 3]
    return min(float(np.linalg.norm(p[n_first:] - q, axis=1).min()) for q in p[:n_first])


class RenumberedSubmaps:
    """The submaps of several sources under their ids in a joined graph.

    `parts` are (SubmapSource, mapping from old to new ids); ids not in the mapping are left out.
    """

    def __init__(self, parts: Iterable[tuple[SubmapSource, Mapping[int, int]]]) -> None:
        self._places = {
            new: (source, old)
            for source, ids in parts
            for old, new in ids.items()
            if old in source.ids
        }
        self.ids = frozenset(self._places)

    def load(self, vertex_id: int) -> Submap:
        """Return a submap under its new id."""
        source, old = self._places[vertex_id]
        return replace(source.load(old), vertex_id=vertex_id)
