# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""World files: exactly one source of shapes, origin, start, light, and what is told of them."""

import argparse
import json

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.parameters import load_parameters
from aerotwin_meshes.gltf import write_glb
from aerotwin_worlds import info_command, load_world, world_record
from aerotwin_worlds.description import SOURCES, WorldDescription

FLOAT32 = 1e-6
TEXTS = "name: w\nattribution: Ann and Bob\nlicence: CC-BY 4.0\n"
ORIGIN = "origin: {latitude_deg: 47.0, longitude_deg: 8.0, altitude_m: 400.0}\n"
# A level square of 10 m, a roof 3 m above its middle, and two steep walls, one in the middle.
PLACE = """
v -5 -5 1
v 5 -5 1
v 5 5 1
v -5 5 1
v -1 -1 4
v 1 -1 4
v 0 1 4
v 5 5 9
f 1 2 3 4
f 5 6 7
f 3 8 4
v -1 0.1 5
v 1 0.1 5
v 0 -0.2 8
f -3 -2 -1
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "place.obj").write_text(PLACE)
    return tmp_path


def write(folder, text):
    (folder / "world.yaml").write_text(TEXTS + text)
    return folder


def test_a_mesh_file_makes_a_world(folder):
    world = load_world(write(folder, f"mesh: place.obj\n{ORIGIN}start: {{x_m: 0, y_m: -0.5}}\n"))
    assert world.source == "mesh"
    assert world.n_triangles == 5
    np.testing.assert_allclose(world.start_p_map, [0.0, -0.5, 4.0])  # on the roof
    assert world.missing == () and world.stream is None
    assert (world.attribution, world.licence) == ("Ann and Bob", "CC-BY 4.0")


def test_colours_that_no_file_states_are_named_as_assumed(folder, capsys):
    write(folder, f"mesh: place.obj\n{ORIGIN}")
    info_command.run(argparse.Namespace(world=str(folder), json=None))
    note = "colours assumed, not measured: 1 of 1 meshes have none and are RGB 160 160 160: place"
    assert note in capsys.readouterr().out
    (folder / "place.mtl").write_text("newmtl stone\nKd 0.2 0.4 0.6\n")
    (folder / "stone.obj").write_text(f"mtllib place.mtl\nusemtl stone\n{PLACE}")
    assert load_world(write(folder, f"mesh: stone.obj\n{ORIGIN}")).notes == ()


def test_without_a_start_one_stands_on_level_ground_near_the_middle(folder):
    world = load_world(write(folder, f"mesh: place.obj\n{ORIGIN}"))
    np.testing.assert_allclose(world.start_p_map, [0.0, -1 / 3, 4.0])  # the roof's middle
    assert world.start_yaw == 0.0


def test_light_falls_on_what_a_file_holds(folder):
    light = "light: {sun_elevation_deg: 30, ambient: 0.2}\n"
    world = load_world(write(folder, f"mesh: place.obj\n{ORIGIN}{light}"))
    (mesh,) = world.meshes
    roof = mesh.vertices_map[:, 2] == 4.0
    np.testing.assert_allclose(mesh.light[roof], 0.2 + 0.8 * 0.5, atol=FLOAT32)
    assert world_record(world)["is_lit"]
    assert load_world(write(folder, f"mesh: place.obj\n{ORIGIN}")).meshes[0].light is None


def test_what_a_file_lacks_is_missing_in_world_record_and_command(folder, capsys):
    (folder / "place.obj").write_text("mtllib gone.mtl\nusemtl wall\n" + PLACE)
    world = load_world(write(folder, f"mesh: place.obj\n{ORIGIN}"))
    assert len(world.missing) == 2
    record = world_record(world)
    assert record["missing"] == list(world.missing)
    assert json.loads(json.dumps(record))["source"] == "mesh"
    parser = __import__("argparse").ArgumentParser()
    info_command.configure(parser)
    assert info_command.run(parser.parse_args([str(folder)])) == 0
    shown = capsys.readouterr().out
    for text in ("gone.mtl", "'wall'", "Ann and Bob", "CC-BY 4.0", "47.0"):
        assert text in shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "exactly one of .*height_map.*got none"),
        ("mesh: place.obj\ngenerator: cliff\n", r"got \['generator', 'mesh'\]"),
        ("mesh: place.obj\ntiles: {tileset: t.json}\n", r"got \['mesh', 'tiles'\]"),
        ("mesh: place.obj\nparameters: {seed: 1}\n", "'parameters' belongs to 'generator'"),
        ("generator: cliff\nplacement: {scale: 2}\n", "'placement' belongs to 'mesh'"),
        ("mesh: place.obj\nplacement: {scale: 0}\n", r"placement\.scale: expected at least"),
        ("mesh: place.obj\nplacement: {up_axis: w}\n", "up_axis: expected one of auto, x, y, z"),
        ("mesh: place.obj\nlight: {sun_elevation_deg: 91}\n", "sun_elevation_deg: .*at most 90"),
        ("mesh: place.obj\nlight: {sun: 9}\n", r"unknown key 'light\.sun'"),
        ("mesh: place.stl\n", "place.stl' does not exist"),
        ("mesh: world.yaml\n", r"mesh must end in one of \.obj, \.ply.*got 'world.yaml'"),
        ("mesh: ../place.obj\n", "must lie in"),
        ("mesh: place.obj\n", "'origin' is missing.*add origin"),
        ("tiles: {tilesett: x}\n", "tiles: unknown key 'tilesett'; did you mean 'tileset'"),
        ("tiles: {tileset: gone/tileset.json}\n", "gone"),
        ("generator: moon\n", "generator must be one of .*cliff.*got 'moon'"),
        ("height_map: {}\n", r"'height_map\.file' is missing"),
        ("photogrammetry: {}\n", "must have either 'orthophoto' or 'cloud'"),
        ("mesh: place.obj\norigin: {latitude_deg: 91, longitude_deg: 0, altitude_m: 0}\n",
         "latitude_deg: expected at most 90 deg, found 91"),
        ("mesh: place.obj\norigin: {latitude_deg: 0, longitude_deg: 181, altitude_m: 0}\n",
         "longitude_deg: expected at most 180"),
        ("mesh: place.obj\norigin: {latitude_deg: 0, longitude_deg: .nan, altitude_m: 0}\n",
         "expected a finite number"),
        ("mesh: place.obj\norigin: {latitude_deg: 0, longitude_deg: 0, altitude_m: 1e9}\n",
         "altitude_m"),
        (f"mesh: place.obj\n{ORIGIN}start: {{x_m: 50, y_m: 0}}\n", "choose another start"),
    ],
)  # fmt: skip
def test_a_wrong_world_file_names_itself_the_key_and_the_way_out(folder, text, message):
    with pytest.raises(UserError, match=rf"world\.yaml.*{message}|{message}"):
        load_world(write(folder, text))


@pytest.mark.parametrize("key", ["name", "attribution", "licence"])
@pytest.mark.parametrize("value", ["", "'  '", None])
def test_whom_to_credit_must_be_said(folder, key, value):
    lines = [line for line in TEXTS.splitlines() if not line.startswith(key)]
    if value is not None:
        lines.append(f"{key}: {value or repr('')}")
    (folder / "world.yaml").write_text("\n".join(lines) + f"\nmesh: place.obj\n{ORIGIN}")
    with pytest.raises(UserError, match=rf"world\.yaml: '{key}' (is missing|must not be empty)"):
        load_world(folder)


def test_only_generated_worlds_have_seeds(folder):
    write(folder, f"mesh: place.obj\n{ORIGIN}")
    with pytest.raises(UserError, match="'mesh' has no seed"):
        load_world(folder, seed=3)


def test_a_tileset_makes_a_world_with_its_own_credits(folder, quad):
    square = quad([(-5, 5, 2), (5, 5, 2), (5, -5, 2), (-5, -5, 2)])
    (folder / "tiles").mkdir()
    write_glb(folder / "tiles" / "a.glb", (square,), copyright_text="Tile Maker")
    tileset = {
        "asset": {"version": "1.1"},
        "geometricError": 10.0,
        "root": {
            "boundingVolume": {"box": [0, 0, 2, 6, 0, 0, 0, 6, 0, 0, 0, 1]},
            "geometricError": 1.0,
            "refine": "ADD",
            "content": {"uri": "a.glb"},
            "children": [
                {
                    "boundingVolume": {"box": [0, 0, 2, 6, 0, 0, 0, 6, 0, 0, 0, 1]},
                    "geometricError": 0.0,
                    "content": {"uri": "gone.glb"},
                }
            ],
        },
    }
    (folder / "tiles" / "tileset.json").write_text(json.dumps(tileset))
    text = f"tiles: {{tileset: tiles/tileset.json, max_error_m: 0.1}}\n{ORIGIN}"
    world = load_world(write(folder, f"{text}light: {{ambient: 0.5}}\n"))
    assert world.source == "tiles"
    assert world.attribution == "Ann and Bob; Tile Maker"
    assert len(world.missing) == 1 and "gone.glb" in world.missing[0]
    assert world.start_p_map[2] == pytest.approx(2.0)
    assert world.meshes[0].light is not None
    with pytest.raises(UserError, match="light cannot be given for streamed tiles"):
        load_world(write(folder, text.replace("}\no", ", stream: true}\no") + "light: {}\n"))


def test_every_source_has_a_key():
    keys = WorldDescription.__dataclass_fields__
    assert set(SOURCES) <= set(keys)
    description = load_parameters(
        WorldDescription,
        {"name": "n", "attribution": "a", "licence": "l", "mesh": "m.obj"},
        where="w",
    )
    assert description.source == "mesh"
