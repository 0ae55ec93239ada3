# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A tile of a 3-D tileset, and how files describe one.

Real tilesets are accepted where their meaning is unambiguous: a tile without geometricError has its
parent's, without refine its parent's (REPLACE at the top), ``url`` stands for ``uri`` and refine
may be lower case (drafts of 1.0). viewerRequestVolume is ignored: it limits the positions from
which a viewer may request a tile, and there is no viewer here.

References: OGC 22-025r4, 3D Tiles 1.1, clauses 6 and 7; OGC 18-053r2, 3D Tiles 1.0.
"""

import re
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_meshes.gltf.json_element import JsonElement
from aerotwin_tiles.tile_content import UpAxis
from aerotwin_tiles.volumes import LARGEST_M, Volume, largest_scale, sane_numbers


class TileError(UserError):
    """A tile cannot be used; another tile may replace it. The message names it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TileContentReference:
    """A content of a tile: its address, and its own volume where the file has one."""

    uri: str
    volume: Volume | None = None


class Branch(Protocol):
    """Makes the children of a tile."""

    @property
    def is_link(self) -> bool:
        """Whether the children are the tile itself in another document: see `Tile.is_link`."""
        ...

    @property
    def n_listed(self) -> int:
        """How many children a document lists; 0 where their number shows only as they are made."""
        ...

    def grow(self, tile: "Tile") -> "tuple[Tile, ...]":
        """Return the children; raises ValueError or FetchError."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Tile:
    """A tile of a tileset.

    ``path`` holds the child indices from the root, by which tiles sort; ``name`` is for messages:
    the content's address, or the path. ``T_tileset_tile`` (4, 4) is the product of the transforms
    from the root, ``volume`` that of the tile and its descendants in the frame of the tileset.
    ``error_m`` is geometricError times the largest scale of the transform: the error of the world
    if the tile is shown and its children are not. ``replaces``: whether the children replace it
    (REPLACE) or add to it (ADD). ``contents`` may be empty; ``branch`` makes the children.
    ``up_axis`` is that of its glTF content (asset.gltfUpAxis; y by the standard). ``flaw``: why it
    cannot be used; empty if it can.
    """

    path: tuple[int, ...]
    name: str
    T_tileset_tile: np.ndarray
    volume: Volume
    error_m: float
    replaces: bool
    contents: tuple[TileContentReference, ...] = ()
    branch: Branch | None = None
    up_axis: UpAxis = "y"
    flaw: str = ""

    @property
    def is_link(self) -> bool:
        """Whether it only refers to tiles of another document."""
        return self.branch is not None and self.branch.is_link

    @property
    def must_be_refined(self) -> bool:
        """Whether only its children show its area."""
        return self.is_link or (self.branch is not None and self.replaces and not self.contents)


def content_references(element: JsonElement) -> list[JsonElement]:
    """Return the content objects of a tile: ``content``, ``contents`` or the extension's."""
    single = element.element("content")
    several = element.elements("contents")
    extension = element.extension("3DTILES_multiple_contents")
    if extension is not None:
        several += extension.elements("contents") or extension.elements("content")
    return ([] if single is None else [single]) + several


def reference_uri(reference: JsonElement) -> str:
    """Return the address that a content object holds."""
    return reference.text("uri" if "uri" in reference.values else "url")


def tile_pose(element: JsonElement, T_tileset_parent: np.ndarray) -> np.ndarray:
    """Return the tile's pose; the file's 16 numbers go column by column (clause 6.7.2)."""
    if "transform" not in element.values:
        return T_tileset_parent
    T = sane_numbers(element, "transform", 16).reshape(4, 4).T
    if (T[3] != (0.0, 0.0, 0.0, 1.0)).any():
        raise element.wrong("transform", "affine, with a last row of 0 0 0 1")
    product = T_tileset_parent @ T
    if np.abs(product).max() > LARGEST_M:
        raise element.wrong("transform", f"such that the product stays below {LARGEST_M:g}")
    return product


def tile_error_m(element: JsonElement, T_tileset_tile: np.ndarray, parent: Tile | None) -> float:
    """Return geometricError in the tileset's scale; the parent's if there is none."""
    if "geometricError" not in element.values and parent is not None:
        return parent.error_m
    error = element.number("geometricError")
    if error < 0.0:
        raise element.wrong("geometricError", "0 or more")
    return min(error * largest_scale(T_tileset_tile), LARGEST_M)


def tile_replaces(element: JsonElement, parent: Tile | None) -> bool:
    """Return whether refine is REPLACE, inherited where it is not stated."""
    inherited = "REPLACE" if parent is None or parent.replaces else "ADD"
    refine = element.text("refine", inherited).upper()
    if refine not in ("ADD", "REPLACE"):
        raise element.wrong("refine", "ADD or REPLACE")
    return refine == "REPLACE"


def short_name(uri: str) -> str:
    """Return an address without query and server, for messages."""
    return re.sub(r"^https?://[^/]*/", "", uri.partition("#")[0].partition("?")[0])


def flawed(parent: Tile, index: int, name: str, flaw: str) -> Tile:
    """Return a tile that cannot be used, somewhere in its parent's volume."""
    return Tile(
        path=(*parent.path, index),
        name=name,
        T_tileset_tile=parent.T_tileset_tile,
        volume=parent.volume,
        error_m=parent.error_m,
        replaces=parent.replaces,
        flaw=flaw,
    )
