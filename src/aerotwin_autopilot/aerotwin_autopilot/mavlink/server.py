# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The MAVLink server: messages in and out on each link; sockets are the caller's."""

import struct
from collections.abc import Callable
from typing import Any

from pymavlink.dialects.v20.common import MAVError

from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.mavlink import commands
from aerotwin_autopilot.mavlink.codec import FREQUENT, LAYOUTS
from aerotwin_autopilot.mavlink.file_protocol import FileProtocol
from aerotwin_autopilot.mavlink.inputs import MavlinkInputs
from aerotwin_autopilot.mavlink.log_protocol import LogProtocol
from aerotwin_autopilot.mavlink.mission_protocol import MissionProtocol
from aerotwin_autopilot.mavlink.parameter_protocol import ParameterProtocol
from aerotwin_autopilot.mavlink.requests import REQUESTS, MessageRequests
from aerotwin_autopilot.mavlink.senders import Senders
from aerotwin_autopilot.mavlink.status import mission_current
from aerotwin_autopilot.mavlink.streams import (
    GROUND_HZ,
    OFFBOARD_HZ,
    PAYLOAD_HZ,
    MavlinkChannel,
    new_parser,
)
from aerotwin_autopilot.mavlink.telemetry import Navigation, payloads
from aerotwin_px4_bridge.mavlink2 import KNOWN, MAGIC, read_frame
from aerotwin_px4_bridge.messages import OPERATOR

LINK_NAMES = ("offboard", "onboard", "ground")
COMPONENT_ID = 1
BROADCAST = 0
TEXT_LENGTH = 50
TYPE_GROUND_STATION = 6
IMPOSSIBLE = (struct.error, ArithmeticError, ValueError)
"""Errors of numbers that pass the checks: the message is dropped, the flight continues."""
DATAGRAM_BYTES = 1400
"""Size of frames sent together: clients' receive buffers hold one packet (MAVSDK: 2048)."""


