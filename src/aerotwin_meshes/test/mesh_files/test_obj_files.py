# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""OBJ files: cubes in closed form, materials, textures, odd but legal lines, refusals."""

import re

import cv2
import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_meshes.mesh_files import limits, read_mesh_file, read_obj
from aerotwin_meshes.mesh_files.obj import read_mtl
from aerotwin_meshes.placement import PlacementDescription

ROUNDING = 1e-9
A_BYTES_ROUNDING = 0.5
GREY = 160
CUBE = """
# a unit cube of quadrilaterals, two materials
mtllib cube.mtl
o cube
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
vn 0 0 1
vt 0 0
vt 1 0
vt 1 1
vt 0 1
usemtl red paint
f 4//1 3//1 2//1 1//1
f 1 2 6 5
s off
f -6 -5 -1 -2
usemtl brick
f 5/1/1 6/2/1 7/3/1 8/4/1  # the top, textured
f 2/1 3/2 7/3 6/4
f 4/1 1/2 5/3 8/4
"""
MATERIALS = """
newmtl red paint
Ka 1 1 1
Kd 0.8 0.2 0
newmtl brick
Kd 1 1 1
map_Kd -clamp on -s 1 1 1 images/brick wall.png
"""
CORNERS = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 0]]], np.uint8)
UPPER_LEFT, UPPER_RIGHT, LOWER_LEFT, LOWER_RIGHT = CORNERS.reshape(4, 3)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "images").mkdir()
    cv2.imwrite(str(tmp_path / "images" / "brick wall.png"), CORNERS[..., ::-1])
    (tmp_path / "cube.obj").write_text(CUBE)
    (tmp_path / "cube.mtl").write_text(MATERIALS)
    return tmp_path


def test_a_cube_has_its_area_volume_and_colours(folder, measure):
    meshes, missing = read_obj(folder / "cube.obj")
    assert missing == ()
    red, brick = meshes
    assert (red.name, brick.name) == ("red paint", "brick")
    assert measure.area(red) == pytest.approx(3.0, abs=ROUNDING)
    assert measure.area(red, brick) == pytest.approx(6.0, abs=ROUNDING)
    assert measure.volume(red, brick) == pytest.approx(1.0, abs=ROUNDING)
    np.testing.assert_array_equal(red.texture, [[[204, 51, 0]]])
    assert not brick.repeats


def test_texture_coordinates_start_at_the_lower_left(folder, measure):
    brick = read_obj(folder / "cube.obj")[0][1]
    top = np.flatnonzero(measure.normals(brick)[:, 2] > 0.9)
    shown = {}
    for triangle in top:
        for k in range(3):
            x, y, _ = brick.vertices_map[brick.triangles[triangle, k]]
            shown[x, y] = measure.colour(brick, triangle, np.eye(3)[k])
    np.testing.assert_array_equal(shown[0, 0], LOWER_LEFT)
    np.testing.assert_array_equal(shown[1, 0], LOWER_RIGHT)
    np.testing.assert_array_equal(shown[1, 1], UPPER_RIGHT)
    np.testing.assert_array_equal(shown[0, 1], UPPER_LEFT)


def test_glb_and_obj_of_one_cube_are_placed_alike(folder, measure):
    from aerotwin_meshes.gltf import write_glb

    meshes, _ = read_obj(folder / "cube.obj")
    write_glb(folder / "cube.glb", meshes)
    placement = {"scale": 2.0, "yaw_deg": 90.0, "position_m": (10.0, 20.0, 30.0)}
    for name in ("cube.obj", "cube.glb"):
        geometry = read_mesh_file(folder / name, PlacementDescription(**placement))
        low = np.min([mesh.bounds_m[0] for mesh in geometry.meshes], axis=0)
        high = np.max([mesh.bounds_m[1] for mesh in geometry.meshes], axis=0)
        np.testing.assert_allclose((low, high), [(8, 20, 30), (10, 22, 32)], atol=1e-6)
        assert measure.area(*geometry.meshes) == pytest.approx(24.0, abs=1e-5)
        assert measure.volume(*geometry.meshes) == pytest.approx(8.0, abs=1e-5)
        (top,) = {tuple(n.round(6)) for n in measure.normals(geometry.meshes[1]) if n[2] > 0.5}
        assert top == (0, 0, 1)


@pytest.mark.parametrize(
    ("up_axis", "of_x", "of_y", "of_z"),
    [
        ("z", (1, 0, 0), (0, 1, 0), (0, 0, 1)),
        ("y", (1, 0, 0), (0, 0, 1), (0, -1, 0)),
        ("x", (0, 0, 1), (-1, 0, 0), (0, -1, 0)),
    ],
)
def test_the_up_axis_points_up(tmp_path, up_axis, of_x, of_y, of_z):
    (tmp_path / "t.obj").write_text("v 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n")
    geometry = read_mesh_file(tmp_path / "t.obj", PlacementDescription(up_axis=up_axis))
    found = geometry.meshes[0].vertices_map
    np.testing.assert_allclose(found, [of_x, of_y, of_z], atol=ROUNDING)
    assert np.linalg.det(found) == pytest.approx(1.0)  # a turn, no mirror


