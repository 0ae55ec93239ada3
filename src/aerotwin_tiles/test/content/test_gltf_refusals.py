# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that lie, ask for too much memory or are damaged at random: clear errors, nothing else."""

import json
import struct
import tracemalloc

import DracoPy
import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_meshes.gltf import MemoryBudget, json_element
from aerotwin_meshes.gltf.json_element import parse_json
from aerotwin_tiles import TilesDescription, load_tiles
from aerotwin_tiles.tile_content import ContentError

MUTANTS = 700


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t["accessors"][0].update(count=10**9), "reaches to byte 12000000000"),
        (lambda t: t["accessors"][0].update(count=-1), "count must be a whole number"),
        (lambda t: t["accessors"][0].update(count=2.5), "count must be a whole number"),
        (lambda t: t["accessors"][0].update(byteOffset=2**52), "reaches to byte"),
        (lambda t: t["accessors"][0].update(type="MAT4"), "type must be a vector of 3"),
        (lambda t: t["accessors"][0].update(componentType=5130), "componentType must be one of"),
        (lambda t: t["accessors"][0].update(bufferView=9), r"bufferViews\[9\], there are 2"),
        (lambda t: t["accessors"][0].pop("bufferView"), None),
        (lambda t: t["accessors"][1].update(componentType=5126), "reaches to byte|unsigned"),
        (lambda t: t["accessors"][1].update(count=2**31 - 1), "reaches to byte"),
        (lambda t: t["bufferViews"][0].update(byteLength=10**9), "reaches to byte"),
        (lambda t: t["bufferViews"][0].update(byteOffset=-4), "byteOffset must be"),
        (lambda t: t["bufferViews"][0].update(byteStride=4), "stand 4 bytes apart"),
        (lambda t: t["bufferViews"][0].update(buffer=1), r"buffers\[1\], there are 1"),
        (lambda t: t.update(buffers=[{"byteLength": 10**9}]), None),
        (lambda t: t["nodes"][0].update(mesh=1), r"meshes\[1\], there are 1"),
        (lambda t: t["nodes"][0].update(matrix=[1, 2]), "matrix must be a list of 16"),
        (lambda t: t["nodes"][0].update(scale=[1e308] * 3, translation=[1e308] * 3), "beyond"),
        (lambda t: t["nodes"][0].update(rotation=[0, 0, 0, 0]), "unit quaternion"),
        (lambda t: t["nodes"][0].update(children=[-1]), "children must be a list of whole"),
        (lambda t: t["meshes"][0]["primitives"][0].update(mode=7), "mode must be"),
        (lambda t: t["meshes"][0]["primitives"][0].update(material=0), "there are 0"),
        (lambda t: t["meshes"][0]["primitives"][0].pop("attributes"), "attributes is missing"),
        (lambda t: t["meshes"][0]["primitives"][0].update(attributes={}), "POSITION is missing"),
        (lambda t: t.update(asset={}), "version must be 2.x"),
        (lambda t: t.update(asset={"version": "1.0"}), "convert it to glTF 2"),
        (lambda t: t.update(extensionsRequired=["EXT_new"]), "EXT_new, which is not supported"),
        (lambda t: t.update(scene=3), r"scenes\[3\], there are 1"),
    ],
)
def test_a_document_that_lies_is_refused_with_its_place(quad_file, content, change, message):
    if message is None:  # allowed: zeros for data, and bytes behind the binary chunk's end unused
        quad_file.tree["accessors"][0].pop("bufferView")
        assert content(quad_file.glb())[0].shape.positions.tolist() == [[0, 0, 0]] * 4
        return
    change(quad_file.tree)
    with pytest.raises(ContentError, match=rf"tile\.bin: .*({message})"):
        content(quad_file.glb())


def test_a_view_beyond_its_buffer_is_refused_though_there_are_bytes(quad_file, content):
    tree = json.loads(quad_file.json())
    tree["buffers"][0]["byteLength"] -= 4
    with pytest.raises(ContentError, match="reaches to byte 60 of a buffer of 56"):
        content(json.dumps(tree).encode())
    tree["buffers"][0]["byteLength"] += 8
    with pytest.raises(ContentError, match="has 60 bytes, it says 64"):
        content(json.dumps(tree).encode())


def test_an_index_beyond_the_vertices_is_refused(gltf, content, quad_positions):
    file = gltf()
    indices = file.accessor(np.array([0, 1, 4], "u1"))
    file.mesh({"POSITION": file.accessor(quad_positions)}, indices=indices)
    with pytest.raises(ContentError, match="index 4 lies beyond its 4 vertices"):
        content(file.scene().glb())


