# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Survey, reconstruction, marks, teach, repeat: five verbs with files between, none replaced."""

import json

import pytest

from aerotwin_core.cli import main

pytestmark = pytest.mark.slow

INSTANCE = 98
"""Number of the surveying vehicle."""
CAMPUS = """
name: coarse_campus
generator: campus
parameters: {seed: 7, spacing_m: 0.8, texel_m: 0.06}
origin: {latitude_deg: 47.397742, longitude_deg: 8.545594, altitude_m: 488.0}
start: {x_m: 0.0, y_m: -33.0, yaw_deg: 0.0}
attribution: Made in a test
licence: Apache-2.0
"""
ROUTE = """
name: southern_road
is_closed: false
waypoints_m: [[-10.0, -35.5], [0.8, -35.48], [8.8, -35.71], [13.0, -35.88]]
markers_s_m: [5.0, 11.5, 18.0]
"""
AREA_M = ("-14", "-46", "17", "-25")
LENGTH_M, N_MARKS = 23.0, 3
PIXEL_M = 0.05
"""On the ground, of 800 columns from 30 m."""
VOXEL_M = 0.2
GNSS_M = 0.05
"""RMS of the receiver in the pictures: 2 cm, 2 cm and 4 cm."""
GIMBAL_DEG = 1.0
"""Error of the reported attitude, per axis."""
SEEN = 0.95
"""Share of the true surface in the area that has a point of the cloud within 0.3 m."""
PASSED_M = 0.1
"""From the middle of a mark of 0.6 m; 1 cm was seen, of marks found within 3 cm."""
LOST = 0.1
"""Share of the scans that are not localised; 2 % were seen."""


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """Return the folder of all stages and their results by the name of the verb."""
    folder = tmp_path_factory.mktemp("chain")
    world, route = folder / "campus.yaml", folder / "line.yaml"
    world.write_text(CAMPUS)
    route.write_text(ROUTE)
    results = {}

    def stage(name, *tokens):
        code = main([*name.split(), *map(str, tokens), "--json", str(folder / "result.json")])
        assert code == 0, f"aerotwin {name}: exit code {code}"
        results[name] = json.loads((folder / "result.json").read_text())

    survey, found = folder / "survey", folder / "reconstruction"
    marks, graph = folder / "marks", folder / "graph"
    stage("survey", world, "--area-m", *AREA_M, "--height-m", 30, "--size-px", 800, 600, "--marks",
          route, "--instance", INSTANCE, "-o", survey)  # fmt: skip
    stage("reconstruct", survey, "--against", world, "--voxel-m", VOXEL_M, "-o", found)
    stage("reconstruct marks", found, "--survey", survey, "-o", marks)
    stage(
        "teach", found / "cloud.ply", "--route", marks / "route.yaml", "--no-picture", "-o", graph
    )
    stage("repeat", graph, "--world", world, "--repeats", 1, "--marks", marks / "marks.csv", "-o",
          folder / "repeats")  # fmt: skip
    return folder, results


def test_the_survey_is_flown_by_the_autopilot_and_its_pictures_are_placed_by_its_receiver(chain):
    folder, results = chain
    record = results["survey"]
    assert record["flight"] == "simulated" and record["flight_s"] > 60.0
    assert record["n_pictures"] == len(list((folder / "survey" / "images").glob("*.jpg"))) > 30
    assert (folder / "survey" / "flight").is_dir()


def test_the_reconstruction_is_as_near_to_the_truth_as_its_pixels_and_cells(chain):
    _, results = chain
    record = results["reconstruct"]
    assert record["alignment"]["n_tied"] == record["alignment"]["n_pictures"]
    assert record["pose_errors"]["position_rmse_m"] < GNSS_M
    assert record["pose_errors"]["angle_rmse_deg"] < GIMBAL_DEG / 5
    assert record["accuracy"]["to_surface_p95_m"] < 1.5 * VOXEL_M
    assert record["accuracy"]["completeness"] > SEEN
    found = results["reconstruct marks"]
    assert found["n_matched"] == found["n_found"] == found["n_painted"] == N_MARKS
    assert found["horizontal_max_m"] < 2 * PIXEL_M


def test_a_robot_that_was_never_there_repeats_the_route_and_passes_the_true_marks(chain):
    folder, results = chain
    scores = results["repeat"]
    assert scores["route"]["length_m"] == pytest.approx(LENGTH_M, abs=0.2)
    assert (scores["runs"]["n"], scores["runs"]["n_completed"]) == (1, 1)
    assert (scores["marks"]["n_passings"], scores["marks"]["n_missed"]) == (N_MARKS, 0)
    assert scores["pte_m"]["max"] < PASSED_M
    assert scores["true_path_m"]["max"] < 3 * PASSED_M  # it starts up to half a metre off
    assert scores["localisation"]["n_failed"] < LOST * scores["localisation"]["n"]
    assert scores["localisation"]["n"] > 10 * LENGTH_M / 2.0  # scans at 10 Hz, below 2 m/s
    assert scores["interventions"]["n"] == 0
    assert (folder / "repeats" / "report.html").is_file()
