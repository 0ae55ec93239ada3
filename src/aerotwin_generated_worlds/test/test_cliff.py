# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The generated cliff: lies where it should, looks as rough and as smooth as it should."""

import cv2
import numpy as np

from aerotwin_generated_worlds.cliff import (
    FRONT_HALF_M,
    START_XY_M,
    WALL_END_M,
    CliffParameters,
    _along,
    _plan,
    build_cliff,
    inland_distance,
)
from aerotwin_rendering.queries import WorldQueries

ROUNDING = 1e-9


def test_plan_of_the_wall_is_where_the_inland_distance_is_zero():
    s = np.linspace(-WALL_END_M, WALL_END_M, 401)
    points, seaward = _plan(s)
    np.testing.assert_allclose(inland_distance(*points.T), 0.0, atol=ROUNDING)
    np.testing.assert_allclose(inland_distance(*(points + 3.0 * seaward).T), -3.0, atol=ROUNDING)
    np.testing.assert_allclose(_along(*points.T), s, atol=1e-6)
    # Steps along s have that length: s is the arc length.
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    np.testing.assert_allclose(steps, np.diff(s), rtol=1e-3)


def test_wall_stands_at_y_zero_and_is_twenty_metres_high(coarse_cliff):
    wall, beach, plateau, *_ = coarse_cliff
    front = np.abs(wall.vertices_map[:, 0]) < FRONT_HALF_M
    middle = front & (wall.vertices_map[:, 2] > 3.0) & (wall.vertices_map[:, 2] < 17.0)
    y = wall.vertices_map[middle, 1]
    assert -4.0 < y.min() < y.max() < 6.0
    assert 18.0 < wall.bounds_m[1, 2] < 24.0
    assert wall.bounds_m[0, 2] < beach.bounds_m[0, 2]  # the foot is buried
    assert plateau.bounds_m[0, 2] > 17.0


def test_beach_slopes_from_the_wall_to_sea_level(coarse_cliff, world_of):
    queries = WorldQueries(world_of(coarse_cliff[1]))
    x = np.linspace(-25, 25, 51)
    assert 0.5 < np.median(queries.height(x, -6.0)) < 2.0
    assert -0.6 < np.median(queries.height(x, -17.0)) < 0.4
    assert np.median(queries.height(x, -40.0)) < -0.8


def test_start_place_is_level(coarse_cliff, world_of):
    queries = WorldQueries(world_of(*coarse_cliff))
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, 9), np.linspace(-0.5, 0.5, 9))
    heights = queries.height(START_XY_M[0] + x, START_XY_M[1] + y)
    assert np.ptp(heights) < 0.01


def test_vehicle_paths_eight_metres_from_the_wall_are_free(coarse_cliff, world_of):
    queries = WorldQueries(world_of(*coarse_cliff))
    points = np.column_stack([np.linspace(-30, 30, 61), np.full(61, -8.5), np.full(61, 6.0)])
    assert queries.distance(points).min() > 3.0


def test_smooth_stretch_has_a_fraction_of_the_texture_around_it(coarse_cliff):
    wall = coarse_cliff[0]
    grey = cv2.cvtColor(wall.texture, cv2.COLOR_RGB2GRAY).astype(np.float32)
    detail = np.abs(cv2.Laplacian(grey, cv2.CV_32F))

    def around(x, z):
        distance = np.hypot(wall.vertices_map[:, 0] - x, wall.vertices_map[:, 2] - z)
        distance[np.abs(wall.vertices_map[:, 1]) > 6.0] = np.inf
        u, v = wall.uv[np.argmin(distance)]
        row, column = int(v * grey.shape[0]), int(u * grey.shape[1])
        return np.median(detail[row - 20 : row + 20, column - 20 : column + 20])

    assert around(9.0, 8.0) < 0.4 * around(-14.0, 8.0)


def test_texture_uses_the_grey_scale(coarse_cliff):
    for mesh in coarse_cliff[:2]:
        low, high = np.percentile(mesh.texture, [2, 98])
        assert high - low > 60
        assert high < 252  # not burnt out


def test_seeds_make_different_cliffs():
    a, b = (
        build_cliff(CliffParameters(seed=seed, spacing_m=1.0, texel_m=0.3))[0] for seed in (1, 2)
    )
    assert np.abs(a.vertices_map - b.vertices_map).max() > 1.0
    assert np.abs(a.texture.astype(int) - b.texture.astype(int)).mean() > 5.0


def test_finer_spacing_makes_half_a_million_triangles_by_default():
    default = CliffParameters()
    # Two triangles a cell over 60 m x 26 m of the front, counted from the spacing.
    assert 2 * (60.0 / default.spacing_m) * (26.0 / default.spacing_m) > 5e5
