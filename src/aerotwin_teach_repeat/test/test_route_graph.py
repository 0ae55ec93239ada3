# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Route graphs: the right way round, checked, with routes, crossings and joints."""

from dataclasses import replace

import numpy as np
import pytest
from sample_graphs import ROUNDING, WALL, graph_of, planar, straight, submap_of
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import transform_points
from aerotwin_teach_repeat.route_graph import (
    CrossingProtocol,
    Edge,
    MemorySubmaps,
    RouteGraph,
    RouteGraphError,
    Submap,
    branch,
    extend,
    find_crossings,
    merge,
    relative_pose,
    rotation_angle,
    submap_overlap,
    with_edges,
)


def test_t_submap_vertex_is_the_pose_of_the_vertex_in_the_submap():
    # The submap is taken at x = 2 looking north; the vertex lies 1 m north and 3 m east of it.
    T_map_submap, T_map_vertex = planar(2.0, 0.0, np.pi / 2), planar(5.0, 1.0, np.pi)
    T_submap_vertex = relative_pose(T_map_submap, T_map_vertex)
    assert T_submap_vertex[:3, 3] == pytest.approx([1.0, -3.0, 0.0], abs=ROUNDING)
    turned_left = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert T_submap_vertex[:3, :3] == pytest.approx(np.array(turned_left), abs=ROUNDING)
    # The thesis: T_submap_map inv(T_vertex_map).
    by_thesis = np.linalg.inv(T_map_submap) @ np.linalg.inv(np.linalg.inv(T_map_vertex))
    assert T_submap_vertex == pytest.approx(by_thesis, abs=ROUNDING)


def test_points_of_a_vertex_reach_the_submap_by_t_submap_vertex():
    graph = graph_of([planar(0, 0, 0.3), planar(0.7, 0.4, 0.9), planar(0.9, 1.2, 1.6)])
    seen = transform_points(np.linalg.inv(graph.vertex(2).T_map_vertex), WALL)
    in_submap = transform_points(graph.vertex(2).T_submap_vertex, seen)
    assert in_submap == pytest.approx(graph.submap(2).points, abs=1e-5)  # float32 at 10 m


def test_bad_poses_are_refused():
    good = graph_of(straight(2)).vertices[0]
    for T, reason in (
        (np.full((4, 4), np.nan), "finite"),
        (np.eye(3), "4x4"),
        (np.diag([1.0, 1.0, -1.0, 1.0]), "rotation"),
        (np.diag([1.01, 1.0, 1.0, 1.0]), "rotation"),
        (np.eye(4) + np.eye(4, k=-3), "last row"),
    ):
        with pytest.raises(RouteGraphError, match=reason):
            replace(good, T_map_vertex=T)
        with pytest.raises(RouteGraphError, match=reason):
            Edge(from_id=0, to_id=1, T_from_to=T, kind="temporal")


def test_bad_graphs_are_refused():
    graph = graph_of(straight(3))
    with pytest.raises(RouteGraphError, match="1 is there twice"):
        RouteGraph((*graph.vertices, graph.vertices[1]), graph.edges, graph.submaps)
    with pytest.raises(RouteGraphError, match="there is no vertex 2"):
        RouteGraph(graph.vertices[:2], graph.edges, graph.submaps)
    with pytest.raises(RouteGraphError, match="its submap 0 is not in the graph"):
        RouteGraph(graph.vertices, graph.edges, MemorySubmaps([]))
    with pytest.raises(RouteGraphError, match="must have a vertex"):
        RouteGraph([], [], MemorySubmaps([]))
    with pytest.raises(RouteGraphError, match="no vertex 77; ids are 0 to 2"):
        graph.vertex(77)


def test_bad_submaps_are_refused():
    points, up = np.zeros((2, 3)), np.tile([0.0, 0.0, 1.0], (2, 1))
    for kwargs, reason in (
        ({"points": points * np.nan, "normals": up}, "NaN"),
        ({"points": points, "normals": up * 2}, "length 1"),
        ({"points": points[:1], "normals": up}, "must both be"),
        ({"points": points[:0], "normals": up[:0]}, "no points"),
    ):
        with pytest.raises(RouteGraphError, match=reason):
            Submap(vertex_id=0, **kwargs)


def test_a_route_that_does_not_connect_says_so():
    both = graph_of(straight(5)), graph_of(straight(4, x=100.0), first_id=50)
    submaps = MemorySubmaps([g.submap(i) for g in both for i in g.submap_ids])
    graph = RouteGraph(both[0].vertices + both[1].vertices, both[0].edges + both[1].edges, submaps)
    assert [len(part) for part in graph.parts] == [5, 4]
    with pytest.raises(RouteGraphError, match=r"from vertex 1 to vertex 52.*2 parts.*50 to 53"):
        graph.route(1, 52)


