# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Marks along a route: painted, found, taught through."""

import json

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes import TexturedMesh
from aerotwin_scenarios.teach_repeat import survey_marks
from aerotwin_scenarios.teach_repeat.judging import read_marks
from aerotwin_teach_repeat.teaching import RouteFile, load_route, save_route, smooth_waypoints
from aerotwin_worlds import World

SAMPLED_M = 0.01  # of the smooth path, on its chords


@pytest.fixture
def route():
    turn = np.linspace(0.0, 2.0 * np.pi, 17)[:-1]
    points = 20.0 * np.column_stack([np.cos(turn), np.sin(turn)])
    return RouteFile(
        name="ring", is_closed=True, waypoints_m=tuple(map(tuple, points.tolist())),
        markers_s_m=(10.0, 40.0, 70.0, 100.0),
    )  # fmt: skip


@pytest.fixture
def world():
    h = 30.0
    mesh = TexturedMesh(
        vertices_map=np.array([[-h, -h, 0], [h, -h, 0], [h, h, 0], [-h, h, 0]]),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32),
        texture=np.full((1200, 1200, 3), 90, np.uint8),
    )
    return World(
        name="plain", meshes=(mesh,), attribution="", licence="", start_p_map=np.zeros(3),
        origin=GeodeticPoint(latitude_deg=47.4, longitude_deg=8.5, altitude_m=400.0), start_yaw=0.0,
    )  # fmt: skip


def test_marks_are_painted_on_the_route_at_its_stations(world, route, tmp_path):
    save_route(tmp_path / "ring.yaml", route)
    marked, record = survey_marks.paint_route(
        world, str(tmp_path / "ring.yaml"), "plain", 0.6, tmp_path
    )
    painted = survey_marks.read_painted(tmp_path)
    angle = np.unwrap(np.arctan2(painted[:, 1], painted[:, 0]))
    np.testing.assert_allclose(20.0 * angle, route.markers_s_m, atol=0.1)  # a spline, no circle
    np.testing.assert_allclose(np.hypot(*painted[:, :2].T), 20.0, atol=0.02)
    changed = (marked.meshes[0].texture != world.meshes[0].texture).any(axis=-1)
    assert changed.sum() * 0.05**2 == pytest.approx(4 * np.pi * 0.3**2, rel=0.25)
    (tmp_path / "survey.json").write_text(json.dumps(record))
    assert survey_marks.read_size_m(tmp_path) == 0.6
    assert load_route(tmp_path / "route.yaml").markers_s_m == route.markers_s_m


def beside(path, points):
    """Return how far points are from a path that is sampled every centimetre [m]."""
    s = np.arange(0.0, path.length_m, 0.01)
    fine = np.column_stack([np.interp(s, path.s_m, c) for c in path.points_m.T])
    return np.linalg.norm(points[:, None, :2] - fine, axis=-1).min(axis=1)


def test_a_route_is_led_through_the_marks_that_lie_on_it(route, tmp_path):
    path = smooth_waypoints(route.waypoints, is_closed=True)
    s = np.array(route.markers_s_m)
    places = np.column_stack([np.interp(s, path.s_m, c) for c in path.points_m.T])
    off = np.array([[0.05, 0.0], [0.0, -0.04], [0.03, 0.03], [-0.06, 0.06]])
    found = np.column_stack([places + off, np.full(4, 0.1)])
    elsewhere = np.array([[0.0, 0.0, 0.0], [25.0, 0.0, 0.0]])
    through = survey_marks.route_through(route, np.vstack([elsewhere, found[::-1]]))
    taught = smooth_waypoints(through.waypoints, is_closed=True)
    assert beside(taught, found).max() < SAMPLED_M
    assert taught.length_m == pytest.approx(path.length_m, rel=0.01)
    assert beside(path, found).max() > 3.0 * SAMPLED_M  # it had to give way
    save_route(tmp_path / "through.yaml", through)
    with pytest.raises(UserError, match="none of 2 marks"):
        survey_marks.route_through(route, elsewhere)


def test_found_marks_are_named_by_the_painted_ones_beside_them(tmp_path):
    true = np.array([[0.0, 0, 0], [10.0, 0, 0], [20.0, 0, 0]])
    found = np.array([[20.1, 0.0, 0.2], [0.0, 0.1, 0.0], [11.6, 0.0, 0.0]])
    matched = survey_marks.match_marks(found, true)
    np.testing.assert_array_equal(matched[:, 3:], true[[0, 2]])
    np.testing.assert_array_equal(matched[:, :3], found[[1, 0]])
    survey_marks.write_score(tmp_path / "marks.csv", matched)
    np.testing.assert_allclose(read_marks(tmp_path / "marks.csv"), matched, atol=1e-4)


def test_a_survey_without_marks_and_a_route_without_stations_are_refused(world, route, tmp_path):
    with pytest.raises(UserError, match="--marks"):
        survey_marks.read_painted(tmp_path)
    (tmp_path / "survey.json").write_text("{}")
    with pytest.raises(UserError, match="--marks"):
        survey_marks.read_size_m(tmp_path)
    save_route(tmp_path / "bare.yaml", RouteFile(name="bare", waypoints_m=route.waypoints_m))
    with pytest.raises(UserError, match="markers_s_m"):
        survey_marks.paint_route(world, str(tmp_path / "bare.yaml"), "plain", 0.6, tmp_path)
