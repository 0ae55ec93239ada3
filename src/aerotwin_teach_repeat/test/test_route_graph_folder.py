# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Folders of route graphs: read as written, cut off, damaged, gone on with."""

import json
import subprocess
import sys

import numpy as np
import pytest
from sample_graphs import COMPACT_M, COMPACT_NORMAL, ROUNDING, graph_of, planar, same, straight

from aerotwin_teach_repeat.route_graph import (
    DamagedSubmapError,
    MemorySubmaps,
    RouteGraph,
    RouteGraphError,
    RouteGraphWriter,
    Submap,
)


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
from sample_graphs import graph_of, straight
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
def test_a_damaged_submap_is_reported_and_its_neighbour_used(tmp_path, damage):
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
    assert np.array_equal(T_submap_vertex, graph.vertex(5).T_submap_vertex)


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
