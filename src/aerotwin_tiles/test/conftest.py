# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Small tilesets that tests write themselves."""

import json

import numpy as np
import pytest

from aerotwin_meshes import TexturedMesh
from aerotwin_meshes.gltf import write_glb
from aerotwin_tiles import TilesDescription, load_tiles
from aerotwin_tiles.fetch import open_source
from aerotwin_tiles.tree import TileTree


def make_square(x=0.0, y=0.0, size=1.0, z=0.0) -> TexturedMesh:
    """Return a level square with its lower left corner at (x, y)."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
    return TexturedMesh(
        vertices_map=corners * size + (x, y, z),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=corners[:, :2].astype(np.float32),
        texture=np.full((2, 2, 3), 100, np.uint8),
    )


class Site:
    """A folder with a tileset."""

    def __init__(self, folder):
        self.folder = folder

    def content(self, name, x=0.0, y=0.0, size=1.0, *, z=0.0, copyright_text=""):
        """Write a square as content; return its address."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_glb(path, [make_square(x, y, size, z)], copyright_text=copyright_text)
        return name

    def tile(self, name, x=0.0, y=0.0, size=1.0, *, error=0.0, has_file=True, **members):
        """Return a tile of a square, whose content is written unless it shall be missing."""
        half = 0.5 * size
        box = [x + half, y + half, 0, half, 0, 0, 0, half, 0, 0, 0, 0.5]
        tile = {"boundingVolume": {"box": box}, "geometricError": error}
        if name:
            tile["content"] = {"uri": self.content(name, x, y, size) if has_file else name}
        return tile | members

    def write(self, root, *, name="tileset.json", asset=None, **members):
        """Write a tileset document."""
        asset = {"version": "1.1"} | (asset or {})
        document = {"asset": asset, "geometricError": 1000, "root": root} | members
        path = self.folder / name
        path.write_text(json.dumps(document))
        return path

    def tree(self, **options):
        """Open the tileset."""
        return TileTree(open_source(self.folder), **options)

    def load(self, origin=None, **options):
        """Load the tileset."""
        options = {"tileset": "tileset.json", "max_error_m": 0.0} | options
        return load_tiles(TilesDescription(**options), self.folder, origin)

    def names(self, **options):
        """Return the names of the contents that are loaded, and what is missing."""
        loaded = self.load(**options)
        return [mesh.name.partition("#")[0].partition(" ")[0] for mesh in loaded.meshes], loaded


@pytest.fixture
def site(tmp_path):
    """An empty `Site`."""
    return Site(tmp_path)


def all_tiles(tree):
    """Return all tiles of a tree, parents before children."""
    tiles = [tree.root]
    for tile in tiles:
        tiles.extend(tree.children(tile))
    return tiles


@pytest.fixture
def walk():
    """The function `all_tiles`."""
    return all_tiles


@pytest.fixture
def square():
    """The function `make_square`."""
    return make_square
