# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Find the intact parts of an MCAP file without a usable index.

The records are followed from the start. At an invalid record, the next chunk is searched for by
the pattern of its head, so that damage in the middle costs only the part it covers.
"""

import re
import struct
from collections.abc import Callable
from typing import BinaryIO

from aerotwin_core.bag.compression import CompressionError
from aerotwin_core.bag.mcap_records import (
    HEAD,
    MAGIC,
    MESSAGE_HEAD,
    MOST_METADATA_BYTES,
    DamagedRecordError,
    McapBlock,
    McapContent,
    Opcode,
    length_at,
    read_chunk_head,
    read_metadata,
    records_of,
)

Load = Callable[[BinaryIO, McapBlock], bytes]
Say = Callable[[str], None]
# Opcode and length of a chunk below 2^40 bytes.
_CHUNK_START = re.compile(rb"\x06.{5}\x00\x00\x00", re.DOTALL)
_WINDOW_BYTES = 1 << 20
_HEAD_BYTES = 64
# Records outside of chunks are read in stretches of this many bytes.
_STRETCH_BYTES = 1 << 22
_LAST_OPCODE, _FIRST_PRIVATE_OPCODE = 0x0F, 0x80
_CHECKED = (Opcode.CHUNK, Opcode.MESSAGE)


class McapWalk:
    """Follows the records of a file of n_bytes.

    `load` maps (file, block) to the records of a block; `say` is called with one line for each
    stretch that is lost.
    """

    def __init__(self, file: BinaryIO, n_bytes: int, load: Load, say: Say) -> None:
        self._file, self._n_bytes, self._load, self._say = file, n_bytes, load, say
        self._content = McapContent()
        self._loose_start: int | None = None
        self._loose_span: tuple[int, int] | None = None

    def run(self) -> McapContent:
        """Return the readable content."""
        at, sure, is_ended = len(MAGIC), len(MAGIC), False
        while at < self._n_bytes and not is_ended:
            opcode, length = self._head(at)
            stop = at + HEAD.size + length
            is_likely = self._is_likely(opcode) and stop <= self._n_bytes
            if not is_likely or not self._add_record(opcode, at, stop):
                # A record before that cannot be checked may have lied about its length.
                at = sure = self._skip_damage(sure)
                continue
            is_ended = opcode in (Opcode.DATA_END, Opcode.FOOTER)
            at = stop
            sure = stop if opcode in _CHECKED else sure
        self._end_loose(min(at, self._n_bytes))
        n_found = sum(self._content.counts.values())
        cause = "its index is damaged" if is_ended else "its end is missing (killed, or cut off)"
        self._say(f"{cause}; it was read from the start, {n_found} messages were found")
        return self._content

    @staticmethod
    def _is_likely(opcode: int) -> bool:
        return 0 < opcode <= _LAST_OPCODE or opcode >= _FIRST_PRIVATE_OPCODE

    def _head(self, at: int) -> tuple[int, int]:
        self._file.seek(at)
        head = self._file.read(HEAD.size)
        opcode, length = HEAD.unpack(head) if len(head) == HEAD.size else (0, 0)
        return opcode, length

    def _add_record(self, opcode: int, at: int, stop: int) -> bool:
        """Store the record at an offset; False if it is no such record."""
        if opcode == Opcode.CHUNK:
            self._end_loose(at)
            return self._add_chunk(at, stop)
        if opcode in (Opcode.SCHEMA, Opcode.CHANNEL, Opcode.MESSAGE, Opcode.METADATA):
            try:
                self._add_loose_record(opcode, at, stop)
            except (DamagedRecordError, struct.error):
                return False
        return True

    def _add_chunk(self, at: int, stop: int) -> bool:
        self._file.seek(at + HEAD.size)
        try:
            head = read_chunk_head(self._file.read(_HEAD_BYTES), stop - at - HEAD.size)
        except DamagedRecordError:
            return False
        block = McapBlock(start=at, stop=stop, first_ns=head[0], last_ns=head[1])
        try:
            self._learn(self._load(self._file, block), stop - at)
        except (DamagedRecordError, CompressionError, struct.error) as error:
            self._say(f"the chunk at byte {at} is damaged ({error}); it is left out")
        else:
            self._content.blocks.append(block)
        return True

    def _learn(self, records: bytes, n_packed: int) -> None:
        """Store the schemas, channels and counts of a chunk, all or nothing."""
        counts: dict[int, int] = {}
        stamps: list[int] = []
        for opcode, at, data in records_of(records, n_packed):
            if opcode == Opcode.MESSAGE:
                channel, _, stamp, _ = MESSAGE_HEAD.unpack_from(data, at)
                counts[channel] = counts.get(channel, 0) + 1
                stamps.append(stamp)
            elif opcode in (Opcode.SCHEMA, Opcode.CHANNEL):
                self._content.learn(opcode, data[at : at + length_at(data, at)])
        for channel, count in counts.items():
            self._content.counts[channel] = self._content.counts.get(channel, 0) + count
        if stamps:
            self._widen(min(stamps), max(stamps))

    def _add_loose_record(self, opcode: int, at: int, stop: int) -> None:
        """Store a record outside of any chunk."""
        self._file.seek(at + HEAD.size)
        if opcode == Opcode.METADATA:
            n_most = min(stop - at - HEAD.size, MOST_METADATA_BYTES)
            name, _ = read_metadata(self._file.read(n_most))
            self._content.metadata[name] = at, stop - at
            return
        if opcode != Opcode.MESSAGE:
            self._content.learn(opcode, self._file.read(stop - at - HEAD.size))
            return
        channel, _, stamp, _ = MESSAGE_HEAD.unpack(self._file.read(MESSAGE_HEAD.size))
        self._content.counts[channel] = self._content.counts.get(channel, 0) + 1
        self._widen(stamp, stamp)
        if self._loose_start is None or self._loose_span is None:
            self._loose_start, self._loose_span = at, (stamp, stamp)
        first, last = self._loose_span
        self._loose_span = min(first, stamp), max(last, stamp)
        if stop - self._loose_start > _STRETCH_BYTES:
            self._end_loose(stop)

    def _end_loose(self, stop: int) -> None:
        """Make a block of the records since the last chunk."""
        if self._loose_start is not None and self._loose_span is not None:
            first, last = self._loose_span
            self._content.blocks.append(
                McapBlock(
                    start=self._loose_start,
                    stop=stop,
                    first_ns=first,
                    last_ns=last,
                    is_chunk=False,
                )
            )
        self._loose_start = self._loose_span = None

    def _widen(self, first: int, last: int) -> None:
        span = self._content.span_ns or (first, last)
        self._content.span_ns = min(span[0], first), max(span[1], last)

    def _skip_damage(self, at: int) -> int:
        """Report what is lost from an offset on, and return that of the next chunk, or the end."""
        self._end_loose(at)
        found = self._next_chunk(at)
        if found < self._n_bytes:
            self._say(f"bytes {at} to {found} are damaged and left out")
        elif at < self._n_bytes:
            self._say(f"bytes {at} to {self._n_bytes} (the end) are cut off or damaged")
        return found

    def _next_chunk(self, at: int) -> int:
        while at < self._n_bytes:
            self._file.seek(at)
            window = self._file.read(_WINDOW_BYTES + _HEAD_BYTES)
            for match in _CHUNK_START.finditer(window):
                if match.start() >= _WINDOW_BYTES:
                    break
                length = int.from_bytes(window[match.start() + 1 : match.start() + 9], "little")
                place = at + match.start()
                if place + HEAD.size + length <= self._n_bytes and self._is_chunk(place, length):
                    return place
            at += _WINDOW_BYTES
        return self._n_bytes

    def _is_chunk(self, place: int, length: int) -> bool:
        self._file.seek(place + HEAD.size)
        try:
            read_chunk_head(self._file.read(_HEAD_BYTES), length)
        except DamagedRecordError:
            return False
        return True
