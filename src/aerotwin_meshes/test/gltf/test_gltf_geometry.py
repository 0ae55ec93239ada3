# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Accessors, triangles and nodes of glTF files packed by hand."""

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_meshes.gltf import read_gltf

DOUBLE = 1e-9  # metres at the Earth's radius: a few steps of double precision
HALF = 0.5**0.5


def corners(shape):
    return shape.positions[shape.triangles]


@pytest.mark.parametrize(
    ("dtype", "is_normalised", "expected"),
    [
        ("i1", False, [-128, 0, 127]),
        ("i1", True, [-1, 0, 1]),
        ("u1", True, [0, 51 / 255, 1]),
        ("i2", False, [-32768, 5, 32767]),
        ("i2", True, [-1, 1 / 32767, 1]),
        ("u2", True, [0, 13107 / 65535, 1]),
        ("u2", False, [0, 1, 65535]),
        ("u4", False, [0, 1, 2**31]),
        ("f4", False, [-15, 0, 2.0**100]),
    ],
)
def test_components_of_every_type_are_read(gltf, shapes, dtype, is_normalised, expected):
    scale = np.iinfo(dtype).max if is_normalised else 1
    stored = np.round(np.array([expected] * 3) * scale).astype(dtype)
    if is_normalised and dtype[0] == "i":
        stored[:, 0] = np.iinfo(dtype).min  # is -1 too
    stored[1:, 1] += 1
    file = gltf()
    file.mesh({"POSITION": file.accessor(stored, normalized=is_normalised)})
    (part,) = shapes(file.scene())
    np.testing.assert_allclose(part.shape.positions[0], np.float64(expected), rtol=1e-7)


def test_interleaved_attributes_are_read(gltf, shapes, quad_positions, quad_uv, png):
    file = gltf()
    rows = np.hstack([np.full((4, 1), 9, np.float32), quad_positions, quad_uv])
    view = file.view(rows.tobytes(), byteStride=24)
    position = file.accessor(quad_positions, bufferView=view, byteOffset=4)
    uv = file.accessor(quad_uv, bufferView=view, byteOffset=16)
    image = file.image(png(np.zeros((2, 2, 3), np.uint8)))
    file.mesh({"POSITION": position, "TEXCOORD_0": uv}, mode=5, material=file.textured(image))
    (part,) = shapes(file.scene())
    np.testing.assert_array_equal(part.shape.positions, quad_positions)
    np.testing.assert_array_equal(part.shape.uv, quad_uv)


@pytest.mark.parametrize("has_base", [True, False])
def test_sparse_accessors_replace_some_elements(gltf, shapes, has_base, quad_positions):
    file = gltf()
    places = file.view(np.array([1, 3], "u2").tobytes())
    sparse = {
        "count": 2,
        "indices": {"bufferView": places, "componentType": 5123},
        "values": {"bufferView": file.view(np.array([[7, 8, 9], [1, 2, 4]], "f4").tobytes())},
    }
    position = file.accessor(quad_positions, sparse=sparse)
    expected = quad_positions.copy()
    if not has_base:
        del file.tree["accessors"][position]["bufferView"]
        expected[:] = 0
    expected[[1, 3]] = [7, 8, 9], [1, 2, 4]
    file.mesh({"POSITION": position}, indices=file.accessor(np.array([0, 1, 2, 3, 2, 1], "u1")))
    (part,) = shapes(file.scene())
    np.testing.assert_array_equal(part.shape.positions, expected)


@pytest.mark.parametrize(
    ("mode", "indices", "expected"),
    [
        (4, [0, 1, 2, 2, 1, 3], [[0, 1, 2], [2, 1, 3]]),
        (4, [0, 1, 2, 2], [[0, 1, 2]]),
        (4, None, [[0, 1, 2], [3, 4, 5]]),
        (5, [0, 1, 2, 3, 4], [[0, 1, 2], [1, 3, 2], [2, 3, 4]]),
        (5, [0, 1, 2, 2, 3, 3, 4, 5], [[0, 1, 2], [3, 5, 4]]),
        (5, None, [[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4]]),
        (6, [0, 1, 2, 3], [[1, 2, 0], [2, 3, 0]]),
        (6, None, [[1, 2, 0], [2, 3, 0], [3, 4, 0], [4, 5, 0]]),
    ],
)
def test_lists_strips_and_fans_become_triangles(gltf, shapes, mode, indices, expected):
    positions = np.random.default_rng(2).random((6, 3)).astype(np.float32)
    file = gltf()
    entries = {} if indices is None else {"indices": file.accessor(np.array(indices, "u4"))}
    file.mesh({"POSITION": file.accessor(positions)}, mode=mode, **entries)
    (part,) = shapes(file.scene())
    np.testing.assert_array_equal(corners(part.shape), positions[np.array(expected)])


