# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Read MCAP files: by their index if there is one, else record by record around any damage."""

import heapq
import os
import struct
import zlib
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from aerotwin_core.bag.compression import (
    COPIES,
    CompressionError,
    decompress,
    decompressed_message,
    most_at_once,
    most_in_all,
)
from aerotwin_core.bag.mcap_records import (
    FOOTER,
    HEAD,
    MAGIC,
    MESSAGE_HEAD,
    MOST_METADATA_BYTES,
    Channel,
    DamagedRecordError,
    McapBlock,
    McapContent,
    Opcode,
    length_at,
    read_chunk_head,
    read_chunk_index,
    read_metadata,
    read_statistics,
    records_of,
)
from aerotwin_core.bag.mcap_walk import McapWalk
from aerotwin_core.bag.storage import ENCODING, RawMessage
from aerotwin_core.errors import UserError
from aerotwin_core.limits import VARIABLE, check_memory

_CHUNK_HEAD_BYTES = 64
_MESSAGE_BYTES = 300
"""Of Python's objects for a message."""
_N_FOOTER_BYTES = HEAD.size + FOOTER.size + len(MAGIC)


class McapFile:
    """One MCAP file; see `StorageFile`.

    Raises `UserError` if it is no MCAP file at all.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []
        self._damaged: set[int] = set()
        self._sizes: dict[int, int] = {}
        try:
            with path.open("rb") as file:
                n_bytes = self._n_bytes = os.fstat(file.fileno()).st_size
                self._n_left = most_in_all(n_bytes)
                if file.read(len(MAGIC)) != MAGIC:
                    raise UserError(f"{path}: not an MCAP file (it does not begin as one)")
                content = _by_index(file, n_bytes)
                self.is_finished = content is not None
                if content is None:
                    content = McapWalk(file, n_bytes, self._load, self._say).run()
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error
        self._content = content
        self.topics: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.definitions: dict[str, tuple[str, str]] = {}
        self.span_ns = content.span_ns
        self._names = self._name_channels()

    def _name_channels(self) -> dict[int, str]:
        """Return the topic by channel, of the readable ones."""
        names = {}
        for number, channel in self._content.channels.items():
            if channel.encoding != ENCODING:
                self._say(
                    f"topic {channel.topic} is encoded as '{channel.encoding}' and not read; "
                    "record it with ROS 2"
                )
                continue
            names[number] = channel.topic
            self._add_schema(channel)
            count = self._content.counts.get(number, 0)
            self.counts[channel.topic] = self.counts.get(channel.topic, 0) + count
        return names

    def _add_schema(self, channel: Channel) -> None:
        schema = self._content.schemas.get(channel.schema)
        name = schema.name if schema else "unknown"
        if self.topics.setdefault(channel.topic, name) != name:
            self._say(f"topic {channel.topic} is of two types; all is read as the first")
        if schema and schema.encoding:
            self.definitions.setdefault(schema.name, (schema.encoding, schema.text))

    def messages(self, topics: Collection[str] | None) -> Iterator[RawMessage]:
        """Yield the messages of topics (all if None) in order of their stamps."""
        requested = {n: name for n, name in self._names.items() if topics is None or name in topics}
        if not requested:
            return
        blocks = sorted(
            (
                block
                for block in self._content.blocks
                if block.channels is None or not block.channels.isdisjoint(requested)
            ),
            key=lambda block: (block.first_ns, block.start),
        )
        pending: list[tuple[int, int, int, RawMessage]] = []  # a heap by stamp, block and place
        n_pending = 0
        with self.path.open("rb") as file:
            for block in blocks:
                while pending and pending[0][0] < block.first_ns:
                    *_, message = heapq.heappop(pending)
                    n_pending -= len(message[2])
                    yield message
                n_held = n_pending + _MESSAGE_BYTES * len(pending)
                for k, message in enumerate(self._of_block(file, block, requested, n_held)):
                    heapq.heappush(pending, (message[1], block.start, k, message))
                    n_pending += len(message[2])
        while pending:
            yield heapq.heappop(pending)[3]

    def metadata(self, name: str) -> dict[str, str]:
        """Return the texts by name of a metadata record; empty if there is none, or none whole."""
        if name not in self._content.metadata:
            return {}
        start, length = self._content.metadata[name]
        if length > MOST_METADATA_BYTES:
            self._say(f"its metadata '{name}' has more than {MOST_METADATA_BYTES} bytes; left out")
            return {}
        with self.path.open("rb") as file:
            file.seek(start)
            record = file.read(length)
        try:
            opcode, n_bytes = HEAD.unpack_from(record)
            found, texts = read_metadata(record[HEAD.size : HEAD.size + n_bytes])
        except (DamagedRecordError, struct.error) as error:
            self._say(f"its metadata '{name}' is damaged ({error}); left out")
            return {}
        return texts if (opcode, found) == (Opcode.METADATA, name) else {}

    def _of_block(
        self, file: BinaryIO, block: McapBlock, requested: dict[int, str], n_held: int
    ) -> list[RawMessage]:
        """Return the messages of a block, while n_held bytes of earlier ones are in memory."""
        found: list[RawMessage] = []
        n_packed = block.stop - block.start
        n_left = most_at_once(n_packed)
        try:
            for opcode, at, records in records_of(self._load(file, block, n_held), n_packed):
                if opcode != Opcode.MESSAGE:
                    continue
                channel, _, stamp, _ = MESSAGE_HEAD.unpack_from(records, at)
                if channel in requested:
                    data = records[at + MESSAGE_HEAD.size : at + length_at(records, at)]
                    message = decompressed_message(data)
                    n_left -= len(message)
                    if n_left < 0:
                        raise DamagedRecordError("its messages unpack to more than is read")
                    found.append((requested[channel], stamp, message))
        except (CompressionError, DamagedRecordError, struct.error) as error:
            if block.start not in self._damaged:
                self._damaged.add(block.start)
                self._say(
                    f"the chunk at byte {block.start} is damaged ({error}); "
                    + (f"{len(found)} messages of it are read" if found else "it is left out")
                )
        return found

    def _load(self, file: BinaryIO, block: McapBlock, n_held: int = 0) -> bytes:
        """Return the records of a block, unpacked and checked against their checksum."""
        file.seek(block.start)
        data = file.read(block.stop - block.start)
        if not block.is_chunk:
            return data
        if len(data) < HEAD.size:
            raise DamagedRecordError("it lies beyond the end of the file")
        opcode, length = HEAD.unpack_from(data)
        body = data[HEAD.size : HEAD.size + length]
        if opcode != Opcode.CHUNK or len(body) < length:
            raise DamagedRecordError("no whole chunk is there")
        head = read_chunk_head(body[:_CHUNK_HEAD_BYTES], length)
        _, _, size, checksum, compression, packed, at = head
        self._account(block, size, n_held)
        records = body[at : at + packed]
        if compression:
            records = decompress(records, compression, size)
        if len(records) != size:
            raise DamagedRecordError(f"it holds {len(records)} bytes, {size} were written")
        if checksum and zlib.crc32(records) != checksum:
            raise DamagedRecordError("its checksum is wrong")
        return records

    def _account(self, block: McapBlock, size: int, n_held: int) -> None:
        """Refuse a file whose chunks unpack to too much, in total or overlapping in time.

        Raises `UserError` if this chunk is one too many.
        """
        if block.start not in self._sizes:
            self._sizes[block.start] = size
            self._n_left -= size
        if self._n_left < 0:
            raise UserError(
                f"{self.path}: its chunks unpack to more than {sum(self._sizes.values())} bytes; "
                f"if you trust it, set {VARIABLE} higher"
            )
        check_memory(
            n_held + COPIES * size,
            file_bytes=self._n_bytes,
            where=self.path,
            what="the messages of its chunks that overlap in time",
        )

    def _say(self, text: str) -> None:
        self.problems.append(f"{self.path.name}: {text}")


def _by_index(file: BinaryIO, n_bytes: int) -> McapContent | None:
    """Return the content of the summary at the end of a file, None if it is incomplete."""
    if n_bytes < len(MAGIC) + _N_FOOTER_BYTES:
        return None
    footer_start = n_bytes - _N_FOOTER_BYTES
    file.seek(footer_start)
    end = file.read(_N_FOOTER_BYTES)
    opcode, length = HEAD.unpack_from(end)
    if not end.endswith(MAGIC) or (opcode, length) != (Opcode.FOOTER, FOOTER.size):
        return None
    start, _, checksum = FOOTER.unpack_from(end, HEAD.size)
    if not len(MAGIC) <= start <= footer_start:
        return None
    file.seek(start)
    summary = file.read(footer_start - start)
    covered = summary + end[: HEAD.size + 16]  # all but the checksum itself
    if checksum and zlib.crc32(covered) != checksum:
        return None
    try:
        return _content_of(summary, start)
    except (DamagedRecordError, struct.error):
        return None


def _content_of(summary: bytes, start: int) -> McapContent | None:
    """Return the content that a summary describes in full, None if it leaves something out."""
    content = McapContent()
    statistics = None
    for opcode, at, records in records_of(summary):
        data = records[at : at + length_at(records, at)]
        content.learn(opcode, data)
        if opcode == Opcode.CHUNK_INDEX:
            content.blocks.append(read_chunk_index(data))
        elif opcode == Opcode.STATISTICS:
            statistics = read_statistics(data)
    if statistics is None:
        return None
    n_messages, n_channels, n_chunks, span, counts = statistics
    content.counts.update(counts)
    is_full = (
        len(content.channels) == n_channels
        and len(content.blocks) == n_chunks
        and sum(counts.values()) == n_messages
        and (n_chunks > 0 or n_messages == 0)
        and all(c.schema in content.schemas for c in content.channels.values())
        and all(block.stop <= start for block in content.blocks)
        and _are_apart(content.blocks)
    )
    content.span_ns = span if n_messages else None
    return content if is_full else None


def _are_apart(blocks: list[McapBlock]) -> bool:
    """Tell whether no byte of a file belongs to two blocks, which would be read twice."""
    by_start = sorted(blocks, key=lambda block: block.start)
    return all(a.stop <= b.start for a, b in pairwise(by_start))
