# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Write MCAP files at a microsecond per message: the caller collects, a thread of its own writes.

`mcap.writer` makes an object of every message and takes ten times as long.

References
----------
MCAP format specification, https://mcap.dev/spec.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from aerotwin_core.bag.mcap_chunk import OpenChunk, message_head
from aerotwin_core.bag.mcap_records import Opcode
from aerotwin_core.bag.mcap_stream import (
    McapStream,
    prefixed_bytes,
    record_bytes,
    text_bytes,
    texts_bytes,
)
from aerotwin_core.threads import CallsInOrder

if TYPE_CHECKING:  # readers of bags do not wait for a compiler
    from aerotwin_core.fixed_layout import FixedLayout
    from aerotwin_core.message_rows import ChangingPlaces, Values

CHANNEL_BYTES = 2048
"""Part of a channel in a chunk: each chunk has an index of each channel, which should not be as
long as its messages where there are a thousand channels."""
_MOST_WAITING = 4
"""Chunks that are not yet written; a disk slower than that holds up the caller."""


class McapWriter:
    """The only writer of one MCAP stream, which is flushed but not closed here.

    A chunk is closed after `chunk_size` bytes, or `CHANNEL_BYTES` for each channel if that is more.
    A message of `chunk_size` bytes, such as an image, is a chunk of its own: who reads poses does
    not read the images between them. `profile` and `library` are fields of the header; chunks are
    compressed if `is_compressed`.

    What cannot be written raises its `OSError` from one of the next calls and all after it, at the
    latest from `flush` or `finish`; nothing is written after it.
    """

    def __init__(
        self,
        stream: BinaryIO,
        *,
        chunk_size: int,
        profile: str,
        library: str,
        is_compressed: bool,
    ) -> None:
        self._written = McapStream(
            stream, profile=profile, library=library, is_compressed=is_compressed
        )
        self._calls = CallsInOrder(_MOST_WAITING)
        self._chunk_size = self._alone_bytes = chunk_size
        self._schemas: list[bytes] = []
        self._channels: list[bytes] = []
        self._schema_of_channel: dict[int, int] = {}
        self._undeclared: set[int] = set()  # channels in the open chunk, and nowhere before
        self._chunk = OpenChunk()

    def add_schema(self, name: str, encoding: str, data: bytes) -> int:
        """Declare a schema and return its number."""
        number = len(self._schemas) + 1
        head = struct.pack("<H", number)
        schema = record_bytes(
            Opcode.SCHEMA, head, text_bytes(name), text_bytes(encoding), prefixed_bytes(data)
        )
        self._schemas.append(schema)
        self._chunk.append(schema)
        return number

    def add_channel(
        self, topic: str, encoding: str, schema_id: int, metadata: Mapping[str, str]
    ) -> int:
        """Declare a channel and return its number."""
        number = len(self._channels) + 1
        head = struct.pack("<HH", number, schema_id)
        channel = record_bytes(
            Opcode.CHANNEL, head, text_bytes(topic), text_bytes(encoding), texts_bytes(metadata)
        )
        self._channels.append(channel)
        self._chunk_size = max(self._chunk_size, CHANNEL_BYTES * number)
        self._schema_of_channel[number] = schema_id
        self._undeclared.add(number)
        self._chunk.append(channel)
        return number

    def add_message(self, channel: int, stamp_ns: int, data: bytes) -> None:
        """Append a message of a channel."""
        if len(data) >= self._alone_bytes:
            self._write_alone(channel, stamp_ns, data)
            return
        self._chunk.append_message(channel, stamp_ns, data)
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
        self._calls.add(self._written.write_metadata, name, values)

    @property
    def counts(self) -> dict[int, int]:
        """Number of messages by channel, of those that have any, when last flushed or finished."""
        return self._written.counts

    @property
    def span_ns(self) -> tuple[int, int] | None:
        """First and last stamp [ns], when last flushed or finished; None before any."""
        return self._written.span_ns

    def flush(self) -> None:
        """Close the open chunk and pass everything to the operating system."""
        self._close_chunk()
        self._calls.add(self._written.flush)
        self._calls.wait()

    def finish(self) -> None:
        """Write the index that makes the file seekable; nothing may follow."""
        self._close_chunk()
        self._calls.add(self._written.finish, self._schemas, self._channels)
        self._calls.close()

    def _write_alone(self, channel: int, stamp_ns: int, data: bytes) -> None:
        """Write a message as a chunk of its own."""
        declaration = b""
        if channel in self._undeclared:
            schema = self._schemas[self._schema_of_channel[channel] - 1]
            declaration = schema + self._channels[channel - 1]
            self._undeclared.discard(channel)
        parts = declaration, message_head(channel, stamp_ns, len(data)), data
        index = np.array([[channel, stamp_ns, len(declaration)]], np.int64)
        self._calls.add(self._written.write_chunk, parts, index)

    def _close_chunk(self) -> None:
        """Write the open chunk; one without any messages stays open."""
        if self._chunk.has_messages:
            self._calls.make_room()  # nothing is taken before it can be handed over
            self._calls.add(self._written.write_taken, self._chunk.take())
            self._undeclared.clear()


def _template(channel: int, layout: "FixedLayout") -> bytes:
    """Return the record of a message, less what changes."""
    return message_head(channel, 0, len(layout.template)) + layout.template
