# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Write binary glTF 2.0 files (GLB)."""

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from aerotwin_core.atomic_file import atomic_file
from aerotwin_meshes.gltf.colours import linear_from_srgb
from aerotwin_meshes.gltf.materials import CLAMP, REPEAT
from aerotwin_meshes.mesh import TexturedMesh

_VERSION = 2
_MAX_BYTES = 2**32 - 1  # the header counts them in 32 bits
_FLOAT, _UNSIGNED_INT = 5126, 5125
_VERTICES, _INDICES = 34962, 34963  # what a buffer view is for
_LINEAR, _TRILINEAR = 9729, 9987


def write_glb(path: Path, meshes: Sequence[TexturedMesh], *, copyright_text: str = "") -> None:
    """Write textured meshes in the map frame as one GLB file with y up, whole or not at all.

    Positions are rounded to single precision. A texture that several meshes share is written once.
    Light becomes grey vertex colours; light above 1, which glTF does not have, is clipped to 1.
    ``copyright_text`` is that of the asset. Raises `ValueError` if the file would be larger than
    GLB can be.
    """
    body = _Body()
    for mesh in meshes:
        body.add_mesh(mesh)
    document = {
        "asset": {
            "version": "2.0",
            "generator": "aerotwin_worlds",
            **({"copyright": copyright_text} if copyright_text else {}),
        },
        "scene": 0,
        "scenes": [{"nodes": list(range(len(meshes)))}],
        "nodes": [{"mesh": i} for i in range(len(meshes))],
        "samplers": [
            {"magFilter": _LINEAR, "minFilter": _TRILINEAR, "wrapS": wrap, "wrapT": wrap}
            for wrap in (CLAMP, REPEAT)
        ],
        "buffers": [{"byteLength": body.n_bytes}],
        **body.lists,
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    length = 12 + 8 + len(text) + 8 + body.n_bytes
    if length > _MAX_BYTES:
        raise ValueError(f"{path} would have {length} bytes, GLB files have {_MAX_BYTES} at most")
    with atomic_file(path) as file:
        file.write(struct.pack("<4s2I", b"glTF", _VERSION, length))
        file.write(struct.pack("<I4s", len(text), b"JSON") + text)
        file.write(struct.pack("<I4s", body.n_bytes, b"BIN\0"))
        file.writelines(body.chunks)


class _Body:
    """The binary chunk as it grows, and the lists of the JSON tree that describe it."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.n_bytes = 0
        names = "meshes materials textures images accessors bufferViews"
        self.lists: dict[str, list[dict[str, Any]]] = {name: [] for name in names.split()}
        self._images: dict[int, int] = {}
        self._materials: dict[tuple[int, bool], int] = {}

    def add_mesh(self, mesh: TexturedMesh) -> None:
        x, y, z = mesh.vertices_map.T
        positions = np.column_stack([x, z, -y]).astype("<f4")
        bounds = {"min": positions.min(axis=0).tolist(), "max": positions.max(axis=0).tolist()}
        attributes = {
            "POSITION": self._add_array(positions, "VEC3", _VERTICES, **bounds),
            "TEXCOORD_0": self._add_array(mesh.uv.astype("<f4"), "VEC2", _VERTICES),
        }
        if mesh.light is not None:
            grey = linear_from_srgb(np.minimum(mesh.light, 1.0)).astype("<f4")
            colours = np.repeat(grey[:, None], 3, axis=1)
            attributes["COLOR_0"] = self._add_array(colours, "VEC3", _VERTICES)
        primitive = {
            "attributes": attributes,
            "indices": self._add_array(mesh.triangles.astype("<u4").ravel(), "SCALAR", _INDICES),
            "material": self._material(mesh),
        }
        self._add("meshes", {"name": mesh.name, "primitives": [primitive]})

    def _add(self, kind: str, entry: dict[str, Any]) -> int:
        self.lists[kind].append(entry)
        return len(self.lists[kind]) - 1

    def _add_data(self, data: bytes, **entries: int) -> int:
        view = {"buffer": 0, "byteOffset": self.n_bytes, "byteLength": len(data), **entries}
        padded = data + b"\0" * (-len(data) % 4)
        self.chunks.append(padded)
        self.n_bytes += len(padded)
        return self._add("bufferViews", view)

    def _add_array(self, array: np.ndarray, kind: str, target: int, **entries: Any) -> int:
        accessor = {
            "bufferView": self._add_data(array.tobytes(), target=target),
            "componentType": _FLOAT if array.dtype.kind == "f" else _UNSIGNED_INT,
            "count": len(array),
            "type": kind,
            **entries,
        }
        return self._add("accessors", accessor)

    def _material(self, mesh: TexturedMesh) -> int:
        key = (id(mesh.texture), mesh.repeats)
        if key not in self._materials:
            texture = {"source": self._image(mesh.texture), "sampler": int(mesh.repeats)}
            surface = {
                "baseColorTexture": {"index": self._add("textures", texture)},
                "metallicFactor": 0,
            }
            material = {"pbrMetallicRoughness": surface, "doubleSided": True}
            self._materials[key] = self._add("materials", material)
        return self._materials[key]

    def _image(self, texture: np.ndarray) -> int:
        if id(texture) not in self._images:
            png = cv2.imencode(".png", texture[..., ::-1])[1].tobytes()
            image = {"bufferView": self._add_data(png), "mimeType": "image/png"}
            self._images[id(texture)] = self._add("images", image)
        return self._images[id(texture)]
