# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The link against a peer in plain Python that answers, is late, loses, garbles and leaves."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from math import nan

import pytest
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.errors import UserError
from aerotwin_px4_bridge.hil_socket import MOST_CANDIDATES, AutopilotLost
from aerotwin_px4_bridge.link import HilLink, HilTimeouts
from aerotwin_px4_bridge.mavlink2 import HIL_SENSOR, FrameReader
from aerotwin_px4_bridge.messages import (
    pack_heartbeat,
    pack_hil_actuator_controls,
    pack_hil_gps,
    pack_hil_sensor,
    parse_hil_sensor,
)

QUICK = HilTimeouts(answer_s=0.2, first_answer_s=0.5, free_run_pause_s=0.001, consecutive_misses=2)
PATIENT = HilTimeouts(answer_s=20.0)
HEARTBEAT_FRAME = pack_heartbeat(mav_type=2, autopilot=12, system_id=1, component_id=1)
Behaviour = Callable[[int, int], bytes | None]


def answer(n: int, time_us: int) -> bytes:
    return pack_hil_actuator_controls(time_us, [0.25, 0.5], is_armed=True, sequence=n)


class Peer(threading.Thread):
    """An autopilot that says what `behaviour(n, time_us)` returns to its n-th HIL_SENSOR.

    None ends the connection.
    """

    def __init__(self, port: int, behaviour: Behaviour) -> None:
        super().__init__(daemon=True)
        self.behaviour = behaviour
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5.0)
        self.socket.sendall(HEARTBEAT_FRAME)
        self.seen_us: list[int] = []

    def run(self) -> None:
        reader = FrameReader()
        with self.socket:
            while True:
                try:
                    data = self.socket.recv(4096)
                except OSError:
                    return
                if not data:
                    return
                for frame in reader.feed_bytes(data):
                    if frame.message_id != HIL_SENSOR:
                        continue
                    self.seen_us.append(parse_hil_sensor(frame.payload).time_us)
                    said = self.behaviour(len(self.seen_us), self.seen_us[-1])
                    if said is None:
                        return
                    self.socket.sendall(said)


@pytest.fixture
def connect() -> Iterator[Callable[..., HilLink]]:
    """Return a function that gives a link with a peer of the wanted behaviour on it."""
    opened: list[HilLink] = []

    def start(behaviour: Behaviour, *, free_run: bool = False, timeouts=QUICK) -> HilLink:
        link = HilLink(0, free_run=free_run, timeouts=timeouts)
        opened.append(link)
        peer = Peer(link.port, behaviour)
        link.accept(5.0)
        link.peer = peer
        peer.start()
        return link

    yield start
    for link in opened:
        link.close()
        link.peer.join(5.0)


def _sensor(time_us: int) -> bytes:
    return pack_hil_sensor(time_us, (0.0, 0.0, 9.81), (0.0, 0.0, 0.0))


def _step(link: HilLink, n: int):
    return link.exchange(4000 * n, [_sensor(4000 * n)])


def _steps(link: HilLink, first: int, last: int) -> list:
    return [_step(link, n) for n in range(first, last + 1)]


def test_every_step_gets_the_answer_to_itself(connect):
    link = connect(answer)
    for n in range(1, 200):
        controls = _step(link, n)
        assert controls.time_us == 4000 * n
        assert controls.controls[:2] == (0.25, 0.5)
        assert controls.is_armed
    counters = link.counters
    assert (counters.n_sent, counters.n_answered, counters.n_missed) == (199, 199, 0)
    assert link.is_repeatable
    assert 0.0 < link.counters.max_wait_s < QUICK.answer_s


def test_other_frames_of_a_step_go_before_its_sensor(connect):
    link = connect(answer)
    gps = pack_hil_gps(4000, 47.0, 8.0, 488.0, (0.0, 0.0, 0.0))
    assert link.exchange(4000, [gps, _sensor(4000)]).time_us == 4000
    assert link.peer.seen_us == [4000]


def test_it_runs_free_until_the_first_answer_and_then_in_step(connect):
    link = connect(lambda n, t: answer(n, t) if n > 20 else b"", free_run=True)
    n = 0
    while not link.is_in_step:
        n += 1
        first = _step(link, n)
    assert n > 20
    assert first.time_us == 4000 * n
    assert [a.time_us for a in _steps(link, n + 1, n + 50)] == [
        4000 * k for k in range(n + 1, n + 51)
    ]
    assert link.is_repeatable


