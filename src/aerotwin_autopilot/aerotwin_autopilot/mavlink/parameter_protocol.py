# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The MAVLink parameter protocol: list, read, set; integers travel as the bits of a float (PX4).

An unknown parameter is answered by PARAM_ERROR. PX4 v1.14 does not answer, and its clients
wait for their timeout.
"""

import struct
import zlib
from collections import deque
from collections.abc import Callable
from typing import Any

from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.mavlink.streams import MavlinkChannel, MavlinkProtocol
from aerotwin_autopilot.settings import INTEGERS, PX4_NAMES

REAL32, INT32, UINT32 = 9, 6, 5  # MAV_PARAM_TYPE
DOES_NOT_EXIST, READ_ONLY = 1, 5  # MAV_PARAM_ERROR
HASH = "_HASH_CHECK"
"""A checksum of all names and values: a client that has them need not request the rest."""
NO_INDEX = 0xFFFF
PER_STEP = 5
FIXED = {
    "CAL_ACC0_ID": 1310988, "CAL_GYRO0_ID": 1310988, "CAL_MAG0_ID": 197388,
    "SYS_AUTOSTART": 10016, "SYS_HITL": 0,
}  # fmt: skip
"""What PX4's simulation start-up says of calibration and airframe; clients take an id of 0 for a
sensor that is not calibrated."""


def parameter_name(raw: str | bytes) -> str:
    """Return a parameter name of at most 16 characters from the wire."""
    text = raw.decode("ascii", "replace") if isinstance(raw, bytes) else raw
    return text.split("\0")[0]


def _as_float(bits: bytes) -> float:
    return float(struct.unpack("<f", bits)[0])


class ParameterProtocol(MavlinkProtocol):
    """The autopilot's side of the protocol."""

    def __init__(self, autopilot: Autopilot, send: Callable[..., None]) -> None:
        super().__init__(autopilot, send)
        self._fixed = {**FIXED, "MAV_SYS_ID": autopilot.instance + 1}
        self.names = sorted({*PX4_NAMES, *self._fixed})

    def send_next(self, link: MavlinkChannel) -> None:
        """Send some of the parameters that a link has requested."""
        for _ in range(min(PER_STEP, len(link.parameters_to_send))):
            index = link.parameters_to_send.popleft()
            self._send_value(link, self.names[index]) if index >= 0 else self._send_hash(link)

    def _on_param_request_list(self, link: MavlinkChannel, _: Any) -> None:
        link.parameters_to_send = deque(range(-1, len(self.names)))

    def _on_param_request_read(self, link: MavlinkChannel, message: Any) -> None:
        index, name = message.param_index, parameter_name(message.param_id)
        if 0 <= index < len(self.names):
            self._send_value(link, self.names[index])
        elif index < 0 and name == HASH:
            self._send_hash(link)
        elif index < 0 and name in self.names:
            self._send_value(link, name)
        else:
            self._refuse(link, message, index, DOES_NOT_EXIST)

    def _on_param_set(self, link: MavlinkChannel, message: Any) -> None:
        """Change a setting; the answer is its value, the old one if the new was rejected."""
        name = parameter_name(message.param_id)
        if name == HASH:  # the client has them all
            link.parameters_to_send.clear()
        elif name not in self.names:
            self._refuse(link, message, -1, DOES_NOT_EXIST)
        elif name in self._fixed:
            self._refuse(link, message, -1, READ_ONLY)
        else:
            value = float(message.param_value)
            if name in INTEGERS and message.param_type == INT32:
                (value,) = struct.unpack("<i", struct.pack("<f", value))
            if not self._autopilot.modes.settings.set(name, value):
                self._autopilot.say(f"{name}: value out of range", is_warning=True)
            self._send_value(link, name)

    def _bits(self, name: str) -> bytes:
        if name in self._fixed:
            return struct.pack("<i", self._fixed[name])
        value = self._autopilot.modes.settings.get(name)
        return struct.pack("<i", round(value)) if name in INTEGERS else struct.pack("<f", value)

    def _send_value(self, link: MavlinkChannel, name: str) -> None:
        kind = INT32 if name in INTEGERS or name in self._fixed else REAL32
        self._send(
            link, "PARAM_VALUE", _as_float(self._bits(name)), len(self.names),
            self.names.index(name), name.encode(), kind,
        )  # fmt: skip

    def _send_hash(self, link: MavlinkChannel) -> None:
        total = zlib.crc32(b"".join(name.encode() + self._bits(name) for name in self.names))
        bits = struct.pack("<I", total)
        self._send(
            link, "PARAM_VALUE", _as_float(bits), len(self.names), NO_INDEX, HASH.encode(), UINT32
        )

    def _refuse(self, link: MavlinkChannel, message: Any, index: int, error: int) -> None:
        name = parameter_name(message.param_id).encode("ascii", "replace")[:16]
        self._send(
            link, "PARAM_ERROR", index, message.get_srcSystem(), message.get_srcComponent(),
            name, error,
        )  # fmt: skip
