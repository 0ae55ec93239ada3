# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The records of an MCAP file as Python values; their content is not trusted.

References
----------
MCAP format specification, https://mcap.dev/spec.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from aerotwin_core.bag.compression import most_at_once

MAGIC = b"\x89MCAP0\r\n"
HEAD = struct.Struct("<BQ")
"""Opcode and length of the content that follows."""
MESSAGE_HEAD = struct.Struct("<HIQQ")
CHUNK_HEAD = struct.Struct("<QQQI")
FOOTER = struct.Struct("<QQI")
STATISTICS = struct.Struct("<QHIIIIQQ")
CHUNK_INDEX = struct.Struct("<QQQQ")
_CHANNEL_OFFSET = struct.Struct("<HQ")
_COMPRESSIONS = ("", "lz4", "zstd")
_N_FREE_RECORDS = 1000
MOST_METADATA_BYTES = 1 << 20
"""Of a metadata record that is read: the sensors of a vehicle take 3 kB."""


class Opcode(IntEnum):
    """The kinds of records. The package `mcap` has them as well, and adds 24 MB of zstandard."""

    HEADER = 0x01
    FOOTER = 0x02
    SCHEMA = 0x03
    CHANNEL = 0x04
    MESSAGE = 0x05
    CHUNK = 0x06
    MESSAGE_INDEX = 0x07
    CHUNK_INDEX = 0x08
    STATISTICS = 0x0B
    METADATA = 0x0C
    METADATA_INDEX = 0x0D
    SUMMARY_OFFSET = 0x0E
    DATA_END = 0x0F


class DamagedRecordError(ValueError):
    """A record does not have the content of its kind."""


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A topic of the file and the number of its schema."""

    topic: str
    encoding: str
    schema: int


@dataclass(frozen=True, kw_only=True)
class Schema:
    """Name, format and text of a message definition."""

    name: str
    encoding: str
    text: str


@dataclass(frozen=True, kw_only=True)
class McapBlock:
    """A range of the file with messages: a chunk, or records outside of any (`is_chunk` False).

    `start` is the offset of the record, or of the first of the records; `stop` that of the end.
    `channels` are those of its messages, None if they are not known without reading it.
    """

    start: int
    stop: int
    first_ns: int
    last_ns: int
    is_chunk: bool = True
    channels: frozenset[int] | None = None


@dataclass(kw_only=True)
class McapContent:
    """Content found in a file: schemas and channels by number, blocks, messages by channel."""

    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    blocks: list[McapBlock] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)
    span_ns: tuple[int, int] | None = None
    metadata: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Offset and length of metadata records by name; the last of several."""

    def learn(self, opcode: int, data: bytes) -> None:
        """Store a schema, a channel or where metadata is; other records are ignored."""
        if opcode == Opcode.SCHEMA:
            number, schema = read_schema(data)
            self.schemas[number] = schema
        elif opcode == Opcode.CHANNEL:
            number, channel = read_channel(data)
            self.channels[number] = channel
            self.counts.setdefault(number, 0)
        elif opcode == Opcode.METADATA_INDEX:
            fields = Fields(data)
            start, length = fields.number(8), fields.number(8)
            self.metadata[fields.text()] = start, length


