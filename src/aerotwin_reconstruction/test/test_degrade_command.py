# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import argparse
import json

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_meshes.gltf.writer import write_glb
from aerotwin_meshes.mesh import TexturedMesh, grid_triangles
from aerotwin_meshes.mesh_files import read_mesh_file
from aerotwin_reconstruction import degrade_command
from aerotwin_registration import read_cloud, write_cloud

SINGLE_M = 2e-6  # GLB keeps single precision of tens of metres


def run(*arguments):
    parser = argparse.ArgumentParser()
    degrade_command.configure(parser)
    return degrade_command.run(parser.parse_args([str(token) for token in arguments]))


@pytest.fixture
def mesh(tmp_path):
    line = np.linspace(0.0, 20.0, 41)
    x, y = np.meshgrid(line, line)
    flat = TexturedMesh(
        vertices_map=np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)]),
        triangles=grid_triangles(41, 41),
        uv=np.stack([x, y], axis=-1).reshape(-1, 2).astype(np.float32) / 20.0,
        texture=np.full((2, 2, 3), 90, np.uint8),
        name="ground",
    )
    write_glb(tmp_path / "true.glb", [flat])
    return tmp_path / "true.glb"


def test_a_cloud_is_degraded_and_the_record_says_how(tmp_path):
    points = np.random.default_rng(0).uniform(0.0, 30.0, (20_000, 3)) * [1.0, 1.0, 0.0]
    write_cloud(tmp_path / "true.npz", points, np.arange(20_000.0))
    out, record = tmp_path / "bent.npz", tmp_path / "record.json"
    assert run(tmp_path / "true.npz", "--seed", 1000, "-o", out, "--json", record) == 0
    bent, said = read_cloud(out), json.loads(record.read_text())
    assert len(bent) == said["counts"]["given"] - said["counts"]["in_holes"]
    assert said["parameters"]["displacement_rms_m"] == 0.3
    assert said["displacement_rms_m"] > said["displacement_rms_without_mean_m"] > 0.0
    moved = bent.points - points[bent.intensity.astype(int)]
    assert np.sqrt((moved**2).sum(axis=1).mean()) == pytest.approx(
        np.hypot(said["displacement_rms_m"], 0.05 * np.sqrt(3.0)), rel=0.05
    )


def test_a_mesh_becomes_a_bent_mesh_or_a_bent_cloud_of_the_same_shape(tmp_path, mesh, capsys):
    file = tmp_path / "bend.yaml"
    file.write_text("{displacement_rms_m: 0.5, correlation_m: 30.0}\n")
    arguments = ("--preset", file, "--seed", 4)
    assert run(mesh, *arguments, "-o", tmp_path / "bent.glb") == 0
    assert run(mesh, *arguments, "--spacing-m", 0.5, "-o", tmp_path / "bent.npz") == 0
    assert "bent by" in capsys.readouterr().out
    vertices = read_mesh_file(tmp_path / "bent.glb").meshes[0].vertices_map
    points = read_cloud(tmp_path / "bent.npz").points
    from scipy.interpolate import griddata

    height = griddata(vertices[:, :2], vertices[:, 2], points[:, :2])
    inside = np.isfinite(height)
    assert inside.mean() > 0.95
    chord = 2e-4  # 0.7 m squared by eight times four sigma of the second derivative
    np.testing.assert_allclose(points[inside, 2], height[inside], atol=chord + SINGLE_M)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("true.npz", "-o", "x.glb"), "makes no mesh"),
        (("true.npz", "--preset", "season", "-o", "x.npz"), "cars"),
        (("true.npz", "--preset", "nothing", "-o", "x.npz"), "presets are"),
        (("true.npz", "--seed", "-1", "-o", "x.npz"), "--seed"),
        (("nowhere", "--spacing-m", "0", "-o", "x.npz"), "--spacing-m"),
        (("nowhere", "-o", "x.npz"), "no known name"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    write_cloud("true.npz", np.zeros((5, 3)))
    with pytest.raises(UserError, match=message):
        run(*arguments)
    assert not list(tmp_path.glob("x.*"))
