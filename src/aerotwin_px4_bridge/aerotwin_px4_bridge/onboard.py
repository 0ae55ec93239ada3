# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""An autopilot's UDP port for a companion or a ground station, read and written without blocking.

With `messages` this converts from and to NED and 1e7 degrees: set-points are sent, the autopilot's
own estimate and state are received, in map axes.
"""

import select
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.foreign_text import printable
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.time import from_seconds
from aerotwin_px4_bridge import mavlink2
from aerotwin_px4_bridge.autopilot_state import (
    POS_HORIZ_REL,
    AutopilotState,
    EstimatorStatus,
)
from aerotwin_px4_bridge.battery_status import battery_payload
from aerotwin_px4_bridge.dialects import PX4, Dialect
from aerotwin_px4_bridge.estimate_reports import EstimateReports
from aerotwin_px4_bridge.external_vision import VisionPose, pack_vision
from aerotwin_px4_bridge.mavlink2 import KNOWN, MavlinkFrame
from aerotwin_px4_bridge.messages import (
    NO_AUTOPILOT,
    OPERATOR,
    heartbeat_payload,
    ned_from_enu,
    yaw_ned_from_map,
)
from aerotwin_px4_bridge.path import PathSetpoint
from aerotwin_px4_bridge.streams import NO_STREAM, streams_us
from aerotwin_px4_bridge.udp_port import bind_udp

LOCAL_PORT = 14030
REMOTE_PORT = 14280
ONBOARD_COMPONENT_ID = 191
BATTERY_COMPONENT_ID = 180
ONBOARD_CONTROLLER, GROUND_CONTROL_STATION = 18, 6  # MAV_TYPE
GROUND_PORT = 18570
IS_ARMED = 0x80
PREARM_CHECK = 0x10000000
SET_MESSAGE_INTERVAL = 511

_MISSION_MESSAGES = (
    mavlink2.MISSION_REQUEST, mavlink2.MISSION_REQUEST_INT, mavlink2.MISSION_CURRENT,
    mavlink2.MISSION_ITEM_REACHED, mavlink2.MISSION_ACK,
)  # fmt: skip
_STOP_ATTEMPTS = 5
_MAX_DATAGRAM = 2048
_SAVED_TEXTS = 5
_BUFFERED_MISSION_FRAMES = 256
_WARNING = 4
AUTOPILOT_COMPONENT_ID = 1
FRAME_GLOBAL_INT = 5


class OnboardLink:
    """Non-blocking MAVLink on the onboard port of one autopilot, or on its ground port.

    The plane is the map frame, the system id is `instance` + 1, `host` is the address of both ends,
    and the default ports are 14030 + instance (local) and 14280 + instance (remote). A link
    `is_ground_station` is that of an operator: another sender, any local port, and 18570 +
    instance. An autopilot whose `dialect` speaks first has no known port: it sends to the local
    port, a ground station's is 18570 + instance, and the sender of its last message is answered.

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
        is_ground_station: bool = False,
        dialect: Dialect = PX4,
    ) -> None:
        self.plane = plane
        self._delay_s: float | None = 0.0
        self._on_the_way: deque[tuple[int, bytes]] = deque()
        self.shift_map = np.zeros(3)
        self.state = AutopilotState(dialect)
        self.acks: dict[int, int] = {}
        self.texts: deque[str] = deque(maxlen=_SAVED_TEXTS)
        self.mission_frames: deque[MavlinkFrame] = deque(maxlen=_BUFFERED_MISSION_FRAMES)
        self.system_id = instance + 1
        self._sender = (self.system_id, ONBOARD_COMPONENT_ID)
        self._type, local, remote = ONBOARD_CONTROLLER, LOCAL_PORT + instance, REMOTE_PORT
        if is_ground_station:
            self._sender = OPERATOR
            self._type, remote = GROUND_CONTROL_STATION, GROUND_PORT
            local = GROUND_PORT + instance if dialect.speaks_first else 0
        self._remote: tuple[str, int] | None = None
        if not dialect.speaks_first:
            self._remote = (host, remote + instance if remote_port is None else remote_port)
        port = local if local_port is None else local_port
        self._socket = bind_udp("onboard link", host, port, "simulator or companion")
        self._socket.setblocking(False)
        self.local_port: int = self._socket.getsockname()[1]
        self._readable = select.poll()
        self._readable.register(self._socket, select.POLLIN)
        self._sequence = 0
        self._reports = EstimateReports(plane)
        self._stopped: dict[int, int] = {}
        self._streams_us = streams_us(dialect)
        self._handlers: dict[int, Callable[[Any], None]] = {
            mavlink2.HEARTBEAT: self._on_heartbeat,
            mavlink2.SYS_STATUS: self._on_system_status,
            mavlink2.EXTENDED_SYS_STATE: self._on_landed_state,
            mavlink2.ATTITUDE_QUATERNION: self._on_attitude,
            mavlink2.GLOBAL_POSITION_INT: self._on_position,
            mavlink2.ESTIMATOR_STATUS: self._on_estimator_status,
            mavlink2.EKF_STATUS_REPORT: self._on_ekf_status,
            mavlink2.NAMED_VALUE_FLOAT: self._on_named_value,
            mavlink2.COMMAND_ACK: self._on_ack,
            mavlink2.STATUSTEXT: self._on_text,
        }
        self._now_ns = 0

    def poll_datagrams(self, stamp_ns: int) -> None:
        """Read all received datagrams and update `state`, `acks` and `texts`; send what is due."""
        self._now_ns = stamp_ns
        while self._on_the_way and self._on_the_way[0][0] <= stamp_ns:
            self._transmit(self._on_the_way.popleft()[1])
        while self._readable.poll(0):  # faster than an exception when nothing has arrived
            try:
                data, sender = self._socket.recvfrom(_MAX_DATAGRAM)
            except (BlockingIOError, ConnectionRefusedError):
                return
            end, position = self._reports.read(data, self.system_id)
            if end:
                self._answer_to(sender)
            if position is not None:
                self._on_reported(position)
            for frame in mavlink2.split_datagram(data[end:]):
                if frame.system_id == self.system_id:
                    self._answer_to(sender)
                    self._on_frame(frame)

    def _answer_to(self, sender: tuple[str, int]) -> None:
        if self.state.dialect.speaks_first:
            self._remote = sender

    def anchor(self, p_map: ArrayLike) -> None:
        """Set the autopilot's present position to a known one, as at a mark on the ground.

        Both sides then agree on positions: the slow GNSS error of this moment is removed.
        """
        if self.state.estimate is not None:
            self.shift_map = self.shift_map + self.state.estimate.p_map - np.asarray(p_map)
            self.state.estimate = replace(
                self.state.estimate,
                p_map=np.array(p_map, dtype=np.float64),
                p_map_odom=-self.shift_map,
            )

    def begin_again(self) -> None:
        """Forget what an autopilot reported that was started again."""
        self.state = AutopilotState(self.state.dialect)
        self._reports.forget()
        self._stopped.clear()
        self.acks.clear()
        self.texts.clear()
        self.mission_frames.clear()

    def send_heartbeat(self) -> None:
        """Send the HEARTBEAT of a companion computer, or of a ground station."""
        payload = heartbeat_payload(self._type, NO_AUTOPILOT)
        self.send(mavlink2.HEARTBEAT, payload)

    def send_command(self, command: int, *parameters: float, confirmation: int = 0) -> None:
        """Send a COMMAND_LONG; omitted parameters are 0."""
        padded = (*parameters, *(0.0,) * (7 - len(parameters)))
        self._send_values(
            mavlink2.COMMAND_LONG, *padded, command, self.system_id, AUTOPILOT_COMPONENT_ID,
            confirmation,
        )  # fmt: skip

    def send_place_command(self, command: int, *parameters: float, confirmation: int = 0) -> None:
        """Send a command whose parameters 5 to 7 are latitude, longitude [deg] and altitude [m].

        A COMMAND_LONG, or a COMMAND_INT to an autopilot that obeys no other (see `Dialect`).
        """
        if not self.state.dialect.takes_places_as_integers:
            self.send_command(command, *parameters, confirmation=confirmation)
            return
        *first, latitude_deg, longitude_deg, altitude_m = parameters
        self._send_values(
            mavlink2.COMMAND_INT, *first, round(latitude_deg * 1e7), round(longitude_deg * 1e7),
            altitude_m, command, self.system_id, AUTOPILOT_COMPONENT_ID, FRAME_GLOBAL_INT, 0, 0,
        )  # fmt: skip

    def send_setpoint(self, setpoint: PathSetpoint, stamp_ns: int) -> None:
        """Send position, velocity, acceleration, yaw and yaw rate in the global frame."""
        latitude_deg, longitude_deg, altitude_m = self.plane.to_geodetic(
            setpoint.p_map + self.shift_map
        )
        self._send_values(
            mavlink2.SET_POSITION_TARGET_GLOBAL_INT, stamp_ns // 1_000_000 & 0xFFFFFFFF,
            round(latitude_deg * 1e7), round(longitude_deg * 1e7), altitude_m,
            *ned_from_enu(setpoint.v_map), *ned_from_enu(setpoint.a_map),
            yaw_ned_from_map(setpoint.yaw), -setpoint.yaw_rate,
            0, self.system_id, AUTOPILOT_COMPONENT_ID, FRAME_GLOBAL_INT,
        )  # fmt: skip

    def send_external_vision(self, pose: VisionPose) -> None:
        """Send the vehicle's pose measured by a camera or motion capture."""
        self.send(*pack_vision(pose, self.state.dialect))

    def send_battery(
        self, charge: float, voltage_v: float, current_a: float, *, cells: int
    ) -> None:
        """Send a BATTERY_STATUS as a smart battery of the vehicle does; see `battery_payload`.

        PX4 reads batteries on its MAVLink ports and none on its simulator link. It is not subject
        to `delay`: the battery has a link of its own.
        """
        payload = battery_payload(charge, voltage_v, current_a, cells=cells)
        sender = (self.system_id, BATTERY_COMPONENT_ID)
        self._transmit(self._framed(mavlink2.BATTERY_STATUS, payload, sender))

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
        self._send_values(
            mavlink2.SET_GPS_GLOBAL_ORIGIN, round(origin.latitude_deg * 1e7),
            round(origin.longitude_deg * 1e7), round(origin.altitude_m * 1e3), self.system_id, 0,
        )  # fmt: skip

    def _send_values(self, message_id: int, *values: float) -> None:
        """Send a message, its values in wire order."""
        self.send(message_id, KNOWN[message_id].pack(*values))

    def delay(self, delay_s: float | None) -> None:
        """Let what is sent leave later, in simulated time; None loses it.

        What comes from the autopilot is not delayed.
        """
        self._delay_s = delay_s

    def send(self, message_id: int, payload: bytes) -> None:
        """Send any message of `mavlink2.KNOWN`; it may be lost when no autopilot listens."""
        data = self._framed(message_id, payload, self._sender)
        if self._delay_s is None:
            return
        last_ns = self._on_the_way[-1][0] if self._on_the_way else 0
        due_ns = max(self._now_ns + from_seconds(self._delay_s), last_ns)  # it overtakes nothing
        if due_ns > self._now_ns:
            self._on_the_way.append((due_ns, data))
        else:
            self._transmit(data)

    def _framed(self, message_id: int, payload: bytes, sender: tuple[int, int]) -> bytes:
        system_id, component_id = sender
        self._sequence += 1
        return KNOWN[message_id].frame(
            payload, sequence=self._sequence - 1, system_id=system_id, component_id=component_id
        )

    def _transmit(self, data: bytes) -> None:
        if self._remote is None:
            return
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
            handler(KNOWN[message_id].record(frame.payload))
        elif message_id == mavlink2.ODOMETRY:
            self._reports.on_odometry(frame.payload)
        elif message_id in _MISSION_MESSAGES:
            self.mission_frames.append(frame)
        elif message_id not in NO_STREAM:
            self._stop_stream(message_id)

    def _on_heartbeat(self, message: Any) -> None:
        if message.autopilot != NO_AUTOPILOT:
            self.state.heartbeat_ns = self._now_ns
            self.state.custom_mode = message.custom_mode
            self.state.is_armed = bool(message.base_mode & IS_ARMED)

    def _on_system_status(self, message: Any) -> None:
        self.state.is_ready = bool(message.onboard_control_sensors_health & PREARM_CHECK)

    def _on_landed_state(self, message: Any) -> None:
        self.state.landed_state = message.landed_state

    def _on_ack(self, message: Any) -> None:
        self.acks[message.command] = message.result

    def _on_text(self, message: Any) -> None:
        if message.severity <= _WARNING:
            self.texts.append(_text(message.text))

    def _on_estimator_status(self, message: Any) -> None:
        m = message
        ratios = m.vel_ratio, m.pos_horiz_ratio, m.pos_vert_ratio, m.mag_ratio
        self.state.estimator = EstimatorStatus(*ratios, m.flags)

    def _on_ekf_status(self, message: Any) -> None:
        m = message
        ratios = m.velocity_variance, m.pos_horiz_variance, m.pos_vert_variance, m.compass_variance
        self.state.estimator = EstimatorStatus(*ratios, m.flags)

    def _on_named_value(self, message: Any) -> None:
        self.state.named_values[_text(message.name)] = message.value

    def _on_attitude(self, message: Any) -> None:
        m = message
        values = m.q1, m.q2, m.q3, m.q4, m.rollspeed, m.pitchspeed, m.yawspeed
        self._reports.on_attitude(values)

    def _on_position(self, message: Any) -> None:
        m = message
        self._on_reported((m.time_boot_ms, m.lat, m.lon, m.alt, m.vx, m.vy, m.vz))

    def _on_reported(self, values: Sequence[float]) -> None:
        if self.state.dialect.is_nowhere_first and not any(values[1:3]):
            return
        estimate = self._reports.estimate(values, self.shift_map)
        if estimate is not None:
            self.state.altitude_amsl_m = values[3] * 1e-3
            self.state.estimate = estimate

    def _stop_stream(self, message_id: int) -> None:
        """Request the end of an unused stream, at most a few times per message."""
        if message_id in self._streams_us or self._stopped.get(message_id, 0) >= _STOP_ATTEMPTS:
            return
        self._stopped[message_id] = self._stopped.get(message_id, 0) + 1
        self.send_command(SET_MESSAGE_INTERVAL, message_id, -1.0)


def is_of_scenario(system_id: int, component_id: int, instance: int) -> bool:
    """Return whether a sender is the companion or the ground station of the scenario."""
    return (system_id, component_id) in ((instance + 1, ONBOARD_COMPONENT_ID), OPERATOR)


def _text(field: bytes) -> str:
    return printable(field.partition(b"\0")[0].decode("utf-8", "replace").strip())
