# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""MAVLink 2: message layouts, framing, and a stream reader that survives garbage.

Ids, wire formats and checksum seeds are those of pymavlink's common dialect; its objects are not
used, since one costs about 20 us to build and pack. Format: MAVLink developer guide, "Packet
Serialization" (fetched 2026).
"""

import re
import struct
from types import SimpleNamespace
from typing import NamedTuple

from fastcrc import crc16
from pymavlink.dialects.v20 import common

MAGIC = 0xFD
HEADER_LENGTH = 10
CHECKSUM_LENGTH = 2
SIGNATURE_LENGTH = 13
SIGNED = 0x01
_MAX_BUFFER = 1 << 16

UNFINISHED = {
    "PROTOCOL_VERSION": (300, "<HHH8s8s", 217),
    "COMPONENT_METADATA": (397, "<II100s", 182),
    "COMPONENT_INFORMATION": (395, "<III100s100s", 0),
}
"""Messages that common.xml marks as work in progress, and pymavlink leaves out: id, wire format
and checksum seed. Ground stations ask for them."""

OF_ARDUPILOT = {
    "EKF_STATUS_REPORT": (
        193,
        "<fffffHf",
        71,
        ["velocity_variance", "pos_horiz_variance", "pos_vert_variance", "compass_variance",
         "terrain_alt_variance", "flags", "airspeed_variance"],
    )
}  # fmt: skip
"""Messages of ardupilotmega.xml, whose dialect is slow to import: as above, with their fields."""


class MessageLayout:
    """One message on the wire: its id, format, checksum seed and fields.

    The name is one of the common dialect, such as "HEARTBEAT", of `UNFINISHED` or `OF_ARDUPILOT`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        fields: list[str] = []
        if name in UNFINISHED:
            self.id, wire, self.crc_extra = UNFINISHED[name]
        elif name in OF_ARDUPILOT:
            self.id, wire, self.crc_extra, fields = OF_ARDUPILOT[name]
        else:
            message = getattr(common, f"MAVLink_{name.lower()}_message")
            self.id, wire, self.crc_extra = message.id, message.unpacker.format, message.crc_extra
            fields = message.ordered_fieldnames
        self.wire = struct.Struct(wire)
        self.size = self.wire.size
        self._seed = bytes((self.crc_extra,))
        self._id_bytes = self.id.to_bytes(3, "little")
        self._places: list[tuple[str, int | slice]] = []
        start = 0
        for field, item in zip(fields, re.findall(r"\d*[a-zA-Z]", wire)):
            n = int(item[:-1] or 1) if item[-1] != "s" else 1
            is_array = item[0].isdigit() and item[-1] != "s"
            self._places.append((field, slice(start, start + n) if is_array else start))
            start += n

    def pack(self, *values: float | bytes) -> bytes:
        """Return the payload of values in wire order.

        Raises ValueError if a value does not fit its field.
        """
        try:
            return self.wire.pack(*values)
        except (struct.error, OverflowError) as error:
            raise ValueError(f"a value does not fit {self.name}: {error}") from error

    def record(self, payload: bytes) -> SimpleNamespace:
        """Return the fields of a payload of full length; arrays are tuples, texts are bytes."""
        values = self.wire.unpack_from(payload)
        return SimpleNamespace(**{field: values[place] for field, place in self._places})

    def frame(
        self, payload: bytes, *, sequence: int = 0, system_id: int, component_id: int
    ) -> bytes:
        """Return one frame: header, payload without trailing zeros, checksum.

        Of `sequence`, the frame counter of the sender, only the last 8 bits are sent.
        """
        payload = payload.rstrip(b"\0") or b"\0"
        header = bytes((len(payload), 0, 0, sequence & 0xFF, system_id, component_id))
        body = header + self._id_bytes + payload
        return b"\xfd" + body + self.checksum(body).to_bytes(2, "little")

    def checksum(self, body: bytes) -> int:
        """Return the checksum of a frame's bytes between the start sign and the checksum."""
        return crc16.mcrf4xx(body + self._seed)


KNOWN: dict[int, MessageLayout] = {}  # the messages that are read, by id; all others are skipped


def _known(name: str) -> int:
    layout = MessageLayout(name)
    KNOWN[layout.id] = layout
    return layout.id


