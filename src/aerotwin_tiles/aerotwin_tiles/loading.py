# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Load the part of a tileset that a description selects."""

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.home_path import expanded
from aerotwin_core.threads import default_thread_count
from aerotwin_meshes.geometry import Geometry
from aerotwin_tiles.description import TilesDescription
from aerotwin_tiles.fetch import Source, open_source
from aerotwin_tiles.fetch.address import masked
from aerotwin_tiles.frame import MapFrame, find_frame
from aerotwin_tiles.meshes import LoadedTile, TileReader
from aerotwin_tiles.selection import Selection
from aerotwin_tiles.stream import StreamRule, TileStream
from aerotwin_tiles.tile import Tile, TileError
from aerotwin_tiles.tree import TileTree
from aerotwin_tiles.volumes import Box
from aerotwin_tiles.workers import Workers

_MEGABYTE = 1e6
_SHOWN_MISSING = 3


@dataclass(frozen=True, kw_only=True)
class OpenTileset:
    """A tileset whose root document is read, with the pose of the map in it.

    ``region_map`` is the requested region along the axes of the map (None: everything), ``region``
    the same in the frame of the tileset.
    """

    tree: TileTree
    frame: MapFrame
    region_map: Box | None
    region: Box | None

    @property
    def middle_map(self) -> np.ndarray:
        """Middle of the region or else of the tileset, (3,) in the map [m]."""
        volume = self.tree.root.volume.moved(self.frame.T_map_tileset)
        return volume.centre if self.region_map is None else self.region_map.centre


def load_tiles(
    description: TilesDescription,
    folder: Path,
    origin: GeodeticPoint | None,
    *,
    show_progress: bool = False,
) -> Geometry:
    """Load everything that a description selects at once, or start a stream around its middle.

    Parameters
    ----------
    folder : Path
        Folder of the world, which a relative path of the tileset is relative to.
    origin : GeodeticPoint or None
        Of the map; None: the middle of the region or of the tileset.

    Raises
    ------
    UserError
        If the tileset cannot be read at all, if nothing can be shown, or if the memory limit does
        not suffice. A broken tile is no error: it is named in `Geometry.missing`.
    """
    with ExitStack() as cleanup:
        workers = Workers(thread_count(description), show_progress=show_progress)
        cleanup.callback(workers.close)
        source = open_tileset_source(description, folder)
        cleanup.callback(source.close)  # comes first: the threads may wait for a server
        tileset = open_tileset(source, description, origin)
        if not description.stream:
            return load_at_once(tileset, description, workers)
        stream = start_stream(tileset, description, workers)
        cleanup.pop_all()  # the stream closes them
    return Geometry(
        meshes=stream.meshes,
        attributions=stream.attributions,
        missing=stream.missing,
        origin=tileset.frame.origin,
        stream=stream,
        notes=tileset.frame.notes,
    )


def open_tileset_source(description: TilesDescription, folder: Path) -> Source:
    """Open the folder or server of a tileset; raises `UserError` without its file or key."""
    is_url = "://" in description.tileset
    key = None
    if description.key_env:
        key = os.environ.get(description.key_env)
        if not key:
            raise UserError(
                f"tiles: the environment variable {description.key_env} must hold the key of "
                f"{masked(description.tileset.partition('?')[0])}, it is not set; export it"
            )
    return open_source(
        description.tileset if is_url else folder / expanded(description.tileset),
        key=key,
        cache_dir=expanded(description.cache_dir) if description.cache_dir else None,
        settings=description.http,
    )


def open_tileset(
    source: Source, description: TilesDescription, origin: GeodeticPoint | None
) -> OpenTileset:
    """Read the root document and find the tileset's frame; raises `UserError`."""
    tree = TileTree(source, max_tiles=description.max_tiles)
    requested = description.region
    frame = find_frame(tree, origin=origin, region=requested, up_axis=description.up_axis)
    try:
        region_map = None if requested is None else requested.box_map(frame.origin)
    except ValueError as error:
        raise UserError(f"{tree.address}: {error}") from None
    return OpenTileset(
        tree=tree,
        frame=frame,
        region_map=region_map,
        region=None if region_map is None else region_map.moved(frame.T_tileset_map),
    )


def thread_count(description: TilesDescription) -> int:
    """Return the number of threads: as configured for downloads, one per core for a folder."""
    is_url = "://" in description.tileset
    return description.n_parallel if is_url else default_thread_count()


