# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Textures, their coordinates and colours of glTF files packed by hand."""

import struct
import zlib

import cv2
import numpy as np
import pytest

STEP = 1.0  # of 8 bits
ROUNDING = 1e-6
JPEG_ERROR = 6.0  # of a smooth picture at quality 95
CLAMP, MIRROR, REPEAT = 33071, 33648, 10497


@pytest.fixture
def picture():
    """A picture without any symmetry, smooth enough for JPEG."""
    v, u = np.mgrid[0:16, 0:24]
    return np.stack([10 * u, 15 * v, 3 * u + 4 * v], axis=-1).astype(np.uint8)


def srgb(linear):
    """IEC 61966-2-1, the slow way."""
    value = 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055
    return 255.0 * value


def linear(encoded):
    value = encoded / 255.0
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def sample(texture, uv, *, repeats):
    """Bilinear filtering as OpenGL has it: texel centres stand at half-integers."""
    h, w = texture.shape[:2]
    x, y = uv[0] * w - 0.5, uv[1] * h - 0.5
    i, j = int(np.floor(x)), int(np.floor(y))
    total = np.zeros(3)
    for di, dj in ((0, 0), (1, 0), (0, 1), (1, 1)):
        weight = abs(1 - di - (x - i)) * abs(1 - dj - (y - j))
        column, row = i + di, j + dj
        if repeats:
            column, row = column % w, row % h
        texel = texture[np.clip(row, 0, h - 1), np.clip(column, 0, w - 1)]
        total += weight * texel.astype(float)
    return total


@pytest.mark.parametrize(("factor", "expected"), [(0.5, 188), (0.0, 0), (1.0, 255), (0.002, 7)])
def test_a_plain_colour_is_encoded_for_the_screen(gltf, shapes, factor, expected):
    # 188 = the well known grey of half the light.
    file = gltf()
    surface = {"baseColorFactor": [factor, 1, 0, 1]}
    file.quad(material=file.add("materials", pbrMetallicRoughness=surface))
    (part,) = shapes(file.scene())
    assert part.shape.texture.tolist() == [[[expected, 255, 0]]]
    (other,) = shapes(file)
    assert other.shape.texture is part.shape.texture  # of any file: drawn from one place


def test_without_material_all_is_white(quad_file, shapes):
    assert shapes(quad_file)[0].shape.texture.tolist() == [[[255, 255, 255]]]


@pytest.mark.parametrize(
    ("kind", "options", "error"),
    [
        (".png", (), 0.0),
        (".webp", (cv2.IMWRITE_WEBP_QUALITY, 101), 0.0),  # above 100: without loss
        (".webp", (cv2.IMWRITE_WEBP_QUALITY, 95), 3 * JPEG_ERROR),
        (".jpg", (cv2.IMWRITE_JPEG_QUALITY, 95), JPEG_ERROR),
    ],
)
def test_pictures_of_every_kind_are_read(gltf, shapes, png, picture, quad_uv, kind, options, error):
    file = gltf()
    image = file.image(png(picture, kind, *options))
    file.quad(uv=quad_uv, material=file.textured(image))
    (part,) = shapes(file.scene())
    difference = part.shape.texture.astype(float) - picture
    assert np.abs(difference).mean() <= error
    np.testing.assert_array_equal(part.shape.uv, quad_uv)
    assert not part.shape.repeats


def test_orientation_tags_turn_nothing(gltf, shapes, png, picture, quad_uv):
    data = png(picture, ".jpg")
    tiff = b"II*\0\x08\0\0\0" + struct.pack("<HHHIHHI", 1, 0x0112, 3, 1, 6, 0, 0)
    tag = b"\xff\xe1" + struct.pack(">H", 8 + len(tiff)) + b"Exif\0\0" + tiff
    turned = cv2.imdecode(np.frombuffer(data[:2] + tag + data[2:], np.uint8), cv2.IMREAD_COLOR)
    assert turned.shape == (24, 16, 3)  # the tag is whole
    file = gltf()
    file.quad(uv=quad_uv, material=file.textured(file.image(data[:2] + tag + data[2:])))
    assert shapes(file.scene())[0].shape.texture.shape == picture.shape


