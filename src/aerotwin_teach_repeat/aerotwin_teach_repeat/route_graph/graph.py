# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The route graph: poses, edges, submaps on demand, and shortest routes."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra

from aerotwin_core.frames import FloatArray
from aerotwin_teach_repeat.route_graph.folder import read_folder
from aerotwin_teach_repeat.route_graph.types import (
    DamagedSubmapError,
    Edge,
    RouteGraphError,
    Submap,
    SubmapSource,
    Vertex,
    distance_and_angle,
    relative_pose,
)
from aerotwin_teach_repeat.route_graph.writer import FolderWriter, replaced_folder

N_RETAINED = 8
"""Submaps cached in memory: a few metres of route to both sides of the robot."""
FALLBACK_M = 10.0
"""How far from a damaged submap another may be used: a quarter of a submap's radius."""
_SHORTEST_M = 1e-9  # zero means "no edge" to the sparse graph


class RouteGraph:
    """Vertices and edges of taught paths, with the submaps that a robot localises against.

    Immutable. `frame` names the frame of all poses: that of the cloud in which it was taught; of a
    driven teach, that of its odometry. `about` is JSON metadata of the teach, `problems` are those
    found while loading, as text. `RouteGraphError` if ids repeat, an edge or a vertex names a
    missing one, or there is no vertex.
    """

    def __init__(
        self,
        vertices: Iterable[Vertex],
        edges: Iterable[Edge],
        submaps: SubmapSource,
        *,
        frame: str = "map",
        about: Mapping[str, Any] | None = None,
        problems: Iterable[str] = (),
    ) -> None:
        self.vertices, self.edges = tuple(vertices), tuple(edges)
        self.frame, self.about = frame, dict(about or {})
        self.submaps = submaps
        self._problems = list(problems)
        self._places = {vertex.id: k for k, vertex in enumerate(self.vertices)}
        self._retained: OrderedDict[int, Submap] = OrderedDict()
        self._damaged: dict[int, str] = {}
        self._check()

    @classmethod
    def load(cls, folder: str | Path) -> "RouteGraph":
        """Return the graph of a folder, its submaps on demand; `RouteGraphError` if damaged."""
        content = read_folder(Path(folder))
        return cls(
            content.vertices,
            content.edges,
            content.submaps,
            frame=content.manifest.frame,
            about=content.manifest.about,
            problems=content.problems,
        )

    def save(self, folder: str | Path, *, submap_format: str = "npz", on_submap=None) -> None:
        """Write the graph as a folder; an existing route graph is replaced only when done.

        `submap_format` is "npz" or "ply"; `on_submap` is called after each submap.

        Raises
        ------
        RouteGraphError
            If the path holds something that is no route graph, or a submap is damaged.
        """
        with (
            replaced_folder(Path(folder)) as new,
            FolderWriter(
                new, frame=self.frame, submap_format=submap_format, about=self.about
            ) as writer,
        ):
            writer.add_submaps(self.submaps, self.submap_ids, on_submap)
            for vertex in self.vertices:
                writer.add_vertex(vertex)
            for edge in self.edges:
                writer.add_edge(edge)
            writer.complete()

    def __len__(self) -> int:
        return len(self.vertices)

    @property
    def problems(self) -> tuple[str, ...]:
        """Problems of the graph, including submaps found damaged."""
        return tuple(self._problems)

    @property
    def ids(self) -> tuple[int, ...]:
        """Ids of all vertices, in the order of `vertices`."""
        return tuple(vertex.id for vertex in self.vertices)

    @property
    def submap_ids(self) -> tuple[int, ...]:
        """Ids of the vertices that hold a submap, in the order of `vertices`."""
        return tuple(vertex.id for vertex in self.vertices if vertex.holds_submap)

    def vertex(self, vertex_id: int) -> Vertex:
        """Return a vertex by id."""
        return self.vertices[self._place(vertex_id)]

    def poses_map(self, ids: Sequence[int] | None = None) -> FloatArray:
        """Return T_map_vertex (n, 4, 4) of some vertices, by default of all."""
        if ids is None:
            return self._poses.copy()
        return self._poses[[self._place(vertex_id) for vertex_id in ids]]

    def submap(self, vertex_id: int) -> Submap:
        """Return the submap that a vertex uses; `DamagedSubmapError` if its file is not as written.

        A damaged file is not read again; see `intact_submap`.
        """
        submap_id = self.vertex(vertex_id).submap_id
        if submap_id in self._retained:
            self._retained.move_to_end(submap_id)
            return self._retained[submap_id]
        if submap_id in self._damaged:
            raise DamagedSubmapError(self._damaged[submap_id])
        try:
            found = self.submaps.load(submap_id)
        except DamagedSubmapError as error:
            self._damaged[submap_id] = str(error)
            self._problems.append(str(error))
            raise
        self._retained[submap_id] = found
        if len(self._retained) > N_RETAINED:
            self._retained.popitem(last=False)
        return found

    def intact_submap(
        self, vertex_id: int, *, within_m: float = FALLBACK_M
    ) -> tuple[Submap, FloatArray]:
        """Return the submap of a vertex, or the nearest intact one, and T_submap_vertex.

        A neighbour's submap covers the same surroundings; the damage is listed in `problems`.
        `DamagedSubmapError` if no submap within `within_m` of the vertex is intact.
        """
        vertex = self.vertex(vertex_id)
        try:
            return self.submap(vertex_id), vertex.T_submap_vertex
        except DamagedSubmapError as error:
            first_error = error
        for other in self._submaps_near(vertex, within_m):
            try:
                found = self.submap(other.id)
            except DamagedSubmapError:
                continue
            return found, relative_pose(other.T_map_vertex, vertex.T_map_vertex)
        raise DamagedSubmapError(
            f"{first_error}; no other submap within {within_m:g} m of vertex {vertex_id} is whole: "
            "teach this stretch again"
        ) from first_error

    @cached_property
    def runs(self) -> tuple[tuple[int, ...], ...]:
        """The paths as they were taught: ids along temporal edges, one tuple for each teach.

        A route that was taught as a loop is one run from its first to its last vertex, while
        `route` takes the shortest path.
        """
        following: dict[int, int] = {}
        has_past: set[int] = set()
        for edge in self.edges:
            if edge.kind == "temporal" and edge.from_id not in following:
                following[edge.from_id] = edge.to_id
                has_past.add(edge.to_id)
        runs: list[tuple[int, ...]] = []
        seen: set[int] = set()
        # A ring of temporal edges has no first vertex: it starts at the first one listed.
        for start in [*(i for i in self.ids if i not in has_past), *self.ids]:
            if start in seen:
                continue
            run = [start]
            seen.add(start)
            while following.get(run[-1], start) not in seen:
                run.append(following[run[-1]])
                seen.add(run[-1])
            runs.append(tuple(run))
        return tuple(runs)

    def route(self, start_id: int, goal_id: int, via: Sequence[int] = ()) -> list[int]:
        """Return the ids of the shortest path over edges, through `via` in order.

        `RouteGraphError` if an id is unknown, or no edges lead there.
        """
        way = [start_id]
        for a, b in pairwise([start_id, *via, goal_id]):
            way += self._shortest(a, b)[1:]
        return way

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """Ids of the connected components, the largest first."""
        n, labels = connected_components(self._lengths, directed=False)
        ids = np.array(self.ids)
        parts = [tuple(ids[labels == k].tolist()) for k in range(n)]
        return tuple(sorted(parts, key=lambda part: (-len(part), part[0])))

    def nearest(self, p_map: np.ndarray) -> int:
        """Return the id of the vertex nearest to a point (3,), or (2,) for horizontal gaps [m]."""
        p_map = np.asarray(p_map, dtype=np.float64)
        gaps = self._poses[:, : len(p_map), 3] - p_map
        return self.vertices[int(np.argmin(np.einsum("ij,ij->i", gaps, gaps)))].id

    def length_m(self, ids: Sequence[int] | None = None) -> float:
        """Return the length of a path through vertices, by default of the first run [m]."""
        poses = self.poses_map(self.runs[0] if ids is None else ids)
        return float(np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1).sum())

    def edge_residuals(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the deviation of each edge's T_from_to from the vertices' poses: [m], [rad].

        Zero for a virtual teach; for a driven one, spatial edges show the drift of its odometry.
        """
        shifts, turns = np.zeros(len(self.edges)), np.zeros(len(self.edges))
        for k, edge in enumerate(self.edges):
            T_from_to = relative_pose(
                self.vertex(edge.from_id).T_map_vertex, self.vertex(edge.to_id).T_map_vertex
            )
            shifts[k], turns[k] = distance_and_angle(edge.T_from_to, T_from_to)
        return shifts, turns

    @cached_property
    def _poses(self) -> FloatArray:
        return np.array([vertex.T_map_vertex for vertex in self.vertices])

    @cached_property
    def _lengths(self) -> coo_array:
        # Of several edges between two vertices the shortest counts; a sparse matrix would sum them.
        shortest: dict[tuple[int, int], float] = {}
        for edge in self.edges:
            ends = self._places[edge.from_id], self._places[edge.to_id]
            pair, length = (min(ends), max(ends)), max(edge.length_m, _SHORTEST_M)
            shortest[pair] = min(length, shortest.get(pair, np.inf))
        pairs, n = np.array(list(shortest), dtype=np.int64).reshape(-1, 2), len(self.vertices)
        return coo_array((list(shortest.values()), (pairs[:, 0], pairs[:, 1])), shape=(n, n))

    def _shortest(self, start_id: int, goal_id: int) -> list[int]:
        start, goal = self._place(start_id), self._place(goal_id)
        _, before = dijkstra(
            self._lengths.tocsr(), directed=False, indices=start, return_predecessors=True
        )
        way = [goal]
        while way[-1] != start:
            if before[way[-1]] < 0:
                raise RouteGraphError(self._no_way(start_id, goal_id))
            way.append(int(before[way[-1]]))
        return [self.vertices[k].id for k in reversed(way)]

    def _no_way(self, start_id: int, goal_id: int) -> str:
        parts = "; ".join(f"{min(p)} to {max(p)} ({len(p)} vertices)" for p in self.parts[:5])
        return (
            f"no edges lead from vertex {start_id} to vertex {goal_id}: the graph falls into "
            f"{len(self.parts)} parts ({parts}); teach what lies between, or join them by extend, "
            "branch or merge"
        )

    def _submaps_near(self, vertex: Vertex, within_m: float) -> list[Vertex]:
        holders = [v for v in self.vertices if v.holds_submap and v.id != vertex.submap_id]
        gaps = [np.linalg.norm(v.T_map_vertex[:3, 3] - vertex.T_map_vertex[:3, 3]) for v in holders]
        return [holders[k] for k in np.argsort(gaps, kind="stable") if gaps[k] <= within_m]

    def _place(self, vertex_id: int) -> int:
        if vertex_id not in self._places:
            known = f"{min(self._places)} to {max(self._places)}"
            raise RouteGraphError(f"there is no vertex {vertex_id}; ids are {known}")
        return self._places[vertex_id]

    def _check(self) -> None:
        if not self.vertices:
            raise RouteGraphError("a route graph must have a vertex, this has none")
        if len(self._places) < len(self.vertices):
            twice = next(i for i in self.ids if self.ids.count(i) > 1)
            raise RouteGraphError(f"ids of vertices must differ, {twice} is there twice")
        for edge in self.edges:
            for end in (edge.from_id, edge.to_id):
                if end not in self._places:
                    raise RouteGraphError(
                        f"edge {edge.from_id} -> {edge.to_id}: there is no vertex {end}"
                    )
        held = self.submaps.ids
        for vertex in self.vertices:
            if vertex.submap_id not in self._places or vertex.submap_id not in held:
                raise RouteGraphError(
                    f"vertex {vertex.id}: its submap {vertex.submap_id} is not in the graph"
                )


class RouteGraphWriter(FolderWriter):
    """A `FolderWriter`, with its parameters, that returns the finished graph.

    Examples
    --------
    >>> with RouteGraphWriter("taught") as writer:  # doctest: +SKIP
    ...     writer.add_submap(submap)
    ...     writer.add_vertex(vertex)
    ...     graph = writer.finish()
    """

    def finish(self) -> RouteGraph:
        """Close the tables, write their checksums and return the graph as written."""
        self.complete()
        return RouteGraph.load(self.folder)
