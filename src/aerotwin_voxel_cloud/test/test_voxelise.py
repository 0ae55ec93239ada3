# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Oracles: clipping in rational arithmetic, a separating-axis test of all boxes, Open3D."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_voxel_cloud import frame_of_bounds, frame_of_box, surface_points, voxelise
from aerotwin_voxel_cloud import voxelisation as voxelisation_module

STEP = 2.0**-28  # of the lattice on which corners are taken, in cells
ROUNDING = 1e-9
SIDE = 6
BOX = frame_of_box([SIDE / 2.0] * 3, [SIDE] * 3, 1.0)


def clip(polygon, axis, limit, sign):
    """Cut an exact polygon by an axis-aligned plane (Sutherland-Hodgman)."""
    out = []
    for a, b in pairwise([*polygon, polygon[0]]):
        here, there = sign * (a[axis] - limit), sign * (b[axis] - limit)
        if here >= 0:
            out.append(a)
        if here * there < 0:
            out.append([p + (q - p) * here / (here - there) for p, q in zip(a, b)])
    return out


def clipped(triangle, cell):
    polygon = triangle
    for axis, low in enumerate(cell):
        for limit, sign in ((low, 1), (low + 1, -1)):
            polygon = clip(polygon, axis, limit, sign) if polygon else polygon
    return polygon


def exact_voxels(vertices, triangles):
    """Half-open cells: what is clipped to the closed cell must not lie on one upper face."""
    occupied = np.zeros(BOX.dims, dtype=bool)
    for corners in vertices[triangles]:
        triangle = [[Fraction(float(value)) for value in corner] for corner in corners]
        low = np.clip(np.floor(corners.min(axis=0)), 0, SIDE).astype(int)
        high = np.clip(np.floor(corners.max(axis=0)) + 1, 0, SIDE).astype(int)
        for index in np.ndindex(*np.maximum(high - low, 0)):
            cell = tuple(int(v) for v in low + index)
            polygon = clipped(triangle, cell)
            if polygon:
                reach = [min(p[axis] for p in polygon) < cell[axis] + 1 for axis in range(3)]
                occupied[cell] |= all(reach)
    return occupied


