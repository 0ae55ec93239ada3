# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The lockstep with a stand-in for ArduPilot that is late, lossy, repeats, restarts and babbles."""

import os
import socket
import threading
import time

import numpy as np
import pytest

from aerotwin_ardupilot_bridge import ArduPilotHome, JsonLink, JsonTimeouts, json_port
from aerotwin_ardupilot_bridge.link import CROSSED_WITHIN_S
from aerotwin_ardupilot_bridge.servo_packet import pack_servo_packet
from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_px4_bridge import AutopilotLost
from support.ardupilot_twin import START_S, ArduPilotTwin

POINT = GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0, altitude_m=400.0)
HOME = ArduPilotHome(POINT, LocalTangentPlane(POINT))
STEP_S = 0.001
QUICK = JsonTimeouts(answer_s=0.2, most_waits=2)


LEVEL_AT_REST = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
HELD = np.array([0.0, 0.0, 9.8, 0.0, 0.0, 0.0])


def state_of(step):
    """Motion and IMU of a state whose height says which step it is."""
    return np.array([0.0, 0.0, float(step), *LEVEL_AT_REST]), HELD


@pytest.fixture
def link():
    with JsonLink(0, HOME) as made:
        yield made


def fly(link, n_steps):
    """Step n times; return the outputs that each step was made with."""
    outputs, used = link.accept(10.0), []
    for step in range(1, n_steps + 1):
        used.append(outputs)
        link.send(step * STEP_S, *state_of(step))
        outputs = link.answer()
    return used


def heights(twin):
    return [round(-state["position"][2]) for _, state in twin.states]


def test_each_frame_gets_one_state_and_each_step_new_outputs(link):
    with ArduPilotTwin(link.port, 2001, resend_s=3.0) as twin:
        used = fly(link, 2000)
    assert used == [twin.outputs(k) for k in range(2000)]
    assert heights(twin)[:2000] == list(range(1, 2001))
    times = np.array([state["timestamp"] for _, state in twin.states[:2000]])
    assert np.diff(times) == pytest.approx(STEP_S, abs=1e-9)
    counters = link.counters
    assert (counters.n_sent, counters.n_answered) == (2000, 2000)
    assert counters.n_resent == counters.n_crossed == counters.n_skipped == 0


def test_a_lost_state_is_sent_again_and_no_step_is_made(link):
    with ArduPilotTwin(link.port, 61, loses={10, 40}, resend_s=CROSSED_WITHIN_S + 0.2) as twin:
        used = fly(link, 60)
    assert [outputs.frame_count for outputs in used] == list(range(60))
    assert heights(twin)[:60] == list(range(1, 61))
    assert link.counters.n_resent == 2 and link.counters.n_sent == 60


def test_outputs_that_cross_a_state_are_not_answered_twice(link):
    with ArduPilotTwin(link.port, 101, repeats={0, 20, 21, 22, 60}) as twin:
        used = fly(link, 100)
    assert [outputs.frame_count for outputs in used] == list(range(100))
    assert heights(twin)[:100] == list(range(1, 101))
    assert link.counters.n_crossed == 10 and link.counters.n_resent == 0


def test_repetitions_that_wait_while_the_simulator_pauses_are_answered_once(link):
    with ArduPilotTwin(link.port, 21, resend_s=0.1) as twin:
        outputs = link.accept(10.0)
        for step in range(1, 21):
            if step == 10:
                time.sleep(0.35)  # a pause: three repetitions lie in the queue
            link.send(step * STEP_S, *state_of(step))
            outputs = link.answer()
            assert outputs.frame_count == step
    assert heights(twin)[:20] == list(range(1, 21))
    assert twin.n_sent_again >= 3 and link.counters.n_crossed >= 3


@pytest.mark.parametrize("start_s", [START_S, 0.0])
def test_an_autopilot_that_starts_again_begins_with_a_new_clock(link, start_s):
    with ArduPilotTwin(link.port, 101, restarts={50}, start_s=start_s) as twin:
        used = fly(link, 100)
    counts = [outputs.frame_count for outputs in used]
    assert counts == [*range(50), *range(50)] and link.counters.n_restarts == 1
    times = [state["timestamp"] for _, state in twin.states[:100]]
    assert times[49] == pytest.approx(0.05) and times[50] == pytest.approx(STEP_S)
    assert heights(twin)[:100] == list(range(1, 101))  # the vehicle goes on


