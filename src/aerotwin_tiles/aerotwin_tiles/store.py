# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Loaded tiles within a memory limit: those in use, and as many of the last used ones as fit."""

from collections import OrderedDict
from collections.abc import Container, Iterable

from aerotwin_tiles.meshes import NOTHING, LoadedTile, TileReader
from aerotwin_tiles.tile import Tile, TileError
from aerotwin_tiles.workers import Workers

Path = tuple[int, ...]
"""The way to a tile from the root."""


class DoesNotFitError(Exception):
    """The tiles to show exceed the available memory."""


class TileStore:
    """Owns the loaded tiles of a stream.

    ``pinned`` tiles must stay; ``problems`` is, by path, why a tile cannot be loaded (it is not
    tried again); ``peak_bytes`` is the largest memory used so far.
    """

    def __init__(self, reader: TileReader, workers: Workers, limit_bytes: int) -> None:
        self.pinned: tuple[Container[Path], ...] = ()
        self.problems: dict[Path, str] = {}
        self.peak_bytes = 0
        self._reader, self._workers, self._limit_bytes = reader, workers, limit_bytes
        self._cached: OrderedDict[Path, LoadedTile] = OrderedDict()
        self._known_bytes: dict[Path, int] = {}
        self._in_work: set[Path] = set()
        self._n_bytes = self._largest = 0

    @property
    def n_bytes(self) -> int:
        """Memory of all tiles in the store."""
        return self._n_bytes

    @property
    def room_bytes(self) -> int:
        """Memory for one selection: half the limit, less the tiles being decoded."""
        return (self._limit_bytes - self._workers.n_threads * self._largest) // 2

    def begin(self) -> None:
        """Release the tiles fetched so far, unless they are pinned."""
        self._in_work = set()

    def get(self, path: Path) -> LoadedTile:
        """Return a tile that was fetched; one without content shows nothing."""
        return self._cached.get(path, NOTHING)

    def weight(self, tiles: Iterable[Tile]) -> int:
        """Return the memory of tiles that were fetched."""
        return sum(self.get(tile.path).n_bytes for tile in tiles)

    def fetch(self, tiles: list[Tile], room_bytes: int) -> bool:
        """Load tiles that are not in the store; tell whether all of them can be shown.

        Raises `DoesNotFitError` as soon as they are known to exceed ``room_bytes``.
        """
        self._in_work |= {tile.path for tile in tiles}
        new = []
        for tile in tiles:
            if tile.path in self._cached:
                self._cached.move_to_end(tile.path)
            elif (tile.contents or tile.flaw) and tile.path not in self.problems:
                new.append(tile)
        for first in range(0, len(new), self._workers.n_threads):
            self._check(tiles, room_bytes)
            self._load(new[first : first + self._workers.n_threads])
        self._check(tiles, room_bytes)
        return not any(tile.path in self.problems for tile in tiles)

    def _check(self, tiles: list[Tile], room_bytes: int) -> None:
        if sum(self._known_bytes.get(tile.path, 0) for tile in tiles) > room_bytes:
            raise DoesNotFitError

    def _load(self, tiles: list[Tile]) -> None:
        """Decode tiles, after making room for their expected size."""
        expected = (self._known_bytes.get(tile.path, self._largest) for tile in tiles)
        self._make_room(sum(expected))
        for tile, answer in zip(tiles, self._workers.each(self._reader.read, tiles), strict=True):
            if isinstance(answer, TileError):
                self.problems[tile.path] = str(answer)
                continue
            self._cached[tile.path] = answer
            self._known_bytes[tile.path] = answer.n_bytes
            self._n_bytes += answer.n_bytes
            self._largest = max(self._largest, answer.n_bytes)
        self.peak_bytes = max(self.peak_bytes, self._n_bytes)

    def _make_room(self, n_bytes: int) -> None:
        """Drop the least recently needed tiles."""
        for path in list(self._cached):
            if self._n_bytes + n_bytes <= self._limit_bytes:
                return
            if path in self._in_work or any(path in pinned for pinned in self.pinned):
                continue
            self._n_bytes -= self._cached.pop(path).n_bytes
