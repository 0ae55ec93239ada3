# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The speed schedule against the limits that it is made of."""

import numpy as np
import pytest

from aerotwin_teach_repeat.tracking import RoutePath, TrackerParameters, speed_schedule

from .vehicle import driven

LIMITS = TrackerParameters()
CURVATURE_ERROR = 0.02  # of the curvature, at the middle of an arc


def test_a_straight_route_is_driven_at_the_reference_speed_and_braked_for_the_end():
    route = RoutePath(driven([(20.0, 0.0)]))
    speed = speed_schedule(route, LIMITS)
    left = route.length_m - route.s_m
    braking = (1.0 - LIMITS.brake_reserve) * LIMITS.max_acceleration_m_s2
    expected = np.minimum(1.0, np.sqrt(2.0 * braking * left))
    expected[:-1] = np.maximum(expected[:-1], LIMITS.creep_speed_m_s)
    np.testing.assert_allclose(speed, expected, atol=1e-9)
    assert speed[-1] == 0.0


@pytest.mark.parametrize(
    ("radius", "expected"),
    [(10.0, 1.0), (2.0, 0.8), (1.1, 0.5), (0.8, 0.4)],  # the reserve; the minimum; the turn rate
)
def test_turns_are_slowed_as_the_turn_rate_allows(radius, expected):
    route = RoutePath(driven([(6.0, 0.0), (4.0, 1.0 / radius), (6.0, 0.0)], spacing=0.1))
    speed = speed_schedule(route, LIMITS)
    middle = np.argmin(abs(route.s_m - 8.0))
    assert speed[middle] == pytest.approx(expected, rel=CURVATURE_ERROR)
    assert (speed * abs(route.curvature_1_m)).max() <= LIMITS.max_turn_rate_rad_s + 1e-9


def test_braking_never_asks_for_more_than_the_greatest_acceleration():
    route = RoutePath(driven([(6.0, 0.0), (4.0, 0.9), (6.0, -0.9), (5.0, 0.0)], spacing=0.1))
    speed = speed_schedule(route, LIMITS)
    fast = speed > LIMITS.creep_speed_m_s + 1e-9
    braking = -np.diff(speed**2) / (2.0 * np.maximum(np.diff(route.s_m), 1e-12))
    assert braking[fast[:-1] & fast[1:]].max() <= LIMITS.max_acceleration_m_s2 + 1e-6
