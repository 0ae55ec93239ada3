# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Contents that many tiles share: read once, placed by each tile, within a limit."""

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_meshes.gltf.primitives import PointSet
from aerotwin_tiles import meshes
from aerotwin_tiles.shared_contents import SharedContents
from aerotwin_tiles.tile_content import ContentError, TilePart

N_TILES = 500


@pytest.fixture
def read_contents(monkeypatch):
    """The addresses of the contents that were decoded."""
    decoded = []
    read = meshes.read_content

    def count(data, **options):
        decoded.append((options["uri"], options["up_axis"]))
        return read(data, **options)

    monkeypatch.setattr(meshes, "read_content", count)
    return decoded


def moved_tile(site, k, name="tree.glb"):
    move = np.eye(4)
    move[3, 0] = 2.0 * k  # column by column, as glTF has it
    return site.tile("", size=1.0) | {"content": {"uri": name}, "transform": move.ravel().tolist()}


def write_forest(site, n_tiles, name="tree.glb"):
    children = [moved_tile(site, k, name) for k in range(n_tiles)]
    root = site.tile("", 0.0, 0.0, 2.0 * n_tiles, error=1.0, children=children)
    site.write(root)


def test_tiles_that_share_a_content_decode_it_once_and_place_it_each(site, read_contents):
    site.content("tree.glb")
    write_forest(site, N_TILES)
    loaded = site.load()
    assert read_contents == [("tree.glb", "y")] * len(read_contents)
    assert len(read_contents) <= 8  # threads that begin together may each read it
    left = [float(mesh.bounds_m[0, 0]) for mesh in loaded.meshes]
    np.testing.assert_allclose(np.diff(left), 2.0, atol=1e-9)
    assert len({id(mesh.texture) for mesh in loaded.meshes}) <= len(read_contents)
    assert meshes.memory_bytes(loaded.meshes) < N_TILES * meshes.memory_bytes(loaded.meshes[:1])


def test_a_content_that_cannot_be_used_is_decoded_once_and_named_for_each_tile(site, read_contents):
    site.content("tree.glb")
    (site.folder / "broken.glb").write_bytes(b"glTF but no more")
    children = [moved_tile(site, k, "broken.glb") for k in range(N_TILES)]
    site.write(site.tile("", error=1.0, children=[moved_tile(site, 0), *children]))
    loaded = site.load()
    assert len(loaded.meshes) == 1
    assert len([line for line in loaded.missing if "broken.glb" in line]) == N_TILES
    assert len([uri for uri, _ in read_contents if uri == "broken.glb"]) <= 8


def points(n):
    shape = PointSet(positions=np.zeros((n, 3)), colours=np.zeros((n, 3), np.uint8))
    return [TilePart(shape=shape, name="", copyright="")]


def test_what_was_not_used_for_the_longest_time_goes_first_and_the_large_is_not_cached():
    shared, read = SharedContents(limit_bytes=3 * 27_000 + 30_000), []

    def get(name, n=1000):
        def make():
            read.append(name)
            return points(n)

        return shared.get(name, make)

    for name in ("a", "b", "c", "a", "d", "a", "b"):
        get(name)
    assert read == ["a", "b", "c", "d", "b"]
    for _ in range(2):
        get("large", n=10_000)
    assert read == ["a", "b", "c", "d", "b", "large", "large"]
    get("a")
    assert read[-1] == "large"


def test_only_what_a_content_itself_is_guilty_of_is_remembered():
    shared, n_calls = SharedContents(), {"damaged": 0, "away": 0}

    def damaged():
        n_calls["damaged"] += 1
        raise ContentError("a.glb: damaged")

    def away():
        n_calls["away"] += 1
        raise UserError("b.glb: the server does not answer")

    for _ in range(3):
        with pytest.raises(ContentError, match=r"a\.glb: damaged"):
            shared.get("a", damaged)
        with pytest.raises(UserError, match="does not answer"):
            shared.get("b", away)
    assert n_calls == {"damaged": 1, "away": 3}
