# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Maps of a study's runs."""

import numpy as np
import pytest

from aerotwin_comparison.study.runs import StudyRun
from aerotwin_comparison.study.scores import map_scores
from aerotwin_core.protocol import Protocol
from aerotwin_map_evaluation import MapProtocol
from aerotwin_registration import write_cloud


def test_a_mesh_is_judged_by_its_surface_not_by_its_vertices(tmp_path):
    """A square of two triangles 0.1 m above the model; one small patch of 900 vertices is 0.6 m."""
    side = np.linspace(0.0, 10.0, 101)
    plane = np.stack([*np.meshgrid(side, side), np.zeros((101, 101))], axis=-1).reshape(-1, 3)
    write_cloud(tmp_path / "model.ply", plane)
    corners = np.array([[0.0, 0, 0.1], [10, 0, 0.1], [10, 10, 0.1], [0, 10, 0.1]])
    fine = np.linspace(5.0, 5.3, 30)
    patch = np.stack([*np.meshgrid(fine, fine), np.full((30, 30), 0.6)], axis=-1).reshape(-1, 3)
    index = np.arange(900).reshape(30, 30) + 5
    lower = np.stack([index[:-1, :-1], index[:-1, 1:], index[1:, 1:]], axis=-1).reshape(-1, 3)
    lines = [f"v {x} {y} {z}" for x, y, z in (*corners, *patch)]
    lines += [f"f {a} {b} {c}" for a, b, c in ([1, 2, 3], [1, 3, 4], *lower)]
    (tmp_path / "map.obj").write_text("\n".join(lines))
    run = StudyRun(
        method="m", sequence="s", map=str(tmp_path / "map.obj"), model=str(tmp_path / "model.ply")
    )
    choices = MapProtocol(align="none", voxel_m=0.1, floor_spacing_m=0.1)
    found = map_scores(run, Protocol(name="p", part="map", choices=choices))
    assert found["map_share_percent"] == 100.0
    # Voxel centres of the model lie within half an edge of it.
    assert found["map_mean_m"] == pytest.approx(0.1, abs=0.06)
    assert "map_floor_m" not in found  # a cloud has no surface to sample


def test_the_floor_of_a_perfect_map_stands_beside_its_score(tmp_path):
    """A square in voxels: the surface itself scores the mean distance to the voxel centres."""
    corners = "v 0 0 0\nv 10 0 0\nv 10 10 0\nv 0 10 0\nf 1 2 3\nf 1 3 4\n"
    (tmp_path / "model.obj").write_text(corners)
    run = StudyRun(
        method="m", sequence="s", map=str(tmp_path / "model.obj"),
        model=str(tmp_path / "model.obj"),
    )  # fmt: skip
    choices = MapProtocol(align="none", voxel_m=0.5, floor_spacing_m=0.1)
    found = map_scores(run, Protocol(name="p", part="map", choices=choices))
    assert 0.1 < found["map_floor_m"] < 0.5
    assert found["map_floor_m"] == pytest.approx(found["map_mean_m"], rel=0.05)
