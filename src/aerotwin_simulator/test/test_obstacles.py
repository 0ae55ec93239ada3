# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Obstacles: their ways on the ground, their time in the world, and what is refused."""

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.frames import transform_points
from aerotwin_core.parameters import load_parameters
from aerotwin_worlds import Obstacle
from aerotwin_worlds.ground_way import GroundWay
from support.obstacle_stage import course_on, crossing, plane, quad, queries_of

__all__ = ["queries_of"]

SECOND = 1_000_000_000
EXACT = 1e-9

# -- ways -----------------------------------------------------------------------------------------


def test_a_car_stands_with_its_wheels_on_a_slope(queries_of):
    a, b = 0.3, -0.2
    way = GroundWay([(0, 0), (10, 5)], wheelbase_m=2.7, track_m=1.58)
    way.stand_on(queries_of(plane(a, b)))
    for s in (0.0, 3.0, way.length_m):
        T = way.T_map_object(s)
        up = np.array([-a, -b, 1.0]) / np.sqrt(1 + a * a + b * b)
        np.testing.assert_allclose(T[:3, 2], up, atol=EXACT)
        np.testing.assert_allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=EXACT)
        assert np.linalg.det(T[:3, :3]) == pytest.approx(1.0)
        x, y, z = s / way.length_m * np.array([10.0, 5.0, 10 * a + 5 * b])
        np.testing.assert_allclose(T[:3, 3], [x, y, z], atol=EXACT)
        wheels = transform_points(T, np.array([[1.35, 0.79, 0], [-1.35, -0.79, 0]]))
        np.testing.assert_allclose(wheels[:, 2], wheels[:, :2] @ [a, b], atol=EXACT)
    assert T[:2, 0] @ [10.0, 5.0] > 0.0  # it heads along its way


def test_a_person_is_upright_on_a_slope(queries_of):
    way = GroundWay([(0, 0), (0, 4)])
    way.stand_on(queries_of(plane(0.3, -0.2)))
    T = way.T_map_object(2.0)
    np.testing.assert_allclose(T[:3, 3], [0.0, 2.0, -0.4], atol=EXACT)
    np.testing.assert_allclose(T[:3, :3], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=EXACT)


def test_a_way_passes_its_points_and_turns_about_them(queries_of):
    way = GroundWay([(0, 0), (6, 0), (6, 4)])
    way.stand_on(queries_of(plane()))
    assert way.length_m == 10.0
    expected = {
        0.0: (0, 0, 0),
        4.9: (4.9, 0, 0),
        6.0: (6, 0, 45),
        7.1: (6, 1.1, 90),
        10: (6, 4, 90),
    }
    for s, (x, y, yaw_deg) in expected.items():
        T = way.T_map_object(s)
        np.testing.assert_allclose(T[:3, 3], [x, y, 0.0], atol=EXACT)
        yaw = np.radians(yaw_deg)
        np.testing.assert_allclose(T[:2, 0], [np.cos(yaw), np.sin(yaw)], atol=EXACT)


def test_a_way_follows_the_floor_below_a_roof_if_it_starts_there(queries_of):
    roof = quad([(-5, -5, 4), (5, -5, 4), (5, 5, 4), (-5, 5, 4)])
    queries = queries_of(plane(), roof)
    for below_m, start, z in ((None, (0, 0), 4.0), (3.0, (0, 0), 0.0), (None, (-9, 0), 0.0)):
        way = GroundWay([start, (4, 0)], below_m=below_m)
        way.stand_on(queries)
        assert way.T_map_object(0.0)[2, 3] == z
        assert way.T_map_object(way.length_m)[2, 3] == z


