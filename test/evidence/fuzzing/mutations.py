# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Ways in which a file can be wrong: each takes its bytes and returns others."""

import re
import struct
from collections.abc import Callable

import numpy as np

_NUMBER = re.compile(rb"(?<![A-Za-z_])[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")
_SLICE = 64
_HEAD = 300
_HUGE = (0xFFFFFFFF, 0x7FFFFFFF, 1 << 31, 1 << 40, (1 << 63) - 1, (1 << 64) - 1, 0, 1)
_HUGE_TEXT = (b"99999999999999", b"4294967296", b"-1", b"1e308", b"-1e308", b"2147483648", b"0")
_NOT_FINITE = (float("nan"), float("inf"), float("-inf"))
_NOT_FINITE_TEXT = (b"nan", b"NaN", b"inf", b"-inf", b"1e999", b".nan")
_TOKENS = (b"abc", b'"x"', b"[]", b"{}", b"null", b"true", b"", b"\xff\xfe", b"\x00", b"../../x")

Rng = np.random.Generator
Mutation = Callable[[Rng, bytes], bytes]


def flip_bits(rng: Rng, data: bytes) -> bytes:
    """Turn one to eight bits round."""
    return _flip(rng, data, len(data))


def flip_bits_of_the_head(rng: Rng, data: bytes) -> bytes:
    """Turn one to eight bits of the first bytes round."""
    return _flip(rng, data, min(len(data), _HEAD))


def cut(rng: Rng, data: bytes) -> bytes:
    """Leave out everything from a place on."""
    return data[: int(rng.integers(len(data)))]


def delete(rng: Rng, data: bytes) -> bytes:
    """Leave out up to 64 bytes."""
    start, stop = _place(rng, data)
    return data[:start] + data[stop:]


def insert(rng: Rng, data: bytes) -> bytes:
    """Put up to 64 bytes of noise in."""
    start, stop = _place(rng, data)
    return data[:start] + rng.bytes(stop - start) + data[start:]


def repeat(rng: Rng, data: bytes) -> bytes:
    """Say up to 64 bytes twice."""
    start, stop = _place(rng, data)
    return data[:stop] + data[start:]


def blank(rng: Rng, data: bytes) -> bytes:
    """Set up to 64 bytes to 0, or to 255."""
    start, stop = _place(rng, data)
    return data[:start] + rng.choice([b"\x00", b"\xff"]) * (stop - start) + data[stop:]


def lie_in_binary(rng: Rng, data: bytes) -> bytes:
    """Write a number that promises too much, or nothing, where one may stand."""
    size = int(rng.choice([2, 4, 8]))
    value = int(rng.choice(np.array(_HUGE, dtype=np.uint64))) & ((1 << 8 * size) - 1)
    top = len(data) if rng.random() < 0.5 else min(len(data), _HEAD)
    return _overwrite(data, int(rng.integers(top)), value.to_bytes(size, "little"))


def lie_in_text(rng: Rng, data: bytes) -> bytes:
    """Replace a number by one that promises too much, or nothing."""
    return _replace_number(rng, data, _HUGE_TEXT)


def not_a_number_in_binary(rng: Rng, data: bytes) -> bytes:
    """Write NaN or infinity where a float may stand."""
    value = float(rng.choice(_NOT_FINITE))
    packed = struct.pack("<f" if rng.random() < 0.5 else "<d", value)
    packed = packed if rng.random() < 0.8 else packed[::-1]
    return _overwrite(data, int(rng.integers(len(data))), packed)


def not_a_number_in_text(rng: Rng, data: bytes) -> bytes:
    """Replace a number by NaN or infinity."""
    return _replace_number(rng, data, _NOT_FINITE_TEXT)


def wrong_type(rng: Rng, data: bytes) -> bytes:
    """Replace a number by a word, a list, or nothing."""
    return _replace_number(rng, data, _TOKENS)


MUTATIONS: dict[str, Mutation] = {
    "flipped bits": flip_bits,
    "flipped bits of the head": flip_bits_of_the_head,
    "cut": cut,
    "deleted bytes": delete,
    "inserted bytes": insert,
    "repeated bytes": repeat,
    "blanked bytes": blank,
    "lying count, binary": lie_in_binary,
    "lying count, text": lie_in_text,
    "NaN, binary": not_a_number_in_binary,
    "NaN, text": not_a_number_in_text,
    "wrong type": wrong_type,
}


def _flip(rng: Rng, data: bytes, top: int) -> bytes:
    out = bytearray(data)
    for place in rng.integers(top, size=int(rng.integers(1, 9))):
        out[place] ^= 1 << int(rng.integers(8))
    return bytes(out)


def _place(rng: Rng, data: bytes) -> tuple[int, int]:
    """Return where a stretch of at most 64 bytes starts and stops."""
    start = int(rng.integers(len(data)))
    return start, min(len(data), start + 1 + int(rng.integers(_SLICE)))


def _overwrite(data: bytes, start: int, value: bytes) -> bytes:
    return (data[:start] + value + data[start + len(value) :])[: max(len(data), 1)]


def _replace_number(rng: Rng, data: bytes, values: tuple[bytes, ...]) -> bytes:
    """Replace one number of a text; one of the first as often as one of all."""
    head = data if rng.random() < 0.5 else data[:_HEAD]
    found = list(_NUMBER.finditer(head))
    if not found:
        return flip_bits(rng, data)
    match = found[int(rng.integers(len(found)))]
    return data[: match.start()] + values[int(rng.integers(len(values)))] + data[match.end() :]
