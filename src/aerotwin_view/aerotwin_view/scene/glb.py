# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Textured meshes as binary glTF 2.0, unlit: a browser shows the colours that a camera would see.

Written here because trimesh cannot join a texture with the light at the vertices.
"""

import json
from typing import Any

import cv2
import numpy as np

from aerotwin_meshes import TexturedMesh

_MAGIC, _VERSION, _JSON, _BINARY = 0x46546C67, 2, 0x4E4F534A, 0x004E4942
_FLOAT, _UINT32 = 5126, 5125
_VERTICES, _INDICES = 34962, 34963
_CLAMP, _REPEAT = 33071, 10497
_JPEG_QUALITY = 85


def textured_glb(mesh: TexturedMesh, *, most_texture_px: int = 4096) -> bytes:
    """Return a mesh as a GLB file, its texture as JPEG with sides of at most `most_texture_px`.

    Axes and units are those of the mesh; both sides of a triangle are visible.
    """
    buffer = _Buffer()
    attributes = {
        "POSITION": buffer.add_positions(mesh),
        "TEXCOORD_0": buffer.add_array(mesh.uv.astype(np.float32), _VERTICES),
    }
    if mesh.light is not None:
        colours = np.repeat(np.clip(mesh.light, 0.0, 1.0)[:, None], 3, axis=1)
        attributes["COLOR_0"] = buffer.add_array(colours.astype(np.float32), _VERTICES)
    indices = buffer.add_array(mesh.triangles.astype(np.uint32).reshape(-1), _INDICES)
    image = buffer.add_bytes(_jpeg(mesh.texture, most_texture_px))
    wrap = _REPEAT if mesh.repeats else _CLAMP
    document = {
        "asset": {"version": "2.0"},
        "extensionsUsed": ["KHR_materials_unlit"],
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": attributes, "indices": indices, "material": 0}]}],
        "materials": [
            {
                "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": 0.0},
                "doubleSided": True,
                "extensions": {"KHR_materials_unlit": {}},
            }
        ],
        "textures": [{"source": 0, "sampler": 0}],
        "samplers": [{"wrapS": wrap, "wrapT": wrap}],
        "images": [{"bufferView": image, "mimeType": "image/jpeg"}],
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
        "buffers": [{"byteLength": len(buffer.content)}],
    }
    return _file(document, bytes(buffer.content))


class _Buffer:
    """The binary part of a file, and the description of what is in it."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.views: list[dict[str, int]] = []
        self.accessors: list[dict[str, Any]] = []

    def add_bytes(self, data: bytes, **more: int) -> int:
        """Add data, aligned to four bytes; return the number of its view."""
        view = {"buffer": 0, "byteOffset": len(self.content), "byteLength": len(data), **more}
        self.views.append(view)
        self.content += data + bytes(-len(data) % 4)
        return len(self.views) - 1

    def add_array(self, array: np.ndarray, target: int) -> int:
        """Add vectors (n, k) of floats or n indices; return the number of the accessor."""
        view = self.add_bytes(array.tobytes(), target=target)
        kind = "SCALAR" if array.ndim == 1 else f"VEC{array.shape[1]}"
        accessor = {
            "bufferView": view,
            "componentType": _FLOAT if array.dtype == np.float32 else _UINT32,
            "count": len(array),
            "type": kind,
        }
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def add_positions(self, mesh: TexturedMesh) -> int:
        """Add the vertices of a mesh and, as glTF requires, their bounds; see `add_array`."""
        number = self.add_array(mesh.vertices_map.astype(np.float32), _VERTICES)
        low, high = mesh.bounds_m.astype(np.float32).tolist()
        self.accessors[number].update({"min": low, "max": high})
        return number


def _jpeg(texture: np.ndarray, most_px: int) -> bytes:
    size = max(texture.shape[:2])
    if size > most_px:
        shape = [max(round(n * most_px / size), 1) for n in texture.shape[1::-1]]
        texture = cv2.resize(texture, shape, interpolation=cv2.INTER_AREA)
    bgr = cv2.cvtColor(texture, cv2.COLOR_RGB2BGR)
    _, encoded = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    return encoded.tobytes()


def _file(document: dict[str, Any], binary: bytes) -> bytes:
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = _chunk(_JSON, text) + _chunk(_BINARY, binary)
    head = np.array([_MAGIC, _VERSION, 12 + len(chunks)], "<u4").tobytes()
    return head + chunks


def _chunk(kind: int, data: bytes) -> bytes:
    return np.array([len(data), kind], "<u4").tobytes() + data
