# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import pytest

from aerotwin_core.frame_gate import FrameGate
from support.hand_clock import HandClock


def test_a_frame_waits_for_the_answer_to_the_one_before_the_last():
    wall, waits = HandClock(), []

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
    wall = HandClock()
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
    wall = HandClock()
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
    wall = HandClock()

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


def test_a_gate_that_is_opened_lets_a_frame_go_that_waits():
    wall = HandClock()

    def meanwhile():
        wall.sleep(0.1)
        if wall.now > 100.25:
            gate.open()

    gate = FrameGate(
        frames_in_flight=1, limit_s=60.0, first_limit_s=60.0, meanwhile=meanwhile, clock=wall
    )
    gate.pass_frame(1)
    gate.pass_frame(2)
    assert gate.is_open
    assert wall.now - 100.0 < 0.4
