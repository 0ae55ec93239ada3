# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""GLB files: read back, and read by Open3D."""

import dataclasses
import json
import struct

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_meshes.gltf import read_gltf, write_glb

SINGLE = 1e-6  # positions are stored in single precision


@pytest.fixture
def meshes(quad):
    texture = np.random.default_rng(1).integers(0, 256, (5, 7, 3)).astype(np.uint8)
    mesh = quad([(1, 2, 3), (4, 2, 3), (4, 5, 6.5), (1, 5, 6.5)], texture)
    shaded = dataclasses.replace(
        mesh, light=np.array([0.2, 0.5, 0.8, 1.0], np.float32), name="shaded", repeats=False
    )
    tiled = dataclasses.replace(mesh, uv=mesh.uv * np.float32(2.5), repeats=True, name="tiled")
    return mesh, shaded, tiled


@pytest.fixture
def file(tmp_path, meshes):
    path = tmp_path / "mesh.glb"
    write_glb(path, meshes, copyright_text="somebody")
    return path


def test_what_is_written_is_read_back(file, meshes):
    read = read_gltf(file)
    assert len(read) == len(meshes)
    for found, mesh in zip(read, meshes):
        np.testing.assert_allclose(found.vertices_map, mesh.vertices_map, rtol=SINGLE)
        np.testing.assert_array_equal(found.triangles, mesh.triangles)
        np.testing.assert_array_equal(found.uv, mesh.uv)
        np.testing.assert_array_equal(found.texture, mesh.texture)
        assert found.repeats == mesh.repeats
    np.testing.assert_allclose(read[1].light, meshes[1].light, atol=SINGLE)
    assert read[0].light is None
    assert [mesh.name for mesh in read] == ["mesh", "shaded", "tiled"]


def test_a_shared_texture_is_written_and_read_once(file, meshes):
    data = file.read_bytes()
    tree = json.loads(data[20 : 20 + struct.unpack_from("<I", data, 12)[0]])
    assert len(tree["images"]) == 1
    assert tree["asset"]["copyright"] == "somebody"
    first, *others = read_gltf(file)
    assert all(mesh.texture is first.texture for mesh in others)


def test_open3d_reads_the_same_surface_with_y_up(file, meshes):
    import open3d as o3d

    other = o3d.io.read_triangle_mesh(str(file))
    x, y, z = np.asarray(other.vertices).T
    corners = np.column_stack([x, -z, y])[np.asarray(other.triangles)].reshape(-1, 9)
    expected = np.tile(meshes[0].vertices_map[meshes[0].triangles].reshape(-1, 9), (3, 1))
    np.testing.assert_allclose(
        corners[np.lexsort(corners.T)], expected[np.lexsort(expected.T)], rtol=SINGLE
    )


def test_nothing_is_left_where_writing_fails(tmp_path, meshes):
    (tmp_path / "mesh.glb").mkdir()
    with pytest.raises(UserError, match=r"mesh\.glb: cannot be written"):
        write_glb(tmp_path / "mesh.glb", meshes)
    assert [path.name for path in tmp_path.iterdir()] == ["mesh.glb"]
