# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Way-points that are edited, and the files that are made of them."""

import json

import numpy as np
import pytest
import yaml

from aerotwin_core.errors import ParameterError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.parameters import load_parameters_file
from aerotwin_px4_bridge.mission import MissionPlan
from aerotwin_rendering import WorldQueries
from aerotwin_view.panels.saved_waypoints import area_text, mission_text, route_text
from aerotwin_view.panels.waypoints import MOST_POINTS, WaypointList
from aerotwin_worlds import load_world

ROUNDING = 1e-9


@pytest.fixture(scope="module")
def queries():
    return WorldQueries(load_world("meadow"))


@pytest.fixture
def three(queries):
    points = WaypointList(queries)
    for x in (0.0, 10.0, 20.0):
        points.add(np.array([x, 0.0, queries.height(x, 0.0)]), 5.0, 0.1)
    return points


def eastings(points):
    return [float(p[0]) for p in points.positions()]


def test_a_new_way_point_comes_behind_the_chosen_one_and_is_chosen(three):
    three.choose(0)
    three.add(np.array([5.0, 0.0, 0.0]), 5.0, 0.1)
    assert eastings(three) == [0.0, 5.0, 10.0, 20.0] and three.chosen == 1


def test_the_order_is_changed_within_the_list(three):
    three.shift(-1)
    assert eastings(three) == [0.0, 20.0, 10.0] and three.chosen == 1
    three.shift(-5)
    assert eastings(three) == [20.0, 0.0, 10.0] and three.chosen == 0


def test_the_chosen_one_is_removed(three):
    three.choose(1)
    three.remove()
    assert eastings(three) == [0.0, 20.0] and three.chosen == 0
    for _ in range(3):
        three.remove()
    assert three.chosen is None and three.positions().shape == (0, 3)


def test_a_height_is_above_the_ground_of_the_way_point(three, queries):
    three.set_height(12.0)
    assert three.positions()[2, 2] == pytest.approx(queries.height(20.0, 0.0) + 12.0, abs=ROUNDING)


def test_a_way_point_that_is_dragged_stands_above_the_ground_there(three, queries):
    three.move(2, np.array([-15.0, 8.0, 9.0]))
    point = three.points[2]
    assert point.p_map == pytest.approx([-15.0, 8.0, 9.0], abs=ROUNDING)
    assert point.height_m == pytest.approx(9.0 - queries.height(-15.0, 8.0), abs=1e-6)


def test_a_way_point_that_is_dragged_off_the_world_keeps_a_height(three):
    three.move(2, np.array([1e5, 0.0, 9.0]))
    assert np.isfinite(three.points[2].height_m)
    three.move(2, np.array([np.nan, 0.0, 9.0]))
    assert eastings(three)[2] == 1e5


def test_a_way_point_that_is_placed_stands_above_the_ground_there(queries):
    ground, points = float(queries.height(4.0, 3.0)), WaypointList(queries)
    for height_m in (0.8, -0.3):
        points.place(np.array([4.0, 3.0, ground + height_m]), 0.1)
    points.place(np.array([1e5, 0.0, 7.0]), 0.1)
    above, inside, beside = points.points
    assert above.p_map_ground == pytest.approx([4.0, 3.0, ground], abs=ROUNDING)
    assert above.height_m == pytest.approx(0.8, abs=ROUNDING)
    assert inside.p_map == pytest.approx([4.0, 3.0, ground], abs=ROUNDING)
    assert beside.p_map == pytest.approx([1e5, 0.0, 7.0]) and beside.height_m == 0.0


def test_there_is_a_most_of_them(queries):
    points = WaypointList(queries)
    for k in range(MOST_POINTS + 5):
        points.add(np.array([float(k), 0.0, 0.0]), 5.0, 0.1)
    assert len(points.points) == MOST_POINTS


def test_a_saved_mission_is_read_by_what_flies_it(three, queries, tmp_path):
    path = tmp_path / "mission.yaml"
    path.write_text(mission_text(three.positions(), queries))
    plan = load_parameters_file(MissionPlan, path)
    positions = [waypoint.position_m for waypoint in plan.waypoints]
    assert np.array(positions) == pytest.approx(three.positions(), abs=1e-3)
    assert [waypoint.yaw_deg for waypoint in plan.waypoints] == [None, 0.0, 0.0]


def test_a_mission_that_would_not_fly_freely_is_refused(three, queries):
    three.set_height(0.2)
    with pytest.raises(ParameterError, match=r"place 3 is 0\.2 m above the ground.*raise it"):
        mission_text(three.positions(), queries)
    with pytest.raises(ParameterError, match="no place is clicked yet"):
        mission_text(np.zeros((0, 3)), queries)


def test_a_leg_through_something_is_refused():
    world = WorldQueries(load_world("cliff"))
    before, behind = np.array([0.0, -9.5, 8.0]), np.array([0.0, 40.0, 30.0])
    assert world.cast_one(before, behind - before) < np.linalg.norm(behind - before)
    above = np.maximum(behind, [0.0, 0.0, world.height(0.0, 40.0) + 3.0])
    with pytest.raises(ParameterError, match="from place 1 to 2 meets something after"):
        mission_text(np.array([before, above]), world)


def test_a_saved_route_is_read_by_what_teaches_it(three, tmp_path):
    from aerotwin_teach_repeat.teaching import load_route

    path = tmp_path / "route.yaml"
    path.write_text(route_text(three.positions(), "meadow"))
    route = load_route(path)
    assert route.world == "meadow" and not route.is_closed
    assert route.waypoints == pytest.approx(three.positions()[:, :2], abs=1e-3)
    with pytest.raises(ParameterError, match="at least 2 way-points, found 1"):
        route_text(three.positions()[:1], "meadow")
    assert yaml.safe_load(path.read_text())["name"] == "driven"


CORNERS = np.array([[0.0, 0.0, 1.0], [0.0, 10.0, 2.0], [20.0, 10.0, 3.0], [20.0, 0.0, 2.0]])
PLANE = LocalTangentPlane(GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0, altitude_m=400.0))


@pytest.mark.parametrize("corners", [CORNERS, CORNERS[::-1]], ids=["clockwise", "other way"])
def test_an_area_is_a_polygon_on_earth_counterclockwise(corners):
    feature = json.loads(area_text(corners, PLANE, "meadow"))
    assert feature["properties"]["level_area_m2"] == 200.0
    assert feature["geometry"]["type"] == "Polygon"
    (ring,) = feature["geometry"]["coordinates"]
    assert ring[0] == ring[-1] and len(ring) == 5
    east = [(lon - 8.0) * 111_320.0 * np.cos(np.radians(47.0)) for lon, _ in ring]
    north = [(lat - 47.0) * 111_170.0 for _, lat in ring]
    area = np.dot(east[:-1], north[1:]) - np.dot(east[1:], north[:-1])
    assert area / 2.0 == pytest.approx(200.0, rel=0.005)
    np.testing.assert_allclose(east, [*CORNERS[::-1, 0], CORNERS[-1, 0]], atol=0.1)


def test_an_area_that_is_none_is_refused():
    with pytest.raises(ParameterError, match="at least 3 corners, found 2"):
        area_text(CORNERS[:2], PLANE, "meadow")
    with pytest.raises(ParameterError, match="from place 1 and from place 3 cross"):
        area_text(CORNERS[[0, 2, 1, 3]], PLANE, "meadow")
