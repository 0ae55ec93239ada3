# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages of fixed layout kept as rows of numbers, serialised many at once by compiled code."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import float64, int64, uint8, void

from aerotwin_core.kernel_cache import njit

Values = Sequence[float] | np.ndarray
"""The changing numbers of a message of fixed layout."""
_NANOSECONDS = 1_000_000_000
_FIRST_ROWS = 256


@njit(
    void(
        uint8[::1],
        int64[:, ::1],
        float64[:, ::1],
        uint8[::1],
        int64[::1],
        int64[::1],
        int64[::1],
        int64[::1],
    ),
    cache=True,
    nogil=True,
)
def _write(buffer, rows, values, templates, ends, times, stamps, places):
    """Write records to a buffer: copies of their templates, then stamps and numbers.

    A row has the start of its record, when it was sent and its stamp [ns], and its template, which
    lies before its end in `templates`. `times` are the places of the former in nanoseconds,
    `stamps` those of the stamp in seconds and nanoseconds, `places` those of the numbers.
    """
    bits = values.view(np.uint64)
    for k in range(len(rows)):
        start, sent_ns, stamp_ns, form = rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3]
        begin = ends[form - 1] if form > 0 else 0
        buffer[start : start + ends[form] - begin] = templates[begin : ends[form]]
        seconds = stamp_ns // _NANOSECONDS
        nanoseconds = stamp_ns - seconds * _NANOSECONDS
        for place in times:
            for b in range(8):
                buffer[start + place + b] = (sent_ns >> 8 * b) & 0xFF
        for place in stamps:
            for b in range(4):
                buffer[start + place + b] = (seconds >> 8 * b) & 0xFF
                buffer[start + place + 4 + b] = (nanoseconds >> 8 * b) & 0xFF
        for j in range(len(places)):
            number = bits[k, j]
            for b in range(8):
                buffer[start + places[j] + b] = (number >> np.uint64(8 * b)) & np.uint64(0xFF)


class ChangingPlaces:
    """Where stamps (seconds and nanoseconds) and numbers (float64) stand in a message."""

    def __init__(self, stamps: tuple[int, ...], values: tuple[int, ...]) -> None:
        self.stamps, self.values = np.array(stamps, np.int64), np.array(values, np.int64)

    def new_rows(self, head_bytes: int, head_times: Sequence[int]) -> "MessageRows":
        """Return no rows of messages with a head, which has the time of sending, uint64 [ns]."""
        return MessageRows(self, head_bytes, head_times)


class TakenRows(NamedTuple):
    """Messages that no longer change: they may be written in another thread."""

    rows: np.ndarray
    """Start, time of sending [ns], stamp [ns] and form of each, (n, 4) int64."""
    values: np.ndarray
    templates: np.ndarray
    ends: np.ndarray
    """Where the template of each form ends."""
    places: tuple[np.ndarray, np.ndarray, np.ndarray]

    def write(self, buffer: np.ndarray) -> None:
        """Write the messages to a buffer (m,) uint8."""
        _write(buffer, self.rows, self.values, self.templates, self.ends, *self.places)


class MessageRows:
    """Messages with equal places; their templates, head and message, differ in constant bytes."""

    def __init__(self, places: ChangingPlaces, head_bytes: int, head_times: Sequence[int]) -> None:
        stamps, values = places.stamps + head_bytes, places.values + head_bytes
        self._places = np.array(head_times, np.int64), stamps, values
        self._forms: dict[bytes, int] = {}
        self._joined: tuple[np.ndarray, np.ndarray] | None = None
        """All templates and their ends; None once there is another one."""
        self._n = 0
        self._rows = np.empty((_FIRST_ROWS, 4), np.int64)
        self._values = np.empty((_FIRST_ROWS, len(places.values)))

    def form_of(self, template: bytes) -> int:
        """Return the number of a template: head and message."""
        if template not in self._forms:
            self._forms[template] = len(self._forms)
            self._joined = None
        return self._forms[template]

    def add(self, start: int, sent_ns: int, stamp_ns: int, form: int, values: Values) -> None:
        """Keep a message that is to start at a place in the buffer; its values are copied."""
        n = self._n
        if n == len(self._rows):
            self._grow()
        self._rows[n] = start, sent_ns, stamp_ns, form
        self._values[n] = values
        self._n = n + 1

    def add_block(
        self,
        starts: np.ndarray,
        sent_ns: int,
        stamp_ns: int,
        forms: Sequence[int],
        values: np.ndarray,
    ) -> None:
        """Keep messages of one instant, as `add`: their starts, forms and numbers (n, k)."""
        begin, end = self._n, self._n + len(starts)
        while end > len(self._rows):
            self._grow()
        rows = self._rows[begin:end]
        rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3] = starts, sent_ns, stamp_ns, forms
        self._values[begin:end] = values
        self._n = end

    def take(self) -> TakenRows:
        """Return the kept messages, and keep none."""
        n, rows, values = self._n, self._rows, self._values
        self._n, self._rows, self._values = 0, np.empty_like(rows), np.empty_like(values)
        if self._joined is None:
            templates = np.frombuffer(b"".join(self._forms), np.uint8).copy()
            self._joined = templates, np.cumsum([len(template) for template in self._forms])
        templates, ends = self._joined
        return TakenRows(rows[:n], values[:n], templates, ends, self._places)

    def _grow(self) -> None:
        self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._values = np.concatenate([self._values, np.empty_like(self._values)])
