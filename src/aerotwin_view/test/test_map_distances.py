# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The distances of a map on the page are those of `aerotwin evaluate map`."""

import json

import numpy as np
import pytest

from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_map_evaluation.inputs import points_of
from aerotwin_map_evaluation.statistics import describe_all
from aerotwin_registration.clouds import write_cloud
from aerotwin_view.recorded.map_distances import map_distances
from aerotwin_voxel_cloud import load_map

SAMPLE_ERROR = 1e-6
RAISED_M = 0.3


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write a mesh of two walls on a floor, a cloud of the floor that is raised, and its truth."""
    folder = tmp_path_factory.mktemp("maps")
    (folder / "mesh.obj").write_text(
        "v 0 0 0\nv 20 0 0\nv 20 20 0\nv 0 20 0\nv 0 0 5\nv 20 0 5\nv 0 20 5\n"
        "f 1 2 3\nf 1 3 4\nf 1 2 6\nf 1 6 5\nf 1 4 7\nf 1 7 5\n"
    )
    rng = np.random.default_rng(0)
    floor = np.column_stack([rng.uniform(8.0, 18.0, (800, 2)), np.zeros(800)])
    write_cloud(folder / "truth.ply", floor)
    write_cloud(folder / "raised.ply", floor + np.array([0.0, 0.0, RAISED_M]))
    corner = points_of(load_map(folder / "mesh.obj"), 0.25).points
    write_cloud(folder / "corner.ply", corner)
    write_cloud(folder / "moved.ply", corner[::3] + np.array([0.1, -0.2, RAISED_M]))
    return folder


def test_the_distance_to_a_surface_is_what_the_map_is_raised_by(files):
    reference, estimate = load_map(files / "mesh.obj"), load_map(files / "raised.ply")
    found = map_distances(reference, estimate)
    assert found.distances_m == pytest.approx(np.full(800, RAISED_M), abs=SAMPLE_ERROR)
    assert found.text() == "median 0.300 m, mean 0.300 m, 95 % 0.300 m, max 0.300 m"
    assert found.alignment.startswith("none; ")
    np.testing.assert_array_equal(found.points_map, estimate.points)


@pytest.mark.parametrize("reference", ["mesh.obj", "corner.ply"])
@pytest.mark.parametrize("align", ["none", "icp"])
def test_they_are_those_of_the_map_evaluation(files, tmp_path, reference, align):
    specs = [str(files / reference), str(files / "moved.ply")]
    out = tmp_path / "numbers.json"
    assert main(["evaluate", "map", *specs, "--align", align, "--json", str(out)]) == 0
    expected = json.loads(out.read_text())["both_ways"]["accuracy"]
    found = map_distances(*map(load_map, specs), align)
    described = describe_all(found.distances_m, ())
    for name in ("median_m", "mean_m", "max_m", "n"):
        assert described[name] == pytest.approx(expected[name], abs=SAMPLE_ERROR), name
    assert found.alignment.startswith(align)


def test_an_alignment_that_fails_is_an_error(files, tmp_path):
    write_cloud(tmp_path / "far.ply", load_map(files / "truth.ply").points + 500.0)
    with pytest.raises(UserError, match="--align icp: not aligned: "):
        map_distances(load_map(files / "mesh.obj"), load_map(tmp_path / "far.ply"), "icp")
