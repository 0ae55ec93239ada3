# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Meshes packed by Draco, by meshoptimizer's codecs and into small integers."""

import struct

import DracoPy
import imagecodecs
import numpy as np
import pytest

from aerotwin_meshes.gltf.budget import MemoryBudget
from aerotwin_meshes.gltf.json_element import JsonElement
from aerotwin_meshes.gltf.meshopt import decode_view

N = 24
LAST_PLACE = 1  # filters may be off by one unit in the last place (appendix B)


@pytest.fixture
def grid():
    """A bumpy grid: positions in [0, 1], texture coordinates, triangles."""
    v, u = np.mgrid[0:N, 0:N] / (N - 1)
    positions = np.stack([u, v, 0.5 + 0.2 * np.sin(7 * u) * np.cos(5 * v)], axis=-1)
    corner = np.arange(N * N).reshape(N, N)
    a, b, c, d = corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]
    triangles = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    uv = np.stack([u, v], axis=-1).reshape(-1, 2)
    return positions.reshape(-1, 3), uv, triangles.astype(np.uint32)


def corners_in_order(corners):
    """Return triangles as sorted rows of corners, whatever order they came in."""
    turned = [np.roll(t, -np.lexsort(np.round(t, 4).T[::-1])[0], axis=0) for t in corners]
    rows = np.array(turned).reshape(len(turned), -1)
    return rows[np.lexsort(np.round(rows, 4).T[::-1])]


def draco_file(gltf, grid, **options):
    positions, uv, triangles = grid
    stream = DracoPy.encode(positions, triangles, quantization_bits=14, tex_coord=uv, **options)
    ids = {a["attribute_type"]: a["unique_id"] for a in DracoPy.decode(stream).attributes}
    file = gltf()
    packed = {
        "bufferView": file.view(stream),
        "attributes": {"POSITION": ids[0], "TEXCOORD_0": ids[3]},
    }
    count = {"POSITION": 3, "TEXCOORD_0": 2}
    attributes = {
        name: file.add("accessors", componentType=5126, count=N * N, type=f"VEC{width}")
        for name, width in count.items()
    }
    indices = file.add("accessors", componentType=5125, count=triangles.size, type="SCALAR")
    file.mesh(attributes, indices=indices, extensions={"KHR_draco_mesh_compression": packed})
    file.tree["extensionsRequired"] = ["KHR_draco_mesh_compression"]
    return file


@pytest.mark.parametrize("level", [0, 1, 7, 10])
def test_draco_meshes_are_unpacked(gltf, shapes, png, grid, level):
    positions, uv, triangles = grid
    file = draco_file(gltf, grid, compression_level=level)
    image = file.image(png(np.zeros((2, 2, 3), np.uint8)))
    file.tree["meshes"][0]["primitives"][0]["material"] = file.textured(image)
    shape = shapes(file.scene())[0].shape
    step = 1.0 / 2**13
    for stored, found in ((positions, shape.positions), (uv, shape.uv.astype(float))):
        requested = corners_in_order(stored[triangles])
        np.testing.assert_allclose(corners_in_order(found[shape.triangles]), requested, atol=step)


def test_draco_metadata_is_passed_over(gltf, shapes, grid):
    names = {"weights": np.zeros((N * N, 1), np.float32)}
    file = draco_file(gltf, grid, generic_attributes=names, create_metadata=True)
    n_faces = 2 * (N - 1) ** 2
    assert len(shapes(file.scene())[0].shape.triangles) == n_faces
    file.tree["accessors"][-1]["count"] = 1
    with pytest.raises(ValueError, match=f"has {N * N} points and {n_faces} triangles"):
        shapes(file)


@pytest.mark.parametrize("level", [0, 7])
@pytest.mark.parametrize(("kind", "allowed"), [("VEC3", N * N), ("SCALAR", 2 * (N - 1) ** 2)])
def test_a_draco_stream_with_more_than_it_says_is_refused(gltf, shapes, grid, level, kind, allowed):
    file = draco_file(gltf, grid, compression_level=level)
    accessors = [a for a in file.tree["accessors"] if a["type"] == kind]
    for count in (allowed, allowed - 1):
        accessors[0]["count"] = count
        if count == allowed:  # the number of triangles for that of indices is a common slip
            assert shapes(file.scene())
    with pytest.raises(ValueError, match="its Draco stream has"):
        shapes(file)


