# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Documents and the tree: transforms, inheritance, links, and what is refused by name."""

import json
import re
import struct

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_tiles import TileError, document
from aerotwin_tiles.document import MAX_LINKS, Document
from aerotwin_tiles.fetch import FetchError

ROUNDING = 1e-12


def column_major(matrix):
    return np.asarray(matrix, float).T.ravel().tolist()


def shifted(x, y, z, scale=1.0):
    return [[scale, 0, 0, x], [0, scale, 0, y], [0, 0, scale, z], [0, 0, 0, 1]]


def test_transforms_multiply_from_the_root_down(site):
    turn = [[0, -1, 0, 10], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    child = site.tile("c.glb", error=3.0, transform=column_major(shifted(1, 2, 3, scale=2)))
    site.write(site.tile("r.glb", error=5.0, transform=column_major(turn), children=[child]))
    tree = site.tree()
    (tile,) = tree.children(tree.root)
    corner = tile.T_tileset_tile @ [1, 0, 0, 1]  # (1,0,0) -> (3,2,3) -> (-2+10, 3, 3)
    np.testing.assert_allclose(corner, [8, 3, 3, 1], atol=ROUNDING)
    np.testing.assert_allclose(tile.volume.centre, [10 - 3, 2, 3], atol=ROUNDING)
    assert (tree.root.error_m, tile.error_m) == (5.0, 6.0)


def test_refine_and_geometric_error_are_inherited(site):
    leaf = site.tile("c.glb")
    del leaf["geometricError"]
    inner = site.tile("b.glb", error=2.0, refine="add", children=[leaf])
    site.write(site.tile("a.glb", error=4.0, children=[inner]))
    tree = site.tree()
    (b,) = tree.children(tree.root)
    (c,) = tree.children(b)
    assert [tree.root.replaces, b.replaces, c.replaces] == [True, False, False]
    assert c.error_m == 2.0


def test_an_old_url_and_several_contents_are_read(site):
    root = site.tile("")
    root["contents"] = [{"url": site.content("a.glb")}, {"uri": site.content("b.glb", 2.0)}]
    site.write(root)
    names, _ = site.names()
    assert names == ["a.glb", "b.glb"]
    extension = {"3DTILES_multiple_contents": {"content": root.pop("contents")}}
    site.write(root | {"extensions": extension}, asset={"version": "1.0"})
    assert site.names()[0] == names


def test_an_external_tileset_takes_its_place_with_its_transform(site, walk):
    (site.folder / "sub").mkdir()
    below = site.tile("sub/leaf.glb", transform=column_major(shifted(0, 5, 0)))
    below["content"]["uri"] = "leaf.glb"
    site.write(below, name="sub/more.json")
    link = site.tile("", error=9.0, transform=column_major(shifted(100, 0, 0)))
    site.write(link | {"content": {"uri": "sub/more.json?v=1#part"}})
    assert [t.name for t in walk(site.tree())] == ["sub/more.json", "sub/leaf.glb"]
    names, loaded = site.names()
    assert names == ["sub/leaf.glb"]
    np.testing.assert_allclose(loaded.meshes[0].bounds_m[0], [100, 5, 0], atol=1e-5)


def test_a_link_without_ending_is_recognised_by_what_lies_there(site):
    site.write(site.tile("leaf.glb"), name="more")
    link = site.tile("")
    site.write(link | {"content": {"uri": "more"}})
    assert site.names()[0] == ["leaf.glb"]


def test_contents_beside_a_link_are_shown_too(site):
    site.write(site.tile("far.glb", 5.0), name="more.json")
    root = site.tile("") | {"contents": [{"uri": "more.json"}, {"uri": site.content("near.glb")}]}
    site.write(root)
    assert site.names()[0] == ["far.glb", "near.glb"]


def test_the_up_axis_is_that_of_the_document_or_of_the_one_that_links_it(site, walk):
    site.write(site.tile("a.glb"), name="silent.json")
    site.write(site.tile("b.glb"), name="own.json", asset={"gltfUpAxis": "x"})
    links = [site.tile("") | {"content": {"uri": f"{name}.json"}} for name in ("silent", "own")]
    site.write(site.tile("") | {"children": links}, asset={"gltfUpAxis": "Z"})
    axes = {tile.name: tile.up_axis for tile in walk(site.tree())}
    assert (axes["a.glb"], axes["b.glb"]) == ("z", "x")


def test_a_circle_of_links_ends_and_is_named(site):
    site.write(site.tile("") | {"content": {"uri": "b.json"}})
    site.write(site.tile("") | {"content": {"uri": "tileset.json"}}, name="b.json")
    tree = site.tree()
    (b,) = tree.children(tree.root)
    with pytest.raises(TileError, match=r"tileset\.json leads back to itself"):
        tree.children(b)


def test_a_chain_of_links_has_a_limit(site):
    for i in range(MAX_LINKS + 2):
        name = "tileset.json" if i == 0 else f"{i}.json"
        site.write(site.tile("") | {"content": {"uri": f"{i + 1}.json"}}, name=name)
    tree = site.tree()
    tile = tree.root
    with pytest.raises(TileError, match=f"more than {MAX_LINKS} external tilesets"):
        for _ in range(MAX_LINKS + 2):
            (tile,) = tree.children(tile)


def test_the_number_of_tiles_has_a_limit(site):
    site.write(site.tile("", error=1.0, children=[site.tile("a.glb") for _ in range(9)]))
    with pytest.raises(UserError, match=r"more than 9 tiles.*max_tiles"):
        site.names(max_tiles=9)
    assert len(site.names(max_tiles=10)[0]) == 9


def test_listed_tiles_are_counted_before_they_are_made(site, monkeypatch):
    site.write(site.tile("", error=1.0, children=[site.tile("a.glb") for _ in range(9)]))
    tree = site.tree(max_tiles=9)
    monkeypatch.setattr(Document, "tile", None)  # making one would fail
    with pytest.raises(UserError, match="more than 9 tiles"):
        tree.children(tree.root)


def test_a_document_that_many_tiles_refer_to_counts_each_time(site, monkeypatch):
    monkeypatch.setattr(document, "FREE_BYTES", 0)  # what every tileset may have
    links = [site.tile("", error=1.0) | {"content": {"uri": "b.json"}} for _ in range(9)]
    site.write(site.tile("", error=1.0, children=links))
    site.write(site.tile("a.glb"), name="b.json")
    assert len(site.names(max_tiles=30)[0]) == 9
    site.write(site.tile("a.glb", extras={"padding": "x" * 10_000}), name="b.json")
    with pytest.raises(UserError, match=r"b\.json: .*documents are larger than 20 tiles need"):
        site.names(max_tiles=20)
    assert len(site.names(max_tiles=40)[0]) == 9


def test_files_of_contents_count_once_where_tiles_share_one(site):
    site.content("a.glb")
    body = (site.folder / "a.glb").read_bytes()
    tables = bytes(200_000)  # of a batch table, which is not used
    header = struct.pack("<4s6I", b"b3dm", 1, 28 + len(tables) + len(body), 0, 0, 0, len(tables))
    for k in range(9):
        (site.folder / f"{k}.b3dm").write_bytes(header + tables + body)
    shared = [site.tile("0.b3dm", has_file=False) for _ in range(9)]
    site.write(site.tile("", error=1.0, children=shared))
    assert len(site.names(memory_limit_mb=1)[0]) == 9
    own = [site.tile(f"{k}.b3dm", has_file=False) for k in range(9)]
    site.write(site.tile("", error=1.0, children=own))
    assert len(site.names(memory_limit_mb=2)[0]) == 9
    with pytest.raises(UserError, match=r"the requested files have more than memory_limit_mb"):
        site.names(memory_limit_mb=1)


def test_a_link_cannot_leave_the_folder(site):
    outside = site.folder.parent / f"{site.folder.name}-outside.glb"
    site.content(str(outside))
    broken = site.tile("") | {"content": {"uri": f"../{outside.name}"}}
    site.write(site.tile("", error=1.0, children=[broken, site.tile("a.glb")]))
    names, loaded = site.names()
    assert names == ["a.glb"]
    assert len(loaded.missing) == 1 and "leaves it" in loaded.missing[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"asset": {"version": "2.0"}}, "asset.version must be 1.0 or 1.1, got '2.0'"),
        ({"asset": {}}, "asset.version is missing"),
        ({"asset": None}, "must have 'asset' and 'root'"),
        ({"root": None}, "must have 'asset' and 'root'"),
        ({"root": []}, "root must be an object"),
        ({"asset": {"version": "1.0", "gltfUpAxis": "W"}}, "gltfUpAxis must be X, Y or Z"),
        (
            {"extensionsRequired": ["3DTILES_implicit_tiling", "3DTILES_bounding_volume_S2"]},
            "requires 3DTILES_bounding_volume_S2, which",
        ),
        ({"extensionsRequired": "all"}, "a list of texts"),
    ],
)
def test_a_root_document_that_cannot_be_used_says_why(site, change, message):
    path = site.write(site.tile("a.glb"))
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(TileError, match=message):
        site.tree()


