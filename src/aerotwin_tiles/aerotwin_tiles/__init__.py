# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""3-D Tiles 1.0 and 1.1 as worlds: tiles chosen by region and metric resolution, not by a view.

`load_tiles` turns what a `TilesDescription` selects into textured meshes in the map frame (east,
north, up): everything of an area, at once, to the requested geometric error; or a `TileStream` that
follows a sensor within a memory limit.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_tiles.description import RegionDescription, TilesDescription
    from aerotwin_tiles.loading import load_tiles
    from aerotwin_tiles.stream import TileStream
    from aerotwin_tiles.tile import TileError
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
