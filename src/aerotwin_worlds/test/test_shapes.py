# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Shapes by name, and of mesh files with their axes."""

import os

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_worlds.shapes import SHAPES, load_shape

TRIANGLE = "v 0 0 0\nv 2 0 0\nv 0 1 3\nf 1 2 3\n"


@pytest.mark.parametrize("name", SHAPES)
def test_a_name_is_a_shape_that_is_made_once(name):
    assert load_shape(name)[0].name == name
    assert load_shape(name)[0] is load_shape(name)[0]


def test_an_obj_file_keeps_its_axes(tmp_path):
    (tmp_path / "a.obj").write_text(TRIANGLE)
    (mesh,) = load_shape(str(tmp_path / "a.obj"))
    np.testing.assert_allclose(mesh.vertices_map, [[0, 0, 0], [2, 0, 0], [0, 1, 3]])


def test_the_front_of_a_gltf_file_looks_ahead(tmp_path):
    from aerotwin_meshes.gltf import write_glb

    (tmp_path / "a.obj").write_text(TRIANGLE)
    write_glb(tmp_path / "a.glb", load_shape(str(tmp_path / "a.obj")))
    (mesh,) = load_shape(str(tmp_path / "a.glb"))
    # Written from map axes: file z, the front of a glTF model, is -y of the map, here to be x.
    expected = [[0, 0, 0], [0, 2, 0], [-1, 0, 3]]
    np.testing.assert_allclose(mesh.vertices_map, expected, atol=1e-6)


@pytest.mark.parametrize("name", ["elephant", "", "no.obj", "."])
def test_what_is_no_shape_is_refused_with_what_there_is(name):
    with pytest.raises(UserError, match=r"expected person, car or a mesh file that ends in"):
        load_shape(name)


def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "a.obj")
    with pytest.raises(UserError, match="expected a file"):
        load_shape(str(tmp_path / "a.obj"))
