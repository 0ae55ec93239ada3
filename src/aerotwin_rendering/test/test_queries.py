# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Queries against closed forms, slow searches and Embree."""

from dataclasses import replace

import numpy as np
import pytest

from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import WorldQueries
from aerotwin_rendering.ray_scene import triangle_reflectivity

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


def slow_hits(meshes, origins, directions):
    """Möller and Trumbore (1997), every ray against every triangle: distance, mesh, triangle."""
    best = np.full(len(origins), np.inf)
    owner = np.full((len(origins), 2), -1)
    for k, mesh in enumerate(meshes):
        a, b, c = (mesh.vertices_map[mesh.triangles[:, i]] for i in range(3))
        for i, (o, d) in enumerate(zip(origins, directions)):
            p = np.cross(d, c - a)
            determinant = ((b - a) * p).sum(1)
            with np.errstate(divide="ignore", invalid="ignore"):
                u = ((o - a) * p).sum(1) / determinant
                q = np.cross(o - a, b - a)
                v, t = (q @ d) / determinant, (q * (c - a)).sum(1) / determinant
                inside = (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0)
            t = np.where(inside, t, np.inf)
            if t.min() < best[i]:
                best[i], owner[i] = t.min(), (k, t.argmin())
    return best, owner


def random_soup(seed, n=150):
    """Two meshes of small triangles in a box of 20 m."""
    rng = np.random.default_rng(seed)
    meshes = []
    for _ in range(2):
        corners = rng.uniform(-10, 10, (n, 1, 3)) + rng.uniform(-3, 3, (n, 3, 3))
        meshes.append(
            TexturedMesh(
                vertices_map=corners.reshape(-1, 3),
                triangles=np.arange(3 * n, dtype=np.int32).reshape(-1, 3),
                uv=np.zeros((3 * n, 2), np.float32),
                texture=np.full((1, 1, 3), 128, np.uint8),
            )
        )
    return meshes


@pytest.mark.parametrize("seed", [1000, 1001, 1002])
def test_rays_meet_what_every_triangle_in_turn_says(seed, world_of):
    meshes = random_soup(seed)
    rng = np.random.default_rng(seed)
    origins, directions = rng.uniform(-12, 12, (200, 3)), rng.normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    hits = WorldQueries(world_of(*meshes)).cast_rays(origins, directions)
    distance, owner = slow_hits(meshes, origins, directions)
    assert 50 < np.isfinite(distance).sum() < 200
    # A ray within rounding of an edge may go either way: none does here, and all agree.
    np.testing.assert_allclose(hits.distance_m, distance, atol=20 * SINGLE)
    np.testing.assert_array_equal(np.column_stack([hits.mesh, hits.triangle]), owner)
    assert ((hits.normal_map * directions).sum(1) <= 0.0).all()
    lengths = np.linalg.norm(hits.normal_map, axis=1)
    np.testing.assert_allclose(lengths, np.isfinite(distance), atol=SINGLE)


def test_the_nearest_surface_is_named_with_its_normal_towards_the_question(step):
    nearest, hits = step.nearest([[5.0, 5.0, 11.0], [5.0, 5.0, 7.0]])
    np.testing.assert_allclose(nearest, [[5.0, 5.0, 8.0]] * 2, atol=SINGLE)
    np.testing.assert_allclose(hits.distance_m, [3.0, 1.0], atol=SINGLE)
    np.testing.assert_allclose(hits.normal_map, [[0, 0, 1], [0, 0, -1]], atol=SINGLE)
    assert hits.mesh.tolist() == [1, 1]


def test_the_nearest_point_of_a_slope_is_its_foot_point(step):
    p = np.array([[-4.0, -4.0, 0.0]])
    normal = np.array([-0.5, 0.0, 1.0]) / np.sqrt(1.25)
    nearest, hits = step.nearest(p)
    np.testing.assert_allclose(nearest[0], p[0] - (p[0] @ normal) * normal, atol=SINGLE)
    np.testing.assert_allclose(hits.normal_map[0], normal, atol=SINGLE)


def test_ways_tell_where_and_what_they_meet(step):
    starts = [[5.0, 5.0, 9.0], [5.0, 5.0, 9.0], [5.0, 5.0, 7.5], [5.0, 5.0, 9.0]]
    ends = [[5.0, 5.0, 7.0], [5.0, 5.0, 8.1], [5.0, 5.0, 0.5], [5.0, 5.0, 9.0]]
    hits = step.segments_hit(starts, ends)
    np.testing.assert_allclose(hits.distance_m, [1.0, np.inf, 5.0, np.inf], atol=SINGLE)
    assert hits.mesh.tolist() == [1, -1, 0, -1]
    np.testing.assert_allclose(hits.normal_map[1], 0.0)


def test_height_above_ground_counts_from_the_ground_below(step):
    points = [[4.0, 4.0, 5.0], [4.0, 4.0, 9.0], [-4.0, 3.0, -2.05], [30.0, 0.0, 5.0]]
    expected = [3.0, 1.0, -0.05, np.inf]
    np.testing.assert_allclose(step.height_above_ground(points), expected, atol=EXACT * 100)


