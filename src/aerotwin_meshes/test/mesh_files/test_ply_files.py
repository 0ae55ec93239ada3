# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""PLY files: one cube in every format, colours, textures, odd properties, refusals."""

import struct

import cv2
import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_meshes.mesh_files import read_ply_mesh
from aerotwin_meshes.mesh_files.ply import read_ply

ROUNDING = 1e-9
A_BYTES_ROUNDING = 0.5
VERTICES = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
QUADS = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (1, 3, 7, 5), (3, 2, 6, 7), (2, 0, 4, 6)]
TRIANGLES = [t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))]
MIXED = [*QUADS[:3], *TRIANGLES[6:]]
CODES = {"uchar": "B", "int": "i", "float": "f", "double": "d", "ushort": "H"}


def ply(order, vertex, vertices, faces=None, face=("list uchar int vertex_indices",), comments=()):
    """Return the bytes of a PLY file; rows hold numbers, a tuple for each list."""
    tokens = {"": "ascii", "<": "binary_little_endian", ">": "binary_big_endian"}[order]
    header = ["ply", f"format {tokens} 1.0", *(f"comment {c}" for c in comments)]
    header.append(f"element vertex {len(vertices)}")
    header += [f"property {p}" for p in vertex]
    if faces is not None:
        header += [f"element face {len(faces)}", *(f"property {p}" for p in face)]
    data = "\n".join([*header, "end_header", ""]).encode()
    for kinds, rows in ((vertex, vertices), (face, faces or [])):
        for row in rows:
            for kind, value in zip(kinds, row, strict=True):
                data += _packed(order, kind.split(), value)
            data += b"\n" if order == "" else b""
    return data


def _packed(order, kind, value):
    values = value if isinstance(value, tuple) else (value,)
    if order == "":
        count = [len(values)] if kind[0] == "list" else []
        return " ".join(map(str, [*count, *values, ""])).encode()
    if kind[0] != "list":
        return struct.pack(order + CODES[kind[0]], value)
    head = struct.pack(order + CODES[kind[1]], len(values))
    return head + struct.pack(f"{order}{len(values)}{CODES[kind[2]]}", *values)


XYZ = ("float x", "float y", "float z")
RGB = ("uchar red", "uchar green", "uchar blue")


@pytest.mark.parametrize("order", ["", "<", ">"])
@pytest.mark.parametrize("polygons", [QUADS, TRIANGLES, MIXED], ids=["quads", "tris", "mixed"])
def test_a_cube_has_its_area_and_volume_in_every_format(tmp_path, measure, order, polygons):
    data = ply(order, XYZ, VERTICES, [(polygon,) for polygon in polygons])
    (tmp_path / "cube.ply").write_bytes(data)
    meshes, missing = read_ply_mesh(tmp_path / "cube.ply")
    assert missing == ()
    assert len(meshes[0].triangles) == 12
    assert measure.area(*meshes) == pytest.approx(6.0, abs=ROUNDING)
    assert measure.volume(*meshes) == pytest.approx(1.0, abs=ROUNDING)
    np.testing.assert_array_equal(meshes[0].texture, [[[160] * 3]])
    assert meshes[0].is_colour_assumed


@pytest.mark.parametrize("order", ["", "<", ">"])
def test_elements_and_properties_that_are_not_used_are_passed_over(tmp_path, measure, order):
    vertex = ("double z", "float nx", "double x", "double y", "list uchar float weights")
    vertices = [(z, 0.5, x, y, (1.0,) * (x + y)) for x, y, z in VERTICES]
    face = ("uchar flags", "list ushort int vertex_index", "float quality")
    data = ply(order, vertex, vertices, [(7, polygon, 0.25) for polygon in MIXED], face)
    (tmp_path / "cube.ply").write_bytes(data)
    (mesh,) = read_ply_mesh(tmp_path / "cube.ply")[0]
    assert measure.volume(mesh) == pytest.approx(1.0, abs=ROUNDING)


