# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""b3dm, i3dm, cmpt and pnts tiles packed by hand."""

import json
import struct

import DracoPy
import numpy as np
import pytest

from aerotwin_core.geodesy import ecef_from_geodetic
from aerotwin_meshes.gltf.primitives import GltfTriangles, PointSet
from aerotwin_tiles.tile_content import ContentError

DOUBLE = 1e-8  # metres at the Earth's radius
SINGLE = 1e-6  # of numbers about one
OCT_STEP = 2e-4  # of directions in 16 bits a component
CENTER = [1215107.7612304366, -4736682.902037748, 4081926.095098698]


def turned(corners):
    """Lay y up on z, as tiles do with glTF."""
    x, y, z = np.moveaxis(np.asarray(corners, float), -1, 0)
    return np.stack([x, -z, y], axis=-1)


def corners_of(mesh):
    return mesh.shape.positions[mesh.shape.triangles]


@pytest.fixture
def model(quad_file):
    quad_file.tree["asset"]["copyright"] = "who made it"
    quad_file.tree["meshes"][0]["name"] = "wall"
    return quad_file.glb()


def test_a_glb_is_turned_to_z_up_and_named(model, content, quad_corners):
    (mesh,) = content(model)
    assert isinstance(mesh.shape, GltfTriangles)
    np.testing.assert_array_equal(corners_of(mesh), turned(quad_corners))
    assert (mesh.name, mesh.copyright) == ("tile.bin#wall", "who made it")


@pytest.mark.parametrize(
    ("up_axis", "expected"), [("x", [-3, 2, 1]), ("y", [1, -3, 2]), ("z", [1, 2, 3])]
)
def test_every_up_axis_is_laid_on_z(gltf, content, up_axis, expected):
    file = gltf()
    file.mesh({"POSITION": file.accessor(np.array([[1, 2, 3]], "f4"))}, mode=0)
    (points,) = content(file.scene().glb(), up_axis=up_axis)
    assert points.shape.positions.tolist() == [expected]


def test_a_text_gltf_is_known_by_its_first_bracket(quad_file, content, quad_corners):
    for blank in (b"", b"\n  ", b"\xef\xbb\xbf"):
        (mesh,) = content(blank + quad_file.json())
        np.testing.assert_array_equal(corners_of(mesh), turned(quad_corners))


def old_header(magic, fields, parts):
    body = b"".join(parts)
    return (
        struct.pack(f"<4s{2 + len(fields)}I", magic, 1, 12 + 4 * len(fields) + len(body), *fields)
        + body
    )


def test_batched_models_of_all_three_headers_are_read(model, tile, content, quad_corners):
    table = b'{"id":[1]}'
    binary = b"\1\2\3\4"
    tiles = {
        "28 bytes": tile(b"b3dm", {"BATCH_LENGTH": 1}, rest=model),
        "20 bytes": old_header(b"b3dm", [1, len(table)], [table, model]),
        "20 bytes, no table": old_header(b"b3dm", [0, 0], [model]),
        "24 bytes": old_header(b"b3dm", [len(table), 4, 1], [table, binary, model]),
        "24 bytes, no table": old_header(b"b3dm", [0, 0, 0], [model]),
    }
    for name, data in tiles.items():
        (mesh,) = content(data)
        np.testing.assert_array_equal(corners_of(mesh), turned(quad_corners), err_msg=name)
        assert mesh.copyright == "who made it"


@pytest.mark.parametrize("how", ["JSON", "binary", "extension"])
def test_a_center_is_added_after_the_turn_in_double_precision(
    quad_file, tile, content, quad_corners, how
):
    binary, center = b"", np.array(CENTER)
    if how == "JSON":
        data = tile(b"b3dm", {"BATCH_LENGTH": 0, "RTC_CENTER": CENTER}, rest=quad_file.glb())
    elif how == "binary":  # single precision by the format
        binary, center = struct.pack("<4x3f", *CENTER), center.astype(np.float32).astype(float)
        table = {"BATCH_LENGTH": 0, "RTC_CENTER": {"byteOffset": 4}}
        data = tile(b"b3dm", table, binary, quad_file.glb())
    else:
        quad_file.tree["extensions"] = {"CESIUM_RTC": {"center": CENTER}}
        quad_file.tree["extensionsRequired"] = ["CESIUM_RTC"]
        data = tile(b"b3dm", {"BATCH_LENGTH": 0}, rest=quad_file.glb())
    (mesh,) = content(data)
    expected = turned(quad_corners) + center
    np.testing.assert_allclose(corners_of(mesh), expected, rtol=0, atol=DOUBLE)


