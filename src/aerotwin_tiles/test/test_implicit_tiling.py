# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Implicit tiling: random trees, written cell by cell, are read back; broken subtrees are refused.

The writer sorts cells by the text of their interleaved bits and cuts the volume by its corners: it
shares no formula with the reader.
"""

import itertools
import json
import math
import struct

import numpy as np
import pytest

from aerotwin_tiles import RegionDescription, TileError
from aerotwin_tiles.subtree import morton_index, n_nodes, read_subtree
from aerotwin_tiles.volumes import region_box

ROUNDING = 1e-9  # of coordinates around 100 m after some halvings
SUBTREE_LEVELS, LEVELS = 2, 5
BOX_LOW, BOX_SIZE = np.array([10.0, -40.0, 5.0]), np.array([64.0, 32.0, 16.0])
REGION = [0.2, 0.5, 0.2004, 0.5002, -20.0, 60.0]


def bits_of(cell, level):
    """The interleaved bits of a cell as text; z before y before x in each group."""
    digits = [format(c, f"0{level}b") if level else "" for c in reversed(cell)]
    return "".join("".join(group) for group in zip(*digits, strict=True))


def cells_of(level, n_axes):
    cells = itertools.product(range(2**level), repeat=n_axes)
    return sorted(cells, key=lambda cell: bits_of(cell, level))


def random_tree(rng, n_axes):
    """Return a set of (level, cell), closed under parents, and which of them have content."""
    tiles = {(0, (0,) * n_axes)}
    for level in range(1, LEVELS):
        for cell in cells_of(level, n_axes):
            parent = (level - 1, tuple(c // 2 for c in cell))
            if parent in tiles and rng.random() < (0.6 if n_axes == 2 else 0.35):
                tiles.add((level, cell))
    shown = [{tile for tile in tiles if rng.random() < 0.5} for _ in range(2)]
    return tiles, shown


class Writer:
    """Writes the subtrees of a tree as files."""

    def __init__(self, folder, n_axes, tiles, shown, *, binary, draft=False):
        self.folder, self.n_axes, self.tiles, self.shown = folder, n_axes, tiles, shown
        self.binary, self.draft = binary, draft
        for level in range(0, LEVELS, SUBTREE_LEVELS):
            for cell in cells_of(level, n_axes):
                if (level, cell) in tiles:
                    self.write(level, cell)

    def below(self, root_level, root, depth):
        for cell in cells_of(depth, self.n_axes):
            yield (
                root_level + depth,
                tuple(r * 2**depth + c for r, c in zip(root, cell, strict=True)),
            )

    def write(self, level, cell):
        inside = [t for d in range(SUBTREE_LEVELS) for t in self.below(level, cell, d)]
        rows = [[t in self.tiles for t in inside]]
        rows += [[t in shown for t in inside] for shown in self.shown]
        rows.append([t in self.tiles for t in self.below(level, cell, SUBTREE_LEVELS)])
        chunk, views, entries = b"\xff" * 8, [], []
        for row in rows:
            if len(set(row)) == 1 and not self.draft:
                entries.append({"constant": int(row[0])})
                continue
            data = np.packbits(row, bitorder="little").tobytes()
            views.append({"buffer": 0, "byteOffset": len(chunk), "byteLength": len(data)})
            entries.append({"bufferView" if self.draft else "bitstream": len(views) - 1})
            chunk += data + b"\xff" * (-len(data) % 8)
        name = "-".join(map(str, (level, *cell)))
        buffer = {"byteLength": len(chunk)} | ({} if self.binary else {"uri": f"{name}.bin"})
        tree = {
            "buffers": [buffer],
            "bufferViews": views,
            "tileAvailability": entries[0],
            "contentAvailability": entries[1] if self.draft else entries[1:-1],
            "childSubtreeAvailability": entries[-1],
        }
        text = json.dumps(tree).encode()
        text += b" " * (-len(text) % 8)
        path = self.folder / "subtrees" / f"{name}.subtree"
        path.parent.mkdir(exist_ok=True)
        if self.binary:
            header = struct.pack("<4sIQQ", b"subt", 1, len(text), len(chunk))
            path.write_bytes(header + text + chunk)
        else:
            path.write_bytes(text)
            (path.parent / f"{name}.bin").write_bytes(chunk)


def rule(n_axes, **changes):
    names = "{x}-{y}" if n_axes == 2 else "{x}-{y}-{z}"
    return {
        "subdivisionScheme": "QUADTREE" if n_axes == 2 else "OCTREE",
        "subtreeLevels": SUBTREE_LEVELS,
        "availableLevels": LEVELS,
        "subtrees": {"uri": f"subtrees/{{level}}-{names}.subtree"},
    } | changes


def root_tile(n_axes, volume, **changes):
    names = "{x}_{y}" if n_axes == 2 else "{x}_{y}_{z}"
    return {
        "boundingVolume": volume,
        "geometricError": 32.0,
        "refine": "ADD",
        "contents": [{"uri": f"a/{{level}}_{names}.glb"}, {"uri": f"b/{{level}}_{names}.glb"}],
        "implicitTiling": rule(n_axes),
    } | changes


def box_volume():
    half = 0.5 * BOX_SIZE
    return {"box": [*(BOX_LOW + half), half[0], 0, 0, 0, half[1], 0, 0, 0, half[2]]}


def box_cell_corners(level, cell):
    part = np.append(np.ones(len(cell)) / 2**level, np.ones(3 - len(cell)))
    low = BOX_LOW + BOX_SIZE * part * np.append(cell, np.zeros(3 - len(cell)))
    return np.stack([low, low + BOX_SIZE * part])


def content_name(folder, level, cell):
    return f"{folder}/{level}_{'_'.join(map(str, cell))}.glb"


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("n_axes", [2, 3])
def test_a_random_tree_is_read_back(site, walk, n_axes, binary):
    tiles, shown = random_tree(np.random.default_rng(n_axes), n_axes)
    Writer(site.folder, n_axes, tiles, shown, binary=binary)
    site.write(root_tile(n_axes, box_volume()))
    found = {}
    for tile in walk(site.tree())[1:]:
        level = len(tile.path) - 1
        middle = (tile.volume.centre - BOX_LOW) / BOX_SIZE * 2**level
        cell = tuple(int(c) for c in middle[:n_axes])
        assert (level, cell) not in found
        found[level, cell] = tile
    assert set(found) == tiles
    for (level, cell), tile in found.items():
        expected = [
            content_name(folder, level, cell)
            for folder, subset in zip("ab", shown, strict=True)
            if (level, cell) in subset
        ]
        assert [content.uri for content in tile.contents] == expected
        np.testing.assert_allclose(
            tile.volume.bounds_m, box_cell_corners(level, cell), atol=ROUNDING
        )
        assert tile.error_m == 32.0 / 2**level
        assert not tile.replaces


def test_a_region_is_halved_in_degrees_and_heights(site, walk):
    tiles, shown = random_tree(np.random.default_rng(9), 3)
    Writer(site.folder, 3, tiles, shown, binary=True)
    site.write(root_tile(3, {"region": REGION}))
    west, south, east, north, low, high = REGION
    for tile in walk(site.tree())[1:]:
        level = len(tile.path) - 1
        x = y = z = 0
        for step in tile.path[1:]:
            x, y, z = 2 * x + step % 2, 2 * y + step // 2 % 2, 2 * z + step // 4
        n = 2**level
        edges = [
            west + (east - west) * x / n,
            south + (north - south) * y / n,
            west + (east - west) * (x + 1) / n,
            south + (north - south) * (y + 1) / n,
            low + (high - low) * z / n,
            low + (high - low) * (z + 1) / n,
        ]
        expected = region_box(np.array(edges))
        np.testing.assert_allclose(tile.volume.centre, expected.centre, atol=1e-5)
        np.testing.assert_allclose(tile.volume.half_axes, expected.half_axes, atol=1e-5)


def test_the_extension_of_version_1_0_and_its_draft_names_are_read(site, walk):
    tiles, shown = random_tree(np.random.default_rng(5), 2)
    Writer(site.folder, 2, tiles, shown[:1], binary=True, draft=True)
    root = root_tile(2, box_volume())
    old = root.pop("implicitTiling")
    old["maximumLevel"] = old.pop("availableLevels") - 1
    root["content"] = root.pop("contents")[0]
    root["extensions"] = {"3DTILES_implicit_tiling": old}
    site.write(root, asset={"version": "1.0"}, extensionsRequired=["3DTILES_implicit_tiling"])
    found = walk(site.tree())[1:]
    assert len(found) == len(tiles)
    assert sum(len(tile.contents) for tile in found) == len(shown[0])


def test_a_missing_subtree_is_named_and_the_rest_loads(site):
    tiles = {(0, (0, 0)), (2, (3, 1)), (2, (0, 0))} | {
        (1, (x, y)) for x in range(2) for y in range(2)
    }
    Writer(site.folder, 2, tiles, [tiles, set()], binary=True)
    for level, (x, y) in tiles:
        site.content(content_name("a", level, (x, y)), x * 64 / 2**level, y * 32 / 2**level)
    (site.folder / "subtrees" / "2-3-1.subtree").unlink()
    site.write(root_tile(2, box_volume(), refine="REPLACE"))
    names, loaded = site.names()
    # The parent of what is missing, a/1_1_0, stands in; its area has no other tiles.
    assert names == ["a/2_0_0.glb", "a/1_1_0.glb", "a/1_0_1.glb", "a/1_1_1.glb"]
    (line,) = loaded.missing
    assert "implicit tile 2/3/1" in line and "a/1_1_0.glb (error 16 m) stands in" in line


def test_only_what_reaches_the_region_is_refined(site):
    tiles, _ = random_tree(np.random.default_rng(7), 2)
    Writer(site.folder, 2, tiles, [tiles, set()], binary=True)
    for level, (x, y) in tiles:
        low, high = box_cell_corners(level, (x, y))
        site.content(content_name("a", level, (x, y)), *low[:2], size=float((high - low)[1]))
    site.write(root_tile(2, box_volume()))
    centre, half = np.array([30.0, -30.0]), np.array([5.0, 3.0])
    region = RegionDescription(center_m=(*centre, 0.0), size_m=(*(2 * half), 0.0))
    names, _ = site.names(region=region, max_error_m=4.0)
    expected = set()
    for level, cell in tiles:
        low, high = box_cell_corners(level, cell)[:, :2]
        is_refined = level == 0 or 32.0 / 2 ** (level - 1) > 4.0
        if is_refined and (low <= centre + half).all() and (high >= centre - half).all():
            expected.add(content_name("a", level, cell))
    assert set(names) == expected


def test_morton_order_and_counts_are_those_of_the_standard():
    for n_axes, level in ((2, 3), (3, 2)):
        order = [morton_index(cell) for cell in cells_of(level, n_axes)]
        assert order == list(range(2 ** (n_axes * level)))
    assert n_nodes(2, 3) == 1 + 4 + 16
    assert n_nodes(3, 2) == 1 + 8


GOOD = {"tileAvailability": {"constant": 1}, "childSubtreeAvailability": {"constant": 0}}


def view(**changes):
    return {
        "buffers": [{"byteLength": 8}],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 8} | changes],
        "tileAvailability": {"bitstream": 0},
    }


BAD_SUBTREES = [
    (b"", "JSON"),
    (b"subt", "ends within its header"),
    (struct.pack("<4sIQQ", b"subt", 2, 2, 0) + b"{}", "version 1, got 2"),
    (struct.pack("<4sIQQ", b"subt", 1, 2**60, 2**60) + b"{}", "must have"),
    (b"{}", "tileAvailability is missing"),
    (b'{"tileAvailability": {}}', "bufferView is missing"),
    (b'{"tileAvailability": {"constant": 2}}', "constant must be a whole number from 0 to 1"),
    (view(byteLength=9), "ends at byte 9 of a buffer of 8"),
    (view(byteOffset=2**52), "of a buffer of 8"),
    (view(byteOffset=-1), "byteOffset must be"),
    (view(buffer=1), r"no buffers\[1\]"),
    (view() | {"tileAvailability": {"bitstream": 3}}, r"no bufferViews\[3\]"),
    (view(byteLength=0), "must have 5 bits, got 0 bytes"),
    (GOOD | {"contentAvailability": [{"bitstream": 0}]}, r"no bufferViews\[0\]"),
]


@pytest.mark.parametrize(("data", "message"), BAD_SUBTREES)
def test_a_broken_subtree_is_refused_by_name(data, message):
    if isinstance(data, dict):
        text = json.dumps(data).encode()
        data = struct.pack("<4sIQQ", b"subt", 1, len(text), 8) + text + b"\xff" * 8
    with pytest.raises(ValueError, match=message):
        read_subtree(data, "0.subtree", n_axes=2, n_levels=2, resolve=lambda _: b"")


def test_random_damage_to_a_subtree_is_a_value_error_or_harmless(tmp_path):
    tiles, shown = random_tree(np.random.default_rng(3), 2)
    Writer(tmp_path, 2, tiles, shown, binary=True)
    data = (tmp_path / "subtrees" / "0-0-0.subtree").read_bytes()
    rng = np.random.default_rng(11)
    n_refused = 0
    for _ in range(300):
        broken = bytearray(data)
        broken[rng.integers(len(data))] = rng.integers(256)
        try:
            read_subtree(bytes(broken), "0.subtree", n_axes=2, n_levels=2, resolve=lambda _: b"")
        except ValueError:
            n_refused += 1
    assert n_refused > 50


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"subdivisionScheme": "KD"}, "QUADTREE or OCTREE"),
        ({"subtreeLevels": 0}, "from 1 to 13"),
        ({"subtreeLevels": 40}, "from 1 to 13"),
        ({"availableLevels": 99}, "from 1 to 48"),
        ({"subtrees": None}, "subtrees must be an object|subtrees is missing"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_by_name(site, change, message):
    site.write(root_tile(2, box_volume(), implicitTiling=rule(2, **change)))
    with pytest.raises(TileError, match=message):
        site.tree()


def test_a_sphere_cannot_be_tiled_implicitly(site):
    site.write(root_tile(2, {"sphere": [0, 0, 0, math.pi]}))
    with pytest.raises(TileError, match="must have a box or a region"):
        site.tree()
