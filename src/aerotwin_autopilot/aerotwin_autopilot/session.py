# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One autopilot on one HIL link: frames in, one answer per sample, telemetry between."""

import socket
import sys
from collections.abc import Iterator
from typing import TextIO

import numpy as np

from aerotwin_autopilot.arena import StepMemory
from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.manual_control import sticks_from_pulses
from aerotwin_autopilot.mavlink import MavlinkServer
from aerotwin_autopilot.parameters import AutopilotParameters
from aerotwin_autopilot.udp_links import UdpLinks
from aerotwin_px4_bridge.hil_kernels import ANSWER_BYTES, pack_answer
from aerotwin_px4_bridge.mavlink2 import (
    BATTERY_STATUS,
    HIL_GPS,
    HIL_SENSOR,
    KNOWN,
    RC_CHANNELS,
    BadMessage,
    FrameReader,
)
from aerotwin_px4_bridge.messages import parse_hil_gps, read_lone_sensor

RECEIVE_BYTES = 65536
_UNKNOWN_MV = 65535


class Session:
    """One autopilot on one HIL link, from the first sample to the last.

    External clients that command the vehicle are written to `log`, by default standard output.
    `memory` is that of `Autopilot`.
    """

    def __init__(
        self,
        parameters: AutopilotParameters,
        instance: int,
        log: TextIO | None = None,
        memory: StepMemory | None = None,
    ) -> None:
        self.autopilot = Autopilot(parameters, instance, memory)
        self.server = MavlinkServer(self.autopilot)
        self.n_bad = 0
        self._reader = FrameReader()
        self._answer = np.empty(ANSWER_BYTES, np.uint8)
        self._sequence = 0
        self._log = sys.stdout if log is None else log

    def run(self, link: socket.socket, udp: UdpLinks) -> None:
        """Answer every HIL_SENSOR until the simulator closes the link."""
        while data := receive(link, RECEIVE_BYTES):
            for answer in self.answers(data, udp):
                if not is_sent(link, answer):
                    return

    def answers(self, data: bytes, udp: UdpLinks) -> Iterator[bytes]:
        """Process data of the link; yield the answer to each HIL_SENSOR, after its telemetry."""
        for message_id, payload in self.frames(data):
            if message_id == HIL_SENSOR:
                self._hear(udp)
                answer = self.answer(payload)
                udp.flush(self.server)  # a client that waits for the answer has all telemetry
                yield answer
            else:
                self.on_message(message_id, payload)

    def prepare(self, time_us: int, udp: UdpLinks) -> tuple[bool, int, float] | None:
        """Prepare the answer to a HIL_SENSOR that came alone, made by `kernel.step_together`.

        Returns whether the vehicle is armed, the number of its answer, and the duration of the step
        [s]; `complete` follows. None if it must be answered by `answers`.
        """
        if not self._reader.is_empty:
            return None
        self._hear(udp)
        if not self.autopilot.can_step_together(time_us):
            return None
        duration_s = self.autopilot.prepare(time_us)
        self._sequence += 1
        return self.autopilot.modes.is_armed, self._sequence, duration_s

    def complete(self, time_us: int, fields: int, udp: UdpLinks, *, is_read: bool) -> None:
        """Send the telemetry of a step for which all is prepared."""
        self.n_bad += not self.autopilot.complete(time_us, fields, is_read=is_read)
        self.server.write_telemetry()
        udp.flush(self.server)

    def _hear(self, udp: UdpLinks) -> None:
        """Process what clients sent."""
        udp.drain(self.server)
        if self.server.senders.unsaid:
            self._write_commanders()

    def _write_commanders(self) -> None:
        """Log external clients that command the vehicle, at once: the log outlives a crash."""
        unsaid = self.server.senders.unsaid
        while unsaid:
            self._log.write(f"{unsaid.pop(0).line()}\n")
            self._log.flush()

    def frames(self, data: bytes) -> list[tuple[int, bytes]]:
        """Return (message id, full payload) of the frames that are complete now, in order."""
        if self._reader.is_empty and (payload := read_lone_sensor(data)) is not None:
            return [(HIL_SENSOR, payload)]
        return [(frame.message_id, frame.payload) for frame in self._reader.feed_bytes(data)]

    def on_message(self, message_id: int, payload: bytes) -> None:
        """Process messages other than samples; an impossible one is counted and dropped."""
        try:
            if message_id == HIL_GPS:
                self.autopilot.on_gnss_fix(parse_hil_gps(payload))
            elif message_id == BATTERY_STATUS:
                self._on_battery(payload)
            elif message_id == RC_CHANNELS:
                radio = KNOWN[RC_CHANNELS].record(payload)
                pulses_us = radio.chan1_raw, radio.chan2_raw, radio.chan3_raw, radio.chan4_raw
                self.autopilot.on_sticks(sticks_from_pulses(pulses_us))
        except BadMessage:
            self.n_bad += 1

    def _on_battery(self, payload: bytes) -> None:
        battery = KNOWN[BATTERY_STATUS].record(payload)
        cells = [mv for mv in battery.voltages if mv != _UNKNOWN_MV]
        self.autopilot.on_battery(
            battery.battery_remaining * 0.01, sum(cells) * 1e-3, battery.current_battery * 0.01
        )

    def answer(self, payload: bytes) -> bytes:
        """Return the HIL_ACTUATOR_CONTROLS to a HIL_SENSOR payload; telemetry is in the outboxes.

        A rejected sample is answered with the last commands, because the simulator waits for an
        answer.
        """
        autopilot, answer = self.autopilot, self._answer
        if not autopilot.on_sensor_payload(payload):
            self.n_bad += 1
        self.server.write_telemetry()
        self._sequence += 1
        pack_answer(
            answer, int.from_bytes(payload[:8], "little"), autopilot.outputs,
            autopilot.modes.is_armed, self._sequence, self.server.system_id,
        )  # fmt: skip
        return answer.tobytes()


def receive(link: socket.socket, most_bytes: int) -> bytes:
    """Return what arrives next on a link; nothing when the simulator has closed it."""
    try:
        return link.recv(most_bytes)
    except ConnectionResetError:
        return b""


def is_sent(link: socket.socket, data: bytes) -> bool:
    """Send data on a link; return False when the simulator has closed it."""
    try:
        link.sendall(data)
    except ConnectionError:
        return False
    return True
