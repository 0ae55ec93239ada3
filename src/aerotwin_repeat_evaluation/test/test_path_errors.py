# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from itertools import pairwise

import numpy as np
import pytest

from aerotwin_repeat_evaluation import arc_length, lateral_errors

ROUNDING = 1e-9
STRAIGHT = np.array([[0.0, 0.0, 0.0], [10.0, 0.0, 0.0]])
CORNER = np.array([[0.0, 0.0, 0.0], [10.0, 0.0, 0.0], [10.0, 10.0, 0.0]])


def at(*xy):
    return np.array([[x, y, 0.0] for x, y in xy])


def slow_distance(path, p):
    """Return the distance of one point to a chain of segments, the obvious way."""
    best = np.inf
    for a, b in pairwise(path):
        share = np.clip((p - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        best = min(best, np.linalg.norm(p - a - share * (b - a)))
    return best


def wavy(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([np.cumsum(rng.normal(0.5, 0.6, (n, 2)), axis=0), np.zeros(n)])


def test_left_of_a_straight_path_is_positive():
    found = lateral_errors(STRAIGHT, at((3.0, 0.5), (4.0, -0.25)))
    np.testing.assert_allclose(found.error_m, [0.5, -0.25], atol=ROUNDING)
    np.testing.assert_allclose(found.s_m, [3.0, 4.0], atol=ROUNDING)


def test_a_reversed_path_changes_the_sign_only():
    path, points = wavy(), wavy(seed=1) + np.array([0.3, -0.2, 0.0])
    inner = slice(20, -20)
    forth = lateral_errors(path, points[inner]).error_m
    back = lateral_errors(path[::-1], points[inner]).error_m
    np.testing.assert_allclose(np.abs(forth), np.abs(back), atol=ROUNDING)
    smooth = np.column_stack([np.linspace(0.0, 30.0, 301), np.sin(np.linspace(0.0, 6.0, 301))])
    near = smooth[10:-10] + np.array([0.0, 0.05])
    np.testing.assert_allclose(
        lateral_errors(smooth, near).error_m, -lateral_errors(smooth[::-1], near).error_m,
        atol=ROUNDING,
    )  # fmt: skip


def test_a_literal_turned_path_keeps_left_and_right():
    north = np.array([[0.0, 0.0], [0.0, 10.0]])
    np.testing.assert_allclose(
        lateral_errors(north, np.array([[-0.4, 5.0], [0.3, 5.0]])).error_m, [0.4, -0.3],
        atol=ROUNDING,
    )  # fmt: skip


def test_outside_of_a_corner_the_vertex_counts_with_the_side_of_the_turn():
    found = lateral_errors(CORNER, at((10.3, -0.4)))
    assert found.error_m[0] == pytest.approx(-0.5, abs=ROUNDING)
    mirrored = CORNER * [1.0, -1.0, 1.0]
    assert lateral_errors(mirrored, at((10.3, 0.4))).error_m[0] == pytest.approx(0.5, abs=ROUNDING)


def test_inside_of_a_corner_the_nearer_segment_counts():
    assert lateral_errors(CORNER, at((9.0, 0.4))).error_m[0] == pytest.approx(0.4, abs=ROUNDING)
    assert lateral_errors(CORNER, at((9.9, 0.4))).error_m[0] == pytest.approx(0.1, abs=ROUNDING)


def test_outside_of_a_hairpin_both_sides_of_the_wedge_have_the_sign_of_the_turn():
    hairpin = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 1.0]])  # turns left by 174 degrees
    outside = np.array([[10.2, -0.1], [10.2, 0.0], [10.2, 0.1]])
    assert (lateral_errors(hairpin, outside).error_m < 0.0).all()


def test_an_overshot_cusp_is_as_far_as_it_overshoots():
    cusp = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 0.0]])
    found = lateral_errors(cusp, np.array([[10.3, 0.0]]))
    assert abs(found.error_m[0]) == pytest.approx(0.3, abs=ROUNDING)


def test_on_both_legs_of_a_cusp_left_is_that_of_the_leg_driven():
    cusp = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 0.0]])
    p = np.array([[4.0, 0.2]])
    there = lateral_errors(cusp, p, window_m=2.0, s_near_m=4.0)
    back = lateral_errors(cusp, p, window_m=2.0, s_near_m=16.0)
    assert there.error_m[0] == pytest.approx(0.2, abs=ROUNDING)
    assert back.error_m[0] == pytest.approx(-0.2, abs=ROUNDING)
    assert back.s_m[0] == pytest.approx(16.0, abs=ROUNDING)


def test_beyond_the_ends_the_path_goes_on_straight():
    found = lateral_errors(STRAIGHT, at((-0.5, 0.1), (10.7, -0.2)))
    np.testing.assert_allclose(found.error_m, [0.1, -0.2], atol=ROUNDING)
    np.testing.assert_allclose(found.s_m, [-0.5, 10.7], atol=ROUNDING)