def test_the_shortest_way_takes_the_short_cut():
    # Three sides of a square of 4 m, and the fourth by a spatial edge.
    poses = [
        *straight(9),
        *straight(9, 4.0, 0.5, np.pi / 2)[:-1],
        *straight(9, 4.0, 4.5, np.pi)[:],
    ]
    graph = graph_of(poses)
    last = graph.ids[-1]
    assert graph.route(0, last) == list(graph.ids)
    T_from_to = relative_pose(poses[-1], poses[0])
    closed = with_edges(graph, [Edge(from_id=last, to_id=0, T_from_to=T_from_to, kind="spatial")])
    assert closed.route(0, last) == [0, last]
    assert closed.route(1, last - 1) == [1, 0, last, last - 1]
    assert closed.route(0, last, via=[10]) == [*range(11), *range(11, last + 1)]
    assert closed.runs == (graph.ids,)
    assert closed.length_m() == pytest.approx(12.5)


def test_routes_agree_with_a_search_of_all_ways():
    rng = np.random.default_rng(5)
    poses = [planar(*rng.uniform(-10, 10, 2)) for _ in range(9)]
    chain = graph_of(poses)
    edges = list(chain.edges)
    for a, b in ((0, 4), (2, 7), (1, 8), (3, 6)):
        T_from_to = relative_pose(poses[a], poses[b])
        edges.append(Edge(from_id=a, to_id=b, T_from_to=T_from_to, kind="spatial"))
    graph = RouteGraph(chain.vertices, edges, chain.submaps)

    def shortest(at, goal, seen):
        if at == goal:
            return 0.0
        ways = [
            np.linalg.norm(poses[at][:3, 3] - poses[i][:3, 3]) + shortest(i, goal, seen | {i})
            for e in edges
            for i in ({e.from_id, e.to_id} - {at} if at in (e.from_id, e.to_id) else ())
            if i not in seen
        ]
        return min(ways, default=np.inf)

    for start in range(9):
        for goal in range(9):
            way = graph.route(start, goal)
            assert graph.length_m(way) == pytest.approx(shortest(start, goal, {start}))


def test_a_ring_of_temporal_edges_is_one_run():
    graph = graph_of(straight(4))
    T_from_to = relative_pose(graph.vertex(3).T_map_vertex, graph.vertex(0).T_map_vertex)
    edge = Edge(from_id=3, to_id=0, T_from_to=T_from_to, kind="temporal")
    assert with_edges(graph, [edge]).runs == ((0, 1, 2, 3),)


def figure_of_eight() -> list[np.ndarray]:
    turn = np.linspace(0.0, 2 * np.pi, 201)[:-1]
    x, y = 12.0 * np.sin(turn), 12.0 * np.sin(turn) * np.cos(turn)
    heading = np.arctan2(np.roll(y, -1) - np.roll(y, 1), np.roll(x, -1) - np.roll(x, 1))
    return [planar(*row) for row in zip(x, y, heading, strict=True)]


def test_a_crossing_and_a_closed_loop_are_found():
    graph = graph_of(figure_of_eight())
    edges = find_crossings(graph)
    pairs = {tuple(sorted((e.from_id, e.to_id))) for e in edges}
    # The eight begins at its crossing: the loop closes there too.
    assert (0, 100) in pairs
    assert (0, 199) in pairs or (100, 199) in pairs
    assert len(edges) <= 3
    for edge in edges:
        expected = relative_pose(
            graph.vertex(edge.from_id).T_map_vertex, graph.vertex(edge.to_id).T_map_vertex
        )
        assert edge.T_from_to == pytest.approx(expected, abs=ROUNDING)
    assert find_crossings(with_edges(graph, edges)) == ()


def test_paths_side_by_side_get_an_edge_every_so_far():
    there, back = straight(100), straight(100, 49.5, 2.0, np.pi)
    arc = [planar(50.0 + 0.5 * k, 1.0) for k in range(1, 40)]
    graph = graph_of([*there, *arc, *back])
    edges = find_crossings(graph, CrossingProtocol(apart_m=10.0, along_m=25.0))
    x = sorted(graph.vertex(e.from_id).T_map_vertex[0, 3] for e in edges)
    assert 4 <= len(edges) <= 5
    assert np.diff(x).min() >= 9.9


