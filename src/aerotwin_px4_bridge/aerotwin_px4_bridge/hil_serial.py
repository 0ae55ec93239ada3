# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A serial line for the HIL link: the flight controller itself, on USB or a telemetry port.

The device is opened raw (8N1, no flow control). A flight controller is silent until it receives
something, so heartbeats are sent once a second until it answers. Reads may split a message
anywhere, writes may be partial: both are waited for, bounded.

References: PX4 user guide, "Hardware in the Loop Simulation" (SYS_HITL = 1, 921600 baud);
gazebo-classic mavlink_interface.cpp sends the same heartbeats. termios(3).
"""

import os
import re
import select
import termios
import tty
from collections.abc import Callable
from time import monotonic

from aerotwin_core.errors import UserError
from aerotwin_px4_bridge.hil_socket import (
    RECEIVE_BYTES,
    SEND_LIMIT_S,
    SLICE_S,
    AutopilotLost,
    PeerClosed,
    PeerStuck,
)
from aerotwin_px4_bridge.mavlink2 import FrameReader
from aerotwin_px4_bridge.messages import pack_heartbeat

DEFAULT_BAUD = 921_600
HEARTBEAT_PERIOD_S = 1.0
_ENDPOINT = re.compile(r"serial:(?P<device>/[^:]+)(:(?P<baud>\d+))?")


class SerialConnection:
    """An open serial device; the non-blocking descriptor is closed with it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._readable = select.poll()
        self._readable.register(descriptor, select.POLLIN)
        self._writable = select.poll()
        self._writable.register(descriptor, select.POLLOUT)

    def send(self, data: bytes) -> None:
        """Send all data; wait while the line is full."""
        deadline = monotonic() + SEND_LIMIT_S
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                if monotonic() >= deadline:
                    raise PeerStuck from None
                self._writable.poll(SLICE_S * 1e3)
            except OSError as error:
                raise PeerClosed(error.strerror) from None

    def receive_bytes(self, *, wait: bool = True) -> bytes:
        """Return newly received bytes; nothing when none arrived within a slice, or now."""
        if not self._readable.poll(SLICE_S * 1e3 if wait else 0):
            return b""
        try:
            data = os.read(self._descriptor, RECEIVE_BYTES)
        except BlockingIOError:
            return b""
        except OSError as error:  # EIO: unplugged, or the other end of a pseudo-terminal closed
            raise PeerClosed(error.strerror) from None
        if not data:
            raise PeerClosed
        return data

    def close(self) -> None:
        """Close the device."""
        os.close(self._descriptor)


class SerialListener:
    """A serial port on which to wait for a flight controller.

    The endpoint is `serial:/dev/ttyACM0` or `serial:/dev/ttyACM0:921600`. Raises UserError if the
    endpoint is malformed or the system does not know the baud rate.
    """

    def __init__(self, endpoint: str) -> None:
        match = _ENDPOINT.fullmatch(endpoint)
        if match is None:
            raise UserError(
                f"HIL link: expected serial:/dev/NAME or serial:/dev/NAME:BAUD, found '{endpoint}'"
            )
        self.device = match["device"]
        self.baud = int(match["baud"] or DEFAULT_BAUD)
        if not hasattr(termios, f"B{self.baud}"):
            raise UserError(f"HIL link: baud rate {self.baud} is not known here; use 921600")
        self.name = f"serial port {self.device}"

    def accept(self, timeout_s: float, on_wait: Callable[[float], None] | None) -> SerialConnection:
        """Return the connection once a flight controller has answered heartbeats.

        Raises UserError if the device cannot be opened, AutopilotLost if it stays silent.
        """
        connection = SerialConnection(_open_raw(self.device, self.baud))
        try:
            self._wait_for_answer(connection, timeout_s, on_wait)
        except BaseException:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """Do nothing: the device belongs to the connection."""

    def _wait_for_answer(
        self,
        connection: SerialConnection,
        timeout_s: float,
        on_wait: Callable[[float], None] | None,
    ) -> None:
        reader, start, due_s, sequence = FrameReader(), monotonic(), 0.0, 0
        while True:
            waited = monotonic() - start
            try:
                if waited >= due_s:
                    connection.send(pack_heartbeat(sequence=sequence))
                    due_s, sequence = due_s + HEARTBEAT_PERIOD_S, sequence + 1
                if reader.feed_bytes(connection.receive_bytes()):
                    return
            except PeerClosed as error:
                how = f" ({error})" if str(error) else ""
                raise AutopilotLost(f"{self.name} was closed{how}; plug it in again") from None
            except PeerStuck:
                raise AutopilotLost(
                    f"{self.name} takes no bytes; see that the autopilot runs and reads it"
                ) from None
            if on_wait is not None:
                on_wait(waited)
            if waited >= timeout_s:
                raise AutopilotLost(
                    f"no autopilot answered on {self.name} at {self.baud} baud within "
                    f"{timeout_s:g} s ({reader.n_skipped_bytes} bytes of something else); see that "
                    "it runs, speaks MAVLink 2 there and is set to HITL (SYS_HITL = 1)"
                )


def _open_raw(device: str, baud: int) -> int:
    """Return a non-blocking descriptor of the device, raw, 8N1, at this speed."""
    try:
        descriptor = os.open(device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        raise UserError(
            f"HIL link: {device} cannot be opened ({error.strerror}); see that it is plugged in "
            "and that you may use it (group dialout)"
        ) from error
    try:
        tty.setraw(descriptor)
        speed = getattr(termios, f"B{baud}")
        iflag, oflag, cflag, lflag, _, _, characters = termios.tcgetattr(descriptor)
        cflag = (cflag | termios.CLOCAL | termios.CREAD) & ~termios.CRTSCTS & ~termios.CSTOPB
        settings = [iflag, oflag, cflag, lflag, speed, speed, characters]
        termios.tcsetattr(descriptor, termios.TCSANOW, settings)
    except termios.error as error:
        os.close(descriptor)
        raise UserError(f"HIL link: {device} is no serial port ({error.args[-1]})") from error
    termios.tcflush(descriptor, termios.TCIOFLUSH)
    return descriptor