def test_a_draco_stream_for_too_much_memory_is_refused(gltf, shapes, grid):
    file = draco_file(gltf, grid)
    with pytest.raises(ValueError, match="MB of memory"):
        shapes(file.scene(), budget=MemoryBudget(10_000))


def packed_view(file, data, count, stride, mode, name="NONE"):
    """Add a packed buffer view, over a buffer without data that stands for the unpacked bytes."""
    buffers = file.tree.setdefault("buffers", [{}])
    buffers.append({"byteLength": count * stride})
    view = file.view(data)
    file.tree["bufferViews"][view] = {
        "buffer": len(buffers) - 1,
        "byteLength": count * stride,
        "extensions": {
            "EXT_meshopt_compression": {
                "buffer": 0,
                "byteOffset": file.tree["bufferViews"][view]["byteOffset"],
                "byteLength": len(data),
                "byteStride": stride,
                "count": count,
                "mode": mode,
                "filter": name,
            }
        },
    }
    return view


def variable_length(value):
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def zigzag(value):
    return 2 * value if value >= 0 else -2 * value - 1


def pack_triangles(triangles):
    """Pack triangles in every way that appendix A knows, chosen in this order."""
    table = [0x00, 0x76, 0x87, 0x56, 0x67, 0x78, 0xA9, 0x86, 0x65, 0x89, 0x68, 0x98, 0x01, 0x69]
    edges, ring, following, last = [], [], 0, 0
    codes, data = b"", b""
    used = set()
    for triangle in triangles.tolist():
        hit = None
        for place, edge in enumerate(edges[::-1][:15]):
            for turn in range(3):
                a, b, c = triangle[turn:] + triangle[:turn]
                if (a, b) == edge and hit is None:
                    hit = place, a, b, c
        if hit is not None:
            place, a, b, c = hit
            if c == following:
                low, following = 0, following + 1
                ring.append(c)
            elif c in ring[:-1][::-1][:12]:
                low = 1 + ring[:-1][::-1][:12].index(c)
            else:
                low = 13 if c == last - 1 else 14 if c == last + 1 else 15
                if low == 15:
                    data += variable_length(zigzag(c - last))
                last = c
                ring.append(c)
            codes += bytes([place << 4 | low])
            used.add(("edge", min(low, 1) if low < 13 else low))
        else:
            a, b, c = triangle
            before = ring[::-1][:14]
            first = a != following
            kinds = []
            if not first:
                following += 1
            for vertex in (b, c):
                if vertex == following:
                    kinds.append(0)
                    following += 1
                else:
                    kinds.append(1 + before.index(vertex) if vertex in before else 15)
            pair = kinds[0] << 4 | kinds[1]
            if not first and pair in table:
                codes += bytes([0xF0 | table.index(pair)])
                used.add("table")
            elif pair == 0 and first:  # would start the count anew: say b and c in full
                following -= 2
                pair, kinds = 0xFF, [15, 15]
            if first or pair not in table:
                codes += b"\xff" if first else b"\xfe"
                data += bytes([pair])
                used.add(("explicit", first))
            for vertex, kind in zip(triangle, (15 if first else 0, *kinds)):
                if kind == 15:
                    data += variable_length(zigzag(vertex - last))
                    last = vertex
                if kind in (0, 15):
                    ring.append(vertex)
            edges.append((b, a))
        edges += [(c, b), (a, c)]
    return b"\xe1" + codes + data + bytes([*table, 0, 0]), used


def scattered(grid):
    """The grid's triangles by vertices in order of use, then far ones and some of all kinds."""
    rng = np.random.default_rng(3)
    _, first, place = np.unique(grid[2], return_index=True, return_inverse=True)
    near = np.argsort(np.argsort(first))[place].reshape(-1, 3)
    far = rng.permuted(np.tile(np.arange(N * N), (60, 1)), axis=1)[:, :3]
    steps = np.array(
        [
            [50, 40, 30],
            [40, 50, 31],
            [0, 1, 2],
            [2, 1, 9],
            [2, 9, 8],
            [9, 1, 10],
            [7, 6, 5],
            [100, 3, 4],
        ]
    )
    return np.concatenate([near, far, steps, near[::-3]])


def element(**values):
    return JsonElement(values, "packed")


