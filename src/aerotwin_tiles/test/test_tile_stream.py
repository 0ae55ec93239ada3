# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The stream: allowed error by distance, a limit that holds, identity, repeatability."""

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_tiles import RegionDescription
from aerotwin_tiles.meshes import memory_bytes

TERRAIN = "worlds/lunar_pit_landform"
LIMIT_MB = 30.0  # the terrain at full detail takes 160 MB


def grid(site, *, depth=3, size=64.0, missing=(), refine="REPLACE", root_name="r"):
    """Return a quadtree whose errors are a quarter of the tile's size, 0 at the leaves."""

    def tile(name, x, y, size, level):
        half = size / 2
        children = [
            tile(f"{name}{i}", x + half * (i % 2), y + half * (i // 2), half, level + 1)
            for i in range(4 if level < depth else 0)
        ]
        file = f"{name}.glb" if name else ""
        error = size / 4 if children else 0.0
        own = site.tile(file, x, y, size, error=error, has_file=file not in missing)
        return own | ({"children": children} if children else {})

    site.write(tile(root_name, 0.0, 0.0, size, 0) | {"refine": refine})


@pytest.fixture
def start(site, request):
    """Return a function that starts a stream over the site's tileset."""

    def begin(**options):
        defaults = {"stream": True, "max_error_m": 0.5, "error_growth": 0.1, "stream_step_m": 0.0}
        stream = site.load(**(defaults | options)).stream
        request.addfinalizer(stream.close)
        return stream

    return begin


def names(stream):
    return [mesh.name.partition(".")[0] for mesh in stream.meshes]


def wanted(tree, tile, p, max_error_m, growth):
    """The rule of the module, as a recursion."""
    low, high = tile.volume.bounds_m
    distance = np.linalg.norm(p - np.clip(p, low, high))
    children = tree.children(tile)
    if not children or tile.error_m <= max_error_m + growth * distance:
        return [tile.name.partition(".")[0]]
    return [name for child in children for name in wanted(tree, child, p, max_error_m, growth)]


def test_near_tiles_are_fine_and_far_ones_coarse(site, start):
    grid(site)
    stream = start()
    tree = site.tree()
    for p in np.random.default_rng(1).uniform((-40, -40, 0), (100, 100, 40), (40, 3)):
        stream.update(p)
        assert names(stream) == wanted(tree, tree.root, p, 0.5, 0.1)
        squares = [np.prod(np.ptp(mesh.bounds_m, axis=0)[:2]) for mesh in stream.meshes]
        assert sum(squares) == pytest.approx(64.0**2)
    sizes = {np.ptp(mesh.bounds_m, axis=0)[0] for mesh in stream.meshes}
    assert len(sizes) > 1


def test_a_mesh_that_stays_is_the_same_object_and_no_change_is_reported(site, start):
    grid(site)
    stream = start()
    stream.update(np.array([5.0, 5.0, 1.0]))
    before = {mesh.name: mesh for mesh in stream.meshes}
    meshes = stream.meshes
    assert not stream.update(np.array([5.0, 5.0, 1.0001]))
    assert stream.meshes is meshes or all(
        a is b for a, b in zip(stream.meshes, meshes, strict=True)
    )
    assert stream.update(np.array([40.0, 40.0, 1.0]))
    same = [mesh for mesh in stream.meshes if mesh.name in before]
    assert same and all(mesh is before[mesh.name] for mesh in same)


def test_several_sensors_count_by_the_nearest(site, start):
    grid(site)
    stream = start()
    a, b = np.array([1.0, 1.0, 0.0]), np.array([63.0, 63.0, 0.0])
    stream.update(np.stack([a, b]))
    both = names(stream)
    fine = [name for name in both if len(name) == 4]
    for p in (a, b):
        stream.update(p)
        assert {name for name in names(stream) if len(name) == 4} <= set(fine)


def test_a_short_way_changes_nothing(site, start):
    grid(site)
    stream = start(stream_step_m=3.0)
    stream.update(np.array([5.0, 5.0, 1.0]))
    before = stream.meshes
    assert not stream.update(np.array([7.9, 5.0, 1.0]))
    assert stream.meshes is before
    assert stream.update(np.array([60.0, 5.0, 1.0]))


def test_the_parent_of_a_broken_tile_stays_and_the_tile_is_named(site, start):
    grid(site, missing={"r21.glb"})
    stream = start(error_growth=0.0)
    # r21 is broken, but has children of its own that are finer: they stand in.
    assert len(names(stream)) == 64
    assert [line.partition(":")[0] for line in stream.missing] == ["r21.glb"]
    (site.folder / "r213.glb").unlink()
    stream = start(error_growth=0.0)
    shown = names(stream)
    assert "r2" in shown and not [name for name in shown if name.startswith("r2") and name != "r2"]
    assert [line.partition(":")[0] for line in stream.missing] == ["r21.glb", "r213.glb"]


def test_what_has_no_content_is_filled_nearest_first(site, start):
    children = [site.tile(f"{i:02d}.glb", 10.0 * i, 0, 10.0) for i in range(20)]
    site.write(site.tile("", 0, 0, 200.0, error=5.0, children=children))
    stream = start()
    assert len(stream.meshes) == 20 and stream.missing == ()


def test_under_add_parents_stay(site, start):
    grid(site, depth=2, refine="ADD")
    stream = start(error_growth=0.0)
    assert len(stream.meshes) == 1 + 4 + 16
    stream.update(np.array([1e4, 0, 0]))
    assert len(stream.meshes) == 21
    far = start(error_growth=1.0)
    far.update(np.array([1e4, 0, 0]))
    assert names(far) == ["r"]


def test_nothing_outside_the_region_is_loaded(site, start):
    grid(site)
    region = RegionDescription(center_m=(8, 8, 0), size_m=(6, 6, 0))
    stream = start(region=region, error_growth=0.0)
    assert names(stream) == ["r000", "r001", "r002", "r003"]


def test_a_limit_below_the_coarsest_tile_is_an_error(shared_data, tmp_path, site):
    tileset = str(shared_data(f"{TERRAIN}/tileset.json"))
    with pytest.raises(UserError, match="coarsest tiles do not fit into memory_limit_mb = 1"):
        site.load(tileset=tileset, stream=True, memory_limit_mb=1.0)


def flight():
    """A path across the terrain and back, with a jump."""
    there = np.column_stack([np.linspace(56, 376, 60), np.linspace(-200, 20, 60), np.full(60, 40)])
    return np.concatenate([there, [[100.0, 0.0, 50.0]], there[::-3]])


def is_below(p, mesh):
    low, high = mesh.bounds_m
    return (low[:2] <= p[:2]).all() and (p[:2] <= high[:2]).all()


def test_the_limit_holds_at_every_step_across_a_real_terrain(shared_data, site, start):
    stream = start(
        tileset=str(shared_data(f"{TERRAIN}/tileset.json")),
        max_error_m=0.0,
        error_growth=0.02,
        memory_limit_mb=LIMIT_MB,
    )
    tileset = str(shared_data(f"{TERRAIN}/tileset.json"))
    finest = {mesh.name for mesh in site.load(tileset=tileset).meshes}
    old: tuple = stream.meshes
    n_over_terrain = 0
    for p in flight():
        stream.update(p)
        assert stream.peak_bytes <= LIMIT_MB * 1e6
        # Old and new choice are both there while a renderer changes from one to the other.
        both = {id(mesh): mesh for mesh in (*old, *stream.meshes)}
        assert memory_bytes(tuple(both.values())) <= LIMIT_MB * 1e6
        low = np.min([mesh.bounds_m[0] for mesh in stream.meshes], axis=0)
        high = np.max([mesh.bounds_m[1] for mesh in stream.meshes], axis=0)
        np.testing.assert_allclose((low[:2], high[:2]), EXTENT, atol=0.01)
        below = [mesh.name for mesh in stream.meshes if is_below(p, mesh)]
        assert not below or finest & set(below)
        n_over_terrain += bool(below)
        old = stream.meshes
    assert stream.missing == ()
    assert n_over_terrain > 60  # of 81; two corners of the terrain are empty


EXTENT = ((54.652, -211.661), (377.802, 30.229))
"""Of the vertices, from the data folder's README; y turned."""


def test_a_stream_repeats_itself(shared_data, start):
    options = {
        "tileset": str(shared_data(f"{TERRAIN}/tileset.json")),
        "max_error_m": 0.0,
        "error_growth": 0.02,
        "memory_limit_mb": LIMIT_MB,
    }
    ways = []
    for _ in range(2):
        stream = start(**options)
        way = []
        for p in flight()[::2]:
            stream.update(p)
            way.append(tuple(names(stream)))
        ways.append(way)
    assert ways[0] == ways[1]
    assert len(set(ways[0])) > 5


def test_a_stream_is_reported_where_no_sensor_can_be(site, start):
    grid(site, depth=1)
    with pytest.raises(ValueError, match="p_map must be finite"):
        start().update(np.array([np.nan, 0, 0]))
