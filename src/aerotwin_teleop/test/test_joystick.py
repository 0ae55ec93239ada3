# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Axes and buttons of a joystick."""

import math

import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_teleop import AT_REST, Joystick, Request
from aerotwin_teleop.joystick import SILENCE_S
from aerotwin_teleop.parameters import TeleopParameters

REST = [0.0] * 8


def joystick(**values):
    return Joystick(TeleopParameters(joy_speed_m_s=2.0, joy_turn_rad_s=1.0, **values))


def test_full_axes_are_the_full_speeds_and_the_dead_zone_is_rest():
    one = joystick(joy_dead_zone=0.1)
    one.on_state([-1.0, 0.55, 0.0, 0.1, 1.0, 0.0], [], 0.0)
    assert tuple(one.motion(0.1)) == pytest.approx((2.0, 0.0, 1.0, -1.0))
    one.on_state([0.05, -0.09, 0.0, -0.1, 0.0], [], 1.0)
    assert one.motion(1.0) == AT_REST


def test_a_silent_joystick_asks_for_rest():
    one = joystick()
    assert one.motion(0.0) == AT_REST
    one.on_state([0.0, 0.0, 0.0, 0.0, 1.0], [], 5.0)
    assert one.motion(5.0 + 0.9 * SILENCE_S).forward == pytest.approx(2.0)
    assert one.motion(5.0 + SILENCE_S) == AT_REST


def test_a_button_requests_once_when_it_is_pressed():
    one = joystick()
    assert one.on_state(REST, [1, 0, 0, 0], 0.0) == [Request.TAKE_OFF]
    assert one.on_state(REST, [1, 0, 0, 0], 0.1) == []
    assert one.on_state(REST, [0, 1, 0, 1, 1], 0.2) == [Request.LAND, Request.RETURN]


def test_axes_count_from_zero():
    with pytest.raises(ParameterError, match=r"joy_axes: expected axes from 0, found \[4, 3, -9"):
        TeleopParameters(joy_axes=(4, 3, -9, 0))


@pytest.mark.parametrize("axes", [[0.0] * 4, [0.0, 0.0, 0.0, math.nan, 0.0]])
def test_a_joystick_of_other_axes_is_named(axes):
    with pytest.raises(ValueError, match=r"more than 4, found .* set joy_axes"):
        joystick().on_state(axes, [], 0.0)
