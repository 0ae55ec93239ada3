# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Generated worlds are built once; what is in the cache is what would be built."""

import os
from dataclasses import dataclass, fields, replace

import numpy as np
import pytest

from aerotwin_meshes.mesh import TexturedMesh
from aerotwin_worlds import load_world
from aerotwin_worlds.built_meshes import built_meshes, cache_folder

COARSE = {"spacing_m": 1.0, "texel_m": 0.5, "scan_width_m": 0.0}


@dataclass(frozen=True)
class Seeded:
    """Parameters of a world of one triangle."""

    seed: int


class CountedBuild:
    """A builder that counts how often it builds."""

    n = 0

    def __call__(self, parameters: Seeded) -> tuple[TexturedMesh, ...]:
        self.n += 1
        return (triangle(parameters),)


def triangle(parameters: Seeded) -> TexturedMesh:
    rng = np.random.default_rng(parameters.seed)
    return TexturedMesh(
        vertices_map=rng.normal(size=(3, 3)), triangles=np.array([[0, 1, 2]], np.int32),
        uv=rng.random((3, 2), np.float32), texture=rng.integers(0, 255, (40, 30, 3), np.uint8),
    )  # fmt: skip


@pytest.fixture
def build(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return CountedBuild()


def assert_same(found, expected):
    assert len(found) == len(expected)
    for mesh, other in zip(found, expected, strict=True):
        for field in fields(other):
            value, true = getattr(mesh, field.name), getattr(other, field.name)
            assert type(value) is type(true), field.name
            if isinstance(true, np.ndarray):
                assert value.dtype == true.dtype
            np.testing.assert_array_equal(value, true)


def test_the_second_call_reads_what_the_first_one_built(build):
    for _ in range(3):
        assert_same(built_meshes("x", Seeded(1), build), (triangle(Seeded(1)),))
    assert build.n == 1


def test_every_field_of_a_mesh_is_kept(build):
    plain = triangle(Seeded(1))
    shades = np.linspace(0.0, 2.0, 3, dtype=np.float32)
    full = replace(plain, light=shades, repeats=True, is_colour_assumed=True, name="a/wall ä")
    for _ in range(2):
        assert_same(built_meshes("x", Seeded(1), lambda _: (plain, full)), (plain, full))


def test_other_parameters_and_other_generators_are_built(build):
    for name, seed in (("x", 1), ("x", 2), ("y", 1)):
        assert_same(built_meshes(name, Seeded(seed), build), (triangle(Seeded(seed)),))
    assert build.n == 3


@pytest.mark.parametrize("damage", [b"", b"not a zip file", None])
def test_a_damaged_file_is_built_again(build, damage):
    built_meshes("x", Seeded(1), build)
    (file,) = cache_folder().iterdir()
    data = bytearray(file.read_bytes())
    data[data.index(triangle(Seeded(1)).texture.tobytes())] ^= 0xFF
    file.write_bytes(data if damage is None else damage)
    assert_same(built_meshes("x", Seeded(1), build), (triangle(Seeded(1)),))
    assert build.n == 2
    built_meshes("x", Seeded(1), build)
    assert build.n == 2, "the damaged file was replaced"


def test_where_nothing_can_be_written_worlds_are_built(build, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    for n in (1, 2):
        built_meshes("x", Seeded(1), build)
        assert build.n == n


def test_what_was_not_used_for_longest_is_removed_first(build, monkeypatch):
    built_meshes("x", Seeded(1), build)
    (first,) = cache_folder().iterdir()
    os.utime(first, (1, 1))
    built_meshes("x", Seeded(2), build)
    (second,) = {*cache_folder().iterdir()} - {first}
    os.utime(second, (2, 2))
    built_meshes("x", Seeded(1), build)  # read: the other one is the longest unused now
    monkeypatch.setattr("aerotwin_worlds.built_meshes.LARGEST_BYTES", 2.5 * first.stat().st_size)
    built_meshes("x", Seeded(3), build)
    assert first.exists() and not second.exists()
    assert len([*cache_folder().iterdir()]) == 2


def test_a_world_is_the_same_from_the_cache(build):
    first, again = (load_world("cliff", parameters=COARSE) for _ in range(2))
    assert len([*cache_folder().iterdir()]) == 1
    assert_same(again.meshes, first.meshes)
