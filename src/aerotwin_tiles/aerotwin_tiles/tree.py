# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The tree of a 3-D tileset, built as it is walked: explicit, external and implicit tiles alike."""

import threading
from collections import Counter
from collections.abc import Iterable

from aerotwin_core.errors import UserError
from aerotwin_tiles.document import Asset, DocumentSource, read_document
from aerotwin_tiles.fetch import FetchError, Source
from aerotwin_tiles.fetch.address import masked
from aerotwin_tiles.tile import Branch, Tile, TileError

MAX_DEPTH = 512
"""Deepest tile; Earth halved 40 times is below a millimetre."""
DEFAULT_MAX_TILES = 20_000
"""A selection of so many takes 3 s of CPU time, and 4 GB where a tile has 200 kB. Twice the largest
open tileset with real photogrammetry that was found (10,467 files)."""


class TileTree:
    """A tileset of at most ``max_tiles``, built as it is walked; thread-safe.

    ``assets`` are those of the documents read so far, that of the root first; ``address`` is that
    of the root document, without query: for messages, free of keys and passwords. Raises
    `FetchError` or `TileError` if the root document cannot be loaded or used.
    """

    def __init__(self, source: Source, *, max_tiles: int = DEFAULT_MAX_TILES) -> None:
        self.source = source
        self.address = masked(source.root_uri.partition("?")[0])
        self.assets: list[Asset] = []
        self._max_tiles = max_tiles
        self._n_tiles = 1
        self._children: dict[tuple[int, ...], tuple[Tile, ...] | TileError] = {}
        self._lock = threading.Lock()
        try:
            documents = DocumentSource(source, max_tiles=max_tiles)
            document = read_document(documents, source.root_uri, assets=self.assets)
            self.root = document.tile(document.root, parent=None)
        except ValueError as error:
            raise TileError(f"{self.address}: {error}") from None

    def children(self, tile: Tile) -> tuple[Tile, ...]:
        """Return the children of a tile, the same objects each time.

        Raises `TileError` if they cannot be loaded, each time.
        """
        if tile.branch is None:
            return ()
        if tile.path not in self._children:
            self._children[tile.path] = self._grown(tile, tile.branch)
        found = self._children[tile.path]
        if isinstance(found, TileError):
            raise TileError(str(found))
        return found

    def attributions(self, copyrights: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the copyright holders of the documents and of tiles, those of most first.

        A copyright may hold several names between semicolons. Google asks for this order (Map Tiles
        API, Photorealistic 3D Tiles, "Display attributions").
        """
        texts = [*(asset.copyright for asset in self.assets), *copyrights]
        split = (name.strip() for text in texts for name in text.split(";"))
        names = Counter(name for name in split if name)
        return tuple(sorted(names, key=lambda name: (-names[name], name)))

    def _grown(self, tile: Tile, branch: Branch) -> tuple[Tile, ...] | TileError:
        try:
            if len(tile.path) >= MAX_DEPTH:
                raise ValueError(f"lies {MAX_DEPTH} levels deep, where trees are taken to be wrong")
            self._count(branch.n_listed, is_made=False)
            tiles = branch.grow(tile)
        except FetchError as error:
            return TileError(str(error))
        except ValueError as error:
            return TileError(f"{tile.name}: {error}")
        self._count(len(tiles))
        return tiles

    def _count(self, n: int, *, is_made: bool = True) -> None:
        """Refuse more tiles than ``max_tiles``; count those that are made."""
        with self._lock:
            n_tiles = self._n_tiles + n
            if is_made:
                self._n_tiles = n_tiles
        if n_tiles > self._max_tiles:
            raise UserError(
                f"{self.address}: more than {self._max_tiles} tiles were met; choose a smaller "
                "region or a larger max_error_m, or raise max_tiles"
            )
