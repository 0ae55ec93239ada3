# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""TCP for the HIL link: listen, accept in slices, send at once, receive in slices."""

import socket
import struct
from collections.abc import Callable
from time import monotonic

from aerotwin_core.errors import UserError

SLICE_S = 0.1
SEND_LIMIT_S = 2
RECEIVE_BYTES = 8192


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


class TcpConnection:
    """A connected socket, whose calls return within a slice of time."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        connected.setblocking(True)
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
        try:
            data = self._socket.recv(RECEIVE_BYTES, 0 if wait else socket.MSG_DONTWAIT)
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


class TcpListener:
    """A TCP server for one autopilot; port 0 is any free one.

    Raises UserError if the port is in use.
    """

    def __init__(self, host: str, port: int) -> None:
        server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind((host, port))
            server.listen(1)
        except OSError as error:
            server.close()
            raise UserError(
                f"HIL link: TCP port {port} on {host} cannot be opened ({error.strerror}); stop "
                "the other simulator that listens there, or choose another instance"
            ) from error
        self._server = server
        self.port: int = server.getsockname()[1]
        self.name = f"TCP port {self.port}"

    def accept(self, timeout_s: float, on_wait: Callable[[float], None] | None) -> TcpConnection:
        """Return the next connection; call `on_wait` with the seconds waited after each slice."""
        self._server.settimeout(SLICE_S)
        start = monotonic()
        while True:
            try:
                connected, _ = self._server.accept()
            except TimeoutError:
                waited = monotonic() - start
                if on_wait is not None:
                    on_wait(waited)
                if waited >= timeout_s:
                    raise AutopilotLost(
                        f"no autopilot connected to {self.name} within {timeout_s:g} s; "
                        "see its log, or give it more time"
                    ) from None
            else:
                return TcpConnection(connected)

    def close(self) -> None:
        """Free the port."""
        self._server.close()