@pytest.mark.parametrize(("kind", "rough"), [("car", False), ("car", True), ("person", True)])
def test_no_point_is_faster_than_its_object_says(queries_of, kind, rough):
    meshes = (plane(0.2),) if rough else (plane(),)
    step = quad([(4, -9, 1.2), (9, -9, 1.2), (9, 9, 1.2), (4, 9, 1.2)])
    way = ((0.0, 0.0), (8.0, 0.0), (8.0, 6.0), (2.0, 6.0))
    course = course_on(queries_of(*meshes, step), crossing(kind=kind, waypoints_m=way))
    placed = [course.at(k * 1_000_000)[0] for k in range(2000)]
    vertices = placed[0].object.meshes[0].vertices_map
    points = np.array([transform_points(p.T_map_object, vertices) for p in placed])
    speeds = np.linalg.norm(np.diff(points, axis=0), axis=2).max(axis=1) / 1e-3
    bounds = np.array([p.speed_m_s for p in placed[:-1]])
    assert (speeds <= bounds * (1.0 + 1e-6)).all()
    assert speeds.max() >= 10.0 * (1.0 - 1e-6)


# -- time -----------------------------------------------------------------------------------------


def test_it_waits_goes_and_stands_or_disappears(queries_of):
    queries = queries_of(plane())
    stays = crossing(name="stays", wait_s=2.0, speed_m_s=10.0)
    goes = crossing(name="goes", wait_s=2.0, speed_m_s=10.0, at_end="disappears")
    course = course_on(queries, stays, goes, start_ns=3 * SECOND)
    x = {3.0: -20.0, 4.9: -20.0, 5.0: -20.0, 6.5: -5.0, 8.999: 19.99}
    for seconds, expected in x.items():
        both = course.at(round(seconds * SECOND))
        assert [p.object.name for p in both] == ["stays", "goes"]
        for placed in both:
            np.testing.assert_allclose(placed.T_map_object[:3, 3], [expected, 5, 0], atol=1e-6)
    assert course.at(3 * SECOND - 1) == ()
    (left,) = course.at(9 * SECOND)
    assert left.object.name == "stays"
    assert left.T_map_object[0, 3] == 20.0
    assert left.speed_m_s == 0.0


def test_it_stands_on_the_ground_of_the_moment_when_the_world_streams(queries_of):
    queries = queries_of(plane())
    course = course_on(queries, crossing())
    assert course.at(SECOND)[0].T_map_object[2, 3] == 0.0
    meshes = (plane(height=1.5, half=15.0),)  # its ends are not loaded any more
    queries.replace(meshes)
    course.replace(meshes)
    assert course.at(SECOND)[0].T_map_object[2, 3] == 1.5
    assert course.at(0)[0].T_map_object[2, 3] == 0.0
    assert course.at(4 * SECOND)[0].T_map_object[2, 3] == 0.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"waypoints_m": ((0.0, 0.0), (500.0, 0.0))}, r"obstacle car: \(60.\d, 0.0\) m: expected"),
        ({"waypoints_m": ((300.0, 0.0),)}, r"obstacle car: \(300.0, 0.0\) m"),
        ({"kind": "elephant"}, r"shape 'elephant': expected person, car or a mesh file"),
    ],
)
def test_what_cannot_be_in_the_world_is_refused(queries_of, values, message):
    with pytest.raises(UserError, match=message):
        course_on(queries_of(plane()), crossing(**values))


def test_two_obstacles_have_two_names(queries_of):
    with pytest.raises(ParameterError, match="name of its own"):
        course_on(queries_of(plane()), crossing(), crossing())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": "Car 1"}, "name: expected"),
        ({"waypoints_m": []}, "waypoints_m: expected"),
        ({"waypoints_m": [[0.0, 1.0, 2.0]]}, "waypoints_m"),
        ({"waypoints_m": [[0.0, 1.0]] * 1001}, "at most 1000 points"),
        ({"speed_m_s": 51.0}, "speed_m_s: expected at most 50"),
        ({"at_end": "flies"}, "at_end: expected one of stands, disappears"),
    ],
)
def test_a_file_with_a_wrong_obstacle_is_refused(values, message):
    right = {"name": "car", "kind": "car", "waypoints_m": [[0, 0], [5, 5]]}
    assert load_parameters(Obstacle, right, where="a.yaml").waypoints_m == ((0, 0), (5, 5))
    with pytest.raises(ParameterError, match=message):
        load_parameters(Obstacle, {**right, **values}, where="a.yaml")


def test_values_from_a_program_are_checked_too():
    for values in ({"speed_m_s": 0.0}, {"wait_s": -1.0}, {"at_end": "flies"}):
        with pytest.raises(ValueError, match="expected"):
            crossing(**values)
