# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A glTF document: its JSON tree, its binary chunk, its buffers and their views.

References: Khronos glTF 2.0 specification, clauses 3.6 (buffers, views) and 4 (GLB container).
"""

import base64
import binascii
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from aerotwin_meshes.gltf.budget import MemoryBudget
from aerotwin_meshes.gltf.json_element import JsonElement, parse_json
from aerotwin_meshes.gltf.meshopt import decode_view

GLB_MAGIC = b"glTF"
_CHUNK_JSON, _CHUNK_BIN = 0x4E4F534A, 0x004E4942
_MESHOPT = ("KHR_meshopt_compression", "EXT_meshopt_compression")
_UNDERSTOOD = {
    *_MESHOPT,
    "CESIUM_RTC",
    "EXT_mesh_gpu_instancing",
    "EXT_texture_webp",
    "KHR_draco_mesh_compression",
    "KHR_mesh_quantization",
    "KHR_texture_basisu",
    "KHR_texture_transform",
}
_WITHOUT_EFFECT = {
    "CESIUM_primitive_outline",
    "EXT_feature_metadata",
    "EXT_instance_features",
    "EXT_mesh_features",
    "EXT_structural_metadata",
    "KHR_lights_punctual",
    "KHR_xmp_json_ld",
}
"""Attributes of features, drawn outlines, lamps: they change neither shape nor base colour."""
_MATERIALS = "KHR_materials_"
"""Only the base colour of a material is used; what these extensions add is not."""

Resolve = Callable[[str], bytes]
"""Returns the bytes of a file that stands beside the document, by its relative reference."""


@dataclass(frozen=True, kw_only=True)
class BufferView:
    """A range of a buffer; ``stride``: distance of its elements [bytes], None if contiguous."""

    data: memoryview
    stride: int | None


@dataclass(frozen=True, kw_only=True)
class GltfDocument:
    """An opened glTF document; buffers and views are fetched and decoded once, on demand."""

    root: JsonElement
    binary: memoryview | None
    resolve: Resolve
    budget: MemoryBudget
    _buffers: dict[int, memoryview] = field(init=False, repr=False, default_factory=dict)
    _views: dict[int, BufferView] = field(init=False, repr=False, default_factory=dict)
    _lists: dict[str, list[JsonElement]] = field(init=False, repr=False, default_factory=dict)

    def entry(self, kind: str, index: int, user: str) -> JsonElement:
        """Return an entry of one of the top-level lists ("accessors", "nodes" …)."""
        if kind not in self._lists:
            self._lists[kind] = self.root.elements(kind)
        entries = self._lists[kind]
        if index >= len(entries):
            raise ValueError(f"{user} refers to {kind}[{index}], there are {len(entries)}")
        return entries[index]

    def view(self, index: int, user: str) -> BufferView:
        """Return a buffer view, decompressed where it is compressed by meshopt."""
        if index not in self._views:
            entry = self.entry("bufferViews", index, user)
            packed = [p for name in _MESHOPT if (p := entry.extension(name)) is not None]
            if packed:
                data, stride = decode_view(self._range(packed[0]), packed[0], self.budget)
            else:
                stride = entry.integer("byteStride", None, minimum=1, maximum=2**16)
                data = self._range(entry)
            self._views[index] = BufferView(data=data, stride=stride)
        return self._views[index]

    def _range(self, entry: JsonElement) -> memoryview:
        buffer = self._buffer(entry.integer("buffer"), entry.where)
        start, length = entry.integer("byteOffset", 0), entry.integer("byteLength")
        if start + length > len(buffer):
            raise ValueError(
                f"{entry.where} reaches to byte {start + length} of a buffer of {len(buffer)}"
            )
        return buffer[start : start + length]

    def _buffer(self, index: int, user: str) -> memoryview:
        if index not in self._buffers:
            entry = self.entry("buffers", index, user)
            data, length = self._buffer_data(entry), entry.integer("byteLength")
            if length > len(data):
                raise ValueError(f"{entry.where} has {len(data)} bytes, it says {length}")
            self._buffers[index] = data[:length]
        return self._buffers[index]

    def _buffer_data(self, entry: JsonElement) -> memoryview:
        uri = entry.text("uri", None)
        if uri is not None:
            return memoryview(self.referenced(uri, entry.where))
        if self.binary is None:
            raise ValueError(f"{entry.where} has no uri and the file has no binary chunk")
        return self.binary

    def referenced(self, uri: str, user: str) -> bytes:
        """Return the bytes of a data: URI, or of a file referred to relative to the document."""
        if not uri.startswith("data:"):
            return self.resolve(uri)
        header, comma, body = uri.partition(",")
        self.budget.reserve_bytes(len(body), f"the data of {user}")
        try:
            if header.endswith(";base64") and comma:
                return base64.b64decode(unquote_to_bytes(body), validate=True)
            if comma:
                return unquote_to_bytes(body)
        except binascii.Error as error:
            raise ValueError(f"{user}.uri is not valid base64 ({error})") from None
        raise ValueError(f"{user}.uri is a data: URI without data")


def open_document(
    data: bytes | memoryview, *, resolve: Resolve, budget: MemoryBudget
) -> GltfDocument:
    """Return the document in the bytes of a .glb or .gltf file.

    Raises `ValueError` if it is not glTF 2, or requires an unknown extension, which the message
    names.
    """
    view = memoryview(data)
    text, binary = _split_glb(view) if view[:4] == GLB_MAGIC else (view, None)
    root = parse_json(text, "gltf")
    asset = root.element("asset")
    version = "" if asset is None else asset.text("version", "")
    if not version.startswith("2."):
        raise ValueError(f"gltf.asset.version must be 2.x, got {version!r}; convert it to glTF 2")
    for name in root.texts("extensionsRequired"):
        if name not in _UNDERSTOOD | _WITHOUT_EFFECT and not name.startswith(_MATERIALS):
            raise ValueError(f"it needs the glTF extension {name}, which is not supported")
    return GltfDocument(root=root, binary=binary, resolve=resolve, budget=budget)


def _split_glb(data: memoryview) -> tuple[memoryview, memoryview | None]:
    """Return the JSON and the binary chunk of a GLB container; other chunks are skipped."""
    if len(data) < 20:
        raise ValueError(f"a GLB file has at least 20 bytes, got {len(data)}")
    version, length = struct.unpack_from("<2I", data, 4)
    if version != 2:
        raise ValueError(f"the GLB container has version {version}, expected 2; convert it")
    if length > len(data):
        raise ValueError(f"the GLB header says {length} bytes, there are {len(data)}")
    chunks: list[tuple[int, memoryview]] = []
    at = 12
    while at + 8 <= length:
        size, kind = struct.unpack_from("<2I", data, at)
        at += 8 + size
        if at > length:
            raise ValueError(f"a GLB chunk of {size} bytes reaches beyond the file's {length}")
        chunks.append((kind, data[at - size : at]))
    if not chunks or chunks[0][0] != _CHUNK_JSON:
        raise ValueError("the first chunk of the GLB file is not JSON")
    has_binary = len(chunks) > 1 and chunks[1][0] == _CHUNK_BIN
    return chunks[0][1], chunks[1][1] if has_binary else None