class Fields:
    """Reads the fields of one record in turn."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data, self._at = data, at

    def unpack(self, layout: struct.Struct) -> tuple[int, ...]:
        """Return the numbers of a fixed layout."""
        return layout.unpack(self.read_bytes(layout.size))

    def read_bytes(self, n: int) -> bytes:
        """Return the next n bytes."""
        end = self._at + n
        if end > len(self._data):
            raise DamagedRecordError(f"{n} bytes expected, {len(self._data) - self._at} left")
        data = self._data[self._at : end]
        self._at = end
        return data

    def number(self, size: int) -> int:
        """Return an unsigned integer of `size` bytes."""
        return int.from_bytes(self.read_bytes(size), "little")

    def block(self) -> bytes:
        """Return the bytes that follow their length (4 bytes)."""
        return self.read_bytes(self.number(4))

    def text(self) -> str:
        """Return a text that follows its length."""
        return self.block().decode("utf-8", "replace")

    @property
    def is_at_end(self) -> bool:
        """Whether no field is left."""
        return self._at >= len(self._data)

    @property
    def place(self) -> int:
        """Offset of the next field."""
        return self._at


def read_schema(data: bytes) -> tuple[int, Schema]:
    """Return the number and content of a schema record."""
    fields = Fields(data)
    number, name, encoding = fields.number(2), fields.text(), fields.text()
    return number, Schema(name=name, encoding=encoding, text=fields.text())


def read_channel(data: bytes) -> tuple[int, Channel]:
    """Return the number and content of a channel record."""
    fields = Fields(data)
    number, schema, topic = fields.number(2), fields.number(2), fields.text()
    return number, Channel(topic=topic, encoding=fields.text(), schema=schema)


def read_metadata(data: bytes) -> tuple[str, dict[str, str]]:
    """Return the name and the texts by name of a metadata record."""
    fields = Fields(data)
    name, entries = fields.text(), Fields(fields.block())
    texts = {}
    while not entries.is_at_end:
        key = entries.text()
        texts[key] = entries.text()
    return name, texts


def read_statistics(data: bytes) -> tuple[int, int, int, tuple[int, int], dict[int, int]]:
    """Return numbers of messages, channels and chunks, the span [ns], messages by channel."""
    fields = Fields(data)
    n_messages, _, n_channels, _, _, n_chunks, first, last = fields.unpack(STATISTICS)
    counts = dict(struct.iter_unpack("<HQ", fields.block()))
    return n_messages, n_channels, n_chunks, (first, last), counts


def read_chunk_index(data: bytes) -> McapBlock:
    """Return the offset and span of a chunk, and its channels if they have an index."""
    fields = Fields(data)
    first, last, start, length = fields.unpack(CHUNK_INDEX)
    offsets = fields.block()
    n_whole = len(offsets) // _CHANNEL_OFFSET.size * _CHANNEL_OFFSET.size
    channels = frozenset(channel for channel, _ in _CHANNEL_OFFSET.iter_unpack(offsets[:n_whole]))
    return McapBlock(
        start=start,
        stop=start + length,
        first_ns=first,
        last_ns=last,
        channels=channels or None,
    )


def read_chunk_head(data: bytes, length: int) -> tuple[int, int, int, int, str, int, int]:
    """Return first, last [ns], size, checksum, compression, packed size and the offset of the data.

    `data` is the first bytes of the chunk's content, at least 48 where it has as many; `length`
    that of the whole content, which the packed size must fill.

    Raises `DamagedRecordError` if it cannot be a chunk.
    """
    fields = Fields(data)
    first, last, size, checksum = fields.unpack(CHUNK_HEAD)
    n_letters = fields.number(4)
    compression = fields.read_bytes(n_letters).decode("ascii", "replace") if n_letters < 16 else "?"
    if compression not in _COMPRESSIONS:
        raise DamagedRecordError(f"compression '{compression}' is not known")
    packed = fields.number(8)
    if fields.place + packed != length:
        raise DamagedRecordError("its sizes disagree")
    if size > most_at_once(length):
        raise DamagedRecordError(f"it claims {size} bytes, at most {most_at_once(length)} are read")
    return first, last, size, checksum, compression, packed, fields.place


def records_of(records: bytes, n_packed: int | None = None) -> Iterator[tuple[int, int, bytes]]:
    """Yield opcode, offset of the content, and the input bytes, for each record.

    At most `n_packed`, the size in the file, plus a thousand records may come out of the bytes.

    Raises `DamagedRecordError` at a record that reaches beyond the end or is of unknown kind, or at
    one record too many.
    """
    at, end = 0, len(records)
    n_left = end if n_packed is None else n_packed + _N_FREE_RECORDS
    while at < end:
        n_left -= 1
        if n_left < 0:
            raise DamagedRecordError(f"more records come out of its {n_packed} bytes than can be")
        if at + HEAD.size > end:
            raise DamagedRecordError("a record is cut off")
        opcode, length = HEAD.unpack_from(records, at)
        at += HEAD.size
        if at + length > end or (opcode == Opcode.MESSAGE and length < MESSAGE_HEAD.size):
            raise DamagedRecordError("a record reaches beyond its chunk")
        if opcode == 0:
            raise DamagedRecordError("a record is of kind 0, which is none")
        yield opcode, at, records
        at += length


def length_at(records: bytes, at: int) -> int:
    """Return the length of the record whose content begins at an offset."""
    return int.from_bytes(records[at - 8 : at], "little")