def test_webp_is_taken_before_the_picture_for_older_readers(gltf, shapes, png, picture, quad_uv):
    file = gltf()
    old, new = file.image(png(picture)), file.image(png(picture[::-1], ".webp", 64, 101))
    material = file.textured(old)
    file.tree["textures"][0]["extensions"] = {"EXT_texture_webp": {"source": new}}
    file.quad(uv=quad_uv, material=material)
    np.testing.assert_array_equal(shapes(file.scene())[0].shape.texture, picture[::-1])


def ktx2(colours):
    """Pack a KTX2 texture of 4 x 4 pixels a block, each block of one colour.

    UASTC mode 8 has the code 10111 in five bits, low bits first, then red, green, blue, alpha.
    """
    blocks = b"".join(
        (0b10111 | int.from_bytes(bytes([*colour, 255]), "little") << 5).to_bytes(16, "little")
        for colour in colours.reshape(-1, 3)
    )
    samples = struct.pack("<HBB4BII", 0, 127, 0, 0, 0, 0, 0, 0, 2**32 - 1)
    # Basic data format descriptor: colour model 166 (UASTC), BT.709, sRGB, blocks of 4 x 4.
    descriptor = struct.pack("<IHH8B8B", 0, 2, 40, 166, 1, 2, 0, 3, 3, 0, 0, 16, *[0] * 7) + samples
    descriptor = struct.pack("<I", 4 + len(descriptor)) + descriptor
    start, at = 80 + 24, 80 + 24 + len(descriptor)
    at += -at % 16
    h, w = colours.shape[:2]
    header = b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack("<9I", 0, 1, 4 * w, 4 * h, 0, 0, 1, 1, 0)
    index = struct.pack("<4I2Q", start, len(descriptor), 0, 0, 0, 0)
    levels = struct.pack("<3Q", at, len(blocks), len(blocks))
    return (header + index + levels + descriptor).ljust(at, b"\0") + blocks


def test_basis_universal_pictures_are_read(gltf, shapes, quad_uv):
    colours = np.random.default_rng(3).integers(0, 256, (3, 5, 3)).astype(np.uint8)
    file = gltf()
    material = file.textured(file.image(ktx2(colours)))
    texture = file.tree["textures"][0]
    texture["extensions"] = {"KHR_texture_basisu": {"source": texture.pop("source")}}
    file.quad(uv=quad_uv, material=material)
    expected = colours.repeat(4, axis=0).repeat(4, axis=1)
    np.testing.assert_array_equal(shapes(file.scene())[0].shape.texture, expected)


def test_the_factor_multiplies_the_light_of_a_texture(gltf, shapes, png, picture, quad_uv):
    factor = [0.5, 0.25, 0.9, 1]
    file = gltf()
    image = file.image(png(picture))
    file.quad(uv=quad_uv, material=file.textured(image, baseColorFactor=factor))
    found = shapes(file.scene())[0].shape.texture
    for row, column in ((0, 0), (3, 7), (15, 23)):
        expected = [srgb(linear(picture[row, column, i]) * factor[i]) for i in range(3)]
        np.testing.assert_allclose(found[row, column], expected, atol=STEP / 2 + ROUNDING)


def test_the_older_gloss_model_has_a_diffuse_picture(gltf, shapes, png, picture, quad_uv):
    file = gltf()
    file.textured(file.image(png(picture)))
    old = {"diffuseTexture": {"index": 0}}
    extensions = {"KHR_materials_pbrSpecularGlossiness": old}
    file.quad(uv=quad_uv, material=file.add("materials", extensions=extensions))
    np.testing.assert_array_equal(shapes(file.scene())[0].shape.texture, picture)


