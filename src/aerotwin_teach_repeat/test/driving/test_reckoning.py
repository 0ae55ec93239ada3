# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where motion leads from a sure place, and what agrees with it."""

import numpy as np
import pytest

from aerotwin_core.frames import invert_transform
from aerotwin_teach_repeat.repeat.pose_tracker import RECKONED_SHARE, DeadReckoning
from aerotwin_teach_repeat.route_graph import distance_and_angle

from .vehicle import poses

SHIFT_M, TURN_RAD = 0.3, 0.1
PLACE, LATER, BESIDE, TURNED = poses(
    [1.0, 3.0, 3.0, 3.0], [2.0, 2.5, 2.9, 2.5], [0.4, 0.7, 0.7, 0.9]
)
MOTION = invert_transform(PLACE) @ LATER


def agrees(reckoning, T, ratio=0.8):
    return reckoning.agrees(T, ratio, SHIFT_M, TURN_RAD)


def test_distance_and_angle_between_poses():
    assert distance_and_angle(PLACE, LATER) == pytest.approx((np.hypot(2.0, 0.5), 0.3))


def test_nothing_agrees_before_a_place_was_sure():
    assert not agrees(DeadReckoning(), PLACE)
    assert DeadReckoning().moved(MOTION) == DeadReckoning()


def test_it_moves_with_the_vehicle_and_a_share_of_the_motion_may_be_wrong():
    there = DeadReckoning().sure(PLACE, 0.8).moved(MOTION)
    assert there.T_map_base == pytest.approx(LATER)
    assert there.way_m == pytest.approx(np.hypot(2.0, 0.5))
    assert agrees(there, LATER) and not agrees(there, PLACE)
    # 0.4 m beside: more than 0.3, less than that and a share of two metres; likewise 0.2 rad.
    assert agrees(there, BESIDE) and 0.3 < 0.4 < SHIFT_M + 2.0 * RECKONED_SHARE
    assert not agrees(there, TURNED)
    at_once = DeadReckoning().sure(LATER, 0.8)
    assert not agrees(at_once, BESIDE)


def test_as_much_of_a_scan_must_lie_on_the_map_as_usual():
    usual = DeadReckoning().sure(PLACE, 0.8)
    assert agrees(usual, PLACE, 0.73) and not agrees(usual, PLACE, 0.71)
    for _ in range(100):
        usual = usual.sure(PLACE, 0.5)
    assert usual.usual_ratio == pytest.approx(0.5, abs=0.01)
    assert agrees(usual, PLACE, 0.46) and not agrees(usual, PLACE, 0.44)
