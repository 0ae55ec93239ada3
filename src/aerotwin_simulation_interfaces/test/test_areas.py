# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Overlap of boxes with spheres, boxes and hulls."""

import numpy as np
import pytest

from aerotwin_simulation_interfaces.areas import overlaps_box, overlaps_hull, overlaps_sphere

BOX = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
SLIVER = 1e-6


def test_a_sphere_touches_at_its_radius_from_the_nearest_corner():
    radius = np.sqrt(3.0)
    assert overlaps_sphere(BOX, (2.0, 3.0, 4.0), radius + SLIVER)
    assert not overlaps_sphere(BOX, (2.0, 3.0, 4.0), radius - SLIVER)
    assert overlaps_sphere(BOX, (0.5, 0.5, 0.5), 0.0)


def test_boxes_may_name_their_corners_in_any_order():
    for corners in ([[5, 5, 5], [0.9, 1.9, 2.9]], [[0.9, 1.9, 2.9], [5, 5, 5]]):
        assert overlaps_box(BOX, corners)
    assert not overlaps_box(BOX, [[5, 5, 5], [1.1, 1.9, 2.9]])


def test_a_hull_that_contains_no_corner_is_found():
    pyramid = np.array([[-9.0, 1.0, 1.5], [9.0, 0.9, 1.4], [9.0, 1.1, 1.4], [9.0, 1.0, 1.6]])
    assert overlaps_hull(BOX, pyramid)
    assert not overlaps_hull(BOX, pyramid + np.array([0.0, 5.0, 0.0]))


def test_a_flat_hull_is_a_polygon():
    triangle = np.array([[-5.0, -5.0, 1.0], [5.0, -5.0, 1.0], [0.0, 9.0, 1.0]])
    assert overlaps_hull(BOX, triangle)
    assert not overlaps_hull(BOX, triangle + np.array([0.0, 0.0, 3.0]))


def test_boxes_as_hulls_agree_with_boxes():
    rng = np.random.default_rng(3)
    found = []
    for _ in range(100):
        low = rng.uniform(-2.0, 2.5, 3)
        corners = np.stack([low, low + rng.uniform(0.1, 2.0, 3)])
        every = np.array(np.meshgrid(*corners.T)).reshape(3, -1).T
        found.append(overlaps_box(BOX, corners))
        assert overlaps_hull(BOX, every) == found[-1]
    assert 10 < sum(found) < 90


def test_too_many_points_are_refused():
    with pytest.raises(ValueError, match="at most 1000 points, got 1001"):
        overlaps_hull(BOX, np.zeros((1001, 3)))