def _send(*datagrams):
    def send(simulator):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            for data in datagrams:
                other.sendto(data, simulator)

    return send


def test_garbage_and_other_programs_are_counted_and_dropped(link):
    rng = np.random.default_rng(3)
    foreign = pack_servo_packet(ArduPilotTwin(link.port, 1).outputs(7))
    before = {
        5: _send(b"", b"x", os.urandom(39), foreign[:-1], foreign + b"\0", bytes(40)),
        9: _send(foreign, foreign),
        12: _send(rng.bytes(60_000)),
    }
    with ArduPilotTwin(link.port, 31, before=before) as twin:
        used = fly(link, 30)
    assert [outputs.frame_count for outputs in used] == list(range(30))
    assert heights(twin)[:30] == list(range(1, 31))
    assert (link.counters.n_refused, link.counters.n_foreign) == (7, 2)


def test_a_second_autopilot_on_the_port_is_not_heard(link):
    second = pack_servo_packet(ArduPilotTwin(link.port, 1).outputs(0))
    with ArduPilotTwin(link.port, 31, before={7: _send(second), 20: _send(second)}) as twin:
        used = fly(link, 30)
    assert [outputs.frame_count for outputs in used] == list(range(30))
    assert heights(twin)[:30] == list(range(1, 31))
    assert (link.counters.n_foreign, link.counters.n_restarts) == (2, 0)


def test_a_flood_of_datagrams_holds_no_step_up(link):
    is_over = threading.Event()

    def flood():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            while not is_over.is_set():
                other.sendto(b"x" * 40, ("127.0.0.1", link.port))

    sender = threading.Thread(target=flood)
    with ArduPilotTwin(link.port, 201, resend_s=CROSSED_WITHIN_S + 0.2) as twin:
        outputs = link.accept(10.0)
        sender.start()
        try:
            for step in range(1, 201):
                link.send(step * STEP_S, *state_of(step))
                assert link.answer().frame_count == step
        finally:
            is_over.set()
            sender.join()
    assert outputs.frame_count == 0 and heights(twin)[:200] == list(range(1, 201))
    assert link.counters.n_refused > 10


def test_packets_of_32_outputs_are_read(link):
    with ArduPilotTwin(link.port, 3, n_channels=32):
        (outputs, _) = fly(link, 2)
    assert len(outputs.pwm_us) == 32 and outputs.pwm_us[:2] == (1000, 1500)


def test_silence_ends_the_flight_and_says_what_came_instead():
    with JsonLink(0, HOME, timeouts=QUICK) as link, ArduPilotTwin(link.port, 5, resend_s=9.0):
        outputs = link.accept(10.0)
        begin = time.monotonic()
        with pytest.raises(AutopilotLost) as lost:
            for step in range(1, 20):
                link.send(step * STEP_S, *state_of(step))
                if step == 5:
                    _send(b"?")(("127.0.0.1", link.port))
                outputs = link.answer()
        assert time.monotonic() - begin < 2.0
    assert outputs.frame_count == 4 and link.counters.n_waits == 2
    assert "stopped answering at t = 0.005 s: no outputs for frame 5" in lost.value.reason
    assert "1 datagrams that are no servo packet (expected magic 18458" in lost.value.reason


def test_nobody_is_waited_for_no_longer_than_asked(link):
    waited = []
    with pytest.raises(AutopilotLost, match=f"no ArduPilot sent outputs to UDP port {link.port}"):
        link.accept(0.3, on_wait=waited.append)
    assert len(waited) >= 2 and not link.is_connected


def test_what_watches_the_process_may_end_a_wait():
    def died():
        raise UserError("it exited with code 1")

    with JsonLink(0, HOME) as link, ArduPilotTwin(link.port, 1):
        link.accept(10.0)
        link.send(STEP_S, *state_of(1))
        with pytest.raises(UserError, match="code 1"):
            link.answer(died)


def test_a_port_in_use_is_refused(link):
    with pytest.raises(UserError, match=f"UDP port {link.port} on 127.0.0.1 cannot be opened"):
        JsonLink(link.port, HOME)


def test_a_state_before_the_first_outputs_is_an_error(link):
    with pytest.raises(ValueError, match="accept"):
        link.send(0.0, *state_of(0))


def test_ports_are_those_of_ardupilot():
    assert [json_port(k) for k in range(3)] == [9002, 9012, 9022]
