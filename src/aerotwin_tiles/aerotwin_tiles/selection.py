# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Select the tiles that show a region at a requested accuracy, all at once.

A viewer loads what its camera sees, as fine as the screen can show. Sensors look everywhere, and
what is measured on a map must not depend on a camera's pose: Beam et al. (2024, sec. III-A) had to
move the "cine-camera" that steers Cesium's cache to a pose with all of the geometry of interest in
view, and check that it was. Here a tile is refined while its geometric error is above
``max_error_m``, everywhere in the region.

A tile that cannot be loaded is replaced, in this order:

1. by its own children, if it has some: they are finer than requested;
2. by its parent, if that has content and REPLACE: the parent is shown whole, its other children are
   dropped, so that nothing overlaps; a parent without content, or itself broken, is replaced by its
   own parent;
3. by nothing: under ADD, where the parent is shown anyway, or if no ancestor has content.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from aerotwin_tiles.meshes import LoadedTile
from aerotwin_tiles.tile import Tile, TileError
from aerotwin_tiles.tree import TileTree
from aerotwin_tiles.volumes import Box

T = TypeVar("T")
Each = Callable[[Callable[[Tile], T], list[Tile]], Iterable[T]]
"""Calls a function for each tile, in threads perhaps; returns the results in order."""


@dataclass(kw_only=True, eq=False)
class Node:
    """A tile of a selection, and its state.

    ``children`` is None while the tile itself is to be shown. ``problem`` is why its content, or
    its children, cannot be loaded; ``is_broken``: whether it is the content.
    """

    tile: Tile
    parent: "Node | None" = None
    children: "list[Node] | None" = None
    loaded: LoadedTile | None = None
    problem: str = ""
    is_broken: bool = False

    @property
    def can_show(self) -> bool:
        """Whether it has content that is not known to be broken."""
        return bool(self.tile.contents) and not self.is_broken

    def accept(self, answer: LoadedTile | TileError) -> None:
        """Save the content, or why it cannot be loaded."""
        if isinstance(answer, TileError):
            self.problem, self.is_broken = str(answer), True
        else:
            self.loaded = answer

    def explain(self, problem: str) -> None:
        """Set the problem; the first one stays."""
        self.problem = self.problem or problem

    def grow(self, tiles: Sequence[Tile]) -> "list[Node]":
        """Make the children, which are shown instead of the node, and return them."""
        self.children = [Node(tile=tile, parent=self) for tile in tiles]
        return self.children


@dataclass(kw_only=True)
class Selection:
    """The tiles that show a region; `nodes` holds parents before their children.

    ``region`` is in the frame of the tileset; None: everything.
    """

    tree: TileTree
    region: Box | None
    max_error_m: float
    nodes: list[Node] = field(default_factory=list)

    def plan(self, each: Each) -> None:
        """Walk the tree down to the requested accuracy; ``each`` reads further documents."""
        if self.region is None or self.tree.root.volume.overlaps(self.region):
            self._grow([Node(tile=self.tree.root)], each)

    def shown(self) -> list[Node]:
        """Return the nodes to show as far as is known, in the order of the tree."""
        shown: dict[int, list[Node]] = {}
        is_whole: dict[int, bool] = {}
        for node in reversed(self.nodes):
            shown[id(node)], is_whole[id(node)] = _resolved(node, shown, is_whole)
        found = shown[id(self.nodes[0])] if self.nodes else []
        return sorted(found, key=lambda node: node.tile.path)

    def refine_broken(self, each: Each) -> None:
        """Replace tiles whose content is broken by their children."""
        broken = [
            node
            for node in self.nodes
            if node.is_broken and node.children is None and node.tile.branch is not None
        ]
        self._grow(self._children_of(broken, each), each)

    def missing(self) -> tuple[str, ...]:
        """Return one line for each tile that could not be loaded, with its replacement."""
        nodes = self.shown()
        shown = {id(node) for node in nodes}
        above_shown = {id(above) for node in nodes for above in _ancestors(node)}
        return tuple(
            f"{node.problem}; {_substitute(node, shown, above_shown)}"
            for node in self.nodes
            if node.problem
        )

    def refines(self, tile: Tile) -> bool:
        """Tell whether a tile's children are needed."""
        requested = tile.error_m > self.max_error_m and tile.branch is not None
        return not tile.flaw and (requested or tile.must_be_refined)

    def _grow(self, nodes: list[Node], each: Each) -> None:
        while nodes:
            self.nodes += nodes
            for node in nodes:
                if node.tile.flaw:
                    node.explain(f"{node.tile.name}: {node.tile.flaw}")
            nodes = self._children_of([node for node in nodes if self.refines(node.tile)], each)

    def _children_of(self, nodes: list[Node], each: Each) -> list[Node]:
        """Make the children of nodes; a node whose children cannot be loaded gets a problem."""
        grown = each(self._tiles_below, [node.tile for node in nodes])
        found: list[Node] = []
        for node, tiles in zip(nodes, grown):
            if isinstance(tiles, TileError):
                node.explain(str(tiles))
            elif tiles is not None:
                found += node.grow(tiles)
        return found

    def _tiles_below(self, tile: Tile) -> list[Tile] | TileError | None:
        """Return the children in the region; None if there are none anywhere."""
        try:
            children = self.tree.children(tile)
        except TileError as error:
            return error
        if self.region is None or not children:
            return list(children) or None
        return [child for child in children if child.volume.overlaps(self.region)]


def _resolved(
    node: Node, shown: dict[int, list[Node]], is_whole: dict[int, bool]
) -> tuple[list[Node], bool]:
    """Return the nodes that show a node's area, and whether they cover it (see the module)."""
    own = [node] if node.can_show else []
    if node.children is None:
        return own, bool(own) or not node.problem
    below = [part for child in node.children for part in shown[id(child)]]
    whole_below = all(is_whole[id(child)] for child in node.children)
    if not own:
        return below, whole_below
    if not node.tile.replaces:
        return own + below, True
    return (below if whole_below else own), True


def _substitute(node: Node, shown: set[int], above_shown: set[int]) -> str:
    """Return as text what is shown in place of a missing node."""
    if id(node) in shown:
        return f"{node.tile.name} (error {node.tile.error_m:.3g} m) is shown as it is"
    if id(node) in above_shown:
        return f"its {len(node.children or [])} finer tiles stand in"
    for above in _ancestors(node):
        if id(above) in shown:
            kind = "stands in" if above.tile.replaces else "is shown without it"
            return f"{above.tile.name} (error {above.tile.error_m:.3g} m) {kind}"
    return "nothing stands in"


def _ancestors(node: Node) -> Iterator[Node]:
    while node.parent is not None:
        node = node.parent
        yield node