def test_the_end_of_a_loop_does_not_reach_over_its_start():
    """As an open path, a loop's ends go on straight, but not into what lies beside its start."""
    angle = np.linspace(0.0, 2.0 * np.pi, 361)
    loop = 20.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    found = lateral_errors(loop, 0.99 * loop[5:20])
    np.testing.assert_allclose(found.error_m, 0.2, atol=1e-3)
    assert (found.s_m < 10.0).all()


def test_a_followed_run_may_stop_past_the_goal():
    run = np.column_stack([np.linspace(0.0, 11.5, 40), np.full(40, 0.1)])
    found = lateral_errors(STRAIGHT, run, window_m=0.5, s_near_m=0.0)
    np.testing.assert_allclose(found.error_m, 0.1, atol=ROUNDING)
    assert found.s_m[-1] == pytest.approx(11.5)


def test_a_followed_run_stays_on_its_branch_of_a_crossing():
    angle = np.linspace(0.0, 2.0 * np.pi, 400)
    eight = np.column_stack([20.0 * np.sin(angle), 10.0 * np.sin(2.0 * angle)])
    left = np.gradient(eight, axis=0)
    left = np.column_stack([-left[:, 1], left[:, 0]]) / np.linalg.norm(left, axis=1, keepdims=True)
    run = eight + 0.6 * left
    followed = lateral_errors(eight, run, window_m=2.0, s_near_m=0.0)
    chord = 0.02  # vertices 0.3 m apart on arcs of 3 m radius and more
    np.testing.assert_allclose(followed.error_m, 0.6, atol=chord)
    # Without a window the crossing branch takes over: this is what the window is for.
    assert (np.abs(lateral_errors(eight, run).error_m - 0.6) > 0.1).any()


def test_two_laps_of_a_loop_count_on():
    angle = np.linspace(0.0, 2.0 * np.pi, 201)[:-1]
    loop = 10.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    turns = np.linspace(0.3, 0.3 + 4.0 * np.pi, 500)
    run = 9.9 * np.column_stack([np.cos(turns), np.sin(turns)])
    found = lateral_errors(loop, run, window_m=1.0, is_closed=True)
    sagitta = 10.0 * (1.0 - np.cos(np.pi / 200)) + ROUNDING
    np.testing.assert_allclose(found.error_m, 0.1, atol=sagitta)
    assert (np.diff(found.s_m) > 0.0).all()
    lap = 200.0 * 2.0 * 10.0 * np.sin(np.pi / 200.0)
    assert found.s_m[-1] - found.s_m[0] == pytest.approx(2.0 * lap, rel=1e-3)


def test_a_loop_is_closed_across_its_seam():
    square = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]])
    p = np.array([[0.2, 5.0]])
    assert lateral_errors(square, p, is_closed=True).error_m[0] == pytest.approx(0.2)
    near = lateral_errors(square, p, is_closed=True, window_m=7.0, s_near_m=1.0)
    assert near.error_m[0] == pytest.approx(0.2, abs=ROUNDING)
    assert near.s_m[0] == pytest.approx(-5.0, abs=ROUNDING)


@pytest.mark.parametrize("seed", range(4))
def test_the_error_is_the_distance_to_the_chain_and_at_most_that_to_a_vertex(seed):
    path = wavy(60, seed)[:, :2]
    points = np.random.default_rng(seed + 50).uniform(path.min(0), path.max(0), (80, 2))
    found = lateral_errors(path, points)
    nearest = np.linalg.norm(points[:, None] - path[None], axis=2).min(axis=1)
    assert (np.abs(found.error_m) <= nearest + ROUNDING).all()
    inside = (found.s_m >= 0.0) & (found.s_m <= arc_length(path)[-1])
    slow = [slow_distance(path, p) for p in points]
    np.testing.assert_allclose(np.abs(found.error_m)[inside], np.array(slow)[inside], atol=ROUNDING)


def test_heights_do_not_count():
    raised = np.array([[5.0, 0.3, 0.4]])
    assert lateral_errors(STRAIGHT, raised).error_m[0] == pytest.approx(0.3, abs=ROUNDING)


def test_repeated_vertices_are_passed_over():
    doubled = np.repeat(CORNER, 3, axis=0)
    p = at((3.0, 0.5), (10.3, -0.4))
    np.testing.assert_allclose(
        lateral_errors(doubled, p).error_m, lateral_errors(CORNER, p).error_m, atol=ROUNDING
    )


def test_a_path_without_length_is_refused():
    with pytest.raises(ValueError, match="two different places"):
        lateral_errors(np.zeros((5, 3)), at((0.0, 0.0)))
    with pytest.raises(ValueError, match="finite"):
        lateral_errors(STRAIGHT, np.array([[np.nan, 0.0, 0.0]]))