def test_positions_that_are_no_numbers_are_refused(gltf, content, quad_positions):
    for bad in (np.nan, np.inf):
        file = gltf()
        positions = quad_positions.copy()
        positions[2, 1] = bad
        file.mesh({"POSITION": file.accessor(positions)})
        with pytest.raises(ContentError, match="POSITION is NaN or infinite"):
            content(file.scene().glb())


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b'{"asset": NaN}',
        b'{"a":' * 20_000,
        b"{\xff}",
        b'{"asset":{"version":2}}',
        b'{"a":' + b"9" * 5000 + b"}",
    ],
)
def test_json_that_is_none_is_refused(content, text):
    with pytest.raises(ContentError, match="not a usable tile content"):
        content(text)


def test_numbers_beyond_all_floats_are_refused(quad_file, content):
    for huge in (10**400, 2**1023 + 1):
        quad_file.tree["nodes"][0]["translation"] = [0, 0, huge]
        with pytest.raises(ContentError, match=r"an integer has (308|401) digits"):
            content(quad_file.glb())


def bombs(file):
    """Yield small files that would unfold into gigabytes."""
    node = file.tree["nodes"][0]
    accessor = file.tree["accessors"][0]
    yield (
        "an accessor without data",
        lambda: (accessor.pop("bufferView"), accessor.update(count=2**31 - 1)),
    )
    places = {"TRANSLATION": file.add("accessors", componentType=5126, count=2**27, type="VEC3")}
    instancing = {"EXT_mesh_gpu_instancing": {"attributes": places}}
    yield "instances without data", lambda: node.update(extensions=instancing)
    view = {"buffer": 0, "byteLength": 60, "byteStride": 256, "count": 2**26, "mode": "ATTRIBUTES"}
    packed = {"EXT_meshopt_compression": view}
    yield "packed bytes", lambda: file.tree["bufferViews"][0].update(extensions=packed)


@pytest.mark.parametrize("which", range(3))
def test_a_small_file_cannot_take_all_memory(quad_file, content, which):
    name, arm = list(bombs(quad_file))[which]
    arm()
    with pytest.raises(ContentError, match=r"MB of memory|cannot hold") as error:
        content(quad_file.glb(), max_bytes=2**28)
    assert name
    assert "tile.bin" in str(error.value)


def test_nodes_that_share_a_mesh_have_a_budget(quad_file, content):
    quad_file.tree["nodes"] *= 100_000
    quad_file.tree["scenes"][0]["nodes"] = list(range(100_000))
    with pytest.raises(ContentError, match=r"nodes\[\d+\] needs .* that one file may take"):
        content(quad_file.glb())


@pytest.mark.parametrize(
    "item",
    ["{}", "[]", "[0]", '{"a":0}', '{"a":0.5,"b":1.5,"c":2.5,"d":3.5,"e":4.5,"f":[]}', "0.25",
     "123456789", '"ab"', '"\U0001f600ab"', '"\\ud83d\\ude00ab"', '"abcdefghijklmnop"'],
)  # fmt: skip
def test_what_json_unfolds_to_is_known_before(item):
    text = f'{{"items": [{", ".join([item] * 20_000)}]}}'.encode()
    tracemalloc.start()
    tree = parse_json(text, "test")
    retained, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(tree.values["items"]) == 20_000
    assert retained <= json_element._tree_bytes(text) < 12 * retained + 3 * len(text)


def test_json_that_nests_too_deep_is_refused_without_the_words_of_python(content, tmp_path):
    deep = b"[" * 200_000
    with pytest.raises(ValueError, match=r"^the JSON of test .*nested more than 500 deep"):
        parse_json(deep, "test")
    depth = json_element.MAX_TREE_DEPTH
    assert parse_json(b'{"a":' * depth + b"1" + b"}" * depth, "test").values
    chunk = struct.pack("<I4s", len(deep), b"JSON") + deep
    with pytest.raises(ContentError, match="nested more than 500 deep"):
        content(struct.pack("<4sII", b"glTF", 2, 12 + len(chunk)) + chunk)
    (tmp_path / "tileset.json").write_bytes(deep)
    with pytest.raises(UserError, match=r"tileset\.json.*nested more than 500 deep"):
        load_tiles(TilesDescription(tileset="tileset.json", max_error_m=0.0), tmp_path, None)


def test_json_that_unfolds_too_far_is_refused(monkeypatch):
    monkeypatch.setattr(json_element, "MAX_TREE_BYTES", 10_000)
    with pytest.raises(ValueError, match=r"JSON of test unfolds to up to .* MB; split it"):
        parse_json(b'{"a": [' + b"{}," * 100 + b"{}]}", "test")
    assert parse_json(b'{"a": [{}, {}]}', "test").values == {"a": [{}, {}]}


