# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Figures over all runs: what their function sees, conditions on them, their chapters."""

import json
import statistics

import pytest
import yaml

from aerotwin_campaign import Store, report_of_campaign, report_of_store
from aerotwin_core.cli import main
from aerotwin_core.errors import ParameterError, UserError
from support.campaigns import STUBS, campaign_of, carried_out


def _of(function, **content):
    given = {"base": {"a": 0}, "axes": {"a": [1, 20]}, "seeds": [1, 2, 3]} | content
    return campaign_of("numeric", figures=f"{STUBS}:{function}", **given)


def test_the_function_sees_all_runs_and_its_values_are_judged(tmp_path):
    found = carried_out(_of("spread", fail_if=["spread.of_a.20 < 1000"]), tmp_path, n_workers=2)
    report = report_of_campaign(found, "test.yaml")
    table = found.table.table().to_pydict()
    values = [x for x, a in zip(table["metrics.value"], table["axes.a"]) if a == 20]
    assert report.overall.values["spread"]["of_a"]["20"] == pytest.approx(statistics.stdev(values))
    assert report.overall.values["n_traces"] == 6  # each run's folder was there
    assert report.exit_code() == 3
    page, document = report.page(tmp_path)
    assert "Spread of the values" in page
    assert document["sections"]["spread"]["n"] == 6


def test_what_a_run_lacks_is_judged_as_missing(tmp_path):
    found = carried_out(_of("unknown", fail_if=["gap > 1"]), tmp_path, n_workers=2)
    assert report_of_campaign(found, "test.yaml").exit_code() == 3


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("absent", "cannot be imported"),
        ("divides", "raised ZeroDivisionError"),
        ("no_figures", "expected OverallFigures"),
        ("same_name", "'value', which is a metric"),
    ],
)
def test_a_function_that_cannot_be_used_is_named(tmp_path, function, words):
    found = carried_out(_of(function), tmp_path, n_workers=2)
    with pytest.raises(UserError, match=words):
        report_of_campaign(found, "test.yaml")


def test_a_name_that_is_no_function_has_its_line():
    with pytest.raises(ParameterError, match=r"figures: expected package\.module:function"):
        campaign_of("numeric", figures="os.system")


def test_the_command_writes_values_that_a_report_of_the_store_reads(tmp_path, capsys):
    """The report of a store calls no function: what is in it may be a stranger's."""
    content = {
        "name": "spread", "run": f"{STUBS}:numeric", "base": {"a": 1}, "seeds": [1],
        "figures": f"{STUBS}:spread", "fail_if": ["n_traces != 4"],
    }  # fmt: skip
    file, store = tmp_path / "campaign.yaml", tmp_path / "store"
    file.write_text(yaml.safe_dump(content))
    changes = ["--set", "axes.a=[1, 20]", "--set", "seeds={first: 5, count: 2}"]
    tokens = [str(file), *changes, "--store", str(store)]
    assert main(["campaign", "run", *tokens, "--workers", "1"]) == 0
    assert json.loads((store / "figures.json").read_text())["n_traces"] == 4
    kept = yaml.safe_load((store / "campaign.yaml").read_text())
    assert kept["axes"] == {"a": [1, 20]} and kept["seeds"] == {"first": 5, "count": 2}
    (store / "campaign.yaml").write_text(
        (store / "campaign.yaml").read_text().replace(f"{STUBS}:spread", f"{STUBS}:divides")
    )
    report = report_of_store(Store(str(store)))
    assert report.exit_code() == 0 and len(report.results) == 4
    capsys.readouterr()
    assert main(["campaign", "status", *tokens, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["done"] == 4


@pytest.mark.parametrize("text", ["seeds", "=3", "seeds=[1"])
def test_a_change_that_is_none_is_refused(tmp_path, capsys, text):
    with pytest.raises(SystemExit, match="2"):
        main(["campaign", "run", "x.yaml", "--set", text])
    assert "--set" in capsys.readouterr().err


def test_a_change_below_a_number_is_refused(tmp_path, capsys):
    file = tmp_path / "campaign.yaml"
    file.write_text(yaml.safe_dump({"name": "x", "run": f"{STUBS}:numeric", "base": {"a": 1}}))
    assert main(["campaign", "status", str(file), "--set", "base.a.b=1"]) == 2
    assert "base.a.b: 'a' is 1 (int), which has no keys" in capsys.readouterr().err
