# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The command `aerotwin world tiles`: what it prints, what it writes, what it refuses."""

import argparse
import dataclasses
import json

import numpy as np
import pytest
import yaml

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.parameters import ParameterError
from aerotwin_meshes.gltf import write_glb
from aerotwin_tiles import TilesDescription, load_tiles, tiles_command
from aerotwin_tiles.fetch.folder import FolderSource
from aerotwin_tiles.volumes import T_ecef_enu
from aerotwin_tiles.workers import Workers
from aerotwin_worlds import load_world

PLACE = GeodeticPoint(latitude_deg=-33.9, longitude_deg=151.2, altitude_m=40.0)
ORIGIN = ("--origin-deg", "47", "8", "500")


def run(*arguments):
    parser = argparse.ArgumentParser()
    tiles_command.configure(parser)
    return tiles_command.run(parser.parse_args([str(argument) for argument in arguments]))


@pytest.fixture
def terrain(site):
    """Four tiles below one, the last of them missing."""
    children = [site.tile(f"{i}.glb", 10.0 * i, 0, 10.0, has_file=i < 3) for i in range(4)]
    site.content("0.glb", 0, 0, 10.0, copyright_text="A. Surveyor")
    site.write(
        site.tile("root.glb", 0, 0, 40.0, error=3.0, children=children),
        asset={"copyright": "The city"},
    )
    return site.folder


def test_it_shows_levels_and_what_a_choice_would_load(terrain, tmp_path, capsys):
    out = tmp_path / "record.json"
    assert run(terrain, "--max-error-m", 0, "--json", out) == 0
    printed = capsys.readouterr().out
    assert "local" in printed and "3.glb: cannot be read" in printed
    assert "root.glb (error 3 m) stands in" in printed
    record = json.loads(out.read_text())
    levels = [(row["n_tiles"], row["largest_error_m"]) for row in record["tileset"]["levels"]]
    assert levels == [(1, 3.0), (4, 0.0)]
    assert record["tileset"]["attributions"] == ["The city"]
    selection = record["selection"]
    assert (selection["n_tiles"], selection["n_triangles"]) == (1, 2)
    assert selection["low_m"] == [0, 0, 0] and selection["high_m"] == [40, 40, 0]


def test_a_region_without_the_missing_tile_loads_fine_tiles(terrain, capsys):
    region = ("--region-center-m", 10, 5, 0, "--region-size-m", 18, 8, 0)
    assert run(terrain, *region, "--max-error-m", 0, "--json", "-") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["selection"]["n_tiles"] == 2
    assert record["selection"]["attributions"] == ["A. Surveyor", "The city"]
    assert record["selection"]["missing"] == []


def test_without_reading_it_looks_at_documents_only(terrain, capsys):
    assert run(terrain, "--no-read", "--json", "-") == 0
    assert set(json.loads(capsys.readouterr().out)) == {"tileset"}


def test_too_many_tiles_are_reported_and_what_was_seen_is_shown(terrain, capsys):
    assert run(terrain, "--no-read", "--max-tiles", 3, "--json", "-") == 0
    record = json.loads(capsys.readouterr().out)["tileset"]
    assert not record["is_complete"]
    assert "more than 3 tiles" in record["problems"][0]


def test_the_world_it_writes_can_be_loaded(terrain, tmp_path, capsys):
    out = tmp_path / "world"
    region = ("--region-center-m", 5, 5, 0, "--region-size-m", 4, 4, 0, "--crop")
    credit = ("--attribution", "Me", "--licence", "CC0-1.0", "--name", "site")
    assert run(terrain, *region, *credit, *ORIGIN, "--max-error-m", 0.5, "-o", out) == 0
    text = yaml.safe_load((out / "world.yaml").read_text())
    assert text["tiles"]["tileset"] == ".." and "key_env" not in text["tiles"]
    world = load_world(out)
    assert (world.name, world.licence) == ("site", "CC0-1.0")
    assert "Me" in world.attribution and "A. Surveyor" in world.attribution
    assert world.origin == GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0, altitude_m=500.0)
    np.testing.assert_allclose(world.bounds_m, [[3, 3, 0], [7, 7, 0]], atol=1e-6)


def test_the_world_it_writes_follows_what_it_followed(terrain, tmp_path):
    out = tmp_path / "world"
    assert run(terrain, *ORIGIN, "--allow-private-hosts", "-o", out) == 0
    tiles = yaml.safe_load((out / "world.yaml").read_text())["tiles"]
    assert tiles["http"] == {"allow_private_hosts": True}
    assert load_world(out).n_triangles > 0


