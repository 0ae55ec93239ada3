# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Route graphs: the right way round, saved and read again, cut off, damaged, joined."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import make_transform, transform_points
from aerotwin_teach_repeat.route_graph import (
    CrossingProtocol,
    DamagedSubmapError,
    Edge,
    MemorySubmaps,
    RouteGraph,
    RouteGraphError,
    RouteGraphWriter,
    Submap,
    Vertex,
    branch,
    extend,
    find_crossings,
    merge,
    relative_pose,
    rotation_angle,
    submap_overlap,
    with_edges,
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
    in_submap = transform_points(graph.T_submap_vertex(2), seen)
    assert in_submap == pytest.approx(graph.submap(2).points, abs=1e-5)  # float32 at 10 m


@pytest.mark.parametrize("submap_format", ["npz", "ply"])
def test_a_saved_graph_is_read_as_it_was(tmp_path, submap_format):
    poses = [planar(0.4 * k, 0.02 * k**2, 0.05 * k) for k in range(8)]
    graph = graph_of(poses)
    graph = RouteGraph(graph.vertices, graph.edges, graph.submaps, about={"world": "campus"})
    graph.save(tmp_path / "g", submap_format=submap_format)
    read = RouteGraph.load(tmp_path / "g")
    assert same(graph, read)
    assert read.about == {"world": "campus"}
    assert read.problems == ()
    assert [v.stamp_ns for v in read.vertices] == [v.stamp_ns for v in graph.vertices]
    assert sorted(p.name for p in (tmp_path / "g" / "submaps").iterdir()) == [
        f"{i:07d}.{submap_format}" for i in (0, 3, 6)
    ]


def test_a_ply_submap_keeps_every_digit_and_a_compact_one_reaches_far(tmp_path):
    far = np.random.default_rng(3).uniform(-150, 150, (500, 3)).astype(np.float32)
    normals = far / np.linalg.norm(far, axis=1, keepdims=True)
    vertex = graph_of(straight(1)).vertices[0]
    submaps = MemorySubmaps([Submap(vertex_id=0, points=far, normals=normals)])
    for submap_format in ("npz", "ply"):
        RouteGraph([vertex], [], submaps).save(tmp_path / "g", submap_format=submap_format)
        read = RouteGraph.load(tmp_path / "g").submap(0)
        if submap_format == "ply":
            assert np.array_equal(read.points, far)
            assert np.array_equal(read.normals, normals)
        # Beyond 64 m steps are 1/256 m, beyond 128 m 1/128 m.
        assert read.points == pytest.approx(far, abs=0.5 / 128.0 + 1e-5)
        assert read.normals == pytest.approx(normals, abs=COMPACT_NORMAL)


def test_the_same_graph_has_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        graph_of(straight()).save(tmp_path / name)
    files = sorted(p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*.*"))
    assert len(files) == 9
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_tum_file_holds_the_poses(tmp_path):
    graph = graph_of(straight(4, yaw=0.5))
    graph.save(tmp_path / "g")
    table = np.loadtxt(tmp_path / "g" / "poses.tum")
    assert table[:, 0] == pytest.approx([0.0, 0.3, 0.6, 0.9])
    assert table[:, 1:4] == pytest.approx(graph.poses_map()[:, :3, 3], abs=ROUNDING)
    assert table[0, 4:] == pytest.approx([0, 0, np.sin(0.25), np.cos(0.25)], abs=ROUNDING)


def test_saving_replaces_a_graph_and_nothing_else(tmp_path):
    graph_of(straight(4)).save(tmp_path / "g")
    graph_of(straight(9)).save(tmp_path / "g")
    assert len(RouteGraph.load(tmp_path / "g")) == 9
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(RouteGraphError, match="no route graph there"):
        graph_of(straight(4)).save(tmp_path / "home")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["g", "home"]


def test_a_graph_may_be_saved_onto_the_folder_it_is_read_from(tmp_path):
    graph_of(straight(9)).save(tmp_path / "g")
    read = RouteGraph.load(tmp_path / "g")
    read.save(tmp_path / "g")
    assert same(RouteGraph.load(tmp_path / "g"), graph_of(straight(9)))


KILLED = """
import sys, os, signal
sys.path.insert(0, {folder!r})
from test_route_graph import graph_of, straight
from aerotwin_teach_repeat.route_graph import RouteGraphWriter
graph = graph_of(straight(10))
writer = RouteGraphWriter({target!r})
for vertex in graph.vertices:
    if vertex.id == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    if vertex.holds_submap:
        writer.add_submap(graph.submap(vertex.id))
    writer.add_vertex(vertex)
    if vertex.id:
        writer.add_edge(graph.edges[vertex.id - 1])
"""


def test_a_killed_writer_loses_nothing_that_was_added(tmp_path, request):
    target = tmp_path / "g"
    code = KILLED.format(folder=str(request.path.parent), target=str(target))
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    with (target / "vertices.csv").open("a") as file:
        file.write("7,2100000000,3.5,0")  # the line it was at
    read = RouteGraph.load(target)
    assert read.ids == tuple(range(7))
    assert len(read.edges) == 6
    assert "cut off; 7 vertices and 6 edges" in read.problems[0]
    expected = graph_of(straight(10)).submap(6).points
    assert read.submap(6).points == pytest.approx(expected, abs=COMPACT_M)


def test_a_cut_off_graph_can_be_gone_on_with(tmp_path):
    graph, target = graph_of(straight(6)), tmp_path / "g"
    with RouteGraphWriter(target, about={"by": "me"}) as writer:
        writer.add_submap(graph.submap(0))
        for vertex in graph.vertices[:3]:
            writer.add_vertex(vertex)
        writer.add_edge(graph.edges[0])
    with (target / "edges.csv").open("a") as file:
        file.write("1,2,tempo")
    with RouteGraphWriter(target, is_continued=True) as writer:
        writer.add_edge(graph.edges[1])
        writer.add_submap(graph.submap(3))
        for vertex in graph.vertices[3:]:
            writer.add_vertex(vertex)
        for edge in graph.edges[2:]:
            writer.add_edge(edge)
        read = writer.finish()
    assert same(read, graph)
    assert read.about == {"by": "me"}
    assert read.problems == ()
    assert len((target / "poses.tum").read_text().splitlines()) == 6


def test_what_refers_to_something_unfinished_is_left_out(tmp_path):
    graph, target = graph_of(straight(6)), tmp_path / "g"
    with RouteGraphWriter(target) as writer:
        for vertex in graph.vertices:
            if vertex.holds_submap:
                writer.add_submap(graph.submap(vertex.id))
            writer.add_vertex(vertex)
        for edge in graph.edges:
            writer.add_edge(edge)
    lines = (target / "submaps.csv").read_text().splitlines(keepends=True)
    (target / "submaps.csv").write_text("".join(lines[:-1]))
    read = RouteGraph.load(target)
    assert read.ids == (0, 1, 2)
    assert [(e.from_id, e.to_id) for e in read.edges] == [(0, 1), (1, 2)]
    assert "6 lines" in read.problems[0]


def test_a_writer_wants_things_in_order(tmp_path):
    graph = graph_of(straight(4))
    with RouteGraphWriter(tmp_path / "g") as writer:
        with pytest.raises(RouteGraphError, match="add its submap 0 before it"):
            writer.add_vertex(graph.vertices[0])
        writer.add_submap(graph.submap(0))
        with pytest.raises(RouteGraphError, match="submap 0 is there already"):
            writer.add_submap(graph.submap(0))
        writer.add_vertex(graph.vertices[0])
        with pytest.raises(RouteGraphError, match="vertex 0 is there already"):
            writer.add_vertex(graph.vertices[0])
        with pytest.raises(RouteGraphError, match="add vertex 1 before it"):
            writer.add_edge(graph.edges[0])
    with pytest.raises(RouteGraphError, match="there is something already"):
        RouteGraphWriter(tmp_path / "g")


@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_a_damaged_submap_is_told_and_its_neighbour_used(tmp_path, damage):
    graph_of(straight(9)).save(tmp_path / "g")
    graph = RouteGraph.load(tmp_path / "g")
    path = tmp_path / "g" / "submaps" / "0000003.npz"
    data = path.read_bytes()
    if damage == "flip":
        path.write_bytes(data[:500] + bytes([data[500] ^ 1]) + data[501:])
    elif damage == "cut":
        path.write_bytes(data[:-7])
    else:
        path.unlink()
    with pytest.raises(DamagedSubmapError, match=r"submap 3 is damaged.*0000003\.npz"):
        graph.submap(4)
    assert graph.submap(2).vertex_id == 0
    submap, T_submap_vertex = graph.intact_submap(5)
    assert submap.vertex_id == 6
    # Vertex 5 stands half a metre behind vertex 6.
    assert T_submap_vertex[:3, 3] == pytest.approx([-0.5, 0.0, 0.0], abs=ROUNDING)
    assert len(graph.problems) == 1
    with pytest.raises(DamagedSubmapError, match=r"no other submap within 0\.2 m"):
        graph.intact_submap(5, within_m=0.2)


def test_an_intact_submap_is_the_vertex_own(tmp_path):
    graph = graph_of(straight(9))
    submap, T_submap_vertex = graph.intact_submap(5)
    assert submap.vertex_id == 3
    assert np.array_equal(T_submap_vertex, graph.T_submap_vertex(5))


@pytest.mark.parametrize("name", ["vertices.csv", "edges.csv", "submaps.csv"])
def test_a_changed_table_is_refused(tmp_path, name):
    graph_of(straight()).save(tmp_path / "g")
    path = tmp_path / "g" / name
    path.write_text(path.read_text().replace("1", "2"))
    with pytest.raises(RouteGraphError, match=f"{name}: its SHA-256 is not that of the manifest"):
        RouteGraph.load(tmp_path / "g")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("0,0,nan,0,0,0,0,0,1,0,0,0,0,0,0,0,1", "NaN"),
        ("0,0,0,0,0,0,0,0,2,0,0,0,0,0,0,0,1", "length 1, got 2"),
        ("0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1", "17 cells expected, 16"),
        ("x,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1", "invalid literal"),
        ("-1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1", "must not be negative"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, reason):
    graph_of(straight(2)).save(tmp_path / "g")
    manifest = tmp_path / "g" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"is_finished": False}))
    with (tmp_path / "g" / "vertices.csv").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(RouteGraphError, match=rf"vertices\.csv:4: .*{reason}"):
        RouteGraph.load(tmp_path / "g")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": "a song"}, "something else"),
        ({"version": 2}, "version must be 1, got 2"),
        ({"submap_format": "../x"}, "must be npz or ply"),
        ({"sha256": 3}, "'sha256' must be a dict"),
    ],
)
def test_a_bad_manifest_is_refused(tmp_path, change, reason):
    graph_of(straight(2)).save(tmp_path / "g")
    manifest = tmp_path / "g" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | change))
    with pytest.raises(RouteGraphError, match=reason):
        RouteGraph.load(tmp_path / "g")


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
            for i in graph.neighbours(at)
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
