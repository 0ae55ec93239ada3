# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Bounding volumes against sampled points, linear programming and the ellipsoid's formula."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog, lsq_linear
from scipy.spatial.transform import Rotation

from aerotwin_core.geodesy import GeodeticPoint, ecef_from_geodetic
from aerotwin_meshes.gltf.json_element import JsonElement
from aerotwin_tiles import RegionDescription
from aerotwin_tiles.frame import is_geocentric
from aerotwin_tiles.volumes import (
    Box,
    Sphere,
    T_ecef_enu,
    aligned_box,
    largest_scale,
    region_box,
    volume_from_json,
)

ROUNDING = 1e-12  # of unit-sized coordinates in float64
SOLVER = 1e-6  # tolerance of the linear and least-squares solvers
TIGHT = 0.01  # a region's box is at most 1 % longer than its points spread


def random_box(rng, *, shear=0.0) -> Box:
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0] * rng.uniform(0.1, 1.5, (3, 1))
    return Box(centre=rng.normal(size=3), half_axes=axes + shear * rng.normal(size=(3, 3)))


def meet(a: Box, b: Box) -> bool:
    """Solve a.centre + s A = b.centre + t B for |s|, |t| <= 1: a common point."""
    equations = np.hstack([a.half_axes.T, -b.half_axes.T])
    return linprog(np.zeros(6), A_eq=equations, b_eq=b.centre - a.centre, bounds=(-1, 1)).success


@pytest.mark.parametrize("shear", [0.0, 0.3])
def test_boxes_overlap_where_linear_programming_finds_a_common_point(shear):
    rng = np.random.default_rng(1)
    pairs = [(random_box(rng, shear=shear), random_box(rng, shear=shear)) for _ in range(150)]
    expected = [meet(a, b) for a, b in pairs]
    assert 30 < sum(expected) < 120
    assert [a.overlaps(b) for a, b in pairs] == expected
    assert [b.overlaps(a) for a, b in pairs] == expected


def test_a_flat_box_overlaps_what_it_cuts():
    flat = Box(centre=np.zeros(3), half_axes=np.diag([1.0, 1.0, 0.0]))
    assert flat.overlaps(aligned_box(np.array([0.5, 0.5, -1]), np.array([3.0, 3.0, 1.0])))
    assert not flat.overlaps(aligned_box(np.array([0.5, 0.5, 0.1]), np.array([3.0, 3.0, 1.0])))


def test_distance_from_a_box_is_the_least_squares_one():
    rng = np.random.default_rng(2)
    for _ in range(60):
        box, p = random_box(rng), 3.0 * rng.normal(size=3)
        best = lsq_linear(box.half_axes.T, p - box.centre, bounds=(-1, 1), tol=1e-14)
        assert box.distance_m(p) == pytest.approx(math.sqrt(2.0 * best.cost), abs=SOLVER)
    assert Box(centre=np.zeros(3), half_axes=np.diag([1.0, 2.0, 0.0])).distance_m(
        np.array([4.0, 0.0, 4.0])
    ) == pytest.approx(5.0)


def test_moving_a_box_moves_its_corners():
    rng = np.random.default_rng(3)
    box, T = random_box(rng), np.eye(4)
    T[:3] = rng.normal(size=(3, 4))
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    corners = box.centre + signs @ box.half_axes
    moved = box.moved(T)
    np.testing.assert_allclose(
        moved.centre + signs @ moved.half_axes, corners @ T[:3, :3].T + T[:3, 3], atol=ROUNDING
    )
    expected = corners @ T[:3, :3].T + T[:3, 3]
    np.testing.assert_allclose(
        moved.bounds_m, [expected.min(axis=0), expected.max(axis=0)], atol=ROUNDING
    )


def test_a_sphere_grows_by_the_largest_scale():
    T = np.diag([2.0, 3.0, 0.5, 1.0])
    T[:3, 3] = 10.0, 0.0, 0.0
    sphere = Sphere(centre=np.array([1.0, 0.0, 0.0]), radius_m=2.0).moved(T)
    np.testing.assert_allclose(sphere.centre, [12.0, 0.0, 0.0])
    assert sphere.radius_m == pytest.approx(6.0)
    assert sphere.distance_m(np.array([20.0, 0.0, 0.0])) == pytest.approx(2.0)
    assert sphere.overlaps(aligned_box(np.array([18.0, -1, -1]), np.array([19.0, 1, 1])))
    assert not sphere.overlaps(aligned_box(np.array([18.1, -1, -1]), np.array([19.0, 1, 1])))
    assert largest_scale(T) == pytest.approx(3.0)


REGIONS = [
    (-80.0, 35.2, -79.98, 35.22, -10.0, 300.0),
    (8.0, 47.0, 9.0, 48.0, 200.0, 4000.0),
    (-70.0, -10.0, -30.0, 40.0, -100.0, 9000.0),
    (179.9, -17.0, -179.9, -16.5, 0.0, 50.0),
    (10.0, 62.0, 60.0, 90.0, 0.0, 1000.0),
    (100.0, -90.0, 159.0, -60.0, 0.0, 1000.0),
]


