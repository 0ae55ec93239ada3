# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""glTF files that the tests of this folder share."""

from typing import Any

import pytest

from aerotwin_meshes.gltf import read_scene
from support.gltf_builder import (
    Gltf,
    gltf,
    no_file,
    png,
    quad_corners,
    quad_file,
    quad_positions,
    quad_uv,
)

__all__ = ["gltf", "png", "quad_corners", "quad_file", "quad_positions", "quad_uv"]


@pytest.fixture
def shapes():
    """Return a function: the shapes and transforms of a file's scene."""

    def read(file: Gltf | bytes, resolve=no_file, **options: Any):
        data = file if isinstance(file, bytes) else file.glb()
        return read_scene(data, resolve=resolve, **options).parts

    return read
