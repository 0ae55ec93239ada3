# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Write binary glTF 2.0 files (GLB), which other tools open too."""

import json
import os
import struct
from pathlib import Path

import cv2
import numpy as np

from aerotwin_worlds.mesh import TexturedMesh


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
            {"bufferView": views_of[0], "componentType": 5126, "count": n, "type": "VEC3",
             "min": position.min(axis=0).tolist(), "max": position.max(axis=0).tolist()},
            {"bufferView": views_of[1], "componentType": 5126, "count": n, "type": "VEC2"},
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
        file.write(struct.pack("<3I", 0x46546C67, 2, 12 + 8 + len(text) + 8 + len(body)))
        file.write(struct.pack("<2I", len(text), _JSON) + text)
        file.write(struct.pack("<2I", len(body), _BIN) + body)
    os.replace(temporary, path)