@pytest.mark.parametrize(
    "surface", [{"baseColorFactor": [0, 0, 0, 0], "baseColorTexture": {"index": 1}}, {}]
)
def test_a_picture_that_glows_shows_where_nothing_else_does(
    gltf, shapes, png, picture, quad_uv, surface
):
    file = gltf()
    for pixels in (picture, picture[::-1]):
        file.textured(file.image(png(pixels)))
    glow = {"emissiveTexture": {"index": 0}, "emissiveFactor": [1, 1, 1]}
    file.quad(uv=quad_uv, material=file.add("materials", pbrMetallicRoughness=surface, **glow))
    np.testing.assert_array_equal(shapes(file.scene())[0].shape.texture, picture)
    file.tree["materials"][-1]["pbrMetallicRoughness"] = {"baseColorTexture": {"index": 1}}
    np.testing.assert_array_equal(shapes(file)[0].shape.texture, picture[::-1])


def test_equal_textures_are_one_array(gltf, shapes, png, picture, quad_uv):
    file = gltf()
    image = file.image(png(picture))
    for surface in ({}, {}, {"baseColorFactor": [1, 1, 1, 0.5]}, {"baseColorFactor": [0, 1, 1, 1]}):
        file.quad(uv=quad_uv, material=file.textured(image, **surface))
    file.tree["nodes"] = [{"mesh": i} for i in range(4)]
    first, second, transparent, tinted = (part.shape.texture for part in shapes(file))
    assert first is second
    assert np.array_equal(transparent, first)
    assert tinted is not first


def test_coordinates_are_scaled_turned_and_moved(gltf, shapes, png, picture):
    # By the extension's text: about the origin, counter-clockwise as seen in (u, v) with v down.
    transform = {"offset": [0.5, 0.25], "rotation": np.pi / 2, "scale": [0.5, 0.25]}
    file = gltf()
    material = file.textured(
        file.image(png(picture)), transform=transform, sampler={"wrapS": CLAMP, "wrapT": CLAMP}
    )
    file.quad(uv=[[0, 0], [1, 0], [0, 1], [1, 1]], material=material)
    expected = [[0.5, 0.25], [0.5, -0.25], [0.75, 0.25], [0.75, -0.25]]
    np.testing.assert_allclose(shapes(file.scene())[0].shape.uv, expected, atol=ROUNDING)


def test_the_transform_may_choose_another_set_of_coordinates(gltf, shapes, png, picture, quad_uv):
    file = gltf()
    material = file.textured(file.image(png(picture)), transform={"texCoord": 1})
    file.quad(uv=np.zeros((4, 2)), material=material)
    attributes = file.tree["meshes"][0]["primitives"][0]["attributes"]
    attributes["TEXCOORD_1"] = file.accessor(quad_uv)
    np.testing.assert_array_equal(shapes(file.scene())[0].shape.uv, quad_uv)


def wrapped(x, mode):
    """Clause 3.8.4.5: where a coordinate beyond [0, 1] looks at."""
    if mode == CLAMP:
        return np.clip(x, 0, 1)
    period = x % 2
    return x % 1 if mode == REPEAT else (period if period <= 1 else 2 - period)


@pytest.mark.parametrize("wrap_s", [CLAMP, MIRROR, REPEAT])
@pytest.mark.parametrize("wrap_t", [CLAMP, MIRROR, REPEAT])
@pytest.mark.parametrize("start", [(0.1, 0.2), (-1.3, -0.8), (3.2, 5.1)])
def test_textures_wrap_as_their_sampler_says(gltf, shapes, png, picture, wrap_s, wrap_t, start):
    stored = np.array([[0, 0], [0.8, 0], [0.8, 0.8], [0, 0.8]]) + start
    file = gltf()
    sampler = {"wrapS": wrap_s, "wrapT": wrap_t}
    material = file.textured(file.image(png(picture)), sampler=sampler)
    file.quad(uv=stored, material=material)
    shape = shapes(file.scene())[0].shape
    h, w = picture.shape[:2]
    for uv, original in zip(shape.uv.astype(float), stored):
        u, v = (wrapped(x, mode) for x, mode in zip(original, (wrap_s, wrap_t)))
        if min(u, v) < 0.1 or max(u, v) > 0.9:
            continue  # at the rim, the neighbour of a texel may be the other side's
        seen = sample(shape.texture, uv, repeats=shape.repeats)
        np.testing.assert_allclose(seen, sample(picture, (u, v), repeats=False), atol=0.01)
    is_beyond = shape.uv.min() < -ROUNDING or shape.uv.max() > 1 + ROUNDING
    assert not (is_beyond and not shape.repeats and CLAMP not in (wrap_s, wrap_t))
    assert w * h <= shape.texture[..., 0].size <= 4 * w * h


