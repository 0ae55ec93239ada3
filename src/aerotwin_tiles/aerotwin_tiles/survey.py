# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a tileset holds, and what a selection of it would load, as plain records."""

import dataclasses
from collections import defaultdict
from typing import Any

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_tiles.description import TilesDescription
from aerotwin_tiles.loading import OpenTileset, select, tile_reader
from aerotwin_tiles.meshes import LoadedTile, TileReader
from aerotwin_tiles.tile import Tile, TileError
from aerotwin_tiles.workers import Workers


def describe_tileset(tileset: OpenTileset, workers: Workers) -> dict[str, Any]:
    """Return what a tileset holds in the region, from its documents alone.

    ``low_m`` and ``high_m`` are its extent in the map; ``levels`` has, for each level of the tree,
    the number of tiles and of those with content, and the smallest and largest geometric error;
    ``is_complete`` is false if there are more tiles than max_tiles; ``attributions`` are those of
    the documents.
    """
    levels, problems, is_complete = _walk(tileset, workers)
    frame, root = tileset.frame, tileset.tree.root
    bounds = root.volume.moved(frame.T_map_tileset).bounds_m
    assets = tileset.tree.assets
    return {
        "version": assets[0].version,
        "is_geocentric": frame.is_geocentric,
        "origin": None if frame.origin is None else dataclasses.asdict(frame.origin),
        "low_m": bounds[0].round(3).tolist(),
        "high_m": bounds[1].round(3).tolist(),
        "refine": "REPLACE" if root.replaces else "ADD",
        "n_documents": len(assets),
        "levels": levels,
        "is_complete": is_complete,
        "problems": problems,
        "notes": list(frame.notes),
        "attributions": list(tileset.tree.attributions()),
    }


def describe_selection(
    tileset: OpenTileset, description: TilesDescription, workers: Workers
) -> dict[str, Any]:
    """Return what a selection loads: every tile of it is read and decoded, then released.

    Of what is shown: ``n_tiles``, ``n_meshes``, ``n_triangles``, ``memory_mb``,
    ``largest_error_m``, ``low_m`` and ``high_m`` (extent of the vertices), ``attributions``; and
    what is ``missing``.
    """
    counter = _CountingReader(tile_reader(tileset, description))
    selection = select(tileset, description, workers, counter.read)
    nodes = selection.shown()
    counts = [counter.counts[node.tile.path] for node in nodes]
    tiles = [node.loaded for node in nodes if node.loaded is not None]
    corners = [count["bounds_m"] for count in counts if count["n_meshes"]]
    bounds = np.array([np.min(corners, axis=0)[0], np.max(corners, axis=0)[1]]) if corners else None
    return {
        "n_tiles": len(nodes),
        "n_meshes": sum(count["n_meshes"] for count in counts),
        "n_triangles": sum(count["n_triangles"] for count in counts),
        "memory_mb": round(sum(tile.n_bytes for tile in tiles) / 1e6, 3),
        "largest_error_m": max((node.tile.error_m for node in nodes), default=0.0),
        "low_m": None if bounds is None else bounds[0].round(3).tolist(),
        "high_m": None if bounds is None else bounds[1].round(3).tolist(),
        "attributions": list(
            tileset.tree.attributions(text for tile in tiles for text in tile.copyrights)
        ),
        "missing": list(selection.missing()),
    }


class _CountingReader:
    """Reads tiles, counts their contents, and releases their meshes."""

    def __init__(self, reader: TileReader) -> None:
        self.counts: dict[tuple[int, ...], dict[str, Any]] = {}
        self._reader = reader

    def read(self, tile: Tile) -> LoadedTile | TileError:
        """Return a tile without its meshes, or why it cannot be loaded."""
        answer = self._reader.read(tile)
        if isinstance(answer, TileError):
            return answer
        bounds = [mesh.bounds_m for mesh in answer.meshes]
        self.counts[tile.path] = {
            "n_meshes": len(answer.meshes),
            "n_triangles": sum(len(mesh.triangles) for mesh in answer.meshes),
            "bounds_m": [np.min(bounds, axis=0)[0], np.max(bounds, axis=0)[1]] if bounds else None,
        }
        return dataclasses.replace(answer, meshes=())


def _walk(tileset: OpenTileset, workers: Workers) -> tuple[list[dict[str, Any]], list[str], bool]:
    """Visit all tiles of the region, level by level; what links to a document is no level."""
    levels: defaultdict[int, list[Tile]] = defaultdict(list)
    problems: list[str] = []
    front = [(0, tileset.tree.root)]
    is_complete = True
    while front:
        for depth, tile in front:
            if tile.flaw:
                problems.append(f"{tile.name}: {tile.flaw}")
            elif not tile.is_link:
                levels[depth].append(tile)
        try:
            grown = list(workers.each(lambda item: _below(tileset, *item), front))
        except UserError as error:  # more tiles than max_tiles
            problems.append(str(error))
            is_complete = False
            break
        problems += [answer for answer in grown if isinstance(answer, str)]
        front = [item for answer in grown if not isinstance(answer, str) for item in answer]
    return [_level(depth, levels[depth]) for depth in sorted(levels)], problems, is_complete


def _below(tileset: OpenTileset, depth: int, tile: Tile) -> list[tuple[int, Tile]] | str:
    """Return the children of a tile that reach the region, with their depth; or what is wrong."""
    try:
        children = tileset.tree.children(tile)
    except TileError as error:
        return str(error)
    below = depth if tile.is_link else depth + 1
    region = tileset.region
    return [(below, t) for t in children if region is None or t.volume.overlaps(region)]


def _level(depth: int, tiles: list[Tile]) -> dict[str, Any]:
    errors = [tile.error_m for tile in tiles]
    return {
        "level": depth,
        "n_tiles": len(tiles),
        "n_with_content": sum(bool(tile.contents) for tile in tiles),
        "smallest_error_m": min(errors),
        "largest_error_m": max(errors),
    }