@pytest.mark.parametrize("region", REGIONS)
def test_a_regions_box_holds_its_points_closely(region):
    west, south, east, north, low, high = region
    rng = np.random.default_rng(4)
    width = (east - west) % 360.0
    edge = rng.integers(0, 3, (4000, 3)) / 2.0  # many on faces, edges and corners
    share = np.where(rng.random((4000, 3)) < 0.5, edge, rng.random((4000, 3)))
    points = np.array(
        [
            ecef_from_geodetic(
                south + v * (north - south), west + u * width, low + w * (high - low)
            )
            for u, v, w in share
        ]
    )
    box = region_box([*np.radians(region[:4]).tolist(), low, high])
    axes = box.half_axes / np.linalg.norm(box.half_axes, axis=1)[:, None]
    along = (points - box.centre) @ axes.T
    half = np.linalg.norm(box.half_axes, axis=1)
    assert (np.abs(along) <= half).all()
    assert (np.abs(along).max(axis=0) > (1.0 - TIGHT) * half).all()


def test_a_region_of_half_the_earth_is_the_whole_earth():
    box = region_box(np.array([-math.pi, -math.pi / 2, math.pi, math.pi / 2, 0.0, 9000.0]))
    for longitude in range(-180, 180, 30):
        assert box.distance_m(ecef_from_geodetic(0.0, longitude, 9000.0)) == 0.0


@pytest.mark.parametrize(
    "region", [(0, 0.2, 0.1, 0.1, 0, 1), (0, 0, 0.1, 0.1, 5, 1), (8, 47, 9, 48, 0, 1)]
)
def test_an_impossible_region_is_refused(region):
    with pytest.raises(ValueError, match="region"):
        region_box(np.array(region, float))


def test_axes_of_a_place_are_east_north_up():
    T = T_ecef_enu(GeodeticPoint(latitude_deg=0.0, longitude_deg=90.0, altitude_m=100.0))
    np.testing.assert_allclose(T[:3, 0], [-1, 0, 0], atol=ROUNDING)
    np.testing.assert_allclose(T[:3, 1], [0, 0, 1], atol=ROUNDING)
    np.testing.assert_allclose(T[:3, 2], [0, 1, 0], atol=ROUNDING)
    np.testing.assert_allclose(T[:3, 3], [0, 6378237.0, 0], atol=1e-8)


def test_a_region_is_not_moved_by_the_tiles_transform():
    T = np.diag([2.0, 2.0, 2.0, 1.0])
    numbers = [0.1, 0.2, 0.101, 0.201, 0.0, 10.0]
    volume = volume_from_json(JsonElement({"region": numbers}, "v"), T)
    np.testing.assert_array_equal(volume.centre, region_box(np.array(numbers)).centre)
    ball = volume_from_json(JsonElement({"sphere": [1, 2, 3, 4]}, "v"), T)
    np.testing.assert_allclose([*ball.centre, ball.radius_m], [2, 4, 6, 8])


@pytest.mark.parametrize(
    ("volume", "message"),
    [
        ({}, "got nothing"),
        ({"extensions": {}}, "got extensions"),
        ({"box": [1, 2]}, "12 finite numbers"),
        ({"box": [1e999] * 12}, "12 finite numbers"),
        ({"sphere": [0, 0, 0, -1]}, "radius of 0 or more"),
    ],
)
def test_a_volume_that_cannot_be_is_refused_by_name(volume, message):
    with pytest.raises(ValueError, match=message):
        volume_from_json(JsonElement(volume, "root.boundingVolume"), np.eye(4))


def test_a_ball_under_scale_and_turn_holds_every_moved_point():
    turn = Rotation.from_euler("z", 45.0, degrees=True).as_matrix()
    T = np.eye(4)
    T[:3, :3] = np.diag([10.0, 1.0, 1.0]) @ turn
    ball = Sphere(centre=np.zeros(3), radius_m=1.0).moved(T)
    points = np.random.default_rng(0).normal(size=(1000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    assert (np.linalg.norm(points @ T[:3, :3].T, axis=1) <= ball.radius_m * (1 + 1e-12)).all()
    assert ball.radius_m == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("centre", "half_m", "expected"),
    [
        (ecef_from_geodetic(47.0, 8.0, 400.0), 500.0, True),
        (ecef_from_geodetic(-33.0, 151.0, -40.0), 2e5, True),
        (np.zeros(3), 6.4e6, True),
        (np.array([5e5, 6.4e6, 50.0]), 500.0, False),  # UTM, 57 degrees north
        (np.array([5e5, 5.2e6, 400.0]), 500.0, False),  # UTM, 47 degrees north
        (np.array([5e5, 9.9e6, 50.0]), 500.0, False),  # UTM, just south of the equator
        (np.zeros(3), 500.0, False),
    ],
)
def test_a_volume_at_the_earths_surface_is_on_earth_and_projected_numbers_are_not(
    centre, half_m, expected
):
    class Root:
        volume = aligned_box(np.asarray(centre) - half_m, np.asarray(centre) + half_m)

    assert is_geocentric(Root()) is expected


def test_a_region_of_the_whole_circle_is_as_wide_as_the_earth():
    region = RegionDescription(west_deg=-180.0, east_deg=180.0, south_deg=-80.0, north_deg=80.0)
    low, high = region.box_map(GeodeticPoint(latitude_deg=0.0, longitude_deg=0.0)).bounds_m
    assert high[0] - low[0] == pytest.approx(2 * 6378137.0, rel=1e-3)
    assert region.middle_deg == (0.0, 0.0)


def test_a_region_without_width_is_refused():
    with pytest.raises(ValueError, match="must differ, got 8"):
        RegionDescription(west_deg=8.0, east_deg=8.0, south_deg=46.0, north_deg=47.0)
