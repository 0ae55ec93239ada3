# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from aerotwin_core.rigid_motion import (
    cross_matrix,
    exponential,
    left_jacobian,
    nearest_rotation,
    rotation_svd,
)

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


def test_the_fit_to_a_mirrored_input_is_a_rotation_and_the_best_one():
    rng = np.random.default_rng(2)
    C = rng.normal(size=(3, 3))
    C *= -np.sign(np.linalg.det(C))
    U, values, Vt = rotation_svd(C)
    R = nearest_rotation(C)
    np.testing.assert_array_equal(R, U @ Vt)
    np.testing.assert_allclose((U * values) @ Vt, C, atol=ROUNDING)
    assert values[0] >= values[1] >= -values[2] > 0.0
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=ROUNDING)
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert np.trace(R.T @ C) == pytest.approx(values.sum())
    for other in Rotation.random(1000, rng=rng).as_matrix():
        assert np.trace(other.T @ C) <= values.sum() + ROUNDING


@pytest.mark.parametrize("C", [np.zeros((3, 3)), np.diag([1.0, 1.0, -1.0]), np.diag([1.0, 0.0, 0])])
def test_what_holds_no_rotation_gives_one_all_the_same(C):
    R = nearest_rotation(C)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=ROUNDING)
    assert np.linalg.det(R) == pytest.approx(1.0)
