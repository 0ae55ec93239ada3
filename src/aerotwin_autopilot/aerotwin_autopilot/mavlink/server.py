# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The MAVLink server: what comes in on each link, what goes out; sockets are the caller's."""

import struct
from collections import deque
from typing import Any

from pymavlink.dialects.v20 import common

from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.mavlink import commands
from aerotwin_autopilot.mavlink.codec import LAYOUTS, NAME_OF_ID
from aerotwin_autopilot.mavlink.streams import GROUND_HZ, ONBOARD_HZ, Streams
from aerotwin_autopilot.mavlink.targets import target_from_global, target_from_local
from aerotwin_autopilot.mavlink.telemetry import BUILDERS, Navigation, payload
from aerotwin_autopilot.settings import PX4_NAMES

LINK_NAMES = ("offboard", "onboard", "ground")
COMPONENT_ID = 1
BROADCAST = 0
PARAM_REAL32, PARAM_INT32 = 9, 6
TEXT_LENGTH = 50
MISSION_UNSUPPORTED = 3
PARAMS_PER_STEP = 5
CMD_GET_INTERVAL, CMD_SET_INTERVAL, CMD_REQUEST_MESSAGE = 510, 511, 512
CMD_CAPABILITIES, CMD_HOME = 520, 410


class Link:
    """One MAVLink channel: its parser, its streams, its frame counter, its outbox."""

    def __init__(self, rates_hz: dict[str, float]) -> None:
        self.streams = Streams(rates_hz)
        self.parser = new_parser()
        self.sequence = 0
        self.outbox: list[bytes] = []
        self.parameters_to_send: deque[int] = deque()


def new_parser() -> common.MAVLink:
    """Return a parser that survives garbage."""
    parser = common.MAVLink(None)
    parser.robust_parsing = True
    return parser


