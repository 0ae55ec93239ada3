# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Documents of a tileset (tileset.json): they make tiles, and refer to further documents."""

import dataclasses
import threading
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_format import HEAD_BYTES, foreign_format
from aerotwin_meshes.gltf.json_element import JsonElement, parse_json
from aerotwin_tiles.fetch import FetchError, Source
from aerotwin_tiles.implicit import implicit_branch
from aerotwin_tiles.tile import (
    Branch,
    Tile,
    TileContentReference,
    content_references,
    flawed,
    reference_uri,
    short_name,
    tile_error_m,
    tile_pose,
    tile_replaces,
)
from aerotwin_tiles.tile_content import UpAxis
from aerotwin_tiles.volumes import volume_from_json

MAX_JSON_BYTES = 2**27
"""Largest tileset.json; the largest found in the field have some 50 MB."""
FREE_BYTES = MAX_JSON_BYTES
"""Of the documents of any tileset, however few tiles it may have."""
_BYTES_PER_TILE = 4096
"""Far above what describing one tile takes (some hundred bytes)."""
MAX_LINKS = 64
"""Longest chain of external tilesets; Google's Photorealistic 3D Tiles have about ten."""
_VERSIONS = ("0.0", "1.0", "1.1")  # 0.0: the drafts; CesiumJS accepts the same three
_EXTENSIONS = {
    "3DTILES_implicit_tiling",
    "3DTILES_multiple_contents",
    "3DTILES_content_gltf",
    "3DTILES_metadata",
}
"""Those of 3D Tiles 1.0 that became part of 1.1; metadata has no effect on shapes."""
_UP_AXES: dict[str, UpAxis] = {"x": "x", "y": "y", "z": "z"}
_MESH_SUFFIXES = {".b3dm", ".i3dm", ".cmpt", ".pnts", ".glb", ".gltf"}


class DocumentSource:
    """A thread-safe source of tileset.json and subtree files with a limit of their total bytes.

    The cost of a tileset before anything is shown is its tiles, which the tree counts, and the
    documents that describe them: one large document that many tiles refer to, or a subtree with
    padding, costs far more than its tiles. ``max_tiles`` sets the limit.
    """

    def __init__(self, source: Source, *, max_tiles: int) -> None:
        self._source = source
        self._max_tiles = max_tiles
        self._left = FREE_BYTES + _BYTES_PER_TILE * max_tiles
        self._are_tilesets: dict[str, bool] = {}
        self._lock = threading.Lock()

    def resolve(self, base_uri: str, uri: str) -> str:
        """Return the address of a reference; see `Source.resolve`."""
        return self._source.resolve(base_uri, uri)

    def read(self, uri: str, *, max_bytes: int) -> bytes:
        """Return a document; see `Source.read`.

        Raises `UserError` if all documents together exceed the limit; no other tile helps then.
        """
        data = self._source.read(uri, max_bytes=max_bytes)
        with self._lock:
            self._left -= len(data)
            if self._left < 0:
                raise UserError(
                    f"{uri}: the tileset's documents are larger than {self._max_tiles} tiles need, "
                    "each counted as often as it is referred to; choose a smaller region or a "
                    "larger max_error_m, or raise max_tiles"
                )
        return data

    def is_tileset(self, uri: str) -> bool:
        """Tell whether the file at an address is a tileset.json by its content."""
        if uri not in self._are_tilesets:
            try:
                head = self._source.read(uri, max_bytes=MAX_JSON_BYTES)
            except FetchError:
                return False  # loading reports it as missing
            self._are_tilesets[uri] = (
                head.lstrip()[:1] == b"{" and b'"root"' in head and b'"geometricError"' in head
            )
        return self._are_tilesets[uri]


@dataclass(frozen=True, kw_only=True)
class Asset:
    """The ``asset`` of a document; ``states_up_axis``: whether the file has a gltfUpAxis."""

    version: str
    up_axis: UpAxis
    copyright: str
    states_up_axis: bool


@dataclass(frozen=True, kw_only=True)
class Document:
    """One tileset.json: makes its tiles."""

    source: DocumentSource
    assets: list[Asset]
    uri: str
    links: tuple[str, ...]
    up_axis: UpAxis
    root: JsonElement

    def tile(self, element: JsonElement, *, parent: Tile | None, index: int = 0) -> Tile:
        """Return a tile; one that cannot be used has a flaw and its parent's volume."""
        try:
            return self._tile(element, parent, index)
        except (ValueError, FetchError) as error:
            if parent is None:
                raise
            return flawed(parent, index, f"{short_name(self.uri)} {element.where}", str(error))

    def _tile(self, element: JsonElement, parent: Tile | None, index: int) -> Tile:
        path = () if parent is None else (*parent.path, index)
        T = tile_pose(element, np.eye(4) if parent is None else parent.T_tileset_tile)
        volume = element.element("boundingVolume")
        if volume is None:
            raise ValueError(f"{element.where}.boundingVolume is missing, it must be an object")
        branch: Branch | None = implicit_branch(self.source, self.uri, element)
        contents: tuple[TileContentReference, ...] = ()
        if branch is None:
            contents, links = self._contents(content_references(element), T)
            children = tuple(element.elements("children"))
            if links:
                branch = DocumentBranch(
                    document=self, uris=links, contents=contents, children=children
                )
                contents = ()
            elif children:
                branch = DocumentBranch(document=self, children=children)
        return Tile(
            path=path,
            name=_name(contents, branch, path),
            T_tileset_tile=T,
            volume=volume_from_json(volume, T),
            error_m=tile_error_m(element, T, parent),
            replaces=tile_replaces(element, parent),
            contents=contents,
            branch=branch,
            up_axis=self.up_axis,
        )

    def _contents(
        self, references: list[JsonElement], T: np.ndarray
    ) -> tuple[tuple[TileContentReference, ...], tuple[str, ...]]:
        """Return what is to be shown, and the addresses of further tilesets."""
        contents, links = [], []
        for reference in references:
            uri = self.source.resolve(self.uri, reference_uri(reference))
            if is_tileset(uri, self.source):
                links.append(uri)
                continue
            volume = reference.element("boundingVolume")
            own = None if volume is None else volume_from_json(volume, T)
            contents.append(TileContentReference(uri=uri, volume=own))
        return tuple(contents), tuple(links)