def test_lines_are_left_out_and_points_are_retained(gltf, shapes, quad_positions):
    file = gltf()
    position = file.accessor(quad_positions)
    file.add(
        "meshes", primitives=[{"attributes": {"POSITION": position}, "mode": m} for m in (0, 1, 3)]
    )
    (part,) = shapes(file.scene())
    np.testing.assert_array_equal(part.shape.positions, quad_positions)
    np.testing.assert_array_equal(part.shape.colours, np.full((4, 3), 255))


def test_only_vertices_of_its_own_triangles_come_with_a_primitive(gltf, shapes, quad_positions):
    file = gltf()
    position = {"POSITION": file.accessor(quad_positions)}
    parts = [np.array([0, 1, 2], "u2"), np.array([3, 2, 0], "u2")]
    entries = [{"attributes": position, "indices": file.accessor(part)} for part in parts]
    file.add("meshes", primitives=entries)
    for part, indices in zip(shapes(file.scene()), parts):
        assert len(part.shape.positions) == 3
        np.testing.assert_array_equal(corners(part.shape)[0], quad_positions[indices])


def test_a_quarter_turn_about_z_then_a_move_is_what_the_node_says(quad_file, shapes):
    quad_file.scene(rotation=[0, 0, HALF, HALF], scale=[2, 3, 1], translation=[10, 20, 30])
    T = shapes(quad_file)[0].T_scene_mesh[0]
    np.testing.assert_allclose(T @ [1, 0, 0, 1], [10, 22, 30, 1], atol=DOUBLE)
    np.testing.assert_allclose(T @ [0, 1, 0, 1], [7, 20, 30, 1], atol=DOUBLE)


def test_a_matrix_stands_column_by_column(quad_file, shapes):
    quad_file.scene(matrix=[0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 5, 6, 7, 1])
    T = shapes(quad_file)[0].T_scene_mesh[0]
    np.testing.assert_array_equal(T @ [1, 0, 0, 1], [5, 7, 7, 1])


def test_children_stand_in_their_parents_frame(quad_file, shapes):
    quad_file.tree["nodes"] = [
        {"rotation": [0, 0, HALF, HALF], "children": [1]},
        {"mesh": 0, "translation": [1, 0, 0]},
        {"mesh": 0, "translation": [9, 9, 9]},
    ]
    (part,) = shapes(quad_file)
    np.testing.assert_allclose(part.T_scene_mesh[0, :3, 3], [0, 1, 0], atol=DOUBLE)


def test_the_named_scene_is_shown_or_all_roots_if_there_is_none(quad_file, shapes):
    tree = quad_file.tree
    tree["nodes"] = [{"mesh": 0, "translation": [i, 0, 0], "name": f"{i}"} for i in range(3)]
    tree["nodes"][2]["children"] = [0]
    tree.update(scenes=[{"nodes": [1]}, {"nodes": [2]}], scene=1)
    assert [part.name for part in shapes(quad_file)] == ["2", "0"]
    del tree["scenes"], tree["scene"]
    assert [part.name for part in shapes(quad_file)] == ["1", "2", "0"]


@pytest.mark.parametrize(
    "nodes",
    [
        [{"mesh": 0, "children": [0]}],
        [{"children": [1]}, {"children": [0]}],
        [{"children": [1, 2]}, {"children": [3]}, {"children": [3]}, {"mesh": 0}],
        [{"children": [i + 1]} for i in range(70)] + [{"mesh": 0}],
    ],
)
def test_nodes_that_form_no_tree_are_refused(quad_file, shapes, nodes):
    quad_file.tree["nodes"] = nodes
    with pytest.raises(ValueError, match=r"nodes\[\d+\] is (reached twice|nested more than)"):
        shapes(quad_file)