def test_waiting_for_the_first_answer_has_a_limit(connect):
    link = connect(lambda n, t: b"", free_run=True)
    with pytest.raises(AutopilotLost, match=r"answered none of \d+ HIL_SENSOR"):
        _steps(link, 1, 99999)


def test_one_lost_answer_is_a_counted_miss_and_the_run_goes_on(connect):
    link = connect(lambda n, t: b"" if n == 5 else answer(n, t))
    answers = [_step(link, n) for n in range(1, 11)]
    assert [a is None for a in answers] == [n == 5 for n in range(1, 11)]
    assert (link.n_missed, link.counters.n_answered) == (1, 9)
    assert not link.is_repeatable


def test_an_answer_that_comes_late_is_not_taken_for_the_next_step(connect):
    held: list[bytes] = []

    def late(n: int, time_us: int) -> bytes:
        if n == 5:
            held.append(answer(n, time_us))
            return b""
        return (held.pop() if held else b"") + answer(n, time_us)

    link = connect(late)
    answers = [_step(link, n) for n in range(1, 8)]
    assert [a.time_us for a in answers if a] == [4000 * n for n in (1, 2, 3, 4, 6, 7)]
    assert (link.n_missed, link.counters.n_late) == (1, 1)


def test_an_autopilot_that_falls_silent_is_lost_within_its_limit(connect):
    link = connect(lambda n, t: answer(n, t) if n < 5 else b"")
    for n in range(1, 5):
        _step(link, n)
    with pytest.raises(AutopilotLost, match=r"stopped answering at t = 0\.024 s: 2 steps in a row"):
        _steps(link, 5, 9)
    assert link.n_missed == QUICK.consecutive_misses


def test_a_closed_link_is_distinguished_from_a_silent_one(connect):
    link = connect(lambda n, t: answer(n, t) if n < 5 else None)
    with pytest.raises(AutopilotLost, match=r"closed the HIL link at t = 0\.020 s"):
        _steps(link, 1, 9)


def test_garbage_around_an_answer_does_no_harm(connect):
    link = connect(lambda n, t: b"\xfd\xff\x00noise" + answer(n, t) + b"\xfd\x51\x00")
    for n in range(1, 30):
        assert _step(link, n).time_us == 4000 * n
    assert link.counters.n_garbage_bytes > 28 * 8


def test_only_garbage_ends_the_flight_and_is_named(connect):
    link = connect(lambda n, t: b"no autopilot here")
    with pytest.raises(AutopilotLost, match="bytes of other messages or garbage"):
        _steps(link, 1, 9)


def test_a_stream_of_garbage_cannot_stretch_the_wait(connect):
    link = connect(lambda n, t: answer(n, t) if n < 2 else b"\x00" * 200_000)
    _step(link, 1)
    assert _step(link, 2) is None
    assert link.counters.max_wait_s < 2 * QUICK.answer_s + 0.5  # a loaded machine's slack


def test_controls_that_are_not_a_number_are_refused(connect):
    def broken(n: int, time_us: int) -> bytes:
        message = mavlink.MAVLink_hil_actuator_controls_message(time_us, [nan] * 16, 129, 1)
        return message.pack(mavlink.MAVLink(None, 1, 1))

    link = connect(broken)
    with pytest.raises(AutopilotLost, match="not finite or out of range"):
        _steps(link, 1, 9)
    assert link.counters.n_refused == QUICK.consecutive_misses


def test_another_system_on_the_link_is_ignored(connect):
    def two_systems(n: int, time_us: int) -> bytes:
        ours = answer(n, time_us)
        foreign = pack_hil_actuator_controls(time_us, [0.9] * 4, is_armed=False, system_id=42)
        return ours if n == 1 else foreign + ours

    link = connect(two_systems)
    for n in range(1, 20):
        assert _step(link, n).controls[0] == 0.25
    assert link.counters.n_foreign == 18


def test_no_connection_is_reported_with_the_port_and_shows_progress():
    waits: list[float] = []
    with HilLink(0) as link, pytest.raises(AutopilotLost, match=rf"TCP port {link.port} within"):
        link.accept(0.35, waits.append)
    assert len(waits) >= 2
    assert waits == sorted(waits)


def test_waiting_for_a_connection_can_be_given_up():
    def give_up(_: float) -> None:
        raise KeyboardInterrupt

    with HilLink(0) as link, pytest.raises(KeyboardInterrupt):
        link.accept(60.0, give_up)


