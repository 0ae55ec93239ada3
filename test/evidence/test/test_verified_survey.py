# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The case of the own survey: marks and teach are run, of survey and reconstruction the words."""

import argparse

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_reconstruction import reconstruct_command
from aerotwin_registration import write_cloud
from aerotwin_scenarios import survey_command
from aerotwin_scenarios.teach_repeat.survey_marks import ROUTE
from aerotwin_teach_repeat.teaching import load_route
from evidence.verification.repeats import CASES, surveyed
from support.painted_road import HALF_M, SHIFT_M, draw_survey

SEED = 1001
ON_ROAD_M = 0.1
"""A taught path rounds off its way-points."""


@pytest.mark.slow
def test_a_route_is_taught_through_the_marks_that_the_reconstruction_shows(tmp_path):
    _, built = draw_survey(tmp_path)
    ground = np.random.default_rng(5).uniform(-HALF_M, HALF_M, (40_000, 2))
    write_cloud(built / "cloud.ply", np.column_stack([ground, np.zeros(len(ground))]))

    taught = surveyed.teach_through_marks(f"campus@{SEED}", tmp_path)
    assert len(taught.route.marks) == 3
    shown = load_route(tmp_path / "marks" / ROUTE).waypoints
    path = taught.graph.poses_map(taught.graph.runs[0])[:, :2, 3]
    away = np.linalg.norm(shown[:, None] - path, axis=-1).min(axis=1)
    assert away.max() < ON_ROAD_M
    # The road is painted from (-10, 0) by (0, 1) to (10, 0), and shown shifted as a whole.
    middle = path[np.argmin(np.abs(path[:, 0] - SHIFT_M[0]))]
    np.testing.assert_allclose(middle, [SHIFT_M[0], 1.0 + SHIFT_M[1]], atol=2 * ON_ROAD_M)
    assert (tmp_path / "marks.log").is_file() and (tmp_path / "teach.log").is_file()


def test_survey_and_reconstruction_are_called_with_words_that_they_take(tmp_path, monkeypatch):
    """They take many minutes: what is asked of them is read by their own parsers."""
    asked = {}

    def read(*tokens, log, allowed=0):
        module = {"survey": survey_command, "reconstruct": reconstruct_command}[tokens[0]]
        parser = argparse.ArgumentParser()
        module.configure(parser)
        asked[tokens[0]] = parser.parse_args([str(token) for token in tokens[1:]])
        if tokens[0] == "reconstruct":
            raise UserError("read")
        asked["survey"].out.mkdir()

    monkeypatch.setattr(surveyed, "_call", read)
    with pytest.raises(UserError, match="read"):
        CASES["survey"].teach(SEED, tmp_path)
    survey, built = asked["survey"], asked["reconstruct"]
    assert (survey.world, survey.seed, survey.marks) == (f"campus@{SEED}", SEED, "route")
    assert survey.instance == 101
    assert survey.area_m == [-75.0, -60.0, 75.0, 60.0]
    assert (built.survey, built.against) == (survey.out, survey.world)


def test_a_stage_that_fails_names_its_log(tmp_path):
    log = tmp_path / "stage.log"
    with pytest.raises(UserError, match=r"stage\.log"):
        surveyed._call("reconstruct", tmp_path / "nothing", "-o", tmp_path / "out", log=log)
    text = log.read_text()
    assert text.startswith("aerotwin reconstruct")
    assert "two pictures" in text
