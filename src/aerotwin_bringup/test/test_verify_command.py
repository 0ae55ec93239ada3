# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What `aerotwin verify` takes for evidence, without flying."""

import json

import pytest

from aerotwin_bringup.kept_flights import kept
from aerotwin_core.cli import main


def _run(folder, world: str, outcome: str = "the mission is flown") -> None:
    path = folder / "20260101-000000-seed-1000"
    path.mkdir(parents=True)
    sections = {"flight": {"outcome": outcome}, "trajectory": {}}
    metrics = {"sections": sections, "configuration": {"parameters": {"world": world}}}
    (path / "metrics.json").write_text(json.dumps(metrics))


def test_a_kept_run_counts_only_for_its_own_world_and_when_it_was_flown(tmp_path):
    _run(tmp_path / "a", "cliff@1000")
    assert kept(tmp_path / "a", "seed-1000", "cliff@1000") is not None
    assert kept(tmp_path / "a", "seed-1000", "other") is None
    assert kept(tmp_path / "a", "seed-1001", "cliff@1000") is None
    _run(tmp_path / "b", "cliff@1000", "the vehicle crashed")
    assert kept(tmp_path / "b", "seed-1000", "cliff@1000") is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["flights", "--seeds", "5"], "--seeds: expected 1000 and above, found 5"),
        (["consistency", "--runs", "/proc/x"], "--runs: /proc/x cannot be made"),
        (["everything"], "no evidence 'everything'"),
    ],
)
def test_what_cannot_be_collected_is_told_before_anything_flies(capsys, words, message):
    assert main(["verify", *words]) != 0
    assert message in capsys.readouterr().err
