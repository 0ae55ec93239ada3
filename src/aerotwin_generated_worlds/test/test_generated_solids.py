# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Solids of generated worlds: closed, outward-facing, of the volume of their plans."""

import math

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from aerotwin_generated_worlds import facades, furniture, stands
from aerotwin_generated_worlds.buildings import (
    COPING_M,
    FOUNDATION_M,
    NICHE_M,
    PARAPET_M,
    Building,
    _edges,
    _kinds,
    _levels,
    building_solid,
)
from aerotwin_generated_worlds.plants import lumps
from aerotwin_generated_worlds.solids import box, capped, cylinder, turned
from aerotwin_generated_worlds.stands import Sweep, bowl, stand_profile, straight, wall_profile

ROUNDING = 1e-9
BOX_UV = (0.0, 0.0, 1.0, 1.0)


def weld(vertices, triangles):
    """Return triangles over places instead of vertices, and the places."""
    places, index = np.unique(vertices, axis=0, return_inverse=True)
    return places, index.reshape(-1)[triangles]


def is_closed(vertices, triangles) -> bool:
    """Whether each edge is used by two triangles exactly, once in each direction."""
    places, welded = weld(vertices, triangles)
    edges = np.concatenate([welded[:, [0, 1]], welded[:, [1, 2]], welded[:, [2, 0]]]).astype(int)
    forth = np.sort(edges @ [len(places), 1])
    back = np.sort(edges @ [1, len(places)])
    return bool((np.diff(forth) > 0).all() and (forth == back).all())


def volume(vertices, triangles) -> float:
    """Volume inside a closed surface by the divergence theorem; positive if it faces outwards."""
    a, b, c = (vertices[triangles[:, k]] - vertices.mean(axis=0) for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6.0)


def bodies(vertices, triangles):
    """Yield the connected parts of a surface as (vertices, triangles)."""
    places, welded = weld(vertices, triangles)
    links = coo_matrix((np.ones(len(welded)), (welded[:, 0], welded[:, 1])), (len(places),) * 2)
    links = links + coo_matrix(
        (np.ones(len(welded)), (welded[:, 1], welded[:, 2])), (len(places),) * 2
    )
    _, part = connected_components(links, directed=False)
    for k in np.unique(part[welded[:, 0]]):
        yield places, welded[part[welded[:, 0]] == k]


def a_building(**changes) -> Building:
    plan = {
        "x_m": 12.3, "y_m": -7.7, "z_m": 3.1, "yaw": 0.7, "length_m": 23.0, "width_m": 11.0,
        "n_storeys": 3, "style": 0, "seed": 1001,
    }  # fmt: skip
    return Building(**(plan | changes))


def niches_m3(plan: Building) -> float:
    """Volume that the recessed windows take off, from the plan's cells."""
    edges, side = _edges(plan)
    levels = _levels(plan)
    around = 2.0 * (plan.length_m + plan.width_m)
    areas = np.outer(np.diff(levels), np.diff(np.append(edges, around)))
    return float(areas[_kinds(plan, edges, side, levels) == facades.WINDOW].sum() * NICHE_M)


def test_a_flat_roofed_building_has_the_volume_of_its_plan():
    for seed in (1000, 1001, 1002):
        plan = a_building(seed=seed)
        solid = building_solid(plan)
        a, b = plan.length_m, plan.width_m
        expected = a * b * (plan.wall_m + FOUNDATION_M) - niches_m3(plan)
        expected -= (a - 2 * COPING_M) * (b - 2 * COPING_M) * PARAPET_M
        assert is_closed(solid.vertices, solid.triangles)
        assert volume(solid.vertices, solid.triangles) == pytest.approx(expected, rel=ROUNDING)
        assert niches_m3(plan) > 1.0


def test_a_hipped_roof_adds_the_volume_of_a_wedge():
    plan = a_building(pitched=True)
    solid = building_solid(plan)
    a, b, h = plan.length_m, plan.width_m, plan.ridge_m
    expected = a * b * (plan.wall_m + FOUNDATION_M) - niches_m3(plan)
    expected += h * b * (2 * a + (a - b)) / 6.0  # a wedge with a ridge of a - b
    assert is_closed(solid.vertices, solid.triangles)
    # The ridge's ends are rounded to a micrometre.
    assert volume(solid.vertices, solid.triangles) == pytest.approx(expected, rel=1e-6)
    assert solid.vertices[:, 2].max() == pytest.approx(plan.z_m + plan.wall_m + h, abs=ROUNDING)
    assert h / (b / 2) == pytest.approx(math.tan(math.radians(30.0)))


