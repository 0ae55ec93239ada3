# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What `make verify` takes for evidence, and what it says of it."""

import json

import pytest

from aerotwin_campaign import load_campaign
from aerotwin_campaign.function import load_function
from aerotwin_core.cli import main
from evidence import verify_command
from evidence.verify_command import CAMPAIGNS, FIRST_SEED

FILES = sorted(CAMPAIGNS.glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_campaigns_have_functions_bars_and_seeds_that_nothing_was_tuned_on(file):
    campaign = load_campaign(file)
    given = campaign.parameters
    load_function(given.run)
    if given.figures:
        load_function(given.figures)
    assert given.name == file.stem
    assert min(campaign.seeds) >= FIRST_SEED
    # A run that fails, or raises, must not vanish from what is judged.
    assert {each.name for each in campaign.conditions} & {"n_failures", "success_share"}
    assert verify_command._text(file)


@pytest.fixture
def campaigns(tmp_path, monkeypatch):
    """Two campaigns in the place of ours: one of stubs, one of real data."""
    monkeypatch.setattr(verify_command, "CAMPAIGNS", tmp_path / "campaigns")
    (tmp_path / "campaigns").mkdir()
    for name, base in (("stub", "{a: 1}"), ("real", "{data: a_drive, a: 1}")):
        (tmp_path / "campaigns" / f"{name}.yaml").write_text(
            f"# What {name} shows.\nname: {name}\nrun: support.campaign_stubs:no_op\nbase: {base}\n"
            "axes: {a: [1, 2]}\nseeds: [1000, 1001]\nfail_if: [n_failures > 0, a.max > 5]\n"
        )
    return tmp_path


def _verify(folder, *words):
    code = main(["verify", *words, "--runs", str(folder / "runs"), "--data", str(folder),
                 "--json", str(folder / "verify.json")])  # fmt: skip
    return code, json.loads((folder / "verify.json").read_text())


def test_campaigns_are_run_and_those_without_data_skipped_with_a_reason(campaigns, capsys):
    code, found = _verify(campaigns)
    assert code == 0
    assert found["stub"]["done"] == 4 and found["stub"]["exit_code"] == 0
    assert "real data not present: a_drive" in found["real"]["skipped"]
    out = capsys.readouterr().out
    assert "stub: met" in out and "real: skipped" in out
    (campaigns / "a_drive").mkdir()
    _, found = _verify(campaigns, "real")
    assert found["real"]["done"] == 4


def test_a_missed_bar_is_an_exit_code_and_values_are_set(campaigns, capsys):
    code, found = _verify(campaigns, "stub", "--set", "axes.a=[6]", "--set", "seeds=[1005]")
    assert code == 3 and found["stub"]["done"] == 1
    assert "stub: MISSED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["stub", "--set", "seeds=[5]"], "stub: seeds: expected 1000 and above, found 5"),
        (["everything"], "no campaign 'everything'"),
    ],
)
def test_what_cannot_be_collected_is_said_before_anything_is_run(campaigns, capsys, words, message):
    assert main(["verify", *words, "--runs", str(campaigns / "runs")]) == 2
    assert message in capsys.readouterr().err
    assert not (campaigns / "runs").exists()


def test_the_help_says_what_each_campaign_shows(campaigns, capsys):
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    assert "stub: What stub shows." in capsys.readouterr().out