@pytest.mark.parametrize(
    "text", ["", "[]", '{"asset": NaN}', "{" * 50_000 + "}" * 50_000, '{"a":' * 9000 + "}" * 9000]
)
def test_a_document_that_is_no_json_object_says_so(site, text):
    (site.folder / "tileset.json").write_text(text)
    with pytest.raises((TileError, FetchError), match=r"tileset\.json"):
        site.tree()


BAD_TILES = [
    ({"boundingVolume": None}, "boundingVolume is missing|boundingVolume must be"),
    ({"boundingVolume": {"box": [1.0] * 11}}, "12 finite numbers"),
    ({"boundingVolume": {"box": ["x"] * 12}}, "12 finite numbers"),
    ({"geometricError": -1}, "geometricError must be 0 or more"),
    ({"geometricError": "big"}, "geometricError must be a finite number"),
    ({"refine": "MERGE"}, "refine must be ADD or REPLACE"),
    ({"transform": [1.0] * 15}, "16 finite numbers"),
    ({"transform": [1.0] * 12 + [0, 0, 0, 2]}, "transform must be affine"),
    ({"transform": [1e300] * 15 + [1]}, r"16 numbers of at most 1e\+12"),
    ({"boundingVolume": {"sphere": [0, 0, 1e13, 1]}}, r"4 numbers of at most 1e\+12"),
    ({"content": "a.glb"}, "content must be an object"),
    ({"content": {}}, "url is missing"),
    ({"content": {"uri": 7}}, "uri must be a text"),
    ({"children": [1]}, "children must be a list of objects"),
    ({"implicitTiling": {}}, "subdivisionScheme is missing"),
]


@pytest.mark.parametrize(("change", "message"), BAD_TILES)
def test_a_bad_tile_is_named_and_its_siblings_load(site, change, message):
    bad = site.tile("bad.glb") | change
    site.write(site.tile("", error=1.0, children=[bad, site.tile("good.glb", 1.0)]))
    names, loaded = site.names()
    assert names == ["good.glb"]
    (line,) = loaded.missing
    assert "tileset.json root.children[0]" in line
    assert re.search(message, line)
