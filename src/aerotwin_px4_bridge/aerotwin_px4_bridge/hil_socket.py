# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sockets for the HIL link: listen, accept in slices, send at once, receive in slices.

A port is served by TCP and, for an autopilot that knows of it, by a Unix socket, which costs both
sides half as much: in lockstep that is a tenth of a flight.
"""

import select
import socket
import struct
from collections.abc import Callable
from time import monotonic

from aerotwin_core.errors import UserError
from aerotwin_px4_bridge.mavlink2 import FrameReader

SLICE_S = 0.1
SEND_LIMIT_S = 2
RECEIVE_BYTES = 8192
MOST_CANDIDATES = 16  # connections without a frame yet; the oldest is dropped for a new one


class AutopilotLost(Exception):
    """The autopilot is gone or no longer answers; the flight ends, its bag is saved.

    The attribute `reason` is one line for the user.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class PeerClosed(Exception):
    """The other side closed the connection; the text says how, or is empty."""


class PeerStuck(Exception):
    """The other side no longer reads."""


UNIX_NAME = "aerotwin-hil-"


def unix_address(port: int) -> str:
    """Return the abstract Unix socket (unix(7)) that serves the same link as a TCP port."""
    return f"\0{UNIX_NAME}{port}"


class SocketConnection:
    """A connected socket, whose calls return within a slice of time.

    `received`: bytes already read from it, the first that `receive_bytes` returns; of later ones at
    most `most_bytes` at once.
    """

    def __init__(
        self, connected: socket.socket, received: bytes = b"", most_bytes: int = RECEIVE_BYTES
    ) -> None:
        self._socket, self._most_bytes = connected, most_bytes
        self._received = received
        connected.setblocking(True)
        if connected.family == socket.AF_INET:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Timeouts in the kernel save the poll() that Python's own would add to every call.
        slice_timeval = struct.pack("@ll", 0, round(SLICE_S * 1e6))
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, slice_timeval)
        limit_timeval = struct.pack("@ll", SEND_LIMIT_S, 0)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit_timeval)

    def send(self, data: bytes) -> None:
        """Send all data, or raise PeerStuck or PeerClosed."""
        try:
            self._socket.sendall(data)
        except BlockingIOError:
            raise PeerStuck from None
        except OSError as error:
            raise PeerClosed(error.strerror) from None

    def receive_bytes(self, *, wait: bool = True) -> bytes:
        """Return newly received bytes; nothing when none arrived within a slice, or now."""
        if self._received:
            data, self._received = self._received, b""
            return data
        try:
            data = self._socket.recv(self._most_bytes, 0 if wait else socket.MSG_DONTWAIT)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise PeerClosed(error.strerror) from None
        if not data:
            raise PeerClosed
        return data

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class _Candidate:
    """A connection that has not yet sent a MAVLink frame."""

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(False)
        self.socket = connected
        self.received = b""

    def has_spoken(self) -> bool | None:
        """Read; return whether a valid frame has arrived, None when the peer must be dropped."""
        try:
            data = self.socket.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            return None
        self.received += data
        if FrameReader().feed_bytes(self.received):
            return True
        return False if data and len(self.received) < RECEIVE_BYTES else None


class TcpListener:
    """A server for one autopilot on a TCP port, 0 for any free one, and on its Unix socket.

    Raises UserError if the port is in use.
    """

    def __init__(self, host: str, port: int) -> None:
        server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        unix = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind((host, port))
            unix.bind(unix_address(server.getsockname()[1]))
            for each in (server, unix):
                each.listen(MOST_CANDIDATES)
        except OSError as error:
            server.close()
            unix.close()
            raise UserError(
                f"HIL link: TCP port {port} on {host} cannot be opened ({error.strerror}); stop "
                "the other simulator that listens there, or choose another instance"
            ) from error
        self._servers = server, unix
        self.port: int = server.getsockname()[1]
        self.name = f"TCP port {self.port}"

    def accept(self, timeout_s: float, on_wait: Callable[[float], None] | None) -> SocketConnection:
        """Return the first connection that sends a valid MAVLink 2 frame, as an autopilot does.

        All others are closed: port scans, and clients of another protocol. `on_wait` is called with
        the seconds waited, about once a slice.
        """
        candidates: list[_Candidate] = []
        start = reported = monotonic()
        n_dropped = 0
        try:
            while True:
                waiting = [*self._servers, *(candidate.socket for candidate in candidates)]
                ready = select.select(waiting, [], [], SLICE_S)[0]
                for server in self._servers:
                    if server in ready:
                        candidates.append(_Candidate(server.accept()[0]))
                for candidate in [c for c in candidates if c.socket in ready]:
                    spoken = candidate.has_spoken()
                    if spoken:
                        candidates.remove(candidate)
                        return SocketConnection(candidate.socket, candidate.received)
                    if spoken is None:
                        candidates.remove(candidate)
                        candidate.socket.close()
                        n_dropped += 1
                if len(candidates) > MOST_CANDIDATES:
                    candidates.pop(0).socket.close()
                    n_dropped += 1
                now = monotonic()
                if now - reported >= SLICE_S:
                    reported = now
                    if on_wait is not None:
                        on_wait(now - start)
                if now - start >= timeout_s:
                    raise self._nobody(timeout_s, n_dropped + len(candidates))
        finally:
            for candidate in candidates:
                candidate.socket.close()

    def _nobody(self, timeout_s: float, n_others: int) -> AutopilotLost:
        others = f" (connections without a MAVLink 2 frame: {n_others})" if n_others else ""
        return AutopilotLost(
            f"no autopilot connected to {self.name} within {timeout_s:g} s{others}; "
            "see its log, or give it more time"
        )

    def close(self) -> None:
        """Free the port."""
        for server in self._servers:
            server.close()