def instanced(tile, model, table, arrays, kind=1):
    """Pack an i3dm tile; arrays stand in the binary part, one after the other."""
    binary = b""
    table = {**table}
    for name, array in arrays.items():
        binary += b"\0" * (-len(binary) % 8)
        table[name] = {"byteOffset": len(binary)}
        binary += array.tobytes()
    return tile(b"i3dm", table, binary, model, struct.pack("<I", kind))


PLACES = np.array([[10, 20, 30], [-1, -2, -3], [0.5, 0, 7]], "f4")


def instance_corners(parts):
    return np.array([corners_of(part) for part in parts])


def test_instances_stand_at_their_places(tile, model, content, quad_corners):
    data = instanced(tile, model, {"INSTANCES_LENGTH": 3}, {"POSITION": PLACES})
    parts = content(data)
    expected = turned(quad_corners) + PLACES[:, None, None]
    np.testing.assert_allclose(instance_corners(parts), expected, rtol=SINGLE)
    assert [part.name for part in parts] == [f"tile.bin#wall[{i}]" for i in range(3)]
    assert parts[1].shape.texture is parts[0].shape.texture


def test_instances_by_steps_of_a_volume_about_a_center(tile, model, content, quad_corners):
    steps = np.array([[0, 65535, 13107], [26214, 0, 65535]], "u2")
    table = {
        "INSTANCES_LENGTH": 2,
        "QUANTIZED_VOLUME_OFFSET": [-5, 0, 5],
        "QUANTIZED_VOLUME_SCALE": [10, 20, 100],
        "RTC_CENTER": CENTER,
    }
    parts = content(instanced(tile, model, table, {"POSITION_QUANTIZED": steps}))
    places = np.array([[-5, 20, 25], [-1, 0, 105]]) + CENTER
    expected = turned(quad_corners) + places[:, None, None]
    np.testing.assert_allclose(instance_corners(parts), expected, rtol=0, atol=DOUBLE)


def test_instances_are_scaled_then_turned_then_moved(tile, model, content, quad_corners):
    # Right is y and up is -x: a quarter turn about z.
    arrays = {
        "POSITION": PLACES[:1],
        "NORMAL_UP": np.array([[-1, 0, 0]], "f4"),
        "NORMAL_RIGHT": np.array([[0, 1, 0]], "f4"),
        "SCALE": np.array([2], "f4"),
        "SCALE_NON_UNIFORM": np.array([[1, 3, 5]], "f4"),
    }
    parts = content(instanced(tile, model, {"INSTANCES_LENGTH": 1}, arrays))
    x, y, z = np.moveaxis(turned(quad_corners) * [2, 6, 10], -1, 0)
    expected = np.stack([-y, x, z], axis=-1) + PLACES[0]
    np.testing.assert_allclose(instance_corners(parts)[0], expected, rtol=SINGLE)


def oct_encode(vector):
    """The encoding of Cigolle et al., one vector at a time."""
    x, y, z = np.asarray(vector, float) / np.abs(vector).sum()
    if z < 0:
        x, y = (1 - abs(y)) * (1 if x >= 0 else -1), (1 - abs(x)) * (1 if y >= 0 else -1)
    return [round((x + 1) / 2 * 65535), round((y + 1) / 2 * 65535)]


def test_directions_in_32_bits_are_those_in_floats(tile, model, content):
    rng = np.random.default_rng(11)
    up = rng.normal(size=(40, 3))
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    right = np.cross(up, rng.normal(size=(40, 3)))
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    places = {"POSITION": np.zeros((40, 3), "f4")}
    plain = {"NORMAL_UP": up.astype("f4"), "NORMAL_RIGHT": right.astype("f4")}
    packed = {
        "NORMAL_UP_OCT32P": np.array([oct_encode(v) for v in up], "u2"),
        "NORMAL_RIGHT_OCT32P": np.array([oct_encode(v) for v in right], "u2"),
    }
    table = {"INSTANCES_LENGTH": 40}
    expected = instance_corners(content(instanced(tile, model, table, {**places, **plain})))
    found = instance_corners(content(instanced(tile, model, table, {**places, **packed})))
    np.testing.assert_allclose(found, expected, atol=10 * OCT_STEP)  # metres, 9 from the middle


def test_instances_may_stand_upright_on_the_earth(tile, model, content):
    ground = ecef_from_geodetic(48.0, 11.0, 0.0)
    above = ecef_from_geodetic(48.0, 11.0, 1.0) - ground
    north = ecef_from_geodetic(48.0 + 1e-5, 11.0, 0.0) - ground
    table = {"INSTANCES_LENGTH": 1, "EAST_NORTH_UP": True, "RTC_CENTER": ground.tolist()}
    data = instanced(tile, model, table, {"POSITION": np.zeros((1, 3), "f4")})
    (mesh,) = content(data)
    local = mesh.shape.positions - ground
    # The model's y (0 or 8 m) is up, its z (1 to 5 m) points south.
    assert sorted(np.round(local @ above, 3)) == [0, 0, 8, 8]
    southwards = local @ (-north / np.linalg.norm(north))
    np.testing.assert_allclose(sorted(southwards), [1, 2, 3, 5], atol=1e-3)