def test_instances_of_a_mesh_each_have_their_transform(gltf, shapes):
    file = gltf()
    file.quad()
    attributes = {
        "TRANSLATION": file.accessor(np.array([[1, 2, 3], [4, 5, 6]], "f4")),
        "ROTATION": file.accessor(
            np.array([[0, 0, 0, 32767], [0, 0, 23170, 23170]], "i2"), normalized=True
        ),
        "SCALE": file.accessor(np.array([[1, 1, 1], [2, 2, 2]], "f4")),
    }
    file.scene(
        translation=[100, 0, 0], extensions={"EXT_mesh_gpu_instancing": {"attributes": attributes}}
    )
    T = shapes(file)[0].T_scene_mesh
    sixteen_bits = 1e-4
    np.testing.assert_allclose(T[0] @ [1, 0, 0, 1], [102, 2, 3, 1], atol=sixteen_bits)
    np.testing.assert_allclose(T[1] @ [1, 0, 0, 1], [104, 7, 6, 1], atol=sixteen_bits)


def test_a_world_file_is_turned_to_z_up_in_double_precision(quad_file, tmp_path, quad_corners):
    far = [6378137.123456789, 0.25, -1234567.987654321]
    quad_file.scene(translation=far)
    path = tmp_path / "world.glb"
    path.write_bytes(quad_file.glb())
    (mesh,) = read_gltf(path)
    x, y, z = np.moveaxis(quad_corners.astype(float) + far, -1, 0)
    expected = np.stack([x, -z, y], axis=-1)
    np.testing.assert_allclose(mesh.vertices_map[mesh.triangles], expected, rtol=0, atol=DOUBLE)
    assert mesh.name == "world"
    quad_file.tree["extensions"] = {"CESIUM_RTC": {"center": [1, 2, 3]}}
    path.write_bytes(quad_file.glb())
    np.testing.assert_allclose(
        read_gltf(path)[0].vertices_map, np.add(mesh.vertices_map, [1, 2, 3]), rtol=0, atol=DOUBLE
    )


def test_a_mirrored_mesh_keeps_its_outside_outside(quad_file, tmp_path):
    path = tmp_path / "world.glb"
    normals = []
    for scale in ([1, 1, 1], [1, 1, -1]):
        quad_file.scene(scale=scale)
        path.write_bytes(quad_file.glb())
        (mesh,) = read_gltf(path)
        a, b, c = np.moveaxis(mesh.vertices_map[mesh.triangles], 1, 0)
        normals.append(np.cross(b - a, c - a))
    # The file's z is the map's -y: the mirror image of a normal has its other sign there.
    np.testing.assert_allclose(normals[0] * [1, -1, 1], normals[1])


def test_a_text_file_and_its_buffer_beside_it_are_read(quad_file, tmp_path, quad_positions):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a b.bin").write_bytes(quad_file.body)
    path = tmp_path / "world.gltf"
    for text in (quad_file.json("parts/a%20b.bin"), quad_file.json()):
        path.write_bytes(text)
        assert read_gltf(path)[0].vertices_map.shape == quad_positions.shape


@pytest.mark.parametrize("uri", ["../secret.bin", "/etc/hosts", "file:///etc/hosts", "gone.bin"])
def test_references_out_of_the_folder_are_refused(quad_file, tmp_path, uri):
    (tmp_path / "secret.bin").write_bytes(quad_file.body)
    path = tmp_path / "inside" / "world.gltf"
    path.parent.mkdir()
    path.write_bytes(quad_file.json(uri))
    with pytest.raises(UserError, match=r"world\.gltf: not a usable glTF file .*(outside|missing)"):
        read_gltf(path)


def test_a_world_without_triangles_is_refused(gltf, tmp_path, quad_positions):
    file = gltf()
    file.mesh({"POSITION": file.accessor(quad_positions)}, mode=1)
    path = tmp_path / "world.glb"
    path.write_bytes(file.scene().glb())
    with pytest.raises(UserError, match="no triangles"):
        read_gltf(path)
