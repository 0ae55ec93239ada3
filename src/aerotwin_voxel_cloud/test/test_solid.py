# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Oracles: whole-number boxes, the inside of a tetrahedron and a sphere by formula, Embree."""

from importlib import import_module

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from aerotwin_core.errors import UserError
from aerotwin_voxel_cloud import TriangleSurface, frame_of_box, read_binvox, voxelise, write_binvox
from aerotwin_voxel_cloud.solid import parts_of, voxelise_solid

CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
OUTWARDS = np.array([t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))])
FRAME = frame_of_box([6.0, 6.0, 6.0], [12.0, 12.0, 12.0], 1.0)


def box(low, high, triangles=OUTWARDS):
    low, high = np.broadcast_to(low, 3), np.broadcast_to(high, 3)
    return CORNERS * (high - low) + low, triangles


def joined(*meshes, names=None):
    ends = np.cumsum([len(triangles) for _, triangles in meshes])
    starts = np.cumsum([0] + [len(vertices) for vertices, _ in meshes])
    return TriangleSurface(
        vertices=np.concatenate([vertices for vertices, _ in meshes]).astype(float),
        triangles=np.concatenate([t + n for (_, t), n in zip(meshes, starts)]).astype(np.int32),
        mesh_names=tuple(names or map(str, range(len(meshes)))),
        mesh_ends=tuple(int(n) for n in ends),
    )


def filled(*meshes, names=None, frame=FRAME):
    grid, report = voxelise_solid(joined(*meshes, names=names), frame)
    return grid.dense(), report


def cells_between(low, high):
    occupied = np.zeros(FRAME.dims, dtype=bool)
    occupied[
        tuple(slice(a, b) for a, b in zip(np.broadcast_to(low, 3), np.broadcast_to(high, 3)))
    ] = 1
    return occupied


def test_a_box_is_filled_and_its_volume_is_known():
    occupied, report = filled(box(1.25, 8.5))
    assert (occupied == cells_between(1, 9)).all()
    assert (report.n_closed, report.n_open, report.n_cavities) == (1, 0, 0)
    assert parts_of(*box(0.0, 4.0)).volume_m3 == pytest.approx([64.0])


def test_lines_that_graze_edges_and_corners_count_right():
    """Faces, edges and diagonals through the centres of columns."""
    for low, high in ((0.5, 7.5), (1.5, 4.5), (2.0, 6.5)):
        occupied, _ = filled(box(low, high))
        assert (occupied == cells_between(int(low), int(high) + 1)).all()


def tetrahedron(rng):
    """Corners and edges pass through the centres of columns."""
    corners = np.zeros((4, 3))
    while abs(np.linalg.det(corners[1:] - corners[0])) < 1.0:
        corners = rng.integers(0, 24, (4, 3)) / 2.0
    triangles = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    return corners, triangles


@pytest.mark.parametrize("seed", range(1000, 1020))
def test_a_cell_that_the_surface_misses_is_inside_as_its_centre_is(seed):
    corners, triangles = tetrahedron(np.random.default_rng(seed))
    occupied, _ = filled((corners, triangles))
    shell = voxelise(corners, triangles, 1.0, frame=FRAME).dense()
    centres = np.argwhere(~shell) + 0.5
    planes = ConvexHull(corners).equations
    inside = (centres @ planes[:, :3].T + planes[:, 3] < 0.0).all(axis=1)
    assert (occupied[~shell] == inside).all()
    assert occupied[shell].all()


def test_a_closed_surface_reads_as_embree_says():
    o3d = pytest.importorskip("open3d")
    torus = o3d.geometry.TriangleMesh.create_torus(torus_radius=3.5, tube_radius=1.7)
    torus.rotate(torus.get_rotation_matrix_from_xyz((0.3, 0.5, 0.7)))
    vertices, triangles = np.asarray(torus.vertices) + 6.0, np.asarray(torus.triangles)
    frame = frame_of_box([6.0] * 3, [12.0] * 3, 0.5)
    occupied, _ = filled((vertices, triangles), frame=frame)
    shell = voxelise(vertices, triangles, 0.5, frame=frame).dense()
    scene = o3d.t.geometry.RaycastingScene()
    scene.add_triangles(
        o3d.core.Tensor(vertices.astype(np.float32)), o3d.core.Tensor(triangles.astype(np.uint32))
    )
    centres = frame.centres_of(np.argwhere(~shell)).astype(np.float32)
    theirs = scene.compute_occupancy(o3d.core.Tensor(centres)).numpy() > 0.5
    assert (occupied[~shell] == theirs).all()


