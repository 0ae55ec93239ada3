# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Implicit tiling: quadtrees and octrees whose tiles follow from a rule and availability bits.

Metadata of single tiles (tighter volumes, heights, other errors) is not read: every volume is the
full cell and every error half of its parent's, the default of the standard without metadata.

References: OGC 22-025r4, 3D Tiles 1.1, clause 7; 3DTILES_implicit_tiling for 1.0.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from aerotwin_meshes.gltf.json_element import JsonElement
from aerotwin_tiles.fetch import FetchError
from aerotwin_tiles.fetch.source import FileReader
from aerotwin_tiles.subtree import MAX_SUBTREE_BITS, Subtree, morton_index, node_index, read_subtree
from aerotwin_tiles.tile import (
    Branch,
    Tile,
    TileContentReference,
    content_references,
    flawed,
    reference_uri,
    short_name,
)
from aerotwin_tiles.volumes import Box, Volume, region_box, region_width, sane_numbers

MAX_LEVELS = 48
"""Of an implicit tileset; the Earth halved as often is 0.1 micrometres."""
MAX_SUBTREE_BYTES = 2**26
_AXES = {"QUADTREE": 2, "OCTREE": 3}
_TEMPLATE = re.compile(r"\{(level|x|y|z)\}")

Cell = tuple[int, ...]
"""x, y (and z) of a tile within its level."""


@dataclass(frozen=True, kw_only=True)
class ImplicitTiling:
    """The rule of one implicit tree; addresses are relative to the document ``base_uri``.

    ``n_axes`` is 2 or 3; ``subtrees`` and ``contents`` are templates of addresses; ``box`` (12,) or
    ``region`` (6,) is the volume of the whole tree, and the other one None.
    """

    source: FileReader
    base_uri: str
    n_axes: int
    subtree_levels: int
    available_levels: int
    subtrees: str
    contents: tuple[str, ...]
    box: np.ndarray | None
    region: np.ndarray | None

    def subtree(self, level: int, cell: Cell) -> Subtree:
        """Read the subtree whose root is a cell."""
        uri = self.address(self.subtrees, level, cell)
        return read_subtree(
            self.source.read(uri, max_bytes=MAX_SUBTREE_BYTES),
            short_name(uri),
            n_axes=self.n_axes,
            n_levels=self.subtree_levels,
            resolve=lambda reference: self.source.read(
                self.source.resolve(uri, reference), max_bytes=MAX_SUBTREE_BYTES
            ),
        )

    def address(self, template: str, level: int, cell: Cell) -> str:
        """Return the address that a template yields for a tile."""
        names = dict(zip("xyz", cell, strict=False), level=level)
        filled = _TEMPLATE.sub(lambda match: str(names.get(match[1], match[0])), template)
        return self.source.resolve(self.base_uri, filled)

    def volume(self, level: int, cell: Cell, T_tileset_tile: np.ndarray) -> Volume:
        """Return the volume of a cell in the frame of the tileset (clause 7.5)."""
        if self.box is not None:
            return box_cell(self.box, level, cell).moved(T_tileset_tile)
        assert self.region is not None
        return region_box(region_cell(self.region, level, cell))


def box_cell(box: np.ndarray, level: int, cell: Cell) -> Box:
    """Return a cell of a box of 12 numbers: its first two or all three axes are halved."""
    shrunk = 0.5**level
    half_axes = box[3:].reshape(3, 3).copy()
    centre = box[:3].copy()
    for axis, number in enumerate(cell):
        centre += ((2 * number + 1) * shrunk - 1.0) * half_axes[axis]
    half_axes[: len(cell)] *= shrunk
    return Box(centre=centre, half_axes=half_axes)


def region_cell(region: np.ndarray, level: int, cell: Cell) -> np.ndarray:
    """Return a cell of a region (6,): longitude, latitude (and height) are halved."""
    shrunk = 0.5**level
    west, south, east, north, low, high = region
    extents = [(west, region_width(west, east)), (south, north - south), (low, high - low)]
    lowest, highest = [], []
    for axis, (start, length) in enumerate(extents):
        number, part = (cell[axis], shrunk) if axis < len(cell) else (0, 1.0)
        lowest.append(start + number * part * length)
        highest.append(start + (number + 1) * part * length)
    return np.array([lowest[0], lowest[1], highest[0], highest[1], lowest[2], highest[2]])


@dataclass(frozen=True, kw_only=True)
class ImplicitRoot:
    """The branch from the tile that declares the rule to the root of the implicit tree."""

    tiling: ImplicitTiling
    is_link: ClassVar[bool] = True
    n_listed: ClassVar[int] = 0

    def grow(self, tile: Tile) -> tuple[Tile, ...]:
        """Return the root of the implicit tree, if it exists."""
        cell = (0,) * self.tiling.n_axes
        tree = ImplicitBranch(tiling=self.tiling, root=tile, level=-1, cell=cell)
        return tuple(found for found in [tree.root_of_subtree(tile, 0, 0, cell)] if found)


