# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Ellipsoids of covariances."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_view.scene.layers import Layers
from aerotwin_view.scene.uncertainty_ellipsoids import UncertaintyEllipsoids, ellipsoid_of

ROUNDING = 1e-9
PLACE = np.array([1.0, 2.0, 3.0])


def test_half_axes_are_three_standard_deviations():
    half_axes, _ = ellipsoid_of(np.diag([4.0, 0.25, 1.0]))
    np.testing.assert_allclose(np.sort(half_axes), (1.5, 3.0, 6.0))


def test_it_is_turned_as_its_covariance_is():
    turn = Rotation.from_euler("xyz", (0.3, -0.5, 1.1)).as_matrix()
    covariance = turn @ np.diag([1.0, 4.0, 9.0]) @ turn.T
    half_axes, q_wxyz = ellipsoid_of(covariance)
    axes = Rotation.from_quat(q_wxyz, scalar_first=True).as_matrix()
    rebuilt = axes @ np.diag((half_axes / 3.0) ** 2) @ axes.T
    np.testing.assert_allclose(rebuilt, covariance, atol=ROUNDING)


def test_uncertain_along_the_diagonal_is_long_along_the_diagonal():
    half_axes, q_wxyz = ellipsoid_of(np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 0.1]]))
    axes = Rotation.from_quat(q_wxyz, scalar_first=True).as_matrix()
    longest = axes[:, np.argmax(half_axes)]
    assert abs(longest @ (1.0, 1.0, 0.0)) == pytest.approx(np.sqrt(2.0))


@pytest.mark.parametrize(
    "covariance",
    [
        np.zeros((3, 3)),
        np.diag([-1.0, 0.0, 0.0]),  # not known, as messages say it
        np.diag([np.nan, 1.0, 1.0]),
        np.diag([np.inf, 1.0, 1.0]),
        np.diag([1.0, 1.0, -1.0]),
        np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        np.diag([1e30, 1.0, 1.0]),
    ],
)
def test_what_is_no_covariance_is_not_shown(covariance, page):
    assert ellipsoid_of(covariance) is None
    ellipsoids = UncertaintyEllipsoids(page, Layers(page))
    ellipsoids.show({"slam/odom": [(PLACE, covariance)]})
    assert "/uncertainty/slam/odom" not in page.scene._handle_from_node_name


def test_those_that_are_known_are_shown_and_vanish_with_their_knowledge(page):
    ellipsoids = UncertaintyEllipsoids(page, Layers(page))
    known, unknown = np.diag([0.01, 0.04, 0.09]), np.zeros((3, 3))
    ellipsoids.show({"autopilot/odom": [(PLACE, known), (PLACE, unknown), (2.0 * PLACE, known)]})
    shown = page.scene._handle_from_node_name["/uncertainty/autopilot/odom"]
    np.testing.assert_allclose(shown.batched_positions, [PLACE, 2.0 * PLACE])
    np.testing.assert_allclose(np.sort(shown.batched_scales[0]), (0.3, 0.6, 0.9), rtol=1e-6)
    ellipsoids.show({"autopilot/odom": [(PLACE, unknown)]})
    assert "/uncertainty/autopilot/odom" not in page.scene._handle_from_node_name
