# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Draco-compressed meshes and point clouds; their counts are checked before memory is allocated.

References: Draco 3D data compression bitstream specification 2.2, "Draco Decoder" (header,
metadata, connectivity); Khronos glTF extension KHR_draco_mesh_compression.
"""

import struct
from dataclasses import dataclass

import numpy as np

from aerotwin_meshes.gltf.budget import MemoryBudget

_POINT_CLOUD, _MESH = 0, 1
_SEQUENTIAL, _EDGE_BREAKER = 0, 1
_HAS_METADATA = 0x8000
_MAX_METADATA_DEPTH = 16
_BYTES_PER_FACE = 12 + 36 + 48  # indices, half-edges, and what joins these meanwhile
_BYTES_PER_POINT = 96  # attributes twice, and the map of their values


@dataclass(frozen=True, kw_only=True)
class DracoGeometry:
    """Content of a Draco stream.

    ``attributes`` are (n, width) arrays as stored, by the unique id of the attribute; ``triangles``
    (m, 3) uint32 vertex indices, empty for a point cloud.
    """

    attributes: dict[int, np.ndarray]
    triangles: np.ndarray


def decode_draco(
    data: bytes | memoryview, what: str, budget: MemoryBudget, *, n_points: int, n_faces: int = 0
) -> DracoGeometry:
    """Return the attributes and triangles of a Draco stream.

    ``what`` is its position in the document, for messages; ``budget`` limits the memory of
    decoding; ``n_points`` and ``n_faces`` are the expected numbers of vertices and triangles, at
    most. Raises `ValueError` if it is damaged, holds more than expected, or needs more memory than
    there is.
    """
    import DracoPy

    stream = bytes(data)
    try:
        faces_inside, points_inside = _Header(stream).counts()
    except (struct.error, IndexError):
        raise ValueError(f"{what}: the Draco stream ends within its header") from None
    if points_inside > n_points or faces_inside > n_faces:
        raise ValueError(
            f"{what}: its Draco stream has {points_inside} points and {faces_inside} triangles, "
            f"expected {n_points} and {n_faces} at most"
        )
    budget.reserve_bytes(faces_inside * _BYTES_PER_FACE + n_points * _BYTES_PER_POINT, what)
    try:
        decoded = DracoPy.decode(stream)
    except (DracoPy.FileTypeException, ValueError, RuntimeError, MemoryError) as error:
        raise ValueError(f"{what}: damaged Draco data ({error})") from None
    attributes = {
        int(attribute["unique_id"]): np.asarray(attribute["data"])
        for attribute in decoded.attributes
    }
    faces = getattr(decoded, "faces", None)
    triangles = np.zeros((0, 3), np.uint32) if faces is None else np.asarray(faces)
    return DracoGeometry(attributes=attributes, triangles=triangles.reshape(-1, 3))


class _Header:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def counts(self) -> tuple[int, int]:
        """Return the number of faces, and of points before seams split some of them."""
        magic, major, minor, kind, method, flags = struct.unpack_from("<5s4BH", self._data)
        if magic != b"DRACO" or kind not in (_POINT_CLOUD, _MESH):
            raise ValueError("a Draco stream does not start as one")
        self._at = 11
        version = (major, minor)
        if flags & _HAS_METADATA:
            for _ in range(self._number()):
                self._number()
                self._skip_metadata(0)
            self._skip_metadata(0)
        if kind == _POINT_CLOUD:
            return 0, self._fixed()
        if method == _SEQUENTIAL:
            read = self._number if version >= (2, 2) else self._fixed
            return read(), read()
        return self._edge_breaker_counts(version)

    def _edge_breaker_counts(self, version: tuple[int, int]) -> tuple[int, int]:
        self._at += 1  # kind of traversal
        read = self._number if version >= (2, 0) else self._fixed
        if version < (2, 2):
            read()
        n_vertices, n_faces = read(), read()
        return n_faces, n_vertices

    def _skip_metadata(self, depth: int) -> None:
        if depth > _MAX_METADATA_DEPTH:
            raise ValueError(f"Draco metadata is nested more than {_MAX_METADATA_DEPTH} deep")
        for _ in range(self._number()):
            self._at += 1 + self._data[self._at]
            value_bytes = self._number()
            self._at += value_bytes
        for _ in range(self._number()):
            self._at += 1 + self._data[self._at]
            self._skip_metadata(depth + 1)

    def _number(self) -> int:
        """Read a varint: 7 bits a byte, low bits first."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number in a Draco header does not end")

    def _fixed(self) -> int:
        self._at += 4
        return struct.unpack_from("<I", self._data, self._at - 4)[0]
