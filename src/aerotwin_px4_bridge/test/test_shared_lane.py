# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Frames of several vehicles go by one lane, each to and from its own."""

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from aerotwin_px4_bridge.hil_socket import PeerClosed, SocketConnection
from aerotwin_px4_bridge.messages import pack_hil_actuator_controls
from aerotwin_px4_bridge.shared_lane import (
    MOST_BYTES,
    SENT_TOGETHER,
    CarriedConnection,
    SharedLane,
    pack_part,
)


@pytest.fixture
def lane() -> Iterator[SharedLane]:
    lane = SharedLane()
    yield lane
    lane.close()


@pytest.fixture
def carried(lane) -> Iterator[Callable[[int], CarriedConnection]]:
    """Return the connection of a vehicle by the lane."""
    with ExitStack() as stack:

        def carry(number: int) -> CarriedConnection:
            own, other = socket.socketpair()
            stack.enter_context(other)
            connection = lane.carry(number, SocketConnection(own))
            stack.callback(connection.close)
            return connection

        yield carry


def received(lane: SharedLane) -> list[tuple[int, bytes]]:
    """What the other end gets as one packet, at once."""
    packet, parts = lane.far_end.recv(MOST_BYTES, socket.MSG_DONTWAIT), []
    while packet:
        number, length = struct.unpack_from("<HH", packet)
        parts.append((number, packet[4 : 4 + length]))
        packet = packet[4 + length :]
    return parts


def test_frames_of_some_vehicles_are_one_packet(lane, carried):
    """The last of a step wait for nobody: whoever waits for an answer sends them."""
    connections = [carried(number) for number in range(SENT_TOGETHER + 2)]
    for number, connection in enumerate(connections):
        connection.send(bytes([number] * 3))
    assert received(lane) == [(number, bytes([number] * 3)) for number in range(SENT_TOGETHER)]
    with pytest.raises(BlockingIOError):
        received(lane)
    assert connections[0].receive_bytes(wait=False) == b""
    assert [number for number, _ in received(lane)] == [SENT_TOGETHER, SENT_TOGETHER + 1]


def test_each_gets_its_own_answer(lane, carried):
    first, second = carried(3), carried(260)
    lane.far_end.send(pack_part(260, b"two") + pack_part(3, b"one"))
    lane.far_end.send(pack_part(260, b"more"))
    assert first.receive_bytes() == b"one"
    assert second.receive_bytes() == b"two"
    assert second.receive_bytes() == b"more"


def test_a_packet_may_hold_any_number_of_parts(lane, carried):
    n = 3 * SENT_TOGETHER
    connections = [carried(number) for number in range(n)]
    lane.far_end.send(b"".join(pack_part(number, bytes([number])) for number in range(n)))
    assert [each.receive_bytes() for each in connections] == [bytes([k]) for k in range(n)]


@pytest.mark.parametrize("n_cut", [1, 2, 3, 6])
def test_a_packet_that_is_cut_ends_the_connection(lane, carried, n_cut):
    connection = carried(1)
    lane.far_end.send((pack_part(1, b"one") + pack_part(2, b"two"))[:-n_cut])
    with pytest.raises(PeerClosed, match="cut"):
        connection.receive_bytes()


def test_one_that_comes_again_gets_nothing_of_before(lane, carried):
    first, _ = carried(1), carried(2)
    lane.far_end.send(pack_part(1, b"one") + pack_part(2, b"old"))
    assert first.receive_bytes() == b"one"
    assert carried(2).receive_bytes(wait=False) == b""


def test_the_end_of_the_process_is_that_of_the_connection(lane, carried):
    connection = carried(1)
    lane.far_end.close()
    with pytest.raises(PeerClosed):
        connection.receive_bytes()


def test_an_answer_that_came_with_others_is_taken_by_its_time_and_sender(lane, carried):
    """Any other is left to whoever reads the bytes, in the order of arrival."""
    first, second = carried(1), carried(2)
    frames = {
        number: pack_hil_actuator_controls(4000, (0.25 * number,), is_armed=True, system_id=number)
        for number in (1, 2)
    }
    lane.far_end.send(pack_part(1, frames[1]) + pack_part(2, frames[2]))
    assert first.receive_bytes() == frames[1]
    assert first.answer(1, 4000) is None  # it was taken
    assert second.answer(2, 8000) is None
    assert second.answer(1, 4000) is None
    answer = second.answer(2, 4000)
    assert (answer.time_us, answer.controls[0], answer.is_armed) == (4000, 0.5, True)
    assert second.receive_bytes(wait=False) == b""
    lane.far_end.send(pack_part(2, frames[2]) + pack_part(1, frames[1]))
    lane.far_end.send(pack_part(2, b"more") + pack_part(1, b""))
    assert first.receive_bytes() == frames[1]
    assert second.receive_bytes() == frames[2]
    assert second.receive_bytes() == b"more"


def test_bytes_before_an_answer_in_one_packet_stay_before_it(lane, carried):
    connection = carried(1)
    answer = pack_hil_actuator_controls(4000, (0.5,), is_armed=True, system_id=1)
    lane.far_end.send(pack_part(1, b"first") + pack_part(1, answer))
    assert connection.receive_bytes() == b"first" + answer
    lane.far_end.send(pack_part(1, answer) + pack_part(1, b"then"))
    assert connection.receive_bytes() == answer + b"then"


def test_an_answer_that_nobody_takes_is_kept_and_few_packets_with_it(lane, carried):
    idle, busy = carried(1), carried(2)
    one, two = (
        pack_hil_actuator_controls(4000, (0.5,), is_armed=True, system_id=k) for k in (1, 2)
    )
    lane.far_end.send(pack_part(1, one))
    for _ in range(300):
        lane.far_end.send(pack_part(2, two))
        assert busy.receive_bytes() in (b"", two)
    assert len(lane._packets) < 150
    assert idle.receive_bytes(wait=False) == one