@pytest.mark.parametrize(
    ("model", "buffer"),
    [
        ("models/wall.gltf", "models/data/wall.bin"),
        ("models/wall.gltf\0\0\0", "models/data/wall.bin"),
        ("wall.gltf  ", "data/wall.bin"),
        ("../models/wall.gltf?v=1/2", "../models/data/wall.bin"),
        ("http://a.b/models/wall.gltf?v=1", "http://a.b/models/data/wall.bin"),
    ],
)
def test_an_instanced_model_may_stand_in_a_file_with_files_of_its_own(
    tile, quad_file, content, quad_corners, model, buffer
):
    files = {model.strip(" \0"): quad_file.json("data/wall.bin"), buffer: quad_file.body}
    table, place = {"INSTANCES_LENGTH": 1}, {"POSITION": PLACES[:1]}
    data = instanced(tile, model.encode(), table, place, kind=0)
    (mesh,) = content(data, files.__getitem__)
    np.testing.assert_allclose(corners_of(mesh), turned(quad_corners) + PLACES[0], rtol=SINGLE)


def composite(*tiles):
    body = b"".join(tiles)
    return struct.pack("<4s3I", b"cmpt", 1, 16 + len(body), len(tiles)) + body


def test_composites_hold_tiles_of_all_kinds_and_composites(tile, model, content):
    batched = tile(b"b3dm", {"BATCH_LENGTH": 0}, rest=model)
    points = tile(b"pnts", {"POINTS_LENGTH": 1, "POSITION": {"byteOffset": 0}}, bytes(12))
    places = instanced(tile, model, {"INSTANCES_LENGTH": 3}, {"POSITION": PLACES})
    parts = content(composite(batched, composite(points, composite(), places), batched))
    kinds = [type(part.shape) for part in parts]
    assert kinds == [GltfTriangles, PointSet, *[GltfTriangles] * 4]


def test_composites_are_not_nested_without_end(content):
    data = composite()
    for _ in range(20):
        data = composite(data)
    with pytest.raises(ContentError, match="nested more than 8 deep"):
        content(data)


def cloud(tile, n, arrays, **table):
    binary = b""
    for name, array in arrays.items():
        binary += b"\0" * (-len(binary) % 4)
        table[name] = {"byteOffset": len(binary)}
        binary += array.tobytes()
    return tile(b"pnts", {"POINTS_LENGTH": n, **table}, binary)


COLOURS = np.array([[255, 0, 8], [16, 130, 255], [0, 255, 99]], np.uint8)


@pytest.mark.parametrize(
    ("arrays", "table", "expected"),
    [
        ({}, {}, [[169] * 3] * 3),
        ({"RGB": COLOURS}, {}, COLOURS),
        ({"RGBA": np.hstack([COLOURS, COLOURS[:, :1]])}, {}, COLOURS),
        ({}, {"CONSTANT_RGBA": [1, 20, 255, 0]}, [[1, 20, 255]] * 3),
        ({"CONSTANT_RGBA": np.array([9, 8, 7, 6], np.uint8)}, {}, [[9, 8, 7]] * 3),
        (
            {"RGB565": np.array([0b11111_000000_00001, 0b00010_100000_11111, 0], "u2")},
            {},
            [[255, 0, 8], [16, 130, 255], [0, 0, 0]],
        ),
    ],
)
def test_points_are_read_with_their_colours(tile, content, arrays, table, expected):
    (points,) = content(cloud(tile, 3, {"POSITION": PLACES, **arrays}, **table))
    np.testing.assert_array_equal(points.shape.positions, PLACES)
    np.testing.assert_array_equal(points.shape.colours, expected)


def test_points_by_steps_of_a_volume_about_a_center(tile, content):
    steps = np.array([[0, 65535, 13107]], "u2")
    volume = {"QUANTIZED_VOLUME_OFFSET": [1, 2, 3], "QUANTIZED_VOLUME_SCALE": [10, 20, 100]}
    data = cloud(tile, 1, {"POSITION_QUANTIZED": steps}, RTC_CENTER=CENTER, **volume)
    expected = np.array([[1, 22, 23]]) + CENTER
    np.testing.assert_allclose(content(data)[0].shape.positions, expected, rtol=0, atol=DOUBLE)