def test_a_glb_with_z_up_is_turned_back(folder):
    from aerotwin_meshes.gltf import write_glb

    (folder / "t.obj").write_text("v 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 2 3\n")
    write_glb(folder / "t.glb", read_obj(folder / "t.obj")[0])  # written with y up
    as_z = read_mesh_file(folder / "t.glb", PlacementDescription(up_axis="z")).meshes[0]
    expected = [(1, 0, 0), (0, 0, -2), (0, 3, 0)]  # what stands in the file
    np.testing.assert_allclose(as_z.vertices_map, expected, atol=1e-6)


L_SHAPE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
ARROW = [(1, 1), (0, 0), (3, 1), (0, 2)]
COMB = [(0, 0), (5, 0), (5, 3), (4, 3), (4, 1), (3, 1), (3, 3), (2, 3), (2, 1), (1, 1)]
COMB += [(1, 3), (0, 3)]
CIRCLE = [(np.cos(a), np.sin(a)) for a in np.arange(12) * np.pi / 6]
AREAS = {"l": (L_SHAPE, 3.0), "arrow": (ARROW, 2.0), "comb": (COMB, 11.0), "circle": (CIRCLE, 3.0)}


@pytest.mark.parametrize("name", AREAS)
@pytest.mark.parametrize("axes", [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)])
def test_polygons_keep_area_and_sense_from_any_corner_in_any_plane(tmp_path, measure, name, axes):
    outline, area = AREAS[name]
    turned = np.zeros((len(outline), 3))
    turned[:, axes] = outline  # counter-clockwise about the third axis, or clockwise
    third = 3 - sum(axes)
    turned[:, third] = 0.5 * turned[:, axes[0]]  # not along a plane of the axes
    expected = np.zeros(3)
    expected[third] = 1.0 if (axes[0] + 1) % 3 == axes[1] else -1.0
    expected[axes[0]] = -0.5 * expected[third]
    for first in range(len(outline)):
        lines = [f"v {x} {y} {z}" for x, y, z in np.roll(turned, -first, axis=0)]
        lines.append("f " + " ".join(map(str, range(1, len(outline) + 1))))
        (tmp_path / "p.obj").write_text("\n".join(lines))
        (mesh,) = read_obj(tmp_path / "p.obj")[0]
        assert measure.area(mesh) == pytest.approx(area * np.sqrt(1.25), rel=ROUNDING)
        assert (measure.normals(mesh) @ expected / np.sqrt(1.25) > 1 - ROUNDING).all()


def test_kd_tints_the_texture_and_scale_and_offset_move_it(folder, measure):
    (folder / "cube.mtl").write_text(
        "newmtl brick\nKd 0.5 1 0\nmap_Kd -s 2 3 -o 0.25 images/brick wall.png\nnewmtl red paint\n"
    )
    _, brick = read_obj(folder / "cube.obj")[0]
    np.testing.assert_array_equal(brick.texture, np.rint(CORNERS * (0.5, 1, 0)))
    assert brick.repeats
    np.testing.assert_allclose(np.unique(brick.uv[:, 0]), [0.25, 2.25])
    np.testing.assert_allclose(np.unique(brick.uv[:, 1]), [-2.0, 1.0])


def test_vertex_colours_are_interpolated(tmp_path, measure):
    (tmp_path / "c.obj").write_text(
        "v 0 0 0 .8 .4 .4\nv 1 0 0 .4 .8 .4\nv 0 1 0 .4 .4 .8\nv 1 1 0 .6 .6 .6\nf 1 2 3\nf 2 4 3\n"
    )
    (mesh,) = read_obj(tmp_path / "c.obj")[0]
    means = 255 * np.array([[1.6, 1.6, 1.6], [1.4, 1.8, 1.8]]) / 3
    for triangle in range(2):
        shown = measure.colour(mesh, triangle)
        np.testing.assert_allclose(shown, means[triangle], atol=A_BYTES_ROUNDING)
    corners = [tuple(measure.colour(mesh, 0, np.eye(3)[k]).round()) for k in range(3)]
    assert sorted(corners) == [(102, 102, 204), (102, 204, 102), (204, 102, 102)]


