# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Hostile worlds, meshes, tilesets and tile servers."""

import base64
import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evidence.fuzzing.places import AGAIN_FILE

Writer = Callable[[Path], list[Path]]
_BOX = {"box": [0, 0, 0, 10, 0, 0, 0, 10, 0, 0, 0, 10]}
_TRIANGLE = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
_TEXTS = "origin: {latitude_deg: 0, longitude_deg: 0, altitude_m: 0}\nattribution: a\nlicence: b\n"


def _gltf(**changes: Any) -> Writer:
    """Return a writer of a triangle with other members."""

    def write(folder: Path) -> list[Path]:
        uri = "data:;base64," + base64.b64encode(_TRIANGLE).decode()
        document = {
            "asset": {"version": "2.0"},
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
            "bufferViews": [{"buffer": 0, "byteLength": len(_TRIANGLE)}],
            "buffers": [{"byteLength": len(_TRIANGLE), "uri": uri}],
        }
        made = {name: make() if callable(make) else make for name, make in changes.items()}
        (folder / "mesh.gltf").write_text(json.dumps(document | made))
        return [folder / "mesh.gltf"]

    return write


def _gltf_objects(folder: Path) -> list[Path]:
    text = '{"asset": {"version": "2.0"}, "extras": [' + "{}," * 12_000_000 + "{}]}"
    (folder / "mesh.gltf").write_text(text)
    return [folder / "mesh.gltf"]


def _zeros(count: int, kind: str = "VEC3") -> dict[str, Any]:
    """Return an accessor without data, which stands for zeros."""
    return {"componentType": 5126, "count": count, "type": kind}


def _png(side: int, rows: int) -> bytes:
    """Return a black grey PNG that claims a side, and holds so many rows of it."""
    packer, body = zlib.compressobj(9), b""
    for _ in range(rows):
        body += packer.compress(bytes(side + 1))
    body += packer.flush()
    chunks = b""
    for kind, data in (
        (b"IHDR", struct.pack(">2I5B", side, side, 8, 0, 0, 0, 0)),
        (b"IDAT", body),
        (b"IEND", b""),
    ):
        chunks += struct.pack(">I", len(data)) + kind + data
        chunks += struct.pack(">I", zlib.crc32(kind + data))
    return b"\x89PNG\r\n\x1a\n" + chunks


def _textures(side: int, rows: int, n: int) -> Writer:
    """Return a writer of a mesh with primitives that each show a picture of their own."""

    def write(folder: Path) -> list[Path]:
        (folder / "black.png").write_bytes(_png(side, rows))
        attributes = {"POSITION": 0, "TEXCOORD_0": 1}
        primitives = [{"attributes": attributes, "material": i} for i in range(n)]
        show = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": i}}} for i in range(n)]
        files = _gltf(
            meshes=[{"primitives": primitives}],
            materials=show,
            textures=[{"source": i} for i in range(n)],
            images=[{"uri": "black.png"}] * n,
            accessors=[{**_zeros(3), "bufferView": 0}, _zeros(3, "VEC2")],
        )(folder)
        return [*files, folder / "black.png"]

    return write


def _tileset(root: dict[str, Any], **files: bytes) -> Writer:
    """Return a writer of a tileset and of files beside it."""

    def write(folder: Path) -> list[Path]:
        document = {"asset": {"version": "1.1"}, "geometricError": 1e9, "root": root}
        (folder / "tileset.json").write_text(json.dumps(document))
        for name, data in files.items():
            (folder / name.replace("__", ".")).write_bytes(data)
        return [folder / "tileset.json", *(folder / name.replace("__", ".") for name in files)]

    return write


def _tile(error: float = 1e9, **members: Any) -> dict[str, Any]:
    return {"boundingVolume": _BOX, "geometricError": error, "refine": "ADD", **members}


def _implicit(scheme: str) -> Writer:
    text = json.dumps(
        {
            "tileAvailability": {"constant": 1},
            "contentAvailability": [{"constant": 1}],
            "childSubtreeAvailability": {"constant": 1},
        }
    ).encode()
    text += b" " * (-len(text) % 8)
    rule = {
        "subdivisionScheme": scheme,
        "subtreeLevels": 2,
        "availableLevels": 40,
        "subtrees": {"uri": "all.subtree"},
    }
    subtree = struct.pack("<4sIQQ", b"subt", 1, len(text), 0) + text
    root = _tile(content={"uri": "a.glb"}, implicitTiling=rule)
    return _tileset(root, all__subtree=subtree)