def test_coordinates_a_whole_period_away_need_no_repetition(gltf, shapes, png, picture, quad_uv):
    file = gltf()
    file.quad(uv=np.add(quad_uv, [-4, 7]), material=file.textured(file.image(png(picture))))
    shape = shapes(file.scene())[0].shape
    np.testing.assert_array_equal(shape.uv, quad_uv)
    assert not shape.repeats


def test_vertex_colours_are_interpolated_over_each_triangle(gltf, shapes):
    rng = np.random.default_rng(5)
    n = 40
    colours = rng.random((n, 3)) * 0.4 + 0.2  # near enough for b + c - a to be a colour
    triangles = rng.permuted(np.tile(np.arange(n), (30, 1)), axis=1)[:, :3]
    positions = rng.random((n, 3)).astype(np.float32)
    file = gltf()
    attributes = {
        "POSITION": file.accessor(positions),
        "COLOR_0": file.accessor(colours.astype(np.float32)),
    }
    file.mesh(attributes, indices=file.accessor(triangles.astype(np.uint16).ravel()))
    shape = shapes(file.scene())[0].shape
    encoded = np.vectorize(srgb)(colours)
    for found, requested in zip(shape.triangles, triangles):
        for weights in rng.dirichlet((1, 1, 1), 4):
            place = {tuple(p): i for i, p in enumerate(positions[requested])}
            order = [place[tuple(p.astype(np.float32))] for p in shape.positions[found]]
            expected = weights @ encoded[requested[order]]
            seen = sample(shape.texture, weights @ shape.uv[found], repeats=False)
            np.testing.assert_allclose(seen, expected, atol=2 * STEP)


def test_a_dark_corner_between_bright_ones_fades_evenly(gltf, shapes):
    # From the dark corner, b + c - a would be brighter than white; from another one it is not.
    grey, factor = np.array([0.001, 0.9, 0.7]), 0.8
    file = gltf()
    attributes = {
        "POSITION": file.accessor(np.eye(3, dtype=np.float32)),
        "COLOR_0": file.accessor(np.repeat(grey[:, None], 3, axis=1).astype(np.float32)),
    }
    surface = {"baseColorFactor": [factor, factor, factor, 1]}
    file.mesh(attributes, material=file.add("materials", pbrMetallicRoughness=surface))
    shape = shapes(file.scene())[0].shape
    encoded = np.array([srgb(factor * value) for value in grey])
    for weights in np.random.default_rng(1).dirichlet((1, 1, 1), 20):
        corner = shape.positions[shape.triangles[0]]  # row i is 1 at the vertex it was
        expected = weights @ corner @ encoded
        seen = sample(shape.texture, weights @ shape.uv[shape.triangles[0]], repeats=False)
        np.testing.assert_allclose(seen, expected, atol=2 * STEP)


def test_strong_vertex_colours_are_right_at_the_corners(gltf, shapes):
    # Red, green and blue: b + c - a is no colour, whichever corner is a.
    file = gltf()
    colours = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    file.quad(colours=colours)
    shape = shapes(file.scene())[0].shape
    seen = [sample(shape.texture, uv, repeats=False) for uv in shape.uv.astype(float)]
    places = {
        tuple(p): c
        for p, c in zip(np.array([[0, 0, 1], [4, 0, 2], [4, 8, 3], [0, 8, 5]], float), colours)
    }
    expected = [255 * places[tuple(p)] for p in shape.positions]
    np.testing.assert_allclose(seen, expected, atol=1e-3)