class MavlinkServer:
    """Reads commands and set-points for one autopilot and writes its telemetry.

    The autopilot's instance determines the system id. `n_bad`, `n_unsaid`: messages received
    damaged or with impossible numbers; due messages whose numbers did not fit. `senders`: external
    clients that commanded the vehicle. `has_output`: some outbox is not empty.
    """

    def __init__(self, autopilot: Autopilot) -> None:
        self.autopilot = autopilot
        self.system_id = autopilot.instance + 1
        self.links = [
            MavlinkChannel(OFFBOARD_HZ),
            MavlinkChannel(PAYLOAD_HZ),
            MavlinkChannel(GROUND_HZ),
        ]
        self.n_bad = self.n_unsaid = 0
        self.has_output = False
        self.senders = Senders()
        self._sender = ""
        self._condition: tuple[Any, ...] = ()
        self._mission_current: tuple[int, ...] = ()
        self._last_time_us = self._next_us = 0
        self._missions = MissionProtocol(autopilot, self._send)
        self._parameters = ParameterProtocol(autopilot, self._send)
        self._logs = LogProtocol(autopilot, self._send)
        self._requests = MessageRequests(autopilot, self._send, self._send_payload)
        self._handlers: dict[str, Callable[[MavlinkChannel, Any], None]] = {
            "HEARTBEAT": self._on_heartbeat,
            "COMMAND_LONG": self._on_command_long,
            "COMMAND_INT": self._on_command_int,
            "SET_MODE": self._on_set_mode,
            "TIMESYNC": self._on_timesync,
            "PING": self._on_ping,
            **MavlinkInputs(autopilot, self._send).handlers,
            **self._missions.handlers,
            **self._parameters.handlers,
            **self._logs.handlers,
            **FileProtocol(autopilot, self._send).handlers,
        }

    # --- in --------------------------------------------------------------------------------

    def on_datagram(self, link_index: int, data: bytes, sender: str = "") -> None:
        """Process a datagram; damaged frames are counted and dropped.

        `sender` is the address of an external client, whose commands are recorded.
        """
        link = self.links[link_index]
        self._sender = sender
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
            source = message.get_srcSystem(), message.get_srcComponent()
            self._handle(link, name, message, source)

    def _receive_one(self, link: MavlinkChannel, data: bytes) -> bool:
        """Process a datagram that is one frame of a frequent message; False when it is not."""
        if not data or data[0] != MAGIC or link.parser.buf_len():
            return False
        end, frame = read_frame(data, 0)
        if frame is None or end != len(data) or frame.message_id not in FREQUENT:
            return False
        layout = KNOWN[frame.message_id]
        source = frame.system_id, frame.component_id
        self._handle(link, layout.name, layout.record(frame.payload), source)
        return True

    def _handle(
        self, link: MavlinkChannel, name: str, message: Any, source: tuple[int, int]
    ) -> None:
        handler = self._handlers.get(name)
        if handler is None:
            return
        target = getattr(message, "target_system", self.system_id)
        component = getattr(message, "target_component", COMPONENT_ID)
        if target in (BROADCAST, self.system_id) and component in (BROADCAST, COMPONENT_ID):
            if self._sender and source != OPERATOR:
                self.senders.note(name, message, source, self._sender, self.autopilot.arrival_s)
            try:
                handler(link, message)
            except IMPOSSIBLE:
                self.n_bad += 1

    def _on_heartbeat(self, _: MavlinkChannel, message: Any) -> None:
        if message.type == TYPE_GROUND_STATION:
            self.autopilot.modes.failsafe.on_ground_station(self.autopilot.arrival_s)

    def _on_command_long(self, link: MavlinkChannel, message: Any) -> None:
        self._execute(link, message, commands.command_from_long(message))

    def _on_command_int(self, link: MavlinkChannel, message: Any) -> None:
        self._execute(link, message, commands.command_from_int(message))

    def _execute(
        self, link: MavlinkChannel, message: Any, command: commands.MavlinkCommand
    ) -> None:
        try:
            result = self._result_of(link, command)
        except IMPOSSIBLE:
            self.n_bad += 1
            result = commands.DENIED
        self._send(
            link, "COMMAND_ACK",
            command.number, result, 0, 0, message.get_srcSystem(), message.get_srcComponent(),
        )  # fmt: skip

    def _result_of(self, link: MavlinkChannel, command: commands.MavlinkCommand) -> int:
        """Execute a command; return MAV_RESULT."""
        if command.number in REQUESTS:
            return self._requests.answer(link, command)
        result, reason = commands.execute(self.autopilot, command)
        if reason and result != commands.UNSUPPORTED:
            self.autopilot.say(reason, is_warning=True)
        return result

    def _on_set_mode(self, link: MavlinkChannel, message: Any) -> None:
        """Answer SET_MODE, the old form of DO_SET_MODE; it has no acknowledgement of its own."""
        custom = message.custom_mode
        command = commands.MavlinkCommand(
            number=176, parameters=(message.base_mode, custom >> 16 & 0xFF, custom >> 24, 0.0)
        )
        self._execute(link, message, command)

    def _on_timesync(self, link: MavlinkChannel, message: Any) -> None:
        if message.tc1 == 0:
            self._send(link, "TIMESYNC", self.autopilot.time_us * 1000, message.ts1)

    def _on_ping(self, link: MavlinkChannel, message: Any) -> None:
        if message.target_system == 0:
            self._send(
                link, "PING",
                message.time_usec, message.seq, message.get_srcSystem(), message.get_srcComponent(),
            )  # fmt: skip

    # --- out -------------------------------------------------------------------------------

    def write_telemetry(self) -> None:
        """Write due messages to the outboxes; a change of mode or arming is reported at once."""
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
        is_busy = (
            self._missions.is_busy
            or self._logs.is_busy
            or any(link.parameters_to_send for link in self.links)
        )
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
        """Return the payloads of a message; none, and counted, where its numbers do not fit."""
        try:
            return payloads(name, self.autopilot, navigation)
        except IMPOSSIBLE:
            self.n_unsaid += 1
            return []

    def _write_once(self) -> None:
        """Write one-time messages: texts, progress of the mission, requested ones."""
        autopilot = self.autopilot
        reached = autopilot.modes.mission.reached
        current = mission_current(autopilot)
        has_news = autopilot.texts or reached or current != self._mission_current
        for link in self.links:
            if has_news and link.is_heard:
                for text in autopilot.texts:
                    content = text.text.encode()[:TEXT_LENGTH]
                    self._send(link, "STATUSTEXT", text.severity, content, 0, 0)
                for number in reached:
                    self._send(link, "MISSION_ITEM_REACHED", number)
                if current != self._mission_current:
                    self._send(link, "MISSION_CURRENT", *current)
            if link.parameters_to_send:
                self._parameters.send_next(link)
        self._mission_current = current
        self._logs.send_next()
        autopilot.texts.clear()
        reached.clear()

    def pop_datagrams(self, link_index: int) -> list[bytes]:
        """Return the data to send on a link, whole frames together, and empty its outbox."""
        datagrams: list[bytes] = []
        for frame in self.links[link_index].outbox:
            if datagrams and len(datagrams[-1]) + len(frame) <= DATAGRAM_BYTES:
                datagrams[-1] += frame
            else:
                datagrams.append(frame)
        self.links[link_index].outbox.clear()
        self.has_output = any(link.outbox for link in self.links)
        return datagrams

    def _send(self, link: MavlinkChannel, name: str, *values: Any) -> None:
        self._send_payload(link, name, LAYOUTS[name].pack(*values))

    def _send_payload(self, link: MavlinkChannel, name: str, content: bytes) -> None:
        frame = LAYOUTS[name].frame(
            content, sequence=link.sequence, system_id=self.system_id, component_id=COMPONENT_ID
        )
        link.outbox.append(frame)
        link.sequence += 1
        self.has_output = True
