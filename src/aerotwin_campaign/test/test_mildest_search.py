# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The search finds the edges that are known in closed form."""

import math

import numpy as np
import pytest

from aerotwin_campaign.mildest_search import (
    FOUND,
    MILDEST_BREAKS,
    NOTHING_BREAKS,
    EvaluatedPoint,
    find_mildest_break,
)

TOLERANCE = 0.01


def evaluator(margin_of, *, has_margin=True):
    def evaluate(ts):
        found = []
        for t in ts:
            margin = margin_of(*t)
            found.append(
                EvaluatedPoint(t=t, is_broken=margin < 0.0, margin=margin if has_margin else None)
            )
        return found

    return evaluate


@pytest.mark.parametrize("edge", [0.003, 0.25, 0.61803, 0.999])
def test_the_edge_of_one_axis_is_between_what_passes_and_what_breaks(edge):
    found = find_mildest_break(evaluator(lambda t: edge - t), 1, tolerance=TOLERANCE)
    assert found.outcome == FOUND and found.is_complete and found.passed_beyond == ()
    assert found.passed.size <= edge < found.broken.size
    assert found.broken.size - found.passed.size <= TOLERANCE
    assert found.n_points <= 5 + math.ceil(math.log2(0.25 / TOLERANCE))


def test_a_range_that_passes_beyond_one_that_breaks_is_said():
    found = find_mildest_break(evaluator(lambda t: abs(t - 0.5) - 0.1), 1, tolerance=TOLERANCE)
    assert found.outcome == FOUND
    assert found.passed.size <= 0.4 < found.broken.size <= 0.4 + TOLERANCE
    assert [point.t for point in found.passed_beyond] == [(0.75,), (1.0,)]


@pytest.mark.parametrize("n_axes", [1, 3])
def test_nothing_breaks_and_all_breaks_are_said(n_axes):
    passes = find_mildest_break(evaluator(lambda *t: 1.0), n_axes, most_points=60)
    assert (passes.outcome, passes.broken) == (NOTHING_BREAKS, None)
    breaks = find_mildest_break(evaluator(lambda *t: -1.0), n_axes)
    assert breaks.outcome == MILDEST_BREAKS and breaks.broken.size == 0.0
    assert breaks.n_points <= 5


def ellipse(x, y):
    return 1.0 - (x / 0.8) ** 2 - (y / 0.5) ** 2


def line(x, y):
    return 0.6 - x - 0.5 * y


def hole(x, y):
    """Return the margin outside of a disc that is away from both axes."""
    return math.hypot(x - 0.7, y - 0.6) - 0.2


EDGES = [
    (ellipse, 0.5),
    (line, 0.6 / math.hypot(1.0, 0.5)),
    (hole, math.hypot(0.7, 0.6) - 0.2),
]


@pytest.mark.parametrize(("margin", "nearest"), EDGES, ids=["ellipse", "line", "hole"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_nearest_point_of_an_edge_in_the_plane_is_found(margin, nearest, seed):
    found = find_mildest_break(evaluator(margin), 2, tolerance=TOLERANCE, seed=seed)
    assert found.outcome == FOUND
    assert nearest <= found.broken.size <= nearest + 1.5 * TOLERANCE
    assert not found.passed.is_broken
    assert math.dist(found.passed.t, found.broken.t) <= TOLERANCE


@pytest.mark.parametrize(("margin", "nearest"), EDGES, ids=["ellipse", "line", "hole"])
def test_without_margins_the_edge_is_found_less_closely(margin, nearest):
    found = find_mildest_break(evaluator(margin, has_margin=False), 2, tolerance=TOLERANCE)
    assert found.outcome == FOUND
    assert nearest <= found.broken.size <= 1.1 * nearest


def test_points_that_are_spent_end_the_search_with_what_was_found():
    found = find_mildest_break(evaluator(ellipse), 2, most_points=20)
    assert not found.is_complete and found.n_points <= 20
    assert found.outcome == FOUND


def test_no_point_is_evaluated_twice_and_the_search_repeats():
    asked = []

    def evaluate(ts):
        asked.extend(ts)
        return evaluator(line)(ts)

    first = find_mildest_break(evaluate, 2)
    assert len(set(asked)) == len(asked) == first.n_points <= 200
    assert find_mildest_break(evaluator(line), 2) == first


def test_whole_numbers_end_at_neighbours():
    def evaluate(ts):
        whole = [round(10 * t) / 10 for (t,) in ts]
        return [EvaluatedPoint(t=(t,), is_broken=t > 0.62, margin=None) for t in whole]

    found = find_mildest_break(evaluate, 1, tolerance=1e-3)
    assert np.isclose([found.passed.size, found.broken.size], [0.6, 0.7]).all()
