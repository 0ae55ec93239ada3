# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A lane that carries the HIL frames of all autopilots of one process.

Each of them is connected by its own port and leaves by it; with frames on those connections, too, a
step of a hundred vehicles would take four hundred system calls, a quarter of its time.
"""

import socket
import struct
from collections.abc import Iterator

import numpy as np

from aerotwin_px4_bridge.hil_kernels import MALFORMED, N_CONTROLS, read_parts
from aerotwin_px4_bridge.hil_socket import PeerClosed, SocketConnection
from aerotwin_px4_bridge.messages import ActuatorControls, LoneAnswer, lone_answer

MOST_BYTES = 65536
"""Of a packet; a vehicle's frames of a step are below 1 kB."""
SENT_TOGETHER = 10
"""Vehicles: the process computes their answers while the loop prepares those of the next."""
_HEAD = struct.Struct("<HH")  # number of the vehicle, bytes that follow


def lane_pair() -> tuple[socket.socket, socket.socket]:
    """Return both ends of a lane; a packet arrives whole or not at all, see unix(7)."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def pack_part(number: int, frames: bytes) -> bytes:
    """Return the part of a packet that holds the frames of one vehicle."""
    return _HEAD.pack(number, len(frames)) + frames


def parts(packet: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and frames of each vehicle in a packet."""
    begin = 0
    while begin < len(packet):
        number, length = _HEAD.unpack_from(packet, begin)
        begin += _HEAD.size
        yield number, packet[begin : begin + length]
        begin += length


class SharedLane:
    """The simulator's end of a lane; `far_end` is inherited by the process of the autopilots."""

    def __init__(self) -> None:
        near_end, self.far_end = lane_pair()
        self._connection = SocketConnection(near_end, most_bytes=MOST_BYTES)
        self._make_room(SENT_TOGETHER)
        self._waiting: list[bytes] = []
        self._arrived: dict[int, bytes] = {}
        self._answers: dict[int, tuple[LoneAnswer, bytes]] = {}
        """Whole answers that arrived alone, as those in lockstep do, and their bytes."""

    def carry(self, number: int, connection: SocketConnection) -> "CarriedConnection":
        """Return a connection to an autopilot whose frames go by the lane from now on."""
        self._arrived.pop(number, None)
        self._answers.pop(number, None)
        return CarriedConnection(self, number, connection)

    def send(self, number: int, frames: bytes) -> None:
        """Send frames to an autopilot, with those of others; errors as `SocketConnection.send`."""
        self._waiting.append(pack_part(number, frames))
        if len(self._waiting) >= SENT_TOGETHER:
            self._send_waiting()

    def receive(self, number: int, *, wait: bool) -> bytes:
        """Return new frames of an autopilot; see `SocketConnection.receive_bytes`."""
        if frames := self._taken(number):
            return frames
        if self._waiting:
            self._send_waiting()
        self._sort(self._connection.receive_bytes(wait=wait))
        return self._taken(number)

    def _sort(self, packet: bytes) -> None:
        """Keep what a packet brings to each; raise PeerClosed if it is cut."""
        n = read_parts(packet, self._parts, self._controls)
        if n > len(self._parts):
            self._make_room(n)
            read_parts(packet, self._parts, self._controls)
        if n == MALFORMED:
            raise PeerClosed("a packet of several autopilots was cut")
        controls = self._controls[:n].tolist()
        for row, (sender, begin, end, time_us) in enumerate(self._parts[:n].tolist()):
            frames = packet[begin:end]
            if time_us >= 0 and sender not in self._arrived and sender not in self._answers:
                self._answers[sender] = lone_answer(frames, time_us, controls[row]), frames
            else:
                self._arrived[sender] = self._taken(sender) + frames

    def _make_room(self, n: int) -> None:
        """Read packets of so many parts from now on."""
        self._parts, self._controls = np.empty((n, 4), np.int64), np.empty((n, N_CONTROLS))

    def answer(self, number: int, system_id: int | None, time_us: int) -> ActuatorControls | None:
        """Return the answer of an autopilot to a step, if it has arrived; else see `receive`."""
        if (found := self._answers.get(number)) is None:
            return None
        (sender_id, answer), _ = found
        if sender_id != system_id or answer.time_us != time_us:
            return None
        del self._answers[number]
        return answer

    def _taken(self, number: int) -> bytes:
        """Return the frames of an autopilot that have arrived, and forget them."""
        answer = self._answers.pop(number, None)
        return self._arrived.pop(number, b"") if answer is None else answer[1]

    def _send_waiting(self) -> None:
        packet = b"".join(self._waiting)
        self._waiting.clear()
        self._connection.send(packet)

    def close(self) -> None:
        """Close both ends; safe to call twice."""
        self._connection.close()
        self.far_end.close()


class CarriedConnection:
    """A connection to an autopilot whose frames go by a shared lane."""

    def __init__(self, lane: SharedLane, number: int, connection: SocketConnection) -> None:
        self._lane, self._number, self._connection = lane, number, connection

    def send(self, data: bytes) -> None:
        """Send all data, or raise PeerStuck or PeerClosed."""
        self._lane.send(self._number, data)

    def receive_bytes(self, *, wait: bool = True) -> bytes:
        """Return newly received bytes; nothing when none arrived within a slice, or now."""
        return self._lane.receive(self._number, wait=wait)

    def answer(self, system_id: int | None, time_us: int) -> ActuatorControls | None:
        """Return its answer to a step, if it has arrived alone; else see `receive_bytes`."""
        return self._lane.answer(self._number, system_id, time_us)

    def close(self) -> None:
        """Close the autopilot's own connection, by which it leaves the lane."""
        self._connection.close()
