# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The flight log: one ULog per flight, from arming to disarming, held in memory for download.

PX4 developer guide, "ULog File Format", version 1. Topics and fields are named as in PX4, so that
tools for its logs read these.
"""

import struct
from typing import Any

from aerotwin_autopilot.px4_modes import Mode

PERIOD_US = 100_000
LARGEST_BYTES = 32 << 20  # a log stops growing here: four hours of flight
MAGIC = b"ULog\x01\x12\x35\x01"
ARMED = 2
NAVIGATION_STATES = {
    Mode.ALTITUDE: 1, Mode.POSITION: 2, Mode.MISSION: 3, Mode.HOLD: 4, Mode.RETURN: 5,
    Mode.OFFBOARD: 14, Mode.STABILIZED: 15, Mode.TAKEOFF: 17, Mode.LAND: 18, Mode.ORBIT: 21,
}  # fmt: skip
"""`nav_state` of PX4's vehicle_status."""

TOPICS: dict[str, tuple[str, str]] = {
    "vehicle_local_position": (
        "<Qfffffff",
        "float x;float y;float z;float vx;float vy;float vz;float heading;",
    ),
    "vehicle_attitude": ("<Q4f", "float[4] q;"),
    "vehicle_local_position_setpoint": (
        "<Qfffffff",
        "float x;float y;float z;float vx;float vy;float vz;float yaw;",
    ),
    "battery_status": ("<Qfff", "float voltage_v;float current_a;float remaining;"),
    "vehicle_status": ("<QBB", "uint8_t arming_state;uint8_t nav_state;"),
}
"""Topic -> its layout, and its fields after the time stamp."""


def _message(kind: bytes, content: bytes) -> bytes:
    return struct.pack("<H", len(content)) + kind + content


def _header(time_us: int, system: str) -> bytes:
    """Return the definitions: flags, formats, source, numbers of the topics."""
    parts = [MAGIC, struct.pack("<Q", time_us), _message(b"B", bytes(40))]
    for name, (_, fields) in TOPICS.items():
        parts.append(_message(b"F", f"{name}:uint64_t timestamp;{fields}".encode()))
    for key, value in (("sys_name", "aerotwin"), ("ver_hw", system)):
        text = f"char[{len(value)}] {key}".encode()
        parts.append(_message(b"I", bytes((len(text),)) + text + value.encode()))
    for number, name in enumerate(TOPICS):
        parts.append(_message(b"A", struct.pack("<BH", 0, number) + name.encode()))
    return b"".join(parts)


class FlightLog:
    """The logs of this session, one ULog per flight; the last grows while the vehicle is armed."""

    def __init__(self, system: str) -> None:
        self._system = system
        self.files: list[bytearray] = []
        self._is_open = False
        self._due_us = 0
        self._layouts = [struct.Struct(layout) for layout, _ in TOPICS.values()]

    def step(self, time_us: int, *, is_armed: bool) -> bool:
        """Open or close a log with arming; return whether a row is due now."""
        if is_armed and not self._is_open:
            self.files.append(bytearray(_header(time_us, self._system)))
            self._due_us = time_us
        self._is_open = is_armed
        if not is_armed or time_us < self._due_us or len(self.files[-1]) > LARGEST_BYTES:
            return False
        self._due_us = time_us + PERIOD_US
        return True

    def add(self, time_us: int, *rows: tuple[Any, ...]) -> None:
        """Add one row of each topic, in their order."""
        log = self.files[-1]
        for number, (layout, row) in enumerate(zip(self._layouts, rows, strict=True)):
            data = struct.pack("<H", number) + layout.pack(time_us, *row)
            log += _message(b"D", data)

    def say(self, time_us: int, text: str, *, is_warning: bool) -> None:
        """Add a line of text, with the level of syslog."""
        if self._is_open and len(self.files[-1]) <= LARGEST_BYTES:
            level = b"4" if is_warning else b"6"
            self.files[-1] += _message(b"L", level + struct.pack("<Q", time_us) + text.encode())

    def erase(self) -> None:
        """Delete the logs of past flights."""
        del self.files[: len(self.files) - self._is_open]
