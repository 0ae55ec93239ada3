# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Real tilesets: counts and extents that the data folder's README states."""

import numpy as np
import pytest

from aerotwin_core.geodesy import GeodeticPoint, geodetic_from_ecef
from aerotwin_tiles import RegionDescription, TilesDescription, load_tiles

TERRAIN = "worlds/lunar_pit_landform"
TILES = {0: 1, 1: 4, 2: 16, 3: 64, 4: 208}
TRIANGLES = {0: 1966, 1: 7085, 2: 26884, 3: 97128, 4: 165294}
LOW, HIGH = (54.652, -211.661, 0.129), (377.802, 30.229, 64.470)
"""x, z and y of the README, turned to z up: y_map = -z."""
PRINTED = 1e-3  # of the extents' last digit


@pytest.fixture
def load(shared_data):
    """Return a function that loads a tileset of the data folder."""

    def load_named(name, origin=None, **options):
        options = {"tileset": name, "max_error_m": 0.0} | options
        folder = shared_data(TERRAIN if name.startswith("tileset") else "worlds")
        return load_tiles(TilesDescription(**options), folder, origin)

    return load_named


def by_level(loaded):
    """Count tiles and triangles by level: a name "0123.b3dm" has as many digits, root none."""
    counts = {}
    for mesh in loaded.meshes:
        stem = mesh.name.partition(".")[0]
        level = 0 if stem == "root" else len(stem)
        n, triangles = counts.get(level, (0, 0))
        counts[level] = (n + 1, triangles + len(mesh.triangles))
    return counts


def bounds(loaded):
    boxes = np.stack([mesh.bounds_m for mesh in loaded.meshes])
    return boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)


def test_under_add_every_level_has_its_tiles_and_triangles(load):
    loaded = load("tileset-add.json")
    expected = {level: (TILES[level], TRIANGLES[level]) for level in TILES}
    assert by_level(loaded) == expected
    low, high = bounds(loaded)
    np.testing.assert_allclose(low, LOW, atol=PRINTED)
    np.testing.assert_allclose(high, HIGH, atol=PRINTED)
    assert loaded.missing == () and loaded.origin is None


def test_at_full_detail_the_finest_tiles_cover_the_terrain(load):
    loaded = load("tileset.json")
    counts = by_level(loaded)
    # 64 tiles of level 3, of which 52 have four children each; 12 are leaves.
    assert set(counts) == {3, 4}
    assert counts[4] == (208, TRIANGLES[4])
    assert counts[3][0] == 64 - 208 // 4
    low, high = bounds(loaded)
    np.testing.assert_allclose(low[:2], LOW[:2], atol=PRINTED)
    np.testing.assert_allclose(high, HIGH, atol=PRINTED)
    (note,) = loaded.notes
    assert "taken as y up and turned" in note


@pytest.mark.parametrize(("max_error_m", "level"), [(31.0, 0), (30.2604, 1)])
def test_the_requested_error_chooses_the_level(load, max_error_m, level):
    counts = by_level(load("tileset.json", max_error_m=max_error_m))
    assert counts[level] == (TILES[level], TRIANGLES[level]) or level == 1
    assert max(counts) >= level and min(counts) == level


@pytest.mark.parametrize(
    "name",
    [
        "tileset-external.json",
        "tileset-external-with-url-params.json",
        "tileset-no-root-content.json",
        "tileset-no-midtile-content.json",
        "tileset-broken-root-content.json",
    ],
)
def test_the_variants_show_the_same_at_full_detail(load, name):
    plain, variant = load("tileset.json"), load(name)
    assert [mesh.name for mesh in variant.meshes] == [mesh.name for mesh in plain.meshes]
    for ours, theirs in zip(variant.meshes, plain.meshes, strict=True):
        np.testing.assert_array_equal(ours.vertices_map, theirs.vertices_map)
    assert variant.missing == ()


