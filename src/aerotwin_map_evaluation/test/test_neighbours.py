# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.spatial import cKDTree

from aerotwin_map_evaluation.kernels import WIDTH
from aerotwin_map_evaluation.neighbours import moments_within, nearest, nearest_cubes
from aerotwin_registration import tree_kernels
from aerotwin_registration.point_tree import PointTree

# Of coordinates of 5 million metres, differences of which are squared.
ROUNDING = 1e-8


def clouds():
    """Clouds that trees find hard: even, on a plane, in clumps, with copies, far away, tiny."""
    rng = np.random.default_rng(1000)
    ball = rng.normal(0, 5, (5000, 3))
    plane = np.column_stack([rng.uniform(-20, 20, (3001, 2)), np.zeros(3001)])
    clumps = np.concatenate([rng.normal(c, 0.01, (500, 3)) for c in rng.uniform(-100, 100, (8, 3))])
    return {
        "ball": ball,
        "plane": plane,
        "clumps": clumps,
        "copies": np.repeat(ball[:40], 30, axis=0),
        "utm": ball + np.array([512_345.0, 5_412_345.0, 300.0]),
        "line": np.column_stack([np.linspace(0, 100, 777), np.zeros((777, 2))]),
        "one": ball[:1],
        "nine": ball[:9],
    }


@pytest.mark.parametrize("name", clouds())
def test_distances_are_those_of_a_full_search(name):
    cloud = clouds()[name]
    rng = np.random.default_rng(1001)
    queries = np.concatenate(
        [cloud[::3], rng.uniform(cloud.min(0) - 30, cloud.max(0) + 30, (2000, 3))]
    )
    expected = cKDTree(cloud).query(queries)[0]
    np.testing.assert_allclose(nearest(PointTree(cloud), queries), expected, atol=ROUNDING)


def test_a_tree_that_asks_gives_the_same_as_its_points():
    ball, plane = clouds()["ball"], clouds()["plane"]
    tree = PointTree(ball)
    np.testing.assert_array_equal(nearest(tree, plane), nearest(tree, PointTree(plane)))


def test_beyond_the_limit_nothing_is_found():
    tree = PointTree(np.array([[0.0, 0, 0], [10, 0, 0]]))
    queries = np.array([[1.0, 0, 0], [4, 0, 0]])
    assert nearest(tree, queries, limit_m=1.5).tolist() == [1.0, np.inf]
    assert nearest_cubes(tree, queries, edge_m=1.0, limit_m=1.5).tolist() == [0.5, np.inf]


def test_the_tree_is_as_wide_as_its_builder_makes_it():
    assert WIDTH == tree_kernels.WIDTH


def test_cubes_are_nearest_by_their_faces():
    """Brute force over all cubes: the nearest cube is not always that of the nearest centre."""
    rng = np.random.default_rng(1002)
    centres = np.unique(rng.integers(-6, 6, (400, 3)), axis=0) * 0.5
    queries = rng.uniform(-4, 4, (3000, 3))
    gap = np.maximum(np.abs(queries[:, None] - centres) - 0.25, 0.0)
    expected = np.linalg.norm(gap, axis=2).min(axis=1)
    found = nearest_cubes(PointTree(centres), queries, edge_m=0.5)
    np.testing.assert_allclose(found, expected, atol=ROUNDING)
    by_centre = cKDTree(centres).query(queries)[1]
    naive = np.linalg.norm(np.maximum(np.abs(queries - centres[by_centre]) - 0.25, 0), axis=1)
    assert (naive > found + 0.01).any()


def test_moments_are_sums_over_the_points_in_a_ball():
    cloud = clouds()["ball"]
    queries = cloud[:50] + 0.3
    moments = moments_within(PointTree(cloud), queries, 2.0)
    for query, row in zip(queries, moments):
        offsets = cloud - query
        offsets = offsets[np.linalg.norm(offsets, axis=1) <= 2.0]
        x, y, z = offsets.T
        expected = [len(x), *offsets.sum(0), *(offsets**2).sum(0)]
        expected += [(x * y).sum(), (x * z).sum(), (y * z).sum()]
        np.testing.assert_allclose(row, expected, rtol=1e-9, atol=1e-9)
