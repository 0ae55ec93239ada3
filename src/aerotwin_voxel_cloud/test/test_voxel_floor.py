# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What voxels cost a map that is perfect: centres against the mean of the surface in each cell.

For cells of 1 m a perfect surface is 0.480 +- 0.139 m from the nearest centre, over orientations,
and a level plane 0.38 to 0.62 m by its height in the cell (computed beforehand, 40 planes).
"""

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from aerotwin_registration import align
from aerotwin_voxel_cloud import surface_points, voxelise

SAMPLE_ERROR = 0.01  # 40 planes of 2000 points: the mean of 40 planes spreads by 0.04 / sqrt(40)
LATTICE_M = 1e-8  # corners are taken to 2^-28 of a cell
QUADS = np.array([[0, 1, 2], [1, 3, 2]])
SIDE_M = 40.0


def square(middle, a, b):
    return np.array([middle + s * a + t * b for s in (-0.5, 0.5) for t in (-0.5, 0.5)])


def planes(rng):
    """Yield 40 planes of 40 x 40 m: corners, normal, a point of it, 2000 points inside it."""
    for _ in range(40):
        R = Rotation.random(rng=rng).as_matrix()
        middle = R[:, 2] * rng.uniform(-0.5, 0.5)
        corners = square(middle, SIDE_M * R[:, 0], SIDE_M * R[:, 1])
        spread = rng.uniform(-0.4 * SIDE_M, 0.4 * SIDE_M, (2000, 2))
        yield corners, R[:, 2], middle, middle + spread @ R[:, :2].T


def test_centres_are_half_a_cell_from_a_perfect_map_and_surface_points_lie_on_it():
    distances, centres_off = [], []
    for corners, normal, middle, samples in planes(np.random.default_rng(1000)):
        grid = voxelise(corners, QUADS, 1.0)
        centres, means = grid.centres(), surface_points(corners, QUADS, grid)
        distances.append([cKDTree(points).query(samples)[0] for points in (centres, means)])
        centres_off.append(np.abs((centres - middle) @ normal).mean())
        assert np.abs((means - middle) @ normal).max() < LATTICE_M
    to_centres, to_means = np.array(distances).transpose(1, 0, 2)
    assert to_centres.mean() == pytest.approx(0.480, abs=SAMPLE_ERROR)
    assert to_centres.std() == pytest.approx(0.139, abs=SAMPLE_ERROR)
    assert np.mean(centres_off) > 0.35  # from the surface itself, where the means are at 0
    # What is left is the spacing of the points along the surface.
    assert to_means.mean() < 0.33


@pytest.mark.parametrize("height", [0.5, 0.25, 0.001])
def test_a_level_plane_scores_by_its_height_in_the_cell(height):
    """The mean over a unit square of the distance to a point above its middle: 0.38 to 0.64."""
    x, y = np.meshgrid(*[(np.arange(1000) + 0.5) / 1000 - 0.5] * 2)
    corners = square(np.array([0.0, 0.0, height]), SIDE_M * np.eye(3)[0], SIDE_M * np.eye(3)[1])
    rng = np.random.default_rng(1000)
    samples = np.column_stack([rng.uniform(-15, 15, (20_000, 2)), np.full(20_000, height)])
    grid = voxelise(corners, QUADS, 1.0)
    for points, above in (
        (grid.centres(), 0.5 - height),
        (surface_points(corners, QUADS, grid), 0),
    ):
        found = cKDTree(points).query(samples)[0].mean()
        assert found == pytest.approx(np.sqrt(x**2 + y**2 + above**2).mean(), abs=SAMPLE_ERROR)


def test_alignment_to_centres_shifts_a_perfect_map_and_to_surface_points_hardly():
    """A corner of walls 0.4 m below the middle of their cells, with its sides along the grid."""
    rng = np.random.default_rng(1000)
    x, y, z = SIDE_M * np.eye(3)
    walls = [square(x / 2 + y / 2, x, y), square(y / 2 + z / 4, y, z / 2)]
    walls.append(square(x / 2 + z / 4, x, z / 2))
    vertices = np.concatenate(walls) + 0.1
    triangles = np.concatenate([QUADS + 4 * n for n in range(3)])
    samples = vertices[triangles[rng.integers(0, 6, 6000)]]
    perfect = np.einsum("nk,nkc->nc", rng.dirichlet([1, 1, 1], 6000), samples)
    grid = voxelise(vertices, triangles, 1.0)
    middle, shifts = perfect.mean(axis=0), []
    for reference in (grid.centres(), surface_points(vertices, triangles, grid)):
        T = align(perfect, reference).T_target_source
        shifts.append(np.linalg.norm(T[:3, :3] @ middle + T[:3, 3] - middle))
    assert shifts[0] > 0.4
    assert shifts[1] < 0.1 * shifts[0]