def _shared(folder: Path) -> list[Path]:
    (model,) = _gltf()(folder)
    return _tileset(_tile(children=[_tile(0.0, content={"uri": model.name})] * 19_000))(folder)


def _fan(folder: Path) -> list[Path]:
    """Write 40 documents that each refer to the next four times."""
    for i in range(40):
        child = _tile(content={"uri": f"{i + 1}.json"})
        name = "tileset.json" if i == 0 else f"{i}.json"
        root = _tile(children=[child] * 4)
        text = json.dumps({"asset": {"version": "1.1"}, "geometricError": 1e9, "root": root})
        (folder / name).write_text(text)
    return [folder / "tileset.json"]


def _padded(folder: Path) -> list[Path]:
    """Write a document of 5 MB that 10,000 tiles refer to."""
    text = json.dumps({"asset": {"version": "1.1"}, "geometricError": 1e9, "root": _tile()})
    (folder / "b.json").write_text(text + " " * 5_000_000)
    files = _tileset(_tile(children=[_tile(content={"uri": "b.json"})] * 10_000))(folder)
    return [*files, folder / "b.json"]


def _nested(folder: Path) -> list[Path]:
    root = '{"children": [' * 20_000 + "]}" * 20_000
    (folder / "tileset.json").write_text(f'{{"asset": {{"version": "1.1"}}, "root": {root}}}')
    return [folder / "tileset.json"]


def _content(name: str, data: bytes) -> Writer:
    return _tileset(_tile(0.0, content={"uri": name}), **{name.replace(".", "__"): data})


def _old_tile(magic: bytes, table: dict[str, Any], parts: tuple[bytes, bytes, bytes]) -> bytes:
    """Return a tile of 3D Tiles 1.0: its table, then the rest of header, table and tile."""
    head, binary, rest = parts
    text = json.dumps(table).encode()
    n_bytes = 28 + len(head) + len(text) + len(binary) + len(rest)
    lengths = (1, n_bytes, len(text), len(binary), 0, 0)
    return struct.pack("<4s6I", magic, *lengths) + head + text + binary + rest


def _composite() -> bytes:
    data = b"cmpt" + struct.pack("<3I", 1, 16, 0)
    for _ in range(1000):
        data = b"cmpt" + struct.pack("<3I", 1, 16 + len(data), 2**32 - 1) + data
    return data


def _instances(n: int) -> Writer:
    def write(folder: Path) -> list[Path]:
        (model,) = _gltf()(folder)
        table = {"INSTANCES_LENGTH": n, "POSITION": {"byteOffset": 0}}
        parts = struct.pack("<I", 1), bytes(12 * n), model.read_bytes()
        return _content("a.i3dm", _old_tile(b"i3dm", table, parts))(folder)

    return write


def _world(text: str, **files: Callable[[], bytes]) -> Writer:
    def write(folder: Path) -> list[Path]:
        (folder / "world.yaml").write_text(f"name: bad\n{text}\n{_TEXTS}")
        for name, make in files.items():
            (folder / f"{name}.png").write_bytes(make())
        return [folder / "world.yaml", *(folder / f"{name}.png" for name in files)]

    return write


def _heights(make: Callable[[], bytes]) -> Writer:
    text = "height_map: {file: heights.png, size_m: [9, 9], height_range_m: [0, 1]}"
    return _world(text, heights=make)


def _survey(folder: Path) -> list[Path]:
    """Write a surface model whose strips all lie at the same bytes (TIFF 6.0, section 8)."""
    side, rows = 16_000, 250
    strip, n = zlib.compress(bytes(4 * side * rows), 9), side // rows
    start = 8 + 2 + 9 * 12 + 4
    entries = ((256, 4, 1, side), (257, 4, 1, side), (258, 3, 1, 32), (259, 3, 1, 8),
               (273, 4, n, start), (277, 3, 1, 1), (278, 4, 1, rows), (279, 4, n, start + 4 * n),
               (339, 3, 1, 3))  # fmt: skip
    table = struct.pack("<2sHIH", b"II", 42, 8, len(entries))
    table += b"".join(struct.pack("<2H2I", *entry) for entry in entries) + bytes(4)
    offsets, sizes = [start + 8 * n] * n, [len(strip)] * n
    (folder / "dsm.tif").write_bytes(table + struct.pack(f"<{2 * n}I", *offsets, *sizes) + strip)
    text = "photogrammetry: {surface: dsm.tif, cloud: cloud.ply}"
    return [*_world(text)(folder), folder / "dsm.tif"]