def test_solids_that_overlap_are_one_and_not_a_hole():
    occupied, report = filled(box(0.5, 6.5), box(3.5, 9.5))
    assert (occupied == (cells_between(0, 7) | cells_between(3, 10))).all()
    assert report.n_closed == 2


def test_a_box_that_faces_inwards_is_solid_by_itself():
    occupied, report = filled(box(1.25, 8.5, OUTWARDS[:, ::-1]))
    assert (occupied == cells_between(1, 9)).all()
    assert report.n_cavities == 0


def test_one_that_faces_inwards_inside_another_is_a_cavity():
    occupied, report = filled(box(0.5, 10.5), box(3.5, 7.5, OUTWARDS[:, ::-1]))
    assert (occupied == (cells_between(0, 11) & ~cells_between(4, 7))).all()
    assert report.n_cavities == 1


def courtyard():
    """A house around a yard that is open to the south (y < 4)."""
    plan = [(1, 1), (4, 1), (4, 7), (8, 7), (8, 1), (11, 1), (11, 10), (1, 10)]
    caps = [(0, 1, 2), (0, 2, 7), (7, 2, 3), (7, 3, 6), (6, 3, 4), (6, 4, 5)]
    corners = np.array([(x + 0.25, y + 0.25, z) for z in (0.5, 9.5) for x, y in plan])
    sides = [(i, (i + 1) % 8, (i + 1) % 8 + 8, i + 8) for i in range(8)]
    walls = [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]
    roof = [tuple(n + 8 for n in cap) for cap in caps]
    return corners, np.array([*walls, *roof, *(cap[::-1] for cap in caps)])


def test_one_that_faces_inwards_in_the_yard_of_another_is_no_cavity():
    house, shed = courtyard(), box((5.5, 2.5, 2.5), (6.5, 5.5, 6.5), OUTWARDS[:, ::-1])
    parts = parts_of(*house)
    assert parts.is_closed.all()
    assert parts.is_oriented.all()
    assert parts.volume_m3 == pytest.approx([(90.0 - 24.0) * 9.0])
    occupied, report = filled(house, shed)
    alone, _ = filled(house)
    assert report.n_cavities == 0
    assert (occupied == (alone | cells_between((5, 2, 2), (7, 6, 7)))).all()


@pytest.mark.parametrize("seed", range(1000, 1020))
def test_what_takes_away_lies_inside_however_it_is_turned(seed):
    """Small tetrahedra in and beside a large one: the oracle is its four planes."""
    rng = np.random.default_rng(seed)
    corners = tetrahedron(rng)[0]
    hull = ConvexHull(corners)
    outwards = np.array(
        [
            s if np.linalg.det(corners[s] - corners.mean(axis=0)) > 0 else s[::-1]
            for s in hull.simplices
        ]
    )
    small = 1e-3 * CORNERS
    places = rng.uniform(corners.min(axis=0), corners.max(axis=0) - 1e-3, (100, 3))
    places[:4] = corners.mean(axis=0) + 1e-2 * (np.round(corners) - corners.mean(axis=0))
    meshes = [(corners, outwards), *((small + place, OUTWARDS[:, ::-1]) for place in places)]
    surface = joined(*meshes)
    parts = parts_of(surface.vertices, surface.triangles)
    side = places @ hull.equations[:, :3].T + hull.equations[:, 3]
    is_clear = (np.abs(side) > 2e-3).all(axis=1)
    in_order = parts.part_of[4 + 12 * np.arange(100)]
    assert (parts.cavities()[in_order] == (side < 0.0).all(axis=1))[is_clear].all()


def test_a_closed_part_of_mixed_orientation_is_filled_by_parity():
    mixed = OUTWARDS.copy()
    mixed[::2] = mixed[::2, ::-1]
    assert not parts_of(*box(0.0, 4.0, mixed)).is_oriented.any()
    occupied, _ = filled(box(1.25, 8.5, mixed))
    assert (occupied == cells_between(1, 9)).all()


