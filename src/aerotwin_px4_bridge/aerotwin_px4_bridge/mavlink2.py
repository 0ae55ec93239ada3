# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""MAVLink 2 framing: header, zero truncation, checksum, and a stream reader that survives garbage.

Only the messages that are known here are read or written. Format: MAVLink developer guide, "Packet
Serialization" (fetched 2026).
"""

from typing import NamedTuple

from fastcrc import crc16

HEARTBEAT = 0
SYS_STATUS = 1
ATTITUDE_QUATERNION = 31
GLOBAL_POSITION_INT = 33
MISSION_REQUEST = 40
MISSION_CURRENT = 42
MISSION_COUNT = 44
MISSION_ITEM_REACHED = 46
MISSION_ACK = 47
SET_GPS_GLOBAL_ORIGIN = 48
MISSION_REQUEST_INT = 51
MISSION_ITEM_INT = 73
RC_CHANNELS = 65
COMMAND_LONG = 76
COMMAND_ACK = 77
SET_POSITION_TARGET_GLOBAL_INT = 86
HIL_ACTUATOR_CONTROLS = 93
VISION_POSITION_ESTIMATE = 102
HIL_SENSOR = 107
HIL_GPS = 113
HIL_OPTICAL_FLOW = 114
HIL_STATE_QUATERNION = 115
DISTANCE_SENSOR = 132
BATTERY_STATUS = 147
ESTIMATOR_STATUS = 230
EXTENDED_SYS_STATE = 245
NAMED_VALUE_FLOAT = 251
STATUSTEXT = 253
ODOMETRY = 331

MAGIC = 0xFD
HEADER_LENGTH = 10
CHECKSUM_LENGTH = 2
SIGNATURE_LENGTH = 13
SIGNED = 0x01

KNOWN: dict[int, tuple[int, int]] = {
    HEARTBEAT: (9, 50),
    SYS_STATUS: (43, 124),
    ATTITUDE_QUATERNION: (48, 246),
    GLOBAL_POSITION_INT: (28, 104),
    MISSION_REQUEST: (5, 230),
    MISSION_CURRENT: (6, 28),
    MISSION_COUNT: (5, 221),
    MISSION_ITEM_REACHED: (2, 11),
    MISSION_ACK: (4, 153),
    SET_GPS_GLOBAL_ORIGIN: (21, 41),
    MISSION_REQUEST_INT: (5, 196),
    MISSION_ITEM_INT: (38, 38),
    RC_CHANNELS: (42, 118),
    COMMAND_LONG: (33, 152),
    COMMAND_ACK: (10, 143),
    SET_POSITION_TARGET_GLOBAL_INT: (53, 5),
    HIL_ACTUATOR_CONTROLS: (81, 47),
    VISION_POSITION_ESTIMATE: (117, 158),
    HIL_SENSOR: (65, 108),
    HIL_GPS: (39, 124),
    HIL_OPTICAL_FLOW: (44, 237),
    HIL_STATE_QUATERNION: (64, 4),
    DISTANCE_SENSOR: (39, 85),
    BATTERY_STATUS: (54, 154),
    ESTIMATOR_STATUS: (42, 163),
    EXTENDED_SYS_STATE: (2, 130),
    NAMED_VALUE_FLOAT: (18, 170),
    STATUSTEXT: (54, 83),
    ODOMETRY: (233, 91),
}
"""Message id -> (full payload length [bytes], CRC_EXTRA) of common.xml."""

_MAX_BUFFER = 1 << 16
_CRC_EXTRA = {number: bytes((extra,)) for number, (_, extra) in KNOWN.items()}


class BadMessage(ValueError):
    """A frame with a right checksum says something impossible: not finite or out of range."""


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
    """Return the bytes of one frame: trailing zeros cut, header before, checksum behind.

    Parameters
    ----------
    message_id : int
        One of `KNOWN`.
    payload : bytes
        The full payload in wire order.
    sequence : int
        Frame counter of the sender; only its last 8 bits are sent.
    system_id, component_id : int
        Who sends.
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
    """Cut a byte stream into frames; skip and count what is not one of the known messages.

    A frame counts only when its id is known, its length fits and its checksum is right. A false
    start that claims more bytes than have come never holds back a whole frame behind it.

    Attributes
    ----------
    n_skipped_bytes : int
        Bytes that belonged to no known frame: garbage, other messages, damaged frames.
    """

    def __init__(self) -> None:
        self._buffer = b""
        self.n_skipped_bytes = 0

    @property
    def is_empty(self) -> bool:
        """Whether no piece of an unfinished frame is kept."""
        return not self._buffer

    def feed_bytes(self, data: bytes) -> list[MavlinkFrame]:
        """Append data and return the frames that are complete now, in order."""
        if not self._buffer and (frame := _only_frame(data)) is not None:
            return [frame]
        buffer = self._buffer + data if self._buffer else data
        frames: list[MavlinkFrame] = []
        start = unread_from = 0  # kept: the first byte that may still belong to a frame
        is_open = False  # a plausible but unfinished frame begins at kept
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
    """Return the frame when data is exactly one: what comes in lockstep, and quicker to see."""
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