def test_a_building_stands_where_and_as_its_plan_says():
    # Yaw of 90 degrees: the long side along y. A literal case, against a transposed rotation.
    plan = a_building(x_m=100.0, y_m=50.0, yaw=math.pi / 2, length_m=30.0, width_m=10.0)
    low, high = (f(building_solid(plan).vertices, axis=0) for f in (np.min, np.max))
    np.testing.assert_allclose(low, [95.0, 35.0, plan.z_m - FOUNDATION_M], atol=ROUNDING)
    np.testing.assert_allclose(high, [105.0, 65.0, plan.z_m + plan.wall_m], atol=ROUNDING)
    np.testing.assert_allclose(plan.corners(1.0)[0], [106.0, 34.0], atol=ROUNDING)
    slanted = a_building(yaw=math.radians(30.0))
    first = slanted.corners()[1] - slanted.corners()[0]
    assert math.degrees(math.atan2(first[1], first[0])) == pytest.approx(30.0)


def test_a_straight_stand_has_the_area_of_its_steps_times_its_length():
    n, front, length = 9, 1.5, 37.0
    points, outward = straight([0.0, 0.0], [length, 0.0], 2.0)
    np.testing.assert_allclose(outward, np.tile([0.0, 1.0], (len(points), 1)), atol=ROUNDING)
    profile, pieces = stand_profile(n, front)
    sweep = Sweep(points_m=points, outward=outward, profile_m=profile, pieces=pieces)
    solid = sweep.solid()
    steps = sum(stands.ROW_M * (front + 1.0 + k * stands.RISE_M) for k in range(1, n + 1))
    area = 1.6 * (front + 1.0) + steps + 0.25 * (front + n * stands.RISE_M + 1.1 + 1.0)
    assert is_closed(solid.vertices, solid.triangles)
    assert volume(solid.vertices, solid.triangles) == pytest.approx(area * length, rel=ROUNDING)
    assert (pieces == stands.TREAD).sum() == n


def test_a_bowl_has_the_volume_that_pappus_gives():
    # Two quarter circles make half a body of revolution; between them it is straight.
    corner, half, thickness, height = 12.0, 20.0, 3.0, 4.0
    points, outward = bowl(corner, half, 5.0, 0.05)
    profile, pieces = wall_profile(height, thickness)
    solid = Sweep(points_m=points, outward=outward, profile_m=profile, pieces=pieces).solid()
    area, middle = thickness * (height + 1.0), corner + thickness / 2.0
    expected = area * (math.pi * middle + 2.0 * (half - corner))
    assert is_closed(solid.vertices, solid.triangles)
    # The chords of 5 cm on a radius of 12 m lose less than 1e-5 of the volume.
    assert volume(solid.vertices, solid.triangles) == pytest.approx(expected, rel=1e-5)
    assert points[:, 0].max() == pytest.approx(5.0 + corner)


def test_columns_boxes_cars_and_stones_are_closed():
    rng = np.random.default_rng(1000)
    column = cylinder(np.zeros(3), [1.0, 1.0], [0.0, 2.0], sides=12, uv_box=BOX_UV)
    prism = 12 * 0.5 * math.sin(2 * math.pi / 12) * 2.0
    assert volume(column.vertices, column.triangles) == pytest.approx(prism, rel=ROUNDING)
    brick = box(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]), BOX_UV)
    assert volume(brick.vertices, brick.triangles) == pytest.approx(6.0, rel=ROUNDING)
    stone = lumps(rng, [1.0, 1.0, 1.0], 40, 80, 0.0, BOX_UV)
    assert volume(stone.vertices, stone.triangles) == pytest.approx(4 / 3 * math.pi, rel=5e-3)
    car = furniture.car_solid(3.0, 4.0, 0.5, 1.1, 1.0)
    assert 5.0 < volume(car.vertices, car.triangles) < 9.0
    for solid in (column, brick, stone, car):
        assert is_closed(solid.vertices, solid.triangles)


def test_turning_keeps_equal_corners_equal():
    rng = np.random.default_rng(1001)
    loops = rng.normal(size=(5, 7, 3)).cumsum(axis=0)
    patch = turned(capped(loops, BOX_UV), 3.0, -2.0, 1.0, math.radians(90.0))
    assert is_closed(patch.vertices, patch.triangles)
    np.testing.assert_allclose(
        patch.vertices[0], [3.0 - loops[0, 0, 1], -2.0 + loops[0, 0, 0], 1.0 + loops[0, 0, 2]]
    )


@pytest.mark.parametrize("name", ["stadium", "campus", "route"])
def test_everything_built_is_closed_and_faces_outwards(name, coarse_worlds):
    import open3d as o3d

    built = [m for m in coarse_worlds[name] if not m.name.startswith(("ground", "plants"))]
    assert len(built) > 20
    for mesh in built:
        assert is_closed(mesh.vertices_map, mesh.triangles), mesh.name
        for vertices, triangles in bodies(mesh.vertices_map, mesh.triangles):
            assert volume(vertices, triangles) > 0.0, mesh.name
        if not mesh.name.startswith(("car", "posts", "board")):
            places, welded = weld(mesh.vertices_map, mesh.triangles)
            solid = o3d.geometry.TriangleMesh(
                o3d.utility.Vector3dVector(places), o3d.utility.Vector3iVector(welded)
            )
            assert solid.is_watertight(), mesh.name
            assert solid.is_orientable()