def test_places_that_look_different_are_no_crossing():
    # A bridge: two paths on top of each other whose submaps share nothing.
    low, far = graph_of(straight(4)), np.array([50.0, 0.0, 0.0])
    high = MemorySubmaps([submap_of(i, planar(0, 0), WALL + far) for i in (4, 7)])
    poses = [*straight(4), *straight(4, yaw=0.01)]
    vertices = [
        replace(v, submap_id=(0, 3)[v.id // 3] if v.id < 4 else (4 if v.id < 7 else 7))
        for v in graph_of(poses).vertices
    ]
    submaps = MemorySubmaps([*(low.submap(i) for i in (0, 3)), *(high.load(i) for i in (4, 7))])
    edges = [e for e in graph_of(poses).edges if e.from_id != 3]
    graph = RouteGraph(vertices, edges, submaps)
    assert find_crossings(graph) == ()
    assert len(find_crossings(graph, CrossingProtocol(min_overlap=0.0))) == 1


def test_overlap_of_clouds_is_the_share_of_common_cells():
    line = np.column_stack([np.arange(10) + 0.5, np.full(10, 0.5), np.full(10, 0.5)])
    assert submap_overlap(line, line, np.eye(4), 1.0) == 1.0
    assert submap_overlap(line, line, planar(4.0, 0.0), 1.0) == pytest.approx(0.6)
    assert submap_overlap(line, line[:5], planar(-2.0, 0.0), 1.0) == pytest.approx(0.6)


def test_two_graphs_that_cross_merge():
    east, north = graph_of(straight(20)), graph_of(straight(20, 4.2, -5.0, np.pi / 2))
    merged = merge(east, north)
    assert len(merged.parts) == 1
    way = merged.route(0, 20 + 19)
    assert way[0] == 0 and way[-1] == 39
    assert len(merged.runs) == 2
    assert np.array_equal(merged.submap(22).points, north.submap(2).points)
    assert merged.submap(22).vertex_id == 20


def test_a_graph_in_another_frame_merges_where_it_belongs():
    T_first_second = planar(3.0, -7.0, 0.8)
    north = straight(20, 4.2, -5.0, np.pi / 2)
    moved = graph_of([np.linalg.inv(T_first_second) @ T for T in north])
    merged = merge(
        graph_of(straight(20)),
        moved,
        T_first_second=T_first_second,
        protocol=CrossingProtocol(min_overlap=0.0),
    )
    assert merged.poses_map(range(20, 40)) == pytest.approx(np.array(north), abs=ROUNDING)
    with pytest.raises(RouteGraphError, match="meet nowhere: their nearest vertices are"):
        merge(graph_of(straight(5)), graph_of(straight(5, x=80.0)))


def test_a_path_goes_on_where_it_ended():
    longer = extend(graph_of(straight(6)), graph_of(straight(6, 3.0, 0.1)))
    assert longer.runs == (tuple(range(12)),)
    assert longer.route(0, 11) == list(range(12))
    edge = longer.edges[-1]
    assert (edge.from_id, edge.to_id, edge.kind) == (5, 6, "temporal")
    assert edge.T_from_to[:3, 3] == pytest.approx([0.5, 0.1, 0.0], abs=ROUNDING)
    with pytest.raises(RouteGraphError, match=r"vertex 5 and the start.*at most 5 m"):
        extend(graph_of(straight(6)), graph_of(straight(6, 30.0)))


def test_a_path_branches_off():
    graph = branch(graph_of(straight(9)), graph_of(straight(6, 2.0, 0.5, np.pi / 2)), 4)
    assert graph.route(0, 14) == [0, 1, 2, 3, 4, *range(9, 15)]
    assert graph.edges[-1].kind == "spatial"
    assert graph.runs == (tuple(range(9)), tuple(range(9, 15)))
    with pytest.raises(RouteGraphError, match="no vertex 40"):
        branch(graph_of(straight(9)), graph_of(straight(6)), 40)


def test_edge_residuals_show_what_the_poses_do_not_hold():
    graph = graph_of(straight(6))
    T_drifted = relative_pose(planar(0, 0), planar(2.6, 0.0, 0.02))
    drifted = with_edges(graph, [Edge(from_id=0, to_id=5, T_from_to=T_drifted, kind="spatial")])
    shifts, turns = drifted.edge_residuals()
    assert shifts[:-1] == pytest.approx(0.0, abs=ROUNDING)
    assert shifts[-1] == pytest.approx(0.1)
    assert turns[-1] == pytest.approx(0.02)


def test_rotation_angle_is_that_about_the_axis():
    for angle in (1e-9, 0.3, 2.0, np.pi - 1e-6):
        R = Rotation.from_rotvec(angle * np.array([2.0, -1.0, 2.0]) / 3.0).as_matrix()
        assert rotation_angle(R) == pytest.approx(angle, rel=1e-6)
