# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""MAVLink 2: message layouts, framing, and a stream reader that survives garbage.

Ids, wire formats and checksum seeds are those of pymavlink's common dialect; its objects are not
used, since one costs about 20 us to build and pack. Only the messages in `KNOWN` are read or
written. Format: MAVLink developer guide, "Packet Serialization" (fetched 2026).
"""

import re
import struct
from typing import NamedTuple

from fastcrc import crc16
from pymavlink.dialects.v20 import common

HEARTBEAT = common.MAVLINK_MSG_ID_HEARTBEAT
SYS_STATUS = common.MAVLINK_MSG_ID_SYS_STATUS
ATTITUDE_QUATERNION = common.MAVLINK_MSG_ID_ATTITUDE_QUATERNION
GLOBAL_POSITION_INT = common.MAVLINK_MSG_ID_GLOBAL_POSITION_INT
MISSION_REQUEST = common.MAVLINK_MSG_ID_MISSION_REQUEST
MISSION_CURRENT = common.MAVLINK_MSG_ID_MISSION_CURRENT
MISSION_COUNT = common.MAVLINK_MSG_ID_MISSION_COUNT
MISSION_ITEM_REACHED = common.MAVLINK_MSG_ID_MISSION_ITEM_REACHED
MISSION_ACK = common.MAVLINK_MSG_ID_MISSION_ACK
SET_GPS_GLOBAL_ORIGIN = common.MAVLINK_MSG_ID_SET_GPS_GLOBAL_ORIGIN
MISSION_REQUEST_INT = common.MAVLINK_MSG_ID_MISSION_REQUEST_INT
MISSION_ITEM_INT = common.MAVLINK_MSG_ID_MISSION_ITEM_INT
RC_CHANNELS = common.MAVLINK_MSG_ID_RC_CHANNELS
COMMAND_LONG = common.MAVLINK_MSG_ID_COMMAND_LONG
COMMAND_ACK = common.MAVLINK_MSG_ID_COMMAND_ACK
SET_POSITION_TARGET_GLOBAL_INT = common.MAVLINK_MSG_ID_SET_POSITION_TARGET_GLOBAL_INT
HIL_ACTUATOR_CONTROLS = common.MAVLINK_MSG_ID_HIL_ACTUATOR_CONTROLS
HIL_SENSOR = common.MAVLINK_MSG_ID_HIL_SENSOR
HIL_GPS = common.MAVLINK_MSG_ID_HIL_GPS
HIL_OPTICAL_FLOW = common.MAVLINK_MSG_ID_HIL_OPTICAL_FLOW
HIL_STATE_QUATERNION = common.MAVLINK_MSG_ID_HIL_STATE_QUATERNION
DISTANCE_SENSOR = common.MAVLINK_MSG_ID_DISTANCE_SENSOR
BATTERY_STATUS = common.MAVLINK_MSG_ID_BATTERY_STATUS
ESTIMATOR_STATUS = common.MAVLINK_MSG_ID_ESTIMATOR_STATUS
EXTENDED_SYS_STATE = common.MAVLINK_MSG_ID_EXTENDED_SYS_STATE
NAMED_VALUE_FLOAT = common.MAVLINK_MSG_ID_NAMED_VALUE_FLOAT
STATUSTEXT = common.MAVLINK_MSG_ID_STATUSTEXT
ODOMETRY = common.MAVLINK_MSG_ID_ODOMETRY

MAGIC = 0xFD
HEADER_LENGTH = 10
CHECKSUM_LENGTH = 2
SIGNATURE_LENGTH = 13
SIGNED = 0x01

KNOWN: dict[int, tuple[int, int]] = {
    number: (common.mavlink_map[number].unpacker.size, common.mavlink_map[number].crc_extra)
    for number in (
        *(HEARTBEAT, SYS_STATUS, ATTITUDE_QUATERNION, GLOBAL_POSITION_INT, MISSION_REQUEST),
        *(MISSION_CURRENT, MISSION_COUNT, MISSION_ITEM_REACHED, MISSION_ACK),
        *(SET_GPS_GLOBAL_ORIGIN, MISSION_REQUEST_INT, MISSION_ITEM_INT, RC_CHANNELS),
        *(COMMAND_LONG, COMMAND_ACK, SET_POSITION_TARGET_GLOBAL_INT, HIL_ACTUATOR_CONTROLS),
        *(HIL_SENSOR, HIL_GPS, HIL_OPTICAL_FLOW),
        *(HIL_STATE_QUATERNION, DISTANCE_SENSOR, BATTERY_STATUS, ESTIMATOR_STATUS),
        *(EXTENDED_SYS_STATE, NAMED_VALUE_FLOAT, STATUSTEXT, ODOMETRY),
    )
}
"""Message id -> (full payload length [bytes], CRC_EXTRA) of common.xml."""

UNFINISHED = {
    "PROTOCOL_VERSION": (300, "<HHH8s8s", 217),
    "COMPONENT_METADATA": (397, "<II100s", 182),
    "COMPONENT_INFORMATION": (395, "<III100s100s", 0),
}
"""Messages that common.xml marks as work in progress, and pymavlink leaves out: id, wire format
and checksum seed. Ground stations ask for them."""

_MAX_BUFFER = 1 << 16
_CRC_EXTRA = {number: bytes((extra,)) for number, (_, extra) in KNOWN.items()}


class MessageLayout(NamedTuple):
    """A message on the wire: id, format, CRC_EXTRA, and its fields with their array lengths."""

    message_id: int
    wire: struct.Struct
    crc_extra: int
    fields: tuple[str, ...] = ()
    array_lengths: tuple[int, ...] = ()


def message_layout(name: str) -> MessageLayout:
    """Return the layout of a message of the common dialect, such as "HEARTBEAT"."""
    if name in UNFINISHED:
        number, wire, crc_extra = UNFINISHED[name]
        return MessageLayout(number, struct.Struct(wire), crc_extra)
    message = getattr(common, f"MAVLink_{name.lower()}_message")
    return MessageLayout(
        message.id,
        message.unpacker,
        message.crc_extra,
        tuple(message.ordered_fieldnames),
        tuple(message.array_lengths),
    )


def wire_format(message_id: int, n_fields: int | None = None) -> struct.Struct:
    """Return the wire layout of a message of the common dialect, or of its first fields.

    Examples
    --------
    >>> wire_format(BATTERY_STATUS, 4).format
    '<iih10H'
    """
    wire: struct.Struct = common.mavlink_map[message_id].unpacker
    if n_fields is None:
        return wire
    return struct.Struct("<" + "".join(re.findall(r"\d*[a-zA-Z]", wire.format)[:n_fields]))


class BadMessage(ValueError):
    """A frame with a correct checksum holds a value that is not finite or out of range."""


class MavlinkFrame(NamedTuple):
    """One checked MAVLink 2 frame; the payload is padded back to its full length."""

    message_id: int
    system_id: int
    component_id: int
    sequence: int
    payload: bytes


def checksum(body: bytes, message_id: int) -> int:
    """Return the checksum of a frame's bytes between the start sign and the checksum."""
    return crc16.mcrf4xx(body + _CRC_EXTRA[message_id])


