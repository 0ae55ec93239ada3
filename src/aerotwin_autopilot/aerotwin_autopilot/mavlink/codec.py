# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Frames of the telemetry: message layouts from pymavlink, packed without its objects.

A pymavlink message costs about 20 us to build and pack; at hundreds of messages per second and
twenty times real time that is the whole time budget of the flight.
"""

import struct
from types import SimpleNamespace

from pymavlink.dialects.v20.common import mcrf4xx, x25crc

from aerotwin_px4_bridge.mavlink2 import UNFINISHED, message_layout

_HEADER = struct.Struct("<BBBBBBB")


def _checksum(data: bytes) -> int:
    return mcrf4xx(data) if mcrf4xx is not None else x25crc(data).crc


def clipped(value: float, bits: int) -> int:
    """Return the nearest whole number that a signed field holds; its minimum means unknown."""
    limit = (1 << bits - 1) - 1
    return min(max(round(value), -limit), limit)


class Layout:
    """Id, wire format and checksum seed of one message of the common dialect."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.id, self._struct, seed, *_ = message_layout(name)
        self._seed = bytes((seed,))
        self._id_bytes = self.id.to_bytes(3, "little")

    def payload(self, *values: float | int | bytes) -> bytes:
        """Return the payload of values in wire order, trailing zeros cut."""
        return self._struct.pack(*values).rstrip(b"\0") or b"\0"

    def frame(self, payload: bytes, sequence: int, system_id: int, component_id: int) -> bytes:
        """Return the MAVLink 2 frame of a payload."""
        body = (
            bytes((len(payload), 0, 0, sequence & 0xFF, system_id, component_id))
            + self._id_bytes
            + payload
        )
        checksum = _checksum(body + self._seed)
        return b"\xfd" + body + checksum.to_bytes(2, "little")


class Reader:
    """Reads the payload of one frequent message into a plain record, ten times faster.

    A companion sends set-points at 50 Hz; pymavlink takes 60 us for each.
    """

    def __init__(self, name: str) -> None:
        layout = message_layout(name)
        self.name = name
        self._struct = layout.wire
        self._seed = bytes((layout.crc_extra,))
        self._fields = layout.fields
        self._spans = list(zip(layout.fields, layout.array_lengths, strict=True))
        self._has_arrays = any(layout.array_lengths)

    def read(self, frame: bytes) -> SimpleNamespace | None:
        """Return the fields of a frame, None when its length or its checksum is wrong."""
        end = len(frame) - 2
        size = self._struct.size
        if end - 10 > size or _checksum(frame[1:end] + self._seed) != int.from_bytes(
            frame[end:], "little"
        ):
            return None
        values = self._struct.unpack(frame[10:end].ljust(size, b"\0"))
        if not self._has_arrays:
            return SimpleNamespace(**dict(zip(self._fields, values, strict=True)))
        record, at = SimpleNamespace(), 0
        for field, n in self._spans:
            setattr(record, field, values[at : at + n] if n else values[at])
            at += n or 1
        return record


READERS = {
    reader_id: Reader(name)
    for reader_id, name in (
        (82, "SET_ATTITUDE_TARGET"),
        (84, "SET_POSITION_TARGET_LOCAL_NED"),
        (86, "SET_POSITION_TARGET_GLOBAL_INT"),
        (331, "ODOMETRY"),
    )
}
"""Message id -> reader of the messages that come often."""

NAMES = (
    "HEARTBEAT", "SYS_STATUS", "SYSTEM_TIME", "PING", "PARAM_VALUE", "GPS_RAW_INT", "ATTITUDE",
    "ATTITUDE_QUATERNION", "LOCAL_POSITION_NED", "GLOBAL_POSITION_INT", "MISSION_COUNT",
    "MISSION_ACK", "GPS_GLOBAL_ORIGIN", "VFR_HUD", "COMMAND_ACK", "POSITION_TARGET_LOCAL_NED",
    "HIGHRES_IMU", "TIMESYNC", "ALTITUDE", "BATTERY_STATUS", "AUTOPILOT_VERSION",
    "ESTIMATOR_STATUS", "HOME_POSITION", "MESSAGE_INTERVAL", "EXTENDED_SYS_STATE", "STATUSTEXT",
    "ODOMETRY", "MISSION_REQUEST_INT", "MISSION_ITEM_INT", "MISSION_CURRENT",
    "MISSION_ITEM_REACHED", "NAMED_VALUE_FLOAT", "MISSION_ITEM", "PARAM_ERROR", "LOG_ENTRY",
    "LOG_DATA", "FILE_TRANSFER_PROTOCOL", "ORBIT_EXECUTION_STATUS", "SERVO_OUTPUT_RAW",
    "SCALED_PRESSURE", "FLIGHT_INFORMATION", "STORAGE_INFORMATION",
    *UNFINISHED,
)  # fmt: skip
LAYOUTS = {name: Layout(name) for name in NAMES}
NAME_OF_ID = {layout.id: name for name, layout in LAYOUTS.items()}
