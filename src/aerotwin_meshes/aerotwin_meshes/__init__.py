# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Textured triangle meshes and their files: glTF, OBJ, PLY."""

from aerotwin_meshes.mesh import TexturedMesh

__all__ = [
    "TexturedMesh",
]
