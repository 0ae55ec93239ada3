# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.linalg import expm

from aerotwin_core.rigid_motion import cross_matrix, exponential, left_jacobian, nearest_rotation

ROUNDING = 1e-12


def test_a_cross_matrix_takes_the_cross_product():
    rng = np.random.default_rng(0)
    w, a = rng.normal(size=(2, 5, 4, 3))
    found = np.einsum("...ij,...j->...i", cross_matrix(w), a)
    np.testing.assert_allclose(found, np.cross(w, a), atol=ROUNDING)
    np.testing.assert_array_equal(
        cross_matrix([1.0, 2.0, 3.0]), [[0, -3, 2], [3, 0, -1], [-2, 1, 0]]
    )


@pytest.mark.parametrize("turn", [0.0, 1e-12, 1e-6, 0.3, 3.0])
def test_the_exponential_is_that_of_the_matrix(turn):
    rng = np.random.default_rng(1)
    axis = rng.normal(size=3)
    d = np.concatenate([rng.normal(size=3), turn * axis / np.linalg.norm(axis)])
    generator = np.zeros((4, 4))
    generator[:3, :3], generator[:3, 3] = cross_matrix(d[3:]), d[:3]
    np.testing.assert_allclose(exponential(d), expm(generator), atol=1e-9)


def test_the_left_jacobian_takes_velocity_to_shift():
    w, v = np.array([0.2, -0.5, 0.9]), np.array([1.0, 2.0, -1.0])
    shift = exponential(np.concatenate([v, w]))[:3, 3]
    np.testing.assert_allclose(left_jacobian(w) @ v, shift, atol=ROUNDING)


def test_the_nearest_rotation_takes_away_what_rounding_grew():
    R = expm(cross_matrix([0.3, -1.2, 0.8]))
    strain = 1e-3 * np.array([[1.0, 0.5, 0.0], [0.5, -2.0, 0.3], [0.0, 0.3, 1.5]])
    stretched = R @ (np.eye(3) + strain)
    np.testing.assert_allclose(nearest_rotation(stretched), R, atol=ROUNDING)  # polar decomposition