@pytest.mark.parametrize("stride", [2, 4])
def test_packed_triangles_come_back(grid, stride):
    triangles = scattered(grid)
    stream, used = pack_triangles(triangles)
    assert used == {("edge", i) for i in (0, 1, 13, 14, 15)} | {
        "table",
        ("explicit", False),
        ("explicit", True),
    }
    entry = element(count=triangles.size, byteStride=stride, mode="TRIANGLES")
    data, _ = decode_view(memoryview(stream), entry, MemoryBudget())
    found = np.frombuffer(data, f"<u{stride}").reshape(-1, 3)
    # The first corner of a triangle is free.
    firsts = found.argmin(axis=1)
    found = np.array([np.roll(t, -i) for t, i in zip(found, firsts)])
    requested = np.array([np.roll(t, -i) for t, i in zip(triangles, triangles.argmin(axis=1))])
    np.testing.assert_array_equal(found, requested)


def test_an_empty_pair_starts_the_count_anew():
    # By the text: 0xfe and 0x00 reset `next`; three new vertices follow, twice.
    stream = b"\xe1\xfe\xfe" + b"\0\0" + bytes(16)
    data, _ = decode_view(
        memoryview(stream), element(count=6, byteStride=2, mode="TRIANGLES"), MemoryBudget()
    )
    assert np.frombuffer(data, "<u2").tolist() == [0, 1, 2, 0, 1, 2]


def test_packed_sequences_come_back():
    rng = np.random.default_rng(4)
    numbers = rng.integers(0, 70_000, 500)
    stream, last = b"\xd1", [0, 0]
    for number in numbers.tolist():
        nearest = min((0, 1), key=lambda i: abs(number - last[i]))
        stream += variable_length(zigzag(number - last[nearest]) << 1 | nearest)
        last[nearest] = number
    entry = element(count=500, byteStride=4, mode="INDICES")
    data, _ = decode_view(memoryview(stream + bytes(4)), entry, MemoryBudget())
    np.testing.assert_array_equal(np.frombuffer(data, "<u4"), numbers)


def test_a_file_packed_by_meshoptimizer_is_read(gltf, shapes, grid):
    positions, _, triangles = grid
    stored = np.zeros((N * N, 4), np.uint16)
    stored[:, :3] = np.round(positions * 65535)
    file = gltf()
    vertices = packed_view(file, bytes(imagecodecs.meshopt_encode(stored)), N * N, 8, "ATTRIBUTES")
    position = file.accessor(stored[:, :3], bufferView=vertices, normalized=True)
    stream = pack_triangles(triangles)[0]
    view = packed_view(file, stream, triangles.size, 2, "TRIANGLES")
    indices = file.accessor(triangles.astype("u2").ravel(), bufferView=view)
    file.mesh({"POSITION": position}, indices=indices)
    file.tree["extensionsRequired"] = ["EXT_meshopt_compression", "KHR_mesh_quantization"]
    shape = shapes(file.scene())[0].shape
    requested = corners_in_order(positions[triangles])
    step = 0.5 / 65535 + 1e-9
    np.testing.assert_allclose(
        corners_in_order(shape.positions[shape.triangles]), requested, atol=step
    )


def filtered(values, name):
    values = np.ascontiguousarray(values)
    stride = values.dtype.itemsize * values.shape[1]
    entry = element(count=len(values), byteStride=stride, mode="ATTRIBUTES", filter=name)
    stream = bytes(imagecodecs.meshopt_encode(values.view(np.uint8).reshape(len(values), -1)))
    return np.frombuffer(decode_view(memoryview(stream), entry, MemoryBudget())[0], values.dtype)


@pytest.mark.parametrize(("bits", "dtype"), [(8, np.int8), (6, np.int8), (12, np.int16)])
def test_octahedral_vectors_come_back(bits, dtype):
    rng = np.random.default_rng(6)
    vectors = rng.normal(size=(300, 3))
    vectors[:6] = np.vstack([np.eye(3), -np.eye(3)])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    one = 2 ** (bits - 1) - 1
    packed = np.zeros((300, 4), dtype)
    for row, (x, y, z) in zip(packed, vectors):
        total = abs(x) + abs(y) + abs(z)
        x, y = x / total, y / total
        if z < 0:
            x, y = (1 - abs(y)) * (1 if x >= 0 else -1), (1 - abs(x)) * (1 if y >= 0 else -1)
        row[:] = round(x * one), round(y * one), one, 77
    found = filtered(packed, "OCTAHEDRAL").reshape(-1, 4)
    # Half a step along x and y, one along z, on faces that lie at sqrt(1/3) from the middle.
    step = np.sqrt(1.5) * np.sqrt(3) / one + 0.5 / np.iinfo(dtype).max
    np.testing.assert_allclose(found[:, :3] / np.iinfo(dtype).max, vectors, atol=step)
    assert (found[:, 3] == 77).all()


