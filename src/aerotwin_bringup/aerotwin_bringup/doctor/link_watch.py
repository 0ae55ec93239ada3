# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Listen to an autopilot as a ground station would, without disturbing a flight.

Nothing is sent but single requests: messages once each, parameters to read, and, only while it
is disarmed, the request to run its arming checks. No heartbeat, no stream, no command that acts:
a data link that comes and goes would itself be a reason for a fail-safe.
"""

import select
import socket
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from pymavlink.dialects.v20 import common as mavlink

from aerotwin_bringup.doctor.link_record import LinkRecord

HOST = "127.0.0.1"
SYSTEM_ID, COMPONENT_ID = 254, mavlink.MAV_COMP_ID_MISSIONPLANNER
OFFBOARD_PORT, GROUND_PORT, OFFBOARD_PORT_ABOVE_9 = 14540, 14550, 14549
ASK_EVERY_S, ASK_IMU_EVERY_S = 0.5, 0.1
SILENCE_S = 2.5
"""Without a word for this long there is nobody: a HEARTBEAT comes every second."""
_SLICE_S = 0.05
_MAX_DATAGRAM = 4096
_IMU_STREAMED = 20
MAV_CMD_RUN_PREARM_CHECKS = 401
ASKED_ONCE = {
    "SYS_STATUS": mavlink.MAVLINK_MSG_ID_SYS_STATUS,
    "ESTIMATOR_STATUS": mavlink.MAVLINK_MSG_ID_ESTIMATOR_STATUS,
    "GPS_RAW_INT": mavlink.MAVLINK_MSG_ID_GPS_RAW_INT,
    "BATTERY_STATUS": mavlink.MAVLINK_MSG_ID_BATTERY_STATUS,
    "EXTENDED_SYS_STATE": mavlink.MAVLINK_MSG_ID_EXTENDED_SYS_STATE,
    "AUTOPILOT_VERSION": mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION,
}
"""Messages asked for when they do not come by themselves."""


def listening_ports(instance: int) -> list[int]:
    """Return where autopilot number `instance` sends to; PX4 sends all above 9 to one port."""
    ports = [OFFBOARD_PORT + instance, GROUND_PORT]
    return [*ports, OFFBOARD_PORT_ABOVE_9] if instance > 9 else ports


class LinkWatch:
    """Listens on some UDP ports.

    Parameters
    ----------
    instance : int
        Number of the autopilot; its system id is one more.
    ports : sequence of int
        Where to listen.
    parameters : sequence of str
        Names of the parameters to read.

    Attributes
    ----------
    record : LinkRecord
        What was heard.
    held : list of int
        Ports that somebody else holds.
    """

    def __init__(self, instance: int, ports: Sequence[int], parameters: Sequence[str]) -> None:
        self.record = LinkRecord(instance + 1)
        self.held: list[int] = []
        self._parameters = parameters
        self._codecs: dict[socket.socket, mavlink.MAVLink] = {}
        self._partner: tuple[socket.socket, Any] | None = None
        self._has_asked_checks = False
        for port in ports:
            endpoint = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                endpoint.bind((HOST, port))
            except OSError:
                endpoint.close()
                self.held.append(port)
                continue
            codec = mavlink.MAVLink(None, SYSTEM_ID, COMPONENT_ID)
            codec.robust_parsing = True
            self._codecs[endpoint] = codec

    def listen(self, duration_s: float, on_wait: Callable[[float], None] | None = None) -> None:
        """Listen for a while, in wall time; not longer than `SILENCE_S` when nobody speaks."""
        start = last_asked = last_imu = monotonic()
        while self._codecs:
            self._receive()
            now = monotonic()
            self.record.wall_s = now - start
            is_silent = not self.record.is_heard and now - start > SILENCE_S
            if now - start >= duration_s or is_silent:
                return
            if now - last_asked >= ASK_EVERY_S:
                last_asked = now
                self._ask()
            if now - last_imu >= ASK_IMU_EVERY_S and len(self.record.imu) < _IMU_STREAMED:
                last_imu = now
                self._request(mavlink.MAVLINK_MSG_ID_HIGHRES_IMU)
            if on_wait is not None:
                on_wait(now - start)

    def close(self) -> None:
        """Free the ports."""
        for endpoint in self._codecs:
            endpoint.close()

    def __enter__(self) -> "LinkWatch":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _receive(self) -> None:
        ready, _, _ = select.select(list(self._codecs), [], [], _SLICE_S)
        for endpoint in ready:
            data, address = endpoint.recvfrom(_MAX_DATAGRAM)
            n_before = self.record.counts.total()
            for message in self._codecs[endpoint].parse_buffer(data) or []:
                self.record.take(message)
            if self._partner is None and self.record.counts.total() > n_before:
                self._partner = (endpoint, address)

    def _ask(self) -> None:
        """Ask for what is missing so far."""
        record = self.record
        for name, message_id in ASKED_ONCE.items():
            if name not in record.last:
                self._request(message_id)
        for name in self._parameters:
            if name not in record.parameters:
                self._send(
                    mavlink.MAVLink_param_request_read_message(
                        record.system_id, mavlink.MAV_COMP_ID_AUTOPILOT1, name.encode(), -1
                    )
                )
        if not self._has_asked_checks and record.heartbeat is not None and not record.is_armed:
            self._has_asked_checks = True
            self._command(MAV_CMD_RUN_PREARM_CHECKS)

    def _request(self, message_id: int) -> None:
        self._command(mavlink.MAV_CMD_REQUEST_MESSAGE, message_id)

    def _command(self, command: int, first: float = 0.0) -> None:
        rest = (0.0,) * 6
        target = (self.record.system_id, mavlink.MAV_COMP_ID_AUTOPILOT1)
        self._send(mavlink.MAVLink_command_long_message(*target, command, 0, first, *rest))

    def _send(self, message: mavlink.MAVLink_message) -> None:
        if self._partner is None:
            return
        endpoint, address = self._partner
        codec = self._codecs[endpoint]
        data = message.pack(codec)
        codec.seq = (codec.seq + 1) & 0xFF
        endpoint.sendto(data, address)
