# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages of an autopilot's onboard link, read by `struct`.

A general MAVLink library makes an object with all fields of every message; only the messages and
fields that a mission and the simulator need are read here, because an autopilot sends some hundred
messages per simulated second. Values are as on the wire: NED, FRD, 1e7 degrees; `OnboardLink`
converts them.

References
----------
MAVLink common.xml, messages 0, 1, 31, 33, 40, 42, 46, 47, 51, 77, 230, 245, 251, 253, 331.
"""

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from aerotwin_core.foreign_text import printable
from aerotwin_px4_bridge.mavlink2 import (
    ATTITUDE_QUATERNION,
    CHECKSUM_LENGTH,
    COMMAND_ACK,
    ESTIMATOR_STATUS,
    EXTENDED_SYS_STATE,
    GLOBAL_POSITION_INT,
    HEADER_LENGTH,
    HEARTBEAT,
    KNOWN,
    MAGIC,
    MISSION_ACK,
    MISSION_CURRENT,
    MISSION_ITEM_REACHED,
    MISSION_REQUEST,
    MISSION_REQUEST_INT,
    NAMED_VALUE_FLOAT,
    SIGNATURE_LENGTH,
    SIGNED,
    STATUSTEXT,
    SYS_STATUS,
    MavlinkFrame,
    checked_frame,
    wire_format,
)


class Heartbeat(NamedTuple):
    """HEARTBEAT (0)."""

    custom_mode: int
    mav_type: int
    autopilot: int
    base_mode: int


class SystemStatus(NamedTuple):
    """SYS_STATUS (1): bits of healthy sensors and checks."""

    health: int


class Attitude(NamedTuple):
    """ATTITUDE_QUATERNION (31): body FRD in NED, body rates [rad/s]."""

    time_boot_ms: int
    quat_wxyz: tuple[float, float, float, float]
    rates_frd: tuple[float, float, float]


class GlobalPosition(NamedTuple):
    """GLOBAL_POSITION_INT (33): 1e7 degrees, mm, cm/s NED."""

    time_boot_ms: int
    latitude_1e7_deg: int
    longitude_1e7_deg: int
    altitude_mm: int
    v_ned_cm_s: tuple[int, int, int]


class CommandAck(NamedTuple):
    """COMMAND_ACK (77)."""

    command: int
    result: int


class MissionProgress(NamedTuple):
    """MISSION_REQUEST(_INT) (40, 51), MISSION_CURRENT (42) and MISSION_ITEM_REACHED (46)."""

    item: int


class MissionAck(NamedTuple):
    """MISSION_ACK (47)."""

    result: int


class EstimatorStatus(NamedTuple):
    """ESTIMATOR_STATUS (230): innovations over their gates, 1 is the limit; accuracies [m]."""

    time_us: int
    velocity_ratio: float
    horizontal_position_ratio: float
    vertical_position_ratio: float
    magnetometer_ratio: float
    height_above_ground_ratio: float
    airspeed_ratio: float
    horizontal_accuracy_m: float
    vertical_accuracy_m: float
    flags: int


class NamedValue(NamedTuple):
    """NAMED_VALUE_FLOAT (251)."""

    name: str
    value: float


class StatusText(NamedTuple):
    """STATUSTEXT (253), severity as in syslog."""

    severity: int
    text: str


def split_datagram(data: bytes) -> list[MavlinkFrame]:
    """Return the frames of a datagram; those of unknown messages have an empty payload.

    A known message with a wrong checksum is left out; the datagram ends at the first byte that
    begins no frame. A newer sender may append fields to those known here.
    """
    frames = []
    start, n = 0, len(data)
    while start + HEADER_LENGTH + CHECKSUM_LENGTH <= n and data[start] == MAGIC:
        end = start + HEADER_LENGTH + data[start + 1] + CHECKSUM_LENGTH
        end += SIGNATURE_LENGTH if data[start + 2] & SIGNED else 0
        if end > n:
            break
        message_id = int.from_bytes(data[start + 7 : start + 10], "little")
        if message_id not in KNOWN:
            frames.append(
                MavlinkFrame(message_id, data[start + 5], data[start + 6], data[start + 4], b"")
            )
        elif (frame := checked_frame(data, start)) is not None:
            frames.append(frame)
        start = end
    return frames


_HEARTBEAT = wire_format(HEARTBEAT, 4)
_POSITION = wire_format(GLOBAL_POSITION_INT, 8)
_ATTITUDE = wire_format(ATTITUDE_QUATERNION, 8)
_ESTIMATOR = wire_format(ESTIMATOR_STATUS)
_COMMAND_ACK = wire_format(COMMAND_ACK, 2)


def _attitude(payload: bytes) -> Attitude:
    time_boot_ms, *values = _ATTITUDE.unpack_from(payload)
    return Attitude(time_boot_ms, tuple(values[:4]), tuple(values[4:]))


def _position(payload: bytes) -> GlobalPosition:
    time_boot_ms, latitude, longitude, altitude, _, *velocity = _POSITION.unpack_from(payload)
    return GlobalPosition(time_boot_ms, latitude, longitude, altitude, tuple(velocity))


def _text(field: bytes) -> str:
    return printable(field.partition(b"\0")[0].decode("utf-8", "replace").strip())


DECODERS: dict[int, Callable[[bytes], Any]] = {
    HEARTBEAT: lambda payload: Heartbeat._make(_HEARTBEAT.unpack_from(payload)),
    SYS_STATUS: lambda payload: SystemStatus(int.from_bytes(payload[8:12], "little")),
    ATTITUDE_QUATERNION: _attitude,
    GLOBAL_POSITION_INT: _position,
    COMMAND_ACK: lambda payload: CommandAck._make(_COMMAND_ACK.unpack_from(payload)),
    MISSION_REQUEST: lambda payload: MissionProgress(int.from_bytes(payload[:2], "little")),
    MISSION_REQUEST_INT: lambda payload: MissionProgress(int.from_bytes(payload[:2], "little")),
    MISSION_CURRENT: lambda payload: MissionProgress(int.from_bytes(payload[:2], "little")),
    MISSION_ITEM_REACHED: lambda payload: MissionProgress(int.from_bytes(payload[:2], "little")),
    MISSION_ACK: lambda payload: MissionAck(payload[2]),
    ESTIMATOR_STATUS: lambda payload: EstimatorStatus._make(_ESTIMATOR.unpack_from(payload)),
    EXTENDED_SYS_STATE: lambda payload: payload[1],
    NAMED_VALUE_FLOAT: lambda payload: NamedValue(
        _text(payload[8:18]), struct.unpack_from("<f", payload, 4)[0]
    ),
    STATUSTEXT: lambda payload: StatusText(payload[0], _text(payload[1:51])),
}
"""Message id -> reader of a payload of full length. EXTENDED_SYS_STATE gives the landed state."""
