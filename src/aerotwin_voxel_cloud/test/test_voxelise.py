# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_voxel_cloud import (
    frame_of_bounds,
    frame_of_box,
    grid_of_points,
    voxelise,
)

CUBE = frame_of_bounds([[0.0] * 3, [3.0] * 3], 1.0)


def clip(polygon, axis, limit, keep_below):
    """Cut a polygon by an axis-aligned plane (Sutherland-Hodgman): the slow obvious way."""
    out = []
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0)):
        inside_a = (a[axis] <= limit) == keep_below
        inside_b = (b[axis] <= limit) == keep_below
        if inside_a:
            out.append(a)
        if inside_a != inside_b:
            out.append(a + (b - a) * (limit - a[axis]) / (b[axis] - a[axis]))
    return np.array(out).reshape(-1, 3)


def slow_voxelise(vertices, triangles, origin, resolution, dims):
    occupied = np.zeros(dims, dtype=bool)
    for triangle in triangles:
        for index in np.ndindex(*dims):
            low = origin + np.array(index) * resolution
            polygon = vertices[triangle]
            for axis in range(3):
                for limit, below in ((low[axis], False), (low[axis] + resolution, True)):
                    if len(polygon):
                        polygon = clip(polygon, axis, limit, below)
            occupied[index] |= len(polygon) > 0
    return occupied


@pytest.mark.parametrize("seed", [1000, 1001, 1002])
def test_cells_are_those_that_a_clipped_triangle_enters(seed):
    rng = np.random.default_rng(seed)
    vertices = rng.uniform(-2.0, 2.0, (12, 3))
    triangles = rng.permutation(12).reshape(4, 3)
    grid = voxelise(vertices, triangles, 0.6)
    expected = slow_voxelise(vertices, triangles, grid.origin_m, 0.6, grid.dims)
    assert (grid.dense() == expected).all()


def test_a_plane_on_a_grid_plane_fills_one_layer_above_it():
    vertices = np.array([[0.1, 0.1, 2.0], [2.9, 0.1, 2.0], [0.1, 2.9, 2.0], [2.9, 2.9, 2.0]])
    grid = voxelise(vertices, np.array([[0, 1, 2], [1, 3, 2]]), 1.0, frame=CUBE)
    assert set(grid.centres()[:, 2]) == {2.5}
    assert grid.n_occupied == 9


def test_a_unit_cube_has_a_hollow_shell():
    """Faces at 0.5 and 4.5 of a 5-cell grid: 125 - 27 inner cells."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * 4.0 + 0.5
    quads = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    triangles = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    assert voxelise(corners, triangles, 1.0).n_occupied == 98


def test_what_lies_outside_the_box_is_cut_off():
    vertices = np.array([[-50.0, 0.3, 0.3], [50.0, 0.3, 0.3], [50.0, 0.3, 0.31]])
    frame = frame_of_box([0.0, 0.0, 0.0], [4.0, 2.0, 2.0], 1.0)
    grid = voxelise(vertices, np.array([[0, 1, 2]]), 1.0, frame=frame)
    assert grid.dims == (4, 2, 2)
    assert grid.n_occupied == 4


def test_points_fill_their_cells_only():
    points = np.array([[0.2, 0.2, 0.2], [0.9, 0.1, 0.3], [2.5, -0.5, 0.0]])
    grid = grid_of_points(points, frame_of_bounds([points.min(axis=0), points.max(axis=0)], 1.0))
    np.testing.assert_allclose(grid.centres(), [[0.5, 0.5, 0.5], [2.5, -0.5, 0.5]])


def test_a_grid_beyond_memory_is_refused():
    with pytest.raises(UserError, match="coarser resolution"):
        frame_of_bounds(np.array([[0, 0, 0], [1e4, 1e4, 1e4]]), 0.1)


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
