# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Eq. 17 of Pegasus: its known figures, and its derivatives by differences."""

import numpy as np
import pytest

from aerotwin_flight_control import RelayReference
from aerotwin_multirotor_dynamics import GRAVITY

ORIGIN = (10.0, -3.0, 2.0)
T = np.linspace(0.0, 10.0, 10001)
DIGITS = 0.005  # the figures are given to two or three digits


@pytest.fixture(scope="module")
def rows():
    relay = RelayReference(ORIGIN)
    return np.array([relay.at(t).p_derivatives_map for t in T])


@pytest.fixture(scope="module")
def mirrored():
    relay = RelayReference(ORIGIN, is_mirrored=True)
    return np.array([relay.at(t).p_derivatives_map for t in T])


def test_it_has_the_published_figures(rows):
    """Peak 1.667 m, 2.58 m/s, 6.55 m/s^2, 15.1 m/s^3 and a tilt of 41.8 degrees for s = 0.6."""
    assert (rows[:, 0, 1] - ORIGIN[1]).max() == pytest.approx(1.667, abs=DIGITS)
    sizes = np.linalg.norm(rows, axis=2).max(axis=0)
    assert sizes[1] == pytest.approx(2.58, abs=DIGITS)
    assert sizes[2] == pytest.approx(6.55, abs=DIGITS)
    assert sizes[3] == pytest.approx(15.1, abs=0.05)
    thrust = rows[:, 2] + (0.0, 0.0, GRAVITY)
    tilt = np.degrees(np.arctan2(np.hypot(thrust[:, 0], thrust[:, 1]), thrust[:, 2]))
    assert tilt.max() == pytest.approx(41.8, abs=0.05)


def test_the_two_come_within_1_167_m(rows, mirrored):
    gap = np.linalg.norm(rows[:, 0] - mirrored[:, 0], axis=1)
    assert gap.min() == pytest.approx(4.5 - 2.0 / 0.6, abs=1e-9)
    assert T[gap.argmin()] == pytest.approx(5.0)


def test_the_second_is_the_mirror_image_of_the_first(rows, mirrored):
    assert mirrored[:, :, [0, 2]] == pytest.approx(rows[:, :, [0, 2]])
    assert mirrored[:, 0, 1] + rows[:, 0, 1] == pytest.approx(2 * ORIGIN[1] + 4.5)


def test_it_is_eq_17_literally_at_one_instant():
    """t = -0.6: x = -0.6, y = exp(-0.5) / 0.6, z = 1 + y."""
    p = RelayReference((0.0, 0.0, 0.0)).at(5.0 - 0.6).p_map
    bump = np.exp(-0.5) / 0.6
    assert p == pytest.approx([-0.6, bump, 1.0 + bump], abs=1e-12)


def test_every_row_is_the_derivative_of_the_one_above(rows):
    slope = np.gradient(rows[:, :4], T[1], axis=0)[1:-1]
    assert slope == pytest.approx(rows[1:-1, 1:], abs=2e-3)  # h^2 / 6 times derivatives near 1e3


def test_a_relay_that_takes_no_time_is_refused():
    with pytest.raises(ValueError, match="positive"):
        RelayReference(ORIGIN, s=0.0)
