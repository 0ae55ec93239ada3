# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A tile's content by its first bytes: b3dm, i3dm, cmpt, pnts, GLB or glTF."""

from collections.abc import Callable

import numpy as np

from aerotwin_meshes.gltf.budget import DEFAULT_BYTES, MemoryBudget
from aerotwin_tiles.tile_content.instances import instanced_parts
from aerotwin_tiles.tile_content.parts import (
    ContentContext,
    ContentError,
    TilePart,
    UpAxis,
    gltf_parts,
)
from aerotwin_tiles.tile_content.points import point_parts
from aerotwin_tiles.tile_content.tables import read_body, read_uint32, whole_tile

_T_UP: dict[UpAxis, np.ndarray] = {
    "x": np.array([[0, 0, -1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]], float),
    "y": np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]], float),
    "z": np.eye(4),
}
"""Quarter turns that lay the up axis on z: OGC 22-025r4, 6.7.1.4.1, and the older gltfUpAxis."""
_HERE = np.eye(4)[None]
MAX_COMPOSITE_DEPTH = 8
_JSON_BLANKS = b"\xef\xbb\xbf \t\r\n"  # a byte order mark may stand before them
_LONGEST_BLANK = 256


def read_content(
    data: bytes,
    *,
    uri: str,
    resolve: Callable[[str], bytes],
    up_axis: UpAxis = "y",
    max_bytes: int = DEFAULT_BYTES,
) -> list[TilePart]:
    """Return the meshes and points of a tile's content, in the frame of the tile.

    The list may be empty, as for a glTF of lines alone. ``data`` is the whole file, ``uri`` its
    name relative to the tileset, for names of the parts and messages. ``resolve`` returns the bytes
    of a file (buffer, image, model) that the content refers to relative to itself; its exceptions
    are passed on. ``up_axis`` of the glTF becomes z: glTF has y up, older tilesets name another
    axis as asset.gltfUpAxis; points (pnts) are never rotated. ``max_bytes`` limits the memory of
    the decoded content. Raises `ContentError` if it is damaged or holds what is not supported; the
    message names tile and fault.
    """
    context = ContentContext(
        uri=uri, resolve=resolve, T_up=_T_UP[up_axis], budget=MemoryBudget(max_bytes)
    )
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is refused
            return _read(memoryview(data), context, depth=0)
    except ValueError as error:
        raise ContentError(f"{uri}: not a usable tile content ({error})") from None


def _read(data: memoryview, context: ContentContext, depth: int) -> list[TilePart]:
    magic = bytes(data[:4])
    if magic == b"b3dm":
        return _batched(whole_tile(data), context)
    if magic == b"i3dm":
        return instanced_parts(whole_tile(data), context)
    if magic == b"pnts":
        return point_parts(whole_tile(data), context)
    if magic == b"cmpt":
        return _composite(whole_tile(data), context, depth)
    if magic == b"glTF" or bytes(data[:_LONGEST_BLANK]).lstrip(_JSON_BLANKS)[:1] == b"{":
        return gltf_parts(data, context, _HERE)
    raise ValueError(f"expected b3dm, i3dm, cmpt, pnts, GLB or glTF, it starts with {magic!r}")


def _batched(data: memoryview, context: ContentContext) -> list[TilePart]:
    """Read a batched model: a glTF, moved by RTC_CENTER (clause 10.3)."""
    body = read_body(data)
    T_tile_model = _HERE.copy()
    T_tile_model[0, :3, 3] = body.table.vector("RTC_CENTER", [0.0, 0.0, 0.0])
    return gltf_parts(body.rest, context, T_tile_model)


def _composite(data: memoryview, context: ContentContext, depth: int) -> list[TilePart]:
    """Read the tiles of a composite one after the other (clause 10.5)."""
    if depth >= MAX_COMPOSITE_DEPTH:
        raise ValueError(f"composite tiles are nested more than {MAX_COMPOSITE_DEPTH} deep")
    n_tiles, rest = read_uint32(data[12:])
    parts: list[TilePart] = []
    for _ in range(n_tiles):
        if len(rest) == 0:
            raise ValueError(f"a composite of {n_tiles} tiles ends too early")
        tile = whole_tile(rest)
        parts += _read(tile, context, depth + 1)
        rest = rest[len(tile) :]
    return parts
