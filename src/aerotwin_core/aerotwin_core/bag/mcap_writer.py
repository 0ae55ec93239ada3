# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Write MCAP files at a microsecond per message: uncompressed chunks with their index.

`mcap.writer` makes an object of every message and takes ten times as long. Messages of fixed layout
are numbers until their chunk is closed; then all are serialised at once.

References
----------
MCAP format specification, https://mcap.dev/spec.
"""

import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from aerotwin_core.bag.mcap_records import CHUNK_INDEX, HEAD, MAGIC, STATISTICS, Opcode

if TYPE_CHECKING:  # readers of bags do not wait for a compiler
    from aerotwin_core.fixed_layout import FixedLayout
    from aerotwin_core.message_rows import ChangingPlaces, MessageRows, Values

_MESSAGE = struct.Struct("<BQHIQQ")
_MESSAGE_TIMES = (15, 23)
_MESSAGE_OPCODE = int(Opcode.MESSAGE)
_MESSAGE_FIELDS_BYTES = _MESSAGE.size - 9  # the length of a record does not count its first 9
_CHUNK = struct.Struct("<BQQQQIIQ")
_CHUNK_FIELDS_BYTES = _CHUNK.size - 9
_INDEX = struct.Struct("<BQHI")
_FOOTER_HEAD = struct.Struct("<BQQQ")
_FOOTER_BYTES = 20
_COUNT, _OFFSET = struct.Struct("<HQ"), struct.Struct("<QQ")
CHANNEL_BYTES = 2048
"""Part of a channel in a chunk: each chunk has an index of each channel, which should not be as
long as its messages where there are a thousand channels."""


class _OpenChunk:
    """The records of the open chunk in their order; those of fixed layout are numbers yet."""

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[tuple[int, bytes]] = []
        self._index: list[tuple[int, int, int]] = []
        self._rows: dict[ChangingPlaces, tuple[MessageRows, list[int]]] = {}
        self.has_messages = False

    def append(self, record: bytes) -> None:
        """Append a record without an index."""
        self._parts.append((self.size, record))
        self.size += len(record)

    def append_message(self, channel: int, stamp_ns: int, head: bytes, data: bytes) -> None:
        """Append a message: head of its record and data."""
        start = self.size
        begin = start + len(head)
        self._index.append((channel, stamp_ns, start))
        self._parts.append((start, head))
        self._parts.append((begin, data))
        self.size = begin + len(data)
        self.has_messages = True

    def adder(
        self, channel: int, places: "ChangingPlaces", template: bytes
    ) -> "Callable[[int, int, Values], None]":
        """Return what appends a message by its times of sending and stamp [ns], and numbers.

        Its record is a template that has them at places.
        """
        rows, (form,) = self._forms_of([channel], places, [template])
        length = len(template)

        def add(sent_ns: int, stamp_ns: int, values: "Values") -> None:
            rows.add(self.size, sent_ns, stamp_ns, form, values)
            self.size += length
            self.has_messages = True

        return add

    def block_adder(
        self, channels: Sequence[int], places: "ChangingPlaces", templates: Sequence[bytes]
    ) -> "Callable[[int, int, np.ndarray], None]":
        """Return what appends a message to each of several channels, as `adder`."""
        rows, forms = self._forms_of(channels, places, templates)
        ends = np.cumsum([len(template) for template in templates])
        starts, size = np.concatenate([[0], ends[:-1]]), int(ends[-1])

        def add(sent_ns: int, stamp_ns: int, values: np.ndarray) -> None:
            rows.add_block((self.size + starts).tolist(), sent_ns, stamp_ns, forms, values)
            self.size += size
            self.has_messages = True

        return add

    def _forms_of(
        self, channels: Sequence[int], places: "ChangingPlaces", templates: Sequence[bytes]
    ) -> "tuple[MessageRows, list[int]]":
        """Return the rows of messages with equal places, and the forms of templates in them."""
        if places not in self._rows:
            self._rows[places] = places.new_rows(_MESSAGE.size, _MESSAGE_TIMES), []
        rows, known = self._rows[places]
        forms = [rows.form_of(template) for template in templates]
        for channel, form in zip(channels, forms, strict=True):
            if form == len(known):
                known.append(channel)
        return rows, forms

    def take(self) -> tuple[bytearray, np.ndarray]:
        """Return the bytes, and channel, time [ns] and offset of all messages; begin anew.

        The latter, (n, 3) int64, are in the order of channels and offsets.
        """
        chunk = bytearray(self.size)
        for start, part in self._parts:
            chunk[start : start + len(part)] = part
        found = [np.array(self._index, np.int64).reshape(-1, 3)]
        buffer = np.frombuffer(chunk, np.uint8)
        for rows, channels in self._rows.values():
            written = rows.write(buffer)
            channel = np.array(channels, np.int64)[written[:, 3]]
            found.append(np.column_stack([channel, written[:, 1], written[:, 0]]))
        index = np.concatenate(found)
        index = index[np.lexsort((index[:, 2], index[:, 0]))]
        self.size, self.has_messages = 0, False
        self._parts.clear()
        self._index.clear()
        return chunk, index


class McapWriter:
    """The only writer of one MCAP stream, which is flushed but not closed here.

    A chunk is closed after `chunk_size` bytes, or `CHANNEL_BYTES` for each channel if that is more.
    A message of `chunk_size` bytes, such as an image, is a chunk of its own: who reads poses does
    not read the images between them. `profile` and `library` are fields of the header. The
    attribute `counts` has the messages by channel.
    """

    def __init__(self, stream: BinaryIO, *, chunk_size: int, profile: str, library: str) -> None:
        self._stream = stream
        self._chunk_size = self._alone_bytes = chunk_size
        self._position = 0
        # What the end of the file repeats of it, as it is written there.
        self._schemas: list[bytes] = []
        self._channels: list[bytes] = []
        self._chunks: list[bytes] = []
        self._metadata: list[bytes] = []
        self._schema_of_channel: dict[int, int] = {}
        self._undeclared: set[int] = set()  # channels in the open chunk, and nowhere before
        self._chunk = _OpenChunk()
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
        self._chunk.append(schema)
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
        self._schema_of_channel[number] = schema_id
        self._undeclared.add(number)
        self._chunk.append(channel)
        return number

    def add_message(self, channel: int, stamp_ns: int, data: bytes) -> None:
        """Append a message of a channel."""
        length = _MESSAGE_FIELDS_BYTES + len(data)
        head = _MESSAGE.pack(_MESSAGE_OPCODE, length, channel, 0, stamp_ns, stamp_ns)
        if len(data) >= self._alone_bytes:
            self._write_alone(channel, stamp_ns, head, data)
            return
        self._chunk.append_message(channel, stamp_ns, head, data)
        if self._chunk.size >= self._chunk_size:
            self._close_chunk()

    def outlet(self, channel: int, layout: "FixedLayout") -> "Callable[[int, int, Values], None]":
        """Return what appends a message by its times of sending and stamp [ns], and numbers."""
        chunk = self._chunk
        add = chunk.adder(channel, layout.places, _template(channel, layout))

        def append(sent_ns: int, stamp_ns: int, values: "Values") -> None:
            add(sent_ns, stamp_ns, values)
            if chunk.size >= self._chunk_size:
                self._close_chunk()

        return append

    def block_outlet(
        self, channels: Sequence[int], layouts: "Sequence[FixedLayout]"
    ) -> "Callable[[int, int, np.ndarray], None]":
        """Return what appends a message to each of several channels: numbers (n, k), a row each."""
        chunk = self._chunk
        rows_by_places: dict[ChangingPlaces, list[int]] = {}
        for row, layout in enumerate(layouts):
            rows_by_places.setdefault(layout.places, []).append(row)
        adders = []
        for places, rows in rows_by_places.items():
            templates = [_template(channels[row], layouts[row]) for row in rows]
            adders.append(
                (rows, chunk.block_adder([channels[row] for row in rows], places, templates))
            )

        def append(sent_ns: int, stamp_ns: int, values: np.ndarray) -> None:
            for rows, add in adders:
                add(sent_ns, stamp_ns, values[rows])
            if chunk.size >= self._chunk_size:
                self._close_chunk()

        return append

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

    def _write_alone(self, channel: int, stamp_ns: int, head: bytes, data: bytes) -> None:
        """Write a message as a chunk of its own."""
        declaration = b""
        if channel in self._undeclared:
            schema = self._schemas[self._schema_of_channel[channel] - 1]
            declaration = schema + self._channels[channel - 1]
            self._undeclared.discard(channel)
        index = np.array([[channel, stamp_ns, len(declaration)]], np.int64)
        self._write_chunk((declaration, head, data), index)

    def _close_chunk(self) -> None:
        """Write the open chunk; one without any messages stays open."""
        if self._chunk.has_messages:
            chunk, index = self._chunk.take()
            self._write_chunk((chunk,), index)
            self._undeclared.clear()

    def _write_chunk(self, parts: Sequence[bytes | bytearray], index: np.ndarray) -> None:
        """Write a chunk of these parts and the index (n, 3) of its messages."""
        start, first, last = self._position, int(index[:, 1].min()), int(index[:, 1].max())
        crc, size = 0, 0
        for part in parts:
            crc, size = zlib.crc32(part, crc), size + len(part)
        length = _CHUNK_FIELDS_BYTES + size
        self._write(_CHUNK.pack(Opcode.CHUNK, length, first, last, size, crc, 0, size))
        for part in parts:
            self._write(part)
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

    def _write_index(self, index: np.ndarray) -> tuple[bytes, int]:
        """Return channels with the offsets of their indices, and the bytes of these."""
        start, of_channels = self._position, b""
        channels, firsts, counts = np.unique(index[:, 0], return_index=True, return_counts=True)
        places = index[:, 1:].copy()
        for channel, first, n in zip(
            channels.tolist(), firsts.tolist(), counts.tolist(), strict=True
        ):
            of_channels += _COUNT.pack(channel, self._position)
            self.counts[channel] += n
            n_bytes = 16 * n
            head = _INDEX.pack(Opcode.MESSAGE_INDEX, 6 + n_bytes, channel, n_bytes)
            self._write(head + places[first : first + n].tobytes())
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

    def _write(self, data: bytes | bytearray) -> None:
        self._stream.write(data)
        self._position += len(data)


def _template(channel: int, layout: "FixedLayout") -> bytes:
    """Return the record of a message, less what changes."""
    length = _MESSAGE_FIELDS_BYTES + len(layout.template)
    return _MESSAGE.pack(_MESSAGE_OPCODE, length, channel, 0, 0, 0) + layout.template


def _record(opcode: Opcode, *parts: bytes) -> bytes:
    content = b"".join(parts)
    return HEAD.pack(opcode, len(content)) + content


def _prefixed(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def _text(text: str) -> bytes:
    return _prefixed(text.encode())


def _texts(texts: Mapping[str, str]) -> bytes:
    return _prefixed(b"".join(_text(name) + _text(text) for name, text in texts.items()))