def test_what_files_say_reaches_the_terminal_escaped_and_cut(site, capsys):
    tiles = [site.tile(f"\x1b[2J{i}.glb", has_file=False) for i in range(50)]
    root = site.tile("a.glb", error=3.0, children=tiles, refine="ADD")
    site.write(root, asset={"copyright": "\x1b]0;title\x07"})
    assert run(site.folder, "--max-error-m", 0) == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed and "\\x1b]0; title\\x07" in printed
    assert printed.count("2J") == 20 and "and 30 more, all with --json" in printed


def test_a_streaming_world_can_be_loaded(terrain, tmp_path):
    out = tmp_path / "world"
    assert run(terrain, *ORIGIN, "--stream", "--memory-limit-mb", 50, "-o", out) == 0
    world = load_world(out)
    assert world.stream is not None
    world.stream.update(np.array([1e5, 0.0, 0.0]))
    assert [mesh.name.partition(".")[0] for mesh in world.stream.meshes] == ["root"]
    world.stream.close()


def test_a_tileset_on_earth_brings_its_origin(site, tmp_path):
    transform = T_ecef_enu(PLACE).T.ravel().tolist()
    site.write(site.tile("a.glb", -1, -1, 2.0, transform=transform))
    assert run(site.folder, "-o", tmp_path / "world") == 0
    world = load_world(tmp_path / "world")
    assert world.origin.latitude_deg == pytest.approx(PLACE.latitude_deg, abs=1e-9)
    assert world.origin.longitude_deg == pytest.approx(PLACE.longitude_deg, abs=1e-9)
    np.testing.assert_allclose(world.bounds_m, [[-1, -1, 0], [1, 1, 0]], atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--region-center-m", 0, 0, 0], "either center_m and size_m"),
        (["--region-deg", 8, 47, 8, 47], "south_deg must be below north_deg"),
        (["--region-deg", 8, 47, 8.1, 47.1], "needs a tileset on Earth"),
        (["--max-error-m", -1], "at least 0"),
        (["--origin-deg", 91, 0, 0], "--origin-deg: latitude_deg"),
        (["-o", "world"], "give --origin-deg"),
        (["--key-env", "AEROTWIN_NO_SUCH_KEY"], "AEROTWIN_NO_SUCH_KEY must hold the key"),
    ],
)
def test_what_cannot_be_is_refused(terrain, arguments, message):
    with pytest.raises((UserError, ParameterError), match=message):
        run(terrain, *arguments)


def test_nothing_to_show_is_not_success(site):
    site.write(site.tile(""))
    assert run(site.folder) == 1


def test_a_world_of_an_empty_region_is_not_written(terrain, tmp_path):
    region = ("--region-center-m", 900, 900, 0, "--region-size-m", 5, 5, 0)
    with pytest.raises(UserError, match=r"no mesh lies in the region; .* move the region"):
        run(terrain, *ORIGIN, *region, "-o", tmp_path / "world")
    assert not (tmp_path / "world").exists()


def test_a_world_above_its_memory_limit_is_not_written(site, square, tmp_path):
    texture = np.full((1024, 1024, 3), 100, np.uint8)  # 3 MB
    site.write(site.tile("a.glb", 0, 0, 10.0))
    write_glb(site.folder / "a.glb", [dataclasses.replace(square(0, 0, 10.0), texture=texture)])
    limited = (site.folder, *ORIGIN, "--memory-limit-mb", 1, "-o", tmp_path / "world")
    with pytest.raises(UserError, match=r"raise the limit, choose a smaller region .* --stream"):
        run(*limited)
    assert not (tmp_path / "world").exists()
    with pytest.raises(UserError, match="takes more than memory_limit_mb = 1;"):
        load_tiles(TilesDescription(tileset="tileset.json", memory_limit_mb=1), site.folder, None)


def test_an_error_closes_the_source_before_it_waits_for_the_threads(terrain, monkeypatch):
    order = []
    close_source, close_workers = FolderSource.close, Workers.close
    monkeypatch.setattr(
        FolderSource, "close", lambda self: (order.append("source"), close_source(self))
    )
    monkeypatch.setattr(
        Workers, "close", lambda self: (order.append("threads"), close_workers(self))
    )
    with pytest.raises(UserError):
        run(terrain, "-o", terrain / "world")
    with pytest.raises(UserError):
        load_tiles(TilesDescription(tileset="tileset.json", memory_limit_mb=1e-4), terrain, None)
    assert order == ["source", "threads"] * 2
