# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Records of one MCAP chunk: collected by one thread, serialised by another.

Messages of fixed layout are numbers until then; all are serialised at once by compiled code that
releases the interpreter lock.
"""

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aerotwin_core.bag.mcap_records import Opcode

if TYPE_CHECKING:  # readers of bags do not wait for a compiler
    from aerotwin_core.message_rows import ChangingPlaces, MessageRows, TakenRows, Values

_MESSAGE = struct.Struct("<BQHIQQ")
_MESSAGE_TIMES = (15, 23)
_MESSAGE_FIELDS_BYTES = _MESSAGE.size - 9  # the length of a record does not count its first 9
_OPCODE = int(Opcode.MESSAGE)


def message_head(channel: int, stamp_ns: int, n_bytes: int) -> bytes:
    """Return what stands in a message's record before its data of so many bytes."""
    length = _MESSAGE_FIELDS_BYTES + n_bytes
    return _MESSAGE.pack(_OPCODE, length, channel, 0, stamp_ns, stamp_ns)


class TakenChunk(NamedTuple):
    """The records of a chunk that no longer changes."""

    size: int
    parts: list[tuple[int, bytes]]
    """Offset and bytes of what is not of fixed layout."""
    messages: list[tuple[int, int, int]]
    """Channel, time [ns] and offset of those that are whole."""
    rows: "list[tuple[TakenRows, np.ndarray]]"
    """Messages of fixed layout, and the channel of each of their forms."""

    def serialise(self) -> tuple[bytearray, np.ndarray]:
        """Return the bytes, and channel, time [ns] and offset of all messages.

        The latter, (n, 3) int64, are in the order of channels and offsets.
        """
        chunk = bytearray(self.size)
        for start, part in self.parts:
            chunk[start : start + len(part)] = part
        found = [np.array(self.messages, np.int64).reshape(-1, 3)]
        buffer = np.frombuffer(chunk, np.uint8)
        for rows, channels in self.rows:
            rows.write(buffer)
            written = rows.rows
            found.append(np.column_stack([channels[written[:, 3]], written[:, 1], written[:, 0]]))
        index = np.concatenate(found)
        return chunk, index[np.lexsort((index[:, 2], index[:, 0]))]


class OpenChunk:
    """The records of the open chunk in their order; those of fixed layout are numbers yet."""

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[tuple[int, bytes]] = []
        self._messages: list[tuple[int, int, int]] = []
        self._rows: dict[ChangingPlaces, tuple[MessageRows, list[int]]] = {}
        self.has_messages = False

    def append(self, record: bytes) -> None:
        """Append a record without an index."""
        self._parts.append((self.size, record))
        self.size += len(record)

    def append_message(self, channel: int, stamp_ns: int, data: bytes) -> None:
        """Append a message."""
        head = message_head(channel, stamp_ns, len(data))
        start = self.size
        begin = start + len(head)
        self._messages.append((channel, stamp_ns, start))
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
            rows.add_block(self.size + starts, sent_ns, stamp_ns, forms, values)
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

    def take(self) -> TakenChunk:
        """Return all records, and begin anew."""
        rows = [(rows.take(), np.array(forms, np.int64)) for rows, forms in self._rows.values()]
        taken = TakenChunk(self.size, self._parts, self._messages, rows)
        self.size, self._parts, self._messages, self.has_messages = 0, [], [], False
        return taken
