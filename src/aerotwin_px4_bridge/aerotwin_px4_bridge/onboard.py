# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The onboard link: an autopilot's UDP port for a companion, read and written without blocking.

With `messages` this converts from and to NED and 1e7 degrees: set-points are sent, the autopilot's
own estimate and state are received, in map axes.
"""

import select
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.errors import UserError
from aerotwin_core.frames import R_FLU_FRD, FloatArray, map_body_from_quat_wxyz_ned_frd
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_px4_bridge import telemetry
from aerotwin_px4_bridge.autopilot_state import AutopilotEstimate, AutopilotState
from aerotwin_px4_bridge.battery_status import battery_payload
from aerotwin_px4_bridge.external_vision import VisionPose, pack_odometry, parse_odometry
from aerotwin_px4_bridge.mavlink2 import (
    ATTITUDE_QUATERNION,
    BATTERY_STATUS,
    COMMAND_ACK,
    COMMAND_LONG,
    ESTIMATOR_STATUS,
    EXTENDED_SYS_STATE,
    GLOBAL_POSITION_INT,
    HEARTBEAT,
    MISSION_ACK,
    MISSION_CURRENT,
    MISSION_ITEM_REACHED,
    MISSION_REQUEST,
    MISSION_REQUEST_INT,
    NAMED_VALUE_FLOAT,
    ODOMETRY,
    SET_GPS_GLOBAL_ORIGIN,
    SET_POSITION_TARGET_GLOBAL_INT,
    STATUSTEXT,
    SYS_STATUS,
    BadMessage,
    MavlinkFrame,
    pack_frame,
    wire_format,
)
from aerotwin_px4_bridge.messages import enu_from_ned, heartbeat_payload
from aerotwin_px4_bridge.path import PathSetpoint
from aerotwin_px4_bridge.setpoint_messages import global_target

LOCAL_PORT = 14030
REMOTE_PORT = 14280
ONBOARD_COMPONENT_ID = 191
BATTERY_COMPONENT_ID = 180
ONBOARD_CONTROLLER = 18
NO_AUTOPILOT = 8
ACTIVE = 4
IS_ARMED = 0x80
PREARM_CHECK = 0x10000000
IN_AIR = 2
SET_MESSAGE_INTERVAL = 511
POS_HORIZ_REL = 8  # ESTIMATOR_STATUS_FLAGS

STREAMS_US: dict[int, int] = {
    SYS_STATUS: 500_000,
    EXTENDED_SYS_STATE: 200_000,
    GLOBAL_POSITION_INT: 50_000,
    ATTITUDE_QUATERNION: 50_000,
    ESTIMATOR_STATUS: 200_000,
    ODOMETRY: 200_000,
}
"""The requested streams: message id -> interval [us]. All others are stopped, because PX4 gives
this link few bytes per second."""

_NO_STREAM = {
    HEARTBEAT,
    COMMAND_ACK,
    STATUSTEXT,
    NAMED_VALUE_FLOAT,
    MISSION_REQUEST,
    MISSION_REQUEST_INT,
    MISSION_CURRENT,
    MISSION_ITEM_REACHED,
    MISSION_ACK,
    148,  # AUTOPILOT_VERSION
    410,  # EVENT
    411,  # CURRENT_EVENT_SEQUENCE
    412,  # REQUEST_EVENT
    413,  # RESPONSE_EVENT_ERROR
}
_STOP_ATTEMPTS = 5
_MAX_DATAGRAM = 2048
_SAVED_TEXTS = 5
_BUFFERED_MISSION_FRAMES = 256
_WARNING = 4
_COMMAND_LONG = wire_format(COMMAND_LONG)
_GLOBAL_ORIGIN = wire_format(SET_GPS_GLOBAL_ORIGIN, 4)
_UNIT_TOLERANCE = 0.01


class OnboardLink:
    """Non-blocking MAVLink on the onboard port of one autopilot.

    The plane is the map frame, the system id is `instance` + 1, `host` is the address of both ends,
    and the default ports are 14030 + instance (local) and 14280 + instance (remote).

    Attributes
    ----------
    state : AutopilotState
        State reported by the autopilot.
    acks : dict
        Results of commands, by command; the client that waits for one removes it.
    texts, mission_frames : deque of str, deque of MavlinkFrame
        Its last warnings, and its messages about mission items for a mission upload.
    shift_map : (3,) array
        Offset of the autopilot's positions from the map [m]; subtracted from received positions,
        added to sent ones. Zero unless `anchor` was called.

    Raises
    ------
    UserError
        If the local port is in use.
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
        self.texts: deque[str] = deque(maxlen=_SAVED_TEXTS)
        self.mission_frames: deque[MavlinkFrame] = deque(maxlen=_BUFFERED_MISSION_FRAMES)
        self.system_id = instance + 1
        self._remote = (host, REMOTE_PORT + instance if remote_port is None else remote_port)
        port = LOCAL_PORT + instance if local_port is None else local_port
        self._socket = _bind(host, port)
        self.local_port: int = self._socket.getsockname()[1]
        self._readable = select.poll()
        self._readable.register(self._socket, select.POLLIN)
        self._sequence = 0
        self._attitude: tuple[FloatArray, FloatArray] | None = None
        self._covariances: tuple[FloatArray | None, FloatArray | None] = (None, None)
        self._stopped: dict[int, int] = {}
        self._handlers: dict[int, Callable[[Any], None]] = {
            HEARTBEAT: self._on_heartbeat,
            SYS_STATUS: self._on_system_status,
            EXTENDED_SYS_STATE: self._on_landed_state,
            ATTITUDE_QUATERNION: self._on_attitude,
            GLOBAL_POSITION_INT: self._on_position,
            ESTIMATOR_STATUS: self._on_estimator_status,
            NAMED_VALUE_FLOAT: self._on_named_value,
            COMMAND_ACK: self._on_ack,
            STATUSTEXT: self._on_text,
        }
        self._now_ns = 0

    def poll_datagrams(self, stamp_ns: int) -> None:
        """Read all received datagrams and update `state`, `acks` and `texts`."""
        self._now_ns = stamp_ns
        while self._readable.poll(0):  # faster than an exception when nothing has arrived
            try:
                data = self._socket.recv(_MAX_DATAGRAM)
            except (BlockingIOError, ConnectionRefusedError):
                return
            for frame in telemetry.split_datagram(data):
                if frame.system_id == self.system_id:
                    self._on_frame(frame)

    def anchor(self, p_map: ArrayLike) -> None:
        """Set the autopilot's present position to a known one, as at a mark on the ground.

        Both sides then agree on positions: the slow GNSS error of this moment is removed.
        """
        if self.state.estimate is not None:
            self.shift_map = self.shift_map + self.state.estimate.p_map - np.asarray(p_map)
            estimate = replace(self.state.estimate, p_map=np.array(p_map, dtype=np.float64))
            self.state.estimate = estimate

    def send_heartbeat(self) -> None:
        """Send the HEARTBEAT of a companion computer."""
        self.send(HEARTBEAT, heartbeat_payload(ONBOARD_CONTROLLER, NO_AUTOPILOT, ACTIVE))

    def send_command(self, command: int, *parameters: float, confirmation: int = 0) -> None:
        """Send a COMMAND_LONG; omitted parameters are 0."""
        padded = (*parameters, *(0.0,) * (7 - len(parameters)))
        self.send(
            COMMAND_LONG, _COMMAND_LONG.pack(*padded, command, self.system_id, 1, confirmation)
        )

    def send_setpoint(self, setpoint: PathSetpoint, stamp_ns: int) -> None:
        """Send position, velocity, acceleration, yaw and yaw rate in the global frame."""
        place = self.plane.to_geodetic(setpoint.p_map + self.shift_map)
        payload = global_target(setpoint, place, stamp_ns // 1_000_000, self.system_id)
        self.send(SET_POSITION_TARGET_GLOBAL_INT, payload)

    def send_external_vision(self, pose: VisionPose) -> None:
        """Send an ODOMETRY: the vehicle's pose measured by a camera or motion capture."""
        self.send(ODOMETRY, pack_odometry(pose))

    def send_battery(
        self, charge: float, voltage_v: float, current_a: float, *, cells: int
    ) -> None:
        """Send a BATTERY_STATUS as a smart battery of the vehicle does; see `battery_payload`.

        PX4 reads batteries on its MAVLink ports and none on its simulator link.
        """
        payload = battery_payload(charge, voltage_v, current_a, cells=cells)
        self.send(BATTERY_STATUS, payload, component_id=BATTERY_COMPONENT_ID)

    @property
    def needs_fix(self) -> bool:
        """Whether it flies on relative positions only and has reported no global one.

        PX4 1.14 sets the position of its local frame from a receiver alone, not from
        `send_global_origin`: send it HIL_GPS of its position until this is False. With
        `external_vision_parameters` the fixes are not used for anything else.
        """
        estimator = self.state.estimator
        has_relative = estimator is not None and bool(estimator.flags & POS_HORIZ_REL)
        return has_relative and self.state.estimate is None

    def send_global_origin(self) -> None:
        """Send the origin of map to an autopilot without GNSS, which cannot know it.

        Not to PX4 1.14: it treats the altitude as a jump in height and ignores the rest.
        """
        origin = self.plane.origin
        payload = _GLOBAL_ORIGIN.pack(
            round(origin.latitude_deg * 1e7),
            round(origin.longitude_deg * 1e7),
            round(origin.altitude_m * 1e3),
            self.system_id,
        )
        self.send(SET_GPS_GLOBAL_ORIGIN, payload)

    def send(
        self, message_id: int, payload: bytes, *, component_id: int = ONBOARD_COMPONENT_ID
    ) -> None:
        """Send any message of `mavlink2.KNOWN`; it may be lost when no autopilot listens."""
        data = pack_frame(
            message_id,
            payload,
            sequence=self._sequence,
            system_id=self.system_id,
            component_id=component_id,
        )
        self._sequence += 1
        try:
            self._socket.sendto(data, self._remote)
        except (BlockingIOError, ConnectionRefusedError):
            return  # no autopilot listens yet; commands are sent again

    def close(self) -> None:
        """Free the local port."""
        self._socket.close()

    def _on_frame(self, frame: MavlinkFrame) -> None:
        message_id = frame.message_id
        handler = self._handlers.get(message_id)
        if handler is not None:
            handler(telemetry.DECODERS[message_id](frame.payload))
        elif message_id == ODOMETRY:
            self._on_odometry(frame.payload)
        elif message_id in telemetry.DECODERS:
            self.mission_frames.append(frame)
        elif message_id not in _NO_STREAM:
            self._stop_stream(message_id)

    def _on_heartbeat(self, message: telemetry.Heartbeat) -> None:
        if message.autopilot != NO_AUTOPILOT:
            self.state.heartbeat_ns = self._now_ns
            self.state.custom_mode = message.custom_mode
            self.state.is_armed = bool(message.base_mode & IS_ARMED)

    def _on_system_status(self, message: telemetry.SystemStatus) -> None:
        self.state.is_ready = bool(message.health & PREARM_CHECK)

    def _on_landed_state(self, landed_state: int) -> None:
        self.state.is_in_air = landed_state == IN_AIR

    def _on_ack(self, message: telemetry.CommandAck) -> None:
        self.acks[message.command] = message.result

    def _on_text(self, message: telemetry.StatusText) -> None:
        if message.severity <= _WARNING:
            self.texts.append(message.text)

    def _on_estimator_status(self, message: telemetry.EstimatorStatus) -> None:
        self.state.estimator = message

    def _on_named_value(self, message: telemetry.NamedValue) -> None:
        self.state.named_values[message.name] = message.value

    def _on_odometry(self, payload: bytes) -> None:
        try:
            pose = parse_odometry(payload)
        except BadMessage:
            return
        self._covariances = (pose.pose_covariance_map, pose.twist_covariance_body)

    def _on_attitude(self, message: telemetry.Attitude) -> None:
        quat_wxyz, rates_frd = np.array(message.quat_wxyz), np.array(message.rates_frd)
        is_unit = abs(np.linalg.norm(quat_wxyz) - 1.0) < _UNIT_TOLERANCE  # False for NaN
        if is_unit and np.isfinite(rates_frd).all():
            self._attitude = (map_body_from_quat_wxyz_ned_frd(quat_wxyz), R_FLU_FRD @ rates_frd)

    def _on_position(self, message: telemetry.GlobalPosition) -> None:
        latitude, longitude = message.latitude_1e7_deg * 1e-7, message.longitude_1e7_deg * 1e-7
        altitude = message.altitude_mm * 1e-3
        if not isfinite(altitude) or abs(latitude) > 90.0 or abs(longitude) > 180.0:
            return
        p_map = self.plane.from_geodetic(latitude, longitude, altitude)
        self.state.altitude_amsl_m = altitude
        self.state.estimate = AutopilotEstimate(
            stamp_ns=message.time_boot_ms * 1_000_000,
            p_map=p_map - self.shift_map,
            v_map=0.01 * np.array(enu_from_ned(message.v_ned_cm_s)),
            q_map_body=self._attitude[0] if self._attitude else None,
            omega_map_body_in_body=self._attitude[1] if self._attitude else None,
            pose_covariance_map=self._covariances[0],
            twist_covariance_body=self._covariances[1],
        )

    def _stop_stream(self, message_id: int) -> None:
        """Request the end of an unused stream, at most a few times per message."""
        if message_id in STREAMS_US or self._stopped.get(message_id, 0) >= _STOP_ATTEMPTS:
            return
        self._stopped[message_id] = self._stopped.get(message_id, 0) + 1
        self.send_command(SET_MESSAGE_INTERVAL, message_id, -1.0)


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
