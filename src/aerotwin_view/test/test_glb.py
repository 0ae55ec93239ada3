# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Textured meshes as GLB, read back by trimesh."""

import io
import json
import struct

import cv2
import numpy as np
import pytest
import trimesh

from aerotwin_meshes import TexturedMesh
from aerotwin_view import coarse_mesh, textured_glb


def _plate(n: int = 40, side_m: float = 10.0, x0_m: float = 0.0) -> TexturedMesh:
    """Return a wavy plate of n x n quads; two beside each other share their border."""
    axis = np.linspace(0.0, 1.0, n + 1)
    u, v = (grid.ravel() for grid in np.meshgrid(axis, axis, indexing="ij"))
    x, y = x0_m + side_m * u, side_m * v
    vertices = np.column_stack([x, y, 0.3 * np.sin(x) * np.cos(y)])
    corner = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    quads = [[corner, corner + 1, corner + n + 2], [corner, corner + n + 2, corner + n + 1]]
    texture = np.zeros((64, 32, 3), np.uint8)
    texture[:32] = (200, 40, 10)
    return TexturedMesh(
        vertices_map=vertices,
        triangles=np.concatenate([np.column_stack(q) for q in quads]).astype(np.int32),
        uv=np.column_stack([u, v]).astype(np.float32),
        texture=texture,
        light=np.linspace(0.0, 1.0, len(u)).astype(np.float32),
    )


def _document(glb: bytes) -> dict:
    length, kind = struct.unpack_from("<II", glb, 12)
    assert kind == 0x4E4F534A
    return json.loads(glb[20 : 20 + length])


def _image(glb: bytes) -> np.ndarray:
    document = _document(glb)
    view = document["bufferViews"][document["images"][0]["bufferView"]]
    start = 28 + struct.unpack_from("<I", glb, 12)[0] + view["byteOffset"]
    jpeg = np.frombuffer(glb[start : start + view["byteLength"]], np.uint8)
    return cv2.cvtColor(cv2.imdecode(jpeg, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)


def test_another_reader_finds_the_same_mesh():
    mesh = _plate()
    scene = trimesh.load(io.BytesIO(textured_glb(mesh)), file_type="glb", process=False)
    (read,) = scene.geometry.values()
    assert np.array_equal(read.faces, mesh.triangles)
    assert read.vertices == pytest.approx(mesh.vertices_map, abs=1e-6)
    # trimesh counts v upwards, as OBJ does
    assert read.visual.uv == pytest.approx(np.column_stack([mesh.uv[:, 0], 1.0 - mesh.uv[:, 1]]))


def test_it_is_unlit_with_both_sides_and_has_the_light_of_its_vertices():
    document = _document(textured_glb(_plate()))
    assert document["materials"][0]["doubleSided"]
    assert "KHR_materials_unlit" in document["materials"][0]["extensions"]
    assert "COLOR_0" in document["meshes"][0]["primitives"][0]["attributes"]


def test_the_texture_is_reduced_to_the_largest_side_and_keeps_its_colours():
    glb = textured_glb(_plate(), most_texture_px=16)
    image = _image(glb)
    assert image.shape == (16, 8, 3)
    assert image[2, 4] == pytest.approx((200, 40, 10), abs=6)
    assert image[13, 4] == pytest.approx((0, 0, 0), abs=6)


@pytest.mark.parametrize("repeats", [False, True])
def test_a_texture_repeats_only_if_the_mesh_says_so(repeats):
    mesh = TexturedMesh(
        vertices_map=np.eye(3),
        triangles=np.array([[0, 1, 2]], np.int32),
        uv=np.zeros((3, 2), np.float32),
        texture=np.zeros((1, 1, 3), np.uint8),
        repeats=repeats,
    )
    sampler = _document(textured_glb(mesh))["samplers"][0]
    assert sampler == dict.fromkeys(("wrapS", "wrapT"), 10497 if repeats else 33071)


def test_a_coarse_mesh_has_fewer_triangles_and_stays_within_a_cell():
    mesh, cell_m = _plate(), 1.0
    coarse = coarse_mesh(mesh, cell_m)
    assert len(coarse.triangles) < 0.5 * len(mesh.triangles)
    distance = np.abs(
        coarse.vertices_map[:, 2]
        - 0.3 * np.sin(coarse.vertices_map[:, 0]) * np.cos(coarse.vertices_map[:, 1])
    )
    assert distance.max() < 0.5 * cell_m
    assert coarse.uv == pytest.approx(coarse.vertices_map[:, :2] / 10.0, abs=1e-6)
    assert coarse.light is not None and len(coarse.light) == len(coarse.vertices_map)


def test_coarse_neighbours_still_meet_along_their_border():
    left, right = (coarse_mesh(_plate(x0_m=x0_m), 1.0) for x0_m in (0.0, 10.0))
    border = [
        {tuple(p) for p in mesh.vertices_map[np.isclose(mesh.vertices_map[:, 0], 10.0)]}
        for mesh in (left, right)
    ]
    assert border[0] == border[1] and len(border[0]) == 41


def test_a_mesh_within_one_cell_stays_as_it_is():
    mesh = TexturedMesh(
        vertices_map=np.array([[0.1, 0.1, 0.0], [0.2, 0.1, 0.0], [0.1, 0.2, 0.0], [0.1, 0.1, 0.1]]),
        triangles=np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]], np.int32),
        uv=np.zeros((4, 2), np.float32),
        texture=np.zeros((1, 1, 3), np.uint8),
    )
    assert coarse_mesh(mesh, 10.0) is mesh