@pytest.mark.parametrize(
    "name", ["tileset-no-root-content.json", "tileset-broken-root-content.json"]
)
def test_children_stand_in_for_a_root_without_content(load, name):
    loaded = load(name, max_error_m=50.0)
    assert by_level(loaded) == {1: (4, TRIANGLES[1])}
    assert len(loaded.missing) == ("broken" in name)
    assert all(
        line.startswith("root-non-existent.b3dm") and line.endswith("its 4 finer tiles stand in")
        for line in loaded.missing
    )


def test_the_parent_stands_in_for_a_tileset_that_is_not_there(load):
    loaded = load("tileset-external-broken.json")
    names = [mesh.name.partition(".")[0] for mesh in loaded.meshes]
    assert "0" in names and not [name for name in names if name.startswith("0") and name != "0"]
    (line,) = loaded.missing
    assert line.startswith("nonexistent.json: cannot be read")
    assert line.endswith("0.b3dm (error 22.4 m) stands in")
    low, high = bounds(loaded)
    np.testing.assert_allclose(low[:2], LOW[:2], atol=PRINTED)
    np.testing.assert_allclose(high[:2], HIGH[:2], atol=PRINTED)


def test_a_region_loads_its_tiles_and_crop_cuts_them(load):
    region = RegionDescription(center_m=(200.0, -90.0, 0.0), size_m=(60.0, 40.0, 0.0))
    whole, part = load("tileset.json"), load("tileset.json", region=region)
    cut = load("tileset.json", region=region, crop=True)
    known = {mesh.name: mesh for mesh in whole.meshes}
    assert 0 < len(part.meshes) < len(whole.meshes)
    for mesh in part.meshes:
        np.testing.assert_array_equal(mesh.vertices_map, known[mesh.name].vertices_map)
    low, high = bounds(cut)
    np.testing.assert_allclose(low[:2], (170.0, -110.0), atol=PRINTED)
    np.testing.assert_allclose(high[:2], (230.0, -70.0), atol=PRINTED)


OVERHANG = 3.0  # the file's box is too small by 2.2 m of 504
DRAGON = "cesium_samples/1.0/TilesetWithDiscreteLOD/tileset.json"


def test_the_dragon_keeps_its_medium_level(load):
    loaded = load(DRAGON)
    assert sum(len(mesh.triangles) for mesh in loaded.meshes) == 14782
    (line,) = loaded.missing
    assert line.startswith("dragon_high.b3dm: cannot be read")
    assert "dragon_medium.b3dm (error 10 m) stands in" in line
    coarse = load(DRAGON, max_error_m=101.0)
    assert sum(len(mesh.triangles) for mesh in coarse.meshes) == 2312
    assert coarse.missing == ()


def test_the_dragon_lies_where_its_transform_says(load):
    translation = (1215107.7612304366, -4736682.902037748, 4081926.095098698)
    latitude, longitude, altitude = geodetic_from_ecef(translation)
    loaded = load(DRAGON, max_error_m=101.0)
    assert loaded.origin.latitude_deg == pytest.approx(latitude, abs=1e-12)
    assert loaded.origin.longitude_deg == pytest.approx(longitude, abs=1e-12)
    assert loaded.origin.altitude_m == pytest.approx(altitude, abs=1e-6)
    assert (latitude, longitude) == pytest.approx((40.0425, -75.6121), abs=1e-4)
    low, high = bounds(loaded)
    half = 100.0 * np.array([7.0955, 3.1405, 5.0375])  # its box, times the transform's scale
    assert (low >= -half - OVERHANG).all() and (high <= half + OVERHANG).all()
    assert ((high - low) > 1.95 * half).all()
    lower = GeodeticPoint(latitude_deg=latitude, longitude_deg=longitude, altitude_m=altitude - 7.0)
    moved = load(DRAGON, max_error_m=101.0, origin=lower)
    for ours, theirs in zip(moved.meshes, loaded.meshes, strict=True):
        np.testing.assert_allclose(
            ours.vertices_map, theirs.vertices_map + np.array([0.0, 0.0, 7.0]), atol=1e-6
        )