@pytest.mark.parametrize(("kind", "unit"), [("uchar", 1), ("ushort", 257), ("float", 1 / 255)])
def test_vertex_colours_are_interpolated(tmp_path, measure, kind, unit):
    colours = [(200, 100, 100), (100, 200, 100), (100, 100, 200)]
    vertices = [
        (*v, *(c * unit for c in colour)) for v, colour in zip(VERTICES, colours, strict=False)
    ]
    vertex = (*XYZ, *(f"{kind} {name}" for name in ("red", "green", "blue")))
    (tmp_path / "c.ply").write_bytes(ply("<", vertex, vertices, [((0, 1, 2),)]))
    (mesh,) = read_ply_mesh(tmp_path / "c.ply")[0]
    mean = np.mean(colours, axis=0)
    np.testing.assert_allclose(measure.colour(mesh, 0), mean, atol=A_BYTES_ROUNDING)
    shown = [tuple(measure.colour(mesh, 0, np.eye(3)[k]).round()) for k in range(3)]
    assert sorted(shown) == sorted(colours)


def test_one_colour_for_all_needs_one_texel(tmp_path):
    vertices = [(*v, 10, 20, 30) for v in VERTICES]
    (tmp_path / "c.ply").write_bytes(ply("<", (*XYZ, *RGB), vertices, [(q,) for q in QUADS]))
    (mesh,) = read_ply_mesh(tmp_path / "c.ply")[0]
    np.testing.assert_array_equal(mesh.texture, [[[10, 20, 30]]])
    assert len(mesh.vertices_map) == 8


def test_face_colours_are_those_of_their_faces(tmp_path, measure):
    rows = [(q, 40 * i, 255 - 40 * i, 5) for i, q in enumerate(QUADS)]
    face = ("list uchar int vertex_indices", *RGB)
    (tmp_path / "f.ply").write_bytes(ply("<", XYZ, VERTICES, rows, face))
    (mesh,) = read_ply_mesh(tmp_path / "f.ply")[0]
    for i in range(6):
        for triangle in (2 * i, 2 * i + 1):
            assert tuple(measure.colour(mesh, triangle).round()) == (40 * i, 255 - 40 * i, 5)
    assert measure.volume(mesh) == pytest.approx(1.0, abs=ROUNDING)


CORNERS = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 0]]], np.uint8)
SQUARE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
UV = [(0, 0), (1, 0), (1, 1), (0, 1)]  # v runs up
SHOWN = [CORNERS[1, 0], CORNERS[1, 1], CORNERS[0, 1], CORNERS[0, 0]]


def write_picture(path):
    cv2.imwrite(str(path), CORNERS[..., ::-1])


@pytest.mark.parametrize("order", ["", "<"])
@pytest.mark.parametrize("names", [("s", "t"), ("u", "v"), ("texture_u", "texture_v"), None])
def test_textures_lie_as_their_coordinates_say(tmp_path, measure, order, names):
    write_picture(tmp_path / "my picture.png")
    comments = ["TextureFile my picture.png"]
    if names is None:  # coordinates of corners
        face = ("list uchar int vertex_indices", "list uchar float texcoord")
        flat = tuple(float(c) for uv in UV for c in uv)
        data = ply(order, XYZ, SQUARE, [((0, 1, 2, 3), flat)], face, comments)
    else:
        vertex = (*XYZ, *(f"float {name}" for name in names))
        vertices = [(*p, *uv) for p, uv in zip(SQUARE, UV, strict=True)]
        data = ply(order, vertex, vertices, [((0, 1, 2, 3),)], comments=comments)
    (tmp_path / "t.ply").write_bytes(data)
    (mesh,), missing = read_ply_mesh(tmp_path / "t.ply")
    assert missing == ()
    for triangle in range(2):
        for k in range(3):
            corner = tuple(mesh.vertices_map[mesh.triangles[triangle, k]].astype(int))
            expected = SHOWN[SQUARE.index(corner)]
            np.testing.assert_allclose(measure.colour(mesh, triangle, np.eye(3)[k]), expected)


