# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import io

import pytest

from aerotwin_simulator.frame_gate import FrameGate
from aerotwin_simulator.pacing import Pacer, RealTimeFactor
from aerotwin_simulator.status_line import StatusLine
from aerotwin_simulator.topics import resolve

ROUNDING_S = 1e-9


class Wall:
    """A wall clock that only sleeping moves."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.mark.parametrize("speed", [0.5, 1.0, 4.0])
def test_the_loop_is_held_back_to_the_speed(speed):
    wall = Wall()
    pacer = Pacer(speed, clock=wall, sleep=wall.sleep)
    for k in range(501):
        pacer.keep(k * 4_000_000)
    assert wall.now - 100.0 == pytest.approx(2.0 / speed, abs=ROUNDING_S)


def test_speed_0_never_sleeps():
    wall = Wall()
    pacer = Pacer(0.0, clock=wall, sleep=wall.sleep)
    pacer.keep(10**12)
    assert wall.now == 100.0


def test_after_a_long_pause_time_is_not_caught_up():
    wall = Wall()
    pacer = Pacer(1.0, clock=wall, sleep=wall.sleep)
    pacer.keep(0)
    wall.now += 30.0
    pacer.keep(4_000_000)  # 30 s late: run on from here
    pacer.keep(8_000_000)
    before = wall.now
    pacer.keep(1_008_000_000)
    assert wall.now - before == pytest.approx(1.0, abs=ROUNDING_S)


def test_the_real_time_factor_is_simulated_over_wall_time():
    wall = Wall()
    factor = RealTimeFactor(wall)
    for k in range(11):
        factor.update(k * 3_000_000_000)
        wall.now += 1.0
    assert factor.overall == pytest.approx(3.0)
    assert factor.recent == pytest.approx(3.0)


def test_a_frame_waits_for_the_answer_to_the_one_before_the_last():
    wall, waits = Wall(), []

    def meanwhile():
        waits.append(wall.now)
        wall.now += 0.01
        if len(waits) == 3:
            gate.answer(1)

    gate = FrameGate(
        frames_in_flight=2, limit_s=1.0, first_limit_s=1.0, meanwhile=meanwhile, clock=wall
    )
    gate.pass_frame(1)
    gate.pass_frame(2)
    assert not waits
    gate.pass_frame(3)
    assert len(waits) == 3
    assert [f.stamp_ns for f in gate.latencies] == [1]
    assert gate.latencies[0].latency_s == pytest.approx(0.03)
    assert not gate.is_open


def test_a_gate_without_answers_opens_after_its_limit():
    wall = Wall()
    gate = FrameGate(
        frames_in_flight=1,
        limit_s=0.5,
        first_limit_s=5.0,
        meanwhile=lambda: wall.sleep(0.1),
        clock=wall,
    )
    gate.pass_frame(1)
    gate.answer(1)
    gate.pass_frame(2)
    gate.pass_frame(3)
    assert gate.is_open
    assert wall.now - 100.0 < 0.8
    gate.answer(7)  # an answer to nothing is ignored
    assert gate.n_unanswered == 2


def test_a_frame_that_is_passed_over_does_not_hold_the_gate():
    wall = Wall()
    gate = FrameGate(
        frames_in_flight=2,
        limit_s=0.5,
        first_limit_s=0.5,
        meanwhile=lambda: wall.sleep(0.1),
        clock=wall,
    )
    gate.pass_frame(1)
    gate.pass_frame(2)
    gate.answer(2)
    assert gate.n_unanswered == 0
    assert gate.n_passed_over == 1
    gate.answer(1)  # too late: ignored
    assert len(gate.latencies) == 1


def test_the_first_answer_may_take_longer():
    wall = Wall()

    def meanwhile():
        wall.sleep(0.1)
        if wall.now > 103.0:
            gate.answer(1)

    gate = FrameGate(
        frames_in_flight=1, limit_s=0.5, first_limit_s=5.0, meanwhile=meanwhile, clock=wall
    )
    gate.pass_frame(1)
    gate.pass_frame(2)
    assert not gate.is_open


def test_the_status_line_prints_each_new_phase_once_where_nobody_watches():
    stream = io.StringIO()
    status = StatusLine(stream)
    for _ in range(5):
        status.update(2_500_000_000, 1.25, "flying", 0.5)
    status.close()
    assert stream.getvalue().count("flying") == 1
    assert "2.5 s |  1.25 x real time" in stream.getvalue()


def test_names_resolve_below_the_namespace_unless_absolute():
    assert resolve("imu/mag") == "/imu/mag"
    assert resolve("imu/mag", "veh1") == "/veh1/imu/mag"
    assert resolve("/clock", "veh1") == "/clock"
