# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Write the records of an MCAP file one after another: chunks, their index, the end.

References
----------
MCAP format specification, https://mcap.dev/spec.
"""

import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import BinaryIO

import numpy as np

from aerotwin_core.bag.compression import compress
from aerotwin_core.bag.mcap_chunk import TakenChunk
from aerotwin_core.bag.mcap_records import CHUNK_INDEX, HEAD, MAGIC, STATISTICS, Opcode

_CHUNK = struct.Struct("<BQQQQI")
_CHUNK_FIELDS_BYTES = _CHUNK.size - 9  # the length of a record does not count its first 9
_SIZE = struct.Struct("<Q")
_INDEX = struct.Struct("<BQHI")
_FOOTER_HEAD = struct.Struct("<BQQQ")
_FOOTER_BYTES = 20
_COUNT, _OFFSET = struct.Struct("<HQ"), struct.Struct("<QQ")


class McapStream:
    """An MCAP file in a stream, which is flushed but not closed here; for one thread at a time.

    `profile` and `library` are fields of the header; chunks are compressed if `is_compressed`, with
    zstd. `counts` has the written messages by channel.
    """

    def __init__(
        self, stream: BinaryIO, *, profile: str, library: str, is_compressed: bool
    ) -> None:
        self._stream = stream
        self._is_compressed = is_compressed
        self._position = 0
        # What the end of the file repeats of it, as it is written there.
        self._chunks: list[bytes] = []
        self._metadata: list[bytes] = []
        self.counts: dict[int, int] = {}
        self.span_ns: tuple[int, int] | None = None
        """First and last stamp in the file [ns]; None before any."""
        self._write(MAGIC)
        self._write(record_bytes(Opcode.HEADER, text_bytes(profile), text_bytes(library)))

    def write_metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Write a metadata record: texts by name, which readers find by the record's name."""
        start = self._position
        self._write(record_bytes(Opcode.METADATA, text_bytes(name), texts_bytes(values)))
        where = _OFFSET.pack(start, self._position - start)
        self._metadata.append(record_bytes(Opcode.METADATA_INDEX, where, text_bytes(name)))

    def write_taken(self, chunk: TakenChunk) -> None:
        """Write a chunk."""
        data, index = chunk.serialise()
        self.write_chunk((data,), index)

    def flush(self) -> None:
        """Pass everything to the operating system."""
        self._stream.flush()

    def finish(self, schemas: Sequence[bytes], channels: Sequence[bytes]) -> None:
        """Write the index that makes the file seekable; nothing may follow.

        It repeats the records of schemas and channels.
        """
        self._write(record_bytes(Opcode.DATA_END, bytes(4)))
        start = self._position
        summary, offsets = self._summary(start, schemas, channels)
        offsets_start = start + len(summary)
        summary += offsets
        head = _FOOTER_HEAD.pack(Opcode.FOOTER, _FOOTER_BYTES, start, offsets_start)
        crc = zlib.crc32(head, zlib.crc32(summary))
        self._write(summary)
        self._write(head + struct.pack("<I", crc))
        self._write(MAGIC)
        self._stream.flush()

    def write_chunk(self, parts: Sequence[bytes | bytearray], index: np.ndarray) -> None:
        """Write a chunk of these parts and the index (n, 3) of its messages."""
        start, first, last = self._position, int(index[:, 1].min()), int(index[:, 1].max())
        crc, size = 0, 0
        for part in parts:
            crc, size = zlib.crc32(part, crc), size + len(part)
        compression = text_bytes("zstd" if self._is_compressed else "")
        if self._is_compressed:
            parts = (compress(b"".join(parts)),)
        packed = sum(map(len, parts))
        length = _CHUNK_FIELDS_BYTES + len(compression) + _SIZE.size + packed
        head = _CHUNK.pack(Opcode.CHUNK, length, first, last, size, crc)
        self._write(head + compression + _SIZE.pack(packed))
        for part in parts:
            self._write(part)
        chunk_bytes = self._position - start
        of_channels, index_bytes = self._write_index(index)
        self._chunks.append(
            record_bytes(
                Opcode.CHUNK_INDEX,
                CHUNK_INDEX.pack(first, last, start, chunk_bytes),
                prefixed_bytes(of_channels),
                _SIZE.pack(index_bytes),
                compression,
                _OFFSET.pack(packed, size),
            )
        )
        before = self.span_ns or (first, last)
        self.span_ns = min(before[0], first), max(before[1], last)

    def _write_index(self, index: np.ndarray) -> tuple[bytes, int]:
        """Return channels with the offsets of their indices, and the bytes of these."""
        places = index[:, 1:].tobytes()
        channels, firsts, counts = np.unique(index[:, 0], return_index=True, return_counts=True)
        of_channels, records, start = [], [], self._position
        position = start
        for channel, first, n in zip(
            channels.tolist(), firsts.tolist(), counts.tolist(), strict=True
        ):
            of_channels.append(_COUNT.pack(channel, position))
            self.counts[channel] = self.counts.get(channel, 0) + n
            n_bytes = 16 * n
            records.append(_INDEX.pack(Opcode.MESSAGE_INDEX, 6 + n_bytes, channel, n_bytes))
            records.append(places[16 * first : 16 * first + n_bytes])
            position += _INDEX.size + n_bytes
        self._write(b"".join(records))
        return b"".join(of_channels), position - start

    def _summary(
        self, start: int, schemas: Sequence[bytes], channels: Sequence[bytes]
    ) -> tuple[bytes, bytes]:
        """Return the records that repeat what is in the file, and where each kind starts."""
        groups = (
            (Opcode.SCHEMA, schemas),
            (Opcode.CHANNEL, channels),
            (Opcode.STATISTICS, [self._statistics(len(schemas), len(channels))]),
            (Opcode.CHUNK_INDEX, self._chunks),
            (Opcode.METADATA_INDEX, self._metadata),
        )
        summary, offsets = b"", b""
        for opcode, records in groups:
            data = b"".join(records)
            if data:
                where = _OFFSET.pack(start + len(summary), len(data))
                offsets += record_bytes(Opcode.SUMMARY_OFFSET, bytes([opcode]), where)
            summary += data
        return summary, offsets

    def _statistics(self, n_schemas: int, n_channels: int) -> bytes:
        counts = b"".join(_COUNT.pack(channel, n) for channel, n in sorted(self.counts.items()))
        numbers = (n_schemas, n_channels, 0, len(self._metadata))
        span = self.span_ns or (0, 0)
        head = STATISTICS.pack(sum(self.counts.values()), *numbers, len(self._chunks), *span)
        return record_bytes(Opcode.STATISTICS, head, prefixed_bytes(counts))

    def _write(self, data: bytes | bytearray) -> None:
        self._stream.write(data)
        self._position += len(data)


def record_bytes(opcode: Opcode, *parts: bytes) -> bytes:
    """Return a record: opcode, length of the parts, the parts."""
    content = b"".join(parts)
    return HEAD.pack(opcode, len(content)) + content


def prefixed_bytes(data: bytes) -> bytes:
    """Return data after its length."""
    return struct.pack("<I", len(data)) + data


def text_bytes(text: str) -> bytes:
    """Return a text after its length."""
    return prefixed_bytes(text.encode())


def texts_bytes(texts: Mapping[str, str]) -> bytes:
    """Return pairs of texts after their length."""
    return prefixed_bytes(
        b"".join(text_bytes(name) + text_bytes(text) for name, text in texts.items())
    )