def soup(kind, seed):
    """Eight triangles of a kind; all but the first have corners or edges on grid planes."""
    rng = np.random.default_rng(seed)
    n = 24
    if kind == "general":
        return rng.uniform(-1.0, SIDE + 1.0, (n, 3))
    if kind == "integer":
        return rng.integers(-1, SIDE + 2, (n, 3)).astype(float)
    if kind == "halves":
        return rng.integers(-2, 2 * SIDE + 2, (n, 3)) / 2.0
    if kind == "nearly":
        return rng.integers(0, SIDE, (n, 3)) + STEP * rng.integers(-1, 2, (n, 3))
    vertices = rng.integers(0, SIDE, (n, 3)).astype(float)  # lines and points
    share = rng.integers(0, 3, (n // 3, 1)) / 2.0
    vertices[2::3] = vertices[0::3] + (vertices[1::3] - vertices[0::3]) * share
    return vertices


@pytest.mark.parametrize("seed", [1000, 1001, 1002])
@pytest.mark.parametrize("kind", ["general", "integer", "halves", "nearly", "degenerate"])
def test_cells_are_those_of_rational_arithmetic(kind, seed):
    vertices = soup(kind, seed)
    if kind == "general":
        vertices = np.rint(vertices / STEP) * STEP
    triangles = np.arange(24).reshape(8, 3)
    grid = voxelise(vertices, triangles, 1.0, frame=BOX)
    assert (grid.dense() == exact_voxels(vertices, triangles)).all()


def separated(corners, dims):
    """For all boxes at once: whether one of the 13 axes separates a triangle from them."""
    low = np.stack(np.meshgrid(*(np.arange(n) for n in dims), indexing="ij"), axis=-1)
    edges = np.roll(corners, -1, axis=0) - corners
    axes = [*np.eye(3), np.cross(edges[0], edges[1])]
    axes += [np.cross(edge, unit) for edge in edges for unit in np.eye(3)]
    is_apart = np.zeros(dims, dtype=bool)
    for axis in axes:
        along = corners @ axis
        middle, reach = (low + 0.5) @ axis, 0.5 * np.abs(axis).sum()
        is_apart |= (middle - reach > along.max()) | (middle + reach < along.min())
    return is_apart


@pytest.mark.parametrize("seed", [1000, 1001, 1002])
def test_no_cell_is_missed_of_a_scene_against_all_boxes(seed):
    """Large and small triangles over several slabs: the closed boxes, no tie by chance."""
    rng = np.random.default_rng(seed)
    dims = (37, 21, 29)
    frame = frame_of_box(np.array(dims) / 2.0, dims, 1.0)
    middle = rng.uniform(0.0, 35.0, (60, 1, 3))
    size = 10.0 ** rng.uniform(-1.0, 1.5, (60, 1, 1))
    vertices = (middle + size * rng.standard_normal((60, 3, 3))).reshape(-1, 3)
    triangles = np.arange(180).reshape(60, 3)
    expected = np.zeros(dims, dtype=bool)
    for corners in vertices[triangles]:
        expected |= ~separated(corners, dims)
    assert (voxelise(vertices, triangles, 1.0, frame=frame).dense() == expected).all()


def test_a_plane_on_a_grid_plane_fills_one_layer_above_it():
    vertices = np.array([[0.1, 0.1, 2.0], [2.9, 0.1, 2.0], [0.1, 2.9, 2.0], [2.9, 2.9, 2.0]])
    grid = voxelise(vertices, np.array([[0, 1, 2], [1, 3, 2]]), 1.0, frame=BOX)
    assert set(grid.centres()[:, 2]) == {2.5}
    assert grid.n_occupied == 9


def test_a_place_that_decimals_only_nearly_reach_is_on_the_grid_plane():
    """0.3 / 0.1 is 2.9999999999999996."""
    vertices = np.array([[0.01, 0.01, 0.3], [0.09, 0.01, 0.3], [0.01, 0.09, 0.3]])
    grid = voxelise(vertices, np.array([[0, 1, 2]]), 0.1)
    np.testing.assert_allclose(grid.centres(), [[0.05, 0.05, 0.35]], atol=ROUNDING)


def cube(low, high):
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    quads = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    triangles = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    return corners * (high - low) + low, triangles


def test_a_unit_cube_has_a_hollow_shell():
    """Faces at 0.5 and 4.5 of a 5-cell grid: 125 - 27 inner cells."""
    assert voxelise(*cube(0.5, 4.5), 1.0).n_occupied == 98


def test_what_lies_outside_the_box_is_cut_off():
    vertices = np.array([[-50.0, 0.3, 0.3], [50.0, 0.3, 0.3], [50.0, 0.3, 0.31]])
    frame = frame_of_box([0.0, 0.0, 0.0], [4.0, 2.0, 2.0], 1.0)
    grid = voxelise(vertices, np.array([[0, 1, 2]]), 1.0, frame=frame)
    assert grid.dims == (4, 2, 2)
    assert grid.n_occupied == 4


def test_agrees_with_open3d_on_a_torus():
    o3d = pytest.importorskip("open3d")
    mesh = o3d.geometry.TriangleMesh.create_torus(torus_radius=3.0, tube_radius=1.0)
    mesh.rotate(mesh.get_rotation_matrix_from_xyz((0.3, 0.5, 0.7)))
    vertices, triangles = np.asarray(mesh.vertices), np.asarray(mesh.triangles)
    frame = frame_of_bounds([[-5.0] * 3, [5.0] * 3], 0.25)
    ours = voxelise(vertices, triangles, 0.25, frame=frame)
    theirs = o3d.geometry.VoxelGrid.create_from_triangle_mesh_within_bounds(
        mesh, 0.25, frame.origin_m, frame.upper_m
    )
    index = np.array([v.grid_index for v in theirs.get_voxels()])
    # Where nothing touches a grid plane the two must agree but for rounding.
    other = np.zeros(ours.dims, dtype=bool)
    other[tuple(index.T)] = True
    assert np.count_nonzero(other ^ ours.dense()) <= 0.001 * ours.n_occupied


def test_the_number_of_threads_does_not_show(monkeypatch):
    rng = np.random.default_rng(1000)
    vertices, triangles = rng.uniform(0.0, 60.0, (300, 3)), np.arange(300).reshape(100, 3)
    results = []
    for n_threads in (1, 3):
        monkeypatch.setattr(voxelisation_module, "default_thread_count", lambda n=n_threads: n)
        grid = voxelise(vertices, triangles, 1.0)
        results.append((grid.words, surface_points(vertices, triangles, grid)))
    assert all((one == other).all() for one, other in zip(*results))


def mean_of_surface(triangle, cell):
    """Return area and centroid times area of a triangle in a cell, exact clipping, float sums."""
    polygon = np.array(clipped(triangle, cell), dtype=float).reshape(-1, 3)
    area, moment = 0.0, np.zeros(3)
    for b, c in pairwise(polygon[1:]):
        part = 0.5 * np.linalg.norm(np.cross(b - polygon[0], c - polygon[0]))
        area, moment = area + part, moment + part * (polygon[0] + b + c) / 3.0
    return area, moment


@pytest.mark.parametrize("seed", [1000, 1001])
def test_surface_points_are_the_centroids_of_what_was_clipped(seed):
    vertices = np.rint(soup("general", seed) / STEP) * STEP
    triangles = np.arange(24).reshape(8, 3)
    grid = voxelise(vertices, triangles, 1.0, frame=BOX)
    exact = [[[Fraction(float(v)) for v in p] for p in corners] for corners in vertices[triangles]]
    for cell, point in zip(grid.cells(), surface_points(vertices, triangles, grid)):
        cell = tuple(int(v) for v in cell)
        sums = [mean_of_surface(triangle, cell) for triangle in exact]
        area, moment = sum(a for a, _ in sums), sum(m for _, m in sums)
        if area > ROUNDING:
            np.testing.assert_allclose(point, moment / area, atol=ROUNDING)


def test_a_surface_point_lies_in_its_cell_even_where_only_an_edge_touches():
    for kind in ("integer", "nearly", "degenerate"):
        vertices, triangles = soup(kind, 1003), np.arange(24).reshape(8, 3)
        grid = voxelise(vertices, triangles, 1.0, frame=BOX)
        inside = surface_points(vertices, triangles, grid) - grid.cells()
        assert ((inside >= -ROUNDING) & (inside <= 1.0 + ROUNDING)).all()


def test_surface_points_are_those_of_the_mesh_that_made_the_grid():
    grid = voxelise(*cube(0.5, 4.5), 1.0)
    with pytest.raises(ValueError, match="must be that of the mesh"):
        surface_points(*cube(0.5, 2.5), grid)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_vertices_that_are_no_places_are_refused(value):
    vertices, triangles = cube(0.5, 4.5)
    with pytest.raises(UserError, match="must be finite and within"):
        voxelise(np.where(vertices > 4.0, value, vertices), triangles, 1.0, frame=BOX)


def test_a_triangle_of_vertices_that_are_not_there_is_refused():
    with pytest.raises(ValueError, match="existing vertices"):
        voxelise(np.zeros((2, 3)), np.array([[0, 1, 2]]), 1.0)


def test_a_mesh_without_triangles_is_refused():
    with pytest.raises(UserError, match="no triangles"):
        voxelise(np.zeros((2, 3)), np.empty((0, 3), dtype=np.int32), 1.0)
