# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The command that finds marks in a reconstruction, on a drawn one."""

import json

import numpy as np
import pytest

from aerotwin_core.cli import main
from aerotwin_scenarios.teach_repeat import survey_marks
from aerotwin_scenarios.teach_repeat.judging import read_marks
from aerotwin_teach_repeat.teaching import load_route
from support.painted_road import SHIFT_M, SUB_TEXEL_M, draw_survey


@pytest.fixture
def folders(tmp_path):
    return draw_survey(tmp_path)


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


def test_a_mark_that_is_not_found_is_reported(folders, tmp_path, capsys):
    survey, built = folders
    with (survey / survey_marks.PAINTED).open("a") as file:
        file.write("5.0,5.0,0.0\n")
    arguments = [
        "reconstruct",
        "marks",
        str(built),
        "--survey",
        str(survey),
        "-o",
        str(tmp_path / "o"),
    ]
    assert main([*arguments, "--json", str(tmp_path / "found.json")]) == 1
    assert "3 of 4" in capsys.readouterr().out
    assert json.loads((tmp_path / "found.json").read_text())["n_matched"] == 3
