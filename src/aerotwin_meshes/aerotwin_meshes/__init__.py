# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Textured triangle meshes and their files: glTF 2.0, OBJ and PLY.

`TexturedMesh` is the mesh of all packages: float64 vertices in the map frame (x east, y north,
z up, metres), triangles, texture coordinates and an image.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_meshes.mesh import TexturedMesh
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
