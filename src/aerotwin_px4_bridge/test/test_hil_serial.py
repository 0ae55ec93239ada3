# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The HIL link over a serial line: a pseudo-terminal pair with an autopilot at the other end."""

import os
import pty
import select
import termios
import threading
from collections.abc import Callable, Iterator

import pytest

from aerotwin_core.errors import UserError
from aerotwin_px4_bridge import hil_serial
from aerotwin_px4_bridge.hil_socket import AutopilotLost, PeerClosed, PeerStuck
from aerotwin_px4_bridge.link import HilLink, HilTimeouts
from aerotwin_px4_bridge.mavlink2 import HEARTBEAT, HIL_SENSOR, FrameReader, MavlinkFrame
from aerotwin_px4_bridge.messages import (
    pack_heartbeat,
    pack_hil_actuator_controls,
    pack_hil_sensor,
    parse_hil_sensor,
)

QUICK = HilTimeouts(answer_s=0.2, first_answer_s=2.0, free_run_pause_s=0.001, consecutive_misses=2)
HELLO = pack_heartbeat(mav_type=2, autopilot=12, system_id=1, component_id=1)
Behaviour = Callable[[MavlinkFrame], bytes]


class FlightController(threading.Thread):
    """The far end of a serial line; says what `behaviour` returns to each frame it hears."""

    def __init__(self, behaviour: Behaviour) -> None:
        super().__init__(daemon=True)
        self.behaviour = behaviour
        self.master, self._slave = pty.openpty()
        self.device = os.ttyname(self._slave)
        self.heard: list[MavlinkFrame] = []
        self.is_over = False

    def run(self) -> None:
        reader = FrameReader()
        while not self.is_over:
            if not select.select([self.master], [], [], 0.05)[0]:
                continue
            for frame in reader.feed_bytes(os.read(self.master, 4096)):
                self.heard.append(frame)
                for byte in self.behaviour(frame):  # the worst that a driver can do
                    os.write(self.master, bytes([byte]))

    def unplug(self) -> None:
        self.is_over = True
        if self.is_alive():
            self.join(5.0)
        for descriptor in (self.master, self._slave):
            if descriptor >= 0:
                os.close(descriptor)
        self.master = self._slave = -1

    def speed(self) -> int:
        return termios.tcgetattr(self._slave)[4]


def in_lockstep(frame: MavlinkFrame) -> bytes:
    if frame.message_id == HEARTBEAT:
        return HELLO
    if frame.message_id != HIL_SENSOR:
        return b""
    time_us = parse_hil_sensor(frame.payload).time_us
    return pack_hil_actuator_controls(time_us, [0.25, 0.5], is_armed=True)


def with_its_own_clock(frame: MavlinkFrame) -> bytes:
    """As PX4 in HITL mode: stamps of its own, the lockstep flag not set, other telemetry."""
    if frame.message_id == HEARTBEAT:
        return HELLO
    stamp = 9_000_000 + frame.sequence
    controls = pack_hil_actuator_controls(stamp, [0.75], is_armed=True, is_lockstep=False)
    return HELLO + controls


@pytest.fixture
def plug_in() -> Iterator[Callable[..., FlightController]]:
    """Return a function that gives a running flight controller of the wanted behaviour."""
    plugged: list[FlightController] = []

    def start(behaviour: Behaviour) -> FlightController:
        controller = FlightController(behaviour)
        controller.start()
        plugged.append(controller)
        return controller

    yield start
    for controller in plugged:
        controller.unplug()


def _step(link: HilLink, n: int):
    return link.exchange(4000 * n, [pack_hil_sensor(4000 * n, (0.0, 0.0, 9.81), (0.0, 0.0, 0.0))])


def test_a_lockstep_runs_over_a_serial_line_at_921600_baud(plug_in):
    controller = plug_in(in_lockstep)
    with HilLink(f"serial:{controller.device}:921600", timeouts=QUICK, free_run=False) as link:
        link.accept(10.0)
        assert controller.speed() == termios.B921600
        for n in range(1, 100):
            answer = _step(link, n)
            assert (answer.time_us, answer.controls[:2]) == (4000 * n, (0.25, 0.5))
        assert link.is_repeatable
        assert link.is_lockstep
        assert link.port is None


def test_heartbeats_go_out_until_a_peer_answers(plug_in, monkeypatch):
    monkeypatch.setattr(hil_serial, "HEARTBEAT_PERIOD_S", 0.15)
    controller = plug_in(lambda frame: HELLO if len(controller.heard) == 4 else b"")
    with HilLink(f"serial:{controller.device}") as link:
        link.accept(10.0)
        assert link.is_connected
    assert [frame.message_id for frame in controller.heard] == [HEARTBEAT] * 4
    assert [frame.sequence for frame in controller.heard] == [0, 1, 2, 3]


