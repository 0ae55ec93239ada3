# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_repeat_evaluation import (
    NoDisplacement,
    arc_length,
    image_of_points,
    image_of_poses,
    marker_errors,
    marks_on_route,
    painted_marks,
    passings,
    true_poses,
)

ROUNDING = 1e-9


class Shear:
    """The map shows (x, y) at (x + k y, y) + offset; inverse in closed form."""

    def __init__(self, k=0.003, offset=(1.0, -2.0, 0.5)):
        self.k, self.offset = k, np.array(offset)

    def __call__(self, points):
        return self.k * points[:, 1:2] * [1.0, 0.0, 0.0] + self.offset

    def inverse(self, points):
        back = points - self.offset
        return back - self.k * back[:, 1:2] * [1.0, 0.0, 0.0]


def route_of(points):
    poses = np.tile(np.eye(4), (len(points), 1, 1))
    tangent = np.gradient(points[:, :2], axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    poses[:, :2, 0], poses[:, 0, 1], poses[:, 1, 1] = tangent, -tangent[:, 1], tangent[:, 0]
    poses[:, :3, 3] = points
    return poses


def loop(radius=40.0, n=400):
    angle = np.linspace(0.0, 2.0 * np.pi, n)
    return np.column_stack([radius * np.sin(angle), -radius * np.cos(angle), 0.1 * np.sin(angle)])


def test_marks_lie_at_their_arc_lengths_with_x_along_the_route():
    route = route_of(np.array([[0.0, 0.0, 1.0], [10.0, 0.0, 1.0], [10.0, 10.0, 2.0]]))
    marks = marks_on_route(route, np.array([2.5, 15.0]), NoDisplacement())
    np.testing.assert_allclose(marks.T_map_mark[:, :3, 3], [[2.5, 0, 1.0], [10, 5, 1.5]])
    np.testing.assert_allclose(marks.T_map_mark[1, :3, 0], [0, 1, 0], atol=ROUNDING)
    np.testing.assert_allclose(marks.T_true_mark, marks.T_map_mark)
    with pytest.raises(ValueError, match="20"):
        marks_on_route(route, np.array([20.5]), NoDisplacement())


def test_true_marks_are_the_exact_images_under_the_inverse_map():
    warp = Shear()
    marks = marks_on_route(route_of(loop()), np.linspace(5.0, 240.0, 30), warp)
    seen = image_of_points(warp, marks.T_true_mark[:, :3, 3])
    np.testing.assert_allclose(seen, marks.T_map_mark[:, :3, 3], atol=ROUNDING)


def test_poses_go_to_the_map_and_back_and_turn_with_it():
    warp = Shear(k=0.1)
    poses = route_of(loop())
    np.testing.assert_allclose(true_poses(warp, image_of_poses(warp, poses)), poses, atol=ROUNDING)
    north = np.eye(4)[None].copy()
    north[0, :3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    # Literal: a shear of x by 0.1 y leans a heading to the north over to (0.1, 1).
    leant = image_of_poses(warp, north)[0, :2, 0]
    np.testing.assert_allclose(leant, np.array([0.1, 1.0]) / np.hypot(0.1, 1.0), atol=ROUNDING)


def test_the_offset_at_a_mark_is_that_of_the_path_driven():
    points = loop()
    route = route_of(points)
    s = arc_length(points[:, :2])
    marks = marks_on_route(route, np.linspace(3.0, 245.0, 40), NoDisplacement())
    run = (route @ [0.0, 0.12, 0.0, 1.0])[:, :3]
    found = passings(marks.T_true_mark, run, marks.s_m, s)
    curvature = 5e-4  # a chord of 0.63 m on a radius of 40 m lies 1.2 mm inside at most
    np.testing.assert_allclose(found.offset_m, 0.12, atol=2 * curvature)
    assert (np.diff(found.sample) > 0.0).all()


def test_a_mark_near_the_seam_of_a_loop_is_passed_at_its_own_end():
    points = loop()
    s = arc_length(points[:, :2])
    drift = np.linspace(0.0, 0.2, len(points))[:, None]
    left = route_of(points)[:, :3, 1]
    run = np.vstack([points + drift * left, (points + (0.2 + drift) * left)[1:40]])
    s_run = np.append(s, s[-1] + s[1:40])
    marks = marks_on_route(route_of(points), np.array([4.0, s[-1] - 4.0]), NoDisplacement())
    found = passings(marks.T_true_mark, run, marks.s_m, s_run)
    np.testing.assert_allclose(
        found.offset_m, [0.2 * 4.0 / s[-1], 0.2 * (1 - 4.0 / s[-1])], atol=2e-3
    )


def test_a_mark_that_was_not_passed_is_no_number():
    route = route_of(np.column_stack([np.arange(30.0), np.zeros(30), np.zeros(30)]))
    marks = marks_on_route(route, np.array([5.0, 20.0]), NoDisplacement())
    run, s = route[:12, :3, 3], np.arange(12.0)
    found = passings(marks.T_true_mark, run, marks.s_m, s)
    assert found.offset_m[0] == pytest.approx(0.0, abs=ROUNDING)
    assert np.isnan(found.offset_m[1])
    backwards = passings(marks.T_true_mark, run[::-1], marks.s_m, s[::-1])
    assert np.isnan(backwards.offset_m).all()
    assert marker_errors(found.offset_m[:, None]).n_missed == 1


def test_the_first_passing_counts_where_the_vehicle_backs_up():
    route = route_of(np.column_stack([np.arange(30.0), np.zeros(30), np.zeros(30)]))
    marks = marks_on_route(route, np.array([10.0]), NoDisplacement())
    s = np.array([8.0, 9.0, 11.0, 9.0, 11.0])
    run = np.column_stack([s, [0.1, 0.1, 0.1, 0.3, 0.3], np.zeros(5)])
    found = passings(marks.T_true_mark, run, marks.s_m, s)
    assert found.offset_m[0] == pytest.approx(0.1, abs=ROUNDING)
    assert found.sample[0] == pytest.approx(1.5, abs=ROUNDING)


def test_an_offset_of_the_whole_map_costs_nothing_and_distortion_costs_itself():
    """A robot that is where the map shows it, passes the true marks; tape and belief agree."""
    points = loop()
    warp = Shear(k=0.01, offset=(3.0, 4.0, 0.0))
    marks = marks_on_route(route_of(points), np.linspace(3.0, 245.0, 40), warp)
    s = arc_length(points[:, :2])
    exact = passings(marks.T_true_mark, warp.inverse(points), marks.s_m, s)
    curvature = 1e-3
    np.testing.assert_allclose(exact.offset_m, 0.0, atol=curvature)


def test_bias_and_repeatability_are_distinguished():
    rng = np.random.default_rng(4)
    bias = rng.normal(0.0, 0.05, 4000)
    offsets = bias[:, None] + rng.normal(0.0, 0.01, (4000, 3))
    errors = marker_errors(offsets)
    sample_error = 5.0 / np.sqrt(2.0 * 8000.0)  # 5 sigma of a standard deviation
    assert errors.repeatability_m == pytest.approx(0.01, rel=sample_error)
    assert errors.rmse_m == pytest.approx(np.hypot(0.05, 0.01), rel=0.06)
    # Exactly: mean square = mean squared bias + (r - 1) / r of the unbiased variance.
    assert errors.rmse_m**2 == pytest.approx(
        errors.bias_rms_m**2 + 2.0 / 3.0 * errors.repeatability_m**2, rel=1e-9
    )
    np.testing.assert_allclose(errors.bias_m, offsets.mean(axis=1))


def test_pooled_figures_of_a_literal_table():
    errors = marker_errors(np.array([[0.03, -0.01], [0.0, np.nan]]))
    assert errors.rmse_m == pytest.approx(np.sqrt((9.0 + 1.0) / 3.0) * 1e-2)
    assert errors.max_m == 0.03
    assert (errors.n, errors.n_missed) == (3, 1)
    assert errors.repeatability_m == pytest.approx(0.02 * np.sqrt(2.0))
    assert marker_errors(np.array([[0.1]])).repeatability_m is None
    assert marker_errors(np.full((2, 2), np.nan)).rmse_m is None


def test_painted_marks_keep_their_distance_from_the_route_taught():
    route = route_of(np.column_stack([np.arange(30.0), np.zeros(30), np.zeros(30)]))
    painted = np.array([[10.0, 0.02, 0.0], [20.0, 0.0, 0.0]])
    marks = painted_marks(route, painted + np.array([0.0, 0.3, 0.0]), painted)
    np.testing.assert_allclose(marks.s_m, [10.0, 20.0], atol=ROUNDING)
    found = passings(marks.T_true_mark, route[:, :3, 3], marks.s_m, np.arange(30.0))
    np.testing.assert_allclose(found.offset_m, [-0.02, 0.0], atol=ROUNDING)