@pytest.mark.parametrize("is_partial", [False, True])
def test_points_packed_by_draco_are_read(tile, content, is_partial):
    rng = np.random.default_rng(9)
    points, colours = rng.random((200, 3)), rng.integers(0, 256, (200, 3)).astype(np.uint8)
    stream = DracoPy.encode(points, colors=colours, preserve_order=True, quantization_bits=14)
    ids = {a["attribute_type"]: a["unique_id"] for a in DracoPy.decode(stream).attributes}
    properties = {"POSITION": ids[0]} | ({} if is_partial else {"RGB": ids[2]})
    packed = {"properties": properties, "byteOffset": 0, "byteLength": len(stream)}
    rest = colours[::-1].tobytes()
    table = {
        "POINTS_LENGTH": 200,
        "POSITION": {"byteOffset": 0},
        "RGB": {"byteOffset": len(stream)},
        "extensions": {"3DTILES_draco_point_compression": packed},
    }
    (found,) = content(tile(b"pnts", table, stream + rest))
    np.testing.assert_allclose(found.shape.positions, points, atol=1.0 / 2**13)
    np.testing.assert_array_equal(found.shape.colours, colours[::-1] if is_partial else colours)
    with pytest.raises(ContentError, match="200 points"):
        content(tile(b"pnts", {**table, "POINTS_LENGTH": 199}, stream + rest))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"BATCH_LENGTH": 1}, "POINTS_LENGTH is missing"),
        ({"POINTS_LENGTH": 10**9, "POSITION": {"byteOffset": 0}}, "reaches to byte 12000000000"),
        ({"POINTS_LENGTH": -1, "POSITION": {"byteOffset": 0}}, "POINTS_LENGTH must be"),
        ({"POINTS_LENGTH": 1}, "neither POSITION nor POSITION_QUANTIZED"),
        ({"POINTS_LENGTH": 1, "POSITION": {"byteOffset": -4}}, "byteOffset must be"),
        ({"POINTS_LENGTH": 1, "POSITION": [1, 2, 3]}, "POSITION must be an object"),
        ({"POINTS_LENGTH": 1, "POSITION": {"byteOffset": 12}}, "NaN or infinite"),
        (
            {"POINTS_LENGTH": 1, "POSITION": {"byteOffset": 0}, "RTC_CENTER": [1, 2]},
            "a list of 3 finite numbers",
        ),
    ],
)
def test_tables_that_lie_are_refused(tile, content, table, message):
    binary = bytes(12) + struct.pack("<3f", 1.0, float("nan"), 0.0)
    with pytest.raises(ContentError, match=rf"tile\.bin: not a usable tile content .*{message}"):
        content(tile(b"pnts", table, binary))


def test_instances_without_a_frame_or_beyond_number_are_refused(tile, model, content):
    parallel = {"NORMAL_UP": np.ones((1, 3), "f4"), "NORMAL_RIGHT": np.ones((1, 3), "f4")}
    table = {"INSTANCES_LENGTH": 1}
    place = {"POSITION": PLACES[:1]}
    with pytest.raises(ContentError, match="span no frame"):
        content(instanced(tile, model, table, {**place, **parallel}))
    with pytest.raises(ContentError, match="INSTANCES_LENGTH must be"):
        content(instanced(tile, model, {"INSTANCES_LENGTH": 10**6}, place))
    with pytest.raises(ContentError, match="gltfFormat must be 0 or 1, got 2"):
        content(instanced(tile, model, table, place, kind=2))


def test_what_resolve_raises_is_passed_on(tile, content):
    class OwnError(Exception):
        pass

    def resolve(uri):
        raise OwnError(uri)

    data = instanced(tile, b"gone.glb", {"INSTANCES_LENGTH": 1}, {"POSITION": PLACES[:1]}, kind=0)
    with pytest.raises(OwnError, match=r"gone\.glb"):
        content(data, resolve)


@pytest.mark.parametrize("n", [0, 3, 11, 19, 27, 40, 100])
def test_truncated_tiles_are_refused_by_name(tile, model, content, n):
    whole = tile(b"b3dm", {"BATCH_LENGTH": 0}, rest=model)
    for data in (whole[:n], composite(whole)[:n], model[:n], json.dumps({"asset": 1}).encode()[:n]):
        with pytest.raises(ContentError, match=r"^tile\.bin: not a usable tile content \("):
            content(data)


def test_versions_from_the_future_are_refused(tile, model, content):
    data = bytearray(tile(b"b3dm", {"BATCH_LENGTH": 0}, rest=model))
    data[4] = 2
    with pytest.raises(ContentError, match="version 2 of the format is unknown"):
        content(bytes(data))
