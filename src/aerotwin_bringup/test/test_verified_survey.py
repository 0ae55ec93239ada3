# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The case of the own survey: its stages are commands, each is called once."""

from pathlib import Path

import pytest

from aerotwin_bringup.teach_repeat.survey_marks import SCORE
from aerotwin_bringup.verification.repeats import CASES, surveyed
from aerotwin_core.errors import UserError

SEED = 1001
MADE = {
    "survey": "survey/survey.json",
    "reconstruct": "reconstruction/reconstruction.json",
    "marks": f"marks/{SCORE}",
}


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """Note the commands in place of running them, and leave what they leave."""
    lines: list[list[str]] = []

    def call(*words, log: Path, allowed: int = 0):
        lines.append([str(word) for word in words])
        stage = "marks" if words[1] == "marks" else words[0]
        if stage in MADE:
            path = tmp_path / MADE[stage]
            path.parent.mkdir(exist_ok=True)
            path.touch()
        else:
            raise UserError("as far as the teach")

    monkeypatch.setattr(surveyed, "_call", call)
    return lines


def test_stages_follow_each_other_and_are_not_done_twice(calls, tmp_path):
    for _ in range(2):
        with pytest.raises(UserError, match="as far as"):
            CASES["survey"].teach(SEED, tmp_path)
    firsts = [line[0] if line[1] != "marks" else "marks" for line in calls]
    assert firsts == ["survey", "reconstruct", "marks", "teach", "teach"]
    survey, built = calls[0], calls[1]
    assert survey[1] == f"campus@{SEED}"
    assert survey[survey.index("--seed") + 1] == str(SEED)
    assert "--marks" in survey
    assert survey[survey.index("-o") + 1] == built[1]


def test_a_stage_that_fails_names_its_log(tmp_path):
    log = tmp_path / "stage.log"
    with pytest.raises(UserError, match=r"stage\.log"):
        surveyed._call("reconstruct", tmp_path / "nothing", "-o", tmp_path / "out", log=log)
    text = log.read_text()
    assert text.startswith("aerotwin reconstruct")
    assert "two pictures" in text