def test_a_silent_line_is_reported_with_what_came_instead(plug_in):
    controller = plug_in(lambda frame: b"NuttShell> ")
    waits: list[float] = []
    with (
        HilLink(f"serial:{controller.device}:57600") as link,
        pytest.raises(AutopilotLost, match=r"57600 baud within 0\.4 s \(11 bytes.*SYS_HITL = 1"),
    ):
        link.accept(0.4, waits.append)
    assert waits == sorted(waits)


def test_waiting_on_a_serial_line_can_be_given_up(plug_in):
    def give_up(_: float) -> None:
        raise KeyboardInterrupt

    controller = plug_in(lambda frame: b"")
    with HilLink(f"serial:{controller.device}") as link, pytest.raises(KeyboardInterrupt):
        link.accept(60.0, give_up)


def test_a_flight_controller_with_its_own_clock_is_not_waited_for(plug_in):
    controller = plug_in(with_its_own_clock)
    with HilLink(f"serial:{controller.device}", timeouts=QUICK) as link:
        link.accept(10.0)
        n = 0
        while not link.is_in_step:
            n += 1
            _step(link, n)
        assert not link.is_lockstep
        assert not link.is_repeatable
        answers = [_step(link, k) for k in range(n + 1, n + 400)]
        known = [answer for answer in answers if answer is not None]
        assert known
        assert {answer.controls[0] for answer in known} == {0.75}
        assert (link.n_missed, link.counters.n_late) == (0, 0)


def test_a_flight_controller_with_its_own_clock_that_falls_silent_is_lost(plug_in):
    controller = plug_in(lambda frame: with_its_own_clock(frame) if frame.sequence < 5 else b"")
    sensor = [pack_hil_sensor(4000, (0.0, 0.0, 9.81), (0.0, 0.0, 0.0), sequence=9)]
    with HilLink(f"serial:{controller.device}", timeouts=QUICK) as link:
        link.accept(10.0)
        while not link.is_in_step:
            _step(link, 1)
        with pytest.raises(AutopilotLost, match=r"stopped sending.*for \d+\.\d s"):
            for _ in range(10**7):
                link.exchange(4000, sensor)


def test_a_cable_that_is_pulled_is_distinguished_from_silence(plug_in):
    controller = plug_in(in_lockstep)
    with HilLink(f"serial:{controller.device}", timeouts=QUICK, free_run=False) as link:
        link.accept(10.0)
        _step(link, 1)
        controller.unplug()
        with pytest.raises(AutopilotLost, match="closed the HIL link"):
            for n in range(2, 9):
                _step(link, n)


@pytest.mark.parametrize(
    ("error", "tokens"),
    [
        (PeerClosed("Input/output error"), r"was closed \(Input/output error\); plug it in"),
        (PeerClosed(), r"was closed; plug it in"),
        (PeerStuck(), "takes no bytes"),
    ],
)
def test_a_line_that_fails_while_it_is_greeted_is_reported(plug_in, monkeypatch, error, tokens):
    def fail(*_: object) -> None:
        raise error

    controller = plug_in(lambda frame: b"")
    monkeypatch.setattr(hil_serial.SerialConnection, "send", fail)
    with (
        HilLink(f"serial:{controller.device}") as link,
        pytest.raises(AutopilotLost, match=tokens),
    ):
        link.accept(1.0)


def test_a_line_that_takes_no_more_bytes_is_given_up(plug_in, monkeypatch):
    monkeypatch.setattr(hil_serial, "SEND_LIMIT_S", 0.2)
    controller = plug_in(in_lockstep)
    with HilLink(f"serial:{controller.device}", timeouts=QUICK) as link:
        link.accept(10.0)
        controller.is_over = True
        controller.join(5.0)
        with pytest.raises(AutopilotLost, match=r"no longer reads its HIL link"):
            for n in range(1, 10_000):
                link.send(4000 * n, [bytes(1000)])


@pytest.mark.parametrize(
    ("endpoint", "tokens"),
    [
        ("serial:ttyACM0", "expected serial:/dev/NAME"),
        ("tcp:4560", "expected serial:/dev/NAME"),
        ("serial:/dev/ttyACM0:fast", "expected serial:/dev/NAME"),
        ("serial:/dev/ttyACM0:123456", "baud rate 123456 is not known"),
    ],
)
def test_an_endpoint_that_is_none_is_reported(endpoint, tokens):
    with pytest.raises(UserError, match=tokens):
        HilLink(endpoint)


def test_a_device_that_is_not_there_or_no_serial_port_is_reported():
    with HilLink("serial:/dev/ttyNONE") as link, pytest.raises(UserError, match="plugged in"):
        link.accept(1.0)
    with HilLink("serial:/dev/null") as link, pytest.raises(UserError, match="no serial port"):
        link.accept(1.0)
