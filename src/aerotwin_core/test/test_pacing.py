# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import pytest

from aerotwin_core.pacing import Pacer, RealTimeFactor
from aerotwin_simulator.topics import resolve
from support.hand_clock import HandClock

ROUNDING_S = 1e-9


@pytest.mark.parametrize("speed", [0.5, 1.0, 4.0])
def test_the_loop_is_held_back_to_the_speed(speed):
    wall = HandClock()
    pacer = Pacer(speed, clock=wall, sleep=wall.sleep)
    for k in range(501):
        pacer.wait_until_due(k * 4_000_000)
    assert wall.now - 100.0 == pytest.approx(2.0 / speed, abs=ROUNDING_S)


def test_speed_0_never_sleeps():
    wall = HandClock()
    pacer = Pacer(0.0, clock=wall, sleep=wall.sleep)
    pacer.wait_until_due(10**12)
    assert wall.now == 100.0


def test_after_a_long_pause_time_is_not_caught_up():
    wall = HandClock()
    pacer = Pacer(1.0, clock=wall, sleep=wall.sleep)
    pacer.wait_until_due(0)
    wall.now += 30.0
    pacer.wait_until_due(4_000_000)  # 30 s late: run on from here
    pacer.wait_until_due(8_000_000)
    before = wall.now
    pacer.wait_until_due(1_008_000_000)
    assert wall.now - before == pytest.approx(1.0, abs=ROUNDING_S)


def test_another_speed_counts_from_where_the_loop_is():
    wall = HandClock()
    pacer = Pacer(1.0, clock=wall, sleep=wall.sleep)
    pacer.wait_until_due(0)
    pacer.wait_until_due(2_000_000_000)
    pacer.set_speed(4.0)
    assert pacer.speed == 4.0
    before = wall.now
    pacer.wait_until_due(2_000_000_000)
    pacer.wait_until_due(4_000_000_000)
    assert wall.now - before == pytest.approx(0.5, abs=ROUNDING_S)


def test_the_real_time_factor_is_simulated_over_wall_time():
    wall = HandClock()
    factor = RealTimeFactor(wall)
    for k in range(11):
        factor.update(k * 3_000_000_000)
        wall.now += 1.0
    assert factor.overall == pytest.approx(3.0)
    assert factor.recent == pytest.approx(3.0)


def test_names_resolve_below_the_namespace_unless_absolute():
    assert resolve("imu/mag") == "/imu/mag"
    assert resolve("imu/mag", "veh1") == "/veh1/imu/mag"
    assert resolve("/clock", "veh1") == "/clock"