@dataclass(frozen=True, kw_only=True)
class DocumentBranch:
    """Children written out in a document, or in tilesets that contents of a tile refer to.

    The roots of such external tilesets are children of the tile; its other ``contents`` become a
    child of their own then. The standard allows no ``children`` beside them; a file that has some
    nevertheless retains them.
    """

    document: Document
    children: tuple[JsonElement, ...]
    uris: tuple[str, ...] = ()
    contents: tuple[TileContentReference, ...] = ()

    @property
    def is_link(self) -> bool:
        """Whether the children are in other documents."""
        return bool(self.uris)

    @property
    def n_listed(self) -> int:
        """How many children there are."""
        return len(self.uris) + bool(self.contents) + len(self.children)

    def grow(self, tile: Tile) -> tuple[Tile, ...]:
        """Return the roots of the further tilesets, the other contents, the children."""
        tiles = [self._root(uri, tile, i) for i, uri in enumerate(self.uris)]
        if self.contents:
            name, path = short_name(self.contents[0].uri), (*tile.path, len(tiles))
            tiles.append(
                dataclasses.replace(tile, path=path, name=name, contents=self.contents, branch=None)
            )
        return (
            *tiles,
            *(
                self.document.tile(child, parent=tile, index=i)
                for i, child in enumerate(self.children, len(tiles))
            ),
        )

    def _root(self, uri: str, tile: Tile, index: int) -> Tile:
        here = self.document
        links = (*here.links, here.uri)
        linked = read_document(
            here.source, uri, assets=here.assets, up_axis=here.up_axis, links=links
        )
        return linked.tile(linked.root, parent=tile, index=index)


def read_document(
    source: DocumentSource,
    uri: str,
    *,
    assets: list[Asset],
    up_axis: UpAxis = "y",
    links: tuple[str, ...] = (),
) -> Document:
    """Read a tileset.json and append its asset to ``assets``.

    ``up_axis`` is that of the referring document, which holds unless this one states another;
    ``links`` are the documents that led here. Raises `FetchError` or `ValueError` if it cannot be
    loaded or used, or refers back to one of ``links``.
    """
    name = short_name(uri)
    if uri in links:
        raise ValueError(f"{name} leads back to itself; external tilesets must form a tree")
    if len(links) >= MAX_LINKS:
        raise ValueError(f"more than {MAX_LINKS} external tilesets in a row, the last is {name}")
    data = source.read(uri, max_bytes=MAX_JSON_BYTES)
    found = foreign_format(urlsplit(uri).path, data[:HEAD_BYTES])
    if found is not None and not data.lstrip().startswith(b"{"):
        way_out = found.way_out.format(path=name, folder=".")
        raise ValueError(f"expected a tileset.json, found {found.name}; {way_out}")
    json = parse_json(data, name)
    asset = json.element("asset")
    root = json.element("root")
    if asset is None or root is None:
        raise ValueError(f"{name} must have 'asset' and 'root'; it is no 3-D tileset")
    version = asset.text("version")
    if version not in _VERSIONS:
        raise ValueError(f"{name}: asset.version must be 1.0 or 1.1, got '{version}'")
    if unknown := sorted(set(json.texts("extensionsRequired")) - _EXTENSIONS):
        raise ValueError(f"{name} requires {', '.join(unknown)}, which this loader does not have")
    own_axis = _UP_AXES.get(asset.text("gltfUpAxis", up_axis).lower())
    if own_axis is None:
        raise asset.wrong("gltfUpAxis", "X, Y or Z")
    assets.append(
        Asset(
            version=version,
            up_axis=own_axis,
            copyright=asset.text("copyright", ""),
            states_up_axis="gltfUpAxis" in asset.values,
        )
    )
    root = JsonElement(root.values, "root")
    return Document(source=source, assets=assets, uri=uri, links=links, up_axis=own_axis, root=root)


def is_tileset(uri: str, source: DocumentSource) -> bool:
    """Tell whether an address is that of a tileset: by its ending, or by its content."""
    suffix = PurePosixPath(urlsplit(uri).path).suffix.lower()
    if suffix in _MESH_SUFFIXES:
        return False
    return suffix == ".json" or source.is_tileset(uri)


def _name(
    contents: tuple[TileContentReference, ...], branch: Branch | None, path: tuple[int, ...]
) -> str:
    if contents:
        return short_name(contents[0].uri)
    if isinstance(branch, DocumentBranch) and branch.uris:
        return short_name(branch.uris[0])
    return "tile " + "/".join(map(str, ("root", *path)))