def test_one_colour_at_all_vertices_is_a_plain_texture(gltf, shapes):
    file = gltf()
    file.quad(colours=[[0.5, 0.0, 1.0, 0.3]] * 4)
    shape = shapes(file.scene())[0].shape
    assert shape.texture.tolist() == [[[188, 0, 255]]]
    assert len(shape.positions) == 4


def test_grey_vertex_colours_over_a_texture_are_light(gltf, shapes, png, picture, quad_uv):
    grey = np.array([1.0, 0.5, 0.25, 0.0])
    file = gltf()
    material = file.textured(file.image(png(picture)))
    file.quad(uv=quad_uv, colours=np.repeat(grey[:, None], 3, axis=1), material=material)
    shape = shapes(file.scene())[0].shape
    expected = np.vectorize(srgb)(grey) / 255
    np.testing.assert_allclose(shape.light, expected, atol=ROUNDING)
    np.testing.assert_array_equal(shape.texture, picture)


def test_points_have_their_colours(gltf, shapes, quad_positions):
    file = gltf()
    attributes = {
        "POSITION": file.accessor(quad_positions),
        "COLOR_0": file.accessor(
            np.array([[255, 0, 0], [0, 255, 0], [128, 0, 0], [0, 0, 0]], "u1"), normalized=True
        ),
    }
    surface = {"baseColorFactor": [1, 0.5, 1, 1]}
    material = file.add("materials", pbrMetallicRoughness=surface)
    file.mesh(attributes, mode=0, material=material)
    colours = shapes(file.scene())[0].shape.colours
    assert colours.tolist() == [[255, 0, 0], [0, 188, 0], [188, 0, 0], [0, 0, 0]]


def png_that_claims(width, height):
    header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    crc = struct.pack(">I", zlib.crc32(chunk))
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + crc + bytes(64)


def jpeg_that_claims(width, height):
    frame = struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    return b"\xff\xd8\xff\xe0\x00\x04\0\0\xff\xc2" + frame + bytes(64)


@pytest.mark.parametrize(
    "data",
    [
        png_that_claims(100_000, 100_000),
        png_that_claims(0, 5),
        png_that_claims(64, 64),
        jpeg_that_claims(65_500, 65_500),
        jpeg_that_claims(64, 64),
        b"RIFF\x40\0\0\0WEBPVP8X" + bytes(8) + b"\xff\xff\xff\xff\xff\xff" + bytes(40),
        b"\xff\xd8\xff\xe0",
        b"\xff\xd8\xff\xe0\xff\xff" + bytes(10),
        b"GIF89a" + bytes(40),
        ktx2(np.zeros((1, 1, 3), np.uint8))[:-1],
        ktx2(np.zeros((1, 1, 3), np.uint8))[:27],
        b"\xabKTX 20\xbb\r\n\x1a\n" + bytes([0] * 8 + [255] * 60),
        b"",
    ],
)
def test_a_picture_that_lies_or_is_unknown_is_refused(gltf, shapes, quad_uv, data):
    file = gltf()
    file.quad(uv=quad_uv, material=file.textured(file.image(data)))
    with pytest.raises(ValueError, match=r"gltf\.images\[0\]"):
        shapes(file.scene())


def test_a_jpeg_that_ends_early_is_refused(gltf, shapes, png, picture, quad_uv):
    data = png(np.tile(picture, (20, 20, 1)), ".jpg")
    file = gltf()
    file.quad(uv=quad_uv, material=file.textured(file.image(data[: len(data) // 2])))
    with pytest.raises(ValueError, match=r"gltf\.images\[0\]"):
        shapes(file.scene())


def test_a_texture_without_coordinates_is_refused(gltf, shapes, png, picture):
    file = gltf()
    file.quad(material=file.textured(file.image(png(picture))))
    with pytest.raises(ValueError, match="TEXCOORD_0 is missing"):
        shapes(file.scene())
