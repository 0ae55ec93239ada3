# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""glTF files that the tests of this folder share."""

from typing import Any

import pytest

from aerotwin_meshes.gltf import read_scene
from support.gltf_builder import QUAD, QUAD_TRIANGLES, QUAD_UV, Gltf, make_png, no_file


@pytest.fixture
def gltf():
    """The class `Gltf`."""
    return Gltf


@pytest.fixture
def png():
    """The function `make_png`."""
    return make_png


@pytest.fixture
def shapes():
    """Return a function: the shapes and transforms of a file's scene."""

    def read(file: Gltf | bytes, resolve=no_file, **options: Any):
        data = file if isinstance(file, bytes) else file.glb()
        return read_scene(data, resolve=resolve, **options).parts

    return read


@pytest.fixture
def quad_file():
    """A plain glTF file of one quadrilateral."""
    file = Gltf()
    file.quad()
    return file.scene()


@pytest.fixture
def quad_corners():
    """The corners of that quadrilateral's triangles, (2, 3, 3)."""
    return QUAD[QUAD_TRIANGLES].reshape(2, 3, 3)


@pytest.fixture
def quad_positions():
    return QUAD


@pytest.fixture
def quad_uv():
    return QUAD_UV
