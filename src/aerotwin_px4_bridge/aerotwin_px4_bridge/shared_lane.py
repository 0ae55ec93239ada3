# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A lane that carries the HIL frames of all autopilots of one process.

Each of them is connected by its own port and leaves by it; with frames on those connections, too, a
step of a hundred vehicles would take four hundred system calls, a quarter of its time.
"""

import socket
import struct
from collections.abc import Iterator

from aerotwin_px4_bridge.hil_socket import SocketConnection

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
        self._waiting: list[bytes] = []
        self._arrived: dict[int, bytes] = {}

    def carry(self, number: int, connection: SocketConnection) -> "CarriedConnection":
        """Return a connection to an autopilot whose frames go by the lane from now on."""
        self._arrived.pop(number, None)
        return CarriedConnection(self, number, connection)

    def send(self, number: int, frames: bytes) -> None:
        """Send frames to an autopilot, with those of others; errors as `SocketConnection.send`."""
        self._waiting.append(pack_part(number, frames))
        if len(self._waiting) >= SENT_TOGETHER:
            self._send_waiting()

    def receive(self, number: int, *, wait: bool) -> bytes:
        """Return new frames of an autopilot; see `SocketConnection.receive_bytes`."""
        frames = self._arrived.pop(number, b"")
        if frames:
            return frames
        if self._waiting:
            self._send_waiting()
        for sender, arrived in parts(self._connection.receive_bytes(wait=wait)):
            self._arrived[sender] = self._arrived.get(sender, b"") + arrived
        return self._arrived.pop(number, b"")

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

    def close(self) -> None:
        """Close the autopilot's own connection, by which it leaves the lane."""
        self._connection.close()
