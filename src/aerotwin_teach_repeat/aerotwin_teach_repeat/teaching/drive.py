# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Teaching by driving, as lidar teach and repeat does: odometry, vertices, submaps, closed loops.

Vertices and submaps are written while the vehicle drives, so that a crash loses nothing. At the
end, positions passed twice are matched to each other; the edges found make the whole path
consistent. `map` is the frame of the odometry: the base at the first scan.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from aerotwin_core.frames import FloatArray, invert_transform
from aerotwin_core.parameters import parameter
from aerotwin_registration.pose_graph import PoseConstraint, agreed_poses
from aerotwin_teach_repeat.localization.matcher import ScanMatcher
from aerotwin_teach_repeat.localization.odometry import ScanOdometry, ScanOdometryFrame
from aerotwin_teach_repeat.localization.protocol import LocalizationProtocol
from aerotwin_teach_repeat.localization.relocalization import (
    PoseSearch,
    RelocalizationProtocol,
    best_match,
)
from aerotwin_teach_repeat.route_graph import (
    Edge,
    RouteGraph,
    RouteGraphWriter,
    Submap,
    Vertex,
    distance_and_angle,
    relative_pose,
)
from aerotwin_teach_repeat.submaps import SubmapProtocol


@dataclass(frozen=True, kw_only=True)
class DriveTeachParameters:
    """Parameters of a driven teach; vertices and submaps as VTR3 sets them."""

    vertex_m: float = parameter(
        0.30, text="a vertex so far from the last one", unit="m", minimum=0.01, maximum=10.0
    )
    vertex_deg: float = parameter(
        10.0, text="or turned so far", unit="deg", minimum=0.1, maximum=180.0
    )
    submaps: SubmapProtocol = field(default_factory=SubmapProtocol)
    loop_m: float = parameter(
        3.0, text="vertices nearer than this may close a loop", unit="m", minimum=0.0, maximum=50.0
    )
    loop_drift: float = parameter(
        0.02, text="and this share of the way between them", minimum=0.0, maximum=0.5
    )
    loop_apart_m: float = parameter(
        30.0, text="nearer along the way they are neighbours, no loop", unit="m", minimum=1.0
    )
    loop_every_m: float = parameter(
        5.0, text="loops are sought every so far", unit="m", minimum=0.1
    )
    loop_again_m: float = parameter(
        1.0, text="and so far after one that did not match", unit="m", minimum=0.1
    )
    loop_ratio: float = parameter(
        0.6, text="share of a submap that must lie on the other", minimum=0.0, maximum=1.0
    )
    step_m: float = parameter(
        0.01, text="deviation of odometry from vertex to vertex", unit="m", minimum=1e-5
    )
    step_deg: float = parameter(
        0.1, text="deviation of its turn", unit="deg", minimum=1e-4, maximum=90.0
    )
    match_m: float = parameter(0.02, text="deviation of a closed loop", unit="m", minimum=1e-5)
    match_deg: float = parameter(
        0.1, text="deviation of its turn", unit="deg", minimum=1e-4, maximum=90.0
    )


class DriveTeacher:
    """Records a route from scans, one after the other, into the folder of a route graph.

    The folder is new or empty; `RouteGraphError` if not.
    """

    def __init__(
        self,
        folder: str | Path,
        odometry: ScanOdometry | None = None,
        parameters: DriveTeachParameters | None = None,
    ) -> None:
        self.parameters = parameters or DriveTeachParameters()
        self.odometry = odometry or ScanOdometry()
        self.folder = Path(folder)
        self._writer = RouteGraphWriter(folder, about={"taught_by": "drive"})
        self._last: Vertex | None = None
        self._holder: Vertex | None = None
        self._n_vertices = 0

    def add(
        self,
        points_base: np.ndarray,
        times_s: np.ndarray | None,
        stamp_ns: int,
        wheel_twist: np.ndarray | None = None,
    ) -> ScanOdometryFrame:
        """Add a scan, as `ScanOdometry.add`; a scan that is not accepted makes no vertex."""
        frame = self.odometry.add(points_base, times_s, stamp_ns, wheel_twist)
        last, p = self._last, self.parameters
        if frame.accepted and (
            last is None or _is_far(last.T_map_vertex, frame.T_odom_base, p.vertex_m, p.vertex_deg)
        ):
            self._add_vertex(frame)
        return frame

    def finish(self) -> RouteGraph:
        """Close loops, optimise the path, and return the graph as written.

        `RouteGraphError` if no scan was accepted.
        """
        graph = self._writer.finish()
        closed = closed_loops(graph, self.parameters)
        if closed is not graph:
            closed.save(self.folder)
        return RouteGraph.load(self.folder)

    def close(self) -> None:
        """Close the files as they are; what was added is retained."""
        self._writer.close()

    def _add_vertex(self, frame: ScanOdometryFrame) -> None:
        p, holder, new_id = self.parameters.submaps, self._holder, self._n_vertices
        T = frame.T_odom_base
        if holder is not None and _is_far(holder.T_map_vertex, T, p.distance_m, p.angle_deg):
            holder = None
        vertex = Vertex(
            id=new_id,
            stamp_ns=frame.stamp_ns,
            T_map_vertex=T,
            submap_id=new_id if holder is None else holder.id,
            T_submap_vertex=relative_pose(T if holder is None else holder.T_map_vertex, T),
        )
        if vertex.holds_submap:
            self._writer.add_submap(self._submap(new_id, frame.T_odom_base))
            self._holder = vertex
        self._writer.add_vertex(vertex)
        if self._last is not None:
            T_last_new = relative_pose(self._last.T_map_vertex, T)
            self._writer.add_edge(
                Edge(from_id=self._last.id, to_id=new_id, T_from_to=T_last_new, kind="temporal")
            )
        self._last, self._n_vertices = vertex, new_id + 1

    def _submap(self, vertex_id: int, T_odom_base: FloatArray) -> Submap:
        p = self.parameters.submaps
        points, normals = self.odometry.surroundings(p.radius_m)
        T = invert_transform(T_odom_base)
        points = points @ T[:3, :3].T + T[:3, 3]
        retained = (points[:, 2] >= -p.below_m) & (points[:, 2] <= p.above_m)
        return Submap(
            vertex_id=vertex_id, points=points[retained], normals=(normals @ T[:3, :3].T)[retained]
        )


