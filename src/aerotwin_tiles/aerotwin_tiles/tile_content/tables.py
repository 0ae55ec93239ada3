# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Headers and feature tables of the older tile formats (OGC 22-025r4, clause 10)."""

import struct
from dataclasses import dataclass

import numpy as np

from aerotwin_meshes.gltf.json_element import JsonElement, parse_json

HEADER_BYTES = 28
_LENGTHS_AT = 12
_VERSION = 1
_NOT_A_LENGTH = 0x22000000
"""A JSON text ('"', '{', '[' or a blank-padded one) or the magic "glTF", read as a length, is
larger than this, and no table is: so the two older headers of b3dm are told from today's."""


@dataclass(frozen=True, kw_only=True)
class FeatureTable:
    """The JSON and the binary part of a feature table."""

    json: JsonElement
    binary: memoryview

    def has(self, name: str) -> bool:
        """Tell whether it holds a property."""
        return name in self.json.values

    def array(self, name: str, dtype: str, count: int, width: int) -> np.ndarray:
        """Return a property of every feature, (count, width), from the binary part.

        Raises `ValueError` if it reaches beyond that part or holds NaN or infinity.
        """
        reference = self.json.element(name)
        if reference is None:
            raise self.json.wrong(name, "a place in the binary part")
        start = reference.integer("byteOffset")
        end = start + count * width * np.dtype(dtype).itemsize
        if end > len(self.binary):
            raise ValueError(
                f"{reference.where} reaches to byte {end} of a feature table of {len(self.binary)}"
            )
        values = np.ndarray((count, width), dtype, self.binary, start)
        if not np.isfinite(values).all():
            raise ValueError(f"{reference.where} is NaN or infinite somewhere")
        return values

    def vector(self, name: str, default: list[float] | None = None) -> np.ndarray:
        """Return a global property of three numbers, from either part."""
        if isinstance(self.json.values.get(name), dict):
            return self.array(name, "<f4", 1, 3)[0].astype(np.float64)
        return self.json.numbers(name, 3, default) if default else self.json.numbers(name, 3)


@dataclass(frozen=True, kw_only=True)
class TileBody:
    """Feature table of a tile of an older format (empty if it has none), and the data after it."""

    table: FeatureTable
    rest: memoryview


def whole_tile(data: memoryview) -> memoryview:
    """Return the bytes that a tile's header declares (magic, version, byteLength).

    Raises `ValueError` if there are fewer, or the version is unknown.
    """
    if len(data) < 12:
        raise ValueError(f"a tile has at least 12 bytes, got {len(data)}")
    version, length = struct.unpack_from("<2I", data, 4)
    if version != _VERSION:
        raise ValueError(f"version {version} of the format is unknown, expected {_VERSION}")
    if not 12 <= length <= len(data):
        raise ValueError(f"the header says {length} bytes, there are {len(data)}")
    return data[:length]


def read_uint32(data: memoryview) -> tuple[int, memoryview]:
    """Return the number at the start of data, and the data after it."""
    if len(data) < 4:
        raise ValueError("the header is not whole")
    return struct.unpack_from("<I", data)[0], data[4:]


def read_body(data: memoryview, *, header_bytes: int = HEADER_BYTES) -> TileBody:
    """Parse a whole tile that has a feature and a batch table.

    Older b3dm tiles have two or three lengths in place of the four (of the JSON and the binary
    part of both tables): the batch length and the batch table, or its two parts and its length.
    A header longer than the default has no older forms.
    """
    start = header_bytes
    if len(data) < start:
        raise ValueError(f"the header has {start} bytes, there are {len(data)}")
    lengths = struct.unpack_from("<4I", data, _LENGTHS_AT)
    if start == HEADER_BYTES and lengths[2] >= _NOT_A_LENGTH:
        start, lengths = 20, (0, 0, lengths[1], 0)
    elif start == HEADER_BYTES and lengths[3] >= _NOT_A_LENGTH:
        start, lengths = 24, (0, 0, lengths[0], lengths[1])
    if start + sum(lengths) > len(data):
        raise ValueError(f"its tables reach to byte {start + sum(lengths)} of {len(data)}")
    split = start + lengths[0]
    text, binary = data[start:split], data[split : split + lengths[1]]
    where = "the feature table"
    json = parse_json(text, where) if len(text) else JsonElement({}, where)
    table = FeatureTable(json=json, binary=binary)
    return TileBody(table=table, rest=data[start + sum(lengths) :])
