# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Subtrees of implicit tiling: which tiles, contents and further subtrees exist.

Reference: OGC 22-025r4, 3D Tiles 1.1, clause 7 (availability 7.6, JSON and binary format 7.7).
Drafts and the extension of 1.0 use ``bufferView`` for ``bitstream`` and one content availability
in place of a list; both are read.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

from aerotwin_meshes.gltf.json_element import JsonElement, parse_json

MAX_SUBTREE_BITS = 27
"""Largest log2 of the number of child subtrees: bitstreams of 16 MiB."""
_HEADER = struct.Struct("<4sIQQ")
_MAGIC = b"subt"


@dataclass(frozen=True, kw_only=True)
class Availability:
    """One bit for each of n nodes: a constant, or a bitstream, least significant bit first."""

    constant: bool = False
    bits: bytes | None = None

    def __getitem__(self, index: int) -> bool:
        if self.bits is None:
            return self.constant
        return bool(self.bits[index >> 3] >> (index & 7) & 1)


@dataclass(frozen=True, kw_only=True)
class Subtree:
    """Availability of the tiles, their contents, and the subtrees below.

    ``tiles`` go by level, then in Morton order; ``contents`` has one entry for each content that a
    tile may have; ``children`` are the subtrees whose roots lie one level below the lowest, in
    Morton order.
    """

    tiles: Availability
    contents: tuple[Availability, ...]
    children: Availability


def n_nodes(n_axes: int, n_levels: int) -> int:
    """Return the number of nodes of a full tree with 2**n_axes children per node."""
    return (2 ** (n_axes * n_levels) - 1) // (2**n_axes - 1)


def node_index(n_axes: int, level: int, cell: tuple[int, ...]) -> int:
    """Return the index of a node in a bitstream ordered by level, then in Morton order."""
    return n_nodes(n_axes, level) + morton_index(cell)


def morton_index(cell: tuple[int, ...]) -> int:
    """Interleave the bits of x, y (and z); x has the lowest.

    Examples
    --------
    >>> morton_index((0b11, 0b01))
    7
    >>> morton_index((1, 0, 1))
    5
    """
    n_axes = len(cell)
    index = 0
    for axis, number in enumerate(cell):
        for bit in range(number.bit_length()):
            index |= (number >> bit & 1) << (bit * n_axes + axis)
    return index


def read_subtree(
    data: bytes, where: str, *, n_axes: int, n_levels: int, resolve: Callable[[str], bytes]
) -> Subtree:
    """Read a subtree file, binary or JSON, of a quadtree (2 axes) or an octree (3).

    ``where`` is its address, for messages; ``resolve`` returns the bytes of a buffer in a separate
    file; ``n_levels`` are those of one subtree. Raises `ValueError` if a length or a value violates
    the standard.
    """
    text, chunk = _split(data, where)
    json = parse_json(text, where)
    reader = _Reader(json=json, chunk=chunk, resolve=resolve)
    n_tiles = n_nodes(n_axes, n_levels)
    tiles = reader.availability(json.element("tileAvailability"), n_tiles)
    if tiles is None:
        raise json.wrong("tileAvailability", "an object")
    below = reader.availability(json.element("childSubtreeAvailability"), 2 ** (n_axes * n_levels))
    contents = [reader.availability(element, n_tiles) for element in _content_elements(json)]
    return Subtree(
        tiles=tiles,
        contents=tuple(content for content in contents if content is not None),
        children=Availability() if below is None else below,
    )


def _content_elements(json: JsonElement) -> list[JsonElement]:
    if isinstance(json.values.get("contentAvailability"), dict):
        single = json.element("contentAvailability")
        return [] if single is None else [single]
    extension = json.extension("3DTILES_multiple_contents")
    return (json if extension is None else extension).elements("contentAvailability")


def _split(data: bytes, where: str) -> tuple[bytes, bytes]:
    """Return the JSON and the binary chunk of a subtree file."""
    if not data.startswith(_MAGIC):
        return data, b""
    if len(data) < _HEADER.size:
        raise ValueError(f"{where} ends within its header of {_HEADER.size} bytes")
    _, version, n_json, n_chunk = _HEADER.unpack_from(data)
    if version != 1:
        raise ValueError(f"{where} must be a subtree of version 1, got {version}")
    if _HEADER.size + n_json + n_chunk > len(data):
        raise ValueError(
            f"{where} must have {n_json} bytes of JSON and {n_chunk} of bits, got {len(data)}"
        )
    start = _HEADER.size + n_json
    return data[_HEADER.size : start], data[start : start + n_chunk]


@dataclass(frozen=True, kw_only=True)
class _Reader:
    json: JsonElement
    chunk: bytes
    resolve: Callable[[str], bytes]

    def availability(self, element: JsonElement | None, n: int) -> Availability | None:
        """Return n bits; None if the file has no such entry."""
        if element is None:
            return None
        if "constant" in element.values:
            return Availability(constant=element.integer("constant", maximum=1) == 1)
        key = "bitstream" if "bitstream" in element.values else "bufferView"
        bits = self._view(element.integer(key))
        if len(bits) < (n + 7) // 8:
            raise ValueError(f"{element.where} must have {n} bits, got {len(bits)} bytes")
        return Availability(bits=bits)

    def _view(self, index: int) -> bytes:
        views = self.json.elements("bufferViews")
        if index >= len(views):
            raise ValueError(f"{self.json.where} has no bufferViews[{index}]")
        view = views[index]
        buffer = self._buffer(view.integer("buffer"))
        start, length = view.integer("byteOffset", 0), view.integer("byteLength")
        if start + length > len(buffer):
            raise ValueError(
                f"{view.where} ends at byte {start + length} of a buffer of {len(buffer)}"
            )
        return buffer[start : start + length]

    def _buffer(self, index: int) -> bytes:
        buffers = self.json.elements("buffers")
        if index >= len(buffers):
            raise ValueError(f"{self.json.where} has no buffers[{index}]")
        uri = buffers[index].text("uri", None)
        return self.chunk if uri is None else self.resolve(uri)
