# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Tiles that the tests of this folder share."""

from typing import Any

import pytest

from aerotwin_tiles.tile_content import read_content
from support.gltf_builder import QUAD, QUAD_TRIANGLES, QUAD_UV, Gltf, make_png, make_tile, no_file


@pytest.fixture
def gltf():
    """The class `Gltf`."""
    return Gltf


@pytest.fixture
def tile():
    """The function `make_tile`."""
    return make_tile


@pytest.fixture
def png():
    """The function `make_png`."""
    return make_png


@pytest.fixture
def content():
    """Return a function: the parts of a tile's content."""

    def read(data: bytes, resolve=no_file, **options: Any):
        return read_content(data, uri="tile.bin", resolve=resolve, **options)

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