def test_an_autopilot_that_connects_late_is_welcome():
    with HilLink(0, free_run=False, timeouts=PATIENT) as link:
        peers: list[Peer] = []
        late = threading.Timer(0.3, lambda: peers.append(Peer(link.port, answer)))
        late.start()
        link.accept(5.0)
        late.join()
        assert link.is_connected
        peers[0].start()
        assert _step(link, 1).time_us == 4000
    peers[0].join(5.0)


def _stranger(port: int, said: bytes) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=5.0)
    client.sendall(said)
    return client


GARBAGE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
DAMAGED = HEARTBEAT_FRAME[:-1] + bytes((HEARTBEAT_FRAME[-1] ^ 1,))
STRANGERS = {
    "silent": b"",
    "web": GARBAGE,
    "damaged": DAMAGED,
    "unfinished": HEARTBEAT_FRAME[:-1],
    "flood": b"\xfd" * 20_000,
}


@pytest.mark.parametrize("said", STRANGERS.values(), ids=STRANGERS)
def test_only_a_peer_that_speaks_mavlink_is_the_autopilot(said):
    with HilLink(0, free_run=False, timeouts=PATIENT) as link:
        left = _stranger(link.port, said)
        left.close()
        stranger = _stranger(link.port, said)
        peer = Peer(link.port, answer)
        link.accept(10.0)
        peer.start()
        assert [a.time_us for a in _steps(link, 1, 5)] == [4000 * n for n in range(1, 6)]
        assert link.counters.n_garbage_bytes == 0
        with stranger:
            _wait_for_end(stranger)
    peer.join(5.0)


def _wait_for_end(client: socket.socket) -> None:
    """Read until the other side closes; a time-out of the socket is a failure."""
    try:
        while client.recv(4096):
            pass
    except ConnectionResetError:  # closed with unread bytes
        pass


def test_an_autopilot_is_found_among_many_silent_peers():
    with HilLink(0, free_run=False, timeouts=PATIENT) as link, contextlib.ExitStack() as opened:
        peers: list[Peer] = []

        def arrive() -> None:
            for _ in range(2 * MOST_CANDIDATES):
                opened.enter_context(_stranger(link.port, b""))
            peers.append(Peer(link.port, answer))

        arrival = threading.Thread(target=arrive)
        arrival.start()
        link.accept(10.0)
        arrival.join()
        peers[0].start()
        assert _step(link, 1).time_us == 4000
    peers[0].join(5.0)


def test_peers_that_say_nothing_known_are_counted_when_no_autopilot_comes():
    match = r"within 0.4 s \(connections without a MAVLink 2 frame: [12]\)"
    with (
        HilLink(0, free_run=False, timeouts=PATIENT) as link,
        _stranger(link.port, b""),
        _stranger(link.port, GARBAGE),
        pytest.raises(AutopilotLost, match=match),
    ):
        link.accept(0.4)


def test_a_frame_in_pieces_is_a_frame_and_what_follows_is_not_lost():
    with (
        HilLink(0, free_run=False, timeouts=PATIENT) as link,
        _stranger(link.port, HEARTBEAT_FRAME[:5]) as client,
    ):
        said = HEARTBEAT_FRAME[5:] + answer(1, 4000)
        rest = threading.Timer(0.2, client.sendall, [said])
        rest.start()
        link.accept(10.0)
        rest.join()
        assert _step(link, 1).time_us == 4000


def test_a_busy_port_is_named_with_the_way_out():
    with (
        HilLink(0) as link,
        pytest.raises(UserError, match=rf"TCP port {link.port}.*stop the other simulator"),
    ):
        HilLink(link.port)


def test_a_port_is_free_again_after_its_link_closed(connect):
    link = connect(answer)
    _step(link, 1)
    link.close()
    with HilLink(link.port) as again:
        assert again.port == link.port


def test_an_autopilot_that_was_started_anew_is_accepted_again(connect):
    link = connect(lambda n, t: answer(n, t) if n < 5 else None)
    with pytest.raises(AutopilotLost):
        _steps(link, 1, 9)
    link.peer.join(5.0)
    link.peer = Peer(link.port, answer)
    link.accept(5.0)
    link.peer.start()
    assert [a.time_us for a in _steps(link, 10, 12)] == [40_000, 44_000, 48_000]
    assert link.is_repeatable


def test_exchange_needs_a_connection():
    with HilLink(0) as link, pytest.raises(ValueError, match="call accept"):
        _step(link, 1)