@pytest.mark.parametrize("x", [0.05, 0.15])
def test_on_the_rim_of_a_roof_one_stands_level(step, x):
    point, normal = step.ground_plane([x, 5.0, 8.5])
    assert point[2] == pytest.approx(8.0, abs=EXACT)
    np.testing.assert_allclose(normal, [0.0, 0.0, 1.0], atol=EXACT)


def test_at_the_foot_of_a_step_one_stands_level(quad, world_of):
    floor = quad([(-9, 9, 0), (9, 9, 0), (9, -9, 0), (-9, -9, 0)])
    roof = quad([(0, 9, 1), (9, 9, 1), (9, -9, 1), (0, -9, 1)])
    point, normal = WorldQueries(world_of(floor, roof)).ground_plane([-0.1, 0.0, 0.8])
    assert point[2] == 0.0
    np.testing.assert_allclose(normal, [0.0, 0.0, 1.0], atol=EXACT)


@pytest.mark.parametrize(("slope_deg", "tilt_deg"), [(55.0, 55.0), (65.0, 0.0), (85.0, 0.0)])
def test_the_plane_of_what_is_too_steep_to_stand_on_does_not_cut_through_the_air(
    quad, world_of, slope_deg, tilt_deg
):
    rise = 20.0 * np.tan(np.radians(slope_deg))
    side = quad([(-10, 10, 0), (10, 10, rise), (10, -10, rise), (-10, -10, 0)])
    _, normal = WorldQueries(world_of(side)).ground_plane([0.0, 0.0, 0.5 * rise + 2.0])
    tilt = np.radians(tilt_deg)
    np.testing.assert_allclose(normal, [-np.sin(tilt), 0.0, np.cos(tilt)], atol=EXACT)


def test_other_meshes_are_answered_for_after_a_replacement(quad, world_of):
    low = quad([(-9, 9, 0), (9, 9, 0), (9, -9, 0), (-9, -9, 0)])
    high = quad([(-9, 9, 4), (9, 9, 4), (9, -9, 4), (-9, -9, 4)])
    queries = WorldQueries(world_of(low))
    rays = np.array([[0, 0, 10, 0, 0, -1]], np.float32)
    assert queries.distance([[0.0, 0.0, 10.0]])[0] == pytest.approx(10.0, abs=SINGLE)
    queries.replace([low, high])
    assert queries.height(0.0, 0.0) == pytest.approx(4.0, abs=EXACT)
    assert queries.distance([[0.0, 0.0, 10.0]])[0] == pytest.approx(6.0, abs=SINGLE)
    assert queries.beams(rays)[0][0] == pytest.approx(6.0, abs=SINGLE)
    assert queries.nearest([[0.0, 0.0, 10.0]])[1].mesh[0] == 1
    with pytest.raises(ValueError, match="one at least"):
        queries.replace([])


def test_beams_bring_distance_normal_and_the_light_of_the_texture(quad, world_of):
    grey = np.full((2, 2, 3), 188, np.uint8)  # sRGB 188 is 50.3 % of the light
    painted = np.array([[[255, 0, 0], [255, 0, 0]], [[255, 0, 0], [255, 0, 0]]], np.uint8)
    floor = quad([(-9, 9, 0), (9, 9, 0), (9, -9, 0), (-9, -9, 0)], grey)
    wall = quad([(9, -9, 9), (9, 9, 9), (9, 9, 0), (9, -9, 0)], painted)
    black = quad([(-9, -9, 9), (-9, 9, 9), (-9, 9, 0), (-9, -9, 0)], np.zeros((1, 1, 3), np.uint8))
    rays = np.zeros((4, 6), np.float32)
    rays[:, 2] = 4.0
    rays[:, 3:] = [(0, 0, -1), (1, 0, 0), (-1, 0, 0), (0, 0, 1)]
    distance, normal, light = WorldQueries(world_of(floor, wall, black)).beams(rays)
    np.testing.assert_allclose(distance, [4.0, 9.0, 9.0, np.inf], atol=SINGLE)
    np.testing.assert_allclose(np.abs(normal[:3]), [[0, 0, 1], [1, 0, 0], [1, 0, 0]], atol=SINGLE)
    np.testing.assert_allclose(light, [0.503, 0.2126, 0.1, 0.0], atol=0.5 / 255 + 1e-3)


def test_the_light_of_a_triangle_follows_its_place_in_the_texture(quad):
    halves = np.zeros((4, 4, 3), np.uint8)
    halves[:, 2:] = 255
    mesh = quad([(0, 1, 0), (1, 1, 0), (1, 0, 0), (0, 0, 0)], halves)
    # Upper right triangle: its middle and two of three places lie in the white half.
    assert triangle_reflectivity(mesh).tolist() == [191, 64]
    shifted = replace(mesh, uv=mesh.uv + np.float32(1.0), repeats=True)
    assert triangle_reflectivity(shifted).tolist() == [191, 64]
    assert triangle_reflectivity(replace(shifted, repeats=False)).tolist() == [255, 255]
