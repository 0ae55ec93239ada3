# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""GLB files: read back, read by Open3D, and refused when broken."""

import json
import struct

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_worlds.glb import read_glb, write_glb

SINGLE = 1e-6  # positions are stored in single precision


@pytest.fixture
def file(tmp_path, quad):
    texture = np.random.default_rng(1).integers(0, 256, (5, 7, 3)).astype(np.uint8)
    mesh = quad([(1, 2, 3), (4, 2, 3), (4, 5, 6.5), (1, 5, 6.5)], texture)
    path = tmp_path / "mesh.glb"
    write_glb(path, (mesh, mesh), copyright_text="somebody")
    return path, mesh


def test_what_is_written_is_read_back(file):
    path, mesh = file
    for read in read_glb(path):
        np.testing.assert_allclose(read.vertices_map, mesh.vertices_map, rtol=SINGLE)
        np.testing.assert_array_equal(read.triangles, mesh.triangles)
        np.testing.assert_array_equal(read.uv, mesh.uv)
        np.testing.assert_array_equal(read.texture, mesh.texture)


def test_open3d_reads_the_same_surface_with_y_up(file):
    import open3d as o3d

    path, mesh = file
    other = o3d.io.read_triangle_mesh(str(path))
    x, y, z = np.asarray(other.vertices).T
    triangles = np.asarray(other.triangles)
    corners = np.column_stack([x, -z, y])[triangles].reshape(-1, 9)
    expected = np.tile(mesh.vertices_map[mesh.triangles].reshape(-1, 9), (2, 1))
    np.testing.assert_allclose(
        corners[np.lexsort(corners.T)], expected[np.lexsort(expected.T)], rtol=SINGLE
    )


def edit(path, change):
    """Rewrite a GLB file with its JSON tree changed."""
    data = path.read_bytes()
    length = struct.unpack_from("<I", data, 12)[0]
    tree = json.loads(data[20 : 20 + length])
    change(tree)
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    body = data[20 + length :]
    header = struct.pack("<3I", 0x46546C67, 2, 20 + len(text) + len(body))
    path.write_bytes(header + struct.pack("<2I", len(text), 0x4E4F534A) + text + body)


def test_node_transforms_are_applied(file):
    path, mesh = file

    def turn(tree):
        # A quarter turn about glTF's up axis (y), then one metre up.
        half = 0.5**0.5
        tree["nodes"] = [
            {"children": [1], "translation": [0, 1, 0]},
            {"mesh": 0, "rotation": [0, half, 0, half]},
        ]

    edit(path, turn)
    x, y, z = mesh.vertices_map.T
    expected = np.column_stack([-y, x, z + 1.0])
    np.testing.assert_allclose(read_glb(path)[0].vertices_map, expected, atol=1e-5)


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: tree["accessors"][0].update(count=10**9),
        lambda tree: tree["bufferViews"][0].update(byteLength=10**9),
        lambda tree: tree["bufferViews"][0].update(byteOffset=-4),
        lambda tree: tree["accessors"][2].update(componentType=5126),
        lambda tree: tree["nodes"].append({"children": [1]}) or tree["scenes"][0].update(nodes=[1]),
        lambda tree: tree.update(extensionsRequired=["KHR_draco_mesh_compression"]),
        lambda tree: tree.pop("materials"),
        lambda tree: tree["meshes"][0]["primitives"][0].update(mode=1),
        lambda tree: tree["images"][0].update(bufferView=0),
    ],
)
def test_a_lying_file_is_refused_by_name(file, change):
    edit(file[0], change)
    with pytest.raises(UserError, match=r"mesh\.glb: not a usable GLB file"):
        read_glb(file[0])


def test_a_truncated_file_is_refused(file):
    path, _ = file
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(UserError, match="the file has"):
        read_glb(path)
    path.write_bytes(b"glTF")
    with pytest.raises(UserError):
        read_glb(path)
