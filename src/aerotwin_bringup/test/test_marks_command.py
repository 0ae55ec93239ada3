# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The command that finds marks in a reconstruction, on a drawn one."""

import json

import cv2
import numpy as np
import pytest

from aerotwin_bringup.teach_repeat import survey_marks
from aerotwin_bringup.teach_repeat.judging import read_marks
from aerotwin_core.cli import main
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_reconstruction.folder import write_world
from aerotwin_teach_repeat.teaching import Route, load_route, save_route
from aerotwin_worlds import TexturedMesh, World

HALF_M, TEXEL_M = 12.0, 0.05
SHIFT_M = np.array([0.30, -0.20])  # of the whole reconstruction
SUB_TEXEL_M = 0.02


@pytest.fixture
def folders(tmp_path):
    """A survey with three marks on a road, and a reconstruction that shows them shifted."""
    rng = np.random.default_rng(3)
    n = round(2 * HALF_M / TEXEL_M)
    noise = cv2.GaussianBlur(rng.normal(0, 40, (n, n)), (0, 0), 2.0)
    grey = np.repeat((110.0 + noise).clip(0, 255).astype(np.uint8)[..., None], 3, axis=2)
    h = HALF_M
    mesh = TexturedMesh(
        vertices_map=np.array([[-h, -h, 0], [h, -h, 0], [h, h, 0], [-h, h, 0]]),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32),
        texture=grey,
    )
    origin = GeodeticPoint(latitude_deg=47.4, longitude_deg=8.5, altitude_m=400.0)
    world = World(
        name="road", meshes=(mesh,), attribution="", licence="", origin=origin,
        start_p_map=np.zeros(3), start_yaw=0.0,
    )  # fmt: skip
    survey, built = tmp_path / "survey", tmp_path / "reconstruction"
    survey.mkdir()
    built.mkdir()
    route = Route(
        name="road", waypoints_m=((-10.0, 0.0), (0.0, 1.0), (10.0, 0.0)),
        markers_s_m=(4.0, 10.0, 16.0),
    )  # fmt: skip
    save_route(tmp_path / "road.yaml", route)
    marked, record = survey_marks.paint_route(
        world, str(tmp_path / "road.yaml"), "road", 0.6, survey
    )
    (survey / "survey.json").write_text(json.dumps(record))
    (shown,) = marked.meshes
    shown.vertices_map[:, :2] += SHIFT_M
    write_world(built, shown, origin, (0.0, 0.0), "road")
    return survey, built


def test_marks_are_found_where_the_reconstruction_shows_them(folders, tmp_path, capsys):
    survey, built = folders
    out = tmp_path / "marks"
    code = main(["reconstruct", "marks", str(built), "--survey", str(survey), "-o", str(out)])
    assert code == 0
    assert "3 of 3 painted marks found" in capsys.readouterr().out
    points = read_marks(out / survey_marks.SCORE)
    shift = np.tile(SHIFT_M, (3, 1))
    np.testing.assert_allclose(points[:, :2] - points[:, 3:5], shift, atol=SUB_TEXEL_M)
    waypoints = load_route(out / survey_marks.ROUTE).waypoints
    nearest = np.linalg.norm(waypoints[:, None] - points[:, :2], axis=-1).min(axis=0)
    assert nearest.max() < 0.01  # way-points are written in centimetres


def test_a_mark_that_is_not_found_is_told(folders, tmp_path, capsys):
    survey, built = folders
    with (survey / survey_marks.PAINTED).open("a") as file:
        file.write("5.0,5.0,0.0\n")
    words = ["reconstruct", "marks", str(built), "--survey", str(survey), "-o", str(tmp_path / "o")]
    assert main([*words, "--json", str(tmp_path / "found.json")]) == 1
    assert "3 of 4" in capsys.readouterr().out
    assert json.loads((tmp_path / "found.json").read_text())["n_matched"] == 3