class MavlinkServer:
    """Reads commands and set-points for one autopilot and writes its telemetry.

    Parameters
    ----------
    autopilot : Autopilot
        Whom it speaks for; its instance gives the system id.
    """

    def __init__(self, autopilot: Autopilot) -> None:
        self.autopilot = autopilot
        self.system_id = autopilot.instance + 1
        self.links = [Link(ONBOARD_HZ), Link(ONBOARD_HZ), Link(GROUND_HZ)]
        self.n_bad = 0
        self._condition: tuple[Any, ...] = ()
        self._parameter_names = autopilot.modes.settings.names()
        self._last_time_us = 0
        self._handlers = {
            "COMMAND_LONG": self._on_command_long,
            "COMMAND_INT": self._on_command_int,
            "SET_MODE": self._on_set_mode,
            "SET_POSITION_TARGET_LOCAL_NED": self._on_local_target,
            "SET_POSITION_TARGET_GLOBAL_INT": self._on_global_target,
            "PARAM_REQUEST_LIST": self._on_parameter_list,
            "PARAM_REQUEST_READ": self._on_parameter_read,
            "PARAM_SET": self._on_parameter_set,
            "MISSION_REQUEST_LIST": self._on_mission_list,
            "MISSION_COUNT": self._on_mission_upload,
            "TIMESYNC": self._on_timesync,
            "PING": self._on_ping,
        }

    # --- in --------------------------------------------------------------------------------

    def receive(self, link_index: int, data: bytes) -> None:
        """Take a datagram; damaged frames are counted and dropped."""
        link = self.links[link_index]
        try:
            messages = link.parser.parse_buffer(data) or []
        except (common.MAVError, struct.error, ValueError):
            self.n_bad += 1
            link.parser = new_parser()
            return
        for message in messages:
            handler = self._handlers.get(message.get_type())
            if handler is None:
                self.n_bad += message.get_type() == "BAD_DATA"
                continue
            target = getattr(message, "target_system", self.system_id)
            component = getattr(message, "target_component", COMPONENT_ID)
            if target in (BROADCAST, self.system_id) and component in (BROADCAST, COMPONENT_ID):
                handler(link, message)

    def _on_command_long(self, link: Link, message: Any) -> None:
        self._execute(link, message, commands.command_from_long(message))

    def _on_command_int(self, link: Link, message: Any) -> None:
        self._execute(link, message, commands.command_from_int(message))

    def _execute(self, link: Link, message: Any, command: commands.Command) -> None:
        number, first = command.number, command.parameters[0]
        if number == CMD_SET_INTERVAL:
            known = link.streams.set_interval(
                round(commands.finite(first)),
                commands.finite(command.parameters[1]),
                self.autopilot.time_us,
            )
            result = commands.ACCEPTED if known else commands.DENIED
        elif number in (CMD_REQUEST_MESSAGE, CMD_CAPABILITIES, CMD_HOME, CMD_GET_INTERVAL):
            result = self._answer_request(link, number, command)
        else:
            result, reason = commands.execute(self.autopilot, command)
            if reason and result != commands.UNSUPPORTED:
                self.autopilot.say(reason, is_warning=True)
        self._send(
            link, "COMMAND_ACK",
            number, result, 0, 0, message.get_srcSystem(), message.get_srcComponent(),
        )  # fmt: skip

    def _answer_request(self, link: Link, number: int, command: commands.Command) -> int:
        first = round(commands.finite(command.parameters[0]))
        if number == CMD_GET_INTERVAL:
            interval = link.streams.interval_us(first)
            self._send(link, "MESSAGE_INTERVAL", interval if interval is not None else 0, first)
            return commands.ACCEPTED
        if number == CMD_REQUEST_MESSAGE:
            name = NAME_OF_ID.get(first, "")
        else:
            name = "AUTOPILOT_VERSION" if number == CMD_CAPABILITIES else "HOME_POSITION"
        if name not in BUILDERS:
            return commands.UNSUPPORTED
        content = payload(name, self.autopilot, Navigation(self.autopilot))
        if content is None:
            return commands.REJECTED
        self._send_payload(link, name, content)
        return commands.ACCEPTED

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
            if not self.autopilot.modes.settings.set(name, float(message.param_value)):
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
        self._send(link, "PARAM_VALUE", value, count, index, name.encode(), kind)

    def _on_mission_list(self, link: Link, message: Any) -> None:
        self._send(
            link, "MISSION_COUNT",
            0, message.get_srcSystem(), message.get_srcComponent(), message.mission_type,
        )  # fmt: skip

    def _on_mission_upload(self, link: Link, message: Any) -> None:
        """Refuse a mission at once: this autopilot flies none of its own yet."""
        self._send(
            link, "MISSION_ACK",
            message.get_srcSystem(), message.get_srcComponent(), MISSION_UNSUPPORTED,
            message.mission_type,
        )  # fmt: skip

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
        time_us = autopilot.time_us
        if time_us < self._last_time_us:
            for link in self.links:
                link.streams.restart()
        self._last_time_us = time_us
        modes = autopilot.modes
        condition = (modes.mode, modes.is_armed, modes.state_of_landing())
        has_changed = condition != self._condition
        self._condition = condition
        texts = autopilot.texts
        navigation: Navigation | None = None
        payloads: dict[str, bytes | None] = {}
        for link in self.links:
            names = link.streams.due(time_us)
            if has_changed:
                names = [*dict.fromkeys(["HEARTBEAT", "EXTENDED_SYS_STATE", *names])]
            for name in names:
                if name not in payloads:
                    navigation = navigation or Navigation(autopilot)
                    payloads[name] = payload(name, autopilot, navigation)
                content = payloads[name]
                if content is not None:
                    self._send_payload(link, name, content)
            for text in texts:
                content = text.text.encode()[:TEXT_LENGTH]
                self._send(link, "STATUSTEXT", text.severity, content, 0, 0)
            if link.parameters_to_send:
                for _ in range(min(PARAMS_PER_STEP, len(link.parameters_to_send))):
                    self._send_parameter(link, link.parameters_to_send.popleft())
        texts.clear()

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
