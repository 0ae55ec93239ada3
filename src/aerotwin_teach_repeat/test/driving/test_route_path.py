# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Arc length, curvature and projection against straight lines and circles."""

import numpy as np
import pytest

from aerotwin_teach_repeat.tracking import RoutePath, RouteProgress

from .vehicle import driven, poses

ROUNDING = 1e-9
ARC_ERROR = 1e-3  # Akima through points 0.3 m apart on a radius of 3 m, sampled each 5 cm
FOOT_ERROR = 0.01  # samples 5 cm apart: the foot sticks to a corner for half of that times off / R
WINDOW = 1.0


def pose(x, y, theta):
    return poses(np.array([x]), np.array([y]), np.array([theta]))[0]


def test_a_straight_line_has_its_length_no_curvature_and_left_is_positive():
    route = RoutePath(driven([(12.0, 0.0)]))
    assert route.length_m == pytest.approx(12.0, abs=ROUNDING)
    np.testing.assert_allclose(route.curvature_1_m, 0.0, atol=ROUNDING)
    found = route.project(pose(5.02, 0.4, 0.1), 5.0, WINDOW)
    assert found.s_m == pytest.approx(5.02, abs=ROUNDING)
    assert found.lateral_m == pytest.approx(0.4, abs=ROUNDING)
    assert found.heading_error_rad == pytest.approx(0.1, abs=ROUNDING)


@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_a_circle_has_its_arc_length_curvature_and_distances(turn):
    radius, angle = 3.0, 4.0
    route = RoutePath(driven([(radius * angle, turn / radius)]))
    assert route.length_m == pytest.approx(radius * angle, abs=ARC_ERROR)
    inner = slice(20, -20)
    np.testing.assert_allclose(route.curvature_1_m[inner], turn / radius, rtol=0.01)
    for at, off in ((1.0, 0.3), (2.5, -0.7)):
        rho = radius - turn * off
        place = pose(rho * np.sin(at), turn * (radius - rho * np.cos(at)), turn * at)
        found = route.project(place, radius * at, WINDOW)
        assert found.s_m == pytest.approx(radius * at, abs=FOOT_ERROR)
        assert found.lateral_m == pytest.approx(off, abs=ARC_ERROR)
        assert found.heading_error_rad == pytest.approx(0.0, abs=5e-3)
        points, _, _ = route.at(radius * at, route.segments[0])
        np.testing.assert_allclose(
            points[0, :2], radius * np.array([np.sin(at), turn * (1.0 - np.cos(at))]),
            atol=ARC_ERROR,
        )  # fmt: skip


def test_a_route_driven_in_reverse_keeps_left_and_turns_the_nose_back():
    route = RoutePath(driven([(8.0, 0.0)], direction=-1))
    (segment,) = route.segments
    assert segment.direction == -1
    found = route.project(pose(3.0, 0.2, np.pi - 0.1), 3.0, WINDOW)
    assert (found.s_m, found.lateral_m) == pytest.approx((3.0, 0.2), abs=ROUNDING)
    assert found.heading_error_rad == pytest.approx(-0.1, abs=ROUNDING)
    assert np.cos(route.at(3.0, segment)[1][0]) == pytest.approx(-1.0)


def test_the_second_pass_of_a_crossing_is_not_taken_for_the_first():
    loop = driven([(10.0, 0.0), (2.0 * np.pi * 3.0 * 0.75, 1 / 3.0), (10.0, 0.0)])
    route = RoutePath(loop)
    at = [(s, route.at(s, route.segments[0])[0][0]) for s in np.arange(0.0, route.length_m, 0.05)]
    passes = [s for s, p in at if np.hypot(*(p[:2] - [13.0 - 3.0, 0.0])) < 0.05]
    assert passes
    crossing = pose(10.0, 0.0, 0.0)
    for near in (9.5, 10.4):
        assert route.project(crossing, near, WINDOW).s_m == pytest.approx(10.0, abs=0.02)


def test_ten_rounds_on_one_circle_are_distinguished_by_where_the_vehicle_was():
    radius = 4.0
    route, rounds = RoutePath(driven([(10 * 2 * np.pi * radius, 1 / radius)])), 2 * np.pi * radius
    for k in range(10):
        s = (k + 0.5) * rounds
        found = route.project(pose(0.0, 2.0 * radius, np.pi), s + 0.6, WINDOW)
        assert found.s_m == pytest.approx(s, abs=10 * ARC_ERROR)


def there_and_back():
    x = np.r_[np.arange(0.0, 6.01, 0.3), np.arange(5.7, -0.01, -0.3)]
    return poses(x, 0 * x, 0 * x)


def test_a_cusp_parts_a_route_and_the_way_back_on_the_same_line_is_not_confused():
    route = RoutePath(there_and_back())
    assert [s.direction for s in route.segments] == [1, -1]
    assert route.segments[0].stop_s_m == pytest.approx(6.0, abs=ROUNDING)
    assert route.length_m == pytest.approx(12.0, abs=ROUNDING)
    here = pose(5.8, 0.1, 0.0)
    assert route.project(here, 5.5, WINDOW).s_m == pytest.approx(5.8, abs=ROUNDING)
    back = route.project(here, 6.5, WINDOW)
    assert back.s_m == pytest.approx(6.2, abs=ROUNDING)
    assert back.lateral_m == pytest.approx(-0.1, abs=ROUNDING)  # left of travel is now the right


def test_progress_passes_the_cusp_once_it_is_reached_and_not_before():
    progress = RouteProgress(RoutePath(there_and_back()), 5.0)
    for x, s in ((5.5, 5.5), (5.95, 5.95), (5.99, 6.0), (5.9, 6.1), (5.0, 7.0)):
        progress.update(pose(x, 0.0, 0.0))
        assert progress.s_m == pytest.approx(s, abs=ROUNDING)
    assert progress.left_m == pytest.approx(5.0, abs=ROUNDING)


def test_vertices_know_their_arc_length_even_those_at_one_place():
    provided = driven([(3.0, 0.0)], spacing=0.5)
    turned = np.concatenate([provided[:3], provided[2:3], provided[3:]])
    found = RoutePath(turned).vertex_s_m
    np.testing.assert_allclose(found, [0.0, 0.5, 1.0, 1.0, 1.5, 2.0, 2.5, 3.0], atol=ROUNDING)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (np.full((3, 4, 4), np.nan), "finite"),
        (np.tile(np.eye(4), (3, 1, 1)), "one place"),
        (np.eye(4), r"\(n, 4, 4\)"),
    ],
)
def test_what_is_no_route_is_refused(bad, said):
    with pytest.raises(ValueError, match=said):
        RoutePath(bad)


def test_a_pose_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="finite"):
        RoutePath(driven([(3.0, 0.0)])).project(np.full((4, 4), np.nan), 0.0, WINDOW)
