# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The onboard link: an autopilot's UDP port for a companion, read and written without blocking.

With `messages` this is the border to NED and 1e7 degrees: set-points go out, the autopilot's own
estimate and state come in, in map axes.
"""

import socket
from collections import deque
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike
from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.errors import UserError
from aerotwin_core.frames import R_FLU_FRD, FloatArray, map_body_from_quat_wxyz_ned_frd
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_px4_bridge.messages import enu_from_ned, ned_from_enu, yaw_ned_from_map
from aerotwin_px4_bridge.path import Setpoint

LOCAL_PORT = 14030
REMOTE_PORT = 14280
ONBOARD_COMPONENT_ID = 191
PREARM_CHECK = mavlink.MAV_SYS_STATUS_PREARM_CHECK

STREAMS_US: dict[int, int] = {
    mavlink.MAVLINK_MSG_ID_SYS_STATUS: 500_000,
    mavlink.MAVLINK_MSG_ID_EXTENDED_SYS_STATE: 200_000,
    mavlink.MAVLINK_MSG_ID_GLOBAL_POSITION_INT: 50_000,
    mavlink.MAVLINK_MSG_ID_ATTITUDE_QUATERNION: 50_000,
}
"""The streams that are asked for: message id -> interval [us]. All others are stopped, because
PX4 gives this link 4000 bytes/s only."""

_NO_STREAM = {
    mavlink.MAVLINK_MSG_ID_HEARTBEAT,
    mavlink.MAVLINK_MSG_ID_COMMAND_ACK,
    mavlink.MAVLINK_MSG_ID_STATUSTEXT,
    mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION,
    410,  # EVENT
    411,  # CURRENT_EVENT_SEQUENCE
    412,  # REQUEST_EVENT
    413,  # RESPONSE_EVENT_ERROR
}
_STOP_ATTEMPTS = 5
_MAX_DATAGRAM = 2048
_KEPT_TEXTS = 5
_WARNING = 4


@dataclass(frozen=True, kw_only=True)
class AutopilotEstimate:
    """What the autopilot believes; `stamp_ns` on its own clock, which is simulated time.

    Position and velocity in map [m], [m/s]; attitude xyzw and angular velocity in body axes
    [rad/s], as last received, None before the first.
    """

    stamp_ns: int
    p_map: FloatArray
    v_map: FloatArray
    q_map_body: FloatArray | None
    omega_map_body_in_body: FloatArray | None = None


@dataclass(slots=True)
class AutopilotState:
    """What an autopilot has said of itself; None before its first word."""

    heartbeat_ns: int | None = None
    custom_mode: int = 0
    is_armed: bool = False
    is_ready: bool = False
    is_in_air: bool = False
    altitude_amsl_m: float | None = None
    estimate: AutopilotEstimate | None = None

    @property
    def mode(self) -> tuple[int, int]:
        """Main and sub mode of PX4."""
        return self.custom_mode >> 16 & 0xFF, self.custom_mode >> 24 & 0xFF


class OnboardLink:
    """Non-blocking MAVLink on the onboard port of one autopilot.

    Parameters
    ----------
    plane : LocalTangentPlane
        The map frame.
    instance : int
        Number of the autopilot; its system id is one more.
    host : str
        Address of both ends.
    local_port, remote_port : int, optional
        Default 14030 + instance and 14280 + instance.

    Attributes
    ----------
    state : AutopilotState
        What the autopilot said last.
    acks : dict
        Results of commands, by command; taken out by whoever waits for them.
    texts : deque of str
        Its last warnings.
    shift_map : (3,) array
        How far the autopilot's positions lie from the map [m]; taken off what comes in, put on
        what goes out. Zero unless `anchor` was called.

    Raises
    ------
    UserError
        If the local port is taken.
    """

    def __init__(
        self,
        plane: LocalTangentPlane,
        instance: int = 0,
        *,
        host: str = "127.0.0.1",
        local_port: int | None = None,
        remote_port: int | None = None,
    ) -> None:
        self.plane = plane
        self.shift_map = np.zeros(3)
        self.state = AutopilotState()
        self.acks: dict[int, int] = {}
        self.texts: deque[str] = deque(maxlen=_KEPT_TEXTS)
        self.system_id = instance + 1
        self._remote = (host, REMOTE_PORT + instance if remote_port is None else remote_port)
        port = LOCAL_PORT + instance if local_port is None else local_port
        self._socket = _bind(host, port)
        self.local_port: int = self._socket.getsockname()[1]
        self._codec = mavlink.MAVLink(None, self.system_id, ONBOARD_COMPONENT_ID)
        self._codec.robust_parsing = True
        self._attitude: tuple[FloatArray, FloatArray] | None = None
        self._stopped: dict[int, int] = {}

    def receive(self, stamp_ns: int) -> None:
        """Read every datagram that has come and update `state`, `acks` and `texts`."""
        while True:
            try:
                data = self._socket.recv(_MAX_DATAGRAM)
            except (BlockingIOError, ConnectionRefusedError):
                return
            for message in self._codec.parse_buffer(data) or []:
                if message.get_srcSystem() == self.system_id:
                    self._take(message, stamp_ns)

    def anchor(self, p_map: ArrayLike) -> None:
        """Take the autopilot's present position for a known one, as at a mark on the ground.

        From then on both sides mean the same place: the slow GNSS error of this moment is gone.
        """
        if self.state.estimate is not None:
            self.shift_map = self.shift_map + self.state.estimate.p_map - np.asarray(p_map)
            estimate = replace(self.state.estimate, p_map=np.array(p_map, dtype=np.float64))
            self.state.estimate = estimate

    def send_heartbeat(self) -> None:
        """Say that a companion computer is here."""
        self._send(
            mavlink.MAVLink_heartbeat_message(
                mavlink.MAV_TYPE_ONBOARD_CONTROLLER,
                mavlink.MAV_AUTOPILOT_INVALID,
                0,
                0,
                mavlink.MAV_STATE_ACTIVE,
                3,
            )
        )

    def send_command(self, command: int, *parameters: float, confirmation: int = 0) -> None:
        """Send a COMMAND_LONG; parameters that are left out are 0."""
        padded = [*parameters, *[0.0] * (7 - len(parameters))]
        self._send(
            mavlink.MAVLink_command_long_message(self.system_id, 1, command, confirmation, *padded)
        )

    def send_setpoint(self, setpoint: Setpoint, stamp_ns: int) -> None:
        """Send position, velocity, acceleration, yaw and yaw rate in the global frame."""
        p_shifted = setpoint.p_map + self.shift_map
        latitude, longitude, altitude = self.plane.to_geodetic(p_shifted)
        self._send(
            mavlink.MAVLink_set_position_target_global_int_message(
                stamp_ns // 1_000_000 & 0xFFFFFFFF,
                self.system_id,
                1,
                mavlink.MAV_FRAME_GLOBAL_INT,
                0,
                round(latitude * 1e7),
                round(longitude * 1e7),
                altitude,
                *ned_from_enu(setpoint.v_map),
                *ned_from_enu(setpoint.a_map),
                yaw_ned_from_map(setpoint.yaw),
                -setpoint.yaw_rate,
            )
        )

    def close(self) -> None:
        """Free the local port."""
        self._socket.close()

    def _send(self, message: mavlink.MAVLink_message) -> None:
        data = message.pack(self._codec)
        self._codec.seq = (self._codec.seq + 1) & 0xFF
        try:
            self._socket.sendto(data, self._remote)
        except (BlockingIOError, ConnectionRefusedError):
            return  # nobody listens yet; commands are sent again

    def _take(self, message: mavlink.MAVLink_message, stamp_ns: int) -> None:
        message_id = message.get_msgId()
        state = self.state
        if message_id == mavlink.MAVLINK_MSG_ID_HEARTBEAT:
            if message.autopilot != mavlink.MAV_AUTOPILOT_INVALID:
                state.heartbeat_ns = stamp_ns
                state.custom_mode = message.custom_mode
                state.is_armed = bool(message.base_mode & mavlink.MAV_MODE_FLAG_SAFETY_ARMED)
        elif message_id == mavlink.MAVLINK_MSG_ID_SYS_STATUS:
            state.is_ready = bool(message.onboard_control_sensors_health & PREARM_CHECK)
        elif message_id == mavlink.MAVLINK_MSG_ID_EXTENDED_SYS_STATE:
            state.is_in_air = message.landed_state == mavlink.MAV_LANDED_STATE_IN_AIR
        elif message_id == mavlink.MAVLINK_MSG_ID_ATTITUDE_QUATERNION:
            self._take_attitude(message)
        elif message_id == mavlink.MAVLINK_MSG_ID_GLOBAL_POSITION_INT:
            self._take_position(message)
        elif message_id == mavlink.MAVLINK_MSG_ID_COMMAND_ACK:
            self.acks[message.command] = message.result
        elif message_id == mavlink.MAVLINK_MSG_ID_STATUSTEXT:
            if message.severity <= _WARNING:
                self.texts.append(message.text.strip())
        elif message_id not in _NO_STREAM and message_id >= 0:
            self._stop_stream(message_id)

    def _take_attitude(self, message: mavlink.MAVLink_message) -> None:
        quat_wxyz = np.array([message.q1, message.q2, message.q3, message.q4])
        rates_frd = np.array([message.rollspeed, message.pitchspeed, message.yawspeed])
        is_unit = abs(np.linalg.norm(quat_wxyz) - 1.0) < 0.01  # False for NaN
        if is_unit and np.isfinite(rates_frd).all():
            self._attitude = (map_body_from_quat_wxyz_ned_frd(quat_wxyz), R_FLU_FRD @ rates_frd)

    def _take_position(self, message: mavlink.MAVLink_message) -> None:
        latitude, longitude = message.lat * 1e-7, message.lon * 1e-7
        altitude = message.alt * 1e-3
        if not isfinite(altitude) or abs(latitude) > 90.0 or abs(longitude) > 180.0:
            return
        v_ned = (message.vx * 0.01, message.vy * 0.01, message.vz * 0.01)
        self.state.altitude_amsl_m = altitude
        self.state.estimate = AutopilotEstimate(
            stamp_ns=message.time_boot_ms * 1_000_000,
            p_map=self.plane.from_geodetic(latitude, longitude, altitude) - self.shift_map,
            v_map=np.array(enu_from_ned(v_ned)),
            q_map_body=self._attitude[0] if self._attitude else None,
            omega_map_body_in_body=self._attitude[1] if self._attitude else None,
        )

    def _stop_stream(self, message_id: int) -> None:
        """Ask once per message seen, a few times at most, that it come no more."""
        if message_id in STREAMS_US or self._stopped.get(message_id, 0) >= _STOP_ATTEMPTS:
            return
        self._stopped[message_id] = self._stopped.get(message_id, 0) + 1
        self.send_command(mavlink.MAV_CMD_SET_MESSAGE_INTERVAL, message_id, -1.0)


def _bind(host: str, port: int) -> socket.socket:
    endpoint = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        endpoint.bind((host, port))
    except OSError as error:
        endpoint.close()
        raise UserError(
            f"onboard link: UDP port {port} on {host} cannot be opened ({error.strerror}); stop "
            "the other simulator or companion that uses it, or choose another instance"
        ) from error
    endpoint.setblocking(False)
    return endpoint
