# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Serialise messages of fixed length in microseconds: only their numbers change.

A message whose strings and array lengths are constant has its numbers at constant offsets in the
CDR bytes. The offsets are found once, by serialising marker values, and checked against a complete
serialisation.
"""

import re
import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from aerotwin_core.message_rows import ChangingPlaces, Values
from aerotwin_core.messages import serialize

_FIRST_MARKER = 1234.5678901234567
_STAMP_MARKER_NS = 1_111_111_111_222_222_222
_STAMP = struct.Struct("<iI")
_DOUBLE = struct.Struct("<d")
_NANOSECONDS = 1_000_000_000


class _Part(NamedTuple):
    """Numbers that change: their place, a `struct` code for each, and which values they are.

    Without values it is a stamp.
    """

    offset: int
    codes: str
    taken: slice | None = None


_shared_places = cache(ChangingPlaces)


class FixedLayout:
    """Bytes of a message as a function of its stamp and of its changing numbers.

    `build` makes the message of a stamp [ns] and `n_values` floats, each of which goes unchanged
    into one float64 field. The stamp may be in several headers. `template` are the bytes of some
    message, from which others differ in `places` only; layouts of equal places share the object.

    Raises `ValueError` if a number cannot be found in the bytes: it is not stored unchanged.
    """

    def __init__(self, build: Callable[[int, Sequence[float]], Any], n_values: int) -> None:
        markers = [_FIRST_MARKER + 17.25 * k for k in range(n_values)]
        self.template = serialize(build(_STAMP_MARKER_NS, markers))
        stamp = _STAMP.pack(*divmod(_STAMP_MARKER_NS, _NANOSECONDS))
        stamps = [match.start() for match in re.finditer(re.escape(stamp), self.template)]
        if not stamps:
            raise ValueError("the stamp must stand in the message, unchanged")
        places = [self._place(_DOUBLE.pack(m), f"value {k}") for k, m in enumerate(markers)]
        self.places = _shared_places(tuple(stamps), tuple(places))
        self._compile([_Part(offset, "iI") for offset in stamps] + _contiguous(places))
        self._check(build, n_values)

    def pack(self, stamp_ns: int, values: Values) -> bytes:
        """Return the CDR bytes of the message."""
        arguments = self._arguments
        stamp = divmod(stamp_ns, _NANOSECONDS)
        for place in self._stamps:
            arguments[place] = stamp
        for place, taken in self._runs:
            arguments[place] = values[taken]
        return self._pack(*arguments)

    def _compile(self, changing: list[_Part]) -> None:
        """Make one structure of the whole message: bytes that stay, between parts that change."""
        self._arguments: list[Any] = []
        self._stamps: list[slice] = []
        self._runs: list[tuple[slice, slice]] = []
        form, end = "<", 0
        for offset, codes, taken in sorted(changing, key=lambda part: part.offset):
            self._arguments.append(self.template[end:offset])
            place = slice(len(self._arguments), len(self._arguments) + len(codes))
            self._arguments += [0] * len(codes)
            if taken is None:
                self._stamps.append(place)
            else:
                self._runs.append((place, taken))
            form += f"{offset - end}s{codes}"
            end = offset + struct.calcsize(f"<{codes}")
        self._arguments.append(self.template[end:])
        self._pack = struct.Struct(f"{form}{len(self.template) - end}s").pack

    def _place(self, pattern: bytes, name: str) -> int:
        if self.template.count(pattern) != 1:
            raise ValueError(f"{name} must stand once in the message, unchanged")
        return self.template.index(pattern)

    def _check(self, build: Callable[[int, Sequence[float]], Any], n_values: int) -> None:
        values = [0.5 - 3.0 * k for k in range(n_values)]
        if self.pack(7_000_000_003, values) != serialize(build(7_000_000_003, values)):
            raise ValueError("the message changes elsewhere than at its numbers")


def _contiguous(places: list[int]) -> list[_Part]:
    """Return each run of neighbouring float64 fields, at the places of the values in turn."""
    runs = []
    first = 0
    for k in range(1, len(places) + 1):
        if k == len(places) or places[k] != places[k - 1] + _DOUBLE.size:
            runs.append(_Part(places[first], "d" * (k - first), slice(first, k)))
            first = k
    return runs
