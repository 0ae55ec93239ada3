# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Listen to an autopilot as a ground station would, without disturbing a flight.

Only single requests are sent: messages once each, parameters to read, and, only while it is
disarmed, the request to run its arming checks. No heartbeat, no stream, no command that acts:
a data link that comes and goes would itself trigger a fail-safe.
"""

import select
import socket
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from pymavlink.dialects.v20 import ardupilotmega as mavlink

from aerotwin_ardupilot_bridge.ports import ground_station_port
from aerotwin_doctor.link_record import ANY_PARAMETER, LinkRecord
from aerotwin_px4_bridge.px4_files import offboard_port

HOST = "127.0.0.1"
SYSTEM_ID, COMPONENT_ID = 254, mavlink.MAV_COMP_ID_MISSIONPLANNER
OFFBOARD_PORT, GROUND_PORT, STOCK_PX4_PORT_ABOVE_9 = 14540, 14550, 14549
ASK_EVERY_S, ASK_IMU_EVERY_S = 0.5, 0.1
SILENCE_S = 2.5
"""Without a message for this long there is no autopilot: a HEARTBEAT comes every second."""
_SLICE_S = 0.05
_MAX_DATAGRAM = 4096
_IMU_STREAMED = 20
MAV_CMD_RUN_PREARM_CHECKS = 401
LONGER_S = 8.0
"""Additional time while replies are missing: a simulated second may last several."""
PATIENT_ROUNDS = 4
ASKED_ONCE = {
    "SYS_STATUS": mavlink.MAVLINK_MSG_ID_SYS_STATUS,
    "ESTIMATOR_STATUS": mavlink.MAVLINK_MSG_ID_ESTIMATOR_STATUS,
    "GPS_RAW_INT": mavlink.MAVLINK_MSG_ID_GPS_RAW_INT,
    "BATTERY_STATUS": mavlink.MAVLINK_MSG_ID_BATTERY_STATUS,
    "EKF_STATUS_REPORT": mavlink.MAVLINK_MSG_ID_EKF_STATUS_REPORT,
    "EXTENDED_SYS_STATE": mavlink.MAVLINK_MSG_ID_EXTENDED_SYS_STATE,
    "AUTOPILOT_VERSION": mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION,
}
"""Messages to request if they are not streamed."""


def listening_ports(instance: int) -> list[int]:
    """Return the ports that autopilot number `instance` may send to.

    Above 9 the rules differ between the embedded autopilot, a PX4 started by aerotwin and one
    started otherwise.
    """
    ports = [
        offboard_port(instance),
        OFFBOARD_PORT + instance,
        GROUND_PORT,
        ground_station_port(instance),
    ]
    return list(dict.fromkeys([*ports, STOCK_PX4_PORT_ABOVE_9] if instance > 9 else ports))


class LinkWatch:
    """Listens on some UDP ports to an autopilot, whose system id is its number plus one.

    `parameters` are the names of those to read. Messages go to `record`; `held` are the ports in
    use by another process.
    """

    def __init__(self, instance: int, ports: Sequence[int], parameters: Sequence[str]) -> None:
        self.record = LinkRecord(instance + 1)
        self.held: list[int] = []
        self._parameters = [*ANY_PARAMETER, *parameters]
        self._n_rounds = 0
        self._codecs: dict[socket.socket, mavlink.MAVLink] = {}
        self._partner: tuple[socket.socket, Any] | None = None
        for port in ports:
            endpoint = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                endpoint.bind((HOST, port))
            except OSError:
                endpoint.close()
                self.held.append(port)
                continue
            endpoint.setblocking(False)
            codec = mavlink.MAVLink(None, SYSTEM_ID, COMPONENT_ID)
            codec.robust_parsing = True
            self._codecs[endpoint] = codec

    def listen(self, duration_s: float, on_wait: Callable[[float], None] | None = None) -> None:
        """Listen for a while, in wall time; shorter without any message, longer for replies."""
        start = last_asked = last_imu = monotonic()
        while self._codecs:
            self._receive()
            now = monotonic()
            self.record.wall_s = now - start
            if self._is_over(now - start, duration_s):
                return
            if now - last_asked >= ASK_EVERY_S:
                last_asked = now
                self._ask()
            if now - last_imu >= ASK_IMU_EVERY_S and len(self.record.imu) < _IMU_STREAMED:
                last_imu = now
                self._request(mavlink.MAVLINK_MSG_ID_HIGHRES_IMU)
            if on_wait is not None:
                on_wait(now - start)

    def _is_over(self, waited_s: float, duration_s: float) -> bool:
        if not self.record.is_heard:
            return waited_s > SILENCE_S
        limit_s = duration_s if self._is_complete() else duration_s + LONGER_S
        return waited_s >= limit_s

    def _is_complete(self) -> bool:
        """Return whether all expected messages have arrived."""
        record = self.record
        if record.heartbeat is None or "SYS_STATUS" not in record.last:
            return False
        if self._are_reasons_due() and self._n_rounds < PATIENT_ROUNDS:
            return False
        is_answered = all(name in record.parameters for name in self._parameters)
        return is_answered or (record.is_answered and self._n_rounds >= PATIENT_ROUNDS)

    def _are_reasons_due(self) -> bool:
        """Return whether the report of its arming checks is still missing."""
        record = self.record
        if record.heartbeat is None or record.is_armed or record.reasons.has_report:
            return False
        accepted = mavlink.MAV_RESULT_ACCEPTED
        return record.results.get(MAV_CMD_RUN_PREARM_CHECKS, accepted) == accepted

    def close(self) -> None:
        """Free the ports."""
        for endpoint in self._codecs:
            endpoint.close()

    def __enter__(self) -> "LinkWatch":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _receive(self) -> None:
        """Read all waiting datagrams: the kernel drops those that wait too long."""
        ready, _, _ = select.select(list(self._codecs), [], [], _SLICE_S)
        for endpoint in ready:
            while True:
                try:
                    data, address = endpoint.recvfrom(_MAX_DATAGRAM)
                except (BlockingIOError, ConnectionRefusedError):
                    break
                self._on_datagram(endpoint, data, address)

    def _on_datagram(self, endpoint: socket.socket, data: bytes, address: Any) -> None:
        n_before = self.record.counts.total()
        for message in self._codecs[endpoint].parse_buffer(data) or []:
            self.record.on_message(message)
        if self._partner is None and self.record.counts.total() > n_before:
            self._partner = (endpoint, address)

    def _ask(self) -> None:
        """Request what is still missing."""
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
        if self._are_reasons_due() and MAV_CMD_RUN_PREARM_CHECKS not in record.results:
            self._command(MAV_CMD_RUN_PREARM_CHECKS)
        if record.is_answered:
            self._n_rounds += 1

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
        try:
            endpoint.sendto(data, address)
        except (BlockingIOError, ConnectionRefusedError):
            return  # it will be asked again
