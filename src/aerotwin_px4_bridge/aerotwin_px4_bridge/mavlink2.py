# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""MAVLink 2 framing: header, zero truncation, checksum, and a stream reader that survives garbage.

Only the messages of the HIL link are known here; everything slower goes through pymavlink.
Format: MAVLink developer guide, "Packet Serialization" (fetched 2026).
"""

from dataclasses import dataclass

from fastcrc import crc16

HEARTBEAT = 0
COMMAND_LONG = 76
HIL_ACTUATOR_CONTROLS = 93
HIL_SENSOR = 107
HIL_GPS = 113

MAGIC = 0xFD
HEADER_LENGTH = 10
CHECKSUM_LENGTH = 2
SIGNATURE_LENGTH = 13
SIGNED = 0x01

KNOWN: dict[int, tuple[int, int]] = {
    HEARTBEAT: (9, 50),
    COMMAND_LONG: (33, 152),
    HIL_ACTUATOR_CONTROLS: (81, 47),
    HIL_SENSOR: (65, 108),
    HIL_GPS: (39, 124),
}
"""Message id -> (full payload length [bytes], CRC_EXTRA) of common.xml."""

_MAX_BUFFER = 1 << 16


@dataclass(frozen=True, slots=True)
class Frame:
    """One checked MAVLink 2 frame; the payload is padded back to its full length."""

    message_id: int
    system_id: int
    component_id: int
    sequence: int
    payload: bytes


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
    crc_extra = KNOWN[message_id][1]
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
    checksum = crc16.mcrf4xx(body + crc_extra.to_bytes(1, "little"))
    return b"\xfd" + body + checksum.to_bytes(2, "little")


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

    def feed(self, data: bytes) -> list[Frame]:
        """Append data and return the frames that are complete now, in order."""
        buffer = self._buffer + data if self._buffer else data
        frames: list[Frame] = []
        start = kept = 0  # kept: the first byte that may still belong to a frame
        is_open = False  # a plausible but unfinished frame begins at kept
        while (start := buffer.find(MAGIC, start)) >= 0:
            end = _frame_end(buffer, start)
            if end is None:
                start += 1
            elif end > len(buffer):
                if not is_open:
                    self.n_skipped_bytes += start - kept
                    kept, is_open = start, True
                start += 1
            elif (frame := _checked_frame(buffer, start, end)) is not None:
                frames.append(frame)
                self.n_skipped_bytes += start - kept
                start = kept = end
                is_open = False
            else:
                start += 1
        if not is_open:
            self.n_skipped_bytes += len(buffer) - kept
            kept = len(buffer)
        self._buffer = buffer[max(kept, len(buffer) - _MAX_BUFFER) :]
        return frames


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


def _checked_frame(buffer: bytes, start: int, end: int) -> Frame | None:
    """Return the frame in buffer[start:end] when its checksum holds."""
    length = buffer[start + 1]
    message_id = int.from_bytes(buffer[start + 7 : start + 10], "little")
    full_length, crc_extra = KNOWN[message_id]
    stop = start + HEADER_LENGTH + length
    checksum = crc16.mcrf4xx(buffer[start + 1 : stop] + crc_extra.to_bytes(1, "little"))
    if checksum != int.from_bytes(buffer[stop : stop + CHECKSUM_LENGTH], "little"):
        return None
    payload = buffer[start + HEADER_LENGTH : stop].ljust(full_length, b"\0")
    return Frame(message_id, buffer[start + 5], buffer[start + 6], buffer[start + 4], payload)
