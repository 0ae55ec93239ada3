# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import argparse
import json

import numpy as np
import pytest

from aerotwin_map_evaluation import command
from aerotwin_registration import read_cloud, write_cloud


def parse(*words):
    parser = argparse.ArgumentParser()
    command.configure(parser)
    return parser.parse_args([str(word) for word in words])


@pytest.fixture
def mesh(tmp_path):
    """A rough hill as OBJ: heights in closed form on a 1 m grid."""
    n = 31
    x, y = np.meshgrid(np.arange(n) - 15.0, np.arange(n) - 15.0, indexing="ij")
    z = 2.0 * np.sin(0.4 * x) + 2.0 * np.cos(0.37 * y)
    lines = [f"v {a} {b} {c}" for a, b, c in zip(x.ravel(), y.ravel(), z.ravel())]
    for i in range(n - 1):
        for j in range(n - 1):
            a = i * n + j + 1
            lines += [f"f {a} {a + n} {a + n + 1} {a + 1}"]
    path = tmp_path / "hill.obj"
    path.write_text("\n".join(lines))
    points = np.column_stack([x.ravel(), y.ravel(), z.ravel()])
    return path, np.vstack([points, points[:-1] * 0.5 + points[1:] * 0.5])


def test_the_verb_writes_the_agreed_keys_and_pictures(mesh, tmp_path, capsys):
    path, points = mesh
    write_cloud(tmp_path / "map.ply", points)
    out = tmp_path / "out"
    args = parse(path, tmp_path / "map.ply", "--placed", "--json", "-", "-o", out)
    assert command.run(args) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["alignment"]["converged"] is True
    assert np.array(result["alignment"]["T_reference_estimate"]).shape == (4, 4)
    assert result["correspondences"].keys() >= {"n", "share", "mean_m", "std_m", "rmse_m"}
    assert 0.2 < result["floor"]["mean_m"] < 0.6
    document = json.loads((out / "metrics.json").read_text())
    assert document["sections"]["map"] == result
    assert (out / "report.html").read_text().count("<svg") >= 8
    assert len(read_cloud(out / "map_error.ply")) == len(points)


def test_a_failed_alignment_ends_with_exit_code_1(mesh, tmp_path, capsys):
    path, points = mesh
    write_cloud(tmp_path / "map.ply", points + np.array([300.0, 0.0, 0.0]))
    assert command.run(parse(path, tmp_path / "map.ply")) == 1
    assert "NOT ALIGNED" in capsys.readouterr().out


def test_a_protocol_file_changes_the_choices(mesh, tmp_path, capsys):
    path, points = mesh
    write_cloud(tmp_path / "map.ply", points)
    (tmp_path / "p.yaml").write_text("name: half\nmap: {voxel_m: 0.5, cut_m: 0.5}\n")
    args = parse(path, tmp_path / "map.ply", "--protocol", tmp_path / "p.yaml", "--json", "-")
    command.run(args)
    result = json.loads(capsys.readouterr().out)
    assert result["protocol"]["name"] == "half"
    assert result["protocol"]["choices"]["voxel_m"] == 0.5
    assert result["n_voxels"] > 3000  # 30 m x 30 m of half-metre columns
    assert 0.0 < result["floor"]["mean_m"] < 0.3