def test_faces_of_several_textures_become_several_meshes(tmp_path):
    write_picture(tmp_path / "a.png")
    face = ("list uchar int vertex_indices", "list uchar float texcoord", "int texnumber")
    flat = (0.0, 0.0, 1.0, 0.0, 1.0, 1.0)
    rows = [((0, 1, 2), flat, 0), ((0, 2, 3), flat, 1), ((0, 1, 3), flat, 2)]
    comments = ["TextureFile a.png", "TextureFile ../b.png"]
    (tmp_path / "t.ply").write_bytes(ply("<", XYZ, SQUARE, rows, face, comments))
    meshes, missing = read_ply_mesh(tmp_path / "t.ply")
    assert [mesh.texture.shape for mesh in meshes] == [(2, 2, 3), (1, 1, 3), (1, 1, 3)]
    assert len(missing) == 2
    assert "must lie in" in missing[0]
    assert "texnumber 2 of 2 TextureFiles" in missing[1]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"no ply", "no PLY header"),
        (b"ply\nformat ascii 1.0\nelement vertex 1\n", "no PLY header"),
        (b"ply\nelement vertex 0\nend_header\n", "names no format"),
        (b"ply\nformat zip 1.0\nend_header\n", "format zip is not known"),
        (b"ply\nformat ascii 1.0\nend_header\n", "no element 'vertex'"),
        (ply("", ("float x", "float y"), [(0, 0)]), "no x, y, z"),
        (ply("", ("half x", *XYZ[1:]), [(0, 0, 0)]), "type 'half' is not known"),
        (ply("", XYZ, [("nan", 0, 0)]), "NaN or infinite"),
        (ply("", XYZ, [("zero", 0, 0)]), "zero"),
        (ply("<", XYZ, VERTICES)[:-1], "needs 96 bytes, 95 are left"),
        (ply("", XYZ, VERTICES)[:-6], "ends too early"),
        (ply("", XYZ, SQUARE, [((0, 1, 4),)]), "beyond the 4 vertices"),
        (ply("<", XYZ, SQUARE, [((0, 1, -1),)]), "beyond the 4 vertices"),
        (ply("", XYZ, SQUARE, [((0, 1, 1.5),)]), "not an integer"),
        (ply("", (*XYZ, *RGB), [(0, 0, 0, 300, 0, 0)]), "'red' is beyond its type"),
        (ply("<", XYZ, SQUARE, [((0, 1),)]), "0 triangles"),
        (ply("<", XYZ, SQUARE), "0 triangles"),
        (b"ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nend_header\n",
         "4000000000 of element 'vertex'"),
        (b"ply\nformat binary_little_endian 1.0\nelement vertex 20000000\nproperty float x\n"
         b"end_header\n", "are left"),
        (b"ply\nformat binary_little_endian 1.0\nelement vertex 0\nelement face 20000000\n"
         b"property list int int vertex_indices\nend_header\n\xff\xff\xff\x7f", "list"),
    ],
)  # fmt: skip
def test_what_is_no_usable_file_is_refused(tmp_path, data, message):
    (tmp_path / "bad.ply").write_bytes(data)
    with pytest.raises(UserError, match=rf"bad\.ply: .*({message})"):
        read_ply_mesh(tmp_path / "bad.ply")


def _whole(order):
    return ply(order, (*XYZ, *RGB), [(*v, 1, 2, 3) for v in VERTICES], [(q,) for q in MIXED])


@pytest.mark.parametrize("order", ["", "<", ">"])
def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path, order):
    whole = _whole(order).rstrip()  # the blank and newline at the end of text hold nothing
    path = tmp_path / "x.ply"
    for n in range(len(whole)):
        path.write_bytes(whole[:n])
        with pytest.raises(UserError, match=r"x\.ply"):
            read_ply_mesh(path)
    path.write_bytes(whole)
    assert len(read_ply(path).vertices) == len(VERTICES)


@pytest.mark.parametrize("order", ["", "<", ">"])
def test_changed_bytes_are_refused_or_change_values_only(tmp_path, order):
    whole = _whole(order)
    n_header = whole.index(b"end_header") + len(b"end_header\n")
    replacements = np.arange(256) if order else np.frombuffer(b"0123456789 .-", np.uint8)
    rng = np.random.default_rng(7)
    path = tmp_path / "x.ply"
    n_refused = 0
    for _ in range(60):
        data = bytearray(whole)
        for at in rng.integers(n_header, len(data), 3):
            data[at] = rng.choice(replacements)
        path.write_bytes(data)
        try:
            content = read_ply(path)
        except UserError:
            n_refused += 1
            continue
        assert content.vertices.shape == (len(VERTICES), 3)
        assert np.isfinite(content.vertices).all()
        assert sum(len(faces.corners) for faces in content.polygons.values()) <= len(MIXED)
        for faces in content.polygons.values():
            assert faces.corners.min() >= 0 and faces.corners.max() < len(VERTICES)
    assert 0 < n_refused < 60


def test_the_real_cloud_is_read_as_its_readme_says(shared_data):
    cloud = read_ply(shared_data("worlds/odm_portugal_uav/cloud_rgb_0p5m.ply"))
    assert cloud.vertices.shape == (553432, 3)
    assert cloud.colours.dtype == np.uint8
    assert cloud.polygons == {}
    assert -19 < cloud.vertices[:, 2].min() < cloud.vertices[:, 2].max() < 52.4
