# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The mission of a formation: its route through way-points, its patterns, its file."""

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_formation import FormationMission, PatternOrder, SeparationParameters, load_mission
from aerotwin_formation.mission import landing_pattern, route_through

ROUNDING = 1e-9
CORNER = [[0.0, 0.0, 5.0], [20.0, 0.0, 5.0], [20.0, 10.0, 5.0]]
FIRST = (PatternOrder(pattern="cube"),)


def test_a_route_cuts_corners_by_what_the_blend_says():
    v, a = 2.0, 0.5
    route = route_through(CORNER, v, a)
    start, end = v / a, np.hypot(v, v) / a
    corner_s = 0.5 * start + 20.0 / v
    p, velocity, acceleration = route.motion(corner_s)
    cut = np.linalg.norm([v, v]) ** 2 / (8.0 * a)  # |dv|^2 / (8 a), towards the inside
    np.testing.assert_allclose(p, [20.0 - cut / 2**0.5, cut / 2**0.5, 0.0], atol=ROUNDING)
    np.testing.assert_allclose(velocity, [0.5 * v, 0.5 * v, 0.0], atol=ROUNDING)
    assert np.linalg.norm(acceleration) == pytest.approx(a)
    np.testing.assert_allclose(route.motion(corner_s - end)[0], [20.0 - v * end, 0.0, 0.0])
    np.testing.assert_allclose(route.motion(0.0)[:2], 0.0, atol=ROUNDING)
    last = route.motion(route.times_s[-1])
    np.testing.assert_allclose(last[0], [20.0, 10.0, 0.0], atol=ROUNDING)
    np.testing.assert_allclose(last[1:], 0.0, atol=ROUNDING)


def test_a_route_through_random_way_points_ends_at_the_last_and_never_exceeds_its_limits():
    rng = np.random.default_rng(1000)
    for _ in range(20):
        points = np.cumsum(rng.uniform(6.0, 20.0, (5, 3)) * rng.choice([-1, 1], (5, 3)), axis=0)
        route = route_through(points, 1.5, 1.0)
        motions = np.array([route.motion(t) for t in np.linspace(-1, route.times_s[-1] + 1, 500)])
        np.testing.assert_allclose(motions[-1][0], points[-1] - points[0], atol=1e-6)
        assert np.linalg.norm(motions[:, 1], axis=1).max() < 1.5 + ROUNDING
        assert np.linalg.norm(motions[:, 2], axis=1).max() < 1.0 + ROUNDING


def test_one_way_point_is_a_route_that_stays():
    route = route_through([[0.0, 0.0, 5.0]], 1.0, 1.0)
    np.testing.assert_array_equal(route.motion(3.0), np.zeros((3, 3)))


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"waypoints_m": ()}, "at least one within"),
        ({"waypoints_m": ((0.0, 0.0, 1e5),)}, "within 10000 m"),
        ({"waypoints_m": ((0.0, 0.0, 5.0),) * 2}, "found 0 and 1 alike"),
        ({"waypoints_m": ((0.0, 0.0, 5.0), (1.0, 0.0, 5.0))}, "0 and 1 at least 2.0 m apart"),
        ({"patterns": ()}, "at least the first one"),
        ({"patterns": (PatternOrder(pattern="cube", waypoint=3),)}, "a waypoint below 3"),
        (
            {"patterns": (PatternOrder(pattern="t", waypoint=2), PatternOrder(pattern="cube"))},
            "in the order of flight",
        ),
    ],
)
def test_a_mission_that_cannot_be_flown_is_refused(values, problem):
    good = {"waypoints_m": tuple(map(tuple, CORNER)), "patterns": FIRST}
    with pytest.raises(ParameterError, match=problem):
        FormationMission(**{**good, **values})


def test_an_order_is_due_at_one_thing():
    with pytest.raises(ParameterError, match="waypoint or time_s, found both"):
        PatternOrder(pattern="cube", waypoint=1, time_s=2.0)


def test_a_mission_names_patterns_beside_its_file_and_has_them_for_all(tmp_path):
    (tmp_path / "wedge.yaml").write_text("name: wedge\noffsets_m: [[-2, 2, 0], [-2, -2, 0]]\n")
    path = tmp_path / "mission.yaml"
    path.write_text("waypoints_m: [[0, 0, 5]]\nscale: 2.0\npatterns: [{pattern: wedge.yaml}]\n")
    apart = SeparationParameters()
    mission = load_mission(path, 3, apart)
    pattern = mission.pattern(mission.patterns[0].pattern, 3)
    np.testing.assert_array_equal(pattern.offsets[1:], [[-4, 4, 0], [-4, -4, 0]])
    with pytest.raises(ParameterError, match="places for 3 followers, found 2"):
        load_mission(path, 4, apart)
    path.write_text("waypoints_m: [[0, 0, 5]]\npatterns: [{pattern: heart}]\n")
    with pytest.raises(ParameterError, match=r"patterns: .*found 'heart' for 9.*fly another"):
        load_mission(path, 9, apart)


def test_a_mission_whose_places_are_too_close_is_refused_with_the_scale_that_helps(tmp_path):
    (tmp_path / "pile.yaml").write_text("name: pile\noffsets_m: [[0, 0, 1], [0, 0, -1]]\n")
    path = tmp_path / "mission.yaml"
    text = "waypoints_m: [[0, 0, 5]]\nscale: {}\npatterns: [{{pattern: pile.yaml}}]\n"
    path.write_text(text.format(1.7))  # 1.7 m above each other are 0.85 m with the downwash
    with pytest.raises(ParameterError, match=r"expected places 0.90 m apart, .* scale above 1.80"):
        load_mission(path, 3, SeparationParameters())
    path.write_text(text.format(1.81))
    assert load_mission(path, 3, SeparationParameters()).scale == 1.81


def test_vehicles_land_side_by_side_where_they_came_from():
    starts = np.array([[0.1, 0.0, 0.0], [3.0, 0.0, -8.0], [0.0, 3.0, -7.5]])
    offsets = landing_pattern(starts).offsets
    np.testing.assert_array_equal(offsets, [[0, 0, 0], [3, 0, 0], [0, 3, 0]])


def test_a_mission_so_low_that_a_shifted_pattern_meets_the_ground_is_refused(tmp_path):
    (tmp_path / "tower.yaml").write_text("name: tower\noffsets_m: [[0, 0, 3], [0, 0, -3]]\n")
    path = tmp_path / "mission.yaml"
    text = "waypoints_m: [[0, 0, 9], [9, 0, {}]]\npatterns: [{{pattern: tower.yaml}}]\n"
    path.write_text(text.format(6.9))
    with pytest.raises(ParameterError, match=r"at least 7 m above .* found 6\.9 m.* 6 m tall"):
        load_mission(path, 3, SeparationParameters())
    path.write_text(text.format(7.0))
    assert load_mission(path, 3, SeparationParameters()).waypoints_m[1][2] == 7.0