def closed_loops(graph: RouteGraph, parameters: DriveTeachParameters) -> RouteGraph:
    """Return a graph with loops closed and poses optimised; the same graph without any loop.

    Spatial edges join positions passed twice, by matching the submap of the later one to that of
    the earlier; a pair that does not match, or not better than elsewhere, makes none.
    """
    p, poses = parameters, graph.poses_map()
    edges = _found_edges(graph, poses, p)
    if not edges:
        return graph
    places = {vertex_id: k for k, vertex_id in enumerate(graph.ids)}
    constraints = [
        PoseConstraint(
            a=places[edge.from_id],
            b=places[edge.to_id],
            T_a_b=edge.T_from_to,
            shift_m=p.match_m if edge.kind == "spatial" else p.step_m,
            turn_rad=np.radians(p.match_deg if edge.kind == "spatial" else p.step_deg),
        )
        for edge in (*graph.edges, *edges)
    ]
    agreed = agreed_poses(poses, constraints)
    vertices = [
        replace(
            vertex,
            T_map_vertex=T,
            T_submap_vertex=relative_pose(agreed[places[vertex.submap_id]], T),
        )
        for vertex, T in zip(graph.vertices, agreed, strict=True)
    ]
    return RouteGraph(
        vertices, (*graph.edges, *edges), graph.submaps, frame=graph.frame, about=graph.about
    )


def _found_edges(graph: RouteGraph, poses: np.ndarray, p: DriveTeachParameters) -> list[Edge]:
    """Return an edge every few metres of positions that were passed before."""
    positions = poses[:, :3, 3]
    along = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(positions, axis=0), axis=1)))
    found: list[Edge] = []
    next_m = 0.0
    for j in range(len(poses)):
        earlier = np.flatnonzero(along[j] - along >= p.loop_apart_m)
        if len(earlier) == 0 or along[j] < next_m:
            continue
        gaps = np.linalg.norm(positions[earlier] - positions[j], axis=1)
        allowed = p.loop_m + p.loop_drift * (along[j] - along[earlier])
        nearest = int(np.argmin(gaps - allowed))
        if gaps[nearest] > allowed[nearest]:
            continue
        edge = _closing(graph, int(earlier[nearest]), j, p)
        next_m = along[j] + (p.loop_every_m if edge is not None else p.loop_again_m)
        found += [edge] if edge is not None else []
    return found


def _closing(graph: RouteGraph, i: int, j: int, p: DriveTeachParameters) -> Edge | None:
    """Return the edge from the earlier to the later vertex, by matching their submaps."""
    a, b = graph.vertices[i], graph.vertices[j]
    T_a_b = relative_pose(a.T_map_vertex, b.T_map_vertex)
    T_start = a.T_submap_vertex @ T_a_b @ invert_transform(b.T_submap_vertex)
    target, source = graph.submap(a.id), graph.submap(b.id)
    protocol, choices = LocalizationProtocol(), RelocalizationProtocol()
    matcher = ScanMatcher(target.points, target.normals, protocol)
    search = PoseSearch(source.points, choices, protocol.max_range_m)
    starts = search.candidates(
        target.points, T_start, shift_m=min(p.loop_m, choices.shift_m), turn_deg=15.0
    )
    match = best_match(matcher, source.points, starts)
    if match is None or not match.accepted or match.close_ratio < p.loop_ratio:
        return None
    T = invert_transform(a.T_submap_vertex) @ match.T_target_source @ b.T_submap_vertex
    return Edge(from_id=a.id, to_id=b.id, T_from_to=T, kind="spatial")


def _is_far(T_map_a: FloatArray, T_map_b: FloatArray, shift_m: float, turn_deg: float) -> bool:
    shift, turn = distance_and_angle(T_map_a, T_map_b)
    return bool(shift > shift_m or np.degrees(turn) > turn_deg)
