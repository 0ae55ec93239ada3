# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Write MCAP files at a microsecond per message: uncompressed chunks with their index.

`mcap.writer` makes an object of every message and takes ten times as long.

References
----------
MCAP format specification, https://mcap.dev/spec.
"""

import struct
import zlib
from collections.abc import Mapping
from typing import BinaryIO

from aerotwin_core.bag.mcap_records import CHUNK_INDEX, HEAD, MAGIC, STATISTICS, Opcode

_MESSAGE = struct.Struct("<BQHIQQ")
_MESSAGE_FIELDS_BYTES = _MESSAGE.size - 9  # the length of a record does not count its first 9
_CHUNK = struct.Struct("<BQQQQIIQ")
_CHUNK_FIELDS_BYTES = _CHUNK.size - 9
_INDEX = struct.Struct("<BQHI")
_FOOTER_HEAD = struct.Struct("<BQQQ")
_FOOTER_BYTES = 20
_COUNT, _OFFSET = struct.Struct("<HQ"), struct.Struct("<QQ")
CHANNEL_BYTES = 512
"""Part of a channel in a chunk: each chunk has an index of each channel, which should not be as
long as its messages where there are a thousand channels."""


class McapWriter:
    """The only writer of one MCAP stream, which is flushed but not closed here.

    A chunk is closed after `chunk_size` bytes, or `CHANNEL_BYTES` for each channel if that is more;
    `profile` and `library` are fields of the header. The attribute `counts` has the messages by
    channel.
    """

    def __init__(self, stream: BinaryIO, *, chunk_size: int, profile: str, library: str) -> None:
        self._stream, self._chunk_size = stream, chunk_size
        self._position = 0
        # What the end of the file repeats of it, as it is written there.
        self._schemas: list[bytes] = []
        self._channels: list[bytes] = []
        self._chunks: list[bytes] = []
        self._metadata: list[bytes] = []
        self._chunk = bytearray()
        self._index: dict[int, list[int]] = {}
        self.counts: dict[int, int] = {}
        self._span_ns: tuple[int, int] | None = None
        self._write(MAGIC)
        self._write(_record(Opcode.HEADER, _text(profile), _text(library)))

    def add_schema(self, name: str, encoding: str, data: bytes) -> int:
        """Declare a schema and return its number."""
        number = len(self._schemas) + 1
        head = struct.pack("<H", number)
        schema = _record(Opcode.SCHEMA, head, _text(name), _text(encoding), _prefixed(data))
        self._schemas.append(schema)
        self._chunk += schema
        return number

    def add_channel(
        self, topic: str, encoding: str, schema_id: int, metadata: Mapping[str, str]
    ) -> int:
        """Declare a channel and return its number."""
        number = len(self._channels) + 1
        head = struct.pack("<HH", number, schema_id)
        channel = _record(Opcode.CHANNEL, head, _text(topic), _text(encoding), _texts(metadata))
        self._channels.append(channel)
        self._chunk_size = max(self._chunk_size, CHANNEL_BYTES * number)
        self.counts[number] = 0
        self._chunk += channel
        return number

    def add_message(self, channel: int, stamp_ns: int, data: bytes) -> None:
        """Append a message of a channel."""
        chunk = self._chunk
        places = self._index.get(channel)
        if places is None:
            places = self._index[channel] = []
        places.append(stamp_ns)
        places.append(len(chunk))
        length = _MESSAGE_FIELDS_BYTES + len(data)
        chunk += _MESSAGE.pack(Opcode.MESSAGE, length, channel, 0, stamp_ns, stamp_ns)
        chunk += data
        if len(chunk) >= self._chunk_size:
            self._close_chunk()

    def add_metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Write a metadata record: texts by name, which readers find by the record's name."""
        start = self._position
        self._write(_record(Opcode.METADATA, _text(name), _texts(values)))
        where = _OFFSET.pack(start, self._position - start)
        self._metadata.append(_record(Opcode.METADATA_INDEX, where, _text(name)))

    @property
    def span_ns(self) -> tuple[int, int] | None:
        """First and last stamp in closed chunks [ns]; None before any."""
        return self._span_ns

    def flush(self) -> None:
        """Close the open chunk and pass everything to the operating system."""
        self._close_chunk()
        self._stream.flush()

    def finish(self) -> None:
        """Write the index that makes the file seekable; nothing may follow."""
        self._close_chunk()
        self._write(_record(Opcode.DATA_END, bytes(4)))
        start = self._position
        summary, offsets = self._summary(start)
        offsets_start = start + len(summary)
        summary += offsets
        head = _FOOTER_HEAD.pack(Opcode.FOOTER, _FOOTER_BYTES, start, offsets_start)
        crc = zlib.crc32(head, zlib.crc32(summary))
        self._write(summary)
        self._write(head + struct.pack("<I", crc))
        self._write(MAGIC)
        self._stream.flush()

    def _close_chunk(self) -> None:
        """Write the open chunk and the index of its messages; one without any stays open."""
        if not self._index:
            return
        chunk, self._chunk = bytes(self._chunk), bytearray()
        index, self._index = self._index, {}
        stamps = [stamp for places in index.values() for stamp in places[::2]]
        start, first, last = self._position, min(stamps), max(stamps)
        length = _CHUNK_FIELDS_BYTES + len(chunk)
        crc = zlib.crc32(chunk)
        size = len(chunk)
        self._write(_CHUNK.pack(Opcode.CHUNK, length, first, last, size, crc, 0, size))
        self._write(chunk)
        chunk_bytes = self._position - start
        of_channels, index_bytes = self._write_index(index)
        self._chunks.append(
            _record(
                Opcode.CHUNK_INDEX,
                CHUNK_INDEX.pack(first, last, start, chunk_bytes),
                _prefixed(of_channels),
                struct.pack("<Q", index_bytes),
                _text(""),  # not compressed
                _OFFSET.pack(size, size),
            )
        )
        before = self._span_ns or (first, last)
        self._span_ns = min(before[0], first), max(before[1], last)

    def _write_index(self, index: dict[int, list[int]]) -> tuple[bytes, int]:
        """Return channels with the offsets of their indices, and the bytes of these."""
        start, of_channels = self._position, b""
        for channel, places in index.items():
            of_channels += _COUNT.pack(channel, self._position)
            self.counts[channel] += len(places) // 2
            n_bytes = 8 * len(places)
            head = _INDEX.pack(Opcode.MESSAGE_INDEX, 6 + n_bytes, channel, n_bytes)
            self._write(head + struct.pack(f"<{len(places)}Q", *places))
        return of_channels, self._position - start

    def _summary(self, start: int) -> tuple[bytes, bytes]:
        """Return the records that repeat what is in the file, and where each kind starts."""
        groups = (
            (Opcode.SCHEMA, self._schemas),
            (Opcode.CHANNEL, self._channels),
            (Opcode.STATISTICS, [self._statistics()]),
            (Opcode.CHUNK_INDEX, self._chunks),
            (Opcode.METADATA_INDEX, self._metadata),
        )
        summary, offsets = b"", b""
        for opcode, records in groups:
            data = b"".join(records)
            if data:
                where = _OFFSET.pack(start + len(summary), len(data))
                offsets += _record(Opcode.SUMMARY_OFFSET, bytes([opcode]), where)
            summary += data
        return summary, offsets

    def _statistics(self) -> bytes:
        counts = b"".join(_COUNT.pack(channel, n) for channel, n in self.counts.items() if n)
        numbers = (len(self._schemas), len(self._channels), 0, len(self._metadata))
        span = self._span_ns or (0, 0)
        head = STATISTICS.pack(sum(self.counts.values()), *numbers, len(self._chunks), *span)
        return _record(Opcode.STATISTICS, head, _prefixed(counts))

    def _write(self, data: bytes) -> None:
        self._stream.write(data)
        self._position += len(data)


def _record(opcode: Opcode, *parts: bytes) -> bytes:
    content = b"".join(parts)
    return HEAD.pack(opcode, len(content)) + content


def _prefixed(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def _text(text: str) -> bytes:
    return _prefixed(text.encode())


def _texts(texts: Mapping[str, str]) -> bytes:
    return _prefixed(b"".join(_text(name) + _text(text) for name, text in texts.items()))
