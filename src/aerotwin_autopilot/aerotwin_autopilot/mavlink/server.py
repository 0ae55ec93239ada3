# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The MAVLink server: what comes in on each link, what goes out; sockets are the caller's."""

import struct
from collections import deque
from collections.abc import Callable
from typing import Any

from pymavlink.dialects.v20.common import MAVError

from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.mavlink import commands
from aerotwin_autopilot.mavlink.codec import LAYOUTS, NAME_OF_ID, READERS
from aerotwin_autopilot.mavlink.link import Link, new_parser
from aerotwin_autopilot.mavlink.mission_protocol import MissionProtocol
from aerotwin_autopilot.mavlink.streams import GROUND_HZ, ONBOARD_HZ, PAYLOAD_HZ
from aerotwin_autopilot.mavlink.targets import (
    target_from_attitude,
    target_from_global,
    target_from_local,
)
from aerotwin_autopilot.mavlink.telemetry import KNOWN, Navigation, payloads
from aerotwin_autopilot.mavlink.vision import pose_from_odometry, pose_from_vision
from aerotwin_autopilot.mission import HIGHEST_M, LOWEST_M
from aerotwin_autopilot.settings import INTEGERS, PX4_NAMES
from aerotwin_core.geodesy import GeodeticPoint

LINK_NAMES = ("offboard", "onboard", "ground")
COMPONENT_ID = 1
BROADCAST = 0
PARAM_REAL32, PARAM_INT32 = 9, 6
TEXT_LENGTH = 50
TYPE_GROUND_STATION = 6
PARAMS_PER_STEP = 5
IMPOSSIBLE = (struct.error, ArithmeticError, ValueError)
"""What numbers raise that no check has refused: the message is dropped, the flight goes on."""
CMD_GET_INTERVAL, CMD_SET_INTERVAL, CMD_REQUEST_MESSAGE = 510, 511, 512
CMD_CAPABILITIES, CMD_HOME = 520, 410