def test_the_chair_is_as_large_as_its_source_says(shared_data, measure):
    path = shared_data("binvox/trimesh/chair_model.obj")
    geometry = read_mesh_file(path, PlacementDescription(up_axis="y"))
    low = np.min([mesh.bounds_m[0] for mesh in geometry.meshes], axis=0)
    high = np.max([mesh.bounds_m[1] for mesh in geometry.meshes], axis=0)
    bounds = (0.2655, 0.2634, 0.3319)  # of the data's README, which names x, y (up), z
    np.testing.assert_allclose((-low, high), (bounds, bounds), atol=1e-3)
    assert sum(len(mesh.triangles) for mesh in geometry.meshes) == 12756  # its f lines
    assert "'model.mtl' does not exist" in geometry.missing[0]
    np.testing.assert_array_equal(geometry.meshes[0].texture, [[[GREY] * 3]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("cube.mtl\n", "gone.mtl\n"), r"mtllib: 'gone\.mtl' does not exist.*cube\.obj"),
        (("usemtl brick", "usemtl stone"), "material 'stone' is in none of its libraries"),
        (("cube.mtl\n", "../cube.mtl\n"), "must lie in"),
    ],
)
def test_missing_materials_are_reported_and_grey(folder, change, message):
    (folder / "cube.obj").write_text(CUBE.replace(*change))
    meshes, missing = read_obj(folder / "cube.obj")
    assert len(meshes) == 2
    np.testing.assert_array_equal(meshes[1].texture, [[[GREY] * 3]])
    assert re.search(message, missing[0])


@pytest.mark.parametrize("name", ["/etc/passwd", "../brick.png", "gone.png", "cube.mtl"])
def test_missing_textures_are_reported_and_take_the_plain_colour(folder, name):
    (folder / "cube.mtl").write_text(f"newmtl brick\nKd 0 1 0\nmap_Kd {name}\n")
    meshes, missing = read_obj(folder / "cube.obj")
    np.testing.assert_array_equal(meshes[1].texture, [[[0, 255, 0]]])
    assert any("map_Kd" in line and name in line for line in missing)


def test_textures_and_meshes_beyond_their_limits_are_refused(folder, monkeypatch):
    cv2.imwrite(str(folder / "images" / "brick wall.png"), np.zeros((2, 8193, 3), np.uint8))
    meshes, missing = read_obj(folder / "cube.obj")
    assert meshes[1].texture.shape == (1, 1, 3)
    assert "8193 x 2 pixels, expected 1 to 8192 a side" in missing[0]
    for name in ("MAX_VERTICES", "MAX_TRIANGLES"):
        with monkeypatch.context() as patch:
            patch.setattr(limits, name, 7)
            with pytest.raises(UserError, match=r"8 vertices and 12 triangles, expected"):
                read_obj(folder / "cube.obj")
    monkeypatch.setattr(limits, "MAX_FILE_BYTES", 100)
    with pytest.raises(UserError, match=r"cube\.obj: \d+ bytes, expected at most 100"):
        read_obj(folder / "cube.obj")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v 0 0 0\nv 1 0 0\nf 1 2 3\n", r"line 3: 'f 1 2 3' .*index 3 is beyond the 2 elements"),
        ("v 0 0 0\nf 0 1 1\n", "line 2: .*index 0"),
        ("v 0 0 0\nf -2 1 1\n", "line 2: .*index -2"),
        ("v 0 0 0\nf 1 1\n", "a face has 3 to"),
        ("v 0 0 0\nf 1/1 1 1\n", "beyond the 0 elements"),
        ("v 0 0\n", "line 1: .*three coordinates"),
        ("v 0 0 zero\n", "line 1"),
        ("v 0 0 nan\nf 1 1 1\n", "NaN or infinite"),
        ("v 0 0 inf\nf 1 1 1\n", "NaN or infinite"),
        ("v 0 0 0\nvt nan 0\nf 1/1 1/1 1/1\n", "NaN or infinite"),
        ("v 0 0 0\ncurv 0 1 1 1\n", "free-form"),
        ("v 0 0 0\nv 1 1 1\n", "0 triangles"),
        ("", "0 vertices"),
        ("\x00\x01 binary", "0 vertices"),
    ],
)
def test_what_is_no_usable_file_is_refused_with_its_line(tmp_path, text, message):
    (tmp_path / "bad.obj").write_text(text)
    with pytest.raises(UserError, match=rf"bad\.obj: .*{message}"):
        read_obj(tmp_path / "bad.obj")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("newmtl a\nKd red\n", "line 2"),
        ("newmtl a\nKd 1 nan 0\n", "must be finite"),
        ("newmtl a\nKd 1 0\n", "red, green and blue"),
        ("newmtl a\nKd spectral file.rfl\n", "red, green and blue"),
        ("newmtl a\nmap_Kd -s 1 1 1\n", "must name a file"),
    ],
)
def test_materials_that_make_no_sense_are_refused_with_their_line(tmp_path, text, message):
    (tmp_path / "bad.mtl").write_text(text)
    with pytest.raises(UserError, match=rf"bad\.mtl: line 2: .*{message}|line 2"):
        read_mtl(tmp_path / "bad.mtl")


def test_continued_lines_and_windows_line_ends_are_read(tmp_path, measure):
    (tmp_path / "w.obj").write_bytes(b"v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 \\\r\n2 \\\r\n3\r\n")
    assert measure.area(*read_obj(tmp_path / "w.obj")[0]) == pytest.approx(0.5)
