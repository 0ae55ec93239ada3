# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Tiles that the tests of this folder share."""

from typing import Any

import pytest

from aerotwin_tiles.tile_content import read_content
from support.gltf_builder import (
    gltf,
    make_tile,
    no_file,
    png,
    quad_corners,
    quad_file,
    quad_positions,
    quad_uv,
)

__all__ = ["gltf", "png", "quad_corners", "quad_file", "quad_positions", "quad_uv"]


@pytest.fixture
def tile():
    """The function `make_tile`."""
    return make_tile


@pytest.fixture
def content():
    """Return a function: the parts of a tile's content."""

    def read(data: bytes, resolve=no_file, **options: Any):
        return read_content(data, uri="tile.bin", resolve=resolve, **options)

    return read