class MavlinkServer:
    """Reads commands and set-points for one autopilot and writes its telemetry.

    Parameters
    ----------
    autopilot : Autopilot
        Whom it speaks for; its instance gives the system id.

    Attributes
    ----------
    n_bad : int
        Messages that came damaged or with numbers that cannot be.
    n_unsaid : int
        Messages that were due and whose numbers did not fit.
    """

    def __init__(self, autopilot: Autopilot) -> None:
        self.autopilot = autopilot
        self.system_id = autopilot.instance + 1
        self.links = [Link(ONBOARD_HZ), Link(PAYLOAD_HZ), Link(GROUND_HZ)]
        self.n_bad = self.n_unsaid = 0
        self._condition: tuple[Any, ...] = ()
        self._parameter_names = autopilot.modes.settings.names()
        self._last_time_us = self._next_us = 0
        self._missions = MissionProtocol(autopilot, self._send)
        self._handlers: dict[str, Callable[[Link, Any], None]] = {
            "HEARTBEAT": self._on_heartbeat,
            "COMMAND_LONG": self._on_command_long,
            "COMMAND_INT": self._on_command_int,
            "SET_MODE": self._on_set_mode,
            "SET_POSITION_TARGET_LOCAL_NED": self._on_local_target,
            "SET_POSITION_TARGET_GLOBAL_INT": self._on_global_target,
            "SET_ATTITUDE_TARGET": self._on_attitude_target,
            "ODOMETRY": self._on_odometry,
            "VISION_POSITION_ESTIMATE": self._on_vision,
            "SET_GPS_GLOBAL_ORIGIN": self._on_origin,
            "PARAM_REQUEST_LIST": self._on_parameter_list,
            "PARAM_REQUEST_READ": self._on_parameter_read,
            "PARAM_SET": self._on_parameter_set,
            "TIMESYNC": self._on_timesync,
            "PING": self._on_ping,
            **self._missions.handlers,
        }

    # --- in --------------------------------------------------------------------------------

    def receive(self, link_index: int, data: bytes) -> None:
        """Take a datagram; damaged frames are counted and dropped."""
        link = self.links[link_index]
        self.autopilot.modes.is_urgent = True
        self._next_us = 0
        if self._receive_one(link, data):
            return
        try:
            messages = link.parser.parse_buffer(data) or []
        except (MAVError, struct.error, ValueError):
            self.n_bad += 1
            link.parser = new_parser()
            return
        for message in messages:
            name = message.get_type()
            self.n_bad += name == "BAD_DATA"
            self._handle(link, name, message)

    def _receive_one(self, link: Link, data: bytes) -> bool:
        """Take a datagram that is one frame of a frequent message; False when it is not."""
        if len(data) < 12 or data[0] != 0xFD or len(data) != data[1] + 12 or data[2]:
            return False
        reader = READERS.get(int.from_bytes(data[7:10], "little"))
        if reader is None or link.parser.buf_len():
            return False
        record = reader.read(data)
        if record is None:
            return False
        self._handle(link, reader.name, record)
        return True

    def _handle(self, link: Link, name: str, message: Any) -> None:
        handler = self._handlers.get(name)
        if handler is None:
            return
        target = getattr(message, "target_system", self.system_id)
        component = getattr(message, "target_component", COMPONENT_ID)
        if target in (BROADCAST, self.system_id) and component in (BROADCAST, COMPONENT_ID):
            try:
                handler(link, message)
            except IMPOSSIBLE:
                self.n_bad += 1

    def _on_heartbeat(self, _: Link, message: Any) -> None:
        if message.type == TYPE_GROUND_STATION:
            self.autopilot.modes.failsafe.hear_station(self.autopilot.arrival_s)

    def _on_command_long(self, link: Link, message: Any) -> None:
        self._execute(link, message, commands.command_from_long(message))

    def _on_command_int(self, link: Link, message: Any) -> None:
        self._execute(link, message, commands.command_from_int(message))

    def _execute(self, link: Link, message: Any, command: commands.Command) -> None:
        try:
            result = self._result_of(link, command)
        except IMPOSSIBLE:
            self.n_bad += 1
            result = commands.DENIED
        self._send(
            link, "COMMAND_ACK",
            command.number, result, 0, 0, message.get_srcSystem(), message.get_srcComponent(),
        )  # fmt: skip

    def _result_of(self, link: Link, command: commands.Command) -> int:
        """Do what a command says; return MAV_RESULT."""
        number, first = command.number, command.parameters[0]
        if number == CMD_SET_INTERVAL:
            is_set = link.streams.set_interval(
                round(commands.finite(first)),
                commands.finite(command.parameters[1]),
                self.autopilot.time_us,
            )
            return commands.ACCEPTED if is_set else commands.DENIED
        if number in (CMD_REQUEST_MESSAGE, CMD_CAPABILITIES, CMD_HOME, CMD_GET_INTERVAL):
            return self._answer_request(link, number, command)
        result, reason = commands.execute(self.autopilot, command)
        if reason and result != commands.UNSUPPORTED:
            self.autopilot.say(reason, is_warning=True)
        return result

    def _answer_request(self, link: Link, number: int, command: commands.Command) -> int:
        first = round(commands.finite(command.parameters[0]))
        if number == CMD_GET_INTERVAL:
            interval = link.streams.interval_us(first)
            if interval is None:
                return commands.DENIED
            self._send(link, "MESSAGE_INTERVAL", interval, first)
            return commands.ACCEPTED
        if number == CMD_REQUEST_MESSAGE:
            name = NAME_OF_ID.get(first, "")
        else:
            name = "AUTOPILOT_VERSION" if number == CMD_CAPABILITIES else "HOME_POSITION"
        if name not in KNOWN:
            return commands.UNSUPPORTED
        contents = payloads(name, self.autopilot, Navigation(self.autopilot))
        for content in contents:
            self._send_payload(link, name, content)
        return commands.ACCEPTED if contents else commands.REJECTED

    def _on_set_mode(self, link: Link, message: Any) -> None:
        """Answer SET_MODE, the old form of DO_SET_MODE; it has no acknowledgement of its own."""
        custom = message.custom_mode
        command = commands.Command(
            number=176, parameters=(message.base_mode, custom >> 16 & 0xFF, custom >> 24, 0.0)
        )
        self._execute(link, message, command)

    def _on_local_target(self, _: Link, message: Any) -> None:
        modes = self.autopilot.modes
        if not self.autopilot.estimator.is_initialised:
            return
        target = target_from_local(message, modes.position, modes.yaw)
        if target is not None:
            modes.offboard.receive(target, self.autopilot.arrival_s)

    def _on_global_target(self, _: Link, message: Any) -> None:
        plane = self.autopilot.estimator.plane
        if plane is None:
            return
        modes = self.autopilot.modes
        target = target_from_global(message, plane, modes.home)
        if target is not None:
            modes.offboard.receive(target, self.autopilot.arrival_s)

    def _on_attitude_target(self, _: Link, message: Any) -> None:
        target = target_from_attitude(message)
        if target is not None:
            self.autopilot.modes.offboard.receive(target, self.autopilot.arrival_s)

    def _on_odometry(self, _: Link, message: Any) -> None:
        pose = pose_from_odometry(message, self.autopilot.arrival_s, self._vision_delay_s)
        if pose is not None:
            self.autopilot.take_pose(pose)

    def _on_vision(self, _: Link, message: Any) -> None:
        self.autopilot.take_pose(
            pose_from_vision(message, self.autopilot.arrival_s, self._vision_delay_s)
        )

    @property
    def _vision_delay_s(self) -> float:
        return self.autopilot.parameters.estimator.vision_delay_s

    def _on_origin(self, _: Link, message: Any) -> None:
        """Say where on Earth the frame of the vision lies."""
        latitude, longitude = message.latitude * 1e-7, message.longitude * 1e-7
        is_plausible = LOWEST_M <= message.altitude * 1e-3 <= HIGHEST_M
        if is_plausible and abs(latitude) <= 90.0 and abs(longitude) <= 180.0:
            self.autopilot.estimator.set_origin(
                GeodeticPoint(
                    latitude_deg=latitude,
                    longitude_deg=longitude,
                    altitude_m=message.altitude * 1e-3,
                )
            )

    def _on_parameter_list(self, link: Link, _: Any) -> None:
        link.parameters_to_send = deque(range(len(self._parameter_names) + 1))

    def _on_parameter_read(self, link: Link, message: Any) -> None:
        names = ["MAV_SYS_ID", *self._parameter_names]
        index = message.param_index
        if index < 0:
            name = parameter_name(message.param_id)
            index = names.index(name) if name in names else -1
        if 0 <= index < len(names):
            self._send_parameter(link, index)

    def _on_parameter_set(self, link: Link, message: Any) -> None:
        """Change a setting; the answer is its value, the old one where the new was refused."""
        name = parameter_name(message.param_id)
        if name in PX4_NAMES:
            value = float(message.param_value)
            if name in INTEGERS and message.param_type == PARAM_INT32:
                (value,) = struct.unpack("<i", struct.pack("<f", value))
            if not self.autopilot.modes.settings.set(name, value):
                self.autopilot.say(f"{name}: value out of range", is_warning=True)
            self._send_parameter(link, 1 + self._parameter_names.index(name))
        elif name == "MAV_SYS_ID":
            self._send_parameter(link, 0)

    def _send_parameter(self, link: Link, index: int) -> None:
        count = len(self._parameter_names) + 1
        if index == 0:  # integers travel as the bits of a float, as in PX4
            (value,) = struct.unpack("<f", struct.pack("<i", self.system_id))
            name, kind = "MAV_SYS_ID", PARAM_INT32
        else:
            name, kind = self._parameter_names[index - 1], PARAM_REAL32
            value = self.autopilot.modes.settings.get(name)
            if name in INTEGERS:
                (value,) = struct.unpack("<f", struct.pack("<i", round(value)))
                kind = PARAM_INT32
        self._send(link, "PARAM_VALUE", value, count, index, name.encode(), kind)

    def _on_timesync(self, link: Link, message: Any) -> None:
        if message.tc1 == 0:
            self._send(link, "TIMESYNC", self.autopilot.time_us * 1000, message.ts1)

    def _on_ping(self, link: Link, message: Any) -> None:
        if message.target_system == 0:
            self._send(
                link, "PING",
                message.time_usec, message.seq, message.get_srcSystem(), message.get_srcComponent(),
            )  # fmt: skip

    # --- out -------------------------------------------------------------------------------

    def write_telemetry(self) -> None:
        """Put what is due now into the outboxes; a change of mode or arming is told at once."""
        autopilot = self.autopilot
        time_us, modes = autopilot.time_us, autopilot.modes
        condition = (modes.mode, modes.is_armed, modes.is_landed)
        has_changed = condition != self._condition
        if self._last_time_us <= time_us < self._next_us and not (has_changed or autopilot.texts):
            self._last_time_us = time_us
            return
        if time_us < self._last_time_us:
            for link in self.links:
                link.streams.restart()
        self._last_time_us = time_us
        self._condition = condition
        self._missions.keep_going(autopilot.time_s)
        self._write_due(time_us, has_changed=has_changed)
        self._write_once()
        is_busy = self._missions.is_busy or any(link.parameters_to_send for link in self.links)
        self._next_us = time_us if is_busy else min(link.active.earliest_us for link in self.links)

    def _write_due(self, time_us: int, *, has_changed: bool) -> None:
        navigation: Navigation | None = None
        made: dict[str, list[bytes]] = {}
        for link in self.links:
            names = link.active.due(time_us)
            if has_changed and link.is_heard:
                names = [*dict.fromkeys(["HEARTBEAT", "EXTENDED_SYS_STATE", *names])]
            for name in names:
                if name not in made:
                    navigation = navigation or Navigation(self.autopilot)
                    made[name] = self._payloads(name, navigation)
                for content in made[name]:
                    self._send_payload(link, name, content)

    def _payloads(self, name: str, navigation: Navigation) -> list[bytes]:
        """Return what a message says; nothing, and counted, where its numbers do not fit."""
        try:
            return payloads(name, self.autopilot, navigation)
        except IMPOSSIBLE:
            self.n_unsaid += 1
            return []

    def _write_once(self) -> None:
        """Write what is told once: texts, items reached, parameters asked for."""
        autopilot = self.autopilot
        reached = autopilot.modes.mission.reached
        for link in self.links:
            if link.is_heard:
                for text in autopilot.texts:
                    content = text.text.encode()[:TEXT_LENGTH]
                    self._send(link, "STATUSTEXT", text.severity, content, 0, 0)
                for number in reached:
                    self._send(link, "MISSION_ITEM_REACHED", number)
            for _ in range(min(PARAMS_PER_STEP, len(link.parameters_to_send))):
                self._send_parameter(link, link.parameters_to_send.popleft())
        autopilot.texts.clear()
        reached.clear()

    def take_outbox(self, link_index: int) -> bytes:
        """Return what is to be sent on a link, as one datagram, and empty its outbox."""
        link = self.links[link_index]
        if not link.outbox:
            return b""
        data = b"".join(link.outbox)
        link.outbox.clear()
        return data

    def _send(self, link: Link, name: str, *values: Any) -> None:
        self._send_payload(link, name, LAYOUTS[name].payload(*values))

    def _send_payload(self, link: Link, name: str, content: bytes) -> None:
        link.outbox.append(
            LAYOUTS[name].frame(content, link.sequence, self.system_id, COMPONENT_ID)
        )
        link.sequence += 1


def parameter_name(raw: str | bytes) -> str:
    """Return a parameter name of at most 16 characters from the wire."""
    text = raw.decode("ascii", "replace") if isinstance(raw, bytes) else raw
    return text.split("\0")[0]