@dataclass(frozen=True, kw_only=True)
class ImplicitBranch:
    """The children of a tile of an implicit tree.

    ``root`` declares the rule: pose, error and refinement come from it. ``level`` and ``cell`` are
    the tile's position in the tree, ``subtree`` contains it.
    """

    tiling: ImplicitTiling
    root: Tile
    level: int
    cell: Cell
    subtree: Subtree | None = None
    is_link: ClassVar[bool] = False
    n_listed: ClassVar[int] = 0

    def grow(self, tile: Tile) -> tuple[Tile, ...]:
        """Return the children that exist."""
        level = self.level + 1
        children = []
        for i in range(2**self.tiling.n_axes):
            cell = tuple(2 * c + (i >> axis & 1) for axis, c in enumerate(self.cell))
            children.append(self._child(tile, i, level, cell))
        return tuple(child for child in children if child is not None)

    def _child(self, parent: Tile, index: int, level: int, cell: Cell) -> Tile | None:
        assert self.subtree is not None
        if level % self.tiling.subtree_levels != 0:
            return self._tile(parent, index, level, cell, self.subtree)
        if not self.subtree.children[morton_index(self._local(level, cell))]:
            return None
        return self.root_of_subtree(parent, index, level, cell)

    def root_of_subtree(self, parent: Tile, index: int, level: int, cell: Cell) -> Tile | None:
        """Return the root of a subtree; with a flaw if the subtree cannot be read."""
        try:
            return self._tile(parent, index, level, cell, self.tiling.subtree(level, cell))
        except (ValueError, FetchError) as error:
            return flawed(parent, index, _name(level, cell), str(error))

    def _local(self, level: int, cell: Cell) -> Cell:
        """Return the cell relative to the subtree that holds its parent, (clause 7.6)."""
        depth = (level - 1) % self.tiling.subtree_levels + 1
        return tuple(c & (1 << depth) - 1 for c in cell)

    def _tile(
        self, parent: Tile, index: int, level: int, cell: Cell, subtree: Subtree
    ) -> Tile | None:
        tiling, depth = self.tiling, level % self.tiling.subtree_levels
        local = tuple(c & (1 << depth) - 1 for c in cell)
        bit = node_index(tiling.n_axes, depth, local)
        if not subtree.tiles[bit]:
            return None
        shown = zip(tiling.contents, subtree.contents, strict=False)
        contents = [
            TileContentReference(uri=tiling.address(template, level, cell))
            for template, available in shown
            if available[bit]
        ]
        return Tile(
            path=(*parent.path, index),
            name=short_name(contents[0].uri) if contents else _name(level, cell),
            T_tileset_tile=self.root.T_tileset_tile,
            volume=tiling.volume(level, cell, self.root.T_tileset_tile),
            error_m=self.root.error_m * 0.5**level,
            replaces=self.root.replaces,
            contents=tuple(contents),
            branch=None
            if level + 1 >= tiling.available_levels
            else ImplicitBranch(
                tiling=tiling, root=self.root, level=level, cell=cell, subtree=subtree
            ),
            up_axis=self.root.up_axis,
        )


def implicit_branch(source: FileReader, base_uri: str, element: JsonElement) -> Branch | None:
    """Return the rule that a tile declares, or None; raises ValueError if it is invalid."""
    rule = element.element("implicitTiling") or element.extension("3DTILES_implicit_tiling")
    if rule is None:
        return None
    scheme = rule.text("subdivisionScheme")
    if scheme not in _AXES:
        raise rule.wrong("subdivisionScheme", "QUADTREE or OCTREE")
    volume = element.element("boundingVolume")
    if volume is None or not {"box", "region"} & set(volume.values):
        raise ValueError(f"{element.where} is tiled implicitly and must have a box or a region")
    is_box = "box" in volume.values
    subtrees = rule.element("subtrees")
    if subtrees is None:
        raise rule.wrong("subtrees", "an object")
    n_axes = _AXES[scheme]
    tiling = ImplicitTiling(
        source=source,
        base_uri=base_uri,
        n_axes=n_axes,
        subtree_levels=rule.integer("subtreeLevels", minimum=1, maximum=MAX_SUBTREE_BITS // n_axes),
        available_levels=_available_levels(rule),
        subtrees=reference_uri(subtrees),
        contents=tuple(reference_uri(reference) for reference in content_references(element)),
        box=sane_numbers(volume, "box", 12) if is_box else None,
        region=None if is_box else sane_numbers(volume, "region", 6),
    )
    return ImplicitRoot(tiling=tiling)


def _available_levels(rule: JsonElement) -> int:
    """Return the number of levels; drafts give the number of the last one."""
    if "availableLevels" not in rule.values and "maximumLevel" in rule.values:
        return rule.integer("maximumLevel", maximum=MAX_LEVELS - 1) + 1
    return rule.integer("availableLevels", minimum=1, maximum=MAX_LEVELS)


def _name(level: int, cell: Cell) -> str:
    return f"implicit tile {level}/{'/'.join(map(str, cell))}"
