# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Write MCAP files at a microsecond per message: uncompressed chunks with their index.

`mcap.writer` makes an object of every message and takes ten times as long; its records are used
here for what is written once per chunk or file.

References
----------
MCAP format specification, https://mcap.dev/spec.
"""

import struct
import zlib
from collections.abc import Mapping
from typing import BinaryIO

from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Channel,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
    SummaryOffset,
)

MAGIC = b"\x89MCAP0\r\n"
_MESSAGE = struct.Struct("<BQHIQQ")
_MESSAGE_FIELDS_BYTES = _MESSAGE.size - 9  # the length of a record does not count its first 9
_CHUNK = struct.Struct("<BQQQQIIQ")
_CHUNK_FIELDS_BYTES = _CHUNK.size - 9
_INDEX = struct.Struct("<BQHI")
_FOOTER_HEAD = struct.Struct("<BQQQ")
_FOOTER_BYTES = 20


class McapWriter:
    """The one writer of one MCAP stream.

    Parameters
    ----------
    stream : binary file
        Open for writing; it is flushed but not closed here.
    chunk_size : int
        Bytes after which a chunk is closed.
    profile, library : str
        Fields of the header.

    Attributes
    ----------
    counts : dict
        Messages by channel.
    """

    def __init__(self, stream: BinaryIO, *, chunk_size: int, profile: str, library: str) -> None:
        self._stream, self._chunk_size = stream, chunk_size
        self._position = 0
        self._schemas: list[Schema] = []
        self._channels: list[Channel] = []
        self._chunks: list[ChunkIndex] = []
        self._metadata: list[MetadataIndex] = []
        self._chunk = bytearray()
        self._index: dict[int, list[int]] = {}
        self.counts: dict[int, int] = {}
        self._write(MAGIC)
        self._write(_bytes(Header(profile, library)))

    def add_schema(self, name: str, encoding: str, data: bytes) -> int:
        """Declare a schema and return its number."""
        schema = Schema(id=len(self._schemas) + 1, data=data, encoding=encoding, name=name)
        self._schemas.append(schema)
        self._chunk += _bytes(schema)
        return schema.id

    def add_channel(
        self, topic: str, encoding: str, schema_id: int, metadata: Mapping[str, str]
    ) -> int:
        """Declare a channel and return its number."""
        channel = Channel(
            id=len(self._channels) + 1,
            topic=topic,
            message_encoding=encoding,
            metadata=dict(metadata),
            schema_id=schema_id,
        )
        self._channels.append(channel)
        self.counts[channel.id] = 0
        self._chunk += _bytes(channel)
        return channel.id

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
        """Write a metadata record: names with texts, which readers find by the record's name."""
        start = self._position
        self._write(_bytes(Metadata(name=name, metadata=dict(values))))
        self._metadata.append(MetadataIndex(offset=start, length=self._position - start, name=name))

    @property
    def span_ns(self) -> tuple[int, int] | None:
        """First and last stamp in closed chunks [ns]; None before any."""
        if not self._chunks:
            return None
        first = min(chunk.message_start_time for chunk in self._chunks)
        return first, max(chunk.message_end_time for chunk in self._chunks)

    def flush(self) -> None:
        """Close the open chunk and hand everything to the operating system."""
        self._close_chunk()
        self._stream.flush()

    def finish(self) -> None:
        """Write what makes the file seekable; nothing may follow."""
        self._close_chunk()
        self._write(_bytes(DataEnd(0)))
        start = self._position
        summary, offsets = self._summary(start)
        offsets_start = start + len(summary)
        summary += offsets
        head = _FOOTER_HEAD.pack(Opcode.FOOTER, _FOOTER_BYTES, start, offsets_start)
        crc = zlib.crc32(head, zlib.crc32(summary))
        self._write(summary)
        self._write(_bytes(Footer(start, offsets_start, crc)))
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
        self._chunks.append(
            ChunkIndex(
                chunk_length=self._position - start,
                chunk_start_offset=start,
                compression="",
                compressed_size=size,
                message_end_time=last,
                message_index_length=0,
                message_index_offsets={},
                message_start_time=first,
                uncompressed_size=size,
            )
        )
        self._write_index(index, self._chunks[-1])

    def _write_index(self, index: dict[int, list[int]], entry: ChunkIndex) -> None:
        start = self._position
        for channel, places in index.items():
            entry.message_index_offsets[channel] = self._position
            self.counts[channel] += len(places) // 2
            n_bytes = 8 * len(places)
            head = _INDEX.pack(Opcode.MESSAGE_INDEX, 6 + n_bytes, channel, n_bytes)
            self._write(head + struct.pack(f"<{len(places)}Q", *places))
        entry.message_index_length = self._position - start

    def _summary(self, start: int) -> tuple[bytes, bytes]:
        """Return the records that repeat what is in the file, and where each kind starts."""
        groups: list[tuple[int, list[McapRecord]]] = [
            (Opcode.SCHEMA, list(self._schemas)),
            (Opcode.CHANNEL, list(self._channels)),
            (Opcode.STATISTICS, [self._statistics()]),
            (Opcode.CHUNK_INDEX, list(self._chunks)),
            (Opcode.METADATA_INDEX, list(self._metadata)),
        ]
        summary, offsets = b"", b""
        for opcode, records in groups:
            data = b"".join(_bytes(record) for record in records)
            if data:
                offsets += _bytes(SummaryOffset(opcode, start + len(summary), len(data)))
            summary += data
        return summary, offsets

    def _statistics(self) -> Statistics:
        first, last = self.span_ns or (0, 0)
        return Statistics(
            attachment_count=0,
            channel_count=len(self._channels),
            channel_message_counts={k: n for k, n in self.counts.items() if n},
            chunk_count=len(self._chunks),
            message_count=sum(self.counts.values()),
            message_end_time=last,
            message_start_time=first,
            metadata_count=len(self._metadata),
            schema_count=len(self._schemas),
        )

    def _write(self, data: bytes) -> None:
        self._stream.write(data)
        self._position += len(data)


def _bytes(record: McapRecord) -> bytes:
    builder = RecordBuilder()
    record.write(builder)
    return builder.end()
