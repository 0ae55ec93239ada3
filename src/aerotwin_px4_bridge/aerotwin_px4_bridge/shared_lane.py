# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A lane that carries the HIL frames of all autopilots of one process.

Each of them is connected by its own port and leaves by it; with frames on those connections, too, a
step of a hundred vehicles would take four hundred system calls, a quarter of its time.
"""

import socket
import struct

import numpy as np

from aerotwin_px4_bridge.hil_kernels import (
    BYTES_FIRST,
    MALFORMED,
    N_CONTROLS,
    PART_HEAD_BYTES,
    sort_parts,
)
from aerotwin_px4_bridge.hil_socket import PeerClosed, SocketConnection
from aerotwin_px4_bridge.messages import ActuatorControls, lone_answer

MOST_BYTES = 65536
"""Of a packet; a vehicle's frames of a step are below 1 kB."""
SENT_TOGETHER = 10
"""Vehicles: the process computes their answers while the loop prepares those of the next."""
_MOST_PACKETS = 100
"""That are kept for lone answers which nobody takes; then their bytes are copied out."""
_HEAD = struct.Struct("<HH")  # number of the vehicle, bytes that follow


def lane_pair() -> tuple[socket.socket, socket.socket]:
    """Return both ends of a lane; a packet arrives whole or not at all, see unix(7)."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def pack_part(number: int, frames: bytes) -> bytes:
    """Return the part of a packet that holds the frames of one vehicle."""
    return _HEAD.pack(number, len(frames)) + frames


class SharedLane:
    """The simulator's end of a lane; `far_end` is inherited by the process of the autopilots."""

    def __init__(self) -> None:
        near_end, self.far_end = lane_pair()
        self._connection = SocketConnection(near_end, most_bytes=MOST_BYTES)
        self._waiting: list[bytes] = []
        self._n_waiting = 0
        self._arrived: dict[int, bytes] = {}
        self._packets: list[bytes] = []
        """Of which lone answers were not taken yet, as `n_alone` counts them."""
        self.n_alone = 0
        self._answers = np.full((0, 6), MALFORMED, np.int64)
        """What `sort_parts` finds of lone answers; a row is not free if other bytes came before."""
        self._outputs = np.zeros((0, N_CONTROLS))
        self._others = np.empty((MOST_BYTES // PART_HEAD_BYTES, 3), np.int64)

    def carry(self, number: int, connection: SocketConnection) -> "CarriedConnection":
        """Return a connection to an autopilot whose frames go by the lane from now on."""
        self.forget(number)
        n_more = number + 1 - len(self._answers)
        if n_more > 0:
            self._answers = np.pad(self._answers, ((0, n_more), (0, 0)), constant_values=MALFORMED)
            self._outputs = np.pad(self._outputs, ((0, n_more), (0, 0)))
        return CarriedConnection(self, number, connection)

    def send(self, number: int, frames: bytes) -> None:
        """Send frames to an autopilot, with those of others; errors as `SocketConnection.send`."""
        self.send_parts(pack_part(number, frames), 1)

    def send_parts(self, parts: bytes, n_parts: int) -> None:
        """Send the parts of several autopilots, as `send`."""
        self._waiting.append(parts)
        self._n_waiting += n_parts
        if self._n_waiting >= SENT_TOGETHER:
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
        if len(self._packets) == _MOST_PACKETS:
            for number in np.flatnonzero(self._answers[:, 0] >= 0).tolist():
                self._keep(number, self._taken(number))
        packet_number = len(self._packets)
        n_alone, n_others = sort_parts(
            packet, packet_number, self._answers, self._outputs, self._others
        )
        if n_alone == MALFORMED:
            raise PeerClosed("a packet of several autopilots was cut")
        if n_alone:
            self._packets.append(packet)
            self.n_alone += n_alone
        for number, begin, end in self._others[:n_others].tolist():
            self._keep(number, self._taken(number) + packet[begin:end])

    def _keep(self, number: int, frames: bytes) -> None:
        """Keep frames of an autopilot, which has no lone answer here."""
        if frames:
            self._arrived[number] = frames
            if number < len(self._answers):
                self._answers[number, 0] = BYTES_FIRST

    def forget(self, number: int) -> None:
        """Forget what came from an autopilot that leaves."""
        self._taken(number)

    def answer(self, number: int, system_id: int | None, time_us: int) -> ActuatorControls | None:
        """Return the answer of an autopilot to a step, if it has arrived; else see `receive`."""
        if self._answers[number, :2].tolist() != [time_us, system_id]:
            return None
        outputs = self._outputs[number].tolist()
        return lone_answer(self._taken(number), time_us, outputs)[1]

    def are_answered(self, numbers: np.ndarray, systems: np.ndarray, time_us: int) -> np.ndarray:
        """Return of which autopilots (n,) with these system ids the answer to a step is here."""
        found = self._answers[numbers]
        return (found[:, 0] == time_us) & (found[:, 1] == systems)

    def take_answers(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the outputs (n, N_CONTROLS) of those that are here, and which are armed (n,)."""
        is_armed = self._answers[numbers, 2] != 0
        self._free_rows(numbers, len(numbers))
        return self._outputs[numbers], is_armed

    def _free_rows(self, numbers: np.ndarray | int, n: int) -> None:
        """Free the places of n lone answers."""
        self._answers[numbers, 0] = MALFORMED
        self.n_alone -= n
        if not self.n_alone:
            self._packets.clear()

    def wait(self) -> bool:
        """Wait for a packet for a slice of time; return whether one came.

        Raises PeerClosed if the process has ended.
        """
        if self._waiting:
            self._send_waiting()
        packet = self._connection.receive_bytes()
        self._sort(packet)
        return bool(packet)

    def _taken(self, number: int) -> bytes:
        """Return the frames of an autopilot that have arrived, and forget them."""
        if number < len(self._answers):
            time_us, _, _, packet_number, begin, end = self._answers[number].tolist()
            if time_us >= 0:
                frames = self._packets[packet_number][begin:end]
                self._free_rows(number, 1)
                return frames
            self._answers[number, 0] = MALFORMED
        return self._arrived.pop(number, b"")

    def _send_waiting(self) -> None:
        packet = b"".join(self._waiting)
        self._waiting.clear()
        self._n_waiting = 0
        self._connection.send(packet)

    def close(self) -> None:
        """Close both ends; safe to call twice."""
        self._connection.close()
        self.far_end.close()


class CarriedConnection:
    """A connection to an autopilot whose frames go by a shared lane."""

    def __init__(self, lane: SharedLane, number: int, connection: SocketConnection) -> None:
        self.lane, self.number, self._connection = lane, number, connection

    def send(self, data: bytes) -> None:
        """Send all data, or raise PeerStuck or PeerClosed."""
        self.lane.send(self.number, data)

    def receive_bytes(self, *, wait: bool = True) -> bytes:
        """Return newly received bytes; nothing when none arrived within a slice, or now."""
        return self.lane.receive(self.number, wait=wait)

    def answer(self, system_id: int | None, time_us: int) -> ActuatorControls | None:
        """Return its answer to a step, if it has arrived alone; else see `receive_bytes`."""
        return self.lane.answer(self.number, system_id, time_us)

    def close(self) -> None:
        """Close the autopilot's own connection, by which it leaves the lane."""
        self._connection.close()
        self.lane.forget(self.number)
