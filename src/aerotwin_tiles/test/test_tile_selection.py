# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which tiles are shown: by error and region, and what stands in for what is missing."""

import dataclasses
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_meshes.gltf import write_glb
from aerotwin_tiles import RegionDescription, TilesDescription
from aerotwin_tiles.loading import open_tileset, open_tileset_source, select, tile_reader
from aerotwin_tiles.meshes import NOTHING, TileReader, memory_bytes
from aerotwin_tiles.tile import Tile, TileError
from aerotwin_tiles.workers import Workers


def quarters(site, name, x, y, size, errors, *, missing=(), level=0, **members):
    """Return a quadtree of squares; names are the way from the root, as in "r", "r0", "r03"."""
    children = []
    if level + 1 < len(errors):
        half = size / 2
        for i in range(4):
            children.append(
                quarters(
                    site,
                    f"{name}{i}",
                    x + half * (i % 2),
                    y + half * (i // 2),
                    half,
                    errors,
                    missing=missing,
                    level=level + 1,
                )
            )
    file = f"{name}.glb"
    tile = site.tile(file, x, y, size, error=errors[level], has_file=name not in missing)
    return tile | ({"children": children} if children else {}) | members


def names_of(site, **options):
    found, loaded = site.names(**options)
    return [name.removesuffix(".glb") for name in found], loaded


def area(loaded):
    """Area of all squares, each of two triangles."""
    return sum(float(np.prod(np.ptp(mesh.bounds_m, axis=0)[:2])) for mesh in loaded.meshes)


LEVEL_1 = ["r0", "r1", "r2", "r3"]
LEVEL_2 = [f"r{i}{j}" for i in range(4) for j in range(4)]


@pytest.mark.parametrize(
    ("max_error_m", "expected"),
    [(9.0, ["r"]), (8.0, ["r"]), (7.9, LEVEL_1), (4.0, LEVEL_1), (3.9, LEVEL_2), (0.0, LEVEL_2)],
)
def test_tiles_are_refined_while_their_error_is_larger_than_requested(site, max_error_m, expected):
    site.write(quarters(site, "r", 0, 0, 64, (8.0, 4.0, 0.0)))
    names, loaded = names_of(site, max_error_m=max_error_m)
    assert names == expected and loaded.missing == ()
    assert area(loaded) == 64.0**2


def test_under_add_all_levels_are_shown_in_the_order_of_the_tree(site):
    site.write(quarters(site, "r", 0, 0, 64, (8.0, 4.0, 0.0), refine="ADD"))
    assert names_of(site)[0] == sorted(["r", *LEVEL_1, *LEVEL_2])
    assert names_of(site, max_error_m=5.0)[0] == ["r", *LEVEL_1]


def test_only_what_touches_the_region_is_loaded_and_refined(site):
    site.write(quarters(site, "r", 0, 0, 64, (8.0, 4.0, 0.0)))
    region = RegionDescription(center_m=(40, 20, 0), size_m=(10, 10, 0))  # 35..45, 15..25
    assert names_of(site, region=region)[0] == ["r10", "r12"]
    apart = RegionDescription(center_m=(500, 20, 0), size_m=(10, 10, 0))
    with pytest.raises(UserError, match=r"no mesh lies in the region; the tileset spans \[0.0"):
        names_of(site, region=apart)
    above = RegionDescription(center_m=(40, 20, 9), size_m=(10, 10, 2))
    with pytest.raises(UserError, match="no mesh lies in the region"):
        names_of(site, region=above)


def test_the_scale_of_transforms_counts_in_the_error(site):
    scale = np.diag([10.0, 10.0, 10.0, 1.0]).ravel().tolist()
    site.write(quarters(site, "r", 0, 0, 6.4, (0.8, 0.0), transform=scale))
    assert names_of(site, max_error_m=7.9)[0] == LEVEL_1
    assert names_of(site, max_error_m=8.0)[0] == ["r"]


def test_the_parent_stands_in_whole_for_a_broken_child(site):
    site.write(quarters(site, "r", 0, 0, 64, (8.0, 4.0, 0.0), missing={"r13"}))
    names, loaded = names_of(site)
    assert names == ["r00", "r01", "r02", "r03", "r1", *LEVEL_2[8:]]
    assert area(loaded) == 64.0**2  # nothing overlaps, nothing is missing
    (line,) = loaded.missing
    assert line.startswith("r13.glb: cannot be read from")
    assert line.endswith("r1.glb (error 4 m) stands in")


def test_a_broken_parent_passes_it_on_to_its_own(site):
    site.write(quarters(site, "r", 0, 0, 64, (8.0, 4.0, 0.0), missing={"r1", "r13"}))
    names, loaded = names_of(site)
    assert names == ["r"]
    assert [line.split(":")[0] for line in loaded.missing] == ["r1.glb", "r13.glb"]
    assert all(line.endswith("r.glb (error 8 m) stands in") for line in loaded.missing)


def test_finer_tiles_stand_in_for_a_broken_one(site):
    site.write(quarters(site, "r", 0, 0, 64, (8.0, 4.0, 0.0), missing={"r1"}))
    names, loaded = names_of(site, max_error_m=4.0)
    assert names == ["r0", "r10", "r11", "r12", "r13", "r2", "r3"]
    assert area(loaded) == 64.0**2
    (line,) = loaded.missing
    assert line.endswith("its 4 finer tiles stand in")


def test_where_nothing_can_stand_in_the_rest_is_shown(site):
    missing = {"r", "r1", "r13"}
    site.write(quarters(site, "r", 0, 0, 64, (8.0, 4.0, 0.0), missing=missing))
    names, loaded = names_of(site)
    assert names == [name for name in LEVEL_2 if name != "r13"]
    assert loaded.missing[-1].endswith("nothing stands in")


def test_under_add_a_broken_child_is_left_out(site):
    site.write(quarters(site, "r", 0, 0, 64, (8.0, 0.0), missing={"r2"}, refine="ADD"))
    names, loaded = names_of(site)
    assert names == ["r", "r0", "r1", "r3"]
    (line,) = loaded.missing
    assert line.endswith("r.glb (error 8 m) is shown without it")


def test_nothing_at_all_is_an_error_that_names_what_is_missing(site):
    site.write(site.tile("a.glb", has_file=False))
    with pytest.raises(UserError, match=r"nothing can be shown: a\.glb: cannot be read"):
        names_of(site)


def test_a_tile_without_content_is_refined_whatever_its_error(site):
    site.write(site.tile("", error=0.1, children=[site.tile("a.glb"), site.tile("b.glb", 1.0)]))
    assert names_of(site, max_error_m=5.0)[0] == ["a", "b"]
    added = site.tile("", error=0.1, refine="ADD", children=[site.tile("a.glb")])
    site.write(site.tile("", error=9.0, refine="ADD", children=[site.tile("b.glb"), added]))
    assert names_of(site, max_error_m=5.0)[0] == ["b"]


def test_a_content_outside_the_region_by_its_own_volume_is_not_read(site):
    root = site.tile("") | {
        "contents": [
            {
                "uri": "missing.glb",
                "boundingVolume": {"sphere": [100, 0, 0, 1]},
            },
            {"uri": site.content("a.glb")},
        ]
    }
    site.write(root)
    region = RegionDescription(center_m=(0.5, 0.5, 0), size_m=(1, 1, 0))
    names, loaded = names_of(site, region=region)
    assert names == ["a"] and loaded.missing == ()


def test_the_order_is_that_of_the_tree_whatever_the_threads_do(site, monkeypatch):
    site.write(quarters(site, "r", 0, 0, 64, (8.0, 4.0, 0.0)))
    expected, _ = names_of(site)
    delays = iter(np.random.default_rng(1).uniform(0, 0.004, 1000))
    lock = threading.Lock()
    read = TileReader.read

    def late(self, tile):
        with lock:
            delay = next(delays)
        time.sleep(delay)
        return read(self, tile)

    monkeypatch.setattr(TileReader, "read", late)
    assert names_of(site)[0] == expected


def test_the_memory_limit_is_an_error_that_says_how_to_go_on(site, square):
    site.write(site.tile("big.glb"))
    textured = dataclasses.replace(square(), texture=np.zeros((1024, 1024, 3), np.uint8))
    write_glb(site.folder / "big.glb", [textured])
    with pytest.raises(UserError, match=r"more than memory_limit_mb = 5; .*stream: true"):
        site.load(memory_limit_mb=5.0)
    assert memory_bytes(site.load(memory_limit_mb=10.0).meshes) > 1024 * 1024 * 3
    site.write(site.tile("", error=1.0, children=[site.tile("0.glb"), site.tile("1.glb", 1.0)]))
    for name in ("0.glb", "1.glb"):
        write_glb(site.folder / name, [textured])
    with pytest.raises(UserError, match="more than memory_limit_mb = 10"):  # each alone fits
        site.load(memory_limit_mb=10.0)


def test_credits_come_once_each_those_of_most_tiles_first(site):
    children = []
    for i, text in enumerate(["Airbus", "Google;Airbus", "Zurich ; Airbus", "Google", ""]):
        children.append(site.tile(f"{i}.glb", float(i)))
        site.content(f"{i}.glb", float(i), copyright_text=text)
    site.write(site.tile("", children=children), asset={"copyright": "The site"})
    assert site.load().attributions == ("Airbus", "Google", "The site", "Zurich")


def brute_force(tile, tree, broken, max_error_m):
    """Return what shows a tile's area, and whether all of it is shown: the rules as recursion."""
    children = tree.children(tile)
    own = [tile.name] if tile.contents and tile.name not in broken else []
    is_broken = bool(tile.contents) and not own
    wants = children and (tile.error_m > max_error_m or (tile.replaces and not tile.contents))
    if not wants and not is_broken:
        return own, True
    if not children:
        return own, bool(own) or not is_broken
    parts = [brute_force(child, tree, broken, max_error_m) for child in children]
    below, whole = [name for part, _ in parts for name in part], all(ok for _, ok in parts)
    if not tile.replaces:
        return (own + below, True) if own else (below, whole)
    if whole or not own:
        return below, whole
    return own, True


def random_tile(site, rng, name, level):
    has_content = rng.random() < 0.8
    n = 0 if level == 3 else rng.integers(0, 4)
    children = [random_tile(site, rng, f"{name}{i}", level + 1) for i in range(n)]
    file = f"{name}.glb" if has_content else ""
    tile = site.tile(file, size=1.0, error=float(8 >> level), has_file=False)
    if rng.random() < 0.3:
        tile["refine"] = rng.choice(["ADD", "REPLACE"])
    return tile | ({"children": children} if children else {})


@pytest.mark.parametrize("seed", range(30))
def test_random_trees_with_broken_tiles_follow_the_rules(site, monkeypatch, seed):
    """The plan that loads little agrees with a recursion that knows all that is broken."""
    rng = np.random.default_rng(seed)
    site.write(random_tile(site, rng, "r", 0))
    tree = site.tree()
    tiles = [tree.root]
    for tile in tiles:
        tiles.extend(tree.children(tile))
    broken = {tile.name for tile in tiles if tile.contents and rng.random() < 0.25}

    def read(self: TileReader, tile: Tile):
        if tile.name in broken:
            return TileError(f"{tile.name}: broken")
        shown.append(tile.name)
        return NOTHING

    monkeypatch.setattr(TileReader, "read", read)
    for max_error_m in (0.0, 1.0, 2.0, 5.0):
        shown: list[str] = []
        description = TilesDescription(tileset=str(site.folder), max_error_m=max_error_m)
        source = open_tileset_source(description, Path())
        tileset = open_tileset(source, description, None)
        reader = tile_reader(tileset, description)
        with closing(Workers(2)) as workers:
            selection = select(tileset, description, workers, reader.read)
        found = [node.tile.name for node in selection.shown()]
        expected, _ = brute_force(tree.root, tree, broken, max_error_m)
        assert sorted(found) == sorted(expected)