def _generated(name: str, **parameters: float) -> Writer:
    return _world(f"generator: {name}\nparameters: {json.dumps(parameters)}")


def _answer(first: bytes, again: bytes = b"") -> Writer:
    def write(folder: Path) -> list[Path]:
        (folder / "tileset.json").write_bytes(first)
        (folder / AGAIN_FILE).write_bytes(again)
        return [folder / "tileset.json", folder / AGAIN_FILE]

    return write


_OK = b"HTTP/1.1 200 OK\r\n"
CRAFTED: dict[str, dict[str, Writer]] = {
    "gltf": {
        "200,000 nodes that share a mesh": _gltf(
            nodes=lambda: [{"mesh": 0}] * 200_000,
            scenes=lambda: [{"nodes": list(range(200_000))}],
        ),
        "a million empty nodes": _gltf(
            nodes=lambda: [{}] * 1_000_000, scenes=lambda: [{"nodes": list(range(1_000_000))}]
        ),
        "12 million empty objects": _gltf_objects,
        "2 billion vertices without data": _gltf(accessors=[_zeros(2**31 - 1)]),
        "a million instances without data": _gltf(
            accessors=[{**_zeros(3), "bufferView": 0}, _zeros(1_000_000)],
            nodes=[
                {
                    "mesh": 0,
                    "extensions": {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 1}}},
                }
            ],
        ),
        "a texture that claims 65,500 x 65,500": _textures(65_500, 1, 1),
        "ten black textures of 8192 x 8192": _textures(8192, 8192, 10),
        "a meshopt view of 500 GB": _gltf(
            bufferViews=[
                {
                    "buffer": 0,
                    "byteLength": 12,
                    "extensions": {
                        "EXT_meshopt_compression": {
                            "buffer": 0,
                            "byteLength": 36,
                            "byteStride": 256,
                            "count": 2**31 - 1,
                            "mode": "ATTRIBUTES",
                        }
                    },
                }
            ]
        ),
    },
    "b3dm-tileset": {
        "a quadtree of one subtree": _implicit("QUADTREE"),
        "an octree of one subtree": _implicit("OCTREE"),
        "300,000 children": lambda folder: _tileset(_tile(children=[_tile(0.0)] * 300_000))(folder),
        "19,000 tiles that share a content": _shared,
        "documents that each refer to the next four times": _fan,
        "a document of 5 MB that 10,000 tiles refer to": _padded,
        "20,000 tiles within each other": _nested,
        "composites in composites": _content("a.cmpt", _composite()),
        "100,000 instances": _instances(100_000),
        "2 billion points": _content(
            "a.pnts",
            _old_tile(
                b"pnts",
                {"POINTS_LENGTH": 2**31 - 1, "POSITION": {"byteOffset": 0}},
                (b"", bytes(12), b""),
            ),
        ),
    },
    "world": {
        "a cliff of texels of 3 mm": _generated("cliff", texel_m=0.003, spacing_m=0.02),
        "a stadium of texels of 1 cm": _generated("stadium", texel_m=0.01, spacing_m=0.2),
        "heights that claim 60,000 x 60,000": _heights(lambda: _png(60_000, 1)),
        "black heights of 16,000 x 16,000": _heights(lambda: _png(16_000, 16_000)),
        "a survey of 16,000 x 16,000 zeros": _survey,
    },
    "http-answer": {
        "a status line without end": _answer(b"HTTP/1.1 200 ", b"O"),
        "headers without end": _answer(_OK, b"X-More: and more\r\n"),
        "100 Continue without end": _answer(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        "a body without end": _answer(_OK + b"\r\n", b"x"),
        "a chunk size without end": _answer(_OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1"),
        "a redirect without end": _answer(b"HTTP/1.1 302 Found\r\nLocation: /a\r\n", b"x"),
        "a redirect to the metadata of a cloud": _answer(
            b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n"
            b"Location: http://169.254.169.254/tileset.json\r\n\r\n"
        ),
        "1 GB in a packed body": lambda folder: _answer(_OK + _packed_zeros())(folder),
    },
}


def _packed_zeros() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    body = b"".join(packer.compress(bytes(10_000_000)) for _ in range(100)) + packer.flush()
    return b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body
