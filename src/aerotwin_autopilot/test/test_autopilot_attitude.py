# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Quaternion algebra against SciPy, with one literal case each."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_autopilot.attitude import (
    normalised,
    quaternion_from_rotation_vector,
    quaternion_product,
    rotation_entries,
)

ROUNDING = 1e-14


@pytest.fixture
def rotations() -> Rotation:
    return Rotation.random(20, rng=np.random.default_rng(1))


def test_rotation_entries_are_those_of_scipy(rotations):
    for rotation in rotations:
        entries = np.reshape(rotation_entries(*rotation.as_quat()), (3, 3))
        assert entries == pytest.approx(rotation.as_matrix(), abs=ROUNDING)


def test_a_quarter_turn_about_up_takes_east_to_north():
    entries = np.reshape(rotation_entries(0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)), (3, 3))
    assert entries @ [1.0, 0.0, 0.0] == pytest.approx([0.0, 1.0, 0.0], abs=ROUNDING)


def test_the_product_turns_by_the_right_factor_first(rotations):
    for a, b in zip(rotations[:10], rotations[10:], strict=True):
        product = quaternion_product(*a.as_quat(), *b.as_quat())
        assert Rotation.from_quat(product).as_matrix() == pytest.approx(
            (a * b).as_matrix(), abs=ROUNDING
        )


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.99e-4, 1.01e-4, 0.5, 3.0])
def test_rotation_vectors_become_the_quaternions_of_scipy(angle):
    vector = angle * np.array([0.6, -0.48, 0.64])
    quaternion = quaternion_from_rotation_vector(*vector)
    assert quaternion == pytest.approx(Rotation.from_rotvec(vector).as_quat(), abs=ROUNDING)


def test_normalised_keeps_the_direction():
    assert normalised(0.0, 3.0, 0.0, -4.0) == pytest.approx((0.0, 0.6, 0.0, -0.8), abs=ROUNDING)