def test_a_large_file_may_unfold_farther():
    budget = MemoryBudget(100, largest_bytes=1000)
    budget.note_read(4)  # twenty times that are less than what any file may take
    budget.reserve_bytes(100, "all")
    budget.note_read(16)
    budget.reserve_bytes(300, "what 20 bytes may")
    budget.note_read(10_000)
    budget.reserve_bytes(600, "what the largest may")
    with pytest.raises(ValueError, match="that one file may take"):
        budget.reserve_bytes(1, "more")


def test_a_budget_counts_down():
    budget = MemoryBudget(100)
    budget.reserve_bytes(60, "this")
    with pytest.raises(ValueError, match="that needs"):
        budget.reserve_bytes(41, "that")
    budget.reserve_bytes(40, "the rest")


def sample_files(gltf, tile, png, quad_uv):
    """Return one file of each kind, small, so that damage hits what matters."""
    file = gltf()
    image = file.image(png(np.random.default_rng(0).integers(0, 256, (8, 8, 3)).astype(np.uint8)))
    material = file.textured(image, transform={"scale": [2, 2]}, sampler={"wrapS": 33648})
    file.quad(uv=quad_uv, colours=np.eye(4)[:, :3], material=material)
    file.quad(colours=np.eye(4)[:, :3])
    file.tree["nodes"] = [{"mesh": 0, "children": [1]}, {"mesh": 1, "scale": [1, 2, -1]}]
    glb = file.glb()
    jpeg = gltf()
    jpeg.quad(
        uv=quad_uv, material=jpeg.textured(jpeg.image(png(np.zeros((16, 16, 3), np.uint8), ".jpg")))
    )
    n = 3
    places = np.arange(9, dtype="f4").tobytes() + np.zeros((2 * n, 2), "u2").tobytes()
    table = {
        "INSTANCES_LENGTH": n,
        "POSITION": {"byteOffset": 0},
        "NORMAL_UP_OCT32P": {"byteOffset": 36},
        "NORMAL_RIGHT_OCT32P": {"byteOffset": 36 + 4 * n},
    }
    places = bytearray(places)
    places[36 + 4 * n :] = struct.pack("<6H", *[65535, 32768] * 3)
    instances = tile(b"i3dm", table, bytes(places), glb, struct.pack("<I", 1))
    stream = DracoPy.encode(np.random.default_rng(1).random((30, 3)), quantization_bits=8)
    draco = {"properties": {"POSITION": 0}, "byteOffset": 0, "byteLength": len(stream)}
    extensions = {"3DTILES_draco_point_compression": draco}
    cloud = tile(b"pnts", {"POINTS_LENGTH": 30, "extensions": extensions}, stream)
    batched = tile(b"b3dm", {"BATCH_LENGTH": 0}, rest=jpeg.scene().glb())
    body = batched + instances + cloud
    return [
        glb,
        file.json(),
        instances,
        cloud,
        struct.pack("<4s3I", b"cmpt", 1, 16 + len(body), 3) + body,
    ]


def damaged(data, rng):
    """Return data with a few bytes changed, cut, doubled or torn out."""
    data = bytearray(data)
    place = int(rng.integers(len(data)))
    match int(rng.integers(6)):
        case 0:
            del data[place:]
        case 1:
            del data[place : place + int(rng.integers(1, 9))]
        case 2:
            data[place:place] = data[place : place + int(rng.integers(1, 50))]
        case _:
            for at in rng.integers(len(data), size=int(rng.integers(1, 5))):
                data[at] = rng.choice([0, 255, int(rng.integers(256)), ord("9"), ord("0")])
    return bytes(data)


@pytest.mark.parametrize("which", range(5))
def test_random_damage_gives_clear_errors_or_meshes(
    gltf, tile, png, quad_uv, content, which, capfd
):
    whole = sample_files(gltf, tile, png, quad_uv)[which]
    assert content(whole)
    rng = np.random.default_rng(100 + which)
    refused = 0
    for _ in range(MUTANTS):
        try:
            parts = content(damaged(whole, rng), resolve=lambda uri: b"", max_bytes=2**26)
        except ContentError:
            refused += 1
            continue
        for part in parts:
            shape = part.shape
            assert np.isfinite(shape.positions).all()
            if hasattr(shape, "triangles"):
                assert 0 <= shape.triangles.min() <= shape.triangles.max() < len(shape.positions)
                assert np.isfinite(shape.uv).all()
    assert refused > MUTANTS // 10