def test_seams_are_welded():
    """Every triangle with corners of its own, as textured meshes have them."""
    vertices, triangles = box(1.25, 8.5)
    occupied, report = filled((vertices[triangles].reshape(-1, 3), np.arange(36).reshape(12, 3)))
    assert (occupied == cells_between(1, 9)).all()
    assert report.n_closed == 1


def test_seams_are_welded_across_the_borders_of_the_lattice():
    """Noise of a nanometre parts some of 20 000 vertices however a lattice lies."""
    rng = np.random.default_rng(1000)
    points = rng.normal(size=(20_000, 3))
    hull = ConvexHull(50.0 * points / np.linalg.norm(points, axis=1)[:, None])
    corners = hull.points[hull.simplices].reshape(-1, 3)
    corners = corners + rng.uniform(-1e-9, 1e-9, corners.shape)
    parts = parts_of(corners, np.arange(len(corners)).reshape(-1, 3))
    assert parts.is_closed.tolist() == [True]
    assert len(parts.vertices) == len(hull.points)


def test_vertices_further_apart_than_the_weld_stay_two():
    vertices = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 2.1e-5, 0.0]])
    assert len(parts_of(vertices, np.array([[0, 1, 2], [3, 1, 2]])).vertices) == 4
    vertices[3, 1] = 0.9e-5
    assert len(parts_of(vertices, np.array([[0, 1, 2], [3, 1, 2]])).vertices) == 3


def test_open_parts_are_reported_by_name_and_count_and_stay_shells():
    ground = np.array([[0.0, 0.0, 0.3], [12.0, 0.0, 0.3], [0.0, 12.0, 0.3], [12.0, 12.0, 0.3]])
    ground = ground, np.array([[0, 1, 2], [1, 3, 2]])
    roofless = box(7.5, 10.5, OUTWARDS[:-2])
    occupied, report = filled(ground, box(1.25, 5.5), roofless, names=("ground", "house", "shed"))
    shell = voxelise(*roofless, 1.0, frame=FRAME).dense()
    layer = cells_between((0, 0, 0), (12, 12, 1))
    assert (occupied == (layer | cells_between(1, 6) | shell)).all()
    assert report.open_parts == (("shed", 1, 10), ("ground", 1, 2))
    assert (report.n_closed, report.n_open) == (1, 2)
    assert report.record()["open"][0] == {"mesh": "shed", "n_parts": 1, "n_triangles": 10}


def test_a_solid_that_the_grid_cuts_is_filled_within_it():
    occupied, _ = filled(box((-5.5, 2.5, -3.5), (20.5, 5.5, 30.0)))
    assert (occupied == cells_between((0, 2, 0), (12, 6, 12))).all()


def test_a_mesh_in_parts_keeps_its_triangles_and_names_them():
    parts = parts_of(*[np.concatenate(a) for a in zip(box(0, 1), (CORNERS + 5.0, OUTWARDS + 8))])
    assert len(parts.is_closed) == 2
    assert parts.part_of.tolist() == [parts.part_of[0]] * 12 + [parts.part_of[12]] * 12


@pytest.mark.parametrize("kind", ["shell", "solid", "binvox"])
def test_what_outgrows_memory_is_refused_while_it_grows(tmp_path, monkeypatch, kind):
    """100 slabs of 25 bricks; what is refused afterwards has taken the memory already."""
    frame = frame_of_box([400.0, 20.0, 20.0], [800.0, 40.0, 40.0], 1.0)
    surface = joined(box((0.5, 0.5, 0.5), (799.5, 39.5, 39.5)))
    write_binvox(tmp_path / "a.binvox", voxelise_solid(surface, frame)[0])
    monkeypatch.setattr(import_module("aerotwin_voxel_cloud.voxelisation"), "MAX_BRICKS", 100)
    done = []
    with pytest.raises(UserError, match="at most 100 fit"):
        if kind == "shell":
            args = (surface.vertices, surface.triangles, 1.0)
            voxelise(*args, frame=frame, on_done=done.append)
        elif kind == "solid":
            voxelise_solid(surface, frame, on_done=done.append)
        else:
            read_binvox(tmp_path / "a.binvox", on_done=done.append)
    assert len(done) <= 100 / 16 + 4  # a ring of 16 at least in each, and one for each thread
