# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Queries against closed forms and Embree."""

import numpy as np
import pytest

from aerotwin_worlds import WorldQueries

EXACT = 1e-12
SINGLE = 1e-5  # Embree's single precision, metres, in worlds of tens of metres


@pytest.fixture(scope="module")
def step(quad, world_of):
    """A slope z = 0.5 x over 20 m x 20 m, and a level roof at z = 8 over its quarter x, y > 0."""
    slope = quad([(-10, 10, -5), (10, 10, 5), (10, -10, 5), (-10, -10, -5)])
    roof = quad([(0, 10, 8), (10, 10, 8), (10, 0, 8), (0, 0, 8)])
    return WorldQueries(world_of(slope, roof))


def test_height_is_that_of_the_highest_surface(step):
    assert step.height(3.0, -2.0) == pytest.approx(1.5, abs=EXACT)
    assert step.height(3.0, 2.0) == pytest.approx(8.0, abs=EXACT)
    grid = step.height(np.linspace(-9, -1, 5)[:, None], np.linspace(-9, 9, 7)[None])
    np.testing.assert_allclose(grid, np.repeat(np.linspace(-4.5, -0.5, 5)[:, None], 7, axis=1))


def test_height_beside_the_world_is_minus_infinity(step):
    assert step.height(11.0, 0.0) == -np.inf


def test_ground_plane_on_a_slope_has_its_normal(step):
    point, normal = step.ground_plane([-4.0, 3.0, 5.0])
    np.testing.assert_allclose(point, [-4.0, 3.0, -2.0], atol=EXACT)
    np.testing.assert_allclose(normal, np.array([-0.5, 0.0, 1.0]) / np.sqrt(1.25), atol=EXACT)


def test_ground_under_a_roof_is_the_floor_and_above_it_the_roof(step):
    assert step.ground_plane([4.0, 4.0, 5.0])[0][2] == pytest.approx(2.0, abs=EXACT)
    assert step.ground_plane([4.0, 4.0, 9.0])[0][2] == pytest.approx(8.0, abs=EXACT)


def test_ground_is_still_found_when_pressed_in(step):
    assert step.ground_plane([-4.0, 3.0, -2.05])[0][2] == pytest.approx(-2.0, abs=EXACT)


def test_no_ground_beside_the_world(step):
    point, normal = step.ground_plane([30.0, 0.0, 5.0])
    assert point[2] == -np.inf
    np.testing.assert_array_equal(normal, [0.0, 0.0, 1.0])


def test_normal_at_the_edge_is_that_of_the_triangle(step):
    _, normal = step.ground_plane([-9.95, 3.0, 5.0])
    np.testing.assert_allclose(normal, np.array([-0.5, 0.0, 1.0]) / np.sqrt(1.25), atol=EXACT)


def test_distance_to_a_roof_and_a_slope(step):
    distances = step.distance([[5.0, 5.0, 11.0], [-4.0, -4.0, 0.0]])
    np.testing.assert_allclose(distances, [3.0, 2.0 / np.sqrt(1.25)], atol=SINGLE)


def test_rays_report_metres_whatever_their_length(step):
    ranges = step.cast([[5.0, 5.0, 11.0]] * 3, [[0, 0, -1], [0, 0, -7.0], [0, 0, 1]])
    np.testing.assert_allclose(ranges, [3.0, 3.0, np.inf], atol=SINGLE)


def test_segments_hit_what_lies_between_their_ends(step):
    assert step.segment_hits([5.0, 5.0, 9.0], [5.0, 5.0, 7.0])
    assert not step.segment_hits([5.0, 5.0, 9.0], [5.0, 5.0, 8.1])
    assert not step.segment_hits([5.0, 5.0, 9.0], [5.0, 5.0, 9.0])


def test_heights_on_the_cliff_are_those_of_rays_from_above(coarse_cliff, world_of):
    queries = WorldQueries(world_of(*coarse_cliff))
    xy = np.random.default_rng(5).uniform([-40, -40], [40, 30], (300, 2))
    origins = np.column_stack([xy, np.full(300, 60.0)])
    ranges = queries.cast(origins, np.tile([0.0, 0.0, -1.0], (300, 1)))
    # On the nearly vertical wall a height is worth its slope: single precision times ten.
    difference = np.abs(queries.height(*xy.T) - (60.0 - ranges))
    assert np.quantile(difference, 0.98) < 10 * SINGLE


def test_points_must_be_finite(step):
    with pytest.raises(ValueError, match="finite"):
        step.distance([[0.0, np.nan, 0.0]])
