# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Dense maps on disk."""

import json

import pytest

from aerotwin_dense_localization.mapping import DenseMapError, SplatMapBuilder, load_map, save_map
from aerotwin_dense_localization.mapping.folder import MANIFEST, export_ply
from aerotwin_registration.ply import read_ply
from support.painted_wall import Wall, pose


@pytest.fixture(scope="module")
def dense():
    builder = SplatMapBuilder()
    for k in range(4):
        T = pose([0, 0, 0], [0.5 * (k // 2), 0.0, 0.0])
        builder.add(Wall().keyframe(T, stamp_ns=k, sigma_m=0.01, seed=k))
    return builder.finished()


@pytest.fixture
def folder(dense, tmp_path):
    save_map(tmp_path / "map", dense, {"seed": 3})
    return tmp_path / "map"


def test_a_map_comes_back_as_it_was(dense, folder):
    again, about = load_map(folder)
    assert about == {"seed": 3}
    assert again.parameters == dense.parameters
    for name in ("points", "colours", "covariances"):
        assert getattr(again.cloud, name).tobytes() == getattr(dense.cloud, name).tobytes()


def test_writing_twice_gives_the_same_bytes(dense, folder, tmp_path):
    save_map(tmp_path / "again", dense, {"seed": 3})
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        assert (tmp_path / "again" / path.relative_to(folder)).read_bytes() == path.read_bytes()


def test_points_and_colours_go_out_as_ply(dense, tmp_path):
    export_ply(tmp_path / "map.ply", dense)
    content = read_ply(tmp_path / "map.ply")
    assert b"property uchar red" in (tmp_path / "map.ply").read_bytes()[:400]
    assert content is not None


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def cut(path):
    path.write_bytes(path.read_bytes()[:-7])


@pytest.mark.parametrize(
    ("harm", "tokens"),
    [(flip, "SHA-256 is not that"), (cut, "bytes, got"), (lambda p: p.unlink(), "cannot be read")],
)
def test_a_damaged_file_is_named(folder, harm, tokens):
    victim = sorted((folder / "surfaces").iterdir())[0]
    harm(victim)
    with pytest.raises(DenseMapError, match=rf"{victim.name}.*{tokens}"):
        load_map(folder)


def with_manifest(folder, change):
    path = folder / MANIFEST
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("change", "tokens"),
    [
        (lambda c: c.update(version=9), "version must be 1, got 9"),
        (lambda c: c.update(format="route"), "of something else"),
        (lambda c: c.pop("surfaces"), "not as it was written"),
        (lambda c: c.update(surfaces=[]), "must have a surface"),
        (lambda c: c["surfaces"][0].update(n_points=5), "must be 5"),
        (lambda c: c["surfaces"][0].update(T_map_surface=[float("nan")] * 16), "must be finite"),
        (lambda c: c["surfaces"][0]["camera"].update(width=3), "pixels must lie"),
        (lambda c: c["surfaces"][0].update(file="../../etc/passwd"), "passwd: cannot be read"),
        (lambda c: c["parameters"].update(gate="much"), "gate"),
    ],
)
def test_a_manifest_that_is_wrong_is_refused(folder, change, tokens):
    with_manifest(folder, change)
    with pytest.raises(Exception, match=tokens) as caught:
        load_map(folder)
    assert MANIFEST in str(caught.value) or "surfaces" in str(caught.value)


def test_a_folder_without_a_manifest_is_no_map(folder, tmp_path):
    (folder / MANIFEST).unlink()
    with pytest.raises(DenseMapError, match="cannot be read"):
        load_map(folder)
    for text in ("{", "[" * 100_000):
        (folder / MANIFEST).write_text(text)
        with pytest.raises(DenseMapError, match="not JSON"):
            load_map(folder)
