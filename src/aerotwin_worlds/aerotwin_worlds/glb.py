# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Binary glTF 2.0 files (GLB): the mesh files of worlds, which other tools open too.

glTF has y up; the map has z up: x_map = x, y_map = -z, z_map = y. Read are triangle primitives with
one base colour texture (PNG or JPEG inside the file) and node transforms; the rest is refused by
name. Lights, materials beyond the base colour, animations and extensions are not used.
"""

import json
import os
import struct
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_worlds.mesh import TexturedMesh

_MAGIC, _JSON, _BIN = 0x46546C67, 0x4E4F534A, 0x004E4942
_COMPONENTS: dict[int, np.dtype] = {
    5121: np.dtype("<u1"),
    5123: np.dtype("<u2"),
    5125: np.dtype("<u4"),
}
_FLOAT = 5126
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3}
MAX_FILE_BYTES = 2**31
MAX_TEXTURE_PIXELS = 2**28


def write_glb(path: Path, meshes: tuple[TexturedMesh, ...], *, copyright_text: str = "") -> None:
    """Write textured meshes as one GLB file; positions are rounded to single precision."""
    chunks: list[bytes] = []
    views: list[dict] = []

    def add(data: bytes, **entries: int) -> int:
        offset = sum(map(len, chunks))
        chunks.append(data + b"\0" * (-len(data) % 4))
        views.append({"buffer": 0, "byteOffset": offset, "byteLength": len(data), **entries})
        return len(views) - 1

    accessors: list[dict] = []
    images, primitives = [], []
    for i, mesh in enumerate(meshes):
        x, y, z = mesh.vertices_map.T
        position = np.column_stack([x, z, -y]).astype("<f4")
        views_of = [
            add(position.tobytes(), target=34962),
            add(mesh.uv.astype("<f4").tobytes(), target=34962),
            add(mesh.triangles.astype("<u4").tobytes(), target=34963),
        ]
        n, first = len(position), len(accessors)
        accessors += [
            {"bufferView": views_of[0], "componentType": _FLOAT, "count": n, "type": "VEC3",
             "min": position.min(axis=0).tolist(), "max": position.max(axis=0).tolist()},
            {"bufferView": views_of[1], "componentType": _FLOAT, "count": n, "type": "VEC2"},
            {"bufferView": views_of[2], "componentType": 5125, "count": mesh.triangles.size,
             "type": "SCALAR"},
        ]  # fmt: skip
        png = cv2.imencode(".png", mesh.texture[..., ::-1])[1].tobytes()
        images.append({"bufferView": add(png), "mimeType": "image/png"})
        primitives.append(
            {"attributes": {"POSITION": first, "TEXCOORD_0": first + 1}, "indices": first + 2,
             "material": i}
        )  # fmt: skip
    count = range(len(meshes))
    document = {
        "asset": {"version": "2.0", "generator": "aerotwin_worlds", "copyright": copyright_text},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": primitives}],
        "materials": [
            {"pbrMetallicRoughness": {"baseColorTexture": {"index": i}, "metallicFactor": 0},
             "doubleSided": True}
            for i in count
        ],
        "textures": [{"source": i, "sampler": 0} for i in count],
        "samplers": [{"magFilter": 9729, "minFilter": 9987, "wrapS": 33071, "wrapT": 33071}],
        "images": images,
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": sum(map(len, chunks))}],
    }  # fmt: skip
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    body = b"".join(chunks)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with open(temporary, "wb") as file:
        file.write(struct.pack("<3I", _MAGIC, 2, 12 + 8 + len(text) + 8 + len(body)))
        file.write(struct.pack("<2I", len(text), _JSON) + text)
        file.write(struct.pack("<2I", len(body), _BIN) + body)
    os.replace(temporary, path)


def read_glb(path: Path) -> tuple[TexturedMesh, ...]:
    """Read every triangle primitive of the default scene as a mesh in the map frame.

    Raises
    ------
    UserError
        If the file is not a whole GLB 2.0 file of that kind; names file and fault.
    """
    try:
        return _Document(path).meshes()
    except (ValueError, KeyError, IndexError, TypeError, struct.error, OSError) as error:
        reason = f"no '{error.args[0]}'" if isinstance(error, KeyError) else str(error)
        raise UserError(f"{path}: not a usable GLB file ({reason}); export it again") from None


class _Document:
    """An opened GLB file: its JSON tree and its binary chunk."""

    def __init__(self, path: Path) -> None:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ValueError(f"more than {MAX_FILE_BYTES} bytes")
        data = path.read_bytes()
        magic, version, length = struct.unpack_from("<3I", data)
        if magic != _MAGIC or version != 2:
            raise ValueError("header is not that of GLB 2.0")
        if length != len(data):
            raise ValueError(f"header says {length} bytes, the file has {len(data)}")
        json_length, kind = struct.unpack_from("<2I", data, 12)
        if kind != _JSON:
            raise ValueError("first chunk is not JSON")
        self._tree: dict[str, Any] = json.loads(data[20 : 20 + json_length])
        bin_length, kind = struct.unpack_from("<2I", data, 20 + json_length)
        if kind != _BIN:
            raise ValueError("second chunk is not binary")
        self._body = memoryview(data)[28 + json_length : 28 + json_length + bin_length]
        if self._tree.get("extensionsRequired"):
            raise ValueError(f"needs extensions {self._tree['extensionsRequired']}")

    def meshes(self) -> tuple[TexturedMesh, ...]:
        tree, found = self._tree, []
        todo = [(node, np.eye(4), 0) for node in tree["scenes"][tree.get("scene", 0)]["nodes"]]
        while todo:
            index, T_parent, depth = todo.pop(0)
            if depth > 64:
                raise ValueError("nodes are nested more than 64 deep")
            node = tree["nodes"][index]
            T = T_parent @ _node_transform(node)
            todo += [(child, T, depth + 1) for child in node.get("children", [])]
            if "mesh" in node:
                primitives = tree["meshes"][node["mesh"]]["primitives"]
                found += [self._primitive(primitive, T) for primitive in primitives]
        if not found:
            raise ValueError("no mesh in its scene")
        return tuple(found)

    def _primitive(self, primitive: dict, T: np.ndarray) -> TexturedMesh:
        if primitive.get("mode", 4) != 4:
            raise ValueError("a primitive is not of triangles")
        position = self._floats(primitive["attributes"]["POSITION"], 3).astype(np.float64)
        x, y, z = (position @ T[:3, :3].T + T[:3, 3]).T
        return TexturedMesh(
            vertices_map=np.column_stack([x, -z, y]),
            triangles=self._indices(primitive, len(position)).reshape(-1, 3),
            uv=self._floats(primitive["attributes"]["TEXCOORD_0"], 2),
            texture=self._texture(primitive),
        )

    def _indices(self, primitive: dict, n_vertices: int) -> np.ndarray:
        if "indices" not in primitive:
            return np.arange(n_vertices - n_vertices % 3, dtype=np.int32)
        accessor = self._tree["accessors"][primitive["indices"]]
        values = self._array(accessor, _COMPONENTS[accessor["componentType"]], 1)
        if values.size and values.max() >= n_vertices:
            raise ValueError("an index lies beyond the vertices")
        return values.astype(np.int32)

    def _floats(self, index: int, width: int) -> np.ndarray:
        accessor = self._tree["accessors"][index]
        if accessor["componentType"] != _FLOAT or _WIDTHS.get(accessor["type"]) != width:
            raise ValueError("positions and texture coordinates must be 32-bit floats")
        return self._array(accessor, np.dtype("<f4"), width).astype(np.float32)

    def _array(self, accessor: dict, dtype: np.dtype, width: int) -> np.ndarray:
        if "sparse" in accessor or "bufferView" not in accessor:
            raise ValueError("sparse accessors are not read")
        view = self._tree["bufferViews"][accessor["bufferView"]]
        n, item = accessor["count"], dtype.itemsize * width
        stride = view.get("byteStride", item)
        start = accessor.get("byteOffset", 0)
        data = self._view(accessor["bufferView"])
        if n < 1 or start < 0 or stride < item or start + (n - 1) * stride + item > len(data):
            raise ValueError("an accessor reaches beyond its buffer view")
        shape, strides = (n, width), (stride, dtype.itemsize)
        return np.ndarray(shape, dtype, data, start, strides).copy()

    def _view(self, index: int) -> memoryview:
        view = self._tree["bufferViews"][index]
        start, length = view.get("byteOffset", 0), view["byteLength"]
        if start < 0 or length < 0 or start + length > len(self._body):
            raise ValueError("a buffer view reaches beyond the binary chunk")
        return self._body[start : start + length]

    def _texture(self, primitive: dict) -> np.ndarray:
        tree = self._tree
        surface = tree["materials"][primitive["material"]]["pbrMetallicRoughness"]
        image = tree["images"][tree["textures"][surface["baseColorTexture"]["index"]]["source"]]
        data = np.frombuffer(self._view(image["bufferView"]), np.uint8)
        pixels = cv2.imdecode(data, cv2.IMREAD_COLOR)
        if pixels is None or pixels.shape[0] * pixels.shape[1] > MAX_TEXTURE_PIXELS:
            raise ValueError("a texture is not a PNG or JPEG image of bearable size")
        return np.ascontiguousarray(pixels[..., ::-1])


def _node_transform(node: dict) -> np.ndarray:
    """Transform of a glTF node: a column-major matrix, or translation, rotation and scale."""
    if "matrix" in node:
        return np.array(node["matrix"], np.float64).reshape(4, 4).T
    from aerotwin_core.frames import rotation_from_quaternion

    T = np.eye(4)
    rotation = rotation_from_quaternion(np.array(node.get("rotation", [0, 0, 0, 1]), float))
    T[:3, :3] = rotation * np.array(node.get("scale", [1, 1, 1]), float)
    T[:3, 3] = node.get("translation", [0, 0, 0])
    return T
