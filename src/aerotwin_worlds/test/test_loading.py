# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Loading worlds: found by name and path, refused with a line that helps."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_tiles.fetch import open_source
from aerotwin_tiles.tree import TileTree
from aerotwin_worlds import load_world, loading, world_record

WORLDS = Path(__file__).resolve().parents[3] / "worlds"
COARSE_CLIFF = """
name: small
generator: cliff
parameters: {seed: 4, spacing_m: 1.0, texel_m: 0.4}
origin: {latitude_deg: 47.0, longitude_deg: 8.0, altitude_m: 400.0}
start: {x_m: -25.0, y_m: -10.0, yaw_deg: 90.0}
attribution: nobody
licence: none
"""


@pytest.fixture
def small(tmp_path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(COARSE_CLIFF)
    return path


def test_every_world_file_of_the_project_reads_strictly():
    files = sorted(WORLDS.glob("*.yaml"))
    assert files
    for file in files:
        assert loading.read_description(file).licence


def test_a_generated_world_stands_on_its_start(small):
    world = load_world(small)
    assert world.name == "small"
    assert world.start_yaw == pytest.approx(np.pi / 2)
    assert 0.3 < world.start_p_map[2] < 1.2
    assert world.origin.latitude_deg == 47.0
    record = world_record(world)
    assert record["n_triangles"] == sum(len(mesh.triangles) for mesh in world.meshes)
    assert record["licence"] == "none"


def test_seed_comes_from_argument_spec_or_file(small):
    plain, asked, spec = (
        load_world(small),
        load_world(small, seed=9),
        load_world(f"{small}@9"),
    )
    assert asked.meshes[0].texture.tobytes() == spec.meshes[0].texture.tobytes()
    assert asked.meshes[0].texture.tobytes() != plain.meshes[0].texture.tobytes()


def test_parameters_of_the_call_take_the_place_of_those_of_the_file(small):
    seeded, asked = load_world(small, parameters={"seed": 9}), load_world(small, seed=9)
    assert seeded.meshes[0].texture.tobytes() == asked.meshes[0].texture.tobytes()
    finer = load_world(small, parameters={"spacing_m": 0.9})
    assert finer.n_triangles > seeded.n_triangles
    with pytest.raises(UserError, match="spacing_m: expected"):
        load_world(small, parameters={"spacing_m": -1.0})
    with pytest.raises(UserError, match="no_such_choice"):
        load_world(small, parameters={"no_such_choice": 1})


def test_names_are_looked_up_in_the_worlds_folder(small, monkeypatch):
    monkeypatch.setenv("AEROTWIN_WORLDS", str(small.parent))
    assert loading.find_world("small") == small
    assert loading.find_world("cliff").name == "cliff.yaml"
    assert "small" in loading.known_worlds()


@pytest.mark.parametrize("file", ["cliff.yaml", "cliff", "cliff/world.yaml", "worlds/cliff.yaml"])
def test_a_file_of_the_working_folder_does_not_take_the_place_of_a_world_that_ships(
    small, tmp_path, monkeypatch, caplog, file
):
    shipped = loading.find_world("cliff")
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / file
    mine.parent.mkdir(exist_ok=True)
    small.rename(mine)
    loading._log_once.cache_clear()
    for _ in range(2):
        assert loading.find_world("cliff").samefile(shipped)
    assert [r.message for r in caplog.records] == [
        f"world 'cliff' is {shipped}; name ./{file} by its path"
    ]
    for path in (f"./{file}", mine, f"./{file}".removesuffix(".yaml").removesuffix("/world")):
        assert loading.find_world(str(path)).samefile(mine)
    monkeypatch.setenv("AEROTWIN_WORLDS", str(mine.parent))
    if mine.name == "cliff.yaml":
        assert loading.find_world("cliff") == mine


def test_a_world_of_the_working_folder_is_found_by_its_name(small, tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(small.parent)
    assert loading.find_world("small").samefile(small)
    (tmp_path / "worlds").mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path)
    mine = small.rename(tmp_path / "worlds" / "mine.yaml")
    assert loading.find_world("mine").samefile(mine)
    assert not caplog.records


def test_a_folder_with_world_yaml_is_a_world(small):
    (small.parent / "place").mkdir()
    file = small.rename(small.parent / "place" / "world.yaml")
    assert loading.find_world(str(file.parent)) == file


@pytest.mark.parametrize("spec", ["clif", "no/such/world.yaml", "/nowhere", "", "."])
def test_a_wrong_path_names_where_it_looked_and_what_exists(spec):
    with pytest.raises(UserError, match=r"looked in .*known are: .*cliff") as caught:
        load_world(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("file", "spec", "message"),
    [
        ("tileset.json", ".", r"tileset; .*: aerotwin world tiles \S+/tileset.json -o FOLDER"),
        ("tileset.json", "tileset.json", r"tileset; .*: aerotwin world tiles \S+ -o FOLDER"),
        *((f"a{kind}", f"a{kind}", "one tile of .* -o") for kind in (".b3dm", ".CMPT", ".pnts")),
        *((f"a{kind}", f"a{kind}", f"mesh: a{kind}'") for kind in (".glb", ".gltf", ".obj")),
        ("a.i3dm", "a.i3dm", "one tile of"),
        ("a.ply", "a.ply", "a mesh; write a world.yaml beside it"),
    ],
)
def test_shapes_in_place_of_a_world_are_refused_with_the_way_out(tmp_path, file, spec, message):
    (tmp_path / file).write_bytes(b"\x00\xff")
    with pytest.raises(UserError, match=f"expected a world's YAML file, found .*{message}"):
        loading.find_world(str(tmp_path / spec))
    with pytest.raises(UserError, match=message):
        loading.read_description(tmp_path / file)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("licence: none", "license: none", "unknown key 'license'"),
        ("licence: none", "", "'licence' is missing"),
        ("generator: cliff", "generator: clif", "must be one of cliff"),
        ("generator: cliff", "mesh: none.glb", "'parameters' belongs to 'generator'"),
        ("generator: cliff", "", "exactly one of .*generator.*, got none"),
        ("seed: 4", "sed: 4", "unknown key 'sed'"),
        ("latitude_deg: 47.0", "latitude_deg: 147.0", "latitude_deg"),
        ("x_m: -25.0", "x_m: 2500.0", "choose another start"),
    ],
)
def test_a_wrong_file_names_file_and_fault(small, old, new, message):
    small.write_text(COARSE_CLIFF.replace(old, new))
    with pytest.raises(UserError, match=message) as caught:
        load_world(small)
    assert "small.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("mesh", "message"),
    [("../other.glb", "must lie in"), ("gone.glb", "does not exist")],
)
def test_mesh_files_must_exist_inside_the_folder(small, mesh, message):
    text = COARSE_CLIFF.replace("generator: cliff", f"mesh: {mesh}")
    small.write_text("\n".join(line for line in text.splitlines() if "parameters" not in line))
    with pytest.raises(UserError, match=message):
        load_world(small)


def test_meshes_refuse_wrong_arrays(quad):
    mesh = quad([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    for change in (
        {"triangles": mesh.triangles + 2},
        {"vertices_map": mesh.vertices_map * np.nan},
        {"uv": mesh.uv.astype(np.float64)},
        {"texture": mesh.texture[..., :1]},
    ):
        with pytest.raises(ValueError):
            dataclasses.replace(mesh, **change)


@pytest.mark.parametrize("name", ["a.vtk", "a.sdf", "a.3tz", "a.b3dm", "a.stl", "a.foo"])
def test_a_file_of_another_format_is_named_with_a_way_out(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"x ASCII")
    for load in (load_world, lambda path: TileTree(open_source(path))):
        with pytest.raises(UserError, match=rf"{name}: (expected .*; |the JSON of a\.foo)"):
            load(path)


def test_a_seed_in_digits_of_another_script_is_none(small):
    with pytest.raises(UserError, match="@"):
        load_world(f"{small}@\N{ARABIC-INDIC DIGIT THREE}")
