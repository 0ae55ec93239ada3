# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Contents of 3-D tiles: b3dm, i3dm, cmpt, pnts and glTF, as meshes and points in the tile's frame.

Reference: OGC 22-025r4, 3D Tiles 1.1, clauses 9 (glTF) and 10 (b3dm, i3dm, pnts, cmpt).
"""

from aerotwin_tiles.tile_content.content import read_content
from aerotwin_tiles.tile_content.parts import ContentError, TilePart, UpAxis

__all__ = ["ContentError", "TilePart", "UpAxis", "read_content"]