HEARTBEAT = _known("HEARTBEAT")
SYS_STATUS = _known("SYS_STATUS")
ATTITUDE_QUATERNION = _known("ATTITUDE_QUATERNION")
GLOBAL_POSITION_INT = _known("GLOBAL_POSITION_INT")
MISSION_REQUEST = _known("MISSION_REQUEST")
MISSION_CURRENT = _known("MISSION_CURRENT")
MISSION_COUNT = _known("MISSION_COUNT")
MISSION_ITEM_REACHED = _known("MISSION_ITEM_REACHED")
MISSION_ACK = _known("MISSION_ACK")
EKF_STATUS_REPORT = _known("EKF_STATUS_REPORT")
SET_GPS_GLOBAL_ORIGIN = _known("SET_GPS_GLOBAL_ORIGIN")
MISSION_REQUEST_INT = _known("MISSION_REQUEST_INT")
MISSION_ITEM_INT = _known("MISSION_ITEM_INT")
RC_CHANNELS = _known("RC_CHANNELS")
COMMAND_INT = _known("COMMAND_INT")
COMMAND_LONG = _known("COMMAND_LONG")
COMMAND_ACK = _known("COMMAND_ACK")
SET_ATTITUDE_TARGET = _known("SET_ATTITUDE_TARGET")
SET_POSITION_TARGET_LOCAL_NED = _known("SET_POSITION_TARGET_LOCAL_NED")
SET_POSITION_TARGET_GLOBAL_INT = _known("SET_POSITION_TARGET_GLOBAL_INT")
HIL_ACTUATOR_CONTROLS = _known("HIL_ACTUATOR_CONTROLS")
HIL_SENSOR = _known("HIL_SENSOR")
HIL_GPS = _known("HIL_GPS")
HIL_OPTICAL_FLOW = _known("HIL_OPTICAL_FLOW")
HIL_STATE_QUATERNION = _known("HIL_STATE_QUATERNION")
DISTANCE_SENSOR = _known("DISTANCE_SENSOR")
BATTERY_STATUS = _known("BATTERY_STATUS")
ESTIMATOR_STATUS = _known("ESTIMATOR_STATUS")
EXTENDED_SYS_STATE = _known("EXTENDED_SYS_STATE")
NAMED_VALUE_FLOAT = _known("NAMED_VALUE_FLOAT")
STATUSTEXT = _known("STATUSTEXT")
VISION_POSITION_ESTIMATE = _known("VISION_POSITION_ESTIMATE")
ODOMETRY = _known("ODOMETRY")


class BadMessage(ValueError):
    """A frame with a correct checksum holds a value that is not finite or out of range."""


class MavlinkFrame(NamedTuple):
    """One checked MAVLink 2 frame; the payload is padded back to its full length."""

    message_id: int
    system_id: int
    component_id: int
    sequence: int
    payload: bytes


def pack_frame(
    message_id: int, payload: bytes, *, sequence: int = 0, system_id: int, component_id: int
) -> bytes:
    """Return one frame of a message in `KNOWN`; see `MessageLayout.frame`."""
    return KNOWN[message_id].frame(
        payload, sequence=sequence, system_id=system_id, component_id=component_id
    )


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
        if not self._buffer and data and data[0] == MAGIC:  # one whole frame, as in lockstep
            end, frame = read_frame(data, 0)
            if frame is not None and end == len(data):
                return [frame]
        buffer = self._buffer + data if self._buffer else data
        frames: list[MavlinkFrame] = []
        start = unread_from = 0  # the first byte that may still belong to a frame
        is_open = False  # a plausible but unfinished frame begins at unread_from
        while (start := buffer.find(MAGIC, start)) >= 0:
            end, frame = read_frame(buffer, start)
            if frame is not None:
                frames.append(frame)
                self.n_skipped_bytes += start - unread_from
                start = unread_from = end
                is_open = False
                continue
            if end > len(buffer) and not is_open:
                self.n_skipped_bytes += start - unread_from
                unread_from, is_open = start, True
            start += 1
        if not is_open:
            self.n_skipped_bytes += len(buffer) - unread_from
            unread_from = len(buffer)
        self._buffer = buffer[max(unread_from, len(buffer) - _MAX_BUFFER) :]
        return frames


def read_frame(buffer: bytes, start: int) -> tuple[int, MavlinkFrame | None]:
    """Return the end of the frame that begins at start, and the frame if it is whole and intact.

    The end is 0 where no known frame begins, and beyond the buffer where the frame is unfinished.
    Fields that a newer sender appends to those known here are cut.
    """
    if len(buffer) < start + HEADER_LENGTH:
        return start + HEADER_LENGTH + CHECKSUM_LENGTH, None
    message_id = buffer[start + 7] | buffer[start + 8] << 8 | buffer[start + 9] << 16
    layout, length, incompatible = KNOWN.get(message_id), buffer[start + 1], buffer[start + 2]
    if layout is None or length == 0 or incompatible & ~SIGNED:
        return 0, None
    stop = start + HEADER_LENGTH + length
    end = stop + CHECKSUM_LENGTH + (SIGNATURE_LENGTH if incompatible else 0)
    if end > len(buffer):
        return end, None
    if layout.checksum(buffer[start + 1 : stop]) != buffer[stop] | buffer[stop + 1] << 8:
        return end, None
    payload = buffer[start + HEADER_LENGTH : stop][: layout.size].ljust(layout.size, b"\0")
    return end, MavlinkFrame(
        message_id, buffer[start + 5], buffer[start + 6], buffer[start + 4], payload
    )


def split_datagram(data: bytes) -> list[MavlinkFrame]:
    """Return the frames of a datagram; those of unknown messages have an empty payload.

    A known message with a wrong checksum is left out; the datagram ends at the first byte that
    begins no frame.
    """
    frames = []
    start, n = 0, len(data)
    while start + HEADER_LENGTH + CHECKSUM_LENGTH <= n and data[start] == MAGIC:
        end, frame = read_frame(data, start)
        if end == 0:
            message_id = int.from_bytes(data[start + 7 : start + 10], "little")
            frame = MavlinkFrame(message_id, data[start + 5], data[start + 6], data[start + 4], b"")
            end = start + HEADER_LENGTH + data[start + 1] + CHECKSUM_LENGTH
            end += SIGNATURE_LENGTH if data[start + 2] & SIGNED else 0
        if end > n:
            break
        if frame is not None:
            frames.append(frame)
        start = end
    return frames
