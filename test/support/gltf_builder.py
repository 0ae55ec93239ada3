# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""glTF files and tiles, packed by hand: nothing here is shared with the code under test.

A conftest imports the fixtures that its tests need.
"""

import base64
import json
import struct
from typing import Any

import cv2
import numpy as np
import pytest

COMPONENTS = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}

# A quadrilateral whose four corners differ in every coordinate.
QUAD = np.array([[0, 0, 1], [4, 0, 2], [4, 8, 3], [0, 8, 5]], np.float32)
QUAD_UV = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32)
QUAD_TRIANGLES = np.array([0, 1, 2, 0, 2, 3], np.uint16)


class Gltf:
    """A glTF file that grows part by part."""

    def __init__(self) -> None:
        self.body = b""
        self.tree: dict[str, Any] = {"asset": {"version": "2.0"}}

    def add(self, kind: str, **entry: Any) -> int:
        entries = self.tree.setdefault(kind, [])
        entries.append(entry)
        return len(entries) - 1

    def view(self, data: bytes, **entry: Any) -> int:
        self.body += b"\0" * (-len(self.body) % 4)
        start = len(self.body)
        self.body += data
        return self.add("bufferViews", buffer=0, byteOffset=start, byteLength=len(data), **entry)

    def accessor(self, array, **entry: Any) -> int:
        array = np.ascontiguousarray(array)
        entry.setdefault("bufferView", self.view(array.tobytes()))
        width = array.shape[1] if array.ndim == 2 else 1
        kind = array.dtype.kind + str(array.dtype.itemsize)
        return self.add(
            "accessors",
            componentType=COMPONENTS[kind],
            count=len(array),
            type=KINDS[width],
            **entry,
        )

    def image(self, data: bytes, **entry: Any) -> int:
        return self.add("images", bufferView=self.view(data), mimeType="image/png", **entry)

    def textured(self, image: int, *, sampler: dict | None = None, transform=None, **surface: Any):
        """Add a material that shows an image."""
        entry = {"source": image}
        if sampler is not None:
            entry["sampler"] = self.add("samplers", **sampler)
        reference: dict[str, Any] = {"index": self.add("textures", **entry)}
        if transform is not None:
            reference["extensions"] = {"KHR_texture_transform": transform}
        surface = {"baseColorTexture": reference, **surface}
        return self.add("materials", pbrMetallicRoughness=surface)

    def mesh(self, attributes: dict[str, int], **primitive: Any) -> int:
        return self.add("meshes", primitives=[{"attributes": attributes, **primitive}])

    def quad(self, *, uv=None, colours=None, **primitive: Any) -> int:
        attributes = {"POSITION": self.accessor(QUAD)}
        if uv is not None:
            attributes["TEXCOORD_0"] = self.accessor(np.asarray(uv, np.float32))
        if colours is not None:
            attributes["COLOR_0"] = self.accessor(np.asarray(colours, np.float32))
        return self.mesh(attributes, indices=self.accessor(QUAD_TRIANGLES), **primitive)

    def scene(self, **node: Any) -> "Gltf":
        """Show the last mesh at a node, alone."""
        node = {"mesh": len(self.tree["meshes"]) - 1, **node}
        self.tree["scenes"] = [{"nodes": [self.add("nodes", **node)]}]
        return self

    def glb(self) -> bytes:
        tree = {**self.tree}
        if self.body:
            tree.setdefault("buffers", [{}])[0]["byteLength"] = len(self.body)
        text = json.dumps(tree).encode()
        text += b" " * (-len(text) % 4)
        body = self.body + b"\0" * (-len(self.body) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text
        if body:
            chunks += struct.pack("<I4s", len(body), b"BIN\0") + body
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks

    def json(self, uri: str | None = None) -> bytes:
        """Return the file as text, its buffer in a file beside it or in itself."""
        inside = "data:application/octet-stream;base64," + base64.b64encode(self.body).decode()
        buffer = {"byteLength": len(self.body), "uri": uri or inside}
        return json.dumps({**self.tree, "buffers": [buffer]}).encode()


def no_file(uri: str) -> bytes:
    raise AssertionError(f"{uri} was asked for")


def make_png(pixels: np.ndarray, kind: str = ".png", *options: int) -> bytes:
    return cv2.imencode(kind, pixels[..., ::-1], list(options))[1].tobytes()


def make_tile(magic: bytes, table: dict, binary: bytes = b"", rest: bytes = b"", more=b"") -> bytes:
    """Return a tile of today's header; `more` are header fields behind the common ones."""
    text = json.dumps(table).encode() if table else b""
    text += b" " * (-(28 + len(more) + len(text)) % 8)
    batch = b'{"id":[7]} '  # must be passed over
    length = 28 + len(more) + len(text) + len(binary) + len(batch) + len(rest)
    header = struct.pack("<4s6I", magic, 1, length, len(text), len(binary), len(batch), 0)
    return header + more + text + binary + batch + rest


@pytest.fixture
def gltf():
    """The class `Gltf`."""
    return Gltf


@pytest.fixture
def png():
    """The function `make_png`."""
    return make_png


@pytest.fixture
def quad_file():
    """A plain glTF file of one quadrilateral."""
    file = Gltf()
    file.quad()
    return file.scene()


@pytest.fixture
def quad_corners():
    """The corners of that quadrilateral's triangles, (2, 3, 3)."""
    return QUAD[QUAD_TRIANGLES].reshape(2, 3, 3)


@pytest.fixture
def quad_positions():
    return QUAD


@pytest.fixture
def quad_uv():
    return QUAD_UV