def pack_frame(
    message_id: int, payload: bytes, *, sequence: int = 0, system_id: int, component_id: int
) -> bytes:
    """Return the bytes of one frame: header, payload without trailing zeros, checksum.

    The message id is one of `KNOWN`, the payload complete and in wire order; of `sequence`, the
    frame counter of the sender, only the last 8 bits are sent.
    """
    payload = payload.rstrip(b"\0") or b"\0"
    body = bytes(
        (
            len(payload),
            0,
            0,
            sequence & 0xFF,
            system_id,
            component_id,
            message_id & 0xFF,
            message_id >> 8 & 0xFF,
            message_id >> 16,
        )
    )
    body += payload
    return b"\xfd" + body + checksum(body, message_id).to_bytes(2, "little")


class FrameReader:
    """Split a byte stream into frames; skip and count everything but the known messages.

    A frame counts only when its id is known, its length fits and its checksum is right. A false
    start that claims more bytes than received never holds back a whole frame behind it.
    `n_skipped_bytes` counts garbage, other messages and damaged frames.
    """

    def __init__(self) -> None:
        self._buffer = b""
        self.n_skipped_bytes = 0

    @property
    def is_empty(self) -> bool:
        """Whether no part of an unfinished frame is buffered."""
        return not self._buffer

    def feed_bytes(self, data: bytes) -> list[MavlinkFrame]:
        """Append data and return the frames that are complete now, in order."""
        if not self._buffer and (frame := _only_frame(data)) is not None:
            return [frame]
        buffer = self._buffer + data if self._buffer else data
        frames: list[MavlinkFrame] = []
        start = unread_from = 0  # the first byte that may still belong to a frame
        is_open = False  # a plausible but unfinished frame begins at unread_from
        while (start := buffer.find(MAGIC, start)) >= 0:
            end = _frame_end(buffer, start)
            if end is None:
                start += 1
            elif end > len(buffer):
                if not is_open:
                    self.n_skipped_bytes += start - unread_from
                    unread_from, is_open = start, True
                start += 1
            elif (frame := checked_frame(buffer, start)) is not None:
                frames.append(frame)
                self.n_skipped_bytes += start - unread_from
                start = unread_from = end
                is_open = False
            else:
                start += 1
        if not is_open:
            self.n_skipped_bytes += len(buffer) - unread_from
            unread_from = len(buffer)
        self._buffer = buffer[max(unread_from, len(buffer) - _MAX_BUFFER) :]
        return frames


def _only_frame(data: bytes) -> MavlinkFrame | None:
    """Return the frame when data is exactly one: the usual case in lockstep, faster to check."""
    if len(data) > HEADER_LENGTH + CHECKSUM_LENGTH and data[0] == MAGIC:
        end = _frame_end(data, 0)
        if end == len(data):
            return checked_frame(data, 0)
    return None


def _frame_end(buffer: bytes, start: int) -> int | None:
    """Return where the frame at start would end, or None when no known frame starts there."""
    if len(buffer) < start + HEADER_LENGTH:
        return start + HEADER_LENGTH + CHECKSUM_LENGTH
    length, incompatible = buffer[start + 1], buffer[start + 2]
    known = KNOWN.get(int.from_bytes(buffer[start + 7 : start + 10], "little"))
    if known is None or not 1 <= length <= known[0] or incompatible & ~SIGNED:
        return None
    signature = SIGNATURE_LENGTH if incompatible & SIGNED else 0
    return start + HEADER_LENGTH + length + CHECKSUM_LENGTH + signature


def checked_frame(buffer: bytes, start: int) -> MavlinkFrame | None:
    """Return the whole frame of a known message that begins at start when its checksum holds."""
    length = buffer[start + 1]
    message_id = int.from_bytes(buffer[start + 7 : start + 10], "little")
    stop = start + HEADER_LENGTH + length
    found = buffer[stop] | buffer[stop + 1] << 8
    if checksum(buffer[start + 1 : stop], message_id) != found:
        return None
    payload = buffer[start + HEADER_LENGTH : stop].ljust(KNOWN[message_id][0], b"\0")
    return MavlinkFrame(
        message_id, buffer[start + 5], buffer[start + 6], buffer[start + 4], payload
    )