def test_quaternions_come_back():
    rng = np.random.default_rng(7)
    quaternions = rng.normal(size=(300, 4))
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    one = 2**11 - 1
    packed = np.zeros((300, 4), np.int16)
    for row, q in zip(packed, quaternions):
        largest = int(np.abs(q).argmax())
        q *= np.sign(q[largest])
        rest = [q[(largest + i) % 4] for i in (1, 2, 3)]
        row[:] = [*(round(x * np.sqrt(2) * one) for x in rest), (one & ~3) | largest]
    found = filtered(packed, "QUATERNION").reshape(-1, 4) / 32767
    np.testing.assert_allclose(found, quaternions, atol=2.0 / one)


def test_numbers_with_exponents_come_back():
    numbers = np.array([0.0, 1.0, -1.5, 2.0**-30, 12345.678, -(2.0**40)])
    exponents = np.array([0, -10, -10, -50, -9, 20])
    mantissas = np.round(numbers / 2.0**exponents).astype(np.int64)
    packed = ((exponents & 255) << 24 | mantissas & 0xFFFFFF).astype(np.uint32).view(np.int32)
    found = filtered(packed[:, None], "EXPONENTIAL").view(np.float32)
    np.testing.assert_allclose(found, numbers, atol=2.0**-9)
    assert found[[0, 1, 2, 3, 5]].tolist() == numbers[[0, 1, 2, 3, 5]].tolist()


@pytest.mark.parametrize("bits", [8, 6])
def test_colours_by_luma_and_chroma_come_back(bits):
    rng = np.random.default_rng(8)
    whole = 2**bits - 1
    colours = rng.integers(0, 2 ** (bits - 1), (200, 4)) * 2
    packed = np.zeros((200, 4), np.int64)
    for row, (r, g, b, a) in zip(packed, colours.tolist()):
        orange, middle = (r - b) // 2, (r + b) // 2
        green = (g - middle) // 2
        row[:] = middle + green, orange, green, 2 ** (bits - 1) | a >> 1
    found = filtered((packed & 255).astype(np.uint8), "COLOR").reshape(-1, 4)
    # Halving twice loses up to two steps; alpha's lowest bit repeats the one above it.
    np.testing.assert_allclose(found / 255, colours / whole, atol=2.6 / whole)


STREAM, _ = pack_triangles(np.arange(30).reshape(-1, 3))


@pytest.mark.parametrize(
    ("stream", "changes"),
    [
        (STREAM[:-1], {}),
        (STREAM + b"\0", {}),
        (STREAM, {"count": 33}),
        (STREAM, {"count": 29}),
        (STREAM, {"byteStride": 3}),
        (b"\xe0" + STREAM[1:], {}),
        (b"\xe1" + b"\xff" * 20, {}),
        (b"", {}),
        (STREAM, {"count": 2**31 - 1}),
        (STREAM, {"mode": "INDICES"}),
        (STREAM, {"mode": "ATTRIBUTES", "byteStride": 4}),
        (STREAM, {"mode": "ATTRIBUTES", "byteStride": 6}),
        (STREAM, {"mode": "ATTRIBUTES", "count": 2**20, "byteStride": 256}),
        (STREAM, {"mode": "LINES"}),
        (b"\xd1" + b"\xff" * 40, {"mode": "INDICES"}),
        (struct.pack("<B3x", 0xA0), {"mode": "ATTRIBUTES", "byteStride": 4}),
    ],
)
def test_damaged_streams_are_refused(stream, changes):
    entry = element(**{"count": 30, "byteStride": 2, "mode": "TRIANGLES", **changes})
    with pytest.raises(ValueError, match="packed"):
        decode_view(memoryview(stream), entry, MemoryBudget(2**28))


def test_an_unknown_filter_is_refused():
    values = np.zeros((4, 4), np.uint8)
    for name in ("QUATERNION", "MEDIAN"):
        with pytest.raises(ValueError, match="filter"):
            filtered(values, name)