def tile_reader(tileset: OpenTileset, description: TilesDescription) -> TileReader:
    """Return the reader of tile contents."""
    region = tileset.region_map
    return TileReader(
        source=tileset.tree.source,
        T_map_tileset=tileset.frame.T_map_tileset,
        region=tileset.region,
        crop_m=region.bounds_m if description.crop and region is not None else None,
        point_size_m=description.point_size_m,
    )


def start_stream(
    tileset: OpenTileset, description: TilesDescription, workers: Workers
) -> TileStream:
    """Return a stream around the middle of the region, or of the tileset."""
    stream = TileStream(
        tree=tileset.tree,
        reader=tile_reader(tileset, description),
        workers=workers,
        rule=StreamRule(
            T_tileset_map=tileset.frame.T_tileset_map,
            region=tileset.region,
            description=description,
        ),
        limit_bytes=int(description.memory_limit_mb * _MEGABYTE),
    )
    stream.update(tileset.middle_map)
    return stream


def load_at_once(tileset: OpenTileset, description: TilesDescription, workers: Workers) -> Geometry:
    """Load everything requested; raises `UserError` as `load_tiles`."""
    reader = LimitedReader(tile_reader(tileset, description), description.memory_limit_mb)
    selection = select(tileset, description, workers, reader.read)
    tiles = [node.loaded for node in selection.shown() if node.loaded is not None]
    meshes = tuple(mesh for tile in tiles for mesh in tile.meshes)
    missing = selection.missing()
    if not meshes:
        raise UserError(why_nothing(tileset, missing))
    return Geometry(
        meshes=meshes,
        attributions=tileset.tree.attributions(c for tile in tiles for c in tile.copyrights),
        missing=missing,
        origin=tileset.frame.origin,
        notes=tileset.frame.notes,
    )


def select(
    tileset: OpenTileset,
    description: TilesDescription,
    workers: Workers,
    read: Callable[[Tile], LoadedTile | TileError],
) -> Selection:
    """Select the requested tiles and read them, until all shown tiles are loaded.

    Raises `UserError` if more is read than may be shown: files that are large for what they show.
    """
    source, limit_mb = tileset.tree.source, description.memory_limit_mb
    start_bytes = source.traffic.n_bytes
    selection = Selection(
        tree=tileset.tree, region=tileset.region, max_error_m=description.max_error_m
    )
    selection.plan(workers.each)
    while requested := [node for node in selection.shown() if node.loaded is None]:
        answers = workers.each(read, [node.tile for node in requested], "loading tiles")
        for node, answer in zip(requested, answers, strict=True):
            if source.traffic.n_bytes - start_bytes > limit_mb * _MEGABYTE:
                raise UserError(
                    f"{tileset.tree.address}: the requested files have more than "
                    f"memory_limit_mb = {limit_mb:g}; choose a smaller region or a larger "
                    "max_error_m, or raise it"
                )
            node.accept(answer)
        selection.refine_broken(workers.each)
    return selection


class LimitedReader:
    """A reader that counts memory, and stops when the limit is reached."""

    def __init__(self, reader: TileReader, limit_mb: float) -> None:
        self._reader = reader
        self._limit_mb = limit_mb
        self._n_bytes = 0
        self._lock = threading.Lock()

    def read(self, tile: Tile) -> LoadedTile | TileError:
        """Return the tile, or why it cannot be loaded; raises `UserError` at the limit."""
        loaded = self._reader.read(tile)
        if isinstance(loaded, TileError):
            return loaded
        with self._lock:
            self._n_bytes += loaded.n_bytes
            is_over = self._n_bytes > self._limit_mb * _MEGABYTE
        if is_over:
            raise UserError(
                f"tiles: what is requested takes more than memory_limit_mb = {self._limit_mb:g}; "
                "choose a smaller region or a larger max_error_m, raise it, or set stream: true"
            )
        return loaded


def why_nothing(tileset: OpenTileset, missing: Sequence[str]) -> str:
    """Return why a selection without meshes cannot be a world, and what to do."""
    root = tileset.tree.address
    if missing:
        return f"{root}: nothing can be shown: {' | '.join(missing[:_SHOWN_MISSING])}"
    if tileset.region is None:
        return f"{root}: none of its tiles has a mesh or points; it cannot be a world"
    low, high = tileset.tree.root.volume.moved(tileset.frame.T_map_tileset).bounds_m.round(1)
    return (
        f"{root}: no mesh lies in the region; the tileset spans {low.tolist()} to "
        f"{high.tolist()} m of the map; move the region, or the origin"
    )
